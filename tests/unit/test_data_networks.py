"""Network files: what the readers take, what they refuse and how, and networks as sources of data sets."""

import copy
import gzip
import importlib.util
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blanketflow.core.errors import ConfigError, DataError
from blanketflow.data.simulate import read_network, simulated
from blanketflow.data.simulate.network_files import PGMPY_FOLDER, parse_bif, parse_network_json, pgmpy_networks
from blanketflow.data.sources import read_source, source_files
from blanketflow.workflow import peek as peek_module
from blanketflow.workflow.peek import peek
from blanketflow.workflow.plan import make_plan
from random_networks import random_dag, random_discrete

NET = """network weather {
}
variable rain {
  type discrete [ 2 ] { yes, no };
}
variable wind {
  type discrete [ 3 ] { weak, fresh, storm };
}
variable wet {
  type discrete [ 2 ] { yes, no };
}
probability ( rain ) {
  table 0.2, 0.8;
}
probability ( wind | rain ) {
  (yes) 0.2, 0.5, 0.3;
  (no) 0.6, 0.3, 0.1;
}
probability ( wet | rain, wind ) {
  (yes, weak) 0.9, 0.1;
  (yes, fresh) 0.7, 0.3;
  (yes, storm) 0.6, 0.4;
  (no, weak) 0.0, 1.0;
  (no, fresh) 0.05, 0.95;
  (no, storm) 0.1, 0.9;
}
"""
WET = [[[0.9, 0.1], [0.7, 0.3], [0.6, 0.4]], [[0.0, 1.0], [0.05, 0.95], [0.1, 0.9]]]


def read(text):
    return parse_bif("n", text, Path("net.bif"))


def changed(old, new, count=1):
    assert old in NET
    return NET.replace(old, new, count)


def test_a_plain_file():
    network = read(NET)
    assert list(network.nodes) == ["rain", "wind", "wet"] and network.name == "n"
    assert network.nodes["wind"].levels == ("weak", "fresh", "storm")
    assert network.nodes["wet"].parents == ("rain", "wind")
    assert np.allclose(network.nodes["wet"].cpt, WET, rtol=0, atol=1e-15)
    assert network.dag().markov_blanket("rain")["blanket"] == ["wet", "wind"]


@pytest.mark.parametrize(
    "text",
    [
        NET.replace("\n", "\r\n"),
        NET.replace("\n", " "),
        NET.replace(",", " "),
        NET.replace(" | ", " ").replace("rain", '"rain"').replace("yes", '"yes"'),  # as JavaBayes writes it
        NET.replace("{\n", "{ // two values; and 4 cells }\n").replace("};", '}; /* a\nlonger { " comment */'),
        changed("network weather {\n", 'network "w; {" {\n  property author = "A; B {" ;\n  property x y z;\n'),
        changed("  type", '  property "position = (7, 9)" ;\n  type', 3),
        changed("{\n  (yes) 0.2", "{\n  property p;\n  (yes) 0.2"),
        changed("  (yes) 0.2, 0.5, 0.3;\n  (no) 0.6, 0.3, 0.1;", "  table 0.2, 0.6, 0.5, 0.3, 0.3, 0.1;"),
        changed("(no) 0.6, 0.3, 0.1", "default 0.6, 0.3, 0.1"),
        changed(
            "  (yes) 0.2, 0.5, 0.3;\n  (no)", "  default 1, 0, 0;\n  (no) 0.6, 0.3, 0.1;\n  (yes) 2e-1 .5 0.3;\n  //"
        ),
        changed("0.6, 0.3, 0.1", "6E-1, +0.3, 1.0e-01"),
    ],
)
def test_other_ways_to_write_the_same(text):
    expected, found = read(NET), read(text)
    assert list(found.nodes) == list(expected.nodes)
    for key, node in expected.nodes.items():
        assert (found.nodes[key].levels, found.nodes[key].parents) == (node.levels, node.parents)
        assert np.allclose(found.nodes[key].cpt, node.cpt, rtol=0, atol=1e-15)


