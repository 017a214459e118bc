"""Columns that repeat others almost: nearly equal ones, labels under other names, and linear combinations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ...core.cards import CATEGORICAL, NUMERIC
from ...core.column_checks import nearly_equal, without_names
from ...core.numerics import standardised
from ...core.printable import listed
from ...core.table import Column
from ..column_roles import RawTable
from .finding import FEWEST_ROWS, MOST_COLUMNS, Finding, some_rows

#: Two columns are near-copies from this absolute correlation on.
NEARLY_EQUAL = 0.99
#: A column is a linear combination of others if they explain more than this share of its variance.
EXPLAINED = 0.999
#: The fewest rows from which anything is concluded. The most columns among which relations are looked for, and the rows
#: that each of them takes.
FEWEST, MOST_IN_RELATION, ROWS_EACH = 20, 500, 2
#: Terms of a relation that are looked for, and those that are named.
_MOST_TERMS, _NAMED = 8, 4
#: Columns with a larger share of missing cells are not compared.
MOST_MISSING = 0.2


def near_copies(raw: RawTable, columns: Sequence[Column]) -> list[Finding]:
    """Return findings about columns that others make redundant, other than constants and exact copies.

    At most `FEWEST_ROWS` complete rows are used. Linear combinations need two rows per column: with fewer, every column
    is one.
    """
    pairs, names, X = _copies(raw, columns)
    relations = []
    if names and ROWS_EACH * len(names) <= len(X) and len(names) <= MOST_IN_RELATION:
        relations = _relations(names, X)
    return _as_findings(pairs, relations)


def groups_of_copies(raw: RawTable, columns: Sequence[Column]) -> list[list[str]]:
    """Return the groups of columns that are equal or nearly so, each in the order of the table, the largest first."""
    kept = {later: first for first, later in raw.duplicates} | _copies(raw, columns)[0]
    groups: dict[str, list[str]] = {}
    for name in kept:
        first, seen = name, {name}
        while first in kept and kept[first] not in seen:
            first = kept[first]
            seen.add(first)
        groups.setdefault(first, [first]).append(name)
    places = {column.name: at for at, column in enumerate(columns)}
    ordered = [sorted(group, key=lambda name: places.get(name, len(places))) for group in groups.values()]
    return sorted(ordered, key=len, reverse=True)


def _copies(raw: RawTable, columns: Sequence[Column]) -> tuple[dict[str, str], list[str], np.ndarray]:
    """Return near-copies with the column that each is like, and the numeric columns that are none, at some rows."""
    apart = {*raw.constant, *(later for _, later in raw.duplicates)}
    left = [column for column in columns[:MOST_COLUMNS] if column.name not in apart]
    pairs = dict(_relabelled(left))
    names, X = _numbers(left)
    if len(X) < FEWEST or X.shape[1] < 2:
        return pairs, [], X
    clusters = nearly_equal(X.T, NEARLY_EQUAL)
    copies = sorted((j, first) for first, *others in clusters for j in others)
    alone = [first for first, *_ in clusters]
    return {names[j]: names[first] for j, first in copies} | pairs, [names[j] for j in alone], X[:, alone]


def _as_findings(pairs: Mapping[str, str], relations: list[tuple[str, list[str]]]) -> list[Finding]:
    found = []
    if pairs:
        shown = listed([f"{copy} (like {kept})" for copy, kept in pairs.items()])
        what = "one column nearly repeats" if len(pairs) == 1 else f"{len(pairs)} columns nearly repeat"
        message = f"{what} an earlier one: {shown}"
        advice = "A search keeps one of each and names its stand-ins. Drop those that you would not measure."
        found.append(Finding("near-copy", tuple(pairs), message, advice))
    if relations:
        shown = listed((f"{name} (of {', '.join(of)})" for name, of in relations), between="; ")
        n = len(relations)
        what = "one column is a linear combination" if n == 1 else f"{n} columns are linear combinations"
        message = f"{what} of earlier ones: {shown}"
        advice = "One column of each such group can be left out without loss; which one is chosen says little."
        found.append(Finding("near-copy", tuple(name for name, _ in relations), message, advice))
    return found


def _relabelled(columns: Sequence[Column]) -> Iterator[tuple[str, str]]:
    """Yield pairs of a column of labels or whole numbers, and an earlier one whose values it only renames."""
    seen: dict[bytes, str] = {}
    for column in columns:
        if column.kind == NUMERIC:
            continue
        n_values = len(np.unique(cells := column.cells()))
        if not 1 < n_values <= len(cells) // 2:  # of values that are all different, every column is a renaming
            continue
        kept = seen.setdefault(without_names(cells), column.name)
        if kept != column.name:
            yield column.name, kept


def _numbers(columns: Sequence[Column]) -> tuple[list[str], np.ndarray]:
    """Return the numeric columns with few gaps, at some complete rows, centred and of length 1; shape (n, m)."""
    of_numbers = [column for column in columns if column.kind != CATEGORICAL]
    if not of_numbers:
        return [], np.zeros((0, 0))
    rows = some_rows(of_numbers[0].n_rows, FEWEST_ROWS)
    X = np.column_stack([column.take(rows).numbers() for column in of_numbers])
    known = np.isfinite(X)
    kept = np.flatnonzero(known.mean(axis=0) >= 1 - MOST_MISSING)
    X = standardised(X[known[:, kept].all(axis=1)][:, kept].T).T if len(kept) else X[:, :0]
    varies = np.flatnonzero(X.any(axis=0)) if len(X) else np.arange(0)
    return [of_numbers[kept[j]].name for j in varies], X[:, varies]


def _relations(names: Sequence[str], X: np.ndarray) -> list[tuple[str, list[str]]]:
    """Return columns that earlier ones explain, and which ones do: the few that suffice, or some of the many."""
    unexplained = np.diagonal(np.linalg.qr(X, mode="r")) ** 2
    dependent = np.flatnonzero(unexplained < 1 - EXPLAINED)
    return [(names[j], _terms(names, X, int(j), set(dependent.tolist()))) for j in dependent.tolist() if j]


def _terms(names: Sequence[str], X: np.ndarray, of: int, dependent: set[int]) -> list[str]:
    """Return earlier columns that explain a column, added one at a time by what they add, and then thinned out."""
    earlier = [j for j in range(of) if j not in dependent] or list(range(of))
    chosen: list[int] = []
    while len(chosen) < min(len(earlier), _MOST_TERMS) and not _suffice(X, chosen, of):
        rest = X[:, of] - _fitted(X, chosen, of)
        gain = np.abs(rest @ X[:, earlier])
        gain[[earlier.index(j) for j in chosen]] = -1.0
        chosen.append(earlier[int(np.argmax(gain))])
    if not _suffice(X, chosen, of):
        return [*(names[j] for j in chosen[:_NAMED]), "others"]
    for j in list(chosen):
        others = [k for k in chosen if k != j]
        chosen = others if _suffice(X, others, of) else chosen
    return [*(names[j] for j in chosen[:_NAMED]), *(["others"] if len(chosen) > _NAMED else [])]


def _suffice(X: np.ndarray, columns: Sequence[int], of: int) -> bool:
    rest = X[:, of] - _fitted(X, columns, of)
    return bool(rest @ rest < 1 - EXPLAINED)


def _fitted(X: np.ndarray, columns: Sequence[int], of: int) -> np.ndarray:
    return X[:, columns] @ np.linalg.lstsq(X[:, columns], X[:, of], rcond=None)[0] if columns else np.zeros(len(X))
