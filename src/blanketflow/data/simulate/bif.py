"""Reader of BIF, the interchange format of discrete Bayesian networks (Cozman, version 0.15)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ...core.errors import DataError, did_you_mean
from .bif_tokens import END, Tokens
from .discrete import MOST_CELLS, ROUNDED, DiscreteNetwork, DiscreteNode, normalised


def parse_bif(name: str, text: str, path: Path) -> DiscreteNetwork:
    """Return the network of a BIF text.

    Names and states may be quoted and hold any characters but blanks and the format's own signs ``,;|(){}[]"``;
    quoted, also those. Comments and properties are skipped; commas in lists, and the bar before the parents, may be
    left out. Rows may be given as ``(states of the parents) probabilities``, with ``default`` for those not listed, or
    all at once as ``table``, the node's own states outermost and the last parent's varying fastest. Probabilities that
    add up to 1 within `ROUNDED` are divided by their total.

    Parameters
    ----------
    name : str
        The network's name; that in the file is not used, for it is ``unknown`` in most.
    text : str
        The text.
    path : Path
        The file, for messages.

    Raises
    ------
    DataError
        If the text is not BIF, or a node is not discrete, lacks its table, or has one that does not fit; the message
        names the file, the line and the node.

    Examples
    --------
    >>> coin = "network n { } variable c { type discrete [2] { head, tail }; } probability ( c ) { table 0.5, 0.5; }"
    >>> parse_bif("coin", coin, Path("coin.bif")).nodes["c"].levels
    ('head', 'tail')
    """
    return _Reader(path, text).network(name)


class _Reader:
    """Reads one file, from its first sign to its last."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.tokens = path, Tokens(path, text)
        self.levels: dict[str, list[str]] = {}
        self.nodes: dict[str, DiscreteNode] = {}
        self.n_cells = 0

    def network(self, name: str) -> DiscreteNetwork:
        tokens = self.tokens
        tokens.expect("network")
        tokens.name("the network's name")
        tokens.expect("{")
        while not tokens.accept("}"):
            tokens.expect("property")
            tokens.skip_statement()
        while (block := tokens.expect("variable", "probability", END)) != END:
            self._variable() if block == "variable" else self._probability()
        missing = [node for node in self.levels if node not in self.nodes]
        if missing or not self.levels:
            what = f"the nodes {', '.join(missing[:10])} have no probability block" if missing else "there is no node"
            raise DataError(f"{self.path}: {what}. The file may be cut off: get it again.")
        return DiscreteNetwork(name, {node: self.nodes[node] for node in self.levels})

    def _variable(self) -> None:
        tokens = self.tokens
        node = tokens.name("a node's name")
        if node in self.levels:
            tokens.fail(f"the node {node!r} has a variable block already")
        levels: list[str] = []
        tokens.expect("{")
        while (statement := tokens.expect("type", "property", "}")) != "}":
            if statement == "property":
                tokens.skip_statement()
                continue
            if levels:
                tokens.fail(f"the node {node!r} has a type already")
            tokens.expect("discrete")
            tokens.expect("[")
            size = tokens.name("the number of states")
            tokens.expect("]")
            tokens.expect("{")
            levels = tokens.names("a state", "}")
            tokens.expect(";")
            if size != str(len(levels)):
                tokens.fail(f"the node {node!r} says it has {size} states, but lists {len(levels)}")
            if len(set(levels)) < len(levels):
                tokens.fail(f"the node {node!r} lists a state twice")
        if not levels:
            tokens.fail(f"the node {node!r} has no states")
        self.levels[node] = levels

    def _probability(self) -> None:
        tokens = self.tokens
        tokens.expect("(")
        node = tokens.name("a node's name")
        tokens.accept("|")
        parents = tokens.names("a parent", ")", or_none=True)
        for known in (node, *parents):
            if known not in self.levels:
                hint = did_you_mean(known, self.levels)
                tokens.fail(f"the node {known!r} has no variable block before this line", hint)
        if node in self.nodes:
            tokens.fail(f"the node {node!r} has a probability block already")
        if len({node, *parents}) <= len(parents):
            tokens.fail(f"the node {node!r} has a parent twice, or itself as a parent")
        levels = [self.levels[known] for known in (node, *parents)]
        self.n_cells += math.prod(map(len, levels))
        if self.n_cells > MOST_CELLS:  # a default fills a table of any size in a few words
            tokens.fail(f"the table of {node!r} would have more than {MOST_CELLS:,} cells, those before it included")
        table = _Table(tokens, node, levels)
        tokens.expect("{")
        while tokens.peek() != "}":
            table.statement()
        cpt = table.finish()
        tokens.expect("}")
        self.nodes[node] = DiscreteNode(tuple(self.levels[node]), tuple(parents), cpt)


