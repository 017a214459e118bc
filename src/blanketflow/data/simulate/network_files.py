"""Network files in BIF and JSON: the user's own, and the ones that the package pgmpy brings."""

from __future__ import annotations

import importlib.util
import json
import math
import re
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ...core.errors import BlanketflowError, ConfigError, DataError, did_you_mean
from ..input_file import existing_file, opened_text
from .network import (
    MOST_CELLS,
    ROUNDED,
    ConditionalGaussianNetwork,
    DiscreteNetwork,
    DiscreteNode,
    GaussianNode,
    LinearGaussianNetwork,
    Network,
    normalised,
)

#: Where pgmpy keeps its networks; its files are read, the package is not imported.
PGMPY_FOLDER = ("utils", "example_models")

_BARE_NAME = re.compile(r"[\w-]*").fullmatch
_SUFFIX = re.compile(r"\.(bif|json)(\.gz)?$")


def find_network(name: str, where: str = "network") -> Path:
    """Return the file of a network: a path, if it holds a dot or a slash, or a name such as ``alarm`` of pgmpy's.

    Raises `ConfigError`, with what to do, if pgmpy is not installed or lacks it; `DataError` if there is no such file.
    """
    if not _BARE_NAME(name):
        return existing_file(where, Path(name), "source")
    files = pgmpy_networks()
    if not files:
        raise ConfigError(
            f"{where}: the network {name!r} is looked for among the files of the package pgmpy, which is not "
            'installed or holds none. Run pip install "blanketflow[networks]", or give a file: '
            f"network:path/to/{name}.bif.gz"
        )
    if name not in files:
        raise ConfigError(
            f"{where}: there is no network {name!r} among those of the package pgmpy. {did_you_mean(name, files)} "
            f"Or give a file: network:path/to/{name}.bif.gz"
        )
    return files[name]


def pgmpy_networks() -> dict[str, Path]:
    """Return the network files of the installed pgmpy by name; none if it is not installed."""
    package = importlib.util.find_spec("pgmpy")
    folders = (package.submodule_search_locations or []) if package else []
    files = [path for folder in folders for path in sorted(Path(folder, *PGMPY_FOLDER).glob("*"))]
    return {_SUFFIX.sub("", path.name): path for path in files if _SUFFIX.search(path.name)}


def read_network(name: str | Path, where: str = "network") -> Network:
    """Read a network from a file, BIF or JSON by its content, gzipped or not; its name is the file's.

    `name` is as for `find_network`, or a `Path`. Raises as `find_network` does, and `DataError` if the file cannot be
    read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "coin.bif")
    ...     table = "probability ( c ) { table 0.5, 0.5; }"
    ...     _ = path.write_text("network n { } variable c { type discrete [2] { a, b }; }" + table)
    ...     coin = read_network(path)
    >>> coin.name, list(coin.nodes)
    ('coin', ['c'])
    """
    path = name if isinstance(name, Path) else find_network(name, where)
    with opened_text(where, path) as file:
        text = file.read()
    if not text.strip():
        raise DataError(f"{where}: {path} is empty.")
    parse = parse_network_json if text.lstrip().startswith(("{", "[")) else parse_bif
    try:
        return parse(_SUFFIX.sub("", path.name), text, path)
    except BlanketflowError as error:
        place = "" if str(error).startswith(str(path)) else f"{path}: "
        raise DataError(f"{where}: {place}{error}") from error


INTERCEPT = "(Intercept)"