def test_odd_names():
    states = ["<5", "5-12", ">=8", "20+", "Asy/Patch", "x__y_", "1_1", "ærø", "default"]
    shown = ", ".join(states)
    share = ", ".join(["0.11111111"] * 9)
    text = (
        f"network n {{}} variable a.b/c {{ type discrete [9] {{ {shown} }}; }} probability (a.b/c) {{ table {share}; }}"
    )
    network = read(text)
    assert network.nodes["a.b/c"].levels == tuple(states)
    assert np.allclose(network.nodes["a.b/c"].cpt, 1 / 9, atol=1e-15)
    quoted = (
        'network n {} variable "a b" { type discrete [2] { "x, (y)", "//" }; } probability ( "a b" ) { table 1 0; }'
    )
    assert read(quoted).nodes["a b"].levels == ("x, (y)", "//")
    keyword = 'network n {} variable "}" { type discrete [1] { ";" }; } probability ( "}" ) { table 1; }'
    assert read(keyword).nodes["}"].levels == (";",)


ROWS = "  (yes) 0.2, 0.5, 0.3;\n  (no) 0.6, 0.3, 0.1;\n"

MALFORMED = {
    "no network block": (changed("network weather {\n}\n", ""), 1, "network should stand here, not 'variable'"),
    "no name": (changed("network weather", "network"), 1, "the network's name should stand here, not '{'"),
    "a table instead": ("a,b,c\n1,2,3\n", 1, "network should stand here, not 'a'"),
    "an unknown block": (changed("variable wet", "node wet"), 9, "variable or probability or the end of the file"),
    "an unknown statement": (changed("type", "kind"), 4, "type or property or } should stand here, not 'kind'"),
    "a continuous node": (changed("discrete", "continuous"), 4, "discrete should stand here, not 'continuous'"),
    "a wrong number of states": (changed("[ 3 ]", "[ 4 ]"), 7, "'wind' says it has 4 states, but lists 3"),
    "a state twice": (changed("weak, fresh, storm", "weak, fresh, weak"), 7, "'wind' lists a state twice"),
    "no states": (changed("  type discrete [ 2 ] { yes, no };\n", ""), 4, "'rain' has no states"),
    "two types": (changed("no };", "no };\n type discrete [ 2 ] { a, b };"), 5, "'rain' has a type already"),
    "a node twice": (changed("variable wet", "variable rain"), 9, "'rain' has a variable block already"),
    "a node without table": (
        changed("probability ( rain ) {\n  table 0.2, 0.8;\n}\n", ""),
        None,
        "the nodes rain have no",
    ),
    "a table twice": (changed("wind | rain", "rain | wind"), 15, "'rain' has a probability block already"),
    "an unknown node": (changed("( rain )", "( rein )"), 12, "'rein' has no variable block .* Did you mean 'rain'"),
    "an unknown parent": (changed("| rain )", "| reign )"), 15, "'reign' has no variable block"),
    "a parent twice": (changed("rain, wind )", "rain, rain )"), 19, "'wet' has a parent twice"),
    "its own parent": (changed("| rain )", "| wind )"), 15, "'wind' has a parent twice, or itself"),
    "a joint distribution": (
        changed("( wet | rain, wind )", "( wet, rain | wind )"),
        19,
        "a parent should stand here, not ','",
    ),
    "a bar too late": (changed("( wet | rain, wind )", "( wet rain | wind )"), 19, r"a parent .* here, not '\|'"),
    "an unknown state": (changed("(no, fresh)", "(no, frehs)"), 24, "the state 'frehs' here. Did you mean 'fresh'"),
    "states in another order": (changed("(no, weak)", "(weak, no)"), 23, "the state 'weak' here"),
    "too few states": (changed("(no, weak)", "(no)"), 23, "names 1 states, but 'wet' has 2 parents"),
    "a row missing": (changed("  (no, weak) 0.0, 1.0;\n", ""), 24, "'wet' has 5 rows, but there should be 6"),
    "a row twice": (changed("(no, weak)", "(no, storm)"), 25, "'wet' has this row already"),
    "too few probabilities": (changed("0.6, 0.3, 0.1", "0.6, 0.4"), 17, "2 probabilities of 'wind', .* should be 3"),
    "too many probabilities": (changed("0.2, 0.8", "0.2, 0.8, 0.0"), 13, "3 probabilities of 'rain', .* should be 2"),
    "not 1 in total": (changed("0.6, 0.3, 0.1", "0.6, 0.3, 0.2"), 17, "of this row of 'wind' add up to 1.1, not to 1"),
    "not 1 in a table": (changed("0.2, 0.8", "0.2, 0.79"), 13, "add up to 0.99, not to 1, in 'rain'"),
    "a rounding too many": (changed("0.2, 0.8", "0.2, 0.79999"), 13, "add up to 0.99999, not to 1, in 'rain'"),
    "a negative probability": (changed("0.6, 0.3, 0.1", "1.2, -0.3, 0.1"), 17, "a negative probability in 'wind'"),
    "a word for a number": (changed("0.6, 0.3", "0.6, o.3"), 17, "'o.3' is not a number"),
    "an underscore": (changed("0.2, 0.8", "0_1, 0"), 13, "'0_1' is not a number"),
    "not a number": (changed("0.2, 0.8", "nan, 0.8"), 13, "add up to nan"),
    "no numbers": (changed("table 0.2, 0.8", "table"), 13, "';' is not a number"),
    "a row without semicolon": (changed("0.3;\n", "0.3\n"), 16, r"'\(no\)' is not a number, or the semicolon before"),
    "a table and rows": (changed(ROWS, ROWS + "  table 1, 0, 0, 1, 0, 0;\n"), 18, "both a table and rows"),
    "two tables": (changed("0.8;", "0.8; table 0.2, 0.8;"), 13, "'rain' has a table already"),
    "two defaults": (changed(ROWS, "default 1 0 0; default 1 0 0;"), 16, "'wind' has a default already"),
    "cut off in a row": (NET[: NET.index("0.05")], 24, "the semicolon after these numbers is missing"),
    "cut off in a block": (NET[: NET.index("  (no, fresh)")], 24, "should stand here, not 'the end of the file'"),
    "cut off between blocks": (NET[: NET.index("probability ( wet")], None, "the nodes wet have no probability block"),
    "cut off in a property": (NET[: NET.index("  type")] + "  property x", 4, "the semicolon after this statement"),
    "an open quote": (changed("{ yes, no };", '{ "yes, no };'), 4, "a quote that does not end on its line"),
    "an empty name": (changed("{ yes, no };", '{ "", no };'), 4, "a state should stand here, not ''"),
    "no nodes": ("network n { }", None, "there is no node"),
    "a cycle": (
        changed("( rain ) {\n  table 0.2, 0.8;", "( rain | wind ) {\n  default 0.2 0.8;"),
        None,
        "cycle through",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_files_are_refused_with_one_readable_message(tmp_path, case):
    text, line, message = MALFORMED[case]
    path = tmp_path / "net.bif"
    path.write_text(text, encoding="utf-8")
    place = f"{path}, line {line}" if line else f"{path}"
    with pytest.raises(DataError, match=f"^mine: {re.escape(place)}: .*({message})") as caught:
        read_network(path, "mine")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_a_table_too_large_to_be_made():
    nodes = "".join(f"variable v{i} {{ type discrete [2] {{ a, b }}; }}\n" for i in range(40))
    text = (
        f"network n {{ }}\n{nodes}probability ( v0 | {', '.join(f'v{i}' for i in range(1, 40))} ) {{ default 1, 0; }}"
    )
    with pytest.raises(DataError, match=r"net.bif, line 42: the table of 'v0' would have more than 67,108,864 cells"):
        read(text)


NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters='"'), min_size=1, max_size=8)


