"""How well models do at the groups that a search has seen, beside the one that a split holds out."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from ...core.parts import SEEN_PARTS, balanced_parts
from ...core.seeds import derive_rng
from ...core.table import Column, Table
from ...data.impute import impute
from ...models.evaluation import evaluate_split


def scores_at_seen_groups(
    known: Table,
    target: Column,
    models: Sequence[str],
    metrics: str | Sequence[str],
    task: str,
    seed_identity: tuple[str | int, ...],
    n_jobs: int = 1,
) -> dict[tuple[str, str], float | None]:
    """Return the score of each model and metric by cross-validation among the training rows of a split.

    The rows of a group are in all parts, so that a model has seen other rows of it, as in a partition that knows no
    groups. The features were chosen on these rows, which flatters the score. It is the mean over the parts that have a
    value, None if none has.

    Parameters
    ----------
    known : Table
        The chosen features on the training rows, missing cells and all.
    target : Column
        The target there.
    models, metrics, task, seed_identity, n_jobs
        As `evaluate_split` takes them.
    """
    part = balanced_parts(target.numbers(), min(SEEN_PARTS, target.n_rows), derive_rng(*seed_identity, "parts"))
    found: dict[tuple[str, str], list[float]] = {}
    for k in np.unique(part).tolist():
        rows, rest = np.flatnonzero(part != k), np.flatnonzero(part == k)
        train = known.take(rows)
        tables = impute(train, train), target.take(rows), impute(train, known.take(rest)), target.take(rest)
        for row in evaluate_split(*tables, models, metrics, task, (*seed_identity, k), n_jobs):
            values = found.setdefault((row["model"], row["metric"]), [])
            values += [] if row["value"] is None else [row["value"]]
    return {key: fmean(values) if values else None for key, values in found.items()}
