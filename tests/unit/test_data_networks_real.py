"""Real networks, where they are at hand: sizes as published, and samples against exact distributions."""

import gzip
import itertools
import json
import math
import os
import string
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from blanketflow.core.graph import DAG
from blanketflow.data.simulate import read_network
from blanketflow.data.sources import read_source
from blanketflow.workflow.peek import peek
from literal import connected

BESIDE = Path(__file__).resolve().parents[2].parent / "shared" / "data"
ROOT = Path(os.environ.get("BLANKETFLOW_DATA", BESIDE)) / "networks"
#: Nodes and arcs, as the bnlearn repository publishes them.
SIZES = {
    "alarm": (37, 46),
    "andes": (223, 338),
    "arth150": (107, 150),
    "asia": (8, 8),
    "barley": (48, 84),
    "cancer": (5, 4),
    "child": (20, 25),
    "diabetes": (413, 602),
    "earthquake": (5, 4),
    "ecoli70": (46, 70),
    "hailfinder": (56, 66),
    "healthcare": (7, 9),
    "insurance": (27, 52),
    "link": (724, 1125),
    "magic-niab": (44, 66),
    "mehra-complete": (24, 71),
    "mildew": (35, 46),
    "munin": (1041, 1397),
    "munin2": (1003, 1244),
    "munin3": (1041, 1306),
    "munin4": (1038, 1388),
    "pigs": (441, 592),
    "sachs": (11, 17),
    "sangiovese": (15, 55),
    "survey": (6, 6),
    "water": (32, 66),
    "win95pts": (76, 112),
}
KINDS = {"arth150": "Linear", "ecoli70": "Linear", "magic-niab": "Linear"} | dict.fromkeys(
    ["healthcare", "mehra-complete", "sangiovese"], "Conditional"
)

pytestmark = pytest.mark.skipif(not ROOT.is_dir(), reason="no networks: set BLANKETFLOW_DATA to a folder of data sets")


def file_of(name):
    return next(path for path in ROOT.iterdir() if path.name.split(".")[0] == name)


def raw_json(name):
    """The file itself, read without the library."""
    content = file_of(name).read_bytes()
    return json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)


@pytest.mark.parametrize("name", SIZES)
def test_every_network_is_read_and_has_its_published_size(name):
    network = read_network(file_of(name))
    assert network.name == name and type(network).__name__.startswith(KINDS.get(name, "Discrete"))
    dag = network.dag()
    assert (len(dag.nodes), len(dag.arcs)) == SIZES[name] and len(set(dag.arcs)) == len(dag.arcs)
    table = network.sample(5, seed=1)
    assert table.names == list(network.nodes) and not sum(column.n_missing() for column in table.columns)


def test_no_network_is_forgotten():
    assert {path.name.split(".")[0] for path in ROOT.iterdir() if path.is_file()} == set(SIZES)


def test_asia_is_the_published_one():
    """Lauritzen and Spiegelhalter (1988): the joint distribution by brute force, from the numbers of the paper."""
    network = read_network(file_of("asia"))
    assert all(node.levels == ("yes", "no") for node in network.nodes.values())
    names = ["asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"]

    def choose(p, value):  # 0 is yes
        return p if value == 0 else 1 - p

    sample, rows = network.sample(200_000, seed=5), 200_000
    yes = {name: sample[name].values == sample[name].levels.index("yes") for name in names}
    marginals = dict.fromkeys(names, 0.0)
    for asia, tub, smoke, lung, bronc, either, xray, dysp in itertools.product((0, 1), repeat=8):
        p = choose(0.01, asia) * choose((0.05, 0.01)[asia], tub) * 0.5
        p *= choose((0.1, 0.01)[smoke], lung) * choose((0.6, 0.3)[smoke], bronc)
        p *= choose(1.0 if 0 in (lung, tub) else 0.0, either) * choose((0.98, 0.05)[either], xray)
        p *= choose(((0.9, 0.8), (0.7, 0.1))[bronc][either], dysp)
        for name, value in zip(names, (asia, tub, smoke, lung, bronc, either, xray, dysp), strict=True):
            marginals[name] += p * (value == 0)
        if (lung, bronc, either, dysp) == (0, 0, 0, 0):
            marginals["together"] = marginals.get("together", 0.0) + p
    yes["together"] = yes["lung"] & yes["bronc"] & yes["either"] & yes["dysp"]
    for name, p in marginals.items():
        assert abs(yes[name].mean() - p) < 4.5 * math.sqrt(p * (1 - p) / rows), name
    assert marginals["dysp"] == pytest.approx(0.4359706) and marginals["xray"] == pytest.approx(0.11029004)