def parse_network_json(name: str, text: str, path: Path) -> Network:
    """Return the network of a JSON text ``{"nodes": [...], "arcs": [[parent, child], ...], "cpds": {node: form}}``.

    A form has one of four types, named by its `type`:

    - none: linear Gaussian as pgmpy writes it: `parents`, `coefficients` (``{"(Intercept)": [b], parent: [b]}``) and
      the `variance` of the residual, ``[v]``.
    - ``discrete``: `parents`, `dims` (the node, then its parents), `levels` of each, and `prob`, nested lists in the
      order of `dims`.
    - ``gaussian``: `parents`, `coefficient_names` (the intercept first), `coefficients` and `sd`, ``[s]``.
    - ``conditional_gaussian``: `discrete_parents` with their `levels`, `continuous_parents`, `coefficient_names`, and
      `coefficients`, a row for each, and `sd`, both with a column for each combination of levels, those of the first
      discrete parent varying fastest.

    Raises `DataError`, with file, node and key, if the text is not of this form or contradicts itself.

    >>> form = '{"nodes": ["a"], "arcs": [], "cpds": {"a": {"parents": [], "variance": [4], "coefficients": %s}}}'
    >>> parse_network_json("n", form % '{"(Intercept)": [1]}', Path("n.json")).nodes["a"]
    GaussianNode(intercept=1.0, sd=2.0, coefficients={}, given=())
    """
    whole = _Form(f"{path}", _loaded(text, path))
    keys = whole.texts("nodes") or whole.fail("there is no node")
    forms = whole.need("cpds", dict)
    if sorted(keys) != sorted(forms):
        odd = sorted(set(keys) ^ set(forms))[:5]
        whole.fail(f"nodes and cpds must name the same nodes once each, but differ in {odd}")
    nodes = {key: _Form(f"{path}, node {key!r}", forms[key]).node() for key in keys}
    for key in keys:
        _check_levels(_Form(f"{path}, node {key!r}", forms[key]), nodes)
    arcs = whole.need("arcs", list)
    if sorted(map(str, arcs)) != sorted(str([parent, key]) for key, node in nodes.items() for parent in node.parents):
        whole.fail("the arcs are not those that the nodes' parents make")
    kinds = {type(node) for node in nodes.values()}
    of_kinds = {(DiscreteNode,): DiscreteNetwork, (GaussianNode,): LinearGaussianNetwork}
    return of_kinds.get(tuple(kinds), ConditionalGaussianNetwork)(name, nodes)


def _loaded(text: str, path: Path) -> Any:
    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = sorted({key for key, _ in pairs if [k for k, _ in pairs].count(key) > 1})[:5]
            raise DataError(f"{path}: an object holds the keys {twice} twice. Remove one of each.")
        return found

    try:
        return json.loads(text, object_pairs_hook=distinct)
    except json.JSONDecodeError as error:
        raise DataError(f"{path}, line {error.lineno}: this is not JSON ({error.msg}). Get the file again.") from error
    except ValueError as error:  # a number of thousands of digits
        raise DataError(f"{path}: this is not a network in JSON ({error}). Get the file again.") from error
    except RecursionError as error:
        raise DataError(f"{path}: the JSON is nested too deeply to be a network.") from error


def _check_levels(form: _Form, nodes: dict[str, DiscreteNode | GaussianNode]) -> None:
    """Raise `DataError` if a parent is not a node, or a form's own list of its levels is not the parent's."""
    for parent in form.texts("parents"):
        if parent not in nodes:
            form.fail(f"the parent {parent!r} is not among the nodes")
    for parent, levels in form.parent_levels().items():
        if not isinstance(nodes[parent], DiscreteNode):
            form.fail(f"the parent {parent!r} is not discrete")
        if levels != list(nodes[parent].levels):
            form.fail(f"levels of {parent!r} are {levels}, but that node has {list(nodes[parent].levels)}")


