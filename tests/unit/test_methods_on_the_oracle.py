"""What the cards of causal methods claim, proved with the d-separation oracle on known and random graphs."""

import functools

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.ci import get_ci_test
from blanketflow.core.cards import FURTHER_KINDS
from blanketflow.core.graph import DAG
from blanketflow.core.registry import discover
from blanketflow.core.table import Column, Table
from blanketflow.data.simulate.network_files import find_network, read_network
from blanketflow.search.run_fold import run_problem
from blanketflow.selectors.base import Problem
from random_networks import random_dag

METHODS = {name: method for name, method in discover("blanketflow.selectors").items() if method.card.family == "causal"}
#: What a causal method's card may claim, by its first words.
CLAIMS = {
    "exact Markov blanket": "blanket",
    "each run an exact Markov blanket": "blanket",
    "exact parents and children": "neighbours",
    "superset of the Markov blanket": "superset",
    "all Markov boundaries": "all boundaries",
    "none": "nothing",
}


def claim(name):
    """Return what a method's card claims; None if that is none of `CLAIMS`."""
    return next((claimed for start, claimed in CLAIMS.items() if METHODS[name].card.guarantee.startswith(start)), None)


EXACT_BLANKET = {name for name in METHODS if claim(name) == "blanket"}
EXACT_NEIGHBOURS = {name for name in METHODS if claim(name) == "neighbours"}
PROVED = sorted(name for name in METHODS if claim(name) not in ("nothing", None))
#: Methods that search the whole graph by subsets: see `limit`.
BY_SUBSETS = EXACT_NEIGHBOURS | {"pcmb", "mmmb", "hiton-mb", "ipc-mb", "res"}
#: What keeps a method cheap without changing what it claims.
OPTIONS = {"kiamb": {"n_runs": 2, "k": 0.5}, "gs-m": {"m": 1}}
#: Nodes with more parents and children are left out: the subset search is exponential there.
MOST_NEIGHBOURS = 12
NETWORKS = ["asia", "cancer", "earthquake", "survey", "sachs", "child"]
LARGE_NETWORKS = ["alarm", "insurance", "water", "mildew", "hailfinder", "win95pts", "barley"]
#: Networks on which subset searches take as long as on all others together; the other methods are proved on them.
TOO_DENSE = {"barley"}


@functools.lru_cache(maxsize=8)
def oracle(dag):
    """Return the oracle of a graph, which remembers its answers for all methods that search the same columns."""
    test, bound = get_ci_test("oracle", arcs=dag.arcs), {}
    bind = test.bind

    def remembered(table, *, target, **named):
        key = target, *table.names
        if key not in bound:
            bound[key] = bind(table, target=target, **named)
        return bound[key]

    test.bind = remembered
    return test


class Answers:
    """The blankets that methods find for the nodes of a graph, on one memory of oracle answers."""

    def __init__(self, dag):
        self.dag = dag
        table = Table([Column(name, "numeric", np.zeros(2)) for name in dag.nodes])
        self.bound = get_ci_test("oracle", arcs=dag.arcs).bind(table)
        self.shared = {}

    def outcome(self, name, target, **options):
        features = [node for node in self.dag.nodes if node != target]
        marginal = self.bound.test_many(features, target)
        bound = self.bound
        problem = Problem(features, target, marginal, 0, lambda: bound.table, lambda _: bound, shared=self.shared)
        if "max_k" not in METHODS[name].parameters():
            options.pop("max_k", None)
        return run_problem(METHODS[name](**{**OPTIONS.get(name, {}), **options}), problem)

    def kept(self, name, target, **options):
        return {step.feature for step in self.outcome(name, target, **options).decisions if step.kept}

    def failures(self, name, max_k):
        """Return (method, target, found, wanted) where a method breaks its card's promise."""
        found = []
        for target in self.dag.nodes:
            neighbours = set(self.dag.parents_and_children(target))
            if len(neighbours) > MOST_NEIGHBOURS:
                continue
            kept = self.kept(name, target, max_k=max_k)
            blanket = set(self.dag.markov_blanket(target)["blanket"])
            wanted = neighbours if name in EXACT_NEIGHBOURS else blanket
            right = kept >= wanted if claim(name) == "superset" else kept == wanted
            if not right:
                found.append((name, target, sorted(kept), sorted(wanted)))
        return found


