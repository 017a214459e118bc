"""Outer splits and inner folds: which rows to train on. Making them may need scikit-learn, reading them only numpy."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from ..core.cards import CATEGORICAL, SURVIVAL
from ..core.column import EVENT, TargetColumn
from ..core.errors import DataError, did_you_mean
from ..core.rows import FOLD_ROWS, FORWARD, LEAVE_GROUP_OUT, MOST_GROUPS
from ..core.seeds import seed_32
from ..core.table import Column
from .periods import forward_masks

TRAIN, TEST = "train", "test"
#: The part of rows that a split leaves out: later ones, and those in the gap before the test rows.
NEITHER = "neither"
#: The outer split of all rows, whose blanket is the final one.
FINAL = "full"
_FOLD_ID = re.compile(r"([1-9][0-9]*)of([1-9][0-9]*)").fullmatch


def fold_of_rows(
    y: Column,
    n_folds: int,
    seed: int,
    groups: np.ndarray | None = None,
    stratify: bool = True,
    where: str = "data",
) -> np.ndarray:
    """Split rows into folds of nearly equal size; return the fold 1 .. n_folds of each row, shape (n,).

    Folds are stratified by a categorical target unless `stratify` is False. Rows of a group (numbers of shape (n,))
    share a fold. Seeds are reduced to the 31 bits that scikit-learn takes. Raises `DataError` if a class, the groups or
    the rows are fewer than the folds.

    >>> y = Column("y", "categorical", np.array([0, 0, 1, 1]), ("a", "b"))
    >>> folds = fold_of_rows(y, 2, seed=1)
    >>> sorted(folds.tolist()), sorted(folds[:2].tolist())
    ([1, 1, 2, 2], [1, 2])
    """
    values, levels = _strata(y)
    stratified = stratify and levels is not None
    counts = (counts_for_folds(y) if stratified else None) or {}
    n_groups = None if groups is None else len(np.unique(groups))
    _check_size(where, n_folds, len(values), {c: n for c, n in counts.items() if n}, n_groups, _has_events(y))
    seed &= 0x7FFFFFFF
    if groups is None:
        return _dealt(values, n_folds, seed, by_class=stratified)
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    splitter = (StratifiedGroupKFold if stratified else GroupKFold)(n_folds, shuffle=True, random_state=seed)
    fold = np.empty(len(values), dtype=np.int64)
    for k, (_, rows) in enumerate(splitter.split(np.zeros(len(values)), values, groups), 1):
        fold[rows] = k
    return fold


def _has_events(y: Column) -> TypeGuard[TargetColumn]:
    return isinstance(y, TargetColumn) and EVENT in y.parts


def counts_for_folds(y: Column) -> dict[str, int] | None:
    """Return the rows of each class, or the events of a survival target, of which every fold needs one.

    None for a target of numbers.

    >>> counts_for_folds(Column("y", "categorical", np.array([0, 0, 1]), ("a", "b")))
    {'a': 2, 'b': 1}
    """
    values, levels = _strata(y)
    if levels is None:
        return None
    counts = dict(zip(levels, np.bincount(values, minlength=len(levels)).tolist(), strict=True))
    return {EVENT: counts[EVENT]} if _has_events(y) else counts


def _strata(y: Column) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Return codes that stratify folds, (n,), and what they are called; None for a target of numbers."""
    if _has_events(y):
        return np.asarray(y.parts[EVENT], dtype=np.int64), ("no event", EVENT)
    return np.asarray(y.values), y.levels if y.kind == CATEGORICAL else None


def rows_of_folds(
    y: Column, n_folds: int, seed: int, how: str = TRAIN, groups: np.ndarray | None = None, where: str = "data"
) -> list[tuple[str, np.ndarray]]:
    """Return the id and the rows of each fold; with `n_folds` 0, all rows as fold ``0``.

    `how` is ``train`` for the rows outside a fold, ``part`` for those in it; the rest is as in `fold_of_rows`.
    """
    if not n_folds:
        return [("0", np.arange(y.n_rows))]
    part = fold_of_rows(y, n_folds, seed, groups, where=where)
    return [(f"{k}of{n_folds}", np.flatnonzero((part == k) != (how == TRAIN))) for k in range(1, n_folds + 1)]


