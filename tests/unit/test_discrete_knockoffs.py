"""Knockoffs of discrete features: exchangeable under all swaps, by enumeration of whole joint laws, and the same as the
literal recursion.
"""

import itertools

import numpy as np
import pytest

from blanketflow.core.convert import as_table
from blanketflow.core.errors import DataError, ParameterError, UnknownNameError
from blanketflow.data.simulate.network import DiscreteNetwork, node
from blanketflow.selectors.base import Problem
from blanketflow.selectors.knockoff.knockoff_pairs import (
    DiscreteLaw,
    Factor,
    Factors,
    chain_arcs,
    conditional_pairs,
    discrete_pairs,
    drawn_pairs,
    elimination_order,
    estimated_law,
    network_law,
)


def made_up(name, sizes, parents, seed=0):
    """A network with random tables; `parents` has the positions of each node's."""
    rng = np.random.default_rng(seed)
    nodes = {}
    for at, (size, given) in enumerate(zip(sizes, parents, strict=True)):
        table = rng.dirichlet(np.ones(size), [sizes[p] for p in given])
        nodes[f"n{at}"] = node([f"l{k}" for k in range(size)], [f"n{p}" for p in given], table=table)
    return DiscreteNetwork(name, nodes)


def joint(network):
    """The law of all nodes, cell by cell."""
    nodes = network.nodes
    sizes = [len(one.levels) for one in nodes.values()]
    table, place = np.ones(sizes), {name: at for at, name in enumerate(nodes)}
    for cell in np.ndindex(*sizes):
        for name, one in nodes.items():
            table[cell] *= one.cpt[(*(cell[place[p]] for p in one.parents), cell[place[name]])]
    return table


CHAIN = made_up("chain", [2, 3, 2, 2], [[], [0], [1], [2]])
COLLIDER = made_up("collider", [2, 2, 2, 3], [[], [], [0, 1], [2]])
LOOP = made_up("loop", [2, 2, 3, 2], [[], [0], [0], [1, 2]])
ALL_NODES = [(CHAIN, 4), (COLLIDER, 4), (LOOP, 4)]


def joint_with_knockoffs(law, groups):
    """The joint law of features and knockoffs by what the sampler says of each draw, one axis for each of both."""
    sizes, d = law.sizes, len(law.sizes)
    pairs = np.array(list(itertools.product(*map(range, (*sizes, *sizes)))))
    log_p = np.zeros(len(pairs))

    def choose(members, probabilities):
        asked = np.ravel_multi_index(tuple(pairs[:, [d + v for v in members]].T), [sizes[v] for v in members])
        with np.errstate(divide="ignore"):
            log_p[:] += np.log(probabilities[np.arange(len(pairs)), asked])
        return asked

    conditional_pairs(law, groups, pairs[:, :d], choose)
    return np.exp(log_p).reshape(*sizes, *sizes)


def swaps(groups):
    for n in range(len(groups) + 1):
        yield from ([v for group in some for v in group] for some in itertools.combinations(groups, n))


@pytest.mark.parametrize(("network", "d"), [*ALL_NODES, (COLLIDER, 2), (LOOP, 3)])
@pytest.mark.parametrize("grouped", [False, True])
def test_features_and_knockoffs_may_be_exchanged(network, d, grouped):
    """The nodes after the first d, one of which could be the target, are hidden."""
    law = network_law(network, list(network.nodes)[:d], "here")
    groups = [(0, 1), *((at,) for at in range(2, d))] if grouped else [(at,) for at in range(d)]
    whole = joint(network).sum(axis=tuple(range(d, 4)))
    both = whole.reshape(*whole.shape, *[1] * d) * joint_with_knockoffs(law, groups)
    assert both.sum() == pytest.approx(1)
    np.testing.assert_allclose(both.sum(axis=tuple(range(d, 2 * d))), whole, atol=1e-12)
    for swapped in swaps(groups):
        axes = list(range(2 * d))
        for v in swapped:
            axes[v], axes[v + d] = v + d, v
        np.testing.assert_allclose(both.transpose(axes), both, atol=1e-12)
    if grouped and d > 2:  # the two are dependent given the others: one of them alone cannot be exchanged
        assert np.abs(both.swapaxes(0, d) - both).max() > 1e-4


