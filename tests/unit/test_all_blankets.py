"""`blanketflow.blankets`: every column's blanket, with what is shared between the targets."""

import warnings

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core.errors import ParameterError, UnknownNameError, UnsupportedError
from blanketflow.core.registry import discover
from blanketflow.data.simulate import NETWORKS, read_network
from blanketflow.selectors.causal.iamb import IAMB
from blanketflow.selectors.references import All
from random_networks import random_dag, random_discrete

CAUSAL = [name for name, method in discover("blanketflow.selectors").items() if method.card.family == "causal"]


def sample(n_rows=800, seed=3):
    table = random_discrete(random_dag(8, seed, degree=2.5), seed, concentration=0.5).sample(n_rows, seed)
    return pd.DataFrame({c.name: np.array(c.levels)[c.values] for c in table.columns})


@pytest.mark.parametrize("name", [name for name in CAUSAL if name not in ("ppfs", "srs")])
def test_each_blanket_is_what_the_selector_finds_alone(name):
    X = sample()
    options = {"kiamb": {"n_runs": 2}, "koller-sahami": {"n_features": 3}}.get(name, {})
    own = discover("blanketflow.selectors")[name].default_test
    options["ci_test"] = {"auto": "g2"}.get(own, own)  # auto may take one test for a target, another for all
    found = bf.blankets(X, method=name, **options)
    assert list(found) == list(X)
    for target in X:
        alone = bf.get_selector(name, **options).fit(X.drop(columns=target), X[target])
        assert set(found[target]) == set(alone.selected_features_), target
        assert found.statuses[target] == (alone.status_, alone.reason_)


