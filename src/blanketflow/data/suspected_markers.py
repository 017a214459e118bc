"""Texts and numbers that may stand for missing cells, though they are not read so: the reader asks about them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from .missing_markers import Found, by_text, listed_markers

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
    """Return which of the distinct texts of a column of labels may stand for missing cells.

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
    """Return which of the distinct texts of a column of numbers may stand for missing cells: they lie apart.

    `values` and `counts` are the number and the cells of each text, NaN where it is missing.

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
    """Say which cells may be missing, of the first rows unless `exact`; None for none.

    >>> suspects_told({"a": {"-": 2}, "b": {"-": 1, "-999": 4}})
    "cells may be missing: '-999' 4 times in b, '-' 3 times in a, b"
    """
    told = by_text(suspected)
    return f"cells{'' if exact else ' of the first rows'} may be missing: {', '.join(told)}" if told else None


def suspects_way_out(suspected: Found, found: Found) -> str:
    """Say what to write if they are missing, and if they are values; `found` are those that are read as missing.

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
