"""The searches of several selectors of a data set in one job."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ..layout import by_folds, parse
from .aggregation import aggregate_splits
from .decisions import grow_shrink


def several_selectors(
    table: Path,
    splits: Sequence[Path],
    marginal: Sequence[Path],
    grow: Sequence[Path],
    shrink: Sequence[Path],
    blanket: Sequence[Path],
    by_fold: Sequence[Path],
    answers: Sequence[Path],
    dataset: str,
    spec: str,
    code: str,
) -> None:
    """Grow, shrink and aggregate on all folds of all splits for each selector, skipping what is up to date.

    JSON: `spec` has ci_test artefact, folds, and specs of search and aggregation by selector, `code` the digests.
    """
    codes, of_folds = json.loads(code), by_folds(splits)
    for selector, (test, folds, searched, aggregated) in json.loads(spec).items():
        own = [[p for p in paths if parse(p).ids["selector"] == selector] for paths in (grow, shrink)]
        to = [[p for p in paths if parse(p).ids["selector"] == selector] for paths in (blanket, by_fold, answers)]
        tested = [p for p in marginal if (ids := parse(p).ids)["test"] == test and ids["fold"] in folds]
        parts = ["{split}/{fold}".format(**parse(path).ids) for path in own[0]]
        own_splits = of_folds[folds[0].split("of")[-1]]
        grow_shrink(table, own_splits, tested, *own, dataset, parts, searched, codes["search"][selector])
        aggregate_splits(tested, *own, *to, folds, aggregated, codes["aggregate"])
