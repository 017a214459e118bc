"""Corrections for many tests of parents and children, and of IAMB, against literal renderings and the oracle."""

import random

import numpy as np
import pytest

from blanketflow.core.errors import ParameterError
from blanketflow.core.registry import discover
from blanketflow.core.table import Column, Table
from blanketflow.data.simulate.network_files import find_network, read_network
from blanketflow.search.run_fold import run_problem
from blanketflow.selectors.base import Problem
from literal import KnownTest
from random_networks import random_dag
from test_methods_on_the_oracle import NETWORKS, Answers, most_parents
from test_search import circle

METHODS = discover("blanketflow.selectors")
BY_LARGEST = ["hiton-pc", "mmpc", "pc-simple", "si-hiton-pc"]
CORRECTED = [*BY_LARGEST, "iamb"]


def question(answer, features="abcd", **known):
    """Return a problem whose p-values are known, and what its test was asked."""
    table = Table([Column(name, "numeric", np.zeros(2)) for name in (*features, "y")])
    bound = KnownTest(answer=answer, **{k: v for k, v in known.items() if k == "is_reliable"}).bind(table)
    problem = Problem(tuple(features), "y", bound.test_many(features, "y"), 0, lambda: table, lambda _: bound)
    problem.included = known.get("included", ())
    return problem, bound.engine.asked


def kept(outcome):
    return {decision.feature for decision in outcome.decisions if decision.kept}


def literally_rejected(p_values, n_tests, alpha, correction):
    """The step-up procedures and Bonferroni as their papers print them: p-values by name, the others are 1."""
    ordered = sorted(p_values, key=p_values.get)
    if correction == "bonferroni":
        return {name for name in ordered if p_values[name] * n_tests <= alpha}
    harmonic = sum(1 / i for i in range(1, n_tests + 1)) if correction == "by" else 1
    for k in range(len(ordered), 0, -1):
        if p_values[ordered[k - 1]] <= alpha * k / (n_tests * harmonic):
            return set(ordered[:k])
    return set()


def drawn(seed, share_small=0.95):
    """Return p-values drawn once for every pair and set; most are small."""

    def answer(x, y, given):
        rng = random.Random(f"{seed} {x} {y} {sorted(given)}")
        return rng.uniform(1e-6, 0.05) ** 2 if rng.random() < share_small else rng.uniform(0.001, 1)

    return answer


# --- the largest p-value of each parent or child ----------------------------------------------------------------------


def by_hand(x, y, given):
    """From y's own search a and b look alike; b's search of y has the larger p-value, given a."""
    pair = {x, y}
    if "y" not in pair:
        return 0.001
    other = min(pair - {"y"})
    if other == "b" and x == "y" and given == {"a"}:
        return 0.02
    return {"a": 0.001, "b": 0.0001, "c": 0.045, "d": 0.9}[other]


@pytest.mark.parametrize("method", BY_LARGEST)
@pytest.mark.parametrize(
    # Of 4 features, the largest p-values are 0.001, 0.02, 0.045, 0.9. bh: 0.0125 0.025 0.0375 0.05; by: those by 25/12.
    ("correction", "symmetry", "wanted"),
    [
        ("none", "and", "abc"),
        ("bh", "and", "ab"),
        ("by", "and", "a"),
        ("bonferroni", "and", "a"),
        ("by", "none", "ab"),  # y's own search does not know of 0.02
    ],
)
def test_by_hand_the_largest_p_value_of_each_member_is_corrected(method, correction, symmetry, wanted):
    problem, _ = question(by_hand)
    outcome = run_problem(METHODS[method](correction=correction, symmetry=symmetry), problem)
    assert kept(outcome) == set(wanted)
    p_values = {decision.feature: decision.p_value for decision in outcome.decisions}
    if correction != "none":
        assert p_values["b"] == (0.02 if symmetry == "and" else 0.0001)
        assert p_values["c"] == 0.045


def is_separated_by_stand_ins(pairs, answer, asked, alpha=0.2):
    """Whether a set separates neighbours all the same: by columns that were removed thanks to one of them."""
    return any(answer(*q) > alpha for x, y in pairs for q in asked if {q[0], q[1]} == {x, y})


