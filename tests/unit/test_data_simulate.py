"""Graphs, networks and samplers: blankets drawn by hand, and samples against the exact distributions."""

import itertools
import time

import numpy as np
import pytest

from blanketflow.core.errors import ConfigError, DataError, UnknownNameError
from blanketflow.core.graph import DAG
from blanketflow.data.simulate import NETWORKS, simulate, truth_of
from blanketflow.data.simulate.clinic import CLINIC
from blanketflow.data.simulate.discrete import DiscreteNetwork, node
from blanketflow.data.simulate.gaussian import GaussianNode, LinearGaussianNetwork
from blanketflow.data.simulate.greenhouse import GREENHOUSE


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
    assert DAG(arcs).markov_blanket("T") == {
        "parents": parents,
        "children": children,
        "spouses": spouses,
        "blanket": sorted(parents + children + spouses),
    }


def test_order_cycles_and_unknown_nodes():
    dag = DAG([("b", "c"), ("a", "b"), ("a", "c")], nodes=["c", "b", "a", "alone"])
    order = dag.topological_order()
    assert sorted(order) == sorted(dag.nodes) and all(order.index(p) < order.index(c) for p, c in dag.arcs)
    assert dag.markov_blanket("alone")["blanket"] == []
    with pytest.raises(DataError, match=r"cycle .* a, b"):
        DAG([("r", "a"), ("a", "b"), ("b", "a")])
    with pytest.raises(UnknownNameError, match=r"no node 'alon'. Did you mean 'alone'"):
        dag.parents("alon")


@pytest.mark.parametrize("key", CLINIC.nodes)
def test_discrete_samples_follow_every_row_of_every_table(key):
    rows = 40_000
    table = CLINIC.sample(rows, seed=3)

    def code(column, level):
        return table[column].values == table[column].levels.index(level)

    given = CLINIC.nodes[key]
    for combination in itertools.product(*(range(len(CLINIC.nodes[p].levels)) for p in given.parents)):
        at = np.ones(rows, dtype=bool)
        for parent, value in zip(given.parents, combination, strict=True):
            at &= code(parent, CLINIC.nodes[parent].levels[value])
        n = np.count_nonzero(at)
        assert n > 100
        for level, p in zip(given.levels, given.cpt[combination], strict=True):
            share = np.count_nonzero(at & code(key, level)) / n
            assert abs(share - p) < 4 * np.sqrt(p * (1 - p) / n) + 1e-12, (combination, level)


def test_gaussian_samples_follow_every_equation():
    rows = 20_000
    table = GREENHOUSE.sample(rows, seed=3)
    for key, given in GREENHOUSE.nodes.items():
        X = np.column_stack([np.ones(rows), *(table[p].values for p in given.coefficients)])
        found, *_ = np.linalg.lstsq(X, table[key].values, rcond=None)
        residual = table[key].values - X @ found
        error = given.sd * np.sqrt(np.diag(np.linalg.inv(X.T @ X)))
        expected = np.array([given.intercept, *given.coefficients.values()])
        assert np.all(np.abs(found - expected) < 4.5 * error), key
        assert residual.std() == pytest.approx(given.sd, rel=4 / np.sqrt(2 * rows))


def test_the_clinic_is_as_described():
    truth = truth_of("clinic")
    assert truth["parents"] == ["infection", "smoking"] and truth["children"] == ["cough", "fever", "xray"]
    assert truth["spouses"] == ["allergy", "old_scar"]
    assert {len(n.levels) for n in CLINIC.nodes.values()} == {2, 3, 4}
    table, target, _ = simulate("clinic", 1000, seed=1)
    y, scar, shadow = (table[c].values for c in (target, "old_scar", "xray"))
    assert abs(np.corrcoef(y, scar)[0, 1]) < 0.1  # of itself nothing
    clear = shadow == table["xray"].levels.index("shadow")
    assert np.corrcoef(y[clear], scar[clear])[0, 1] < -0.3  # explaining away


def test_the_greenhouse_is_as_described():
    truth = truth_of("greenhouse")
    assert truth["parents"] == ["salinity", "temperature"] and truth["children"] == ["height", "leaf_area"]
    assert truth["spouses"] == ["nitrogen", "wind"] and len(GREENHOUSE.nodes) == 15


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_simulation_is_a_function_of_its_seed(name):
    first, target, truth = simulate(name, 200, seed=9)
    again, *_ = simulate(name, 200, seed=9)
    other, *_ = simulate(name, 200, seed=10)
    assert all(np.array_equal(a.values, b.values) for a, b in zip(first.columns, again.columns, strict=True))
    assert not np.array_equal(first[target].values, other[target].values)
    assert truth == truth_of(name) and set(truth["blanket"]) < set(first.names)


def test_any_node_can_be_the_target():
    _, target, truth = simulate("clinic", 10, seed=1, target="xray")
    assert target == "xray" and truth["blanket"] == ["old_scar", "pneumonia"]
    with pytest.raises(ConfigError, match="Did you mean 'clinic'"):
        truth_of("clinik")
    with pytest.raises(ConfigError, match=r"no node 'fevr'.*Did you mean 'fever'"):
        truth_of("clinic", "fevr")


def test_tables_that_are_no_distributions_are_refused():
    with pytest.raises(DataError, match="node 'a': a row of the table is no distribution"):
        DiscreteNetwork("bad", {"a": node(["x", "y"], table=[0.5, 0.6])})
    with pytest.raises(DataError, match="node 'b': the table has shape"):
        DiscreteNetwork("bad", {"a": node(["x", "y"], table=[0.5, 0.5]), "b": node(["u", "v"], ["a"], table=[1, 0])})
    with pytest.raises(DataError, match="sd is -1"):
        LinearGaussianNetwork("bad", {"a": GaussianNode(0.0, -1.0)})


def test_levels_are_sorted_whatever_the_table_says():
    network = DiscreteNetwork("n", {"a": node(["10", "9"], table=[1.0, 0.0])})
    column = network.sample(5, seed=0)["a"]
    assert column.levels == ("9", "10") and column.values.tolist() == [1] * 5


def test_a_million_rows_are_quick():
    start = time.perf_counter()
    CLINIC.sample(1_000_000, seed=0)
    assert time.perf_counter() - start < 10
