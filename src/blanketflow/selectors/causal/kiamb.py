"""KIAMB: IAMB that admits the best of a random part of the candidates, run several times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...core.limits import LimitReached
from ...core.parameters import integer, number
from ...core.seeds import derive_rng
from ...search.forward import strongest_dependent
from ...search.steps import Answer, Step
from ..base import Problem, members
from .gs import CORRECTION_GUARANTEE, GS


@dataclass
class KIAMB(GS):
    """Run IAMB `n_runs` times, admitting each time the strongest of a random share `k` of the dependent features.

    Where several Markov blankets exist, runs find different ones: all distinct ones are kept with how often they came
    up, most frequent first, and the first is the answer. With ``k = 1`` every run is IAMB.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> selector = bf.KIAMB(ci_test="fisher-z", n_runs=5).fit(X, y)
    >>> sum(selector.blanket_counts_)
    5
    """

    card: ClassVar[Card] = Card(
        id="kiamb",
        name="KIAMB",
        family="causal",
        summary="IAMB with random admissions, run several times: several Markov blankets where there are several.",
        reference="Peña, Nilsson, Björkegren, Tegnér (2007) Towards scalable and data efficient learning of Markov "
        "boundaries, International Journal of Approximate Reasoning 45(2), 211-232, "
        "doi:10.1016/j.ijar.2006.06.008.",
        guarantee="each run an exact Markov blanket with exact tests, composition and no limit on conditioning sets"
        + CORRECTION_GUARANTEE,
        cost="n_runs times: d tests per admission, and at most |S|^2 in the backward pass",
    )

    k: float = number(0.8, "Share of the dependent features from which an admission is chosen.", at_least=0, at_most=1)
    n_runs: int = integer(10, "Number of runs.", at_least=1)

    def grow(self, problem: Problem) -> Iterator[Step]:
        """Grow the first run."""
        return self._grow_run(problem, 0)

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterator[Step]:
        """Shrink the first run, make the others, and decide by the most frequent blanket, the first found on ties."""
        runs = [list(super().shrink(problem, candidates))]
        try:
            for run in range(1, self.n_runs):
                runs.append(list(super().shrink(problem, list(self._grow_run(problem, run)))))
        except LimitReached as limit:
            problem.say("timeout", f"{len(runs)} of {self.n_runs} runs were made: {limit}")
        found = [frozenset(step.feature for step in run if step.kept) for run in runs]
        ordered = Counter(found).most_common()  # equal counts stay in the order in which they were found
        for blanket, count in ordered:
            first = members(runs[found.index(blanket)])
            problem.answers.append(Answer(tuple(step.feature for step in first), count))
        yield from runs[found.index(ordered[0][0])]

    def _grow_run(self, problem: Problem, run: int) -> Iterator[Step]:
        """Admit, until none depends, the strongest of max(1, floor(k count)) features drawn from the dependent ones."""
        rng = derive_rng(problem.seed, "kiamb", run)
        test, target, admitted = problem.test, problem.target, list(problem.included)
        yield from problem.admit_included()
        while dependent := list(strongest_dependent(test, target, problem.features, admitted, self.alpha, self.max_k)):
            n_drawn = max(1, int(self.k * len(dependent)))
            best = int(rng.choice(len(dependent), size=n_drawn, replace=False).min())  # they are sorted
            yield dependent[best]
            admitted.append(dependent[best].feature)