BLANKETS_OF_ASIA = {  # parents, children, spouses
    "asia": ("", "tub", ""),
    "tub": ("asia", "either", "lung"),
    "smoke": ("", "bronc lung", ""),
    "lung": ("smoke", "either", "tub"),
    "bronc": ("smoke", "dysp", "either"),
    "either": ("lung tub", "dysp xray", "bronc"),
    "xray": ("either", "", ""),
    "dysp": ("bronc either", "", ""),
}


@pytest.mark.parametrize("node", BLANKETS_OF_ASIA)
def test_blankets_of_asia_drawn_by_hand(node):
    found = read_network(file_of("asia")).dag().markov_blanket(node)
    assert [found[part] for part in ("parents", "children", "spouses")] == [s.split() for s in BLANKETS_OF_ASIA[node]]


@pytest.mark.parametrize("name", ["child", "alarm", "sachs"])
def test_marginals_of_larger_networks_follow_from_all_their_tables(name):
    """Each node's distribution, and its joint one with its last parent, by contracting the product of the tables."""
    network, rows = read_network(file_of(name)), 100_000
    sample = network.sample(rows, seed=6)
    letters = dict(zip(network.nodes, string.ascii_letters, strict=False))

    def codes(key):  # in the file's order of levels
        levels = network.nodes[key].levels
        return np.array([levels.index(level) for level in sample[key].levels])[sample[key].values]

    for key, node in network.nodes.items():
        asked = [key, *node.parents[-1:]]
        ancestors, waiting = set(), list(asked)
        while waiting:
            ancestors.add(one := waiting.pop())
            waiting += network.nodes[one].parents
        terms = ["".join(letters[k] for k in (*network.nodes[n].parents, n)) for n in ancestors]
        contraction = ",".join(terms) + "->" + "".join(letters[k] for k in asked)
        exact = np.einsum(contraction, *(network.nodes[n].cpt for n in ancestors), optimize="greedy")
        found = np.zeros(exact.shape)
        np.add.at(found, tuple(codes(k) for k in asked), 1 / rows)
        assert np.all(abs(found - exact) < 5 * np.sqrt(exact * (1 - exact) / rows) + 1e-12), key


@pytest.mark.parametrize("name", ["ecoli70", "magic-niab"])
def test_gaussian_samples_have_the_mean_and_covariance_of_their_equations(name):
    raw, rows = raw_json(name), 50_000
    keys = raw["nodes"]
    B, mean, variance = np.zeros((len(keys), len(keys))), np.zeros(len(keys)), np.zeros(len(keys))
    for i, key in enumerate(keys):
        form = raw["cpds"][key]
        mean[i], variance[i] = form["coefficients"]["(Intercept)"][0], form["variance"][0]
        for parent in form["parents"]:
            B[i, keys.index(parent)] = form["coefficients"][parent][0]
    inverse = np.linalg.inv(np.eye(len(keys)) - B)
    mean, covariance = inverse @ mean, inverse @ np.diag(variance) @ inverse.T
    X = read_network(file_of(name)).sample(rows, seed=7).matrix(keys)
    spread = np.diag(covariance)
    assert np.all(abs(X.mean(axis=0) - mean) < 4.5 * np.sqrt(spread / rows))
    error = np.sqrt((np.outer(spread, spread) + covariance**2) / rows)
    assert np.all(abs(np.cov(X.T) - covariance) < 5 * error)