@pytest.mark.parametrize(("network", "d"), ALL_NODES)
def test_what_is_drawn_is_the_literal_recursion(network, d):
    """By the whole table: the law of a feature given all other features and all knockoffs so far."""
    law, whole = network_law(network, list(network.nodes), "here"), joint(network)
    order = [members[0] for members in elimination_order(law.whole(), [(at,) for at in range(d)])[0]]

    def of_knockoffs(x, copies):
        """P(x, knockoffs of the first features in the order)."""
        p = whole[x]
        for k, copy in enumerate(copies):
            p *= conditional(x, copies[:k])[copy]
        return p

    def conditional(x, copies):
        at = order[len(copies)]
        found = np.array([of_knockoffs((*x[:at], v, *x[at + 1 :]), copies) for v in range(law.sizes[at])])
        return found / found.sum()

    said = joint_with_knockoffs(law, [(at,) for at in range(d)])
    rng = np.random.default_rng(1)
    for _ in range(12):
        x, copy = (tuple(rng.integers(law.sizes).tolist()) for _ in range(2))
        p = np.prod([conditional(x, [copy[v] for v in order[:k]])[copy[order[k]]] for k in range(d)])
        assert said[(*x, *copy)] == pytest.approx(p)


def test_each_by_itself_given_the_others_could_not_be_exchanged():
    """Why knockoffs so far are held: without them the pairs of a chain have another law when one pair is swapped."""
    whole = joint(CHAIN)
    both = whole.reshape(*whole.shape, 1, 1, 1, 1)
    for at in range(4):
        alone = whole / whole.sum(axis=at, keepdims=True)
        given = np.expand_dims(np.moveaxis(alone, at, -1), at)  # x without its own value, then the knockoff's
        shape = [*given.shape[:4], *(whole.shape[at] if k == at else 1 for k in range(4))]
        both = both * given.reshape(shape)
    assert both.sum() == pytest.approx(1)
    assert np.abs(both.transpose(4, 1, 2, 3, 0, 5, 6, 7) - both).max() > 1e-3


def test_draws_have_the_law_that_was_said():
    law = network_law(LOOP, list(LOOP.nodes), "here")
    cell = (0, 1, 2, 0)
    drawn = drawn_pairs(law, [(at,) for at in range(4)], np.tile(cell, (40_000, 1)), np.random.default_rng(0))
    said = joint_with_knockoffs(law, [(at,) for at in range(4)])[cell]
    found = np.bincount(np.ravel_multi_index(tuple(drawn.T), law.sizes), minlength=said.size) / len(drawn)
    np.testing.assert_allclose(found, said.ravel(), atol=5 * np.sqrt(0.25 / len(drawn)))


def test_a_chain_is_estimated_by_its_shares_and_one_row_more():
    codes = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    law = estimated_law(["a", "b"], [("x", "y")] * 2, codes, chain_arcs(["a", "b"]), "here")
    first, second = (factor.table[0] for factor in law.factors)
    np.testing.assert_allclose(first, [0.5, 0.5])
    np.testing.assert_allclose(second, [[1.5 / 3, 1.5 / 3], [0.5 / 3, 2.5 / 3]])


def test_a_chain_goes_by_the_table_and_not_by_groups():
    table = as_table(np.array([[0, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0]]))
    problem = Problem(["ends", "x1"], "y", None, 0, lambda: table, lambda table: None)
    problem.feature_groups = {"ends": ("x0", "x2")}
    pairs = discrete_pairs(problem, "markov-chain", None, None, "here")
    assert pairs.law.names == ("x0", "x2", "x1") and pairs.groups == [(0, 1), (2,)]
    assert {factor.scope for factor in pairs.law.factors} == {(0,), (0, 2), (2, 1)}
    drawn = pairs.draw(np.random.default_rng(0))
    assert drawn.owners.tolist() == [0, 0, 1] and set(np.unique(drawn.knockoffs)) <= {0.0, 1.0}


def test_what_is_no_law_of_the_features_is_refused():
    with pytest.raises(UnknownNameError, match="has no node 'n9'"):
        network_law(CHAIN, ["n9"], "here")
    with pytest.raises(ParameterError, match="must be a discrete network"):
        network_law("alarm", ["n1"], "here")
    with pytest.raises(ParameterError, match="arcs name 'c', which is no feature"):
        estimated_law(["a", "b"], [("x", "y")] * 2, np.zeros((1, 2), int), [("a", "c")], "here")
    with pytest.raises(DataError, match="ties 20 features together"):
        Factors([2] * 20, [Factor((0, at), np.ones((1, 2, 2))) for at in range(1, 20)]).pop([0])
    impossible = DiscreteLaw(("a",), (("x", "y"),), (Factor((0,), np.array([[1.0, 0.0]])),))
    with pytest.raises(DataError, match="a level of 'a' whose probability under the law is 0"):
        drawn_pairs(impossible, [(0,)], np.array([[1]]), np.random.default_rng(0))
