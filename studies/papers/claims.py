"""Judges by a run what a paper claims about pairs of methods: which is better over data sets, and is that chance?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blanketflow.ci.multiple_testing import holm
from blanketflow.core.errors import ConfigError, shown
from blanketflow.reporting.tables.result_table import typed_frame
from studies.papers.comparison import NOT_COMPARABLE
from studies.papers.printed_tables import MEASURES, entries_of, measure_of, place_of, values_of

if TYPE_CHECKING:
    import pandas as pd

#: Columns of the table of claims, with the type names of `blanketflow.data.artefacts.write_columns`.
CLAIM_COLUMNS: dict[str, str] = {
    "table": "string",
    "claim": "string",
    "measure": "string",
    "model": "string",
    "said": "string",
    "method": "string",
    "other": "string",
    "n_datasets": "int64",
    "wins": "int64",
    "ties": "int64",
    "losses": "int64",
    "median_difference": "double",
    "p_value": "double",
    "p_holm": "double",
    "verdict": "string",
    "reason": "string",
}
HOLDS, REVERSED, UNDECIDED, NO_DIFFERENCE = "holds", "the other way round", "undecided", "no difference seen"
#: Level of the two-sided test behind a verdict.
ALPHA = 0.05
#: Measures from a run's other tables: the table, its column, and whether a larger value is better.
OF_TABLES = {"seconds": ("runtime", "selection_seconds", False), "f1": ("truth", "f1", True)}
#: The keys of a claim: the one for the first method, which is also the claim, and the one for the others.
_SIDES = {"better": "than", "competitive": "with"}


@dataclass(frozen=True)
class Claim:
    """A claim about two methods: that `method` is better than, competitive with, or equivalent to `other`.

    `table` is where the paper makes it: a figure, a table or a section. Methods have the names of the paper's columns;
    `selectors` maps them to the ids of selectors. In `datasets`, ``*`` matches anything; None means all.
    """

    table: str
    claim: str
    measure: str
    model: str | None
    said: str
    method: str
    other: str
    datasets: list[str] | None = None
    selectors: dict[str, Any] = field(default_factory=dict)

    def candidates(self, method: str) -> list[str]:
        """Return the ids of the selectors that stand for a method."""
        named = self.selectors.get(method, method)
        return [named] if isinstance(named, str) else list(named)


def read_claims(path: str | Path) -> list[Claim]:
    """Return the claims in a file of printed results that name two methods and a known measure; others are ignored.

    An entry's key ``claims`` is a list of mappings. Each has ``claim``, its words, and either ``better`` and ``than``,
    ``competitive`` and ``with``, or ``equivalent``, a list of pairs. It may have ``measure`` and ``datasets`` (a list)
    if they differ from those of the entry. Raises `ConfigError` if a claim does not have this form.
    """
    found = []
    for entry in entries_of(path):
        claims = entry.get("claims", [])
        for raw in claims if isinstance(claims, list) else [claims]:
            if not isinstance(raw, Mapping) or not isinstance(raw.get("claim"), str):
                raise ConfigError(f"printed: {path} has a claim without words: {shown(raw)}. Add its key claim.")
            where = f"printed: {path}, claim {shown(raw['claim'])}"
            measure = measure_of({**entry, **raw})
            if measure not in MEASURES and measure not in OF_TABLES:
                continue
            datasets = raw.get("datasets", entry.get("datasets"))
            found += [
                Claim(
                    table=place_of(path, entry),
                    claim=" ".join(raw["claim"].split()),
                    measure=measure,
                    model=entry.get("model"),
                    said=said,
                    method=one,
                    other=other,
                    datasets=datasets if isinstance(datasets, list) else None,
                    selectors=entry.get("selectors", {}),
                )
                for said, one, other in _pairs(where, raw)
            ]
    return found


def _pairs(where: str, raw: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (what is claimed, method, other) for each pair of methods; nothing if the claim names no methods."""
    for said, key in _SIDES.items():
        if said in raw:
            others = raw.get(key)
            if not isinstance(raw[said], str) or not _is_list(others, str):
                raise ConfigError(f"{where}: {said} needs one method, and {key} a list of others.")
            yield from ((said, raw[said], other) for other in others)
    pairs = raw.get("equivalent", [])
    if not _is_list(pairs, list) or not all(len(pair) == 2 and _is_list(pair, str) for pair in pairs):
        raise ConfigError(f"{where}: equivalent must be a list of pairs of methods, such as [[gs, iamb]].")
    yield from (("equivalent", one, other) for one, other in pairs)


