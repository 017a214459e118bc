"""Texts that mean missing cells: which ones, where they occurred, and when one may be a class instead.

The usual ones are read as missing unless the data set's key ``missing_values`` lists others; ``more_missing_values``
adds to them. Which occurred is reported.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import DataError
from ..core.printable import printable

#: Texts that stand for missing cells unless ``missing_values`` says otherwise; the empty one always does.
MISSING_MARKERS = (
    "", "?", "NA", "N/A", "n/a", "<NA>", "#N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "None",
)  # fmt: skip
#: A marker in the target may be a class if it is in at least this share of the rows ...
CLASS_SHARE = 0.05
#: ... and in at least this share of the rows of the smallest class.
SMALLEST_SHARE = 0.5
#: ... and in so many rows: fewer are no evidence.
FEWEST_ROWS = 3
_SHOWN = 5

#: How many cells of each column held each marker.
Found = Mapping[str, Mapping[str, int]]


class MissingMarkers:
    """The texts that mean missing cells in one source, and where they occurred.

    `asked` is the key ``missing_values``; None are the usual texts and `more` of the format. `added` are texts beside
    them. With `asked`, nothing is noted, since the user has decided.

    >>> markers = MissingMarkers(["-"])
    >>> sorted(markers.texts()), sorted(markers.texts(("?",)))
    (['', '-'], ['', '-'])
    """

    def __init__(
        self, asked: Sequence[str] | None = None, more: Collection[str] = (), added: Collection[str] = ()
    ) -> None:
        self._added = frozenset(text.strip() for text in added)
        self._asked = None if asked is None else frozenset({"", *(text.strip() for text in asked)})
        self._usual = frozenset({*MISSING_MARKERS, *more})
        #: How many cells of each column held each marker that the format itself does not declare.
        self.found: dict[str, dict[str, int]] = {}

    @classmethod
    def of(cls, spec: Mapping[str, Any], more: Collection[str] = ()) -> MissingMarkers:
        """Return the texts that a data set's spec, or a format with `more` texts, asks for in all columns."""
        added = spec.get("more_missing_values") or ()
        return cls(spec.get("missing_values"), more, () if isinstance(added, Mapping) else added)

    def texts(self, usual: Collection[str] | None = None) -> frozenset[str]:
        """Return the texts that mean missing cells: those of the keys, else the `usual` ones of a format."""
        if self._asked is not None:
            return self._asked | self._added
        return self._added | (self._usual if usual is None else {"", *usual})

    def note(self, column: str, counts: Mapping[str, int]) -> None:
        """Note in how many cells of a column each text occurred."""
        held = {text: n for text, n in counts.items() if text and n and text not in self._added}
        if held and self._asked is None:
            self.found[column] = held

    def note_codes(self, column: str, codes: np.ndarray, texts: Sequence[str], missing: Collection[str]) -> None:
        """Note the missing cells of a column of codes of `texts`."""
        if self._asked is None and any(text and text in missing for text in texts):
            counts: Counter[str] = Counter()
            for text, n in zip(texts, np.bincount(codes, minlength=len(texts)).tolist(), strict=True):
                if text in missing:
                    counts[text] += n
            self.note(column, counts)


