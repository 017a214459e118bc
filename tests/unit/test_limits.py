"""Time limits and test budgets: what every method does when one strikes, and that none changes anything until then."""

import time
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core.errors import BlanketflowError, ParameterError
from blanketflow.core.limits import NO_LIMITS, LimitReached, Limits
from blanketflow.core.registry import discover
from blanketflow.core.table import Column, Table
from blanketflow.data.simulate import simulate
from blanketflow.moves.steps import Step, standing
from blanketflow.search.run_fold import run_fold
from blanketflow.search.run_fold import test_marginally as marginal_tests
from blanketflow.search.stages import run_grow, run_shrink
from blanketflow.selectors.base import Problem, worst_status
from blanketflow.selectors.causal.gs import GS
from blanketflow.selectors.causal.iamb import IAMB, KIAMB
from blanketflow.selectors.causal.tie_star import TIEStar
from literal import KnownTest

METHODS = discover("blanketflow.selectors")
WITH_TEST = [name for name, method in METHODS.items() if method.default_test is not None]
ANYTIME = [name for name in WITH_TEST if METHODS[name].anytime]
#: What keeps a method cheap, or what it cannot do without.
OPTIONS = {"mrmr": {"n_features": 4}, "srs": {"lambda_step": 0.1}, "kiamb": {"n_runs": 4}, "rgs-mk": {"k": 20, "m": 2}}
OPTIONS |= {"gs-m": {"m": 1}}
TEST_OPTIONS = {"ppi": {"n_repeats": 5}}
BUDGETS = (1, 2, 3, 7, 20, 60)
PASSED = Limits(time_limit=1e-9)


def method(name):
    return METHODS[name](**OPTIONS.get(name, {}))


def ci_test(name):
    chosen = {"auto": "g2"}.get(METHODS[name].default_test, METHODS[name].default_test)
    return bf.get_ci_test(chosen, **{**METHODS[name].default_test_options, **TEST_OPTIONS.get(chosen, {})})


@cache
def data():
    table, target, _ = simulate("clinic", rows=300, seed=1)
    features = table.select([name for name in table.names if name != target])
    return features.in_order_of_names(), table[target]  # as a search has them


def marginal_pass(test, table, target, seed):
    return marginal_tests(test.bind(table, seed=seed, target=target), target)


@cache
def marginal(name):
    features, target = data()
    return marginal_pass(ci_test(name), Table([*features.columns, target]), target.name, 0)


class Stages:
    """Both stages of a method on the same rows, and how many tests each computed."""

    def __init__(self, name, limits=NO_LIMITS):
        features, target = data()
        table = Table([*features.columns, target])
        self.problem = Problem(
            features.names, target.name, marginal(name), 0, lambda: table,
            lambda t: ci_test(name).bind(t, seed=0, target=target.name), limits,
        )  # fmt: skip
        self.n_tests, self.grown, self.decisions = [], [], None
        try:
            self.grown = run_grow(method(name), self.problem)
            self.n_tests.append(self.problem.n_tests)
            self.decisions = run_shrink(method(name), self.problem, standing(self.grown))
            self.error = None
        except LimitReached as error:
            self.error = str(error)
        self.n_tests.append(self.problem.n_tests - sum(self.n_tests))

    @property
    def kept(self):
        return {step.feature for step in self.decisions if step.kept}

    @property
    def outcome(self):
        problem = self.problem
        return self.grown, self.decisions, self.n_tests, problem.status, problem.reason, problem.answers, self.error


@cache
def unlimited(name):
    return Stages(name)


def test_something_is_anytime_and_something_is_not():
    assert {"gs", "iamb", "kiamb", "tie-star", "ppfs"} <= set(ANYTIME)
    assert {"hiton-mb", "pcmb", "srs", "mrmr"} <= set(WITH_TEST) - set(ANYTIME)


@pytest.mark.parametrize("name", WITH_TEST)
def test_a_budget_strikes_exactly_where_a_stage_needs_more(name):
    for budget in BUDGETS:
        a_budget_strikes(name, budget)


def a_budget_strikes(name, budget):
    needed, free = unlimited(name).n_tests, unlimited(name)
    limited = Stages(name, Limits(max_tests=budget))
    assert max(limited.n_tests) <= budget
    if max(needed) <= budget:
        assert limited.outcome == free.outcome
        return
    says = f"the test budget of {budget} (max_tests) is spent"
    if name not in ANYTIME:
        assert says in limited.error
        return
    assert limited.error is None
    assert limited.problem.status == "timeout" and says in limited.problem.reason
    considered = {step.feature for step in [*limited.grown, *limited.decisions]}
    assert limited.kept <= considered <= set(data()[0].names)
    assert len(limited.kept) == sum(step.kept for step in limited.decisions)
    if needed[0] > budget:
        assert limited.problem.reason.startswith("grow stopped: ")
        # What was admitted until then is what would have been admitted without the limit.
        assert limited.grown == free.grown[: len(limited.grown)]
    else:
        assert limited.grown == free.grown


