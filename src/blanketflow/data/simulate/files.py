"""Network files: the user's own, and the ones that the package pgmpy brings."""

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
from .bif import parse_bif
from .discrete import DiscreteNetwork, DiscreteNode, normalised
from .gaussian import ConditionalGaussianNetwork, GaussianNode, LinearGaussianNetwork
from .network import Network

#: Where pgmpy keeps its networks; its files are read, the package is not imported.
PGMPY_FOLDER = ("utils", "example_models")

_BARE_NAME = re.compile(r"[\w-]*").fullmatch
_SUFFIX = re.compile(r"\.(bif|json)(\.gz)?$")


def find_network(name: str, where: str = "network") -> Path:
    """Return the file of a network: of a path, or of a bare name such as ``alarm`` among those that pgmpy brings.

    What holds a dot or a slash is a path. Raises `ConfigError` if pgmpy is not installed or has no such network, with
    how to get it; `DataError` if there is no such file.
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
