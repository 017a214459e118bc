"""Networks and samplers: samples against the exact distributions, and random graphs and networks."""

import hashlib
import itertools
import sys

import numpy as np
import pytest

from blanketflow.core.errors import ConfigError, DataError, ParameterError, UnknownNameError
from blanketflow.core.graph import DAG
from blanketflow.data.simulate import NETWORKS, simulate, simulated
from blanketflow.data.simulate.network import (
    BLOCK_ROWS,
    ConditionalGaussianNetwork,
    DiscreteNetwork,
    GaussianNode,
    LinearGaussianNetwork,
    node,
)
from blanketflow.data.simulate.networks import CLINIC, GREENHOUSE
from random_networks import random_dag, random_discrete, random_gaussian

# Yield is a mixture: nothing where not watered, else linear in sunshine, by the kind of soil.
FARM = ConditionalGaussianNetwork(
    "farm",
    {
        "watered": node(["no", "yes"], table=[0.25, 0.75]),
        "soil": node(["sand", "loam", "clay"], ["watered"], table=[[0.5, 0.25, 0.25], [0.2, 0.3, 0.5]]),
        "sunshine": GaussianNode(5.0, 2.0),
        "yield": GaussianNode(
            np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]),
            np.array([[0.0, 0.0, 0.0], [0.5, 1.0, 1.5]]),
            {"sunshine": np.array([[0.0, 0.0, 0.0], [2.0, 1.0, -1.0]])},
            given=("watered", "soil"),
        ),
        "price": GaussianNode(20.0, 1.0, {"yield": -0.5}),
    },
)


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
    truth = simulated("clinic").truth()
    assert truth["parents"] == ["infection", "smoking"] and truth["children"] == ["cough", "fever", "xray"]
    assert truth["spouses"] == ["allergy", "old_scar"]
    assert {len(n.levels) for n in CLINIC.nodes.values()} == {2, 3, 4}
    table, target, _ = simulate("clinic", 1000, seed=1)
    y, scar, shadow = (table[c].values for c in (target, "old_scar", "xray"))
    assert abs(np.corrcoef(y, scar)[0, 1]) < 0.1  # of itself nothing
    clear = shadow == table["xray"].levels.index("shadow")
    assert np.corrcoef(y[clear], scar[clear])[0, 1] < -0.3  # explaining away


def test_the_greenhouse_is_as_described():
    truth = simulated("greenhouse").truth()
    assert truth["parents"] == ["salinity", "temperature"] and truth["children"] == ["height", "leaf_area"]
    assert truth["spouses"] == ["nitrogen", "wind"] and len(GREENHOUSE.nodes) == 15


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_simulation_is_a_function_of_its_seed(name):
    first, target, truth = simulate(name, 200, seed=9)
    again, *_ = simulate(name, 200, seed=9)
    other, *_ = simulate(name, 200, seed=10)
    assert all(np.array_equal(a.values, b.values) for a, b in zip(first.columns, again.columns, strict=True))
    assert not np.array_equal(first[target].values, other[target].values)
    assert truth == simulated(name).truth() and set(truth["blanket"]) < set(first.names)


def test_any_node_can_be_the_target():
    _, target, truth = simulate("clinic", 10, seed=1, target="xray")
    assert target == "xray" and truth["blanket"] == ["old_scar", "pneumonia"]
    with pytest.raises(ConfigError, match="Did you mean 'clinic'"):
        simulated("clinik").truth()
    with pytest.raises(ConfigError, match=r"no node 'fevr'.*Did you mean 'fever'"):
        simulated("clinic", "fevr").truth()


def test_tables_that_are_no_distributions_are_refused():
    with pytest.raises(DataError, match="node 'a': a row of the table is not a distribution"):
        DiscreteNetwork("bad", {"a": node(["x", "y"], table=[0.5, 0.6])})
    with pytest.raises(DataError, match="node 'b': the table has shape"):
        DiscreteNetwork("bad", {"a": node(["x", "y"], table=[0.5, 0.5]), "b": node(["u", "v"], ["a"], table=[1, 0])})
    with pytest.raises(DataError, match="sd is -1"):
        LinearGaussianNetwork("bad", {"a": GaussianNode(0.0, -1.0)})


def test_levels_are_sorted_whatever_the_table_says():
    network = DiscreteNetwork("n", {"a": node(["10", "9"], table=[1.0, 0.0])})
    column = network.sample(5, seed=0)["a"]
    assert column.levels == ("9", "10") and column.values.tolist() == [1] * 5


def test_many_rows_take_no_more_calls_than_few():
    calls = {1_000: 0, 200_000: 0}
    CLINIC.sample(10, seed=0)  # loads what is needed
    for n_rows in calls:

        def count(*_, n_rows=n_rows):
            calls[n_rows] += 1

        sys.setprofile(count)
        CLINIC.sample(n_rows, seed=0)
        sys.setprofile(None)
    assert 0 < calls[200_000] < 2 * calls[1_000]  # and not 200 times