def written(network, choose):
    """Write a discrete network as BIF, in one of the ways that `choose` picks at each place."""

    def sign(name):
        is_plain = re.fullmatch(r"[\w<>=+.-]+", name) and choose([True, False])
        return name if is_plain else f'"{name}"'

    def listed(items):
        return choose([", ", " ", " ,\n"]).join(items)

    parts = ["network unknown {\n}\n"]
    for key, node in network.nodes.items():
        states = listed([sign(level) for level in node.levels])
        parts.append(f"variable {sign(key)} {{\n  type discrete [ {len(node.levels)} ] {{ {states} }};\n")
        parts.append(choose(["", "  property a = b;\n", "  // a } comment\n"]) + "}\n")
    for key, node in network.nodes.items():
        bar = " | " if node.parents else ""
        parts.append(f"probability ( {sign(key)}{bar}{listed([sign(parent) for parent in node.parents])} ) {{\n")
        if not node.parents or choose([True, False]):
            parts.append(f"  table {listed([repr(float(p)) for p in np.moveaxis(node.cpt, -1, 0).ravel()])};\n")
        else:
            for at in np.ndindex(node.cpt.shape[:-1]):
                states = [sign(network.nodes[p].levels[i]) for p, i in zip(node.parents, at, strict=True)]
                parts.append(f"  ({listed(states)}) {listed([repr(float(p)) for p in node.cpt[at]])};\n")
        parts.append("}\n")
    return "".join(parts)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_written_network_is_read_back(data):
    n = data.draw(st.integers(1, 6))
    drawn = random_discrete(
        random_dag(n, data.draw(st.integers(0, 10**6)), degree=min(n - 1, 2)), seed=n, arity=(1, 4), concentration=0.3
    )
    names = data.draw(st.lists(NAMES, min_size=n, max_size=n, unique=True))
    levels = data.draw(st.lists(NAMES, min_size=4, max_size=4, unique=True))
    rename = dict(zip(drawn.nodes, names, strict=True))
    network = type(drawn)(
        "n",
        {
            rename[key]: type(node)(
                tuple(levels[: len(node.levels)]), tuple(rename[parent] for parent in node.parents), node.cpt
            )
            for key, node in drawn.nodes.items()
        },
    )
    found = read(written(network, lambda options: data.draw(st.sampled_from(options))))
    assert list(found.nodes) == names
    for key, node in network.nodes.items():
        assert (found.nodes[key].levels, found.nodes[key].parents) == (node.levels, node.parents)
        assert found.nodes[key].cpt.shape == node.cpt.shape
        assert np.allclose(found.nodes[key].cpt, node.cpt, rtol=0, atol=1e-15)


