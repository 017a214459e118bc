"""Reader of BIF, the interchange format of discrete Bayesian networks (Cozman, version 0.15)."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import NoReturn

import numpy as np

from ...core.errors import DataError, did_you_mean
from .discrete import MOST_CELLS, ROUNDED, DiscreteNetwork, DiscreteNode, normalised

#: What follows the last sign.
_END = "the end of the file"

# A sign is one of the format's own, a quoted name, or a run of anything else.
_TOKEN = re.compile(r'\s*(?:([(){}\[\];,|])|"([^"\n]*)"|([^\s(){}\[\];,|"]+)|(\Z)|(.))')
_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?").fullmatch


def parse_bif(name: str, text: str, path: Path) -> DiscreteNetwork:
    """Return the network of a BIF text, which is called `name`: that in the file is ``unknown`` in most.

    Names and states may be quoted and hold any characters but blanks and the format's own signs ``,;|(){}[]"``; quoted,
    also those. Comments and properties are skipped; commas in lists, and the bar before the parents, may be left out.
    Rows may be given as ``(states of the parents) probabilities``, with ``default`` for those not listed, or all at
    once as ``table``, the node's own states outermost and the last parent's varying fastest. Probabilities that add up
    to 1 within `ROUNDED` are divided by their total.

    Raises `DataError`, with file, line and node, if the text is not BIF, or a node is not discrete or has no table that
    fits.

    >>> coin = "network n { } variable c { type discrete [2] { head, tail }; } probability ( c ) { table 0.5, 0.5; }"
    >>> parse_bif("coin", coin, Path("coin.bif")).nodes["c"].levels
    ('head', 'tail')
    """
    return _Reader(path, text).network(name)


class _Tokens:
    """A BIF text without its comments, read sign by sign; errors name the line.

    >>> tokens = _Tokens(Path("a.bif"), 'variable "my node" { // a comment')
    >>> tokens.expect("variable"), tokens.name("a node's name"), tokens.expect("{", ";"), tokens.peek() == _END
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
        self._token, self._is_name, self._is_quoted = (_END if kind == 4 else found[kind]), kind in (2, 3), kind == 2

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
            if self._token == _END:
                self.fail("the semicolon after this statement is missing")
            self._take()

    def fail(self, problem: str, hint: str = "Correct the file, or get it again.") -> NoReturn:
        """Raise `DataError` with the file and the line of the sign last taken."""
        line = self._text.count("\n", 0, self._last) + 1
        raise DataError(f"{self.path}, line {line}: {problem}. {hint}")


