"""Columns of Python objects that are numbers: ints of any size, floats, `Decimal`, `Fraction`, and gaps among them."""

from __future__ import annotations

import numbers
from decimal import Decimal
from typing import Any

import numpy as np

from .cards import INTEGER
from .table import Column, column_from_array, is_missing


def column_of_objects(name: str, values: np.ndarray) -> Column:
    """Make a column of an array of any dtype; an object array of numbers is read as numbers, not as labels.

    Whole numbers are exact if all fit into 64 bits. Others, and `Decimal` and `Fraction`, become the nearest floats;
    what is too large for a float is infinite. None and NaN are missing.

    Examples
    --------
    >>> from fractions import Fraction
    >>> column_of_objects("a", np.array([Fraction(1, 2), None], dtype=object)).values.tolist()
    [0.5, nan]
    >>> column_of_objects("a", np.array([2**70, -1], dtype=object)).kind
    'integer'
    >>> column_of_objects("a", np.array([1, "b"], dtype=object)).kind
    'categorical'
    """
    if values.dtype.kind != "O":
        return column_from_array(name, values)
    cells = values.tolist()
    if not _are_numbers(set(map(type, cells))):
        return column_from_array(name, values)
    known = [cell for cell in cells if not is_missing(cell)]
    if not known:
        return column_from_array(name, values)
    if len(known) < len(cells) or not all(isinstance(cell, numbers.Integral) for cell in cells):
        return column_from_array(name, np.array([np.nan if is_missing(cell) else _as_float(cell) for cell in cells]))
    whole = np.array(cells)
    if whole.dtype.kind in "iu":
        return column_from_array(name, whole)
    return Column(name, INTEGER, np.array([_as_float(cell) for cell in cells]))


def _are_numbers(kinds: set[type]) -> bool:
    """Whether objects of these types are real numbers or missing."""
    return all(
        (issubclass(kind, (numbers.Real, Decimal)) and not issubclass(kind, (bool, np.timedelta64)))
        or kind.__name__ in ("NoneType", "NAType", "NaTType")
        for kind in kinds
    )


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:  # a Decimal is infinite then, an int and a Fraction refuse
        return np.inf if number > 0 else -np.inf
