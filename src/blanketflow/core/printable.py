"""Text of foreign origin as a terminal may show it."""

from __future__ import annotations


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