# --- JSON ----------------------------------------------------------------------------------------------------------

MIXED = {
    "nodes": ["s", "d", "x", "y", "z"],
    "arcs": [["s", "d"], ["s", "y"], ["d", "y"], ["x", "y"], ["y", "z"], ["x", "z"]],
    "cpds": {
        "s": {
            "type": "discrete",
            "dims": ["dim_0"],
            "levels": {"dim_0": ["u", "v"]},
            "parents": [],
            "prob": [0.3, 0.7],
        },
        "d": {
            "type": "discrete",
            "dims": ["d", "s"],
            "levels": {"d": ["a", "b", "c"], "s": ["u", "v"]},
            "parents": ["s"],
            "prob": [[0.1, 0.5], [0.2, 0.25], [0.7, 0.25]],
        },
        "x": {"parents": [], "coefficients": {"(Intercept)": [2.0]}, "variance": [9.0]},
        "y": {
            "type": "conditional_gaussian",
            "parents": ["s", "x", "d"],
            "discrete_parents": ["s", "d"],
            "continuous_parents": ["x"],
            "levels": {"s": ["u", "v"], "d": ["a", "b", "c"]},
            "coefficient_names": ["(Intercept)", "x"],
            "coefficients": [[1, 2, 3, 4, 5, 6], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]],
            "sd": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        },
        "z": {
            "type": "gaussian",
            "parents": ["y", "x"],
            "coefficient_names": ["(Intercept)", "y", "x"],
            "coefficients": [1.0, -2.0, 3.0],
            "sd": [0.5],
        },
    },
}


def read_json(value):
    text = value if isinstance(value, str) else json.dumps(value)
    return parse_network_json("n", text, Path("net.json"))