def _dealt(values: np.ndarray, n_folds: int, seed: int, by_class: bool) -> np.ndarray:
    """Return the folds of scikit-learn's StratifiedKFold or KFold, shuffled, without its import of over a second."""
    random = np.random.RandomState(seed)
    fold = np.empty(len(values), dtype=np.int64)
    if not by_class:
        order = np.arange(len(values))
        random.shuffle(order)
        fold[order] = np.sort(order % n_folds) + 1
        return fold
    # Class by class in the order of their first rows; each begins at the fold where the last ended; shuffled alone.
    classes, first = np.unique(values, return_index=True)
    dealt = 0
    for c in classes[np.argsort(first)]:
        rows = np.flatnonzero(values == c)
        cards = np.sort(np.arange(dealt, dealt + len(rows)) % n_folds)
        random.shuffle(cards)
        fold[rows] = cards + 1
        dealt += len(rows)
    return fold


def make_splits(
    y: Column,
    spec: Mapping[str, Any],
    folds: Sequence[int],
    seed: int,
    dataset: str,
    groups: np.ndarray | None = None,
    n_test: int = 0,
    times: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """Make the outer splits of a data set and their inner folds: the columns of ``splits.parquet``.

    The spec has `evaluation` (number of outer folds; 0: none; 1: one split, whose test part is the last `n_test` rows;
    ``leave-group-out``: a split per group, by number; ``forward``: those of `forward_masks`), `repeats`, `final`
    (whether there is a split ``full``) and `stratify`. `folds` lists numbers of inner folds; 0 is one fold of all
    training rows.

    The columns `row`, `split`, `part`, `folds` and `fold` have a block of n rows for each split and number of folds.
    `fold` is 0 for all but training rows, and where `folds` is 0. Raises `DataError` if there are too few rows, groups
    or rows of a class.
    """
    n, stratify = len(np.asarray(y.values)), spec.get("stratify", True)
    blocks = []
    for split, train, test in _outer(y, spec, seed, dataset, groups, n_test, times):
        rows = np.flatnonzero(train)
        for n_folds in sorted(set(folds)):
            fold = np.zeros(n, dtype=np.int64)
            if n_folds:
                inner_seed = seed_32(seed, dataset, split, n_folds, "folds")
                inner_groups = None if groups is None else groups[rows]
                where = f"{dataset}, training rows of split {split}"
                fold[rows] = fold_of_rows(y.take(rows), n_folds, inner_seed, inner_groups, stratify, where)
            blocks.append(
                {
                    "row": np.arange(n),
                    "split": np.full(n, split),
                    "part": np.select([train, test], [TRAIN, TEST], NEITHER),
                    "folds": np.full(n, n_folds),
                    "fold": fold,
                }
            )
    if not blocks:
        raise DataError(f"{dataset}: no splits are asked for. Set splits: evaluation to 2 or more, or final: true.")
    return {key: np.concatenate([block[key] for block in blocks]) for key in blocks[0]}


def split_ids(spec: Mapping[str, Any], n_groups: int | None = None) -> list[str]:
    """Return the ids of the outer splits: one for each group with ``leave-group-out``, and one for each period but the
    first with ``forward``.

    >>> split_ids({"evaluation": 2, "repeats": 2, "final": True})
    ['full', 'cv-1', 'cv-2', 'cv-3', 'cv-4']
    >>> split_ids({"evaluation": "leave-group-out", "final": False}, n_groups=3)
    ['cv-1', 'cv-2', 'cv-3']
    """
    known = {LEAVE_GROUP_OUT: n_groups or 0, FORWARD: spec.get("parts", 1) - 1}
    parts = known.get(spec["evaluation"], spec["evaluation"])
    evaluated = [f"cv-{i + 1}" for i in range(parts * spec.get("repeats", 1))]
    return ([FINAL] if spec.get("final", True) else []) + evaluated


def _outer(
    y: Column,
    spec: Mapping[str, Any],
    seed: int,
    dataset: str,
    groups: np.ndarray | None,
    n_test: int,
    times: np.ndarray | None,
) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Return the id, training mask and test mask of each outer split, in the order of `split_ids`."""
    if spec["evaluation"] == FORWARD:
        whole = np.ones(y.n_rows, dtype=bool)
        masks = [(whole, ~whole)] if spec.get("final", True) else []
        masks += forward_masks(np.asarray(times), spec, y, dataset)
        return [(split, *both) for split, both in zip(split_ids(spec), masks, strict=True)]
    return [(split, train, ~train) for split, train in _partitions(y, spec, seed, dataset, groups, n_test)]


def _partitions(
    y: Column, spec: Mapping[str, Any], seed: int, dataset: str, groups: np.ndarray | None, n_test: int
) -> list[tuple[str, np.ndarray]]:
    n_rows, n_parts = len(np.asarray(y.values)), spec["evaluation"]
    masks = [np.ones(n_rows, dtype=bool)] if spec.get("final", True) else []
    if n_parts == LEAVE_GROUP_OUT:
        numbers = np.unique([] if groups is None else groups)
        _check_groups(dataset, len(numbers))
        return list(zip(split_ids(spec, len(numbers)), [*masks, *(groups != g for g in numbers)], strict=True))
    if n_parts == 1:
        _check_test_rows(dataset, n_test, n_rows)
        return list(zip(split_ids(spec), [*masks, np.arange(n_rows) < n_rows - n_test], strict=True))
    for repeat in range(spec.get("repeats", 1) if n_parts else 0):
        outer_seed = seed_32(seed, dataset, "outer", repeat)
        part = fold_of_rows(y, n_parts, outer_seed, groups, spec.get("stratify", True), dataset)
        masks += [part != k for k in range(1, n_parts + 1)]
    return list(zip(split_ids(spec), masks, strict=True))


def check_folds(facts: Any, spec: Mapping[str, Any], folds: Sequence[int], dataset: str) -> None:
    """Raise `DataError` before any job where `make_splits` would, or if all training rows are of one class.

    `facts` are those of `peek`; unknown ones are not checked, and so nothing of forward splits, which depend on times.
    """
    if spec["evaluation"] == FORWARD:
        return
    stratified, of_events = spec.get("stratify", True), facts.task == SURVIVAL
    counts = {label: count for label, count in (facts.class_counts or {}).items() if count} if stratified else {}
    n_rows, n_groups, parts = facts.n_rows, facts.n_groups, spec["evaluation"]
    where = f"{dataset}, training rows of split full"
    if parts == 1:
        _check_test_rows(dataset, facts.n_test, n_rows)
        where, n_rows = f"{dataset}, training rows of split cv-1", n_rows - facts.n_test
    elif parts:
        if parts == LEAVE_GROUP_OUT:
            _check_groups(dataset, parts := n_groups or 0)
        else:
            _check_size(dataset, parts, n_rows, counts, n_groups, of_events)
        where = f"{dataset}, training rows of a split"
        n_rows, n_groups = _left(n_rows, parts), None if n_groups is None else _left(n_groups, parts)
        counts = {label: _left(count, parts) for label, count in counts.items()}
    for n_folds in folds:
        if n_folds:
            _check_size(where, n_folds, n_rows, counts, n_groups, of_events)
    if parts == 1:
        _check_classes(dataset, facts.class_counts, of_events)


def _left(count: int, parts: int) -> int:
    """Return the size of the smallest training part: the largest test part takes count / parts, rounded up."""
    return count - -(-count // parts)


def train_rows(splits: Mapping[str, Any], split: str) -> np.ndarray:
    """Return the training rows of an outer split, ascending; raises as `fold_rows` does."""
    return _rows(splits, split, TRAIN)


def test_rows(splits: Mapping[str, Any], split: str) -> np.ndarray:
    """Return the test rows of an outer split, ascending, none for ``full``; raises as `fold_rows` does."""
    return _rows(splits, split, TEST)


test_rows.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever pytest thinks of its name


def fold_rows(splits: Mapping[str, Any], split: str, fold_id: str, how: str = TRAIN) -> np.ndarray:
    """Return the rows of a fold's job, ascending.

    `split` is such as ``cv-1``; `fold_id` is ``0`` for all training rows, or such as ``3of5``; `how` is ``train`` for
    the training rows of the fold, or ``part`` for the fold itself. Raises `DataError` if the split or fold does not
    exist.
    """
    if how not in FOLD_ROWS:
        raise DataError(f"fold_rows is {how!r}. {did_you_mean(how, FOLD_ROWS)}")
    if fold_id == "0":
        return train_rows(splits, split)
    named = _FOLD_ID(fold_id)
    k, n_folds = map(int, named.groups()) if named else (0, 0)
    block = _block(splits, split) & (np.asarray(splits["folds"]) == n_folds)
    if not 1 <= k <= n_folds or not block.any():
        known = sorted({str(f) for f in np.unique(np.asarray(splits["folds"])[_block(splits, split)])})
        raise DataError(f"split {split!r} has no fold {fold_id!r}; numbers of folds there: {', '.join(known)}.")
    fold = np.asarray(splits["fold"])
    chosen = block & (np.asarray(splits["part"]) == TRAIN) & (fold != k if how == TRAIN else fold == k)
    return np.sort(np.asarray(splits["row"])[chosen])


def _rows(splits: Mapping[str, Any], split: str, part: str) -> np.ndarray:
    block, folds = _block(splits, split), np.asarray(splits["folds"])
    block &= folds == folds[block].min()  # every number of folds repeats the same parts
    return np.sort(np.asarray(splits["row"])[block & (np.asarray(splits["part"]) == part)])


def _block(splits: Mapping[str, Any], split: str) -> np.ndarray:
    block = np.asarray(splits["split"]) == split
    if not block.any():
        raise DataError(f"there is no split {split!r}. {did_you_mean(split, set(splits['split']))}")
    return block


def _check_test_rows(where: str, n_test: int, n_rows: int) -> None:
    """Raise `DataError` unless there are rows to test on and rows to learn from."""
    if not 0 < n_test < n_rows:
        raise DataError(
            f"{where}: of {n_rows} rows the last {n_test} are test rows, but there must be at least one of them, and "
            "one to learn from. Change test_rows, or set splits: evaluation to 5 or 0."
        )


def _check_groups(where: str, n_groups: int) -> None:
    """Raise `DataError` unless there are groups to hold out, and not too many."""
    what = f"splits.evaluation: {LEAVE_GROUP_OUT}"
    if n_groups < 2:
        raise DataError(
            f"{where}: {what} needs at least 2 groups, but there is {_of(n_groups, 'group')}. Choose another column "
            "for groups, or set evaluation to 5."
        )
    if n_groups > MOST_GROUPS:
        raise DataError(
            f"{where}: {n_groups:,} groups, but {what}, one search for each, takes at most {MOST_GROUPS}: "
            "set evaluation to 10, which keeps groups together, or name a coarser column."
        )


def _check_classes(where: str, counts: Mapping[str, int] | None, of_events: bool) -> None:
    """Raise `DataError` if the rows before the test rows are known to be of one class, or to have no event."""
    if of_events:
        if counts and not counts[EVENT]:
            raise DataError(
                f"{where}: the rows to learn from have no event: all are among the test_rows. Mix the rows, or change "
                "test_rows."
            )
        return
    known = [label for label, count in (counts or {}).items() if count]
    if len(known) == 1:
        raise DataError(
            f"{where}: the rows to learn from have one class only, {known[0]!r}: the others are among the test_rows. "
            "Mix the rows, or change test_rows."
        )


def _check_size(
    where: str, n_folds: int, n_rows: int, counts: Mapping[str, int], n_groups: int | None, of_events: bool
) -> None:
    """Raise `DataError` unless rows, groups and each class, or the events, suffice for the folds."""
    if n_folds < 2:
        raise DataError(f"{where}: {n_folds} folds are asked for, but a partition needs at least 2.")
    if n_folds > n_rows:
        raise DataError(f"{where}: {_of(n_rows, 'row')}, fewer than the {n_folds} folds: use fewer folds.")
    if n_groups is not None and n_folds > n_groups:
        raise DataError(
            f"{where}: {_of(n_groups, 'group')}, fewer than the {n_folds} folds: use fewer folds or other groups."
        )
    if counts and n_folds > min(counts.values()):
        label = min(counts, key=lambda c: counts[c])
        if of_events:
            ways_out = "use fewer folds, name a more frequent event, or set stratify: false"
            raise DataError(f"{where}: {_of(counts[label], 'event')}, fewer than the {n_folds} folds: {ways_out}.")
        few = f"class {label!r} has {_of(counts[label], 'row')}, fewer than the {n_folds} folds"
        ways_out = "use fewer folds, drop or merge the class, or set stratify: false"
        raise DataError(f"{where}: {few}: {ways_out}.")


def _of(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
