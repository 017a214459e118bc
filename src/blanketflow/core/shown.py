"""A wrong value in a message: as a configuration writes it, on one line, with what may have been meant."""

from __future__ import annotations

import datetime
import math
from typing import Any

from .printable import printable

#: Longer values are cut.
_MOST = 80


def shown(value: Any) -> str:
    """Return a value as a configuration writes it, cut if it is long.

    Examples
    --------
    >>> shown(None), shown(True), shown("a"), shown(datetime.date(2024, 1, 1))
    ('null', 'true', "'a'", 'the date 2024-01-01')
    >>> len(shown("a" * 1000))
    83
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, datetime.date):
        return f"the date {value}"
    text = printable(repr(value))
    return text if len(text) <= _MOST else text[:_MOST] + "..."


def meant(value: Any, kind: str) -> str:
    """Return after a blank what a value of the wrong kind may be meant for; nothing if that is not clear.

    Parameters
    ----------
    value : object
        The wrong value.
    kind : str
        The kind that a `Parameter` wants.

    Examples
    --------
    >>> meant("1e-3", "number"), meant("0,05", "number"), meant(3.0, "integer"), meant("ten", "integer")
    (' Write 0.001, without quotes.', ' Write 0.05, without quotes.', ' Write 3.', '')
    >>> meant(False, "text")
    ' If it is a name, put it in quotes.'
    """
    if kind in ("number", "integer") and isinstance(value, str):
        number = _number(value)
        if number is not None and (kind == "number" or number.is_integer()):
            return f" Write {_written(number)}, without quotes."
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return f" Write {int(value)}."
    if kind in ("text", "choice") and isinstance(value, bool | int | float | datetime.date):
        return " If it is a name, put it in quotes."
    return ""


def _number(text: str) -> float | None:
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _written(number: float) -> str:
    """Return a number as YAML reads it: with a point before an exponent."""
    text = str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text
