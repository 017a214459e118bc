"""The moves that methods share, on tests whose answers are known."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from blanketflow.ci import get_ci_test
from blanketflow.core.graph import DAG
from blanketflow.core.limits import NO_LIMITS
from blanketflow.core.results import CIResult, CIResults
from blanketflow.core.seeds import derive_rng
from blanketflow.core.table import Column, Table
from blanketflow.moves.backward import remove_by_subsets, remove_in_one_pass, remove_until_stable
from blanketflow.moves.forward import admit_strongest, scan_until_stable, strongest_dependent
from blanketflow.moves.neighbours import Neighbours, WeakestTest, askable_sets, find_separating_set
from blanketflow.moves.parents_and_children import eliminate
from blanketflow.moves.steps import (
    Step,
    decisions,
    is_dependent,
    separates,
    standing,
    step,
    strength_of,
    strengths_of,
    strongest_first,
)
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors.base import Problem
from blanketflow.selectors.causal import iamb
from blanketflow.selectors.causal.iamb import FastIAMB, InterIAMB, find_skeleton, grow_and_shrink_alternately
from literal import KnownTest, Separation

NAMES = list("abcdy")


def bind(answer, **options):
    return KnownTest(answer=answer, **options).bind(Table([Column(name, "numeric", np.zeros(2)) for name in NAMES]))


def when(*dependent):
    """Return p = 0.01 for the queries listed as "x|given", else 0.9."""
    return lambda x, y, given: 0.01 if f"{x}|{''.join(sorted(given))}" in dependent else 0.9


def queries(bound):
    return [f"{x}|{''.join(sorted(given))}" for x, _, given in bound.engine.asked]


def test_ranks_by_log_p_then_statistic_per_degree_then_column():
    log_p = np.array([-1.0, -900.0, -1.0, -800.0, -1.0])
    results = CIResults(
        np.array([4.0, 1.0, -9.0, 1.0, 2.0]), np.exp(log_p), log_p, np.array([2.0, 1, 3, 1, 1]), np.ones(5), np.ones(5)
    )
    # Both 1 and 3 have p = 0; 2 has 3 per degree, 0 and 4 have 2.
    assert strongest_first(results).tolist() == [1, 3, 2, 0, 4]


def test_scans_repeat_until_one_admits_none():
    # b depends only once c is there, and c comes after it: the second scan finds it.
    bound = bind(when("a|", "c|a", "b|ac"))
    admitted = list(scan_until_stable(bound, "y", list("abcd"), 0.05))
    assert [(s.feature, s.given) for s in admitted] == [("a", ()), ("c", ("a",)), ("b", ("a", "c"))]
    # c and d are tested together, ahead: d given a is in vain once c is admitted.
    assert queries(bound) == ["a|", "b|a", "c|a", "d|a", "d|ac", "b|ac", "d|abc"]


@pytest.mark.parametrize(("max_k", "wanted"), [(None, "abcd"), (3, "abcd"), (2, "abc"), (1, "ab"), (0, "a")])
def test_no_test_is_given_more_than_max_k_columns(max_k, wanted):
    bound = bind(lambda x, y, given: 0.01)
    admitted = scan_until_stable(bound, "y", list("abcd"), 0.05, max_k)
    assert "".join(s.feature for s in admitted) == wanted
    assert max(len(given) for _, _, given in bound.engine.asked) <= (3 if max_k is None else max_k)


def test_removal_begins_again_after_each():
    # a leaves only after b has left.
    bound = bind(when("a|bcd", "c|abd", "d|abc", "c|ad", "d|ac", "c|d", "d|c"))
    decisions = remove_until_stable(bound, "y", list("abcd"), 0.05)
    assert [(s.feature, s.kept, s.given) for s in decisions] == [
        ("b", False, ("a", "c", "d")),
        ("a", False, ("c", "d")),
        ("c", True, ("d",)),
        ("d", True, ("c",)),
    ]


def test_one_pass_does_not_look_back():
    bound = bind(when("d|abc", "c|abd"))
    decisions = remove_in_one_pass(bound, "y", [Step(f) for f in "dcba"], 0.05)
    assert [(s.feature, s.kept) for s in decisions] == [("d", True), ("c", True), ("b", False), ("a", False)]
    assert queries(bound) == ["d|abc", "c|abd", "b|acd", "a|cd"]


@pytest.mark.parametrize("rule", ["undecided", "use"])
def test_an_undecided_test_neither_admits_nor_removes(rule):
    admits = bind(lambda *_: 0.01, unreliable=rule, is_reliable=lambda *_: False)
    for move in (scan_until_stable, admit_strongest):
        assert bool(list(move(admits, "y", ["a"], 0.05))) is (rule == "use")
    removes = bind(lambda *_: 0.9, unreliable=rule, is_reliable=lambda *_: False)
    kept = [s.feature for s in remove_until_stable(removes, "y", ["a", "b"], 0.05) if s.kept]
    assert kept == (["a", "b"] if rule == "undecided" else [])


def test_p_equal_to_alpha_admits_and_does_not_remove():
    bound = bind(lambda *_: 0.05)
    assert list(scan_until_stable(bound, "y", ["a"], 0.05)) and list(admit_strongest(bound, "y", ["a"], 0.05))
    assert all(s.kept for s in remove_until_stable(bound, "y", ["a", "b"], 0.05))


def test_importance_is_minus_log_p_and_finite_at_zero():
    result = bind(lambda *_: 0.25).test("a", "y")
    assert step("a", result).importance == pytest.approx(np.log(4))
    assert step("a", result._replace(p_value=0.0, log_p=-np.inf)).importance == 1e300


# --- admissions by strength -----------------------------------------------------------------------------------------


def strengths(**p):
    """Return p-values by feature, whatever is given."""
    return lambda x, y, given: p.get(x, 0.9)


def test_dependent_features_come_strongest_first_and_ties_in_table_order():
    bound = bind(strengths(a=0.04, b=0.001, c=0.04, d=0.06))
    found = list(strongest_dependent(bound, "y", list("abcd"), [], 0.05))
    assert [(s.feature, s.given) for s in found] == [("b", ()), ("a", ()), ("c", ())]
    assert [s.importance for s in found] == pytest.approx([-math.log(0.001), -math.log(0.04), -math.log(0.04)])


def test_members_are_given_and_not_tested():
    bound = bind(strengths(a=0.01, b=0.01, d=0.01))
    found = list(strongest_dependent(bound, "y", list("abcd"), ["b", "c"], 0.05))
    assert [(s.feature, s.given) for s in found] == [("a", ("b", "c")), ("d", ("b", "c"))]
    assert queries(bound) == ["a|bc", "d|bc"]
    assert list(strongest_dependent(bound, "y", list("bc"), ["b", "c"], 0.05)) == []


def test_an_unreliable_result_is_passed_over_and_not_the_end():
    bound = bind(strengths(a=0.001, b=0.01), unreliable="undecided", is_reliable=lambda x, y, given: x != "a")
    assert [s.feature for s in strongest_dependent(bound, "y", list("abcd"), [], 0.05)] == ["b"]


@pytest.mark.parametrize("max_k", [0, 1, 2, None])
def test_nothing_depends_given_more_than_max_k(max_k):
    bound = bind(strengths(a=0.01, b=0.01, c=0.01, d=0.01))
    allowed = max_k is None or max_k >= 2
    assert bool(list(strongest_dependent(bound, "y", list("abcd"), ["a", "b"], 0.05, max_k))) is allowed
    assert len(list(admit_strongest(bound, "y", list("abcd"), 0.05, max_k))) == (4 if max_k is None else max_k + 1)


def test_the_strongest_is_admitted_until_none_depends():
    # Given nothing c is strongest; given c, a is; given both only b depends.
    known = {"a|": 0.02, "b|": 0.03, "c|": 0.001, "d|": 0.04, "a|c": 0.01, "b|c": 0.02, "b|ac": 0.03}
    bound = bind(lambda x, y, given: known.get(f"{x}|{''.join(sorted(given))}", 0.9))
    admitted = list(admit_strongest(bound, "y", list("abcd"), 0.05))
    assert [(s.feature, s.given) for s in admitted] == [("c", ()), ("a", ("c",)), ("b", ("c", "a"))]
    assert bound.n_tests == 4 + 3 + 2 + 1


def test_moves_decide_only_as_far_as_they_are_asked():
    bound = bind(strengths(a=0.01, b=0.02, c=0.03, d=0.04))
    assert next(admit_strongest(bound, "y", list("abcd"), 0.05)).feature == "a"
    assert bound.n_tests == 4
    assert next(scan_until_stable(bound, "y", list("dcba"), 0.05)).feature == "d"
    assert bound.n_tests == 4


# --- by turns -------------------------------------------------------------------------------------------------------


def circle(x, y, given):
    """Given nothing all depend, a most; given a, only b; given b, only c; given c, only a; given two, none."""
    given = "".join(sorted(given))
    if not given:
        return 0.001 if x == "a" else 0.01
    return 0.01 if (given, x) in {("a", "b"), ("b", "c"), ("c", "a")} else 0.9


def run_circle(method):
    table = Table([Column(name, "numeric", np.zeros(2)) for name in "abc"])
    target = Column("y", "numeric", np.zeros(2))
    return run_fold(method, KnownTest(answer=circle), table, target, 0, NO_LIMITS)


@pytest.mark.parametrize(
    ("method", "told", "back_to"),
    [(InterIAMB(), "+a +b -a +c -b +a -c", "a"), (FastIAMB(), "+a +b +c -a -b +a -c +b -a +c -b", "c")],
)
def test_a_search_that_goes_in_circles_ends_and_says_so(method, told, back_to):
    outcome = run_circle(method)
    assert outcome.status == "unreliable"
    assert outcome.reason == f"admissions and removals contradict each other: the search came back to {back_to}."
    assert " ".join("-+"[s.kept] + s.feature for s in outcome.grown) == told
    assert [s.feature for s in outcome.candidates] == [back_to]
    assert [s.feature for s in outcome.decisions if s.kept] == [back_to]


def question(bound):
    return Problem("abcd", "y", None, 0, lambda: bound.table, lambda _: bound)


def test_a_circle_may_go_through_the_empty_set():
    # a is admitted, given a b is; given b a leaves, and alone b leaves too.
    problem = question(bound := bind(when("a|", "b|a")))
    steps = grow_and_shrink_alternately(
        problem, lambda members: itertools.islice(strongest_dependent(bound, "y", "ab", members, 0.05), 1), 0.05
    )
    assert [(s.feature, s.kept) for s in steps] == [("a", True), ("b", True), ("a", False), ("b", False)]
    assert problem.reason.endswith("came back to the empty set.")


def test_turns_end_where_a_round_admits_none():
    known = when("a|", "b|a", "b|", "a|b")
    problem = question(bound := bind(known))
    steps = grow_and_shrink_alternately(
        problem, lambda members: itertools.islice(strongest_dependent(bound, "y", "abcd", members, 0.05), 1), 0.05
    )
    assert [(s.feature, s.kept) for s in steps] == [("a", True), ("b", True)]
    assert problem.status == "ok"


def test_a_round_may_admit_several_and_removals_come_after_it():
    rounds = {(): "abc", ("c",): ""}
    problem = question(bind(when("c|ab", "c|b", "c|a", "c|")))
    steps = list(grow_and_shrink_alternately(problem, lambda members: [Step(f) for f in rounds[tuple(members)]], 0.05))
    assert [(s.feature, s.kept) for s in steps] == [*((f, True) for f in "abc"), ("a", False), ("b", False)]
    assert problem.status == "ok"


def test_who_stands_is_who_was_admitted_and_not_removed_since():
    told = [("a", True), ("b", True), ("a", False), ("c", True), ("a", True), ("b", True), ("d", False)]
    stood = standing([Step(feature, importance=i, kept=kept) for i, (feature, kept) in enumerate(told)])
    assert [(s.feature, s.importance) for s in stood] == [("c", 3), ("a", 4), ("b", 5)]
    assert standing([]) == []


# --- conditioning sets ----------------------------------------------------------------------------------------------


@examples(
    st.lists(st.sampled_from("abcdef"), unique=True, max_size=6),
    st.none() | st.integers(0, 7),
    st.lists(st.sampled_from("xyz"), unique=True, max_size=3),
)
def test_conditioning_sets_are_all_subsets_by_size_then_order(members, max_k, including):
    bound = KnownTest(answer=when()).bind(Table([Column(name, "numeric", np.zeros(2)) for name in "abcdefhxyzq"]))
    found = [given for given, _ in askable_sets(bound, "q", ["h"], lambda: members, max_k, including)]
    subsets = {
        frozenset(f for f, taken in zip(members, mask, strict=True) if taken)
        for mask in itertools.product((False, True), repeat=len(members))
    }
    allowed = {s for s in subsets if max_k is None or len(s) + len(including) <= max_k}
    assert [frozenset(given) - set(including) for given in found] == sorted(
        allowed, key=lambda s: (len(s), [members.index(f) for f in sorted(s, key=members.index)])
    )
    assert all(set(including) <= set(given) and len(set(given)) == len(given) for given in found)


def test_the_first_separating_set_ends_the_search_and_the_weakest_test_is_told_of_the_others():
    known = {"a|b": 0.01, "a|c": 0.04, "a|bc": 0.5}
    bound = bind(lambda x, y, given: known.get(f"{x}|{''.join(sorted(given))}", 0.001))
    weakest = WeakestTest(bound.test("a", "y"))
    result, given = find_separating_set(bound, "y", "a", "bcd", 0.05, None, weakest=weakest)
    assert (given, result.p_value) == (("b", "c"), 0.5)
    assert (weakest.given, weakest.result.p_value) == (("c",), 0.04)
    assert "a|bd" not in queries(bound)
    assert find_separating_set(bound, "y", "b", "cd", 0.05, None) is None


@pytest.mark.parametrize("log_p", [0.0, -1e-12, -3.0, -1e4, -math.inf])
def test_the_weakest_of_two_tests_is_the_one_of_less_strength_also_where_they_are_nearly_equal(log_p):
    for bits, statistic in itertools.product(range(28, 40), (1.0, 2.0, 3.0)):
        first = CIResult(2.0, 0.5, log_p, 1.0, 10, True)
        for near in (log_p, log_p * (1 + 2.0**-bits), log_p * (1 - 2.0**-bits)):
            other, weakest = CIResult(statistic, 0.5, near, 1.0, 10, True), WeakestTest(first)
            weakest.see(other, ("z",))
            assert weakest.result is min(first, other, key=strength_of)


def test_removal_by_subsets_visits_each_member_once():
    # b separates a; of the others none is separated by what still stands: c only by a, which is gone then.
    bound = bind(lambda x, y, given: 0.9 if (x, *sorted(given)) in {("a", "b"), ("c", "a")} else 0.01)
    decisions = list(remove_by_subsets(bound, "y", list("abc"), 0.05))
    assert [(s.feature, s.kept, s.given) for s in decisions] == [
        ("a", False, ("b",)), ("b", True, ()), ("c", True, ()),
    ]  # fmt: skip
    assert queries(bound) == ["a|", "a|b", "b|", "b|c", "c|", "c|b"]


@pytest.mark.parametrize("max_k", [0, 1, 2])
def test_removal_by_subsets_gives_no_more_than_max_k(max_k):
    bound = bind(lambda x, y, given: 0.9 if len(given) == 2 else 0.01)
    kept = [s.feature for s in remove_by_subsets(bound, "y", list("abcd"), 0.05, max_k) if s.kept]
    assert kept == (list("abcd") if max_k < 2 else ["c", "d"])
    assert max(len(given) for _, _, given in bound.engine.asked) == max_k


# --- elimination and the skeleton -----------------------------------------------------------------------------------


def arbitrary(seed, share_dependent=0.7):
    def answer(x, y, given):
        rng = derive_rng(seed, *sorted((x, y)), ",".join(sorted(given)))
        return 0.01 if rng.random() < share_dependent else 0.9

    return answer


def leans(column, on, separated):
    """Whether a column was separated by a set with another column in it, or with one that leans on that."""
    return any(
        z == on or leans(z, on, {c: g for c, g in separated.items() if c != column}) for z in separated.get(column, ())
    )


def eliminated(answer, members, max_k, including=()):
    """Level by level, from the sets that stood when the level began; removals in the order of sets, then members.

    A column that was removed does not remove one that it leans on.
    """
    current, separated, size = list(members), {}, 0
    while max_k is None or size + len(including) <= max_k:
        standing_now = [m for m in current if m not in including]
        if len(standing_now) <= size:
            break
        for chosen in itertools.combinations(standing_now, size):
            for member in [m for m in current if m not in (*chosen, *including)]:
                given = (*chosen, *including)
                if answer(member, "y", frozenset(given)) > 0.05 and not any(leans(z, member, separated) for z in given):
                    current.remove(member)
                    separated[member] = given
        size += 1
    return current, separated


@pytest.mark.parametrize("max_k", [0, 1, 2, None])
@pytest.mark.parametrize("including", [(), ("d",)])
def test_elimination_is_level_by_level(max_k, including):
    removed = 0
    for seed in range(60):
        answer, found = arbitrary(seed), Neighbours()
        bound = bind(answer)
        members, weakest = (
            dict.fromkeys("abcd"),
            {m: WeakestTest(CIResult(0.0, 1e-9, math.log(1e-9), 1.0, 10, True)) for m in "abcd"},
        )
        eliminate(bound, "y", members, 0.05, max_k, weakest, found, including)
        wanted, separated = eliminated(answer, "abcd", max_k, including)
        assert (list(members), found.separating_sets) == (wanted, separated)
        assert [(s.feature, s.given, s.kept) for s in found.removals] == [(m, g, False) for m, g in separated.items()]
        assert not set(including) - set(members)
        removed += len(separated)
    assert removed > 5 or max_k == 0


def test_sets_are_drawn_from_the_members_at_the_start_of_a_level():
    # a separates b, and b separates c: c leaves, too, since b stood when the level began.
    bound, found = bind(when("a|", "b|", "c|", "a|b", "a|c", "b|c", "c|a")), Neighbours()
    members, weakest = dict.fromkeys("abc"), {m: WeakestTest(bound.test(m, "y")) for m in "abc"}
    eliminate(bound, "y", members, 0.05, None, weakest, found)
    assert list(members) == ["a"]
    assert found.separating_sets == {"b": ("a",), "c": ("b",)}


@pytest.mark.parametrize("members", ["abc", "bac"])
def test_of_two_columns_that_separate_each_other_the_first_stays(members):
    bound, found = bind(when("a|", "b|", "c|", "c|a", "c|b", "a|c", "b|c")), Neighbours()
    weakest = {m: WeakestTest(bound.test(m, "y")) for m in members}
    eliminate(bound, "y", standing := dict.fromkeys(members), 0.05, None, weakest, found)
    assert list(standing) == [members[0], "c"]
    assert found.separating_sets == {members[1]: (members[0],)}


def test_the_skeleton_of_random_graphs_is_found():
    rng = np.random.default_rng(0)
    colliders = 0
    for _ in range(60):
        names = list("abcdy")
        arcs = [(p, c) for p, c in itertools.combinations(rng.permutation(names).tolist(), 2) if rng.random() < 0.5]
        separation, dag = Separation(arcs), DAG(arcs, nodes=names)
        skeleton = find_skeleton(bind(separation), names, 0.05, None)
        for name in names:
            assert skeleton.adjacent[name] == [n for n in names if n in dag.parents_and_children(name)]
            opened = skeleton.opened_by_colliders(name)
            blanket = set(dag.markov_blanket(name)["blanket"])
            assert set(opened) == blanket - set(skeleton.adjacent[name])
            for other, middle in opened.items():
                assert middle in set(dag.children(name)) & set(dag.children(other))
            colliders += len(opened)
        for x, by_other in skeleton.separating_sets.items():
            for y, given in by_other.items():
                assert separation(x, y, frozenset(given)) == 1.0
    assert colliders > 20


def say_the_same(answer, x, y, given, separated, members):
    """Whether columns that y lost thanks to x separate x from y, as x separated them, or as only they do together.

    Or whether x is independent of members given the set, but not of y given these, too.
    """
    leaning = [z for z in given if leans(z, x, separated)]
    for z in separated:
        if leaning and leans(z, x, separated):
            rest = [w for w in separated[z] if w != x and not leans(w, x, separated)]
            if answer(x, y, frozenset([*rest, z])) > 0.05:
                return True
    rest = [z for z in given if z not in leaning]
    is_needed = answer(x, y, frozenset(rest)) <= 0.05
    if not leaning or (is_needed and all(answer(z, y, frozenset([*rest, x])) > 0.05 for z in leaning)):
        return bool(leaning)
    apart = [z for z in members if z != x and z not in given and answer(z, x, frozenset(given)) > 0.05 * 0.05][:3]
    return bool(apart) and answer(x, y, frozenset([*given, *apart])) <= 0.05


def pc_skeleton(answer, names, max_k):
    """The stable PC algorithm, order of columns as given, with one of the columns that say the same."""
    adjacent, size = {n: [m for m in names if m != n] for n in names}, 0
    separated = {n: {} for n in names}
    while (max_k is None or size <= max_k) and any(len(near) > size for near in adjacent.values()):
        level = {name: list(near) for name, near in adjacent.items()}
        for x in names:
            for given in itertools.combinations(level[x], size):
                for y in [y for y in adjacent[x] if y not in given]:
                    if answer(y, x, frozenset(given)) <= 0.05 or any(leans(z, y, separated[x]) for z in given):
                        continue
                    if not say_the_same(answer, x, y, given, separated[y], adjacent[y]):
                        adjacent[x].remove(y)
                        adjacent[y].remove(x)
                        separated[x][y] = separated[y][x] = given
        size += 1
    return adjacent, separated


@pytest.mark.parametrize("max_k", [0, 1, 2, None])
def test_the_skeleton_is_that_of_the_stable_pc_algorithm(max_k):
    for seed in range(60):
        answer = arbitrary(seed, 0.8)
        skeleton = find_skeleton(bind(answer), NAMES, 0.05, max_k)
        assert (skeleton.adjacent, skeleton.separating_sets) == pc_skeleton(answer, NAMES, max_k)


def test_the_edges_do_not_depend_on_the_order_of_columns(monkeypatch):
    # Where columns say the same, as arbitrary answers often have it, one of them stays, and the order decides which.
    monkeypatch.setattr(iamb, "_is_circular", lambda *_: False)
    for seed in range(40):
        answer = arbitrary(seed, 0.8)
        edges = {
            frozenset(
                frozenset((x, y))
                for x, near in find_skeleton(bind(answer), names, 0.05, None).adjacent.items()
                for y in near
            )
            for names in (NAMES, NAMES[::-1], list("cybad"))
        }
        assert len(edges) == 1


@pytest.mark.parametrize("unreliable", ["auto", "undecided", "independent", "use"])
def test_many_results_are_decided_as_each_is(unreliable):
    rng = np.random.default_rng(0)
    bound = get_ci_test("g2", unreliable=unreliable).bind(rng.integers(0, 2, (50, 3)))
    p = rng.choice([0.0, 1e-300, 0.01, 0.05, 0.2, 1.0], 200)
    with np.errstate(divide="ignore"):
        results = CIResults(
            rng.normal(size=200), p, np.log(p), rng.integers(0, 3, 200).astype(float), np.full(200, 50),
            rng.random(200) < 0.5,
        )  # fmt: skip
    dependent, separated = decisions(bound, results, 0.05)
    assert dependent.tolist() == [is_dependent(bound, result, 0.05) for result in results]
    assert separated.tolist() == [separates(bound, result, 0.05) for result in results]
    assert strengths_of(results) == [strength_of(result) for result in results]