class _Form:
    """A JSON object with the file and node it is of, for messages."""

    def __init__(self, where: str, form: Any) -> None:
        self.where, self.form = where, form
        if not isinstance(form, dict):
            self.fail("there should be an object {...} here")

    def fail(self, problem: str) -> NoReturn:
        raise DataError(f"{self.where}: {problem}. Correct the file, or get it again.")

    def need(self, key: str, kind: type) -> Any:
        if not isinstance(self.form.get(key), kind):
            self.fail(f"the key {key!r} is missing or not {'an object' if kind is dict else 'a list'}")
        return self.form[key]

    def texts(self, key: str) -> list[str]:
        found = self.need(key, list)
        if not all(isinstance(text, str) and text for text in found) or len(set(found)) < len(found):
            self.fail(f"{key} must be a list of distinct names")
        return found

    def numbers(self, key: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
        try:
            found = np.array(value)
        except ValueError:  # lists of unequal length
            found = np.array(None)
        if found.dtype.kind not in "if" or found.shape != shape or not np.isfinite(found).all():
            self.fail(f"{key} must hold finite numbers in lists of the shape {shape}")
        return found.astype(np.float64)

    def node(self) -> DiscreteNode | GaussianNode:
        """Return the node that this form describes."""
        read = {
            None: self._linear,
            "discrete": self._discrete,
            "gaussian": self._gaussian,
            "conditional_gaussian": self._gaussian,
        }
        kind = self.form.get("type")
        if kind not in list(read):
            self.fail(f"type is {kind!r}, but should be one of {', '.join(filter(None, read))}, or left out")
        return read[kind]()

    def parent_levels(self) -> dict[str, list[str]]:
        """Return the levels that the form lists of its discrete parents."""
        parents = {"discrete": "parents", "conditional_gaussian": "discrete_parents"}.get(self.form.get("type"))
        if parents is None or not self.texts(parents):
            return {}
        levels = _Form(f"{self.where}, levels", self.need("levels", dict))
        return {parent: levels.texts(parent) for parent in self.texts(parents)}

    def _discrete(self) -> DiscreteNode:
        own, *others = self.texts("dims") or self.fail("dims is empty")
        if others != self.texts("parents"):
            self.fail(f"dims must be the node and its parents {self.texts('parents')}, but is {[own, *others]}")
        levels = _Form(f"{self.where}, levels", self.need("levels", dict)).texts(own)
        shape = (len(levels), *(len(of_parent) for of_parent in self.parent_levels().values()))
        prob = np.moveaxis(self.numbers("prob", self.need("prob", list), shape), 0, -1)
        cpt = normalised(prob, lambda fault: self.fail(f"prob has {fault}"))
        return DiscreteNode(tuple(levels), tuple(others), cpt)

    def _gaussian(self) -> GaussianNode:
        is_conditional = self.form["type"] == "conditional_gaussian"
        given = self.texts("discrete_parents") if is_conditional else []
        numeric = self.texts("continuous_parents") if is_conditional else self.texts("parents")
        if sorted([*given, *numeric]) != sorted(self.texts("parents")):
            self.fail("parents must be the discrete and the continuous ones")
        if self.texts("coefficient_names") != [INTERCEPT, *numeric]:
            self.fail(f"coefficient_names must be {[INTERCEPT, *numeric]}")
        shape = tuple(len(levels) for levels in self.parent_levels().values())
        columns = (math.prod(shape),) if is_conditional else ()
        rows = self.numbers("coefficients", self.need("coefficients", list), (1 + len(numeric), *columns))
        sd = self.numbers("sd", self.need("sd", list), columns or (1,)).reshape(shape, order="F")
        intercept, *weights = (row.reshape(shape, order="F") for row in rows)
        return GaussianNode(intercept, sd, dict(zip(numeric, weights, strict=True)), tuple(given))

    def _linear(self) -> GaussianNode:
        parents, coefficients = self.texts("parents"), self.need("coefficients", dict)
        if sorted(coefficients) != sorted([INTERCEPT, *parents]):
            self.fail(f"coefficients must name {[INTERCEPT, *parents]}")
        of = {key: float(self.numbers(f"coefficients, {key!r},", coefficients[key], (1,))[0]) for key in coefficients}
        variance = float(self.numbers("variance", self.need("variance", list), (1,))[0])
        if variance < 0:
            self.fail(f"variance is {variance}, but must not be negative")
        return GaussianNode(of[INTERCEPT], math.sqrt(variance), {parent: of[parent] for parent in parents})


# --- reader of BIF, the interchange format of discrete Bayesian networks (Cozman, version 0.15) -----------------------

#: What follows the last sign.
_END = "the end of the file"

# A sign is one of the format's own, a quoted name, or a run of anything else.
_TOKEN = re.compile(r'\s*(?:([(){}\[\];,|])|"([^"\n]*)"|([^\s(){}\[\];,|"]+)|(\Z)|(.))')
_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?").fullmatch


def parse_bif(name: str, text: str, path: Path) -> DiscreteNetwork:
    """Return the network of a BIF text; most files call it ``unknown``, so that it gets the `name`.

    Names and states may be quoted, and hold any characters but blanks and ``,;|(){}[]"``; if quoted, also these.
    Comments and properties are skipped; commas in lists, and the bar before the parents, are optional. Rows are given
    as ``(states of the parents) probabilities``, with ``default`` for others, or at once as ``table``, the node's own
    states outermost and the last parent's varying fastest. Probabilities are divided by their total if it is 1 within
    `ROUNDED`.

    Raises `DataError`, with file, line and node, if the text is no BIF, or a node is not discrete or has no fitting
    table.

    >>> coin = "network n { } variable c { type discrete [2] { head, tail }; } probability ( c ) { table 0.5, 0.5; }"
    >>> parse_bif("coin", coin, Path("coin.bif")).nodes["c"].levels
    ('head', 'tail')
    """
    return _Reader(path, text).network(name)


class _Tokens:
    """A BIF text without its comments, read token by token; errors name the line."""

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