def of_columns(found: Found, columns: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return what was found in some columns."""
    return {name: dict(found[name]) for name in columns if name in found}


def texts_found(found: Found) -> str | None:
    """Return in words which texts were read as missing cells, how often and where; None for none.

    >>> texts_found({"a": {"NA": 2}, "b": {"NA": 1, "?": 4}})
    "texts were read as missing cells: '?' 4 times in b, 'NA' 3 times in a, b"
    """
    told = by_text(found)
    return f"texts were read as missing cells: {', '.join(told)}" if told else None


def by_text(found: Found, counted: bool = True) -> list[str]:
    """Say of each text where it was met, and how often, the most frequent first, unless not `counted`."""
    places: dict[str, dict[str, int]] = {}
    for column, counts in found.items():
        for text, n in counts.items():
            places.setdefault(text, {})[column] = n
    told = []
    for text, by_column in sorted(places.items(), key=lambda one: -sum(one[1].values())):
        columns = sorted(by_column, key=lambda column: -by_column[column]) if counted else [*by_column]
        more = f" and {len(columns) - _SHOWN} more columns" if len(columns) > _SHOWN else ""
        n = sum(by_column.values())
        where = ", ".join(map(printable, columns[:_SHOWN]))
        times = f" {n:,} time{'s' if n > 1 else ''}" if counted else ""
        told.append(f"{text!r}{times} in {where}{more}")
    return told if counted else sorted(told)


def markers_told(found: Found, exact: bool = True) -> str | None:
    """Return in words which texts were read as missing, of the first rows unless `exact`, and what to do; or None."""
    told = texts_found(found)
    return told and f"{told}{'' if exact else ' of the first rows'}. {way_out(found)}"


def way_out(found: Found) -> str:
    """Return in words how to read such a text as a value, and how to confirm that all are missing.

    >>> way_out({"a": {"NA": 2}, "b": {"None": 1}})
    'If one of them is a value, set missing_values to the others, [] if there are none; ["NA", "None"] is as now.'
    """
    others = "set missing_values to the others, [] if there are none"
    return f"If one of them is a value, {others}; {listed_markers(found)} is as now."


def check_classes(name: str, target: str, sizes: Iterable[int], found: Found) -> None:
    """Raise `DataError` if a text of the target that was read as missing is as frequent as a class.

    That is, in at least `FEWEST_ROWS` rows, in `CLASS_SHARE` of all, and `SMALLEST_SHARE` times as often as the
    smallest class; `sizes` are the rows of each class.
    """
    sizes = [n for n in sizes if n]
    counts = found.get(target, {})
    n_rows = sum(sizes) + sum(counts.values())
    for text, n in sorted(counts.items(), key=lambda one: -one[1]):
        if n >= max(FEWEST_ROWS, CLASS_SHARE * n_rows, SMALLEST_SHARE * min(sizes, default=0)):
            others = {column: {t: k for t, k in held.items() if t != text} for column, held in found.items()}
            raise DataError(
                f"{name}: the target {target!r} is {text!r} in {n:,} of {n_rows:,} rows, as often as a class. If "
                f"{text!r} is a class, set missing_values: {listed_markers(others)}; if these rows have no target and "
                f"are to be left out, set missing_values: {listed_markers(found)}."
            )


def listed_markers(found: Found) -> str:
    """Return the texts found as YAML."""
    return json.dumps(sorted({text for counts in found.values() for text in counts}), ensure_ascii=False)


# --- texts and numbers that may stand for missing cells, though they are not read so: the reader asks about them ------


class Suspects(NamedTuple):
    """The cells of each column that may be missing, by text; and those texts that other columns hold as values."""

    cells: Found = MappingProxyType({})
    elsewhere: frozenset[str] = frozenset()

    def of_columns(self, columns: Iterable[str]) -> Suspects:
        """Return those of some columns."""
        return self._replace(cells=of_columns(self.cells, columns))

    def without(self, is_value: Callable[[str], Any]) -> Suspects:
        """Return them without some texts."""
        cells = {column: {t: n for t, n in held.items() if not is_value(t)} for column, held in self.cells.items()}
        return self._replace(cells={column: held for column, held in cells.items() if held})

    def told(self, exact: bool = True) -> str | None:
        """Return in words which cells may be missing, of the first rows unless `exact`; None for none.

        >>> Suspects({"a": {"-": 2}, "b": {"-": 1, "-999": 4}}).told()
        "cells may be missing: '-999' 4 times in b, '-' 3 times in a, b"
        """
        told = by_text(self.cells)
        return f"cells{'' if exact else ' of the first rows'} may be missing: {', '.join(told)}" if told else None

    @property
    def way_out(self) -> str:
        """How to read them as missing or as values, in words.

        >>> Suspects({"b": {"-999": 4}}).way_out
        'If they are, set more_missing_values: ["-999"]; if they are values, set more_missing_values: [].'
        """
        return f"If they are, set {self.key}; if they are values, set more_missing_values: []."

    @property
    def key(self) -> str | None:
        """The key that reads them as missing, as YAML on one line: by column if other columns hold them as values.

        >>> Suspects({"b": {"9": 4}}, frozenset({"9"})).key
        'more_missing_values: {"b": ["9"]}'
        """
        if any(text in self.elsewhere for held in self.cells.values() for text in held):
            by_column = {column: sorted(held) for column, held in self.cells.items()}
            return f"more_missing_values: {json.dumps(by_column, ensure_ascii=False)}"
        return f"more_missing_values: {listed_markers(self.cells)}" if self.cells else None

    def line(self, exact: bool = True) -> str | None:
        """Say in one line which cells may be missing, and what to write; None for none."""
        told = self.told(exact)
        return told and f"{told}. {self.way_out}"
