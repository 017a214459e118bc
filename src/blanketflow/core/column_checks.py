"""What the cells and names of columns suggest: flags, row identifiers, near-copies, numbers stored as text, bends."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from .cards import BOOLEAN, CATEGORICAL
from .column import FIRST_ROWS, TargetColumn, WideColumns
from .errors import NumbersAsTextWarning, RowOrderWarning
from .numerics import orthonormal_basis, residuals, standardised
from .printable import printable
from .seeds import derive_rng
from .table import Column, Table, by_names

#: Columns checked for several flags.
MOST_COLUMNS = 2000


def with_flags(table: Table) -> Table:
    """Return a table in which numbers of two values are truth values; the same table if there are none.

    Examples
    --------
    >>> columns = [Column("a", "numeric", np.array([2.0, 1.0, 2.0])), Column("b", "integer", np.array([3, 4, 5]))]
    >>> [(column.kind, column.values.tolist()) for column in with_flags(Table(columns)).columns]
    [('boolean', [1, 0, 1]), ('integer', [3, 4, 5])]
    """
    plain = (not (column.is_discrete or isinstance(column, TargetColumn)) for column in table.columns)
    flags = [_truth_values(column) if is_plain else None for is_plain, column in zip(plain, table.columns, strict=True)]
    if not any(flags):
        return table
    return Table([flag or column for flag, column in zip(flags, table.columns, strict=True)], table.design)


def has_flags(table: Table, n: int) -> bool:
    """Return whether at least `n` of the first `MOST_COLUMNS` columns have two values.

    Examples
    --------
    >>> columns = [Column("a", "numeric", np.array([2.0, 1.0, 2.0])), Column("b", "integer", np.array([3, 4, 5]))]
    >>> has_flags(Table(columns), 1), has_flags(Table(columns), 2)
    (True, False)
    """
    for i in range(min(len(table), MOST_COLUMNS) if n else 0):
        n -= is_flag(table.columns[i])
        if not n:
            break
    return not n


def is_flag(column: Column) -> bool:
    """Return whether a column has two values, or a label two levels."""
    if column.is_discrete:
        return column.kind == BOOLEAN or len(column.levels) == 2
    return _truth_values(column) is not None


def _truth_values(column: Column) -> Column | None:
    """Return a column of two numbers as truth values, which are 1 for the larger one; None for any other column."""
    cells = column.cells()
    if len(np.unique(known := _known(cells[:FIRST_ROWS]))) > 2 or not len(known := _known(cells)):
        return None
    low, high = known.min(), known.max()
    if not low < high or not ((known == low) | (known == high)).all():
        return None
    values = (cells == high).astype(np.int8)
    whole = values if len(known) == len(cells) else np.where(np.isnan(cells), np.nan, values)
    return Column(column.name, BOOLEAN, whole)


def _known(cells: np.ndarray) -> np.ndarray:
    return cells[~np.isnan(cells)] if cells.dtype.kind == "f" else cells


#: Words in names: ``patient_id`` and ``PatientID`` contain the word `id`, ``humid`` does not.
ID_WORDS = {"id", "ids", "uid", "uuid", "guid", "key", "index", "idx", "row", "rowid", "rownames", "identifier"}
ROW_NUMBER, IDENTIFIER = "row-number", "identifier"
#: Minimum number of values.
FEWEST = 10
_TOKEN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def tokens(name: str) -> set[str]:
    """Return the words of a name, in lower case.

    Examples
    --------
    >>> sorted(tokens("PatientID_2"))
    ['2', 'id', 'patient']
    """
    return {token.lower() for token in _TOKEN.findall(name)}


def identifier_kind(column: Column) -> str:
    """Return ``row-number`` or ``identifier`` where a column of numbers may be one; else nothing.

    Examples
    --------
    >>> identifier_kind(Column("row", "integer", np.arange(1, 31)))
    'row-number'
    """
    if column.kind in (BOOLEAN, CATEGORICAL):
        return ""
    present = column.numbers()
    present = present[~np.isnan(present)]
    n = len(present)
    if n < FEWEST or not np.array_equal(present, np.round(present)):
        return ""
    steps, values = np.diff(present), np.unique(present)
    if abs(steps[0]) == 1 and (steps == steps[0]).all():
        return ROW_NUMBER
    is_dense_or_ascends = values[-1] - values[0] < 3 * n or bool(np.all(steps > 0))
    if len(values) == n >= 2 * FEWEST and is_dense_or_ascends:
        return IDENTIFIER
    is_named_so = len(values) >= max(2 * FEWEST, 0.9 * n) and bool(tokens(column.name) & ID_WORDS)
    return IDENTIFIER if is_named_so else ""


#: Two columns are near-copies from this absolute correlation on.
NEAR = 0.95
#: Columns per block of correlations.
BLOCK = 256


def clusters_of_copies(table: Table, names: Sequence[str]) -> list[list[int]]:
    """Return clusters of two or more near-copies, as ascending positions in `names`; rows have no missing cells.

    Numbers and labels of two levels are near-copies if their absolute correlation with the first of the cluster is at
    least `NEAR`, other labels if they only rename its levels. Costs one correlation per pair.

    Examples
    --------
    >>> from blanketflow.core.convert import as_table
    >>> clusters_of_copies(as_table(np.array([[0.0, 1, 0], [1, -1, 2], [2, -3, 1]])), ["x0", "x1", "x2"])
    [[0, 1]]
    """
    numbers = [i for i, name in enumerate(names) if not table[name].is_discrete or len(table[name].levels) <= 2]
    columns = standardised(table.matrix([names[i] for i in numbers]).T)
    found = [[numbers[j] for j in cluster] for cluster in nearly_equal(columns, NEAR)]
    renamed: dict[bytes, list[int]] = {}
    for i in sorted(set(range(len(names))) - set(numbers)):
        renamed.setdefault(without_names(table[names[i]].numbers()), []).append(i)
    return [cluster for cluster in (*found, *renamed.values()) if len(cluster) > 1]


def nearly_equal(columns: np.ndarray, near: float) -> list[list[int]]:
    """Return clusters of `standardised` columns, (m, n), whose absolute correlation with the first is >= `near`."""
    found, left = [], np.ones(len(columns), dtype=bool)
    for start in range(0, len(columns), BLOCK):
        block = start + np.flatnonzero(left[start : start + BLOCK])
        correlations = columns[block] @ columns[start:].T
        for i, is_near in zip(block.tolist(), np.abs(correlations, out=correlations) >= near, strict=True):
            if left[i]:
                is_near &= left[start:]
                is_near[i - start] = True
                found.append((start + np.flatnonzero(is_near)).tolist())
                left[found[-1]] = False
    return found


def without_names(cells: np.ndarray) -> bytes:
    """Return a digest of a column's cells, shape (n,), that is equal for columns which only rename each other's values.

    Examples
    --------
    >>> without_names(np.array([3, 1, 3])) == without_names(np.array(["a", "b", "a"]))
    True
    """
    _, first, code = np.unique(cells, return_index=True, return_inverse=True)
    return hashlib.blake2b(np.argsort(np.argsort(first))[code].astype(np.int32).tobytes(), digest_size=16).digest()


_PLAIN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?").fullmatch
_BARE = r"[+\u2212-]?(\d{1,3}([.,'\u2019_\s]\d{3})+([.,]\d+)?|\d*[.,]?\d+)([eEdD][+-]?\d+)?"
_UNIT = r"(\s?(%|[kmµ]?[glms]|cm|[€$£¥]|°C?)|\s[^\W\d_]{1,4})?"
#: Such as ``$ 1,234.50``, ``12 kg``, ``< 5`` and ``0x1f``.
_DRESSED = re.compile(rf"[^\w\s.,+\u2212-]{{0,2}}\s?{_BARE}{_UNIT}'?|0[xX][0-9a-fA-F]+").fullmatch
#: Fewer different numbers may be labels.
_FEWEST = 3
#: Maximum distinct plain numbers that are labels if a format declares them so or stores them as text.
_MOST_LABELS = 10
MAKE_NUMBERS = "Make numbers of it, as pandas.to_numeric does, or a categorical column of pandas, if it holds labels."
#: A text column with a larger share of numbers seems to hold numbers.
_SHARE = 0.5
_SHOWN = 2


def number_texts(columns: Sequence[Column], labels: Collection[str] = ()) -> list[tuple[str, str]]:
    """Return the text columns that seem to hold numbers, and what each holds, except the declared `labels`.

    >>> dose = Column("dose", "categorical", np.array([0, 1, 2, 3]), ("1", "2", "4", "-"))
    >>> number_texts([dose])
    [('dose', "holds numbers, but also '-' in 1 of 4 cells, and is read as labels")]
    """
    columns = columns.more if isinstance(columns, WideColumns) else columns
    told = ((column.name, what_is_held(column)) for column in columns if column.name not in labels)
    return [(name, what) for name, what in told if what]


def declared_labels(X: object, table: Table) -> set[str]:
    """Return the columns that a frame declares as categories."""
    dtypes = zip(table.names, X.dtypes, strict=True) if hasattr(X, "iloc") and hasattr(X, "dtypes") else ()
    return {name for name, dtype in dtypes if hasattr(dtype, "categories")}


def warn_of_number_texts(where: str, X: object, table: Table, stacklevel: int = 3, told: Collection[str] = ()) -> None:
    """Warn of text columns that seem to hold numbers, unless the frame `X` declares them as categories.

    Kinds of a `Table` are declared, so there is no warning for one. `where` starts the message. Of columns in `told`
    something else was said.
    """
    if isinstance(X, Table):
        return
    found = number_texts(table.columns, declared_labels(X, table) | {*told})
    if found:
        (name, what), more = found[0], f"; so do {len(found) - 1} more" if found[1:] else ""
        as_labels = "" if what.endswith("as labels") else ", and is read as labels"
        warnings.warn(
            f"{where}: column {name!r} {what}{as_labels}{more}. {MAKE_NUMBERS}",
            NumbersAsTextWarning,
            stacklevel=stacklevel,
        )


def warn_of_row_order(where: str, X: object, stacklevel: int = 3, **of_rows: object) -> None:
    """Warn if the indexes of features and target, groups or weights hold the same labels in different orders."""
    index = getattr(X, "index", None)
    parts = ((what, part) for what, values in of_rows.items() for part in _parts_of(values))
    for what, part in parts:
        other = getattr(part, "index", None)
        if not (hasattr(index, "equals") and hasattr(other, "equals")) or len(index) != len(other):
            continue
        if not index.equals(other) and not len(index.symmetric_difference(other, sort=False)):
            warnings.warn(
                f"{where}: the indexes of X and {what} hold the same labels in different orders, and rows are matched "
                f"by position. If the labels say which rows belong together, give {what}.loc[X.index].",
                RowOrderWarning,
                stacklevel=stacklevel,
            )


def _parts_of(values: object) -> Iterable[object]:
    return values.values() if isinstance(values, Mapping) else (values,)


def what_is_held(column: Column) -> str | None:
    """Say what a text column that seems to hold numbers holds; None for any other column."""
    if column.kind != CATEGORICAL:
        return None
    codes = column.values[column.values >= 0]
    counts = np.bincount(codes, minlength=len(column.levels))
    levels = [level for level, count in zip(column.levels, counts.tolist(), strict=True) if count]
    counts = counts[counts > 0]
    plain = np.array([bool(_PLAIN(level)) for level in levels], dtype=bool)
    if plain.all():
        is_text = len(levels) > _MOST_LABELS
        return f"holds numbers as text, such as {_quoted(levels[:1])}" if is_text else None
    if len(levels) >= _FEWEST and all(map(_DRESSED, levels)):
        return f"holds numbers written as text, such as {_quoted([levels[int(np.argmin(plain))]])}"
    n_others = int(counts[~plain].sum())
    if plain.sum() < _FEWEST or n_others >= _SHARE * len(codes):
        return None
    others = [levels[at] for at in np.argsort(-counts, kind="stable").tolist() if not plain[at]]
    more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    where = f"{_quoted(others[:_SHOWN])}{more} in {n_others} of {len(codes)} cells"
    return f"holds numbers, but also {where}, and is read as labels"


def _quoted(texts: Sequence[str], most: int = 30) -> str:
    return ", ".join(repr(printable(text if len(text) <= most else f"{text[:most]}...")) for text in texts)


#: Maximum rows and pairs of columns, and minimum rows.
MOST_ROWS, MOST_PAIRS, FEWEST_ROWS = 2000, 200, 50
#: Columns for pairs without the target, and maximum number of columns sorted by name.
MOST_OTHERS, MOST_SORTED = 50, 10_000
#: Powers of normal scores that are tested, and the false alarm rate for a table.
POWERS, ALARM = np.arange(2.0, 6.0)[:, np.newaxis], 0.01
#: Number of pairs named.
NAMED = 2


def rows_looked_at(n_rows: int) -> np.ndarray:
    """Return the rows in which `bends_seen` looks, ascending."""
    return np.sort(derive_rng(0, "bends").permutation(n_rows)[:MOST_ROWS])


def bends_seen(features: Table, target: Column | None, n_rows: int | None = None) -> str:
    """Return texts on pairs of numeric columns with a nonlinear relation, the clearest first.

    For each pair, `POWERS` of one column's normal scores are added to the linear regression of the other on it, with a
    score test robust to unequal variances (White, 1980, doi:10.2307/1912934). Raw values and normal scores must both
    reject at `ALARM` / number of tests: heavy tails give false alarms on raw values, monotone relations on scores.

    Tests at most `MOST_ROWS` random rows and `MOST_PAIRS` pairs: the target with features, then features with each
    other. With `n_rows`, the rows are given: `rows_looked_at` of a table of so many. Labels, flags, and columns with
    missing cells in these rows are skipped.

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
    numbers, pairs = _looked_at(features, target, n_rows)
    if not pairs:
        return ""
    values = np.array([number.numbers() for number in numbers])
    both_ways, scores = np.array([*pairs, *(pair[::-1] for pair in pairs)]), _scores(values)
    log_p = np.maximum(*(_log_p(columns, scores, both_ways) for columns in (values, scores)))
    bent = np.flatnonzero(log_p <= np.log(ALARM / len(log_p)))
    found = [*dict.fromkeys(pairs[at % len(pairs)] for at in bent[np.argsort(log_p[bent], kind="stable")].tolist())]
    named = [f"{printable(numbers[i].name)} with {printable(numbers[j].name)}" for i, j in found[:NAMED]]
    return ", ".join(named) + (f" and {len(found) - NAMED} more of {len(pairs)} pairs" if len(found) > NAMED else "")


def _looked_at(
    features: Table, target: Column | None, n_rows: int | None
) -> tuple[list[Column], list[tuple[int, int]]]:
    """Return some rows of numbers, and the pairs of columns to test, by position."""
    rng = derive_rng(0, "bends")
    rows = np.sort(rng.permutation(n_rows or features.n_rows)[:MOST_ROWS])
    rows = rows if n_rows is None else np.arange(features.n_rows)
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
    """Return the normal scores of each row of values, accurate to 0.01."""
    found = np.empty_like(values)
    for row, scored in zip(values, found, strict=True):
        _, places, counts = np.unique(row, return_inverse=True, return_counts=True)
        above = (np.cumsum(counts) - counts / 2.0) / counts.sum()
        tail = np.minimum(above, 1.0 - above)
        # Schmeiser (1979) Approximations to the inverse cumulative normal function, Simulation 33. scipy takes long to
        # load, and each plan calls this.
        scored[:] = (np.sign(above - 0.5) * 5.5556 * (1.0 - (tail / (1.0 - tail)) ** 0.1186))[places]
    return found


def _log_p(values: np.ndarray, scores: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return, for each pair of positions, log p of the test that powers of the second column explain the first."""
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