def test_samples_stay_what_they_were():
    digest = hashlib.sha256()
    for column in CLINIC.sample(70_000, seed=11).columns:  # more rows than one block
        digest.update(column.values.astype("<i4").tobytes())
    assert digest.hexdigest() == "a205682814a9f2c549b4ca5b1d52c5575ba406d46cf21a5715c74adf28a4d8c9"
    table = GREENHOUSE.sample(70_000, seed=11)
    at = [0, 65_535, 65_536, 69_999]
    expected = {
        "sunlight": [8.068000742778688, 7.784327126611001, 8.281473694490023, 8.592649015063614],
        "growth": [8.42159842008808, 5.259279092457549, 7.488334241161398, 8.031660788397591],
        "fruit_mass": [66.86004960204606, 77.42080690058641, 59.9001315653738, 67.22895287362272],
    }
    for key, values in expected.items():
        assert table[key].values[at] == pytest.approx(values, rel=1e-12)


@pytest.mark.parametrize("network", [CLINIC, GREENHOUSE, FARM], ids=lambda network: network.name)
def test_fewer_rows_are_the_first_of_more(network):
    more, fewer = network.sample(2 * BLOCK_ROWS + 5, seed=2), network.sample(BLOCK_ROWS + 3, seed=2)
    for a, b in zip(more.columns, fewer.columns, strict=True):
        assert (a.name, a.kind, a.levels) == (b.name, b.kind, b.levels)
        assert np.array_equal(a.values[: BLOCK_ROWS + 3], b.values)


@pytest.mark.parametrize("n_levels", [1, 2, 3, 4, 5, 8, 9, 100])
def test_the_binary_search_equals_counting(n_levels):
    rng = np.random.default_rng(n_levels)
    cpt = rng.dirichlet([0.3] * n_levels, (2, 3))
    cpt[0, 0] = 0.0
    cpt[0, 0, n_levels // 2] = 1.0  # levels that never occur
    root = {"p": node(["0", "1"], table=[0.5, 0.5]), "q": node(["0", "1", "2"], table=[0.2, 0.3, 0.5])}
    one = node([f"{i:03}" for i in range(n_levels)], ["p", "q"], table=cpt)
    p, q = np.repeat([0, 1], 3000), np.tile([0, 1, 2], 2000)
    found = one.draw(np.random.default_rng(7), 6000, [p.astype(np.uint8), q.astype(np.uint8)])
    bounds = np.cumsum(cpt, axis=-1)[p, q][:, :-1]
    assert np.array_equal(found, (np.random.default_rng(7).random(6000)[:, None] >= bounds).sum(axis=1))
    column = DiscreteNetwork("n", {**root, "r": one}).sample(50, seed=1)["r"]
    assert column.values.dtype == np.int32 and column.levels == one.levels


def test_conditional_gaussian_samples_follow_every_equation():
    table = FARM.sample(60_000, seed=4)
    assert [column.kind for column in table.columns] == ["categorical", "categorical", "numeric", "numeric", "numeric"]
    watered, soil = (table[key].values for key in ("watered", "soil"))
    given, sunshine = FARM.nodes["yield"], table["sunshine"].values
    for w, word in enumerate(["no", "yes"]):
        for s, kind in enumerate(["sand", "loam", "clay"]):
            at = (watered == table["watered"].levels.index(word)) & (soil == table["soil"].levels.index(kind))
            assert at.mean() == pytest.approx(FARM.nodes["watered"].cpt[w] * FARM.nodes["soil"].cpt[w, s], abs=0.01)
            harvest, X = table["yield"].values[at], np.column_stack([np.ones(at.sum()), sunshine[at]])
            if word == "no":
                assert not harvest.any()
                continue
            found, *_ = np.linalg.lstsq(X, harvest, rcond=None)
            error = given.sd[w, s] * np.sqrt(np.diag(np.linalg.inv(X.T @ X)))
            assert np.all(abs(found - [given.intercept[w, s], given.coefficients["sunshine"][w, s]]) < 4.5 * error)
            assert (harvest - X @ found).std() == pytest.approx(given.sd[w, s], rel=0.03)
    assert (table["price"].values + 0.5 * table["yield"].values).mean() == pytest.approx(20.0, abs=0.02)
    assert FARM.dag().markov_blanket("soil")["spouses"] == ["sunshine"]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ({"a": GaussianNode(0.0, np.inf)}, "'a': sd holds a value that is not finite"),
        ({"a": GaussianNode(0.0, 1.0, {"d": 1.0})}, "'a': the parent 'd' has a coefficient, but is not Gaussian"),
        ({"a": GaussianNode(0.0, 1.0), "b": GaussianNode(0.0, 1.0, given=("a",))}, "'b': the parent 'a' is not disc"),
        ({"a": GaussianNode(np.zeros(3), np.ones(2), given=("d",))}, r"'a': intercept has shape \(3,\), not \(2,\)"),
        ({"a": GaussianNode(np.zeros(2), 1.0, given=("d",))}, r"'a': sd has shape \(\), not \(2,\)"),
        ({"a": GaussianNode(0.0, 1.0), "e": node(["x"], ["a"], table=[1.0])}, "'e': the parent 'a' is not discrete"),
        ({"e": node(["x", "x"], table=[0.5, 0.5])}, "'e': the levels"),
        ({"e": node(["x", "y"], table=[0.5, 0.499])}, "'e': a row of the table is not a distribution"),
        ({"e": node(["x", "y"], table=[np.nan, 1.0])}, "'e': a row of the table is not a distribution"),
    ],
)
def test_parameters_that_contradict_each_other_are_refused(nodes, message):
    with pytest.raises(DataError, match=message):
        ConditionalGaussianNetwork("bad", {"d": node(["x", "y"], table=[0.5, 0.5]), **nodes})


