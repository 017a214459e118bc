"""Suspected leaks: columns that alone predict the target nearly perfectly, and targets that are made of features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from ...core.cards import CATEGORICAL
from ...core.column_checks import tokens
from ...core.printable import listed
from ...core.rows import repeats
from ...core.table import Column
from ..column_roles import RawTable
from .finding import FEWEST_ROWS, Finding, most_related, n_rows_examined, some_rows

#: A column that alone explains a larger share of the target is suspected.
SUSPECT_SHARE = {"classification": 0.98, "regression": 0.99}
#: The fewest rows from which leakage is concluded, and leaks that are told one by one.
_FEWEST_ROWS, _ONE_BY_ONE = 10, 10
_ADVICE = "If it is known only with or after the target, drop it; otherwise no search is needed."


def suspected_leaks(raw: RawTable) -> list[Finding]:
    """Return the columns that alone determine the target, the strongest first, and those that are named after it.

    Of a large table at most `MOST_COLUMNS` columns are examined, and so many rows that this takes about a second.
    """
    told = _told(raw)
    limit = SUSPECT_SHARE[raw.task.name]
    leaks = sorted((name for name, share in told.items() if share > limit), key=lambda name: -told[name])
    found = []
    for name in leaks[:_ONE_BY_ONE]:
        what = "all" if told[name] == 1 else f"{told[name]:.1%}"
        message = f"{listed([name])} alone explains {what} of the target"
        found.append(Finding("leakage", (name,), message, _ADVICE))
    if rest := leaks[_ONE_BY_ONE:]:
        message = f"each of {listed(rest)} alone explains more than {limit:.0%} of the target"
        found.append(Finding("leakage", tuple(rest), message, _ADVICE))
    named = [name for name in _named_after(raw) if name not in leaks]
    if named:
        are, them = ("is", "it if it was") if len(named) == 1 else ("are", "those that were")
        message = f"{listed(named)} {are} named after the target"
        found.append(Finding("leakage", tuple(named), message, f"Drop {them} made from the target."))
    return found


def _told(raw: RawTable) -> dict[str, float]:
    """Return the share of the target that each examined column explains."""
    n_rows = raw.features.n_rows
    if n_rows < _FEWEST_ROWS:
        return {}
    rows = some_rows(n_rows, n_rows_examined(n_rows, len(raw.features)))
    if (numbers := repeats(chain(raw.features.columns, [raw.target]), n_rows)) is not None:
        rows = rows[np.unique(numbers[rows], return_index=True)[1]]  # else each row is told by its own copy
    target = raw.target.take(rows)
    columns = (raw.features.columns[at].take(rows) for at in most_related(raw))
    return {column.name: told_by(column, target) for column in columns}


def _named_after(raw: RawTable) -> list[str]:
    words = tokens(raw.target.name)
    if not words or max(map(len, words)) < 3:
        return []
    one = max(words, key=len)
    return [name for name in raw.features.names if one in name.lower() and words <= tokens(name)]


def told_by(column: Column, target: Column) -> float:
    """Return the share of the target that one column explains: 1 for all of it, 0 or less for nothing.

    Each row is predicted from others with the same value or, without any, from the nearest value. For classes the share
    is (accuracy - b) / (1 - b), with b the share of the largest class; for numbers it is R2. Missing cells are a value,
    since they can be informative.

    >>> y = Column("y", "categorical", np.arange(40) % 2, ("no", "yes"))
    >>> told_by(Column("x", "numeric", np.arange(40) % 2 + np.linspace(0, 0.1, 40)), y)
    1.0
    """
    values = column.numbers()
    missing = values < 0 if column.kind == CATEGORICAL else np.isnan(values)
    distinct, code = np.unique(values[~missing], return_inverse=True)
    groups = np.full(len(values), len(distinct), dtype=np.int64)  # missing cells come last
    groups[~missing] = code
    nearest = None if column.kind == CATEGORICAL else _nearest(distinct)
    if target.kind == CATEGORICAL:
        return _classes_told(groups, nearest, np.asarray(target.values), len(target.levels))
    return _numbers_told(groups, nearest, target.numbers())


def _nearest(distinct: np.ndarray) -> np.ndarray:
    """Return the position of the nearest other value for each of k ascending values, shape (k,); -1 if k is 1."""
    if len(distinct) < 2:
        return np.full(len(distinct), -1)
    gaps = np.diff(distinct)
    before, after = np.concatenate(([np.inf], gaps)), np.concatenate((gaps, [np.inf]))
    return np.arange(len(distinct)) + np.where(before <= after, -1, 1)


def _classes_told(groups: np.ndarray, nearest: np.ndarray | None, y: np.ndarray, n_classes: int) -> float:
    shape = (int(groups.max()) + 1, n_classes)
    counts = np.bincount(groups * n_classes + y, minlength=shape[0] * shape[1]).reshape(shape)
    first, top = counts.argmax(axis=1), counts.max(axis=1)
    rival = np.where(np.arange(n_classes) == first[:, None], -1, counts).max(axis=1, initial=0)
    right = (first[groups] == y) & (top[groups] - 1 > rival[groups])
    if nearest is not None:
        alone = np.flatnonzero((counts.sum(axis=1) == 1)[groups] & (groups < len(nearest)))
        by = nearest[groups[alone]]
        right[alone] = (by >= 0) & (first[by] == y[alone])
    largest = np.bincount(y).max() / len(y)
    return float((right.mean() - largest) / (1 - largest)) if largest < 1 else 0.0


def _numbers_told(groups: np.ndarray, nearest: np.ndarray | None, y: np.ndarray) -> float:
    y = np.ldexp(y, -np.frexp(np.abs(y).max(initial=0.0))[1])  # squares of large numbers overflow
    sums, sizes = np.bincount(groups, weights=y), np.bincount(groups)
    total = float(((y - y.mean()) ** 2).sum())
    predicted = np.full(len(y), y.mean())
    shared = sizes[groups] > 1
    predicted[shared] = (sums[groups[shared]] - y[shared]) / (sizes[groups[shared]] - 1)
    if nearest is not None:
        alone = np.flatnonzero(~shared & (groups < len(nearest)))
        by = nearest[groups[alone]]
        known = by >= 0
        predicted[alone[known]] = sums[by[known]] / sizes[by[known]]
    return 1 - float(((y - predicted) ** 2).sum()) / total if total else 0.0


# --- targets that are made of features: sums, products and ratios, the largest or smallest of some columns ------------

#: A target is a sum or product of features if they explain more than this share of its variance ...
EXPLAINED = 0.999
#: ... and every row is off by less than these units of the last decimal that the target is written with.
MOST_UNITS = 0.75
#: The fewest rows from which anything is concluded, and rows for each term of a relation.
FEWEST, ROWS_EACH = 20, 5
#: Most terms of a sum, factors of a product, and columns of which a target is the largest or smallest.
_MOST_TERMS, _MOST_FACTORS, _MOST_OF = 40, 4, 12
#: Features that lack more cells are left out.
_MOST_MISSING = 0.2
#: Numbers from here on are left out: their products overflow.
_LARGEST = 1e30
#: How often each of the columns of which a target is the largest must be it, as a share of the rows.
_EACH_OFTEN = 0.02
#: Names of a long sum that are written out.
_NAMED = 6


class _Numbers(NamedTuple):
    """Features as numbers at some complete rows, (n, d), and the target there, (n,)."""

    names: list[str]
    X: np.ndarray
    y: np.ndarray


def made_targets(raw: RawTable, columns: Sequence[Column]) -> list[Finding]:
    """Return a finding if the target can be computed from features; at most `FEWEST_ROWS` rows are looked at."""
    for numbers in _readings(raw, columns):
        for relation in (_sum, _product, _extreme):
            if found := relation(numbers):
                terms, formula = found
                message = f"{listed([raw.target.name])} is {formula}"
                advice = "Drop the columns that are known only with or after the target."
                return [Finding("leakage", tuple(terms), message, advice)]
    return []


def _readings(raw: RawTable, columns: Sequence[Column]) -> Iterator[_Numbers]:
    """Yield the table as numbers: as it is, and of two classes that are no numbers with either one as 1."""
    of_numbers = [column for column in columns if column.kind != CATEGORICAL]
    if len(of_numbers) < 2:
        return
    rows = some_rows(raw.target.n_rows, FEWEST_ROWS)
    X = np.column_stack([column.take(rows).numbers() for column in of_numbers])
    names = np.array([column.name for column in of_numbers])
    for values in _target_numbers(raw.target.take(rows)):
        usual = (np.isfinite(X).mean(axis=0) >= 1 - _MOST_MISSING) & (np.nanmin(X, axis=0, initial=np.inf) < np.inf)
        usual &= np.nanmax(np.abs(X), axis=0, initial=0.0) < _LARGEST
        complete = np.isfinite(X[:, usual]).all(axis=1) & (np.abs(values) < _LARGEST)
        own, y = X[complete][:, usual], values[complete]
        varies = np.ptp(own, axis=0) > 0 if len(own) else np.zeros(own.shape[1], dtype=bool)
        if len(y) >= FEWEST and np.ptp(y) > 0 and varies.sum() >= 2:
            yield _Numbers(names[usual][varies].tolist(), own[:, varies], y)


def _target_numbers(target: Column) -> Iterator[np.ndarray]:
    if target.kind != CATEGORICAL:
        yield target.numbers()
        return
    try:
        yield np.array([float(level) for level in target.levels])[target.values]
    except ValueError:
        if len(target.levels) == 2:
            yield target.values.astype(float)
            yield 1.0 - target.values


def _sum(numbers: _Numbers) -> tuple[list[str], str] | None:
    """Return the terms of a sum that the target is, and its formula."""
    found = _terms(numbers.X, numbers.y, _MOST_TERMS, lambda fitted: _agrees(numbers.y, fitted))
    if found is None or len(found[0]) < 2:  # what one column says alone is told of that column
        return None
    chosen, coefficients = found
    names = [numbers.names[j] for j in chosen]
    if not np.allclose(np.abs(coefficients), np.abs(coefficients[0]), rtol=1e-3):
        return names, f"a linear combination of {listed(names)}"
    if coefficients.min() < 0 < coefficients.max():
        plus = [name for name, c in zip(names, coefficients, strict=True) if c > 0]
        minus = [name for name, c in zip(names, coefficients, strict=True) if c < 0]
        return names, f"{_joined(plus, ' + ')} - {_joined(minus, ' - ')}"
    what = "the sum" if abs(abs(coefficients[0]) - 1) < 1e-3 else "a multiple of the sum"
    return names, f"{what} {_joined(names, ' + ')}"


def _product(numbers: _Numbers) -> tuple[list[str], str] | None:
    """Return the factors of a product of powers that the target is, and its formula."""
    is_positive = (numbers.X > 0).all(axis=0)
    if numbers.y.min() <= 0 or is_positive.sum() < 2:
        return None
    at = np.flatnonzero(is_positive)
    X, y = np.log(numbers.X[:, at]), np.log(numbers.y)
    found = _of_two(X, numbers.y) or _terms(X, y, _MOST_FACTORS, lambda fitted: _agrees(numbers.y, np.exp(fitted)))
    if found is None:
        return None
    chosen, powers = found
    if len(chosen) < 2 or np.abs(2 * powers - np.round(2 * powers)).max() > 0.1 or not np.round(2 * powers).all():
        return None
    names = [numbers.names[at[j]] for j in chosen]
    powers = np.round(2 * powers) / 2
    over, under = (
        [f"{name}^{abs(p):g}" if abs(p) != 1 else name for name, p in zip(names, powers, strict=True) if p * sign > 0]
        for sign in (1, -1)
    )
    return names, f"in proportion to {' x '.join(over) or '1'}{''.join(f' / {name}' for name in under)}"


def _of_two(X: np.ndarray, y: np.ndarray) -> tuple[list[int], np.ndarray] | None:
    """Return the two columns, as logarithms, and their powers 1 or -1, of which the target is the product or ratio.

    All pairs are compared: beside features that nearly say the target, terms that are added one at a time go astray.
    """
    Z = np.column_stack([X, np.log(y)])
    Z = Z - Z.mean(axis=0)
    products = Z.T @ Z
    d = X.shape[1]
    own, with_y = np.diag(products)[:d], products[:d, d]
    for sign in (1.0, -1.0):
        left = (own - 2 * with_y)[:, np.newaxis] + own - 2 * sign * with_y + 2 * sign * products[:d, :d]
        np.fill_diagonal(left, np.inf)
        i, j = np.unravel_index(int(np.argmin(left)), left.shape)
        logs = X[:, i] + sign * X[:, j]
        made = np.exp(logs - logs.max())
        if _agrees(y, made * (made @ y) / (made @ made)):
            return [int(i), int(j)], np.array([1.0, sign])
    return None


def _extreme(numbers: _Numbers) -> tuple[list[str], str] | None:
    """Return the columns of which the target is the largest or smallest, with the formula."""
    for sign, what in ((1, "largest"), (-1, "smallest")):
        X, y = sign * numbers.X, sign * numbers.y
        able = np.flatnonzero((y[:, np.newaxis] >= X).all(axis=0))
        # One that is at its lowest wherever it equals the target does not decide.
        hits = (X[:, able] == y[:, np.newaxis]) & (y > y.min())[:, np.newaxis]
        often = hits.mean(axis=0) >= _EACH_OFTEN if len(able) else np.zeros(0, dtype=bool)
        able, hits, left = able[often], hits[:, often], y > y.min()
        chosen: list[int] = []
        while left.any() and len(chosen) < _MOST_OF and len(able):
            gains = hits[left].sum(axis=0)
            if not gains.max():
                break
            chosen.append(int(np.argmax(gains)))
            left = left & ~hits[:, chosen[-1]]
        is_reached = len(chosen) > 1 and not left.any()
        if is_reached and np.array_equal(X[:, able[chosen]].max(axis=1), y):
            names = [numbers.names[able[j]] for j in sorted(chosen)]
            return names, f"the {what} of {listed(names)}"
    return None


def _terms(
    X: np.ndarray, y: np.ndarray, most: int, suffices: Callable[[np.ndarray], bool]
) -> tuple[list[int], np.ndarray] | None:
    """Return columns, and their coefficients, whose linear combination suffices; None if there are none.

    They are added one at a time by what they add, and thinned out at the end. Half of the rows choose and fit them,
    and all rows judge.
    """
    half = np.arange(len(y)) % 2 == 0
    centred = X[half] - X[half].mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    chosen: list[int] = []
    while len(chosen) < min(most, X.shape[1], half.sum() // ROWS_EACH):
        rest = (y - _fitted(X, y, half, chosen))[half]
        with np.errstate(invalid="ignore", divide="ignore"):
            gains = np.where(lengths > 0, np.abs(rest @ centred) / lengths, -1.0)
        gains[chosen] = -1.0
        chosen.append(int(np.argmax(gains)))
        if suffices(_fitted(X, y, half, chosen)):
            break
    else:
        return None
    for j in list(chosen):
        others = [k for k in chosen if k != j]
        chosen = others if others and suffices(_fitted(X, y, half, others)) else chosen
    chosen = sorted(chosen)
    return chosen, _coefficients(X, y, half, chosen)[1:]


def _coefficients(X: np.ndarray, y: np.ndarray, rows: np.ndarray, columns: Sequence[int]) -> np.ndarray:
    A = np.column_stack([np.ones(int(rows.sum())), X[np.ix_(rows, columns)]])
    scale = np.abs(A).max(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    return np.linalg.lstsq(A / scale, y[rows], rcond=None)[0] / scale


def _fitted(X: np.ndarray, y: np.ndarray, rows: np.ndarray, columns: Sequence[int]) -> np.ndarray:
    intercept, *of_columns = _coefficients(X, y, rows, columns)
    return intercept + X[:, columns] @ np.asarray(of_columns) if columns else np.full(len(y), intercept)


def _agrees(y: np.ndarray, fitted: np.ndarray) -> bool:
    """Return whether numbers are equal but for the rounding of the first."""
    off = np.abs(y - fitted)
    return bool(off @ off < (1 - EXPLAINED) * ((y - y.mean()) ** 2).sum() and off.max() < MOST_UNITS * _unit(y))


def _unit(y: np.ndarray) -> float:
    """Return the unit of the last decimal of numbers; of numbers with all digits, a millionth of their spread.

    Numbers that were held in 32 bits, such as 690.799987792969, count with the decimals that they had before.

    Examples
    --------
    >>> _unit(np.array([1.5, 2.25])), _unit(np.array([300.0, 1200.0]))
    (0.01, 1.0)
    """
    precision = 1e-7 if np.allclose(y, y.astype(np.float32), rtol=1e-12, atol=0) else 1e-12
    for decimals in range(6):
        if np.allclose(y, np.round(y, decimals), rtol=precision, atol=0):
            return 10.0**-decimals
    return 1e-6 * float(y.std())


def _joined(names: Sequence[str], sign: str) -> str:
    shown = [listed([name]) for name in names[:_NAMED]]
    return sign.join([*shown, *([f"{len(names) - _NAMED} more"] if len(names) > _NAMED else [])])