def test_a_network_of_all_four_forms():
    network = read_json(MIXED)
    assert type(network).__name__ == "ConditionalGaussianNetwork" and list(network.nodes) == MIXED["nodes"]
    assert network.nodes["d"].cpt.tolist() == [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]]
    assert network.nodes["x"].sd == 3.0
    y = network.nodes["y"]
    assert y.given == ("s", "d") and y.intercept.tolist() == [[1, 3, 5], [2, 4, 6]]  # s varies fastest in the file
    assert y.coefficients["x"][1, 2] == 0.6 and y.sd[0, 1] == 2.0
    assert network.nodes["z"].coefficients == {"y": -2.0, "x": 3.0} and network.nodes["z"].sd == 0.5
    assert network.sample(20, seed=1).names == MIXED["nodes"]
    assert network.dag().markov_blanket("d")["blanket"] == ["s", "x", "y"]


def test_the_kinds_of_nodes_make_the_kind_of_network():
    def part(*keys):
        return {
            "nodes": keys,
            "arcs": [a for a in MIXED["arcs"] if {*a} <= {*keys}],
            "cpds": {k: MIXED["cpds"][k] for k in keys},
        }

    assert type(read_json(part("s", "d"))).__name__ == "DiscreteNetwork"
    assert type(read_json(part("x"))).__name__ == "LinearGaussianNetwork"


def with_value(value, *path):
    whole = copy.deepcopy(MIXED)
    at = whole
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return whole


def without(*path):
    whole = with_value(None, *path)
    at = whole
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return whole


NUMERIC_PARENT = MIXED["cpds"]["y"] | {
    "discrete_parents": ["x", "d"],
    "continuous_parents": ["s"],
    "levels": {"x": ["u", "v"], "d": ["a", "b", "c"]},
    "coefficient_names": ["(Intercept)", "s"],
}

MALFORMED_JSON = {
    "no JSON": ('{"nodes": [,]}', "net.json, line 1: this is not JSON"),
    "cut off": (json.dumps(MIXED)[:200], "net.json, line 1: this is not JSON"),
    "a list": ("[1, 2]", "net.json: there should be an object"),
    "too deep": ("[" * 100_000, "net.json: the JSON is nested too deeply"),
    "a key twice": ('{"nodes": [], "nodes": []}', r"net.json: an object holds the keys \['nodes'\] twice"),
    "no nodes": (without("nodes"), "net.json: the key 'nodes' is missing or not a list"),
    "empty": ({"nodes": [], "arcs": [], "cpds": {}}, "net.json: there is no node"),
    "no cpds": (without("cpds"), "net.json: the key 'cpds' is missing or not an object"),
    "a node twice": (with_value(["s", "s"], "nodes"), "net.json: nodes must be a list of distinct names"),
    "another node": (with_value(["s", "d", "x", "y"], "nodes"), r"must name the same nodes once each.*\['z'\]"),
    "other arcs": (with_value(MIXED["arcs"][1:], "arcs"), "the arcs are not those that the nodes' parents make"),
    "a node that is no object": (with_value(3, "cpds", "x"), "node 'x': there should be an object"),
    "an unknown type": (with_value("poisson", "cpds", "z", "type"), "node 'z': type is 'poisson', but should be"),
    "a type that is no text": (with_value([], "cpds", "z", "type"), r"node 'z': type is \[\]"),
    "an unknown parent": (with_value(["q"], "cpds", "x", "parents"), "node 'x': coefficients must name"),
    "no variance": (without("cpds", "x", "variance"), "node 'x': the key 'variance' is missing"),
    "a negative variance": (with_value([-1.0], "cpds", "x", "variance"), "node 'x': variance is -1.0"),
    "text for a number": (with_value(["1"], "cpds", "x", "variance"), "node 'x': variance must hold finite numbers"),
    "a truth value": (with_value([True], "cpds", "x", "variance"), "node 'x': variance must hold finite numbers"),
    "not finite": (with_value([float("nan")], "cpds", "z", "sd"), "node 'z': sd must hold finite numbers"),
    "a negative sd": (with_value([-0.5], "cpds", "z", "sd"), "node 'z': sd is -0.5"),
    "too few coefficients": (with_value([1.0, 2.0], "cpds", "z", "coefficients"), r"coefficients must .* shape \(3,\)"),
    "coefficients of others": (
        with_value(["(Intercept)", "x", "y"], "cpds", "z", "coefficient_names"),
        "node 'z': coefficient_names must be",
    ),
    "ragged lists": (with_value([[1, 2], [3]], "cpds", "y", "coefficients"), r"coefficients must .* shape \(2, 6\)"),
    "parents left out": (with_value(["s"], "cpds", "y", "discrete_parents"), "parents must be the discrete and the"),
    "a numeric discrete parent": (with_value(NUMERIC_PARENT, "cpds", "y"), "node 'y': the parent 'x' is not discrete"),
    "other levels": (with_value(["v", "u"], "cpds", "d", "levels", "s"), r"levels of 's' are \['v', 'u'\], but that"),
    "no levels": (without("cpds", "d", "levels", "d"), "node 'd', levels: the key 'd' is missing"),
    "dims of others": (with_value(["d", "x"], "cpds", "d", "dims"), "node 'd': dims must be the node and its parents"),
    "no dims": (with_value([], "cpds", "d", "dims"), "node 'd': dims is empty"),
    "not 1 in total": (with_value([0.3, 0.6], "cpds", "s", "prob"), "node 's': prob has probabilities that add up"),
    "a negative probability": (with_value([-0.3, 1.3], "cpds", "s", "prob"), "node 's': prob has a negative probab"),
    "a table turned round": (with_value([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]], "cpds", "d", "prob"), r"shape \(3, 2\)"),
}


