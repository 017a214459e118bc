"""Target: the readers of networks, BIF and JSON, gzipped or not."""

import os
import tempfile
from pathlib import Path

import numpy as np
from oracle import bounded, refused_or

from blanketflow.data.simulate import read_network

BIF = """network unknown { }
variable rain { type discrete [ 2 ] { yes, no }; }
variable "wet grass" { type discrete [3] { dry, moist, "very wet" }; property position = (1, 2); }
variable c { type discrete [2] { a b }; }
// a comment
probability ( rain ) { table 0.25, 0.75; }
probability ( "wet grass" | rain, c ) { default 0.5 0.25 0.25; (yes, a) .1, .2, .7; /* another */ (no, b) 1 0 0; }
probability ( c | rain ) { table 0.5, 1e-1, 0.5, 9E-1; }
"""
DISCRETE = (
    '{"nodes": ["a", "b"], "arcs": [["a", "b"]], "cpds": {"a": {"type": "discrete", "parents": [], "dims": ["a"], '
    '"levels": {"a": ["x", "y"]}, "prob": [0.5, 0.5]}, "b": {"type": "discrete", "parents": ["a"], '
    '"dims": ["b", "a"], "levels": {"a": ["x", "y"], "b": ["u", "v"]}, "prob": [[0.1, 1], [0.9, 0]]}}}'
)
LINEAR = (
    '{"nodes": ["a", "b"], "arcs": [["a", "b"]], "cpds": {"a": {"parents": [], "variance": [4], "coefficients": '
    '{"(Intercept)": [1]}}, "b": {"parents": ["a"], "variance": [0.5], '
    '"coefficients": {"(Intercept)": [0], "a": [2]}}}}'
)
MIXED = (
    '{"nodes": ["d", "g"], "arcs": [["d", "g"]], "cpds": {"d": {"type": "discrete", "parents": [], "dims": ["d"], '
    '"levels": {"d": ["x", "y"]}, "prob": [0.5, 0.5]}, "g": {"type": "conditional_gaussian", "parents": ["d"], '
    '"discrete_parents": ["d"], "continuous_parents": [], "levels": {"d": ["x", "y"]}, '
    '"coefficient_names": ["(Intercept)"], "coefficients": [[1, 2]], "sd": [0, 1]}}}'
)


def one_input(data: bytes) -> None:
    """Read a network, and draw from what was read."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder, bounded():
        path = Path(folder, "n.bif")
        path.write_bytes(data)
        network = refused_or(lambda: read_network(path, "demo"), "demo", "n.bif")
        if network is None:
            return
        table = network.sample(3, seed=0)
        assert table.names == list(network.nodes) and table.n_rows == 3
        for name, node in network.nodes.items():
            assert set(node.parents) <= set(network.nodes) - {name}
            column = table[name]
            if column.kind == "categorical":
                assert set(column.levels) == set(node.levels) and column.values.min() >= 0
                assert (node.cpt >= 0).all() and np.allclose(node.cpt.sum(axis=-1), 1)


def seeds() -> dict[str, bytes]:
    """Return small good files, made here."""
    texts = {"bif": BIF, "json-discrete": DISCRETE, "json-linear": LINEAR, "json-mixed": MIXED}
    return {name: text.encode() for name, text in texts.items()}


def words() -> set[str]:
    """Return what a mutation may insert."""
    return {
        "network", "variable", "probability", "type", "discrete", "property", "default", "table", "{", "}", "[ 2 ]",
        "(", ")", "|", ";", ",", '"', "//", "/*", "*/", "0.5", "nan", "1e400", "-1", '"levels"', '"prob"', '"sd"',
        '"type"', '"gaussian"', '"parents"', "[", "]", "NaN", "Infinity", "99999999999", "null", "true",
    }  # fmt: skip
