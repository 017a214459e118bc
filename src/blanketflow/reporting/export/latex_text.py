"""Text for LaTeX and BibTeX: special characters escaped, accents as commands."""

from __future__ import annotations

import unicodedata

from ...core.printable import printable

_SPECIAL = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    **{sign: f"{{{sign}}}" for sign in "[]*"},  # after a line's end they would be its arguments
    "\N{MINUS SIGN}": "$-$",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{SUPERSCRIPT TWO}": r"\textsuperscript{2}",
    "\N{INFINITY}": r"$\infty$",
    "\N{HORIZONTAL ELLIPSIS}": r"\dots{}",
    "\N{NO-BREAK SPACE}": "~",
    "ß": r"{\ss}",
    "ø": r"{\o}",
    "Ø": r"{\O}",
    "æ": r"{\ae}",
    "Æ": r"{\AE}",
    "ł": r"{\l}",
    "Ł": r"{\L}",
    "\N{LATIN SMALL LETTER DOTLESS I}": r"{\i}",
}
#: LaTeX's command of each combining accent.
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u ",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r ",
    "\u030b": "H ",
    "\u030c": "v ",
    "\u0327": "c ",
    "\u0328": "k ",
}


def in_latex(text: object) -> str:
    r"""Return a text that LaTeX and BibTeX print as it is; letters that have no command stay as they are.

    Examples
    --------
    >>> print(in_latex("Peña & Bühlmann: 95 % of x_1"))
    Pe{\~n}a \& B{\"u}hlmann: 95 \% of x\_1
    """
    return "".join(map(_in_latex, unicodedata.normalize("NFC", printable(text))))


def _in_latex(sign: str) -> str:
    if sign in _SPECIAL:
        return _SPECIAL[sign]
    letter, *marks = unicodedata.normalize("NFD", sign)
    known = len(marks) == 1 and marks[0] in _ACCENTS and letter.isascii()
    return f"{{\\{_ACCENTS[marks[0]]}{letter}}}" if known else sign