class _Table:
    """The probabilities of one node, as its block's statements give them."""

    def __init__(self, tokens: Tokens, node: str, levels: list[list[str]]) -> None:
        self.tokens, self.node = tokens, node
        self.size, self.shape = len(levels[0]), tuple(len(of_parent) for of_parent in levels[1:])
        self.codes = [{level: code for code, level in enumerate(of_parent)} for of_parent in levels[1:]]
        self.rows: dict[int, list[float]] = {}
        self.default: list[float] | None = None
        self.table: list[float] | None = None

    def statement(self) -> None:
        tokens = self.tokens
        kind = tokens.expect("(", "table", "default", "property")
        if kind == "property":
            tokens.skip_statement()
        elif kind == "(":
            at = self._configuration(tokens.names("a state", ")", or_none=True))
            if at in self.rows:
                tokens.fail(f"the node {self.node!r} has this row already")
            self.rows[at] = self._row()
        elif kind == "table":
            if self.table is not None:
                tokens.fail(f"the node {self.node!r} has a table already")
            self.table = self._numbers(self.size * math.prod(self.shape))
        else:
            if self.default is not None:
                tokens.fail(f"the node {self.node!r} has a default already")
            self.default = self._row()

    def _configuration(self, states: list[str]) -> int:
        if len(states) != len(self.codes):
            self.tokens.fail(f"this row names {len(states)} states, but {self.node!r} has {len(self.codes)} parents")
        at = 0
        for state, codes in zip(states, self.codes, strict=True):
            if state not in codes:
                self.tokens.fail(f"no parent of {self.node!r} has the state {state!r} here", did_you_mean(state, codes))
            at = at * len(codes) + codes[state]
        return at

    def _numbers(self, n: int) -> list[float]:
        numbers = self.tokens.numbers()
        if len(numbers) != n:
            self.tokens.fail(f"{len(numbers)} probabilities of {self.node!r}, but there should be {n}")
        return numbers

    def _row(self) -> list[float]:
        numbers = self._numbers(self.size)
        if not abs(sum(numbers) - 1) <= ROUNDED:  # said here, where the line is known
            self.tokens.fail(f"the probabilities of this row of {self.node!r} add up to {sum(numbers):.9g}, not to 1")
        return numbers

    def finish(self) -> np.ndarray:
        """Return the table, shape (levels of parent 1, ..., levels of the node)."""
        tokens, n_rows = self.tokens, math.prod(self.shape)
        if self.table is not None:
            if self.rows or self.default is not None:
                tokens.fail(f"the node {self.node!r} has both a table and rows or a default")
            cpt = np.array(self.table).reshape(self.size, n_rows).T
        else:
            if self.default is None and len(self.rows) < n_rows:
                tokens.fail(f"the node {self.node!r} has {len(self.rows)} rows, but there should be {n_rows}")
            cpt = np.empty((n_rows, self.size))
            cpt[:] = np.nan if self.default is None else self.default
            if self.rows:
                cpt[list(self.rows)] = list(self.rows.values())
        return normalised(cpt.reshape(*self.shape, self.size), lambda fault: tokens.fail(f"{fault} in {self.node!r}"))
