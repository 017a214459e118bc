"""What searches return with groups of features, proved with the d-separation oracle.

Each node of a graph but the target is split into columns. All columns of a node point to all columns of its children,
and the first of them to the later ones. So nodes are d-separated by nodes as before, and their columns are groups: a
sound search has to find all columns of the blanket's nodes, and no others.
"""

import numpy as np
import pytest

from blanketflow.core.graph import DAG
from blanketflow.core.prior import PriorKnowledge
from blanketflow.core.table import Column, Table
from blanketflow.search.run_fold import run_fold
from random_networks import random_dag
from test_methods_on_the_oracle import EXACT_BLANKET, EXACT_NEIGHBOURS, METHODS, OPTIONS, limit, oracle


def split(dag, target, rng):
    """Return the columns of each node, and the graph of the columns."""
    columns = {node: [f"{node}_{i}" for i in range(int(rng.integers(1, 4)))] for node in dag.nodes}
    columns[target] = [target]
    arcs = [(a, b) for parent, child in dag.arcs for a in columns[parent] for b in columns[child]]
    arcs += [(own[i], own[j]) for own in columns.values() for j in range(len(own)) for i in range(j)]
    return columns, DAG(arcs, [column for own in columns.values() for column in own])


def found(dag, name, target, groups, max_k, **prior):
    """Return the columns that a method keeps, and the features of its first and last answers."""
    names = [node for node in dag.nodes if node != target]
    features = Table([Column(node, "numeric", np.zeros(2)) for node in names])
    options = {"max_k": max_k} if "max_k" in METHODS[name].parameters() else {}
    method = METHODS[name](**{**OPTIONS.get(name, {}), **options})
    known = PriorKnowledge(feature_groups=groups, **prior)
    outcome = run_fold(method, oracle(dag), features, Column(target, "numeric", np.zeros(2)), 0, prior=known)
    return {step.feature for step in outcome.decisions if step.kept}, outcome


def failures(seeds, names):
    wrong = []
    for seed in seeds:
        rng, dag = np.random.default_rng(seed), random_dag(9, seed, degree=2.0, max_degree=4)
        for target in dag.nodes:
            columns, of_columns = split(dag, target, rng)
            groups = {f"node-{node}": tuple(own) for node, own in columns.items() if node != target}
            for name in names:
                near = name in EXACT_NEIGHBOURS
                truth = dag.parents_and_children(target) if near else dag.markov_blanket(target)["blanket"]
                kept, _ = found(of_columns, name, target, groups, limit(name, dag))
                if kept != {column for node in truth for column in columns[node]}:
                    wrong.append((seed, name, target, sorted(kept), sorted(truth)))
    return wrong


@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(1, 9), marks=pytest.mark.extended)], ids=str)
def test_every_exact_search_finds_all_columns_of_the_true_blanket(seeds):
    assert failures(seeds, sorted(EXACT_BLANKET | EXACT_NEIGHBOURS)) == []


@pytest.mark.parametrize("name", ["iamb", "hiton-mb", "pcmb"])
def test_a_group_comes_in_with_its_columns_that_alone_would_stay_out(name):
    # Of the scale only the first question depends on the target; age is separated by it, and so by the group.
    dag = DAG([("age", "q1"), ("q1", "target")], ["age", "q1", "q2", "target"])
    assert found(dag, name, "target", {}, 3)[0] == {"q1"}
    assert found(dag, name, "target", {"scale": ("q1", "q2")}, 3)[0] == {"q1", "q2"}


def test_conditioning_sets_are_told_by_their_columns():
    dag = DAG([("age", "q1"), ("q1", "q2"), ("q2", "target")], ["age", "q1", "q2", "target"])
    kept, outcome = found(dag, "inter-iamb", "target", {"scale": ("q1", "q2")}, None, include=("age",))
    assert kept == {"age", "q1", "q2"}
    roles = {step.feature: (step.role, step.listed) for step in outcome.decisions}
    assert roles["age"] == ("included", ["q1", "q2"])
    assert roles["q1"] == roles["q2"] == ("member", ["age"])


def test_a_group_has_the_time_of_its_columns():
    dag = DAG([("q1", "target"), ("q2", "target")], ["q1", "q2", "target"])
    _, outcome = found(dag, "hiton-pc", "target", {"scale": ("q1", "q2")}, 3, tiers=(("scale",), ("target",)))
    assert {step.feature: step.role for step in outcome.decisions} == {"q1": "parent", "q2": "parent"}
