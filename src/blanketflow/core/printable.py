"""Text of foreign origin as a terminal or a page may show it."""

from __future__ import annotations

import unicodedata


def printable(text: object) -> str:
    r"""Return a text with everything that a terminal would obey rather than show written as an escape.

    Names of columns come from files of any origin: escape sequences, line breaks and marks that turn the direction of
    writing could hide or forge what stands around them.

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


def visible(text: str) -> str:
    r"""Return a text with every sign that a page does not show, or that turns the direction of writing, as an escape.

    Blanks of any kind and line breaks stay. A control character is no text of an SVG or HTML file at all.

    Examples
    --------
    >>> print(visible("gnp.\u202etxt"))
    gnp.\u202etxt
    """
    if text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if _is_hidden(c) else c for c in text)


def _is_hidden(character: str) -> bool:
    return character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
