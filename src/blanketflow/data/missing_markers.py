"""Texts that mean missing cells: which ones, where they occurred, and when one may be a class instead.

The usual ones are read as missing unless the data set's key ``missing_values`` lists others; which occurred is
reported.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

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

    `asked` is the key ``missing_values``; None are the usual texts and `more` of the format. With the key, nothing is
    noted, since the user has decided.

    >>> markers = MissingMarkers(["-"])
    >>> sorted(markers.texts()), sorted(markers.texts(("?",)))
    (['', '-'], ['', '-'])
    """

    def __init__(self, asked: Sequence[str] | None = None, more: Collection[str] = ()) -> None:
        self._asked = None if asked is None else frozenset({"", *(text.strip() for text in asked)})
        self._usual = frozenset({*MISSING_MARKERS, *more})
        #: How many cells of each column held each marker that the format itself does not declare.
        self.found: dict[str, dict[str, int]] = {}
        #: The same of texts that are read as values, but may stand for missing cells.
        self.suspected: dict[str, dict[str, int]] = {}

    def texts(self, usual: Collection[str] | None = None) -> frozenset[str]:
        """Return the texts that mean missing cells: those of the key, else the `usual` ones of a format."""
        if self._asked is not None:
            return self._asked
        return self._usual if usual is None else frozenset({"", *usual})

    def note(self, column: str, counts: Mapping[str, int]) -> None:
        """Note in how many cells of a column each text occurred."""
        held = {text: n for text, n in counts.items() if text and n}
        if held and self._asked is None:
            self.found[column] = held

    @property
    def asks(self) -> bool:
        """Whether the user has not decided which texts stand for missing cells."""
        return self._asked is None

    def suspect(self, column: str, texts: Sequence[str], counts: Sequence[int], suspects: Collection[str]) -> None:
        """Note in how many cells of a column each of the `suspects` occurred."""
        if suspects:
            counted = zip(texts, counts, strict=True)
            self.suspected[column] = {text: n for text, n in counted if text in suspects}

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


def by_text(found: Found) -> list[str]:
    """Say of each text how often and where it was met, the most frequent first."""
    places: dict[str, dict[str, int]] = {}
    for column, counts in found.items():
        for text, n in counts.items():
            places.setdefault(text, {})[column] = n
    told = []
    for text, by_column in sorted(places.items(), key=lambda one: -sum(one[1].values())):
        columns = sorted(by_column, key=lambda column: -by_column[column])
        more = f" and {len(columns) - _SHOWN} more columns" if len(columns) > _SHOWN else ""
        n = sum(by_column.values())
        where = ", ".join(map(printable, columns[:_SHOWN]))
        told.append(f"{text!r} {n:,} time{'s' if n > 1 else ''} in {where}{more}")
    return told


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

#: Texts that no label is, and words that may be one: these count only among numbers.
SIGNS = frozenset({"-", "--", "---", ".", "..", "*", "#DIV/0!", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#NAME?"})
WORDS = frozenset(
    {"n.a.", "na", "nan", "nil", "none", "null", "missing", "unknown", "not available", "x", "k.a.", "nd"}
)
_NINES = [f"{sign}{'9' * n}" for sign, fewest in (("-", 2), ("", 3)) for n in range(fewest, 7)]
#: Numbers such as -99, -999 and 9999.
NUMBERS = frozenset(f"{nines}{decimals}" for nines in _NINES for decimals in ("", ".", ".0", ".00"))
#: The fewest cells with such a number, and of other numbers in a column.
_FEWEST_CELLS, _FEWEST_OTHERS = 2, 3


def among_texts(texts: Collection[str], are_numbers: Collection[bool]) -> list[str]:
    """Return which distinct texts of a column of labels may mean missing cells.

    >>> among_texts(["1", "2", "3", "unknown"], [True, True, True, False])
    ['unknown']
    >>> among_texts(["Bonn", "unknown", "-"], [False, False, False])
    ['-']
    """
    others = [text for text, is_number in zip(texts, are_numbers, strict=True) if not is_number]
    signs = [text for text in others if text in SIGNS]
    if len(texts) - len(others) < _FEWEST_OTHERS:
        return signs if len(signs) < len(others) else []
    return others if all(text in SIGNS or text.lower() in WORDS for text in others) else signs


def among_numbers(texts: Sequence[str], values: np.ndarray, counts: np.ndarray) -> list[str]:
    """Return which distinct texts of a column of numbers may mean missing cells: those far from the other numbers.

    `values` and `counts` are the number (NaN where missing) and the cells of each text.

    >>> among_numbers(["1.5", "2", "7", "-999"], np.array([1.5, 2, 7, -999]), np.array([9, 9, 9, 4]))
    ['-999']
    """
    asked = NUMBERS.intersection(texts)
    if not asked:
        return []
    others = values[[text not in asked for text in texts]]
    others = others[~np.isnan(others)]
    if len(others) < _FEWEST_OTHERS:
        return []
    low, high = others.min(), others.max()

    def is_apart(value: float) -> bool:
        return (value < min(low, 0) and (low >= 0 or low - value > high - low)) or value - high > high - low

    return [
        text
        for text, value, n in zip(texts, values.tolist(), counts.tolist(), strict=True)
        if text in asked and n >= _FEWEST_CELLS and is_apart(value)
    ]


def suspects_told(suspected: Found, exact: bool = True) -> str | None:
    """Return in words which cells may be missing, of the first rows unless `exact`; None for none.

    >>> suspects_told({"a": {"-": 2}, "b": {"-": 1, "-999": 4}})
    "cells may be missing: '-999' 4 times in b, '-' 3 times in a, b"
    """
    told = by_text(suspected)
    return f"cells{'' if exact else ' of the first rows'} may be missing: {', '.join(told)}" if told else None


def suspects_way_out(suspected: Found, found: Found) -> str:
    """Return in words how to read them as missing or as values; `found` are the texts that are read as missing.

    >>> suspects_way_out({"b": {"-999": 4}}, {"a": {"NA": 2}})
    'If they are, set missing_values: ["-999", "NA"]; if they are values, set missing_values: ["NA"].'
    """
    both: Mapping[str, Mapping[str, int]] = {**found, **{f"{name}\0": held for name, held in suspected.items()}}
    are, not_are = listed_markers(both), listed_markers(found)
    return f"If they are, set missing_values: {are}; if they are values, set missing_values: {not_are}."


def suspects_line(suspected: Found, found: Found, exact: bool = True) -> str | None:
    """Say in one line which cells may be missing, and what to write; None for none."""
    told = suspects_told(suspected, exact)
    return told and f"{told}. {suspects_way_out(suspected, found)}"
