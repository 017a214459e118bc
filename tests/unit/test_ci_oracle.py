"""The tests that know the truth: d-separation, and the mutual information of a whole population."""

import itertools
import math
import random

import numpy as np
import pytest

from blanketflow.ci.contingency.g2_and_chi2 import G2
from blanketflow.ci.oracle import Oracle, Population, joint_distribution
from blanketflow.core.errors import DataError, ParameterError, UnknownNameError
from blanketflow.core.table import Column, Table
from blanketflow.data.simulate import NETWORKS
from blanketflow.data.simulate.network import DiscreteNetwork, node
from literal import Separation

CLINIC = NETWORKS["clinic"].network


def named(*names):
    return Table([Column(name, "integer", np.zeros(2, dtype=int)) for name in names])


def test_answers_as_the_moralised_ancestral_graph_does():
    rng = random.Random(0)
    for _ in range(40):
        names = [f"n{i}" for i in range(rng.randint(3, 8))]
        arcs = [pair for pair in itertools.combinations(names, 2) if rng.random() < 0.35]
        bound, literal = Oracle(arcs=arcs).bind(named(*names)), Separation(arcs)
        for x, y in itertools.permutations(names, 2):
            others = [z for z in names if z not in (x, y)]
            given = rng.sample(others, rng.randint(0, len(others)))
            answer = bound.test(x, y, given)
            assert (answer.p_value == 1.0) is (literal(x, y, frozenset(given)) == 1.0)
            assert answer.log_p == math.log(answer.p_value)


def test_hidden_nodes_and_columns_without_arcs():
    bound = Oracle(arcs=[("hidden", "a"), ("hidden", "b")]).bind(named("a", "b", "alone"))
    assert [bound.test("a", other).p_value for other in ("b", "alone")] == [1e-300, 1.0]
    assert Oracle(arcs=[]).bind(named("a", "b")).test("a", "b").p_value == 1.0


def test_a_set_is_connected_if_a_member_is():
    bound = Oracle(arcs=[("a", "c"), ("b", "c")]).bind(named("a", "b", "c", "d"))
    assert list(bound.test_many([("a", "d"), ("d", "c"), ("c", "a")], "b").p_value) == [1.0, 1e-300, 1e-300]
    assert bound.test(("a", "d"), "b", ["c"]).p_value == 1e-300


def test_a_network_brings_its_graph():
    bound = Oracle(network=CLINIC).bind(CLINIC.sample(2, seed=0))
    assert bound.test("old_scar", "pneumonia").p_value == 1.0
    assert bound.test("old_scar", "pneumonia", ["xray"]).p_value == 1e-300


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ParameterError, "give either arcs"),
        ({"arcs": [("a", "b")], "network": CLINIC}, ParameterError, "not both"),
        ({"arcs": "ab"}, ParameterError, "list of pairs"),
        ({"arcs": ["ab"]}, ParameterError, "list of pairs"),
        ({"arcs": [("a", "b", "c")]}, ParameterError, "list of pairs"),
        ({"arcs": [("a", "b"), ("b", "a")]}, DataError, "cycle"),
        ({"arcs": [("u", "v")]}, DataError, "no column is a node"),
    ],
)
def test_what_the_oracle_cannot_use(options, error, message):
    with pytest.raises(error, match=message):
        Oracle(**options).bind(named("a", "b", "c"))


# The population.


def information_by_hand(network, x, y, given):
    """Return I(X;Y|Z) as a sum over all states of all nodes, one at a time."""
    order = network.dag().topological_order()
    joint = {}
    for state in itertools.product(*(range(len(network.nodes[name].levels)) for name in order)):
        at = dict(zip(order, state, strict=True))
        p = math.prod(
            float(network.nodes[name].cpt[(*(at[q] for q in network.nodes[name].parents), at[name])]) for name in order
        )
        key = tuple(at[name] for name in (x, y, *given))
        joint[key] = joint.get(key, 0.0) + p

    def marginal(keep):
        out = {}
        for key, p in joint.items():
            short = tuple(key[i] for i in keep)
            out[short] = out.get(short, 0.0) + p
        return out

    z = list(range(2, 2 + len(given)))
    xz, yz, of_z = marginal([0, *z]), marginal([1, *z]), marginal(z)
    return sum(
        p * math.log(p * of_z[key[2:]] / (xz[(key[0], *key[2:])] * yz[key[1:]])) for key, p in joint.items() if p > 0
    )


