"""Text of foreign origin as a terminal, a page or a spreadsheet may show it."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from typing import Any

#: What makes a text a formula when it begins with it; the wide signs do where Japanese is written.
FORMULA_SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def printable(text: object) -> str:
    r"""Return a text with everything that a terminal would obey instead of show written as an escape.

    Names of columns come from files of any origin. Escape sequences, line breaks and marks that reverse the direction
    of writing could hide or forge the text around them.

    Examples
    --------
    >>> printable("age\x1b[2J")
    'age\\x1b[2J'
    >>> printable("Größe")
    'Größe'
    """
    text = str(text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def printable_json(value: Any, **options: Any) -> str:
    r"""Return a value as JSON in which letters of any script stand as such, and what a terminal obeys is escaped.

    Examples
    --------
    >>> print(printable_json(["Größe", "age\x1b[2J\u202e"]))
    ["Größe", "age\u001b[2J\u202e"]
    """
    text = json.dumps(value, ensure_ascii=False, **options)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def visible(text: str) -> str:
    r"""Return a text with characters that a page does not show, or that reverse the direction of writing, as escapes.

    Blanks of any kind and line breaks stay. A control character is not allowed in an SVG or HTML file.

    Examples
    --------
    >>> print(visible("gnp.\u202etxt"))
    gnp.\u202etxt
    """
    if text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if _is_hidden(c) else c for c in text)


def as_cell(value: Any) -> Any:
    r"""Return a text on one line, and with an apostrophe before it where a spreadsheet would compute it.

    Column names come from files of any origin, and a formula can send the cells beside it to a server. A carriage
    return, which Python's csv module does not quote, would begin a new row, and so a new cell.

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


def listed(texts: Iterable[object], most: int = 5, between: str = ", ") -> str:
    """Return the first of some texts, printable, and how many more there are.

    Examples
    --------
    >>> listed("abcde", 3), listed("ab", 3), listed("abc", 1, "; ")
    ('a, b, c and 2 more', 'a, b', 'a; and 2 more')
    """
    shown = list(map(printable, texts))
    end = f"{'' if between == ', ' else between.rstrip()} and {len(shown) - most:,} more" if len(shown) > most else ""
    return between.join(shown[:most]) + end


def _is_hidden(character: str) -> bool:
    return character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