def most_parents(dag):
    return max(len(dag.parents(node)) for node in dag.nodes)


def limit(name, dag):
    """Return the largest conditioning set that a proof needs.

    Of two nodes that are no neighbours, the parents of one separate them, so that a search of the whole graph needs no
    larger sets. Methods that condition on all members, or search a part of the graph, have no limit: a new method is
    proved without one.
    """
    if name == "stmb":
        return 2  # its last two passes condition on everything: whatever was not separated before leaves there
    return most_parents(dag) if name in BY_SUBSETS else None


def graph(*arcs):
    return Answers(DAG([tuple(arc.split("-")) for arc in arcs]))


def test_every_causal_method_claims_what_is_proved_here():
    assert [name for name in METHODS if claim(name) is None] == []
    # A card that claims less than these would take the method out of the proofs below.
    assert {
        *("gs", "gs-m", "iamb", "inter-iamb", "fast-iamb", "kiamb", "iamb-npc", "inter-iamb-npc"),
        *("pcmb", "mmmb", "hiton-mb", "ipc-mb", "stmb", "mixed-mb"),
    } <= EXACT_BLANKET
    assert {"mmpc", "hiton-pc", "si-hiton-pc", "pc-simple"} <= EXACT_NEIGHBOURS
    assert (claim("res"), claim("tie-star")) == ("superset", "all boundaries")


@pytest.mark.parametrize(
    "source", [*NETWORKS, *(pytest.param(source, marks=pytest.mark.extended) for source in LARGE_NETWORKS)]
)
def test_on_every_node_of_known_networks(source):
    pytest.importorskip("pgmpy", reason="the networks' files come with pgmpy: pip install 'blanketflow[networks]'")
    answers = Answers(read_network(find_network(source)).dag())
    proved = [name for name in PROVED if source not in TOO_DENSE or name not in BY_SUBSETS]
    failures = [failure for name in proved for failure in answers.failures(name, limit(name, answers.dag))]
    assert failures == []


def random_answers(seed, most_nodes=25):
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(10, most_nodes + 1))
    return Answers(random_dag(n_nodes, seed, degree=float(rng.uniform(1.0, 2.2)), max_degree=MOST_NEIGHBOURS))


@pytest.mark.parametrize(
    ("block", "most_nodes"), [(0, 15), *(pytest.param(block, 25, marks=pytest.mark.extended) for block in range(20))]
)
def test_on_every_node_of_random_graphs(block, most_nodes):
    failures = []
    for seed in range(10 * block, 10 * block + 10):
        answers = random_answers(seed, most_nodes)
        for name in PROVED:
            failures += [(seed, *failure) for failure in answers.failures(name, limit(name, answers.dag))]
    assert failures == []


@pytest.mark.parametrize(
    "seeds", [range(1000, 1003), pytest.param(range(1003, 1025), marks=pytest.mark.extended)], ids=str
)
def test_without_a_limit_on_conditioning_sets(seeds):
    failures = []
    for seed in seeds:
        answers = Answers(random_dag(10, seed, degree=3.0))
        failures += [(seed, *failure) for name in PROVED for failure in answers.failures(name, None)]
    assert failures == []


def drawn(kind, name, rng):
    """Return cells of a target of a further kind, which the oracle does not read."""
    cells = {
        "survival": {name: rng.exponential(size=40), "event": rng.random(40) < 0.5},
        "count": {name: rng.poisson(3, 40), "exposure": rng.uniform(1, 2, 40)},
        "ordered": {name: np.arange(40) % 3},
        "share": {name: rng.random(40)},
        "positive": {name: rng.exponential(size=40)},
    }
    return cells[kind]