class _Reader(_Tokens):
    """Reads one file, from its first sign to its last."""

    def __init__(self, path: Path, text: str) -> None:
        super().__init__(path, text)
        self.levels: dict[str, list[str]] = {}
        self.nodes: dict[str, DiscreteNode] = {}
        self.n_cells = 0

    def network(self, name: str) -> DiscreteNetwork:
        self.expect("network")
        self.name("the network's name")
        self.expect("{")
        while not self.accept("}"):
            self.expect("property")
            self.skip_statement()
        while (block := self.expect("variable", "probability", _END)) != _END:
            self._variable() if block == "variable" else self._probability()
        missing = [node for node in self.levels if node not in self.nodes]
        if missing or not self.levels:
            what = f"the nodes {', '.join(missing[:10])} have no probability block" if missing else "there is no node"
            raise DataError(f"{self.path}: {what}. The file may be cut off: get it again.")
        return DiscreteNetwork(name, {node: self.nodes[node] for node in self.levels})

    def _variable(self) -> None:
        node = self.name("a node's name")
        if node in self.levels:
            self.fail(f"the node {node!r} has a variable block already")
        levels: list[str] = []
        self.expect("{")
        while (statement := self.expect("type", "property", "}")) != "}":
            if statement == "property":
                self.skip_statement()
                continue
            if levels:
                self.fail(f"the node {node!r} has a type already")
            self.expect("discrete")
            self.expect("[")
            size = self.name("the number of states")
            self.expect("]")
            self.expect("{")
            levels = self.names("a state", "}")
            self.expect(";")
            if size != str(len(levels)):
                self.fail(f"the node {node!r} says it has {size} states, but lists {len(levels)}")
            if len(set(levels)) < len(levels):
                self.fail(f"the node {node!r} lists a state twice")
        if not levels:
            self.fail(f"the node {node!r} has no states")
        self.levels[node] = levels

    def _probability(self) -> None:
        self.expect("(")
        node = self.name("a node's name")
        self.accept("|")
        parents = self.names("a parent", ")", or_none=True)
        for known in (node, *parents):
            if known not in self.levels:
                hint = did_you_mean(known, self.levels)
                self.fail(f"the node {known!r} has no variable block before this line", hint)
        if node in self.nodes:
            self.fail(f"the node {node!r} has a probability block already")
        if len({node, *parents}) <= len(parents):
            self.fail(f"the node {node!r} has a parent twice, or itself as a parent")
        levels = [self.levels[known] for known in (node, *parents)]
        self.n_cells += math.prod(map(len, levels))
        if self.n_cells > MOST_CELLS:  # a default fills a table of any size in a few words
            self.fail(f"the table of {node!r} would have more than {MOST_CELLS:,} cells, those before it included")
        self.expect("{")
        cpt = self._table(node, *levels)
        self.expect("}")
        self.nodes[node] = DiscreteNode(tuple(self.levels[node]), tuple(parents), cpt)

    def _table(self, node: str, own: list[str], *of_parents: list[str]) -> np.ndarray:
        """Read the statements of a probability block; the result has shape (levels of parent 1, ..., own levels)."""
        size, shape = len(own), tuple(map(len, of_parents))
        n_rows = math.prod(shape)
        codes = [{level: code for code, level in enumerate(levels)} for levels in of_parents]
        rows: dict[int, list[float]] = {}
        once: dict[str, list[float]] = {}  # what can be given once
        while self.peek() != "}":
            kind = self.expect("(", "table", "default", "property")
            if kind == "property":
                self.skip_statement()
            elif kind == "(":
                at = self._configuration(node, codes)
                if at in rows:
                    self.fail(f"the node {node!r} has this row already")
                rows[at] = self._row(node, size)
            elif kind in once:
                self.fail(f"the node {node!r} has a {kind} already")
            else:
                once[kind] = self._row(node, size) if kind == "default" else self._numbers(node, size * n_rows)
        if "table" in once:
            if rows or "default" in once:
                self.fail(f"the node {node!r} has both a table and rows or a default")
            cpt = np.array(once["table"]).reshape(size, n_rows).T
        else:
            if "default" not in once and len(rows) < n_rows:
                self.fail(f"the node {node!r} has {len(rows)} rows, but there should be {n_rows}")
            cpt = np.empty((n_rows, size))
            cpt[:] = once.get("default", np.nan)
            if rows:
                cpt[list(rows)] = list(rows.values())
        return normalised(cpt.reshape(*shape, size), lambda fault: self.fail(f"{fault} in {node!r}"))

    def _configuration(self, node: str, codes: list[dict[str, int]]) -> int:
        """Take the parents' states of a row, and return which row it is."""
        states = self.names("a state", ")", or_none=True)
        if len(states) != len(codes):
            self.fail(f"this row names {len(states)} states, but {node!r} has {len(codes)} parents")
        at = 0
        for state, of_parent in zip(states, codes, strict=True):
            if state not in of_parent:
                self.fail(f"no parent of {node!r} has the state {state!r} here", did_you_mean(state, of_parent))
            at = at * len(of_parent) + of_parent[state]
        return at

    def _numbers(self, node: str, n: int) -> list[float]:
        numbers = self.numbers()
        if len(numbers) != n:
            self.fail(f"{len(numbers)} probabilities of {node!r}, but there should be {n}")
        return numbers

    def _row(self, node: str, size: int) -> list[float]:
        numbers = self._numbers(node, size)
        if not abs(sum(numbers) - 1) <= ROUNDED:  # said here, where the line is known
            self.fail(f"the probabilities of this row of {node!r} add up to {sum(numbers):.9g}, not to 1")
        return numbers


def _blank(found: re.Match[str]) -> str:
    """Return a comment as blanks, so that lines keep their numbers, and a quoted name as it is."""
    return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])