@pytest.mark.parametrize("name", ["hiton-mb", "pc-simple", "stmb", "iamb"])
def test_each_search_says_what_it_could_not_test_also_where_another_made_its_tests(name):
    X = sample(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = {t: bf.get_selector(name, ci_test="g2").fit(X.drop(columns=t), X[t]).status_ for t in X}
    found = bf.blankets(X, method=name, ci_test="g2")
    assert {target: status for target, (status, _) in found.statuses.items()} == alone
    assert set(alone.values()) == {"ok", "unreliable"}


def test_tests_and_searches_are_shared_between_targets():
    X = sample()
    for name in ("hiton-mb", "gs"):
        together = bf.blankets(X, method=name, ci_test="g2")
        alone = sum(bf.blankets(X, method=name, ci_test="g2", targets=[target]).n_tests for target in X)
        assert together.n_tests < 0.85 * alone
        for target in X:
            assert bf.blankets(X, method=name, ci_test="g2", targets=[target])[target] == together[target]


def test_the_oracle_gives_the_moral_graph():
    network = NETWORKS["clinic"].network
    dag = network.dag()
    X = pd.DataFrame(np.zeros((2, len(dag.nodes))), columns=dag.nodes)
    found = bf.blankets(X, method="mmmb", ci_test=bf.get_ci_test("oracle", arcs=dag.arcs), max_k=None)
    assert {target: sorted(found[target]) for target in found} == {
        node: dag.markov_blanket(node)["blanket"] for node in dag.nodes
    }
    edges = found.graph()
    arcs = {frozenset(arc) for arc in dag.arcs}
    assert {frozenset(edge) for edge in edges.query("kind == 'neighbours'")[["x", "y"]].to_numpy()} == arcs
    spouses = {frozenset((node, other)) for node in dag.nodes for other in dag.spouses(node)}
    assert {frozenset(edge) for edge in edges.query("kind == 'spouses'")[["x", "y"]].to_numpy()} == spouses
    assert len(edges) == len(arcs) + len(spouses)
    rows = found.frame()
    assert set(rows["role"]) == {"parent_or_child", "spouse"}
    assert len(rows) == sum(len(found[target]) for target in found)
    pd.testing.assert_frame_equal(edges, found.graph(symmetry="or"))


def test_the_graph_asks_both_sides_or_either():
    X = sample(150)
    found = bf.blankets(X, method="iamb", alpha=0.2)
    pairs = {(target, member) for target in found for member in found[target]}
    both = {frozenset(pair) for pair in pairs if pair[::-1] in pairs}
    either = {frozenset(pair) for pair in pairs}
    assert both < either  # this sample has pairs of which one side alone is sure
    assert {frozenset(edge) for edge in found.graph()[["x", "y"]].to_numpy()} == both
    assert {frozenset(edge) for edge in found.graph(symmetry="or")[["x", "y"]].to_numpy()} == either
    assert set(found.graph(symmetry="or")["kind"]) == {"members"}
    with pytest.raises(ParameterError, match="symmetry is 'xor'"):
        found.graph(symmetry="xor")


def test_limits_strike_target_by_target():
    X = sample()
    stopped = bf.blankets(X, method="gs", max_tests=3)
    assert {status for status, _ in stopped.statuses.values()} <= {"ok", "timeout"}
    assert "timeout" in {status for status, _ in stopped.statuses.values()} and len(stopped) == X.shape[1]
    failed = bf.blankets(X, method="hiton-mb", max_tests=3)
    lost = [target for target, (status, _) in failed.statuses.items() if status == "timeout"]
    assert lost and set(lost).isdisjoint(failed.found)
    assert "test budget of 3" in failed.statuses[lost[0]][1]


def test_configured_methods_and_wrong_names():
    X = sample()
    assert bf.blankets(X, method=IAMB(alpha=0.01)).to_dict() == bf.blankets(X, "iamb", alpha=0.01).to_dict()
    with pytest.raises(ParameterError, match="to the method itself"):
        bf.blankets(X, method=IAMB(), alpha=0.01)
    with pytest.raises(UnknownNameError, match="Did you mean 'iamb'"):
        bf.blankets(X, method="iamx")
    with pytest.raises(ParameterError, match="no option 'alhpa'"):
        bf.blankets(X, method="iamb", alhpa=0.1)
    for no_search in ("all", All()):
        with pytest.raises(UnsupportedError, match="uses no CI test"):
            bf.blankets(X, method=no_search)
    with pytest.raises(UnknownNameError, match="no column"):
        bf.blankets(X, targets=["nobody"])
    with pytest.raises(UnsupportedError, match="fisher-z takes"):
        bf.blankets(X.assign(text=list("abcd") * 200), ci_test="fisher-z")


@pytest.mark.parametrize("name", ["hiton-mb", "pcmb", "mmpc", "iamb"])
def test_processes_find_the_same_by_the_same_tests(name):
    table = read_network("alarm").sample(500, seed=1)
    half = table.names[:20]
    for targets in (None, half):
        alone, *together = (bf.blankets(table, name, "g2", targets=targets, n_jobs=n) for n in (1, 2, 3))
        for found in together:
            assert list(found) == list(alone) and found.statuses == alone.statuses
            assert found.found == alone.found
            assert found.n_tests == alone.n_tests


@pytest.mark.parametrize("name", [name for name in CAUSAL if name not in ("ppfs", "srs")])
def test_the_number_of_tests_does_not_depend_on_processes(name):
    X = sample(200)
    options = {"kiamb": {"n_runs": 2}, "koller-sahami": {"n_features": 3}}.get(name, {})
    n_tests = {n: bf.blankets(X, name, n_jobs=n, **options).n_tests for n in (1, 2, 3)}
    assert len(set(n_tests.values())) == 1, n_tests


def test_one_way_tests_are_counted_by_direction():
    X = sample(100).iloc[:, :4]
    alone, together = (bf.blankets(X, "iamb", bf.get_ci_test("ppi", n_repeats=5), n_jobs=n) for n in (1, 2))
    assert together.n_tests == alone.n_tests


def test_processes_count_each_different_test_once():
    bound = [bf.get_ci_test("g2").bind(sample()) for _ in range(2)]
    bound[0].test_many(["x2", "x3"], "x1")
    bound[1].test_many(["x1", "x3"], "x2")
    bound[1].test("x1", "x2", ["x3"])
    marginal = bound[0].test_many(["x2", "x3"], "x1")
    bound[1].remember(["x2", "x3"], "x1", marginal)
    bound[1].mutual_information(np.array([0]), 1)
    asked = [one.asked() for one in bound]
    assert [n_apart for n_apart, _ in asked] == [0, 1]  # only tests that are not cached
    keys = [set(keys.tolist()) for _, keys in asked]
    assert [len(own) for own in keys] == [2, 4]
    assert keys[0] < keys[1]


def test_processes_search_from_groups_of_features_too():
    X = sample()
    groups = {"site": list(X.columns[1:3])}
    alone, together = (bf.blankets(X, "hiton-mb", "g2", feature_groups=groups, n_jobs=n) for n in (1, 2))
    assert together.found == alone.found and together.statuses == alone.statuses
    assert together.n_tests == alone.n_tests
    assert any(set(groups["site"]) <= set(alone[target]) for target in alone)