@pytest.mark.parametrize("case", MALFORMED_JSON)
def test_malformed_json_is_refused_with_one_readable_message(tmp_path, case):
    value, message = MALFORMED_JSON[case]
    path = tmp_path / "net.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    with pytest.raises(DataError, match=f"^mine: .*{message}") as caught:
        read_network(path, "mine")
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["bif", "json"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_content_tells_the_format(tmp_path, form, packed, mark):
    content = mark + (NET if form == "bif" else json.dumps(MIXED)).encode()
    path = tmp_path / "some.bif.gz"  # whatever the name says
    path.write_bytes(gzip.compress(content) if packed else content)
    network = read_network(str(path))
    assert network.name == "some" and len(network.nodes) == (3 if form == "bif" else 5)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"network \xff", "is not UTF-8"),
        (gzip.compress(NET.encode(), mtime=0)[:-20], "is a damaged gzip file"),
        (gzip.compress(NET.encode(), mtime=0)[:20] + b"junk" * 20, "is a damaged gzip file"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, content, message):
    path = tmp_path / "net.bif"
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"^mine: .*net.bif {message}"):
        read_network(str(path), "mine")


def test_a_file_that_is_not_there(tmp_path):
    (tmp_path / "alarm.bif").write_text(NET)
    with pytest.raises(DataError, match=r"no file .*alarn.bif. Check the key source.* Did you mean 'alarm.bif'"):
        read_network(str(tmp_path / "alarn.bif"))
    with pytest.raises(DataError, match="cannot be read"):
        read_network(tmp_path)


@pytest.fixture
def fake_pgmpy(tmp_path, monkeypatch):
    """A folder of packages with a pgmpy that must not be imported."""
    folder = tmp_path / "site-packages" / "pgmpy" / Path(*PGMPY_FOLDER)
    folder.mkdir(parents=True)
    (tmp_path / "site-packages" / "pgmpy" / "__init__.py").write_text("raise ImportError('imported')")
    (folder / "alarm.bif.gz").write_bytes(gzip.compress(NET.encode()))
    (folder / "ecoli70.json").write_text(json.dumps(MIXED))
    (folder / "notes.txt").write_text("no network")
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    monkeypatch.delitem(sys.modules, "pgmpy", raising=False)
    return folder


