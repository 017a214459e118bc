"""Comparison of selectors over data sets: mean ranks, wins, and tests for differences.

Demsar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7, 1-30.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.printable import printable
from ...data.artefact_columns import Column, rows_of
from .result_table import competes, frame
from .scores import DECIMALS, is_higher_better

if TYPE_CHECKING:
    import pandas as pd


RANKS = rows_of(
    "metric, model and selector: mean rank over the data sets",
    "metric model selector mean_rank n_datasets",
    mean_rank=Column("double", "1 is best"),
    n_datasets=Column("int64", "number of data sets in the mean"),
)
WINS = rows_of(
    "metric, model and pair of selectors: data sets on which one beats the other",
    "metric model selector other wins ties losses",
    other=Column("string", "id of the selector that it is compared with"),
    wins=Column("int64", "data sets on which `selector` has the better mean"),
    ties=Column("int64", "data sets on which their means are equal"),
    losses=Column("int64", "data sets on which `other` has the better mean"),
)


def cost_matrices(scores: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield metric, model and mean scores (data sets by selectors, lower is better, NaN if missing).

    A selector that failed on some splits of a data set has no score there, because its mean would omit hard splits.
    """
    known = _on_all_splits(scores.dropna(subset=["mean"]))
    for (metric, model), part in known.groupby(["metric", "model"], sort=False):
        means = part.pivot(index="dataset", columns="selector", values="mean")
        ordered = means.loc[part["dataset"].unique(), part["selector"].unique()]
        yield metric, model, ((-ordered if is_higher_better(metric) else ordered).round(DECIMALS))


def _on_all_splits(scores: pd.DataFrame) -> pd.DataFrame:
    if "n_splits" not in scores:
        return scores
    most = scores.groupby(["dataset", "metric", "model"])["n_splits"].transform("max")
    return scores[scores["n_splits"] == most]


def ranks(scores: pd.DataFrame) -> pd.DataFrame:
    """Rank the selectors on each data set (1 is best, ties averaged), and average over the data sets.

    Ranks are among the selectors with a score there; mean ranks over different data sets are not comparable.
    """
    return rank_table(cost_matrices(scores))


def rank_table(matrices: Iterator[tuple[str, str, pd.DataFrame]]) -> pd.DataFrame:
    """Return the mean rank of each column of each matrix, best first."""
    rows = []
    for metric, model, costs in matrices:
        by_dataset = costs.rank(axis=1, method="average")
        mean, count = by_dataset.mean(), by_dataset.count()
        rows += [
            {"metric": metric, "model": model, "selector": selector}
            | {"mean_rank": mean[selector], "n_datasets": int(count[selector])}
            for selector in costs
        ]
    return frame(RANKS, rows).sort_values(
        ["metric", "model", "mean_rank", "selector"], kind="stable", ignore_index=True
    )


def wins(scores: pd.DataFrame) -> pd.DataFrame:
    """Count wins, ties and losses of each selector against each other one over data sets, in both orders.

    A data set counts for a pair if both have a score there: a failure is no loss. Means that differ by rounding tie.
    """
    rows = []
    for metric, model, costs in cost_matrices(scores):
        values = costs.to_numpy()
        for i, selector in enumerate(costs):
            # Comparisons with NaN are false and do not count.
            better, same, worse = (
                compared.sum(axis=0)
                for compared in (
                    values[:, [i]] < values,
                    values[:, [i]] == values,
                    values[:, [i]] > values,
                )
            )
            rows += [
                {"metric": metric, "model": model, "selector": selector, "other": other}
                | {"wins": int(better[j]), "ties": int(same[j]), "losses": int(worse[j])}
                for j, other in enumerate(costs)
                if j != i
            ]
    return frame(WINS, rows)


# --- differences over the data sets: Friedman's test and Nemenyi's critical difference --------------------------------

#: Significance level of the critical difference.
ALPHA = 0.05
_FEWEST_DATASETS, _FEWEST_SELECTORS = 2, 3
_STATISTICS = ("statistic", "p_value", "f_statistic", "f_p_value", "critical_difference")


FRIEDMAN = rows_of(
    "metric and model: whether the selectors differ",
    "metric model n_datasets n_selectors statistic p_value f_statistic f_p_value critical_difference note",
    n_datasets=Column("int64", "data sets on which every compared selector has a score"),
    n_selectors=Column("int64", "selectors compared"),
    statistic=Column("double", "Friedman's chi-square, corrected for ties"),
    p_value=Column("double", "of this chi-square"),
    f_statistic=Column("double", "Iman and Davenport's F"),
    f_p_value=Column("double", "of this F"),
    critical_difference=Column("double", "mean ranks at least this far apart differ at alpha 0.05, by Nemenyi's test"),
    note=Column("string", "why there is no test, or how many data sets did not count"),
)