def random_network(seed, n=5):
    rng = np.random.default_rng(seed)
    names, nodes = [f"n{i}" for i in range(n)], {}
    levels = rng.integers(2, 4, n)
    for i, name in enumerate(names):
        parents = [j for j in range(i) if rng.random() < 0.5]
        cpt = rng.dirichlet(np.ones(levels[i]), size=tuple(levels[j] for j in parents))
        labels = [str(k) for k in range(levels[i])]
        nodes[name] = node(labels, [names[j] for j in parents], table=cpt)
    return DiscreteNetwork(f"random {seed}", nodes)


@pytest.mark.parametrize("seed", range(5))
def test_information_is_the_sum_over_all_states(seed):
    network = random_network(seed)
    bound = Population(network=network).bind(network.sample(2, seed=0))
    oracle = Oracle(network=network).bind(bound.table)
    for x, y in itertools.combinations(network.nodes, 2):
        others = [z for z in network.nodes if z not in (x, y)]
        for given in ([], others[:1], others[1:], others):
            result = bound.test(x, y, given)
            assert result.statistic == pytest.approx(information_by_hand(network, x, y, given), abs=1e-12)
            assert result.p_value == oracle.test(x, y, given).p_value  # random tables are faithful


def test_what_d_separation_does_not_see():
    fair, copy = [0.5, 0.5], [[1, 0], [0, 1]]
    xor = DiscreteNetwork(
        "xor",
        {
            "a": node("01", table=fair),
            "b": node("01", table=fair),
            "x": node("01", ["a", "b"], table=[[[1, 0], [0, 1]], [[0, 1], [1, 0]]]),
            "twin": node("01", ["x"], table=copy),
        },
    )
    bound = Population(network=xor).bind(xor.sample(2, seed=0))
    assert bound.test("a", "x").p_value == 1.0  # independent, though adjacent
    assert bound.test(("a", "b"), "x").statistic == pytest.approx(math.log(2))
    assert bound.test("x", "a", ["b", "twin"]).p_value == 1.0  # the twin says all that x does
    assert bound.test("twin", "a", ["b", "x"]).p_value == 1.0
    assert bound.test("twin", "a", ["b"]).statistic == pytest.approx(math.log(2))


def test_a_large_sample_comes_close():
    names = ["fever", "cough", "pneumonia", "smoking"]
    sample = CLINIC.sample(200_000, seed=3).select(names)
    exact, plug_in = Population(network=CLINIC).bind(sample), G2(min_samples_per_cell=0).bind(sample)
    for query in [("fever", "cough"), ("cough", "smoking"), ("cough", "smoking", ["pneumonia"])]:
        assert plug_in.test(*query).statistic / 400_000 == pytest.approx(exact.test(*query).statistic, abs=1e-3)


def test_hidden_nodes_are_summed_out():
    joint = joint_distribution(CLINIC, ["absence", "season"])
    assert joint.shape == (3, 3)
    assert joint.sum() == pytest.approx(1)
    np.testing.assert_allclose(joint.sum(axis=0), [0.40, 0.25, 0.35])


def test_what_the_population_cannot_use():
    with pytest.raises(ParameterError, match="must be a discrete network"):
        Population().bind(named("a"))
    with pytest.raises(ParameterError, match="must be a discrete network"):
        Population(network=NETWORKS["greenhouse"].network).bind(named("growth"))
    with pytest.raises(UnknownNameError, match="no node 'coff'"):
        Population(network=CLINIC).bind(named("coff"))
    many = DiscreteNetwork("many", {f"n{i}": node("01", table=[0.5, 0.5]) for i in range(30)})
    with pytest.raises(DataError, match="too many cells"):
        Population(network=many).bind(many.sample(1, seed=0))
