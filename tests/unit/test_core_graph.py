"""Graphs: blankets and d-separation drawn by hand, and the search against the moral-graph criterion."""

import itertools
import random

import numpy as np
import pytest

from blanketflow.ci.oracle import Oracle
from blanketflow.core.errors import DataError, UnknownNameError
from blanketflow.core.graph import DAG
from blanketflow.core.table import Column, Table
from literal import Separation, connected

ASIA = [
    ("asia", "tub"),
    ("smoke", "lung"),
    ("smoke", "bronc"),
    ("tub", "either"),
    ("lung", "either"),
    ("either", "xray"),
    ("either", "dysp"),
    ("bronc", "dysp"),
]


@pytest.mark.parametrize(
    ("arcs", "parents", "children", "spouses"),
    [
        ([("a", "T"), ("T", "b")], ["a"], ["b"], []),
        ([("T", "c"), ("s", "c"), ("s", "d")], [], ["c"], ["s"]),
        # a parent that shares a child is no spouse, nor is a child that shares a child
        ([("p", "T"), ("p", "c"), ("T", "c"), ("T", "d"), ("c", "d"), ("s", "d")], ["p"], ["c", "d"], ["s"]),
        # neither grandparents, siblings nor grandchildren belong to it
        ([("g", "p"), ("p", "T"), ("p", "sib"), ("T", "c"), ("c", "gc"), ("x", "gc")], ["p"], ["c"], []),
    ],
)
def test_blankets_drawn_by_hand(arcs, parents, children, spouses):
    dag = DAG(arcs)
    assert dag.markov_blanket("T") == {
        "parents": parents,
        "children": children,
        "spouses": spouses,
        "blanket": sorted(parents + children + spouses),
    }
    assert sorted(dag.parents_and_children("T")) == sorted(parents + children)


def test_order_cycles_and_unknown_nodes():
    dag = DAG([("b", "c"), ("a", "b"), ("a", "c")], nodes=["c", "b", "a", "alone"])
    order = dag.topological_order()
    assert sorted(order) == sorted(dag.nodes) and all(order.index(p) < order.index(c) for p, c in dag.arcs)
    assert dag.markov_blanket("alone")["blanket"] == []
    with pytest.raises(DataError, match=r"cycle .* a, b"):
        DAG([("r", "a"), ("a", "b"), ("b", "a")])
    with pytest.raises(UnknownNameError, match=r"no node 'alon'. Did you mean 'alone'"):
        dag.parents("alon")
    with pytest.raises(UnknownNameError, match="no node 'x'"):
        DAG([("a", "x")], nodes=["a"])
    with pytest.raises(DataError, match="more than once: a"):
        DAG([("a", "b")], nodes=["a", "b", "a"])


@pytest.mark.parametrize(
    ("arcs", "x", "given", "wanted"),
    [
        ([("a", "b"), ("b", "c")], "a", "", "bc"),  # a chain
        ([("a", "b"), ("b", "c")], "a", "b", ""),
        ([("b", "a"), ("b", "c")], "a", "", "bc"),  # a fork
        ([("b", "a"), ("b", "c")], "a", "b", ""),
        ([("a", "b"), ("c", "b")], "a", "", "b"),  # a collider
        ([("a", "b"), ("c", "b")], "a", "b", "c"),
        ([("a", "b"), ("c", "b"), ("b", "d"), ("d", "e")], "a", "e", "bcd"),  # opened from two steps below
        ([("a", "b"), ("c", "b"), ("b", "d"), ("d", "e")], "a", "be", "c"),
        ([("a", "x"), ("a", "m"), ("b", "m"), ("b", "y")], "x", "", "am"),  # the letter M
        ([("a", "x"), ("a", "m"), ("b", "m"), ("b", "y")], "x", "m", "aby"),
        ([("a", "x"), ("a", "m"), ("b", "m"), ("b", "y")], "x", "ma", ""),
        ([("a", "b"), ("c", "d")], "ac", "", "bd"),  # several sources
        ([("a", "b"), ("b", "c"), ("d", "c")], "ab", "c", "d"),
    ],
)
def test_separation_drawn_by_hand(arcs, x, given, wanted):
    assert told_by_the_oracle(DAG(arcs), x, given) == set(wanted)


def told_by_the_oracle(dag, x, given):
    bound = Oracle(arcs=dag.arcs).bind(Table([Column(name, "numeric", np.zeros(2)) for name in dag.nodes]))
    others = [name for name in dag.nodes if name not in (*x, *given)]
    answers = {one: bound.test_many(others, one, list(given)).p_value for one in x}
    return {y for p_values in answers.values() for y, p in zip(others, p_values, strict=True) if p < 1}


def test_separation_in_asia():
    def found(x, given=()):
        return told_by_the_oracle(DAG(ASIA), x, given)

    assert "smoke" not in found(["asia"]) and "smoke" in found(["asia"], ["dysp"])
    assert found(["asia", "tub"]).isdisjoint({"smoke", "lung", "bronc"})
    assert found(["asia", "tub"], ["either"]) >= {"smoke", "lung"}
    assert found(["xray"], ["either"]).isdisjoint({"asia", "smoke", "dysp"})
    assert found(["lung"], ["smoke"]) == {"either", "xray", "dysp"}


def random_arcs(rng):
    n = rng.randint(2, 9)
    order = rng.sample(range(n), n)
    share = rng.choice([0.15, 0.3, 0.6])
    return n, [(f"v{a}", f"v{b}") for a, b in itertools.combinations(order, 2) if rng.random() < share]


def test_the_search_equals_the_moral_graph():
    for seed in range(300):
        the_search_equals_the_moral_graph(random.Random(seed))


def the_search_equals_the_moral_graph(rng):
    n, arcs = random_arcs(rng)
    dag, literal = DAG(arcs, [f"v{i}" for i in range(n)]), Separation(arcs)
    for x in dag.nodes:
        others = [node for node in dag.nodes if node != x]
        for _ in range(3):
            given = frozenset(rng.sample(others, rng.randint(0, len(others))))
            rest = [node for node in others if node not in given]
            expected = {y for y in rest if literal(x, y, given) < 1}
            assert connected(dag, x, given) == expected, arcs


def test_the_blanket_is_the_least_set_that_separates():
    for seed in range(50):
        n, arcs = random_arcs(random.Random(seed))
        dag = DAG(arcs, [f"v{i}" for i in range(n)])
        for node in dag.nodes:
            blanket = set(dag.markov_blanket(node)["blanket"])
            assert connected(dag, node, blanket) == set(), seed
            assert all(member in connected(dag, node, blanket - {member}) for member in blanket), seed


def test_a_deep_graph_needs_no_recursion():
    chain = [(f"n{i}", f"n{i + 1}") for i in range(20_000)]
    dag = DAG(chain)
    assert dag.topological_order() == dag.nodes
    assert len(told_by_the_oracle(dag, ["n0"], ["n10000"])) == 9_999