def test_healthcare_is_the_mixture_that_its_tables_say():
    """Each combination of the discrete nodes has a Gaussian of its own; means and variances mix by their chances."""
    cpds, rows = raw_json("healthcare")["cpds"], 200_000
    pieces = []  # chance, (mean, variance) of D, I, O and T
    for a, c, h in itertools.product(range(3), range(3), range(2)):
        chance = cpds["A"]["prob"][a] * cpds["C"]["prob"][c][a] * cpds["H"]["prob"][h][a]
        at = a + 3 * h  # the first discrete parent varies fastest
        d_mean, d_variance = cpds["D"]["coefficients"][0][at], cpds["D"]["sd"][at] ** 2
        base, slope = (row[c] for row in cpds["I"]["coefficients"])
        i_mean, i_variance = base + slope * d_mean, slope**2 * d_variance + cpds["I"]["sd"][c] ** 2
        o_mean, o_variance = cpds["O"]["coefficients"][0][a], cpds["O"]["sd"][a] ** 2
        t0, t_i, t_o = cpds["T"]["coefficients"]
        t_variance = t_i**2 * i_variance + t_o**2 * o_variance + cpds["T"]["sd"][0] ** 2
        t = (t0 + t_i * i_mean + t_o * o_mean, t_variance)
        pieces.append(
            (chance, {"D": (d_mean, d_variance), "I": (i_mean, i_variance), "O": (o_mean, o_variance), "T": t})
        )
    assert sum(chance for chance, _ in pieces) == pytest.approx(1)
    sample = read_network(file_of("healthcare")).sample(rows, seed=8)
    for key in "DIOT":
        mean = sum(chance * of[key][0] for chance, of in pieces)
        variance = sum(chance * (of[key][1] + of[key][0] ** 2) for chance, of in pieces) - mean**2
        found = sample[key].values
        assert abs(found.mean() - mean) < 4.5 * math.sqrt(variance / rows), key
        assert found.var() == pytest.approx(variance, rel=0.03), key
    without_home = sample["H"].values == sample["H"].levels.index("none")
    assert not sample["D"].values[without_home].any()  # sd 0


@pytest.mark.parametrize(
    ("name", "nodes", "arcs", "rows"),
    [
        ("alarm10_s500_v1", 370, 570, 500),
        ("child3_s5000_v1", 60, 79, 5000),
        ("gene_s500_v1", 801, 972, 500),
        ("pigs_s500_v1", 441, 592, 500),
    ],
)
def test_the_graphs_of_recorded_samples(name, nodes, arcs, rows):
    with np.load(ROOT / "samples" / f"{name}.npz") as stored:
        X, edges = stored["X"], stored["edges"]
    names = [str(i) for i in range(X.shape[1])]
    dag = DAG([(str(p), str(c)) for p, c in edges], names)  # no cycle
    assert (X.shape, len(set(dag.arcs))) == ((rows, nodes), arcs)
    for node in names[:20]:
        blanket = dag.markov_blanket(node)["blanket"]
        assert connected(dag, node, blanket) == set()
    if name.startswith("pigs"):
        other = read_network(file_of("pigs")).dag()

        def degrees(graph):
            return Counter((len(graph.parents(n)), len(graph.children(n))) for n in graph.nodes)

        assert degrees(dag) == degrees(other)


def test_a_real_network_is_a_source():
    spec = {"source": f"network:{file_of('alarm')}", "target": "HYPOVOLEMIA", "rows": 1500}
    raw, facts = read_source("alarm", spec, 3), peek("alarm", spec, 3)
    assert facts.truth == raw.truth
    assert raw.truth["children"] == ["LVEDVOLUME", "STROKEVOLUME"] and raw.truth["spouses"] == ["LVFAILURE"]
    assert facts.exact and facts.n_features == 36 and set(facts.class_counts) == {"FALSE", "TRUE"}
