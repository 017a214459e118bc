"""The signs of a BIF text, one after the other, and errors that name the line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn

from ...core.errors import DataError

#: What follows the last sign.
END = "the end of the file"

# A sign is one of the format's own, a quoted name, or a run of anything else.
_TOKEN = re.compile(r'\s*(?:([(){}\[\];,|])|"([^"\n]*)"|([^\s(){}\[\];,|"]+)|(\Z)|(.))')
_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?").fullmatch


class Tokens:
    """A BIF text, read sign by sign.

    Parameters
    ----------
    path : Path
        The file, for messages.
    text : str
        Its text; comments do not count.

    Examples
    --------
    >>> tokens = Tokens(Path("a.bif"), 'variable "my node" { // a comment')
    >>> tokens.expect("variable"), tokens.name("a node's name"), tokens.expect("{", ";"), tokens.peek() == END
    ('variable', 'my node', '{', True)
    """

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self._text = _COMMENT.sub(_blank, text) if "//" in text or "/*" in text else text
        self._at = self._last = 0
        self._step()

    def _step(self) -> None:
        """Find the next sign; a quoted one is a name whatever it says."""
        found = _TOKEN.match(self._text, self._at)
        self._start, self._end, kind = found.start(found.lastindex), found.end(), found.lastindex
        if kind == 5:
            self._last = self._start
            self.fail("a quote that does not end on its line")
        self._token, self._is_name, self._is_quoted = (END if kind == 4 else found[kind]), kind in (2, 3), kind == 2

    def _take(self) -> str:
        token, self._last, self._at = self._token, self._start, self._end
        self._step()
        return token

    def peek(self) -> str:
        """Return the next sign without taking it."""
        return self._token

    def accept(self, sign: str) -> bool:
        """Take the next sign if it is this one, and say whether."""
        found = self._token == sign and not self._is_quoted
        if found:
            self._take()
        return found

    def expect(self, *signs: str) -> str:
        """Take the next sign, which must be one of these, or raise `DataError`."""
        if self._token not in signs or self._is_quoted:
            self._last = self._start
            self.fail(f"{' or '.join(signs)} should stand here, not {self._token!r}")
        return self._take()

    def name(self, what: str) -> str:
        """Take a name; `what` says of what, for the message."""
        if not self._is_name or not self._token:
            self._last = self._start
            self.fail(f"{what} should stand here, not {self._token!r}")
        return self._take()

    def names(self, what: str, closing: str, or_none: bool = False) -> list[str]:
        """Take names, with or without commas between them, and the closing sign."""
        found = [] if or_none and self._token == closing else [self.name(what)]
        while not self.accept(closing):
            self.accept(",")
            found.append(self.name(what))
        return found

    def numbers(self) -> list[float]:
        """Take numbers, with or without commas between them, and the closing semicolon."""
        self._last, end = self._start, self._text.find(";", self._start)
        if end < 0:
            self.fail("the semicolon after these numbers is missing")
        texts = self._text[self._start : end].replace(",", " ").split()
        try:
            numbers = [float(text) for text in texts]
        except ValueError:
            numbers = []
        if not numbers or "_" in self._text[self._start : end]:  # Python's own numbers may hold underscores
            wrong = next((text for text in texts if not _NUMBER(text)), self._token)
            self.fail(f"{wrong!r} is not a number, or the semicolon before it is missing")
        self._at = end + 1
        self._step()
        return numbers

    def skip_statement(self) -> None:
        """Take everything up to the next semicolon."""
        while not self.accept(";"):
            if self._token == END:
                self.fail("the semicolon after this statement is missing")
            self._take()

    def place(self) -> str:
        """Return the file and the line of the sign last taken."""
        return f"{self.path}, line {self._text.count(chr(10), 0, self._last) + 1}"

    def fail(self, problem: str, hint: str = "Correct the file, or get it again.") -> NoReturn:
        """Raise `DataError` with the file and the line."""
        raise DataError(f"{self.place()}: {problem}. {hint}")


def _blank(found: re.Match[str]) -> str:
    """Return a comment as blanks, so that lines keep their numbers, and a quoted name as it is."""
    return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])
