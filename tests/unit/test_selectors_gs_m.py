"""GS(m): Algorithm 1 word for word, m-Markov boundaries in any distribution, exact blankets on faithful ones."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import blanketflow as bf
from blanketflow.core.errors import ParameterError, UnsupportedError
from blanketflow.core.graph import DAG
from blanketflow.core.limits import Limits
from blanketflow.core.table import Column, Table
from blanketflow.data.simulate.near_parity import near_parity
from blanketflow.data.simulate.network import DiscreteNetwork, node
from blanketflow.moves.forward import BLOCK, n_sets
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors.causal.gs import GSM
from blanketflow.selectors.compatibility import check_pair
from known_sets import TARGET, KnownSets, admissions, arbitrary_answers, blanket, gs_m, run, zeros
from literal import KnownTest

NAMES = list("abcdef")
ALPHA = 0.05


CASES = given(
    seed=st.integers(0, 10**6),
    share=st.sampled_from([0.03, 0.1, 0.3, 0.7]),
    n=st.integers(1, 6),
    m=st.integers(1, 4),
    max_k=st.none() | st.integers(0, 4),
    correction=st.sampled_from(["bonferroni", "none"]),
)


@settings(max_examples=15)
@CASES
def test_it_is_algorithm_1(seed, share, n, m, max_k, correction):
    check_algorithm_1(seed, share, n, m, max_k, correction)


@pytest.mark.extended
@settings(max_examples=80)
@CASES
def test_it_is_algorithm_1_in_more_cases(seed, share, n, m, max_k, correction):
    check_algorithm_1(seed, share, n, m, max_k, correction)


def check_algorithm_1(seed, share, n, m, max_k, correction):
    answer = arbitrary_answers(seed, share)
    method = GSM(alpha=ALPHA, m=m, max_k=max_k, correction=correction)
    outcome = run(method, KnownSets(answer=answer), NAMES[:n])
    wanted_admissions, wanted = gs_m(answer, NAMES[:n], m, ALPHA, correction, max_k)
    assert admissions(outcome) == wanted_admissions
    assert blanket(outcome) == wanted


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("max_k", [0, 1, 2, 3])
def test_no_test_is_given_more_than_max_k_columns_with_the_other_members_of_its_set(m, max_k):
    engines = []

    class Watched(KnownSets):
        __module__ = "blanketflow.ci"  # works in the process of the search, which sees what it notes

        def prepare(self, *arguments):
            engines.append(super().prepare(*arguments))
            return engines[-1]

    outcome = run(GSM(m=m, max_k=max_k), Watched(answer=lambda x, given: (1e-9, len(x))), NAMES)
    assert len(outcome.candidates) == max_k + 1
    assert max(len(given) + len(x) - 1 for engine in engines for x, given in engine.asked) <= max_k


def test_bonferroni_counts_the_sets_outside():
    assert [n_sets(5, m) for m in (1, 2, 3, 5)] == [5, 15, 25, 31]
    asked = {("ab", ""): 0.049 / 21, ("c", "ab"): 0.049 / 10}  # 6 + 15 sets of six, 4 + 6 of the four others

    def answer(x, given):
        return asked.get(("".join(sorted(x)), "".join(sorted(given))), 0.9), 1.0

    assert [s.feature for s in run(GSM(m=2), KnownSets(answer=answer), NAMES).grown] == ["a", "b", "c"]
    asked["ab", ""] = 0.051 / 21
    assert run(GSM(m=2), KnownSets(answer=answer), NAMES).grown == []
    assert [s.feature for s in run(GSM(m=2, correction="none"), KnownSets(answer=answer), NAMES).grown] == list("abc")


@pytest.mark.extended
def test_a_scan_of_noise_admits_anything_at_most_at_rate_alpha():
    rng, n_admitted, n_tables = np.random.default_rng(0), 0, 150
    for _ in range(n_tables):
        X = (rng.random((400, 11)) < rng.uniform(0.2, 0.8, 11)).astype(float)
        n_admitted += bf.GSM(m=2).fit(X[:, 1:], X[:, 0].astype(int)).candidates_ != []
    assert n_admitted <= stats.binom.ppf(0.999, n_tables, ALPHA)


@pytest.mark.parametrize(("noise", "bit_probability"), [(0.0, 0.5), (0.1, 0.5), (0.3, 0.5)])
def test_a_parity_of_four_bits_needs_m_3(noise, bit_probability):
    network = near_parity(8, noise, bit_probability, seed=1)
    for m, wanted in ((1, set()), (2, set()), (3, {"x2", "x3", "x4"}), (4, {"x2", "x3", "x4"})):
        assert population_blanket(network, "x1", m) == wanted
    # Among the bits the relation is symmetric: without noise each is the parity of the others.
    assert population_blanket(network, "x3", 3) == {"x1", "x2", "x4"}


def population_blanket(network, target, m):
    table = network.sample(1, seed=0)
    features = table.select([name for name in table.names if name != target])
    test = bf.get_ci_test("population", network=network)
    return blanket(run_fold(GSM(m=m), test, features, table[target], 0))


def random_network(rng):
    """Five or six nodes of two or three levels: fair coins, copies of a parent, parities of the parents, anything."""
    names = [f"v{i}" for i in range(rng.integers(5, 7))]
    nodes = {}
    for i, name in enumerate(names):
        parents = [other for other in names[:i] if rng.random() < 0.5][-3:]
        sizes = [len(nodes[parent].levels) for parent in parents]
        kind = rng.choice(["anything", "copy", "parity", "parity"] if parents else ["anything", "coin", "coin"])
        if kind == "copy":
            table = np.broadcast_to(np.eye(sizes[-1]), (*sizes, sizes[-1]))
        elif kind == "parity":
            table = np.eye(2)[np.indices(sizes).sum(axis=0) % 2]
        elif kind == "coin":
            table = np.array([0.5, 0.5])
        else:
            table = rng.dirichlet(np.ones(rng.integers(2, 4)), size=sizes or None)
        nodes[name] = node([str(level) for level in range(table.shape[-1])], parents, table=table)
    return DiscreteNetwork("random", nodes)


def test_it_returns_an_m_markov_boundary_in_any_distribution():
    """Definition 3: T is outside the boundary if and only if the target is independent of T given the rest of it."""
    rng, n_larger = np.random.default_rng(0), 0
    for _ in range(10):
        network = random_network(rng)
        bound = bf.get_ci_test("population", network=network).bind(network.sample(1, seed=0))
        for target, m in itertools.product(network.nodes, (1, 2, 3)):
            features = [name for name in network.nodes if name != target]
            S = population_blanket(network, target, m)
            n_larger += len(S) > len(population_blanket(network, target, 1))
            for size in range(1, m + 1):
                for T in itertools.combinations(features, size):
                    is_independent = bound.test(T, target, S - set(T)).p_value > ALPHA
                    assert S.isdisjoint(T) == is_independent, (network, target, m, T)
    assert n_larger > 5  # there were distributions in which m matters


def test_it_returns_the_true_blanket_of_every_node_of_random_graphs():
    rng, nodes_seen, spouses_seen = random.Random(0), 0, 0
    for _ in range(30):
        names = [f"v{i}" for i in range(rng.randint(4, 10))]
        density = rng.uniform(0.1, 0.5)
        arcs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if rng.random() < density]
        dag, test = DAG(arcs, nodes=names), bf.get_ci_test("oracle", arcs=arcs)
        for target, m in itertools.product(names, (1, 2, 3)):
            features = [name for name in names if name != target]
            rng.shuffle(features)
            found = run_fold(GSM(m=m), test, zeros(features), Column(target, "numeric", np.zeros(2)), 0)
            assert sorted(blanket(found)) == dag.markov_blanket(target)["blanket"]
            nodes_seen += 1
            spouses_seen += len(dag.spouses(target)) > 0
    assert nodes_seen > 500 and spouses_seen > 100


def test_a_test_of_single_columns_is_refused_with_a_way_out_unless_m_is_1():
    test = KnownTest(answer=lambda x, y, given: 1e-9 if x == "b" and not given else 0.9)
    with pytest.raises(UnsupportedError, match=r"known tests one column at a time, but m = 2.*Set m: 1.*column_sets"):
        run(GSM(m=2), test, NAMES)
    with pytest.raises(UnsupportedError, match=r"gs-m needs a test of sets of columns.*known tests one.*or m: 1"):
        check_pair(GSM(m=2), test)
    check_pair(GSM(m=1), test)
    assert blanket(run(GSM(m=1), test, NAMES)) == {"b"}


def test_a_budget_leaves_what_was_admitted():
    def answer(x, given):
        return (1e-9 if x == {"a", "c"} or (len(x) == 1 and x < {"a", "c"} and given) else 0.9), 1.0

    test = KnownSets(answer=answer)
    # Marginal tests are free; 15 pairs; then 4 singles and 6 pairs given a and c; shrinking has a budget of its own.
    for max_tests, status in ((14, "timeout"), (15, "timeout"), (18, "timeout"), (24, "timeout"), (25, "ok")):
        outcome = run(GSM(m=2), test, NAMES, limits=Limits(max_tests=max_tests))
        assert outcome.status == status
        assert ("grow stopped: the test budget" in outcome.reason) is (status == "timeout")
        assert [s.feature for s in outcome.candidates] == ([] if max_tests < 15 else ["a", "c"])
        assert blanket(outcome) == (set() if max_tests < 15 else {"a", "c"})


def test_a_limit_strikes_between_blocks_of_a_scan():
    names = [f"v{i}" for i in range(95)]
    assert BLOCK < len(names) * (len(names) - 1) // 2 < 2 * BLOCK
    test = KnownSets(answer=lambda x, given: (0.9, 1.0))
    outcome = run(GSM(m=2), test, names, limits=Limits(max_tests=BLOCK))
    assert (outcome.status, outcome.n_tests) == ("timeout", BLOCK + len(names))
    assert run(GSM(m=2), test, names).status == "ok"


def test_near_parity_is_found_in_data():
    table = near_parity(12, seed=3).sample(1000, seed=3)
    X = table.select(table.names[1:])
    for test in ("g2", "chi2"):
        assert blanket(run_fold(GSM(m=3), bf.get_ci_test(test), X, table["x1"], 0)) == {"x2", "x3", "x4"}
    assert blanket(run_fold(GSM(m=1), bf.get_ci_test("g2"), X, table["x1"], 0)) == set()


def test_numbers_are_tested_in_sets_too():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 2000))
    X = np.column_stack([rng.normal(size=(2000, 2)), a, b])
    y = (a * b > 0).astype(int)
    assert sorted(bf.GSM(ci_test="g2", m=2).fit(X, y).selected_features_) == ["x2", "x3"]
    assert bf.GSM(ci_test="g2", m=1).fit(X, y).selected_features_ == []


def test_a_table_of_one_feature():
    X = Table([Column("a", "integer", np.arange(200) % 2)])
    y = Column(TARGET, "integer", np.arange(200) % 2)
    assert blanket(run_fold(GSM(m=3), bf.get_ci_test("g2"), X, y, 0)) == {"a"}
    with pytest.raises(ParameterError, match="m is 0"):
        bf.GSM(m=0).fit(np.eye(4), np.arange(4) % 2)