def test_the_budgets_do_strike():
    strike = {name for name in WITH_TEST if max(unlimited(name).n_tests) > BUDGETS[1]}
    assert strike >= {
        "bahsic",
        "cmim",
        "fcbf",
        "hiton-mb",
        "iamb",
        "kiamb",
        "mrmr",
        "pcmb",
        "ppfs",
        "sgai",
        "srs",
    }
    assert len(strike) > 0.9 * len(WITH_TEST)


@pytest.mark.parametrize("name", WITH_TEST)
def test_a_budget_of_what_is_needed_changes_nothing_and_one_less_does(name):
    needed = max(unlimited(name).n_tests)
    if needed < 2:
        pytest.skip("needs the marginal tests alone, or one more")
    assert Stages(name, Limits(max_tests=needed, time_limit=1e6)).outcome == unlimited(name).outcome
    less = Stages(name, Limits(max_tests=needed - 1))
    assert (less.problem.status == "timeout") if name in ANYTIME else less.error


@pytest.mark.parametrize("name", WITH_TEST)
def test_when_time_is_over_no_test_is_computed(name):
    features, target = data()
    if not max(unlimited(name).n_tests):
        pytest.skip("needs the marginal tests alone")
    if name not in ANYTIME:
        with pytest.raises(LimitReached, match=r"the time limit of 0.000000001 s \(time_limit\) was reached\. Raise"):
            run_fold(method(name), ci_test(name), features, target, 0, PASSED)
        return
    outcome = run_fold(method(name), ci_test(name), features, target, 0, PASSED)
    assert outcome.status == "timeout"
    assert "stopped: the time limit of 0.000000001 s (time_limit) was reached. Raise it." in outcome.reason
    assert outcome.n_tests == len(features.names)
    considered = {step.feature for step in outcome.grown}
    assert {step.feature for step in outcome.decisions if step.kept} <= considered


@pytest.mark.parametrize("name", WITH_TEST)
def test_a_fold_spends_its_limits_stage_by_stage(name):
    features, target = data()
    n_marginal, budget = len(features.names), max(*unlimited(name).n_tests, 1)
    outcome = run_fold(method(name), ci_test(name), features, target, 0, Limits(max_tests=budget))
    assert outcome.n_tests == n_marginal + sum(unlimited(name).n_tests)
    free = run_fold(method(name), ci_test(name), features, target, 0)
    grown, decisions, _, status, reason, answers, _ = unlimited(name).outcome
    for one in (outcome, free):
        assert (one.grown, one.decisions, one.status, one.reason, one.answers) == (
            grown, decisions, status, reason, answers,
        )  # fmt: skip


# --- what stands when a limit strikes -------------------------------------------------------------------------------

NAMES = list("abcd")


def fold(chosen, answer, limits):
    table = Table([Column(name, "numeric", np.zeros(2)) for name in NAMES])
    return run_fold(chosen, KnownTest(answer=answer), table, Column("y", "numeric", np.zeros(2)), 0, limits)


def when(*dependent):
    return lambda x, y, given: 0.01 if f"{x}|{''.join(sorted(given))}" in dependent else 0.9


def test_candidates_that_were_not_decided_stay():
    # Growing takes three tests: b|a, c|ab and d|abc. Shrinking too, up to a|cd, after b has left.
    outcome = fold(GS(), when("a|", "b|a", "c|ab", "d|abc", "a|bcd", "a|cd"), Limits(max_tests=3))
    assert [s.feature for s in outcome.grown] == NAMES
    assert [(s.feature, s.kept) for s in outcome.decisions] == [("b", False), ("a", True), ("c", True), ("d", True)]
    assert outcome.status == "timeout"
    assert outcome.reason.startswith(
        "shrink stopped: the test budget of 3 (max_tests) is spent: 3 done, 1 more wanted."
    )


def test_growing_by_the_strongest_spends_a_scan_at_once():
    # The first scan is the marginal one, which is free; the second wants three tests, of which two are allowed.
    outcome = fold(IAMB(), lambda x, y, given: 0.01, Limits(max_tests=2))
    assert [s.feature for s in outcome.grown] == ["a"]
    assert outcome.n_tests == 4
    assert outcome.reason.startswith("grow stopped: the test budget of 2 (max_tests) is spent: 0 done, 3 more wanted.")
    assert [s.feature for s in outcome.decisions if s.kept] == ["a"]