@pytest.mark.parametrize("kind", FURTHER_KINDS)
def test_a_target_of_any_kind_has_the_blanket_of_its_node(kind):
    rng, dag = np.random.default_rng(0), random_dag(12, 7, degree=2.0)
    frame, failures = pd.DataFrame(rng.normal(size=(40, 12)), columns=dag.nodes), []
    for name in sorted(EXACT_BLANKET):
        for node in dag.nodes:
            selector = bf.get_selector(name, ci_test=get_ci_test("oracle", arcs=dag.arcs), target_kind=kind)
            found = selector.fit(frame.drop(columns=node), drawn(kind, node, rng))
            assert found.task_ == kind
            if set(found.selected_features_) != set(dag.markov_blanket(node)["blanket"]):
                failures.append((name, node, found.selected_features_))
    assert failures == []


@pytest.mark.parametrize("name", sorted(EXACT_NEIGHBOURS))
def test_without_symmetry_correction_descendants_stay(name):
    # 3 is a child of 1 and 2; 4 cannot be separated from it by subsets of what stays, but it can by its own search.
    answers = graph("5-1", "1-2", "4-2", "1-3", "2-3")
    assert answers.kept(name, "4", max_k=None, symmetry="none") == {"2", "3"}
    assert answers.kept(name, "4", max_k=None, symmetry="and") == {"2"}
    for seed in range(20):
        answers = random_answers(seed, most_nodes=15)
        for target in answers.dag.nodes:
            kept = answers.kept(name, target, max_k=most_parents(answers.dag), symmetry="none")
            assert kept >= set(answers.dag.parents_and_children(target))


def test_mmmb_without_symmetry_correction_is_wrong():
    answers = graph("5-1", "1-2", "4-2", "1-3", "2-3")
    blanket = set(answers.dag.markov_blanket("4")["blanket"])
    assert blanket == {"1", "2"}
    assert answers.kept("mmmb", "4", max_k=None, symmetry="none") > blanket
    assert answers.kept("mmmb", "4", max_k=None, symmetry="and") == blanket


@pytest.mark.parametrize("name", sorted(EXACT_BLANKET))
def test_the_repaired_methods_keep_the_spouse_that_literal_readings_lose(name):
    answers = graph("1-0", "5-0", "1-2", "3-2", "4-2", "1-3", "5-3", "0-4", "5-4")
    assert answers.kept(name, "1", max_k=None) == {"0", "2", "3", "4", "5"}


@pytest.mark.parametrize("name", ["iamb-npc", "inter-iamb-npc"])
def test_the_subset_variant_loses_marginally_independent_spouses(name):
    answers = graph("t-child", "spouse-child")
    assert answers.kept(name, "t") == {"child", "spouse"}
    assert answers.kept(name, "t", variant="subset") == {"child"}


@pytest.mark.parametrize("name", sorted(EXACT_BLANKET & {"pcmb", "mmmb", "hiton-mb", "ipc-mb", "stmb", "iamb-npc"}))
def test_roles_are_those_of_the_graph(name):
    answers = graph("cause-t", "t-effect", "other-effect", "far-cause", "effect-late")
    roles = {s.feature: s.role for s in answers.outcome(name, "t", max_k=None).decisions if s.kept}
    assert roles == {"cause": "parent_or_child", "effect": "parent_or_child", "other": "spouse"}


@pytest.mark.parametrize("name", sorted(EXACT_NEIGHBOURS | {"mmmb", "hiton-mb", "pcmb", "ipc-mb"}))
def test_the_order_of_targets_and_what_is_shared_change_nothing(name):
    shared, alone = random_answers(3), Answers(random_answers(3).dag)
    for target in reversed(shared.dag.nodes):
        alone.shared = {}
        first, second = (a.outcome(name, target, max_k=3).decisions for a in (shared, alone))
        assert first == second