def _is_list(value: Any, of: type) -> bool:
    return isinstance(value, list) and all(isinstance(one, of) for one in value)


def judge(claims: Sequence[Claim], evaluations: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Judge claims by a run: its scores of selections on training rows, and its tables runtime, truth and statuses.

    There is one row per claim and pair of methods. The method with the better mean over the splits wins a data set. If
    several selectors stand for a method, the best counts; a selector with a failed search does not count. ``p_value``
    is the two-sided p-value of Wilcoxon's signed-rank test over the data sets. If it is at most 0.05, the claim that
    one method is better holds or is reversed; otherwise it is undecided. For methods claimed to be equal, either no
    difference is seen or one of them is better. The sums of ranks decide which one is better. ``p_holm`` is the p-value
    corrected for all the claims about the same measure: a verdict whose ``p_holm`` is above 0.05 may be one of chance.
    """
    rows = [_judged(claim, evaluations, tables) for claim in claims]
    for measure in {row["measure"] for row in rows}:
        family = [row for row in rows if row["measure"] == measure and not math.isnan(row["p_value"])]
        for row, p in zip(family, holm([row["p_value"] for row in family]), strict=True):
            row["p_holm"] = p
    return typed_frame(rows, CLAIM_COLUMNS)


def _judged(claim: Claim, evaluations: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    row = {key: getattr(claim, key) or "" for key in ("table", "claim", "measure", "model", "said", "method", "other")}
    row |= {"n_datasets": 0, "wins": 0, "ties": 0, "losses": 0}
    row |= dict.fromkeys(("median_difference", "p_value", "p_holm"), math.nan)
    values, higher_is_better = _values(claim, evaluations, tables)
    if claim.datasets is not None:
        named = [d for d in values.index.unique("dataset") if any(fnmatchcase(d, name) for name in claim.datasets)]
        values = values[values.index.get_level_values("dataset").isin(named)]
    sign = 1 if higher_is_better else -1
    both = [
        (sign * values[values.index.get_level_values("selector").isin(claim.candidates(m))]).groupby("dataset").max()
        for m in (claim.method, claim.other)
    ]
    difference = (both[0] - both[1]).dropna()
    if difference.empty:
        return {**row, "verdict": NOT_COMPARABLE, "reason": "no data set was run with both"}
    row |= {"n_datasets": len(difference), "median_difference": sign * difference.median()}
    row |= {"wins": sum(difference > 0), "ties": sum(difference == 0), "losses": sum(difference < 0)}
    row["p_value"], ahead = _signed_ranks(difference)
    return {**row, **_verdict(claim.said, row, ahead)}


def _values(claim: Claim, evaluations: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> tuple[pd.Series, bool]:
    """Return the value of each data set and selector, and whether a larger value is better."""
    by = ["dataset", "selector"]
    if claim.measure in OF_TABLES:
        table, column, higher_is_better = OF_TABLES[claim.measure]
        values = tables[table].groupby(by)[column].mean().dropna()
        ended = tables["statuses"]
        # A search that doubts its answer has taken its time and found what it found.
        failed = ended[(ended["stage"] == "select") & ~ended["status"].isin(("ok", "unreliable"))]
        return values.drop(failed.set_index(by).index, errors="ignore"), higher_is_better
    measure = MEASURES[claim.measure]
    # A mean over only the successful splits would compare the methods on different rows.
    found = values_of(evaluations, measure, claim.model).groupby(by)["value"]
    mean = found.agg(lambda value: value.mean(skipna=False)).dropna()
    return mean.map(measure.of_mean), measure.higher_is_better


def _signed_ranks(difference: pd.Series) -> tuple[float, bool]:
    """Return the p-value of Wilcoxon's signed-rank test, and whether the positive ranks have the larger sum.

    Zero differences are split between the signs.
    """
    from scipy.stats import wilcoxon

    if not difference.any():
        return 1.0, False
    above = wilcoxon(difference, zero_method="zsplit", alternative="greater")
    return float(wilcoxon(difference, zero_method="zsplit").pvalue), bool(above.pvalue < 0.5)


def _verdict(said: str, row: Mapping[str, Any], ahead: bool) -> dict[str, str]:
    sure = row["p_value"] <= ALPHA
    counted = f"{row['wins']} better, {row['ties']} equal, {row['losses']} worse"
    if said == "better":
        return {"verdict": (HOLDS if ahead else REVERSED) if sure else UNDECIDED, "reason": counted}
    better = row["method"] if ahead else row["other"]
    return {"verdict": f"{better} is better" if sure else NO_DIFFERENCE, "reason": counted}
