"""Columns with the same information: of two copies, or of three columns of which two say all, none loses all."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

import blanketflow as bf
from blanketflow.ci import get_ci_test
from blanketflow.core.registry import discover
from blanketflow.core.table import Column, Table
from blanketflow.data.simulate.network import DiscreteNetwork, DiscreteNode
from blanketflow.moves.equivalent_information import equivalents, leans_on
from blanketflow.search.run_fold import run_problem
from blanketflow.selectors.base import Problem
from blanketflow.selectors.causal import iamb, neighbours_and_spouses
from random_networks import random_dag, random_discrete
from test_methods_on_the_oracle import EXACT_NEIGHBOURS, PROVED, limit, random_answers

CAUSAL = sorted(name for name, m in discover("blanketflow.selectors").items() if m.card.family == "causal")
METHODS = {name: method for name, method in discover("blanketflow.selectors").items() if name in CAUSAL}
#: What finds a Markov boundary whatever has the same information, and what finds a blanket.
BOUNDARY = ["stmb", "gs", "iamb", "inter-iamb", "fast-iamb", "kiamb"]
BLANKET = ["iamb-npc", "inter-iamb-npc", "hiton-mb", "mmmb", "pcmb", "ipc-mb"]


def numbers(rng, n, correlation):
    a, other, b, noise, e = rng.normal(size=(5, n))
    near = correlation * a + np.sqrt(1 - correlation**2) * other
    return pd.DataFrame({"a": a, "near": 1.8 * near + 32, "b": b, "noise": noise, "y": a + b + 0.3 * e})


def labels(rng, n, names):
    code, b, noise = rng.integers(0, 4, n), rng.integers(0, 3, n), rng.integers(0, 3, n)
    chance = 1 / (1 + np.exp(-(4.4 * (code >= 2) - 3.2 + b)))
    columns = {"a": code, "near": np.array(names)[code], "b": b, "noise": noise, "y": rng.random(n) < chance}
    return pd.DataFrame(columns).astype(str)


def sums(rng, n):
    x, w, b, noise, e = rng.normal(size=(5, n))
    return pd.DataFrame({"x": x, "w": w, "z": x + w, "b": b, "noise": noise, "y": 2 * x - w + b + 0.5 * e})


#: By name of a kind of table: the table, columns with the same information, how many of them say it all, and a test.
TABLES = {
    "other unit": (lambda rng: numbers(rng, 300, 1.0), {"a", "near"}, 1, "fisher-z"),
    "near copy": (lambda rng: numbers(rng, 300, 0.9996), {"a", "near"}, 1, "fisher-z"),
    "noisy copy": (lambda rng: numbers(rng, 300, 0.98), {"a", "near"}, 1, "fisher-z"),
    "other labels": (lambda rng: labels(rng, 300, ["w", "z", "x", "y"]), {"a", "near"}, 1, "g2"),
    "merged labels": (lambda rng: labels(rng, 300, ["low", "low", "high", "high"]), {"a", "near"}, 1, "g2"),
    "sum": (lambda rng: sums(rng, 300), {"x", "w", "z"}, 2, "fisher-z"),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", CAUSAL)
def test_no_search_loses_all_columns_that_say_the_same(name, kind):
    draw, same, enough, test = TABLES[kind]
    options = {} if METHODS[name].default_test == "ppi" else {"ci_test": test}
    for seed in range(3):
        table = draw(np.random.default_rng(seed))
        found = bf.get_selector(name, **options).fit(table.drop(columns="y"), table["y"]).selected_features_
        assert len(same.intersection(found)) >= enough, (seed, found)


@pytest.mark.parametrize(
    "options",
    [
        {"symmetry": "or"},
        {"symmetry": "none"},
        {"correction": "bh"},
        {"tiers": [["a"], ["near"]]},
        {"tiers": [["near", "b"], ["a"]]},
        {"feature_groups": {"both": ["b", "noise"]}},
        {"include": ["near"]},
        {"include": ["a"]},
        {"max_k": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", sorted({*EXACT_NEIGHBOURS, "stmb", "hiton-mb", "mmmb", "pcmb", "ipc-mb"}))
def test_nor_does_it_with_any_option(name, options):
    if not METHODS[name].parameters().keys() >= options.keys() - {"tiers", "feature_groups", "include"}:
        pytest.skip(f"{name} has no such option")
    table = numbers(np.random.default_rng(0), 300, 1.0)
    found = bf.get_selector(name, ci_test="fisher-z", **options).fit(table.drop(columns="y"), table["y"])
    assert {"a", "near"}.intersection(found.selected_features_)
    assert {"a", "near"} - set(found.selected_features_) or "include" in options


def with_copies(network, rng):
    """Two nodes get a child with the same information, its levels renamed."""
    nodes = dict(network.nodes)
    for i, of in enumerate(rng.choice(list(network.nodes), 2, replace=False).tolist()):
        n_levels = len(nodes[of].levels)
        nodes[f"copy{i}"] = DiscreteNode(nodes[of].levels, (of,), np.eye(n_levels)[rng.permutation(n_levels)])
    return DiscreteNetwork("copies", nodes)


def with_functions_of_parents(network, rng):
    """Two nodes that have parents become functions of them."""
    nodes = dict(network.nodes)
    for of in rng.choice([name for name, node in nodes.items() if node.parents], 2, replace=False).tolist():
        node = nodes[of]
        values = rng.integers(0, len(node.levels), node.cpt.shape[:-1])
        nodes[of] = DiscreteNode(node.levels, node.parents, np.eye(len(node.levels))[values])
    return DiscreteNetwork("functions", nodes)


def with_functions_of_two(network, rng):
    """Two new nodes say something of two others each, whether these are related or not."""
    nodes = dict(network.nodes)
    for i in range(2):
        parents = rng.choice(list(network.nodes), 2, replace=False).tolist()
        values = rng.integers(0, 2, [len(nodes[parent].levels) for parent in parents])
        nodes[f"function{i}"] = DiscreteNode(("0", "1"), tuple(parents), np.eye(2)[values])
    return DiscreteNetwork("functions", nodes)


class Population:
    """The answers of methods by the exact joint distribution of a network, whose columns come in random order."""

    def __init__(self, seed, change):
        rng = np.random.default_rng([seed, 7])
        network = random_discrete(random_dag(6, seed), seed, arity=(2, 3))
        self.dag, self.network = network.dag(), change(network, rng)
        self.names = rng.permutation(list(self.network.nodes)).tolist()
        self.table = Table([Column(name, "numeric", np.zeros(2)) for name in self.names])
        self.bound = get_ci_test("population", network=self.network).bind(self.table)
        self.shared = {}

    def kept(self, name, target):
        features = [other for other in self.names if other != target]
        marginal = self.bound.test_many(features, target)
        problem = Problem(features, target, marginal, 0, lambda: self.table, lambda _: self.bound, shared=self.shared)
        options = {"max_k": None} if "max_k" in METHODS[name].parameters() else {}
        if name == "kiamb":
            options |= {"n_runs": 2, "k": 0.5}
        return {step.feature for step in run_problem(METHODS[name](**options), problem).decisions if step.kept}

    def is_blanket(self, target, found):
        rest = [name for name in self.names if name != target and name not in found]
        return not rest or self.bound.test(rest, target, given=sorted(found)).p_value == 1.0

    def is_minimal(self, target, found):
        return all(self.bound.test(x, target, given=sorted(found - {x})).p_value < 0.5 for x in found)


SEEDS = [range(8), pytest.param(range(8, 80), marks=pytest.mark.extended)]
#: Columns that are functions of others can hide neighbours and spouses: the share of answers that are no blanket then.
FEW, IN_A_FEW_NETWORKS = 0.02, 0.05


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.parametrize("change", [with_copies, with_functions_of_parents, with_functions_of_two])
def test_markov_boundaries_where_columns_say_the_same(change, seeds):
    wrong = []
    for seed in seeds:
        population = Population(seed, change)
        for name in BOUNDARY:
            for target in population.names:
                found = population.kept(name, target)
                if not (population.is_blanket(target, found) and population.is_minimal(target, found)):
                    wrong.append((seed, name, target, sorted(found)))
    assert wrong == []


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.parametrize("change", [with_copies, with_functions_of_parents, with_functions_of_two])
def test_markov_blankets_where_columns_say_the_same(change, seeds):
    wrong, n_cases = [], 0
    for seed in seeds:
        population = Population(seed, change)
        for name in BLANKET:
            for target in population.names:
                found = population.kept(name, target)
                n_cases += 1
                if not population.is_blanket(target, found):
                    wrong.append((seed, name, target, sorted(found)))
    share = IN_A_FEW_NETWORKS if len(seeds) < 20 else FEW
    assert len(wrong) <= (0 if change is with_copies else share * n_cases), wrong


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.parametrize("name", sorted(EXACT_NEIGHBOURS))
def test_one_of_each_copies_is_among_parents_and_children(name, seeds):
    for seed in seeds:
        population = Population(seed, with_copies)
        of = {copy: node.parents[0] for copy, node in population.network.nodes.items() if copy.startswith("copy")}
        for target in population.dag.nodes:
            if target in of.values():
                continue  # its parents and children are its copies
            found = [of.get(feature, feature) for feature in population.kept(name, target)]
            assert sorted(found) == sorted(population.dag.parents_and_children(target)), (seed, target)


@pytest.mark.parametrize(
    "seeds", [range(2000, 2004), pytest.param(range(2004, 2060), marks=pytest.mark.extended)], ids=str
)
def test_d_separation_knows_no_columns_that_say_the_same(seeds, monkeypatch):
    asked = []

    def recorded(test, feature, target, *others, **named):
        asked.append((equivalents(test, feature, target, *others, **named), feature, target))
        return asked[-1][0]

    for module in (neighbours_and_spouses, iamb):
        monkeypatch.setattr(module, "equivalents", recorded)
    for seed in seeds:
        answers = random_answers(seed, most_nodes=15)
        for name in PROVED:
            for target in answers.dag.nodes:
                answers.kept(name, target, max_k=limit(name, answers.dag))
    assert asked
    assert [found for found, *_ in asked if found] == []


@pytest.mark.parametrize("name", ["hiton-mb", "mmmb", "pcmb", "ipc-mb"])
def test_members_do_not_remove_each_other_through_columns_that_they_removed(name):
    # Sizes and shapes of cells: ten columns each, of which each set separates a column of the other from the target.
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    for blanket in bf.get_selector(name, ci_test="fisher-z", n_folds=3).fit(X, y).blankets_:
        words = " ".join(blanket)
        assert any(size in words for size in ("radius", "perimeter", "area"))
        assert any(shape in words for shape in ("concavity", "concave points", "compactness"))


def test_columns_lean_on_each_other_through_others():
    separating_sets = {"b": ["a"], "c": ["b", "x"], "d": [], "e": ["f"], "f": ["e"]}
    assert leans_on(["b"], "a", separating_sets)
    assert leans_on(["d", "c"], "a", separating_sets)
    assert not leans_on(["d", "x"], "a", separating_sets)
    assert not leans_on(["e"], "a", separating_sets)  # a cycle ends
    assert not leans_on(["c"], "a", separating_sets, staying=["b"])


def test_several_columns_can_say_together_what_a_feature_says():
    # y is a, and a is one of the two halves u and v; each half alone says less.
    rng = np.random.default_rng(0)
    u, v, e = rng.normal(size=(3, 500))
    columns = np.column_stack([u + v, u, v, u + v + e])
    bound = get_ci_test("fisher-z").bind(columns)
    removed = {"x1": ["x0"], "x2": ["x0"]}
    assert equivalents(bound, "x0", "x3", ["x1", "x2"], removed, 0.05) == {"x1", "x2"}
    assert equivalents(bound, "x0", "x3", ["x1", "x2"], {"x1": [], "x2": []}, 0.05) == frozenset()