@pytest.mark.parametrize("correction", ["bh", "by", "bonferroni"])
@pytest.mark.parametrize("method", BY_LARGEST)
def test_members_are_those_whose_largest_p_value_of_all_tests_made_is_rejected(method, correction):
    left = 0
    for seed in range(100):
        problem, asked = question(answer := drawn(seed))
        plain = kept(run_problem(METHODS[method](alpha=0.2), problem))
        if is_separated_by_stand_ins([(x, "y") for x in plain], answer, asked):
            continue
        problem, asked = question(answer)
        found = kept(run_problem(METHODS[method](alpha=0.2, correction=correction), problem))
        largest = {x: max(answer(*q) for q in asked if {q[0], q[1]} == {x, "y"}) for x in plain}
        assert found == literally_rejected(largest, 4, 0.2, correction)
        left += len(plain - found)
    assert left  # or the test could not fail


# --- spouses: the largest p-value of three links ----------------------------------------------------------------------


BY_LINKS = ["hiton-mb", "mmmb", "pcmb", "ipc-mb"]


@pytest.mark.parametrize("correction", ["bh", "bonferroni"])
@pytest.mark.parametrize("method", BY_LINKS)
def test_a_spouse_is_as_sure_as_the_weakest_of_its_test_the_childs_link_and_its_own(method, correction):
    n_spouses, left = 0, 0
    for seed in range(100):
        problem, asked = question(answer := drawn(seed, share_small=0.8), "abcde")
        plain = [decision for decision in run_problem(METHODS[method](alpha=0.2), problem).decisions if decision.kept]
        spouses = [(member.feature, member.given[-1]) for member in plain if member.role == "spouse"]
        near = [(member.feature, "y") for member in plain if member.role != "spouse"]
        if is_separated_by_stand_ins([*near, *spouses], answer, asked):
            continue

        def largest(x, y, answer=answer, asked=asked):
            return max(answer(*q) for q in asked if {q[0], q[1]} == {x, y})

        p_values = {}
        for member in plain:
            if member.role == "spouse":
                child = member.given[-1]
                links = largest(child, "y"), largest(member.feature, child)
                p_values[member.feature] = max(member.p_value, *links)
                n_spouses += 1
            else:
                p_values[member.feature] = largest(member.feature, "y")
        problem, _ = question(answer, "abcde")
        found = run_problem(METHODS[method](alpha=0.2, correction=correction), problem)
        assert kept(found) == literally_rejected(p_values, 5, 0.2, correction)
        roles = {member.feature: member.role for member in plain}
        assert all(decision.role == roles[decision.feature] for decision in found.decisions if decision.kept)
        left += len(p_values) - len(kept(found))
    assert n_spouses > 3 and left  # or the test could not fail


# --- searches that test each member given all others ------------------------------------------------------------------


BY_THE_REST = ["gs", "inter-iamb", "fast-iamb", "mixed-mb", "stmb"]


@pytest.mark.parametrize("correction", ["bh", "by", "bonferroni"])
@pytest.mark.parametrize("method", BY_THE_REST)
def test_the_weakest_leaves_until_all_members_are_rejected_given_the_others(method, correction):
    left = 0
    for seed in range(40):
        answer = drawn(seed, share_small=0.9)
        problem, _ = question(answer, "abcdef")
        plain = run_problem(METHODS[method](alpha=0.002), problem)
        members = [m.feature for m in plain.candidates] if method != "stmb" else list(kept(plain))
        n_before = len(members)
        while members:
            p_values = {x: answer(x, "y", frozenset(members) - {x}) for x in members}
            held = literally_rejected({x: p for x, p in p_values.items() if p <= 0.002}, 6, 0.002, correction)
            if held == set(members):
                break
            members.remove(max((x for x in members if x not in held), key=p_values.get))
        problem, _ = question(answer, "abcdef")
        found = run_problem(METHODS[method](alpha=0.002, correction=correction), problem)
        assert kept(found) == set(members)
        left += n_before - len(members)
    assert left  # or the test could not fail