def test_runs_of_kiamb_that_were_made_count():
    features, target = data()
    g2 = bf.get_ci_test("g2")
    free = run_fold(KIAMB(n_runs=6, k=0.3), g2, features, target, 0)
    some = run_fold(KIAMB(n_runs=6, k=0.3), g2, features, target, 0, Limits(max_tests=60))
    n_made = sum(answer.count for answer in some.answers)
    assert sum(answer.count for answer in free.answers) == 6 and 1 <= n_made < 6
    assert some.reason.startswith(f"{n_made} of 6 runs were made: the test budget of 60 (max_tests) is spent")
    few = run_fold(KIAMB(n_runs=n_made, k=0.3), g2, features, target, 0)
    assert (some.answers, some.decisions) == (few.answers, few.decisions)


def test_boundaries_of_tie_star_that_were_found_count():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 400)
    X = pd.DataFrame({f"a{i}": a for i in range(6)}).astype(str)
    y = np.where(rng.random(400) < 0.9, a, 1 - a)
    free = bf.TIEStar(alpha=0.01).fit(X, y)
    assert free.blankets_ == [[f"a{i}"] for i in range(6)] and free.status_ == "ok"
    some = bf.TIEStar(alpha=0.01, max_tests=12).fit(X, y)
    assert 1 < len(some.blankets_) < 6
    assert some.blankets_ == free.blankets_[: len(some.blankets_)]
    assert some.selected_features_ == ["a0"]
    assert some.status_ == "timeout" and some.reason_.startswith("shrink stopped: ")


def test_a_tie_star_that_was_stopped_in_its_first_search_has_one_answer_at_most():
    outcome = fold(TIEStar(), lambda x, y, given: 0.01, Limits(max_tests=1))
    assert outcome.reason.startswith("grow stopped: ")
    assert [answer.features for answer in outcome.answers] == [("a",)]


# --- limits and their allowance -------------------------------------------------------------------------------------


def test_no_limits_allow_everything():
    assert Limits().start() is None and Limits() == NO_LIMITS


def test_tests_are_taken_all_or_not_at_all():
    allowance = Limits(max_tests=5).start()
    allowance.spend(3)
    with pytest.raises(LimitReached, match="3 done, 4 more wanted"):
        allowance.spend(4)
    allowance.spend(2)
    with pytest.raises(LimitReached, match="5 done, 1 more wanted"):
        allowance.spend(1)


def test_an_allowance_begins_anew_with_a_stage():
    limits = Limits(max_tests=2)
    limits.start().spend(2)
    limits.start().spend(2)


def test_time_that_is_over_is_named_first():
    with pytest.raises(LimitReached, match=r"time limit of 0.000000001 s \(time_limit\) was reached\. Raise"):
        Limits(time_limit=1e-9, max_tests=1).start().spend(5)
    Limits(time_limit=3600.0).start().spend(10**9)


def test_memory_and_the_marginal_results_are_free():
    table = Table([Column(name, "numeric", np.zeros(2)) for name in [*NAMES, "y"]])
    bound = KnownTest(answer=lambda *_: 0.5).bind(table)
    bound.remember(NAMES, "y", marginal_pass(KnownTest(answer=lambda *_: 0.5), table, "y", 0))
    bound.allowance = Limits(max_tests=2).start()
    bound.test_many(NAMES, "y")
    bound.test_many(["a", "b"], "y", given=["c"])
    bound.test_many(["b", "a", "a"], "y", given=["c"])
    assert bound.n_tests == 2
    with pytest.raises(LimitReached):
        bound.test("d", "y", given=["c"])
    assert bound.n_tests == 2


def test_the_most_serious_status_stays_with_its_first_reason():
    problem = Problem([], "y", None, 0, lambda: None, lambda _: None)
    for status, reason in [("unreliable", "first"), ("ok", ""), ("unreliable", "second")]:
        problem.say(status, reason)
    assert (problem.status, problem.reason) == ("unreliable", "first")
    problem.say("timeout", "third")
    problem.say("unreliable", "fourth")
    assert (problem.status, problem.reason) == ("timeout", "third")
    assert worst_status([]) == ("ok", "")


def test_a_reached_limit_is_one_of_our_errors():
    assert issubclass(LimitReached, BlanketflowError)


# --- methods without a CI test, and validation inside a stage ---------------------------------------------------------


@dataclass
class Slow(GS):
    """Admits season, outlasts any limit of 1 ms, then would admit cough."""

    default_test: ClassVar[str | None] = None

    def grow(self, problem):
        yield Step("season")
        time.sleep(0.002)
        problem.check_time()
        yield Step("cough")

    def shrink(self, problem, candidates):
        return candidates


def test_a_method_without_a_test_is_stopped_by_the_time():
    features, target = data()
    stopped, free = (run_fold(Slow(), None, features, target, 0, Limits(time_limit)) for time_limit in (0.001, None))
    assert [s.feature for s in stopped.decisions] == ["season"] and stopped.status == "timeout"
    assert [s.feature for s in free.decisions] == ["season", "cough"] and free.status == "ok"
    by_tests = run_fold(Slow(), None, features, target, 0, Limits(max_tests=1))
    assert [s.feature for s in by_tests.decisions] == ["season", "cough"]


