"""The evaluate stage: scores models with the blanket of each evaluation split on its test rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from ...core.cards import TASKS, scored_as
from ...core.column import TargetColumn
from ...core.rows import SEEN_PARTS, balanced_parts
from ...core.seeds import derive_rng
from ...core.table import Column, Table
from ...data.artefact_columns import ARTEFACTS
from ...data.artefacts import read_columns, read_provenance, write_columns
from ...data.impute import impute
from ...data.splits import test_rows, train_rows
from ...data.storage import feature_names, read_table
from ...models.drift import MOST_FEATURES, feature_drift
from ...models.evaluation import evaluate_split, not_scored
from ...models.observed import UnseenRows
from ...models.predictions import Predictions
from ...targets import as_numbers
from ..identity import made, stands, what_of
from ..layout import by_folds, parse
from .fold import read_splits


def evaluate_blankets(
    table: Path,
    splits: Path,
    blankets: Sequence[Path],
    scores: Path,
    dataset: str,
    spec: str,
    code: str = "",
    threads: int = 1,
) -> None:
    """Write the scores of every split and model; a split without a blanket has rows with its reason.

    `blankets` has blanket.parquet of each evaluation split in the order of the spec, then with forward splits that of
    the final blanket; `spec` is JSON with models, metrics, splits and the seed. With held-out groups, honest scores
    include those at seen groups. Of further kinds of targets the metadata hold what was observed by parts of what was
    predicted, and of forward splits the drift of all features in any blanket.
    """
    asked = json.loads(spec)
    seed = asked["seed"]
    is_optimistic = "selector" in what_of("evaluate_optimistic", scores)
    artefact = "evaluate_optimistic" if is_optimistic else "evaluate"
    total = made(artefact, scores, [table, splits, *blankets], spec, code, seed)
    if stands(scores, total):
        return
    found = [read_columns(path) for path in blankets]
    chosen = [{f for f, c in zip(columns["feature"], columns["chosen"], strict=True) if c} for columns, _ in found]
    ever = set().union(*chosen)
    stored = read_table(table, [name for name in feature_names(table) if name in ever])
    drawn = read_splits(splits)
    groups = {} if is_optimistic else read_provenance(splits).extra.get("held_out", {})
    task, target = scored_as(stored.extra["task"]), stored.target
    if task != stored.extra["task"] and isinstance(target, TargetColumn):
        target = as_numbers(target)  # models know no kinds of other packages
    unseen = None if task in TASKS or is_optimistic else UnseenRows(task)
    rows: list[dict[str, Any]] = []
    n_splits = len(asked["splits"])
    for split, own, (_, provenance) in zip(asked["splits"], chosen[:n_splits], found[:n_splits], strict=True):
        if not provenance.usable:
            why = (provenance.status, provenance.reason)
            rows += [{"split": split, **row} for row in not_scored(asked["models"], asked["metrics"], task, *why)]
            continue
        features = stored.features.select([name for name in stored.features.names if name in own])
        train, test = train_rows(drawn, split), test_rows(drawn, split)
        known, held_out = features.take(train), features.take(test)
        kept: dict[str, Predictions] = {}
        truth = target.take(test)
        scored = evaluate_split(
            impute(known, known),
            target.take(train),
            impute(known, held_out),
            truth,
            asked["models"],
            asked["metrics"],
            task,
            (seed, dataset, split, "evaluate"),
            threads,
            kept,
        )
        if unseen is not None:
            unseen.add(test, truth, kept)
        if groups:
            rest = asked["models"], asked["metrics"], task, (seed, dataset, split, "seen"), threads
            seen = _scores_at_seen_groups(known, target.take(train), *rest)
            scored = [{**row, "seen": seen[row["model"], row["metric"]]} for row in scored]
        rows += [{"split": split, **row} for row in scored]
    total.seconds = sum({(r["split"], r["model"]): r["seconds"] for r in rows}.values())
    types = ARTEFACTS["evaluate"].types(bool(groups))
    total.extra |= {"held_out": groups} if groups else {}
    total.extra |= {} if unseen is None else {"observed": unseen.summary()}
    periods = None if is_optimistic else read_provenance(splits).extra.get("periods")
    if periods and len(ever) <= MOST_FEATURES:
        period = np.ones(target.n_rows, dtype=np.int64)
        for at, split in enumerate(asked["splits"], start=2):
            period[test_rows(drawn, split)] = at
        y = as_numbers(stored.target) if isinstance(stored.target, TargetColumn) else target
        total.extra["drift"] = feature_drift(stored.features, y, period, periods)
    write_columns(scores, {name: [row.get(name) for row in rows] for name in types}, types, total)


def _scores_at_seen_groups(
    known: Table,
    target: Column,
    models: Sequence[str],
    metrics: str | Sequence[str],
    task: str,
    seed_identity: tuple[str | int, ...],
    n_jobs: int = 1,
) -> dict[tuple[str, str], float | None]:
    """Return the score of each model and metric by cross-validation among the training rows of a split.

    The rows of a group are spread over all parts, as in a partition without groups, so that a model has seen other rows
    of each group. The features were chosen on these rows, so the score is optimistic. It is the mean over the parts
    with a value, None if there is none. `known` has the chosen features, with missing cells.
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


def several_evaluations(
    table: Path,
    splits: Sequence[Path],
    blankets: Sequence[Path],
    scores: Sequence[Path],
    dataset: str,
    folds: Sequence[str],
    spec: str,
    code: str,
    threads: int = 1,
) -> None:
    """Write the outdated scores of several selectors; `folds` has the number of folds of each."""
    of_folds = by_folds(splits)
    for path, n_folds in zip(scores, folds, strict=True):
        selector = parse(path).ids["selector"]
        found = [p for p in blankets if parse(p).ids["selector"] == selector]
        evaluate_blankets(table, of_folds[n_folds], found, path, dataset, spec, code, threads)
