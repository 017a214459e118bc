"""The aggregate stage: the folds' sets of one split become its blanket."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...data.artefacts import STATUSES, Provenance, read_columns, read_provenance, write_columns, write_rows
from ...search.aggregate import Member, aggregate, all_answers
from ..jobs import passed_on, recorded

BLANKET_TYPES = {"feature": "string", "chosen": "bool", "frequency": "double", "importance": "double", "role": "string"}
GROUP_TYPES = {"group": "string"}
FOLD_TYPES = {
    "fold": "string",
    "size": "int64",
    "z": "double",
    "chosen": "bool",
    "n_tests": "int64",
    "seconds": "double",
}
ANSWER_TYPES = {"blanket": "int64", "feature": "string", "rank": "int64", "count": "int64"}


@dataclass(frozen=True)
class Blanket:
    """Where the outcome of one split goes: blanket.parquet, folds.parquet and blankets.parquet."""

    blanket: Path
    by_fold: Path
    answers: Path


def aggregate_split(
    folds: Sequence[str],
    marginal: Sequence[Path],
    grow: Sequence[Path],
    shrink: Sequence[Path],
    to: Blanket,
    spec: str,
) -> None:
    """Combine the folds of one split, and write which features are its blanket, and which others a method found.

    Parameters
    ----------
    folds : sequence of str
        Ids of the folds.
    marginal, grow, shrink : sequences of paths
        The folds' artefacts, in the order of `folds`; `marginal` is empty for methods without a CI test.
    to : Blanket
        Where to.
    spec : str
        The aggregation rule and the seed, as JSON.
    """
    stages = [list(map(read_provenance, paths)) for paths in (marginal, grow, shrink) if paths]
    asked = json.loads(spec)
    total = Provenance(spec=spec, seed=asked["seed"])
    features, by_folds, found, types = [], [], [], BLANKET_TYPES
    with recorded(total):
        counted = _counted(total, stages[-1], folds)
        decisions = [read_columns(shrink[i])[0] for i in counted]
        if "group" in decisions[0]:
            types = BLANKET_TYPES | GROUP_TYPES
        kept = [_members(columns) for columns in decisions]
        combined = aggregate(kept, asked["aggregate"])
        features = combined.features
        found = all_answers(combined, [stages[-1][i].extra.get("answers") for i in counted])
        for at, fold in enumerate(counted):
            own = [stage[fold] for stage in stages]
            tests, seconds = sum(p.n_tests for p in own), sum(p.seconds for p in own)
            by_folds.append((folds[fold], len(kept[at]), combined.z[at], combined.best == at, tests, seconds))
        total.n_tests = sum(row[4] for row in by_folds)
    write_columns(to.blanket, {c: [f[c] for f in features] for c in types}, types, total)
    write_rows(to.by_fold, by_folds, FOLD_TYPES, total)
    write_rows(to.answers, found, ANSWER_TYPES, total)


def _counted(total: Provenance, ended: Sequence[Provenance], folds: Sequence[str]) -> list[int]:
    """Return which folds have a result; where some lack one, the outcome says so and is to be read with care.

    Raises
    ------
    EarlierFailure
        If none has one.
    """
    counted = [i for i, provenance in enumerate(ended) if provenance.usable]
    passed_on(total, [ended[i] for i in counted] or ended)
    lacking = [i for i in range(len(folds)) if i not in set(counted)]
    if lacking:
        first = ended[lacking[0]]
        said = (
            f"{len(lacking)} of {len(folds)} folds have no result and do not count; "
            f"fold {folds[lacking[0]]}: {first.status}, {first.reason}"
        )
        total.reason = f"{said}; {total.reason}" if total.reason else said
        total.status = max(total.status, "unreliable", key=STATUSES.index)
    return counted


def _members(columns: Mapping[str, list[Any]]) -> list[Member]:
    """Return the features that a fold keeps, most important first."""
    groups = columns.get("group", [""] * len(columns["feature"]))
    rows = zip(*(columns[name] for name in ("feature", "importance", "role")), groups, columns["kept"], strict=True)
    return sorted((Member(*row[:-1]) for row in rows if row[-1]), key=lambda m: -m.importance)
