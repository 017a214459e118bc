"""Interleaved incremental association Markov blanket (inter-IAMB)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from ...core.cards import Card
from ...search.backward import remove_until_stable
from ...search.forward import strongest_dependent
from ...search.steps import Step
from ..base import Problem
from .gs import CORRECTION_GUARANTEE, GS


@dataclass
class InterIAMB(GS):
    """Admit as IAMB does, with a backward pass after every admission, which keeps conditioning sets small.

    Notes
    -----
    On finite samples, admissions and removals can contradict each other for ever. When a set occurs again, the search
    stops with status ``unreliable``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> bf.InterIAMB(ci_test="fisher-z").fit(X, y).selected_features_[:2]
    ['s5', 'bmi']
    """

    card: ClassVar[Card] = Card(
        id="inter-iamb",
        name="interleaved IAMB (inter-IAMB)",
        family="causal",
        summary="IAMB with a backward pass after every admission.",
        reference="Tsamardinos, Aliferis, Statnikov (2003) Algorithms for large scale Markov blanket discovery, "
        "FLAIRS 16, 376-381.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets"
        + CORRECTION_GUARANTEE,
        cost="d tests per admission, and at most |S|^2 in the backward pass after it",
    )

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Admit the strongest and remove false positives, alternately."""

        def admit(members: list[str]) -> Iterable[Step]:
            ranked = strongest_dependent(
                problem.test, problem.target, problem.features, members, self.alpha, self.max_k
            )
            return islice(ranked, 1)

        return grow_and_shrink_alternately(problem, admit, self.alpha)


def say_cycle(problem: Problem, members: Sequence[str]) -> None:
    """Note in the problem's status that a search went in circles."""
    names = ", ".join(sorted(members)) or "the empty set"
    problem.say("unreliable", f"admissions and removals contradict each other: the search came back to {names}.")


#: Returns the admissions of one round for the members; none when the search is over.
Admit = Callable[[list[str]], Iterable[Step]]


def grow_and_shrink_alternately(problem: Problem, admit: Admit, alpha: float) -> Iterator[Step]:
    """Admit a round of features and remove false positives, repeatedly, until a round admits none.

    The included features are admitted first and never removed. `admit` returns the admissions of the next round for the
    members. On finite samples this can cycle. It ends when a set of members occurs for the second time, and the problem
    says so.
    """
    yield from problem.admit_included()
    members = list(problem.included)
    seen: set[frozenset[str]] = set()
    while frozenset(members) not in seen:
        seen.add(frozenset(members))
        newcomers = []
        for admission in admit(list(members)):
            yield admission
            newcomers.append(admission.feature)
        if not newcomers:
            return
        members += newcomers
        for decision in remove_until_stable(problem.test, problem.target, members, alpha, staying=problem.included):
            if not decision.kept:
                members.remove(decision.feature)
                yield decision
    say_cycle(problem, members)