def friedman(scores: pd.DataFrame, selectors: Sequence[str] | None = None) -> pd.DataFrame:
    """Test whether all selectors rank alike, for each metric and model of the table of scores.

    Only data sets with a score of every compared selector (by default all with any score) count. With fewer than two of
    them, or of three selectors, there is no test. The chi-square p-value is rough below about 10 data sets and 5
    selectors (Demsar); that of F is closer. F is infinite if all data sets rank the selectors alike.

    >>> import pandas as pd
    >>> means = {"one": (0.9, 0.8, 0.7), "two": (0.8, 0.7, 0.6), "three": (0.9, 0.7, 0.8)}
    >>> rows = [(d, s, "svm", "accuracy", m) for d, row in means.items() for s, m in zip("abc", row)]
    >>> scores = pd.DataFrame(rows, columns=["dataset", "selector", "model", "metric", "mean"])
    >>> friedman(scores)[["n_datasets", "statistic", "critical_difference"]].round(3).to_dict("records")
    [{'n_datasets': 3, 'statistic': 4.667, 'critical_difference': 1.914}]
    """
    rows = []
    for metric, model, costs in cost_matrices(scores):
        compared = _compared(costs, selectors)
        asked = scores[(scores["metric"] == metric) & (scores["model"] == model)]["selector"].unique()
        absent = [name for name in asked if name not in costs and (selectors is None or name in selectors)]
        missing = "; ".join(filter(None, (_missing(compared), _absent(absent))))
        rows.append({"metric": metric, "model": model} | _test(compared.dropna(), missing))
    return frame(FRIEDMAN, rows)


def friedman_ranks(scores: pd.DataFrame, selectors: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the mean ranks of :func:`friedman`, over the data sets with scores of all selectors."""
    return rank_table(_complete(scores, selectors))


def comparable(selectors: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the selectors that are compared by default: those that compete."""
    return [name for name in selectors if competes(name, selectors)]


def _complete(scores: pd.DataFrame, selectors: Sequence[str] | None) -> Iterator[tuple[str, str, pd.DataFrame]]:
    for metric, model, costs in cost_matrices(scores):
        complete = _compared(costs, selectors).dropna()
        if len(complete):
            yield metric, model, complete


def _compared(costs: pd.DataFrame, selectors: Sequence[str] | None) -> pd.DataFrame:
    return costs if selectors is None else costs.loc[:, costs.columns.isin(list(selectors))].dropna(how="all")


def _test(costs: pd.DataFrame, missing: str) -> dict[str, Any]:
    n, k = costs.shape
    out = {"n_datasets": n, "n_selectors": k, "note": missing} | dict.fromkeys(_STATISTICS, np.nan)
    too_few = _too_few(n, k)
    if too_few:
        return out | {"note": "; ".join(filter(None, (too_few, missing)))}
    return out | _statistics(costs) | {"critical_difference": _studentized_range(k) * np.sqrt(k * (k + 1) / (12 * n))}


def _statistics(costs: pd.DataFrame) -> dict[str, float]:
    from scipy import stats

    n, k = costs.shape
    if (costs.nunique(axis=1) == 1).all():  # all tie on every data set: 0 / 0, and no sign of a difference
        return {"statistic": 0.0, "p_value": 1.0, "f_statistic": 0.0, "f_p_value": 1.0}
    chi_square = stats.friedmanchisquare(*costs.to_numpy().T)
    left = n * (k - 1) - chi_square.statistic
    # Rounding errors leave a small value of either sign for 0.
    f = (n - 1) * chi_square.statistic / left if left > 1e-9 * n * k else np.inf
    return {
        "statistic": float(chi_square.statistic),
        "p_value": float(chi_square.pvalue),
        "f_statistic": float(f),
        "f_p_value": float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
    }


@lru_cache
def _studentized_range(n_selectors: int) -> float:
    from scipy import stats

    return float(stats.studentized_range.ppf(1 - ALPHA, n_selectors, np.inf))


def _too_few(n_datasets: int, n_selectors: int) -> str:
    if n_selectors < _FEWEST_SELECTORS:
        return f"selectors with scores: {n_selectors}; the test needs {_FEWEST_SELECTORS}"
    if n_datasets < _FEWEST_DATASETS:
        return f"data sets with a score of every selector: {n_datasets}; the test needs {_FEWEST_DATASETS}"
    return ""


def _absent(selectors: Sequence[str]) -> str:
    names = ", ".join(map(printable, selectors))
    return f"left out, since without a score on every split of any data set: {names}" if selectors else ""


def _missing(costs: pd.DataFrame) -> str:
    lacking = costs.isna().sum()
    incomplete = int(costs.isna().any(axis=1).sum())
    if not incomplete:
        return ""
    most = lacking.idxmax()
    return (
        f"{incomplete} of {len(costs)} data sets lack a score of some selector and do not count; "
        f"{most} lacks {lacking[most]}"
    )