def test_a_problem_on_some_rows_is_that_of_a_table_of_these_rows():
    features, target = data()
    rows, g2 = np.arange(0, 300, 2), bf.get_ci_test("g2")
    problem = Stages("gs").problem
    inner = problem.on_rows(rows, seed=5)
    table = features.take(rows).with_column(target.take(rows))
    assert inner.table.matrix().tolist() == table.matrix().tolist()
    assert (inner.features, inner.target, inner.seed) == (problem.features, problem.target, 5)
    expected = marginal_pass(g2, table, target.name, 5)
    assert inner.marginal.p_value.tolist() == expected.p_value.tolist()
    a, b = features.names[:2]
    assert inner.test.test(a, target.name, [b]) == g2.bind(table, seed=5).test(a, target.name, [b])
    assert inner.n_tests == 1


def test_a_problem_on_some_rows_spends_the_stage_s_allowance():
    features, target = data()
    d = len(features.names)
    table, g2 = features.with_column(target), bf.get_ci_test("g2")
    bound = g2.bind(table, seed=0, target=target.name)
    problem = Problem(
        features.names, target.name, bound.test_many(features.names, target.name), 0, lambda: table, lambda _: bound,
        Limits(max_tests=d + 2),
    )  # fmt: skip
    problem.begin_stage()
    inner = problem.on_rows(np.arange(200), seed=5)
    assert (problem.n_inner_tests, problem.n_tests) == (d, d)
    a, b, c, *_ = features.names
    inner.test.test(a, target.name, [b])
    problem.test.test(a, target.name, [b])
    for one in (inner, problem):
        with pytest.raises(LimitReached, match=f"{d + 2} done, 1 more wanted"):
            one.test.test(a, target.name, [c])
    with pytest.raises(LimitReached):
        problem.on_rows(np.arange(100), seed=6)
    problem.n_inner_tests += inner.n_tests
    assert problem.n_tests == d + 2


# --- as scikit-learn selectors --------------------------------------------------------------------------------------


def frame():
    features, target = data()
    X = pd.DataFrame({c.name: np.array(c.levels)[c.numbers().astype(int)] for c in features.columns})
    return X, np.array(target.levels)[target.numbers().astype(int)]


def test_an_anytime_selector_says_that_it_was_stopped():
    X, y = frame()
    test = bf.get_ci_test("g2", unreliable="use")  # so that too few rows are no reason to doubt
    free = bf.GS(ci_test=test).fit(X, y)
    assert (free.status_, free.reason_) == ("ok", "")
    same = bf.GS(ci_test=test, max_tests=10_000, time_limit=1e6).fit(X, y)
    assert (same.selected_features_, same.n_tests_) == (free.selected_features_, free.n_tests_)
    stopped = bf.GS(ci_test=test, max_tests=1).fit(X, y)
    assert stopped.status_ == "timeout" and "max_tests" in stopped.reason_
    assert set(stopped.selected_features_) <= set(stopped.candidates_)
    assert stopped.n_tests_ <= X.shape[1] + 2
    late = bf.GS(ci_test=test, time_limit=1e-9).fit(X, y)
    assert late.status_ == "timeout" and "time_limit" in late.reason_ and late.n_tests_ == X.shape[1]


@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.extended)])
def test_a_selector_that_is_not_anytime_raises(n_jobs):
    X, y = frame()
    for limit in ({"max_tests": 1}, {"time_limit": 1e-9}):
        with pytest.raises(LimitReached, match=next(iter(limit))):
            bf.HITONMB(n_folds=2, n_jobs=n_jobs, **limit).fit(X, y)
    assert bf.HITONMB(max_tests=10_000).fit(X, y).selected_features_ == bf.HITONMB().fit(X, y).selected_features_


def test_the_status_is_that_of_the_worst_fold():
    X, y = frame()
    test = bf.get_ci_test("g2", unreliable="use")
    statuses = [bf.IAMB(ci_test=test, n_folds=4, max_tests=n).fit(X, y).status_ for n in (1, 20, 40, 60, 80, 10_000)]
    assert statuses[0] == "timeout" and statuses[-1] == "ok"
    assert statuses == sorted(statuses, reverse=True)


@pytest.mark.parametrize("limit", [{"max_tests": 0}, {"max_tests": 1.5}, {"time_limit": 0.0}, {"time_limit": "1 s"}])
def test_limits_out_of_range_are_refused_by_name(limit):
    X, y = frame()
    with pytest.raises(ParameterError, match=f"GS: {next(iter(limit))} is"):
        bf.GS(**limit).fit(X, y)
