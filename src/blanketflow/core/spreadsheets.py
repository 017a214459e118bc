"""Text in a CSV file as a spreadsheet may open it."""

from __future__ import annotations

from typing import Any

from .printable import printable

#: What makes a text a formula when it begins with it; the wide signs do where Japanese is written.
FORMULA_SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def as_cell(value: Any) -> Any:
    r"""Return a text on one line, and with an apostrophe before it where a spreadsheet would compute it.

    Column names come from files of any origin, and a formula can send what stands beside it to a server. A carriage
    return, which Python's csv module does not quote, would begin a row, and so a cell, of its own.

    Examples
    --------
    >>> as_cell("=1+1"), as_cell("age"), as_cell(-1.5)
    ("'=1+1", 'age', -1.5)
    >>> print(as_cell("a\r=1"))
    a\r=1
    """
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(FORMULA_SIGNS) else text
