"""Runs a method on one fold: the ci_test stage, then grow and shrink."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from ..ci.base import BoundTest, CITest
from ..core.convert import counted_from_least
from ..core.errors import DataError
from ..core.limits import NO_LIMITS, Limits
from ..core.messages import SILENT, Teller
from ..core.printable import listed
from ..core.prior import NOTHING, PriorKnowledge
from ..core.registry import is_foreign
from ..core.results import CIResults
from ..core.seeds import derive_seed
from ..core.table import Column, Table
from ..moves.steps import Steps, standing
from ..selectors.base import FoldOutcome, Method, Problem, refused_by, worst_status
from ..selectors.compatibility import check_min_effect, check_resolution
from .assumptions import doubts_of
from .isolated import is_isolated, results_isolated, stages_isolated
from .problems import with_min_effect, with_prior
from .stages import run_grow, run_shrink


def run_fold(
    method: Method,
    test: CITest | None,
    features: Table,
    target: Column,
    seed: int,
    limits: Limits = NO_LIMITS,
    tell: Teller = SILENT,
    prior: PriorKnowledge = NOTHING,
    where: str = "table",
    groups: np.ndarray | None = None,
    min_effect: float | None = None,
    n_jobs: int = 1,
    finds_stand_ins: bool = True,
    gaps: Mapping[str, int] | None = None,
) -> FoldOutcome:
    """Run ci_test, grow and shrink on one fold's rows.

    Features are searched in the order of their names, unless the method uses table order. `n_jobs` processes share the
    work if the method supports it; `gaps` counts each feature's missing cells. Raises `ParameterError`, starting with
    `where`, if nothing could be admitted, or `prior` or `min_effect` do not suit features, method or test.
    """
    check_resolution(method, test, prior.of(features.names, where, target.name).n_candidates(len(features)))
    check_min_effect(where, method, test, min_effect)
    features = counted_from_least(features if method.follows_order() else features.in_order_of_names())
    table = features.with_column(target)
    isolated, bind = is_isolated(method, test, limits), not_bound
    marginal, bound = None, None
    # The bound test of sums records refused tests, so it is kept, unless it is a plug-in.
    if test is not None and isolated and (is_foreign(test) or table.has_rows):
        marginal = test_stage(test, table, seed, target.name)[0]
        bind = partial(test.bind, seed=seed, target=target.name)
    elif test is not None:
        bound = test.bind(table, seed=seed, target=target.name)
        marginal = test_marginally(bound, target.name)
        # Without the excluded features another table is bound.
        known = bound
        bind = partial(test.bind, seed=seed, target=target.name) if prior.exclude else lambda _: known
    if marginal is not None:
        tell(f"{len(features):,} features tested given nothing, {features.n_rows:,} rows")
    problem = Problem(features.names, target.name, marginal, seed, lambda: table, bind, limits, tell=tell)
    problem.read_groups, problem.n_jobs, problem.finds_stand_ins = (lambda: groups), n_jobs, finds_stand_ins
    problem.read_gaps = lambda: gaps or {}
    problem = as_asked(problem, method, test, min_effect, prior, where)
    n_tests = problem.n_tests + (len(marginal) if marginal is not None else 0)
    if test is not None and marginal is not None and (doubts := test.doubts(table, target.name, marginal)):
        problem.say("unreliable", doubts)
    outcome = run_problem(method, problem, isolated)
    if not table.has_rows:
        refused = problem.refused_tables() | (refused_by(bound) if bound is not None else set())
        if why := why_refused(refused):
            outcome.status, outcome.reason = worst_status([("unreliable", why), (outcome.status, outcome.reason)])
    outcome.n_tests += n_tests
    outcome.doubts = doubts_of(problem, test, outcome.decisions)
    return outcome


def as_asked(
    problem: Problem,
    method: Method,
    test: CITest | None,
    min_effect: float | None,
    prior: PriorKnowledge,
    where: str,
) -> Problem:
    """Return a problem with prior knowledge applied, from which a method can start its own searches."""
    problem = with_prior(with_min_effect(problem, test, min_effect), method, test, prior, where)
    problem.search = run_fold
    return problem.of_varying() if method.keeps_untested else problem


def run_problem(method: Method, problem: Problem, isolated: bool = False) -> FoldOutcome:
    """Run grow and shrink on a problem, in another process if `isolated`; `n_tests` excludes the marginal tests."""
    before = problem.n_tests

    def both() -> list[Steps]:
        grown = run_grow(method, problem)
        return [grown, run_shrink(method, problem, standing(grown))]

    grown, decisions = stages_isolated(problem, both, n_stages=2) if isolated else both()
    n_tests = problem.n_tests - before
    said = (problem.status, problem.reason, list(problem.answers), problem.verdict)
    return FoldOutcome(problem.marginal, grown, decisions, n_tests, *said)


def not_bound(table: Table) -> BoundTest:
    """Raise an error if a test is bound where there is none."""
    raise RuntimeError("this method was configured without a CI test")


def test_stage(
    test: CITest, table: Table, seed: int, target: str, known: np.ndarray | None = None
) -> tuple[CIResults, np.ndarray | None]:
    """Bind a test, in another process for plug-ins, and return the ci_test stage's results and repeats."""

    def work() -> tuple[CIResults, np.ndarray | None]:
        bound = test.bind(table, seed=seed, target=target)
        repeats = test_by_repeats(bound, target, known)
        return (test_marginally(bound, target), None) if repeats is None else repeats

    return results_isolated(work) if is_foreign(test) else work()


def test_by_repeats(
    bound: BoundTest, target: str, known: np.ndarray | None = None
) -> tuple[CIResults, np.ndarray] | None:
    """Return the results of `test_stage` and the repeats, (d, n_repeats); None for a test without repeats.

    `known`, (d, repeats), are the first repeats on the same table with the same seed. They are not recomputed, and the
    results are identical.
    """
    engine = bound.engine
    if not hasattr(engine, "marginal_differences"):
        return None
    features, n_repeats = _features(bound, target), bound.test_config.n_repeats
    known = np.empty((len(features), 0)) if known is None else known[:, :n_repeats]
    differences = known
    if known.shape[1] < n_repeats:
        fresh = engine.marginal_differences(features, bound.table.position(target), first_repeat=known.shape[1])
        differences = np.hstack([known, fresh])
    return engine.judge(differences), differences


def test_marginally(bound: BoundTest, target: str) -> CIResults:
    """Run the ci_test stage: test every feature of the bound table against the target marginally."""
    return bound.test_many(_features(bound, target), target)


def why_refused(refused: set[tuple[str, ...]]) -> str:
    """Return in words that tests of some columns lack a table refused by a site; empty if all were made."""
    if not refused:
        return ""
    why = "since a cell of their table is too small to be told, or it has too many cells"
    return f"{len(refused)} tests were refused, {why}: {listed(map(', '.join, sorted(refused)), between='; ')}"


def _features(bound: BoundTest, target: str) -> np.ndarray:
    features = np.delete(np.arange(len(bound.table)), bound.table.position(target))
    if not len(features):
        raise DataError("the table has no features besides the target.")
    return features


def fold_seed(*identity: str | int) -> int:
    """Return the seed of one fold, from (base seed, data set, split, fold)."""
    return derive_seed(*identity, "fold")