def test_a_network_takes_its_own_kinds_of_nodes_and_parents():
    with pytest.raises(DataError, match="'a': a GaussianNode, but a DiscreteNetwork takes DiscreteNode only"):
        DiscreteNetwork("bad", {"a": GaussianNode(0.0, 1.0)})
    with pytest.raises(DataError, match="a DiscreteNode, but a LinearGaussianNetwork takes GaussianNode only"):
        LinearGaussianNetwork("bad", {"a": node(["x"], table=[1.0])})
    with pytest.raises(UnknownNameError, match="no node 'p'"):
        LinearGaussianNetwork("bad", {"a": GaussianNode(0.0, 1.0, {"p": 1.0})})


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs_have_the_size_and_degree_asked_for(seed):
    n, degree = 5 + 3 * seed, 1 + seed % 4
    dag = random_dag(n, seed, degree=degree)
    assert len(dag.nodes) == n and len(dag.arcs) == len(set(dag.arcs)) == round(n * degree / 2)
    assert random_dag(n, seed, degree=degree).arcs == dag.arcs != random_dag(n, seed + 1, degree=degree).arcs
    capped = random_dag(n, seed, degree=degree, max_degree=degree)
    assert max(len(capped.parents_and_children(node)) for node in capped.nodes) <= degree
    assert len(random_dag(n, seed, degree=n - 1).arcs) == n * (n - 1) // 2


def test_every_pair_and_both_directions_are_equally_likely():
    pairs = [arc for seed in range(1200) for arc in random_dag(4, seed, degree=1).arcs]
    counts = [pairs.count(pair) for pair in itertools.permutations(["x1", "x2", "x3", "x4"], 2)]
    assert min(counts) > 200 - 4 * np.sqrt(200) and max(counts) < 200 + 4 * np.sqrt(200)  # 2,400 arcs of 12 kinds


def test_random_networks_follow_their_settings():
    dag = random_dag(60, seed=3, degree=3, max_degree=5)
    discrete = random_discrete(dag, seed=1, arity=(2, 5), concentration=0.5)
    assert {len(n.levels) for n in discrete.nodes.values()} == {2, 3, 4, 5} and discrete.dag().nodes == dag.nodes
    assert sorted(discrete.dag().arcs) == sorted(dag.arcs)
    even = random_discrete(dag, seed=1, arity=(2, 2), concentration=1e6)
    assert all(abs(n.cpt - 0.5).max() < 0.01 for n in even.nodes.values())
    again = random_discrete(dag, seed=1, arity=(2, 5), concentration=0.5)
    assert all(np.array_equal(n.cpt, again.nodes[key].cpt) for key, n in discrete.nodes.items())
    gaussian = random_gaussian(dag, seed=1, coefficients=(0.2, 0.9), sd=(0.5, 2.0))
    weights = np.array([w for n in gaussian.nodes.values() for w in n.coefficients.values()])
    assert len(weights) == len(dag.arcs) and (weights < 0).any() and (weights > 0).any()
    assert abs(weights).min() >= 0.2 and abs(weights).max() <= 0.9
    assert all(0.5 <= n.sd <= 2.0 for n in gaussian.nodes.values()) and gaussian.sample(5, seed=0).n_rows == 5


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: random_dag(0, 1), "n_nodes is 0"),
        (lambda: random_dag(3, 1, degree=2.5), "degree is 2.5, but must be 0 to 2 for 3 nodes"),
        (lambda: random_dag(3, 1, max_degree=-1), "max_degree is -1"),
        (lambda: random_discrete(DAG([("a", "b")]), 1, arity=(3, 2)), "arity is"),
        (lambda: random_discrete(DAG([("a", "b")]), 1, concentration=0), "concentration is 0"),
        (lambda: random_discrete(DAG([(str(i), "c") for i in range(30)]), 1), "table of 'c' with its 30 parents"),
        (lambda: random_gaussian(DAG([("a", "b")]), 1, sd=(-1, 1)), "sd is"),
        (lambda: random_gaussian(DAG([("a", "b")]), 1, coefficients=(1, 0.5)), "coefficients is"),
    ],
)
def test_random_networks_that_cannot_be_drawn(draw, message):
    with pytest.raises(ParameterError, match=message):
        draw()