@pytest.mark.parametrize("method", ["iamb-npc", "inter-iamb-npc", "koller-sahami", "tie-star", "srs", "res", "sgai"])
def test_the_others_say_why_they_have_none(method):
    with pytest.raises(ParameterError, match=f"^here: {method} has no correction: .* Leave it out"):
        METHODS[method].from_options("here", {"correction": "bh"})


# --- IAMB with false discovery rate control ---------------------------------------------------------------------------


def literal_iamb_fdr(answer, features, alpha, correction):
    """All p-values given the members; the weakest member not rejected leaves, else the strongest rejected enters.

    Returns the moves, and whether a set came back.
    """
    members, seen, moves = [], [], []
    while set(members) not in seen:
        seen.append(set(members))
        p = {x: answer(x, "y", frozenset(members) - {x}) for x in features}
        rejected = literally_rejected(p, len(features), alpha, correction)
        leaving = [x for x in members if x not in rejected]
        entering = [x for x in features if x in rejected and x not in members]
        if leaving:
            members.remove(worst := max(leaving, key=p.get))
            moves.append(f"-{worst}")
        elif entering:
            members.append(best := min(entering, key=p.get))
            moves.append(f"+{best}")
        else:
            return moves, False
    return moves, True


@pytest.mark.parametrize("correction", ["bh", "by", "bonferroni"])
def test_iamb_makes_the_moves_of_a_literal_iamb_fdr(correction):
    removals = circles = 0
    for seed in range(60):
        answer = drawn(seed, share_small=0.3)
        problem, _ = question(answer, "abcdef")
        outcome = run_problem(METHODS["iamb"](alpha=0.2, correction=correction), problem)
        moves, came_back = literal_iamb_fdr(answer, "abcdef", 0.2, correction)
        assert ["-+"[s.kept] + s.feature for s in outcome.grown] == moves
        assert ("the search came back" in outcome.reason) == came_back
        if not came_back:  # the end is a fixed point: shrinking changes nothing
            assert kept(outcome) == {s.feature for s in outcome.candidates}
        removals += any(move.startswith("-") for move in moves)
        circles += came_back
    assert removals
    assert circles


def test_a_circle_ends_and_is_said():
    problem, _ = question(circle, "abc")
    outcome = run_problem(METHODS["iamb"](correction="bh"), problem)
    assert outcome.status == "unreliable"
    assert "admissions and removals contradict each other" in outcome.reason


def test_with_too_many_members_none_enters():
    problem, asked = question(lambda x, y, given: 0.001, "abcdef")
    outcome = run_problem(METHODS["iamb"](correction="bh", max_k=1), problem)
    assert len(kept(outcome)) == 2
    assert max(len(given) for *_, given in asked) == 1


def test_undecided_tests_neither_admit_nor_remove():
    problem, _ = question(
        lambda x, y, given: 0.001 if not given else 0.9, "ab", is_reliable=lambda x, y, given: not given
    )
    problem.test.unreliable = "undecided"
    assert kept(run_problem(METHODS["iamb"](correction="bh"), problem)) == {"a"}


# --- both -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", CORRECTED)
def test_what_is_included_stays_and_its_role_says_that_it_was_not_found(method):
    problem, _ = question(by_hand, included=("d",))
    outcome = run_problem(METHODS[method](correction="by"), problem)
    assert "d" in kept(outcome)
    assert {s.role for s in outcome.decisions if s.feature == "d" and s.kept} == {"included"}


@pytest.mark.parametrize("correction", ["bh", "by", "bonferroni"])
@pytest.mark.parametrize("source", [*NETWORKS, "random"])
def test_with_exact_tests_a_correction_changes_no_answer(source, correction):
    if source == "random":
        graphs = [random_dag(8, seed) for seed in range(3)]
    else:
        pytest.importorskip("pgmpy", reason="the networks' files come with pgmpy: pip install 'blanketflow[networks]'")
        graphs = [read_network(find_network(source)).dag()]
    for dag in graphs:
        answers = Answers(dag)
        for target in dag.nodes:
            for name in CORRECTED:
                limit = None if name == "iamb" else most_parents(dag)
                plain = answers.kept(name, target, max_k=limit)
                assert answers.kept(name, target, max_k=limit, correction=correction) == plain
