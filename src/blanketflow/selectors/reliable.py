"""What a search says of itself if too few of its tests could be made."""

from __future__ import annotations

from collections.abc import Iterator

from ..ci.base import BoundTest
from ..ci.engines import columns_of
from ..ci.tally import Count, Tally
from ..core.printable import listed
from ..search.steps import Step
from .base import Method, Problem

#: A search is not reliable if more than this share of its tests could not be made.
MOST_NOT_MADE = 0.25
#: Nor if it admitted so many features, conditioning on all of them, that there are fewer rows for each.
ROWS_PER_ADMITTED = 5


def say_what_was_not_tested(method: Method, problem: Problem, kept: list[Step]) -> None:
    """Let a search say ``unreliable`` if its answer is for want of rows.

    That is so if it keeps nothing, and some features could not be tested; if more than `MOST_NOT_MADE` of the features
    could not be tested; if more than that share of the tests given other features could not be made; or if that is so
    of the round with which a forward search ended: then it ended for want of rows, and not because the rest is
    independent. A search that admits the strongest of many features again and again also ends where those admitted
    explain the target by chance, since there are hardly more rows than these: see `ROWS_PER_ADMITTED`. Methods that
    only measure information, and tests that use what is not reliable (``unreliable: use``), are taken as they are.

    Parameters
    ----------
    method : Method
        The method.
    problem : Problem
        The question, after a stage.
    kept : list of Step
        The features that stand after the stage.
    """
    if method.needs != "p-value" or problem.marginal is None:
        return
    for reason in _reasons(problem, kept):
        if getattr(problem.test.test_config, "unreliable", None) != "use":
            problem.say("unreliable", reason)


def refused_by(bound: BoundTest | None) -> set[tuple[str, ...]]:
    """Return the columns of the tests on counts that a bound test could not make since a place refused a table."""
    return getattr(bound.engine, "refused", set()) if bound is not None else set()


def why_refused(refused: set[tuple[str, ...]]) -> str:
    """Return in words that tests of some columns could not be made since a place refused a table; empty if all were."""
    if not refused:
        return ""
    why = "since a cell of their table is too small to be told, or it has too many cells"
    return f"{len(refused)} tests were refused, {why}: {listed(map(', '.join, sorted(refused)), between='; ')}"


def _reasons(problem: Problem, kept: list[Step]) -> Iterator[str]:
    n_features, n_untested = len(problem.marginal), int((~problem.marginal.reliable).sum())
    if n_untested and (not kept or n_untested > MOST_NOT_MADE * n_features):
        yield f"{n_untested} of {n_features} features could not be tested: there are too few rows"
    tally = problem.test.tally if "test" in vars(problem) else Tally()
    for count, given in ((tally.all, "given other features"), (tally.last_round, "given those that it had admitted")):
        if count is None or count.n_not_made <= MOST_NOT_MADE * count.n_asked:
            continue
        share = f"{count.n_not_made / count.n_asked:.0%} of the" if count.n_made else "none of the"
        could = "could not be made" if count.n_made else "could be made"
        said = f"{share} {count.n_asked:,} tests {given} {could}: there are too few rows{_needed(problem, count)}"
        if count is tally.last_round:
            said = f"the search ended for want of rows: {said}"
        yield said if tally.all.n_made or not kept else f"not separated: {said}"
    needed = ROWS_PER_ADMITTED * tally.n_admitted
    if needed and hasattr(problem.test.engine, "rows_needed") and needed > problem.table.n_rows:
        yield (
            f"{tally.n_admitted} features were admitted, for which there are too few rows (at least {needed:,} are "
            f"needed, there are {problem.table.n_rows:,}): a smaller alpha admits fewer"
        )


def _needed(problem: Problem, count: Count) -> str:
    """Return how many rows the smallest of the tests that were not made needs, where that is known."""
    if count.first is None:
        return ""
    candidate, (target, *given) = count.first
    n_rows = problem.test.rows_needed(candidate, target, tuple(given))
    count_rows = getattr(problem.test.engine, "n_complete", lambda _: problem.table.n_rows)
    there_are = count_rows((*columns_of(candidate), target, *given))
    return "" if n_rows is None else f" (at least {n_rows:,} are needed, there are {there_are:,})"
