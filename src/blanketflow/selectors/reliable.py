"""What a search says of itself if too few of its tests could be made."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..ci.tally import Tally
from ..search.steps import Step
from .base import Method, Problem

#: A search is not reliable if more than this share of its tests could not be made.
MOST_NOT_MADE = 0.25


def say_what_was_not_tested(method: Method, problem: Problem, kept: list[Step]) -> None:
    """Let a search say ``unreliable`` if its answer is for want of rows.

    That is so if it keeps nothing, and some features could not be tested; if more than `MOST_NOT_MADE` of the features
    could not be tested; or if more than that share of the tests given other features could not be made. Methods that
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


def _reasons(problem: Problem, kept: list[Step]) -> Iterator[str]:
    n_features, n_untested = len(problem.marginal), int((~problem.marginal.reliable).sum())
    if n_untested and (not kept or n_untested > MOST_NOT_MADE * n_features):
        yield f"{n_untested} of {n_features} features could not be tested: there are too few rows"
    tally = problem.test.tally if "test" in vars(problem) else Tally()
    n_asked = tally.n_made + tally.n_not_made
    if tally.n_not_made > MOST_NOT_MADE * n_asked:
        share = f"{tally.n_not_made / n_asked:.0%} of the" if tally.n_made else "none of the"
        could = "could not be made" if tally.n_made else "could be made"
        alone = ", so that the features kept were separated from nothing" if kept and not tally.n_made else ""
        said = f"{share} {n_asked:,} tests given other features {could}: there are too few rows"
        yield f"{said}{_needed(problem, tally)}{alone}"


def _needed(problem: Problem, tally: Tally) -> str:
    """Return how many rows the smallest of the tests that were not made needs, where that is known."""
    per_cell = problem.test.samples_per_cell(*tally.first[:2], tally.first[2:])
    if math.isinf(per_cell):
        return ""
    n_rows = math.ceil(problem.table.n_rows * problem.test.test_config.min_samples_per_cell / per_cell - 1e-9)
    return f" (at least {n_rows:,} are needed, there are {problem.table.n_rows:,})"
