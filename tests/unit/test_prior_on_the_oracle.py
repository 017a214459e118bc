"""What searches return with included and excluded features, proved with the d-separation oracle.

Excluded features are latent: the answer of a search that conditions on all that it found is the boundary of the target
among the features that are left, by its definition below.
"""

import numpy as np
import pytest

from blanketflow.ci import get_ci_test
from blanketflow.core.graph import DAG
from blanketflow.core.prior import PriorKnowledge
from blanketflow.core.table import Column, Table
from blanketflow.data.simulate.network_files import find_network, read_network
from blanketflow.moves.neighbours import askable_sets
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors.causal.gs import GS
from literal import connected
from random_networks import random_dag
from test_methods_on_the_oracle import EXACT_BLANKET, EXACT_NEIGHBOURS, METHODS, OPTIONS, limit, oracle

#: Searches that condition on everything they hold: they begin with the included, and end with a boundary.
WHOLE_SET = sorted(name for name, method in METHODS.items() if issubclass(method, GS) and name in EXACT_BLANKET)
NETWORKS = ["asia", "cancer", "earthquake", "survey", "sachs", "child"]
LARGE_NETWORKS = ["alarm", "insurance", "water", "mildew", "hailfinder", "win95pts", "barley"]


def found(dag, name, target, prior):
    """Return the roles of what a method keeps."""
    names = [node for node in dag.nodes if node != target]
    features = Table([Column(node, "numeric", np.zeros(2)) for node in names])
    options = {"max_k": limit(name, dag)} if "max_k" in METHODS[name].parameters() else {}
    method = METHODS[name](**{**OPTIONS.get(name, {}), **options})
    outcome = run_fold(method, oracle(dag), features, Column(target, "numeric", np.zeros(2)), 0, prior=prior)
    return {step.feature: step.role for step in outcome.decisions if step.kept}


def boundary(dag, target, observed):
    """The boundary of a target by its definition: what all other observed features together do not separate from it."""
    return {x for x in observed if target in connected(dag, x, {*observed} - {x})}


def drawn(rng, names, share):
    return tuple(name for name in names if rng.random() < share)


def failures(dag, names, seed, with_latents):
    """Return (method, target, prior, found, wanted) where an answer is not what it must be."""
    rng, wrong = np.random.default_rng(seed), []
    for target in dag.nodes:
        others = [node for node in dag.nodes if node != target]
        exclude = drawn(rng, others[1:], 0.3) if with_latents else ()
        observed = [node for node in others if node not in exclude]
        prior = PriorKnowledge(drawn(rng, observed, 0.2), exclude)
        for name in names:
            near = dag.parents_and_children(target)
            truth = set(near) if name in EXACT_NEIGHBOURS else boundary(dag, target, observed)
            if len(near) > 8:  # the subset search is exponential
                continue
            roles = found(dag, name, target, prior)
            asked_for = {feature for feature, role in roles.items() if role == "included"}
            if set(roles) != truth | set(prior.include) or asked_for != set(prior.include) - truth:
                wrong.append((name, target, prior, roles, sorted(truth)))
    return wrong


@pytest.mark.parametrize(
    "source", [*NETWORKS, *(pytest.param(source, marks=pytest.mark.extended) for source in LARGE_NETWORKS)]
)
def test_searches_that_condition_on_all_find_the_boundary_among_what_is_left(source):
    pytest.importorskip("pgmpy", reason="the networks' files come with pgmpy: pip install 'blanketflow[networks]'")
    dag = read_network(find_network(source)).dag()
    assert failures(dag, WHOLE_SET, 0, with_latents=True) == []


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 40), marks=pytest.mark.extended)], ids=str)
def test_so_they_do_in_random_graphs(seeds):
    wrong = []
    for seed in seeds:
        wrong += failures(random_dag(14, seed, degree=2.5), WHOLE_SET, seed, with_latents=True)
    assert wrong == []


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 12), marks=pytest.mark.extended)], ids=str)
def test_every_exact_search_returns_its_answer_and_the_included(seeds):
    wrong = []
    for seed in seeds:
        dag = random_dag(12, seed, degree=2.0, max_degree=5)
        wrong += failures(dag, sorted(EXACT_BLANKET | EXACT_NEIGHBOURS), seed, with_latents=False)
    assert wrong == []