def test_networks_of_the_installed_package_are_found_by_name(fake_pgmpy):
    assert pgmpy_networks() == {"alarm": fake_pgmpy / "alarm.bif.gz", "ecoli70": fake_pgmpy / "ecoli70.json"}
    assert len(read_network("alarm").nodes) == 3 and read_network("ecoli70").name == "ecoli70"
    assert "pgmpy" not in sys.modules
    with pytest.raises(ConfigError, match=r"^mine: there is no network 'alram' .* Did you mean 'alarm'\?"):
        read_network("alram", "mine")


def test_without_the_package_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r'pip install "blanketflow\[networks\]", or give a file: network:path/to/al'):
        read_network("alarm")


def test_the_real_package():
    if importlib.util.find_spec("pgmpy") is None:
        pytest.skip("pgmpy is not installed: pip install blanketflow[networks]")
    alarm = read_network("alarm")
    assert (len(alarm.nodes), len(alarm.dag().arcs)) == (37, 46)


# --- sources ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def net(tmp_path):
    path = tmp_path / "net.bif"
    path.write_text(NET)
    return path


def test_a_network_is_the_source_of_a_data_set(net):
    spec = {"source": f"network:{net}", "target": "wet", "rows": 500}
    raw, facts = read_source("mine", spec, seed=3), peek("mine", spec, seed=3)
    assert raw.features.names == ["rain", "wind"] and raw.task.name == "classification"
    assert raw.truth == facts.truth == simulated(net, "wet").truth() and raw.truth["parents"] == ["rain", "wind"]
    assert facts.exact and facts.n_rows == 500 and facts.n_features == 2
    assert facts.class_counts == dict(zip(raw.target.levels, np.bincount(raw.target.values).tolist(), strict=True))
    assert source_files("mine", spec) == [str(net)]
    sampled = read_network(net).sample(500, seed=3)
    assert np.array_equal(raw.features["wind"].values, sampled["wind"].values)


def test_a_named_network_is_a_source_too(fake_pgmpy):
    spec = {"source": "network:ecoli70", "target": "z", "rows": 40}
    raw = read_source("mine", spec, seed=1)
    assert raw.task.name == "regression" and raw.truth["blanket"] == ["x", "y"]
    assert source_files("mine", spec) == [str(fake_pgmpy / "ecoli70.json")]


def test_a_peek_draws_a_bounded_number_of_cells(net, monkeypatch):
    monkeypatch.setattr(peek_module, "HEAD_CELLS", 300)
    facts = peek("mine", {"source": f"network:{net}", "target": "wet", "rows": 5000})
    assert not facts.exact and facts.n_rows == 5000 and facts.class_counts is None and facts.truth is not None
    assert peek("mine", {"source": f"network:{net}", "target": "wet", "rows": 100}).exact


def test_what_a_network_source_needs(net):
    with pytest.raises(ConfigError, match=r"^mine: set target to a node of the network net. Known: rain, wet, wind."):
        peek("mine", {"source": f"network:{net}"})
    with pytest.raises(ConfigError, match=r"^mine: the network net has no node 'wed' .* Did you mean 'wet'"):
        peek("mine", {"source": f"network:{net}", "target": "wed"})
    with pytest.raises(DataError, match=r"^mine: there is no file nothing.bif"):
        source_files("mine", {"source": "network:./nothing.bif", "target": "wet"})
    with pytest.raises(ConfigError, match="'network:<name or file>'"):
        peek("mine", {"source": "networks:alarm", "target": "wet"})


def test_the_plan_knows_the_truth_and_the_file(net):
    spec = {"source": f"network:{net}", "target": "rain", "rows": 200}
    config = {"datasets": {"mine": spec}, "selectors": {"truth": {"method": "true-blanket"}}}
    plan = make_plan(config, Path("scripts").joinpath)
    assert ("mine", "truth") in plan.pairs and plan.source_files("mine") == [str(net)]
    options = json.loads(plan.method_spec("mine", "truth"))["options"]
    assert options["blanket"] == {"wet": "parent_or_child", "wind": "parent_or_child"}
