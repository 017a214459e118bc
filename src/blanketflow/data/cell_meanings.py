"""What single cells of a table mean, in every format: missing, below detection, infinite, dates, labels alike."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL, NUMERIC
from ..core.column import MatrixColumns, SparseColumns, WideColumns
from ..core.errors import DataError
from ..core.formats import find_format
from ..core.printable import listed, printable
from ..core.table import Column, SparseValues, column_of_codes
from .column_roles import named_columns, setting
from .columns import blocks_of, by_look, look, names_of
from .columns_of_text import is_number
from .dates import is_no_date, with_dates
from .dialect import FoundOut
from .dressed_numbers import ABOVE, BELOW, AtLimits, Limits, RuleNeeded, Spelling, check_columns, numbers_of_labels
from .formats.loaded import Loaded
from .missing_markers import Suspects
from .suspected_cells import is_sure, suspects_of

#: Keys of a data set that say what cells mean. With one of them, a table is read whole to see what it holds.
CELL_KEYS = ("more_missing_values", BELOW, ABOVE, "infinite", "similar_labels")
#: Sources that are no files.
_OF_PACKAGES = ("openml", "sklearn")
#: Formats whose texts are no declared labels.
_UNDECLARED = ("csv", "xlsx")


def with_meanings(name: str, loaded: Loaded, spec: Mapping[str, Any], kind: str) -> Loaded:
    """Return what was read of a source of a `kind`, with cells as the spec's keys say; what was guessed is noted.

    Texts become missing in formats that have no texts for it themselves, and columns of labels numbers where all cells
    are. Raises `DataError` if a key must say what cells mean, `RuleNeeded` for those below and above detection, and
    `ConfigError` if one names a column that is not there.
    """
    for key in ("more_missing_values", BELOW, ABOVE):
        check_columns(name, key, spec.get(key), names_of(loaded.columns))
    markers = _Markers(spec, kind in _OF_PACKAGES or "missing_values" in find_format(kind).keys)
    as_read = {*setting(spec, "drop"), *setting(spec, "categorical")}
    wide = loaded.columns if isinstance(loaded.columns, WideColumns) else None
    held = None if wide is None else markers.without_numbers_in(replace(wide, more=()))
    numbers = _Numbers(name, loaded, spec, kind not in _UNDECLARED, markers)
    columns = []
    for column in loaded.columns if wide is None else wide.more:
        column, *more = [column] if column.name in as_read else numbers.of(column)
        columns += [markers.without_numbers(markers.without(column)), *more]
    notes, found = [*loaded.notes], [*loaded.found, *numbers.told()]
    if spec.get("infinite") == "missing":
        columns, held = _without_infinite(columns, held, found)
    columns = _with_labels(name, columns, spec.get("similar_labels"), as_read, found)
    whole = columns if held is None else replace(held, more=tuple(columns))
    suspects = Suspects() if markers.are_decided else suspects_of(whole, as_read)
    if spec.get("dates"):
        suspects = suspects.without(is_no_date)
    odd: list[str] = []
    whole = with_dates(name, whole, spec.get("dates"), {loaded.target, *named_columns(spec)}, notes, odd)
    found += [FoundOut(what, "dates") for what in odd]
    return loaded._replace(
        columns=whole, notes=tuple(notes), found=tuple(found), markers=numbers.markers, suspected=suspects
    )


class _Numbers:
    """Reads columns of labels as numbers where they hold them, and collects what is to be said of it."""

    def __init__(
        self, name: str, loaded: Loaded, spec: Mapping[str, Any], are_declared: bool, missing: _Markers
    ) -> None:
        self._name, self._spec, self._missing = name, spec, missing
        self._names = {*names_of(loaded.columns)}
        self._limits = Limits(spec.get(BELOW), spec.get(ABOVE))
        decimal = "," if any(one.key == "decimal" for one in loaded.found) else None
        self._spelling = Spelling((spec.get("decimal"), spec.get("thousands")), decimal, are_declared)
        self._forms: dict[str, list[str]] = {}
        self._at_limits: list[AtLimits] = []
        #: Which texts of which columns were read as missing cells.
        self.markers = dict(loaded.markers)

    def of(self, column: Column) -> list[Column]:
        """Return a column of numbers, and those that go with it; the column itself if it holds others."""
        words = self._missing.of_column(column.name)
        if column.kind != CATEGORICAL:
            return [column]
        missing = words if self._missing.are_given else words.union(filter(is_sure, column.levels))
        read = numbers_of_labels(self._name, column, missing, self._limits, self._spelling)
        if read is None:
            return [column]
        if taken := next((one.name for one in read.columns[1:] if one.name in self._names), None):
            raise DataError(f"{self._name}: there is a column {taken!r}, which {column.name!r} needs. Rename it.")
        self._at_limits += read.limits
        if read.form:
            self._forms.setdefault(read.form, []).append(column.name)
        if guessed := {text: n for text, n in read.missing.items() if text not in words}:
            self.markers[column.name] = {**self.markers.get(column.name, {}), **guessed}
        return read.columns

    def told(self) -> list[FoundOut]:
        """Return what was done; `RuleNeeded` if keys must say what stands for cells below and above detection."""
        if undecided := [one for one in self._at_limits if one.rule is None]:
            raise RuleNeeded(self._name, undecided, self._spec)
        forms = [FoundOut(f"{form} in {listed(names)}", "categorical") for form, names in self._forms.items()]
        return [*(one.done for one in self._at_limits), *forms]


class _Markers:
    """Texts and numbers that mean missing cells, by the keys; numbers are compared by value."""

    def __init__(self, spec: Mapping[str, Any], reads_texts: bool) -> None:
        added = spec.get("more_missing_values")
        by_column = added if isinstance(added, Mapping) else {}
        of_all = [] if spec.get("missing_values") is None else [*spec["missing_values"]]
        of_all += added if added and not by_column else []
        self._of_all = frozenset(text.strip() for text in of_all)
        self._by_column = {column: frozenset(text.strip() for text in texts) for column, texts in by_column.items()}
        self._numbers = {column: _numbers(texts) for column, texts in self._by_column.items()}
        self._numbers_of_all = _numbers(self._of_all)
        self._reads_texts = reads_texts
        #: Whether the user lists all texts, and whether nothing is to be suspected.
        self.are_given = spec.get("missing_values") is not None
        self.are_decided = self.are_given or added is not None

    def of_column(self, column: str) -> frozenset[str]:
        """Return the texts of a column."""
        return self._of_all | self._by_column.get(column, frozenset())

    def without(self, column: Column) -> Column:
        """Return a column of labels without those that mean missing cells, if the reader has not left them out."""
        texts = self._by_column.get(column.name, frozenset()) | (frozenset() if self._reads_texts else self._of_all)
        if column.kind != CATEGORICAL or texts.isdisjoint(column.levels):
            return column
        return column_of_codes(column.name, column.values, [None if t in texts else t for t in column.levels])

    def without_numbers(self, column: Column) -> Column:
        """Return a column of numbers without those that mean missing cells."""
        numbers = np.concatenate([self._numbers_of_all, self._numbers.get(column.name, self._numbers_of_all[:0])])
        if not len(numbers) or column.kind in (CATEGORICAL, BOOLEAN):
            return column
        values = column.values
        are = np.isin(values.values if isinstance(values, SparseValues) else values, numbers)
        return _with_gaps(column, are) if are.any() else column

    def without_numbers_in(self, columns: WideColumns) -> WideColumns:
        """Return a matrix without the numbers that mean missing cells."""
        if columns.kind == BOOLEAN or not (len(self._numbers_of_all) or self._numbers):
            return columns
        by_place = {columns.names.index(column): n for column, n in self._numbers.items() if column in columns.names}

        def are_missing(values: np.ndarray, at: int | None) -> np.ndarray:
            return np.isin(values, self._numbers_of_all if at is None else by_place[at])

        return _matrix_with_gaps(columns, are_missing, [None, *by_place])


def _numbers(texts: Collection[str]) -> np.ndarray:
    plain = (text.replace(",", ".") for text in texts)
    return np.array(sorted({float(text) for text in plain if is_number(text)}), dtype=np.float64)


def _with_gaps(column: Column, are: np.ndarray) -> Column:
    """Return a column of numbers of which some cells, or stored ones of a sparse column, are missing."""
    if isinstance(column.values, SparseValues):
        held = np.where(are, np.nan, column.values.values)
        return replace(column, kind=NUMERIC, values=replace(column.values, values=held))
    return replace(column, values=np.where(are, np.nan, column.values))


def _matrix_with_gaps(columns: WideColumns, are_missing: Any, places: Sequence[int | None]) -> WideColumns:
    """Return columns held together with missing cells where `are_missing` of values says so, of all or one place."""
    if isinstance(columns, SparseColumns):
        values = columns.values
        for at in places:
            part = slice(None) if at is None else slice(columns.starts[at], columns.starts[at + 1])
            if (are := are_missing(values[part], at)).any():
                values = values.astype(np.float64)
                values[part][are] = np.nan
        return replace(columns, values=values)
    if not isinstance(columns, MatrixColumns):
        return columns
    matrix = columns.matrix
    for at in places:
        for block in blocks_of(columns) if at is None else [slice(at, at + 1)]:
            are = are_missing(matrix[:, block], at)
            if are.any():
                if matrix is columns.matrix:
                    matrix = np.asfortranarray(matrix, dtype=np.float64).copy(order="F")
                matrix[:, block][are] = np.nan
    return replace(columns, matrix=matrix)


def _without_infinite(
    columns: list[Column], held: WideColumns | None, found: list[FoundOut]
) -> tuple[list[Column], WideColumns | None]:
    """Return columns whose infinite cells are missing."""
    counts = {column.name: n for column in columns if column.kind != CATEGORICAL and (n := column.n_infinite())}
    if counts:
        columns = [
            _with_gaps(c, np.isinf(c.values.values if isinstance(c.values, SparseValues) else c.values))
            if c.name in counts
            else c
            for c in columns
        ]
        told = f"{sum(counts.values()):,} infinite cells in {listed(map(repr, counts))} are missing"
        found.append(FoundOut(told, "infinite"))
    if held is not None and held.kind == NUMERIC:
        before, held = held, _matrix_with_gaps(held, lambda values, _: np.isinf(values), [None])
        if _cells(before) is not _cells(held):
            found.append(FoundOut("infinite cells of the matrix are missing", "infinite"))
    return columns, held


def _cells(columns: WideColumns) -> Any:
    return getattr(columns, "matrix", getattr(columns, "values", None))


# --- labels that look alike -------------------------------------------------------------------------------------------


def _with_labels(
    name: str, columns: list[Column], asked: str | None, as_read: Collection[str], found: list[FoundOut]
) -> list[Column]:
    """Return columns whose labels that look alike are one, if the key says so.

    Without the key, those of other invisible characters are refused; `error` refuses those of other case and blanks,
    too. Raises `DataError`.
    """
    if asked == "keep":
        return columns
    done: list[Column] = []
    merged: dict[str, list[str]] = {}
    for column in columns:
        looks = by_look(column.levels, asked is not None) if column.kind == CATEGORICAL else {}
        alike = next((pair for pair in looks.values() if len(pair) > 1), None)
        if alike and asked != "merge" and column.name not in as_read:
            raise DataError(
                f"{name}: column {column.name!r} holds the labels {alike[0]!a} and {alike[1]!a}, which look alike. Set "
                "similar_labels: merge to make them one, or similar_labels: keep to tell them apart."
            )
        if alike and asked == "merge":
            counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels)).tolist()
            of_level = dict(zip(column.levels, counts, strict=True))
            new = {level: look(max(pair, key=of_level.__getitem__)) for pair in looks.values() for level in pair}
            merged[column.name] = [printable(repr(level)) for pair in looks.values() if len(pair) > 1 for level in pair]
            column = column_of_codes(column.name, column.values, [new.get(level, level) for level in column.levels])
        done.append(column)
    for column_name, levels in merged.items():
        told = f"labels of {column_name} that look alike were made one: {listed(levels)}"
        found.append(FoundOut(told, "similar_labels"))
    return done