@pytest.mark.parametrize("name", sorted(EXACT_NEIGHBOURS))
def test_a_forced_child_would_hide_that_a_spouse_can_be_separated(name):
    # The spouse depends on the target given their child: the child may not be in every conditioning set.
    dag = DAG([("target", "child"), ("spouse", "child")])
    assert found(dag, name, "target", PriorKnowledge(("child",))) == {"child": "parent_or_child"}


@pytest.mark.parametrize("name", sorted(EXACT_NEIGHBOURS | {"hiton-mb"}))
def test_an_included_feature_separates_though_it_was_separated_itself(name):
    # With sets of one feature at most the grandparent is separated by the parent; it stays to be conditioned on.
    dag = DAG([("grandparent", "parent"), ("parent", "target")])
    assert found(dag, name, "target", PriorKnowledge(("grandparent",))) == {
        "parent": "parent_or_child",
        "grandparent": "included",
    }


def in_tiers(dag, rng):
    """Cut a topological order of the nodes into three tiers; some nodes have none."""
    order = dag.topological_order()
    first, second = sorted(rng.integers(0, len(order) + 1, 2))
    tiers = [order[:first], order[first:second], order[second:]]
    return tuple(tuple(node for node in tier if rng.random() < 0.9) for tier in tiers if tier)


def role_in(dag, node, target, tiers):
    """Return what a neighbour is, as far as time tells."""
    at = {name: number for number, tier in enumerate(tiers) for name in tier}
    if node not in at or target not in at or at[node] == at[target]:
        return "parent_or_child"
    return "parent" if node in dag.parents(target) else "child"


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 16), marks=pytest.mark.extended)], ids=str)
def test_tiers_change_no_exact_answer_and_tell_parents_from_children(seeds):
    wrong = []
    for seed in seeds:
        dag, rng = random_dag(12, seed, degree=2.0, max_degree=5), np.random.default_rng(seed)
        for target in dag.nodes:
            tiers, near = in_tiers(dag, rng), dag.parents_and_children(target)
            known = {node: role_in(dag, node, target, tiers) for node in near}
            for name in sorted(EXACT_BLANKET | EXACT_NEIGHBOURS):
                roles = found(dag, name, target, PriorKnowledge(tiers=tiers))
                blanket = set(dag.markov_blanket(target)["blanket"])
                told = {node: role for node, role in roles.items() if role not in ("member", "spouse")}
                if (
                    set(roles) != (set(near) if name in EXACT_NEIGHBOURS else blanket)
                    or not told.items() <= known.items()
                ):
                    wrong.append((seed, name, target, tiers, roles, known))
    assert wrong == []


def test_what_is_later_than_both_is_not_asked():
    # Sets with cough, which is later than smoking and cancer, are not tried, whatever else is in them.
    columns = {name: np.zeros(200) for name in ("smoking", "cancer", "cough", "age")}
    table = Table([Column(name, "numeric", values) for name, values in columns.items()])
    bound = get_ci_test("oracle", arcs=[("age", "smoking"), ("smoking", "cancer"), ("cancer", "cough")]).bind(table)
    tiers = {"age": 0, "smoking": 0, "cancer": 1, "cough": 2}
    asked = askable_sets(bound, "smoking", ["cancer"], lambda: ["cough", "age"], None, tiers=tiers)
    assert list(asked) == [((), ["cancer"]), (("age",), ["cancer"])]
    later = askable_sets(bound, "smoking", ["cough"], lambda: ["cancer"], None, tiers=tiers)
    assert list(later) == [((), ["cough"]), (("cancer",), ["cough"])]
