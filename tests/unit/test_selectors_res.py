"""RES: representative sets by hand and from the graph, a superset of the blanket on d-separation, and overlaps."""

import random

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core.graph import DAG
from blanketflow.core.table import Column, Table
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors.causal.res import RES
from literal import KnownTest, Separation


def decide(answer, names, target="t", **options):
    """Return the decisions of RES, as feature and group, on a test whose answers are known."""
    columns = [Column(name, "numeric", np.zeros(2)) for name in names if name != target]
    outcome = run_fold(
        RES(max_k=None, **options), KnownTest(answer=answer), Table(columns), Column(target, "numeric", np.zeros(2)), 0
    )
    assert outcome.decisions == outcome.candidates
    assert all(decision.kept for decision in outcome.decisions)
    return outcome.decisions


def groups_of(decisions):
    return [(decision.feature, decision.group) for decision in decisions]


def test_sets_by_hand():
    # a -> t -> b <- c -> d, e alone: PC(t) is a, b; PC(a) is t alone, PC(b) is t and the spouse c. d is too far.
    arcs = [("a", "t"), ("t", "b"), ("c", "b"), ("c", "d")]
    decisions = decide(Separation(arcs), list("abcdet"))
    assert groups_of(decisions) == [("a", "a"), ("b", "b"), ("c", "b")]
    assert [decision.role for decision in decisions] == ["parent_or_child", "parent_or_child", "member"]


@pytest.mark.parametrize(("stronger", "group"), [("a", "a"), ("b", "b")])
def test_a_feature_of_two_sets_is_in_that_of_the_member_that_depends_most_on_the_target(stronger, group):
    # a -> t <- b, and s is a child of both a and b: a neighbour of each.
    separated = Separation([("a", "t"), ("b", "t"), ("a", "s"), ("b", "s")])

    def answer(x, y, given):
        p = separated(x, y, given)
        return 1e-12 if p < 1 and {x, y} == {stronger, "t"} and not given else p

    decisions = decide(answer, list("abst"))
    other = "b" if stronger == "a" else "a"
    assert groups_of(decisions) == [(stronger, stronger), ("s", group), (other, other)]
    assert decisions[0].importance == pytest.approx(12 * np.log(10))
    assert decisions[2].importance == pytest.approx(9 * np.log(10))


def test_members_stay_in_their_own_sets():
    # t's parents a and b are adjacent: each is a neighbour of the other.
    arcs = [("a", "t"), ("b", "t"), ("a", "b")]
    assert groups_of(decide(Separation(arcs), list("tab"))) == [("a", "a"), ("b", "b")]


def test_a_target_without_neighbours_has_no_sets():
    assert decide(Separation([("a", "b")]), list("abt")) == []


def random_graphs(count):
    rng = random.Random(1)
    for _ in range(count):
        names = [f"v{i}" for i in range(rng.randint(4, 8))]
        density = rng.uniform(0.15, 0.5)
        arcs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if rng.random() < density]
        rng.shuffle(names)
        yield names, arcs


@pytest.mark.parametrize(
    "symmetry", ["and", *(pytest.param(name, marks=pytest.mark.extended) for name in ("none", "or"))]
)
def test_a_superset_of_the_blanket_of_every_node_of_40_random_graphs(symmetry):
    larger = spouses_seen = 0
    for names, arcs in random_graphs(40):
        dag, separation = DAG(arcs, nodes=names), Separation(arcs)
        for target in names:
            found = {d.feature for d in decide(separation, names, target, symmetry=symmetry)}
            blanket = set(dag.markov_blanket(target)["blanket"])
            assert found >= blanket
            larger += found > blanket
            spouses_seen += bool(dag.spouses(target))
    assert larger > 40
    assert spouses_seen > 40


def test_with_exact_neighbours_the_sets_are_those_of_the_graph():
    for names, arcs in random_graphs(60):
        separation = Separation(arcs)
        near = {name: [x for x in sorted(names) if (x, name) in arcs or (name, x) in arcs] for name in names}
        for target in names:
            taken, wanted = {target, *near[target]}, {}
            for member in near[target]:  # all dependences are equal: names decide
                wanted[member] = {member, *(set(near[member]) - taken)}
                taken |= wanted[member]
            found = {}
            for feature, group in groups_of(decide(separation, names, target, symmetry="and")):
                found.setdefault(group, set()).add(feature)
            assert found == wanted
            assert list(found) == list(wanted)


def test_the_sets_of_data_are_what_hiton_pc_finds_column_by_column():
    rng = np.random.default_rng(0)
    cause, y = rng.normal(size=400), None
    near = [cause + 0.5 * rng.normal(size=400) for _ in range(3)]
    y = cause + 0.7 * rng.normal(size=400)
    child = y + rng.normal(size=400)
    X = pd.DataFrame({"cause": cause, "n0": near[0], "n1": near[1], "n2": near[2], "child": child})
    X["noise"] = rng.normal(size=400)
    options = {"ci_test": "fisher-z", "alpha": 0.01}

    def neighbours(target):
        columns = X.assign(y=y)
        found = bf.HITONPC(**options, symmetry="none").fit(columns.drop(columns=target), columns[target])
        return set(found.selected_features_)

    fitted = bf.RES(**options).fit(X, pd.Series(y, name="y"))
    members = neighbours("y")
    assert members >= {"cause", "child"}
    assert set(fitted.selected_features_) == members.union(*map(neighbours, members)) - {"y"}
    assert {name for name, role in fitted.roles_.items() if role == "parent_or_child"} == members
