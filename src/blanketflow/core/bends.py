"""Whether relations of a table's numbers bend, by one look at some rows and pairs, before anything is tested."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from .column_order import by_names
from .flags import is_flag
from .numerics import orthonormal_basis, residuals, standardised
from .printable import printable
from .seeds import derive_rng
from .table import Column, Table

#: The most rows and pairs of columns that are looked at, and the fewest rows.
MOST_ROWS, MOST_PAIRS, FEWEST_ROWS = 2000, 200, 50
#: Columns among which pairs without the target are drawn, and those that are sorted by name.
MOST_OTHERS, MOST_SORTED = 50, 10_000
#: Powers of a column's normal scores that are tried as bends of it, and the rate of false alarms for a table.
POWERS, ALARM = np.arange(2.0, 6.0)[:, np.newaxis], 0.01
#: Pairs that are named.
NAMED = 2


def bends_seen(features: Table, target: Column | None) -> str:
    """Return in words which pairs of numbers have a relation that bends, the surest first; empty if none is seen.

    For each pair `POWERS` of either column's normal scores are added to the linear regression of the other one on it. A
    score test tells whether they say more; it is robust against variances that move (White, 1980, doi:10.2307/1912934).
    A relation bends if it does so both as it is and on normal scores: of the first alone heavy tails give false alarms,
    and of the second alone columns that no straight line relates on scores. The level is `ALARM`, divided by the number
    of tests.

    At most `MOST_ROWS` rows are looked at, drawn at random, and `MOST_PAIRS` pairs: of the target with features, and of
    features. Labels, flags, and columns with missing cells in these rows are left out.

    Examples
    --------
    >>> from blanketflow.core.convert import as_table
    >>> a, b = np.random.default_rng(0).normal(size=(2, 300))
    >>> features = as_table(np.column_stack([a, b]))
    >>> bends_seen(features, Column("y", "numeric", a**2)), bends_seen(features, Column("y", "numeric", a + b))
    ('y with x0', '')
    """
    if features.n_rows < FEWEST_ROWS:
        return ""
    numbers, pairs = _looked_at(features, target)
    if not pairs:
        return ""
    values = np.array([number.numbers() for number in numbers])
    both_ways, scores = np.array([*pairs, *(pair[::-1] for pair in pairs)]), _scores(values)
    log_p = np.maximum(*(_log_p(columns, scores, both_ways) for columns in (values, scores)))
    bent = np.flatnonzero(log_p <= np.log(ALARM / len(log_p)))
    found = [*dict.fromkeys(pairs[at % len(pairs)] for at in bent[np.argsort(log_p[bent], kind="stable")].tolist())]
    named = [f"{printable(numbers[i].name)} with {printable(numbers[j].name)}" for i, j in found[:NAMED]]
    return ", ".join(named) + (f" and {len(found) - NAMED} more of {len(pairs)} pairs" if len(found) > NAMED else "")


def _looked_at(features: Table, target: Column | None) -> tuple[list[Column], list[tuple[int, int]]]:
    """Return some rows of numbers, and the pairs of these to look at, by position."""
    rng = derive_rng(0, "bends")
    rows = np.sort(rng.permutation(features.n_rows)[:MOST_ROWS])
    order = by_names(features.names) if len(features) <= MOST_SORTED else None  # the order of the table decides nothing
    places = rng.permutation(len(features))[:MOST_PAIRS]
    drawn = [features.columns[at] for at in (places if order is None else order[places]).tolist()]
    numbers = [number for number in (column.take(rows) for column in drawn) if _is_number(number)]
    pairs = list(combinations(range(len(numbers))[:MOST_OTHERS], 2))
    pairs = [pairs[at] for at in rng.permutation(len(pairs)).tolist()]
    if target is not None and _is_number(number := target.take(rows)):
        of_target = [(len(numbers), at) for at in range(len(numbers))]
        pairs = of_target[: max(MOST_PAIRS // 2, MOST_PAIRS - len(pairs))] + pairs
        numbers.append(number)
    return numbers, pairs[:MOST_PAIRS]


def _is_number(column: Column) -> bool:
    return not (column.is_discrete or column.n_missing() or column.n_infinite() or is_flag(column))


def _scores(values: np.ndarray) -> np.ndarray:
    """Return each row of values as normal scores, nearly: to 0.01."""
    found = np.empty_like(values)
    for row, scored in zip(values, found, strict=True):
        _, places, counts = np.unique(row, return_inverse=True, return_counts=True)
        above = (np.cumsum(counts) - counts / 2.0) / counts.sum()
        tail = np.minimum(above, 1.0 - above)
        # Schmeiser (1979) Approximations to the inverse cumulative normal function, Simulation 33. scipy takes long to
        # load, and each plan looks.
        scored[:] = (np.sign(above - 0.5) * 5.5556 * (1.0 - (tail / (1.0 - tail)) ** 0.1186))[places]
    return found


def _log_p(values: np.ndarray, scores: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return for each pair of positions log p of whether bends of the second column tell more of the first."""
    log_p, centred = np.zeros(len(pairs)), standardised(values)
    for x in np.unique(pairs[:, 1]).tolist():
        straight = centred[x : x + 1]
        bends = orthonormal_basis(residuals(standardised(scores[x] ** POWERS), straight))
        at = np.flatnonzero(pairs[:, 1] == x)
        left = residuals(centred[pairs[at, 0]], straight)
        products, spread = left @ bends.T, np.einsum("mn,an,bn->mab", left * left, bends, bends, optimize=True)
        statistic = np.einsum("ma,mab,mb->m", products, np.linalg.pinv(spread, hermitian=True), products)
        log_p[at] = np.log1p(statistic / 2.0) - statistic / 2.0  # of chi-square with 4 degrees, or fewer if some agree
    return log_p
