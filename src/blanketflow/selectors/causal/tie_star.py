"""Target information equivalence (TIE*): all Markov boundaries."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...ci.base import BoundTest
from ...ci.predictive.model_losses import held_out_losses
from ...core.cards import Card
from ...core.parameters import choice, integer, number
from ...moves.backward import remove_until_stable
from ...moves.forward import admit_strongest
from ...moves.parents_and_children import semi_interleaved_neighbours
from ...moves.steps import Answer, Step, is_dependent, standing
from ..base import Method, Problem, members

TOO_MANY = "there may be more than {} Markov boundaries (max_blankets). Raise it."
TOO_FEW_ROWS = (
    "there may be more Markov boundaries: the rows were too few to compare {} of the candidates with the first. Take "
    "criterion: prediction, or a test that needs fewer rows."
)
N_FOLDS = 10


@dataclass
class TIEStar(Method):
    """Find a Markov boundary, then further ones by repeating the search without some features of those found.

    The base method runs on all features, then without each smallest set G of features that intersects every boundary
    found and contains no set that failed. Its result is accepted if the target is independent of the first boundary
    given it (``criterion: independence``), or if a model predicts as well from it (``prediction``); otherwise G failed.
    The first boundary is the answer, all are in `blankets_`. With too few rows to decide, a set is not accepted, and
    `reason_` says so.

    Notes
    -----
    The base methods have no symmetry correction, since it would delete both of two duplicates. ``si-hiton-pc`` finds no
    spouses; use it where the target has none.

    Examples
    --------
    Two copies of the same signal are two Markov boundaries:

    >>> import numpy as np, pandas as pd, blanketflow as bf
    >>> y = np.arange(200) % 2
    >>> X = pd.DataFrame({"a": y ^ (np.arange(200) % 7 == 0), "noise": np.arange(200) % 3})
    >>> X["copy"] = X["a"]
    >>> bf.TIEStar().fit(X.astype(str), y).blankets_
    [['a'], ['copy']]
    """

    card: ClassVar[Card] = Card(
        id="tie-star",
        name="target information equivalence (TIE*)",
        family="causal",
        summary="All Markov boundaries, by searching again without features of those found.",
        reference="Statnikov, Lytkin, Lemeire, Aliferis (2013) Algorithms for discovery of multiple Markov "
        "boundaries, JMLR 14, 499-566.",
        guarantee="all Markov boundaries and no others with exact tests, where the base method finds one in every part "
        "of the features that holds one, criterion independence and no limit on their number",
        cost="one run of the base method per Markov boundary, and one per set that failed",
    )
    why_no_correction: ClassVar[str] = (
        "it compares several blankets with each other, and a feature that one of them lacks is not false"
    )
    draws_rows: ClassVar[bool] = False
    takes_feature_groups: ClassVar[bool] = True
    learns_from: ClassVar[str] = "tests"
    anytime: ClassVar[bool] = True

    alpha: float = number(0.05, "Significance level.", above=0, below=1)
    base: str = choice("iamb", "Base method; without a symmetry correction.", ("iamb", "si-hiton-pc"))
    max_k: int | None = integer(
        None, "Largest conditioning set of the base method; null for no limit.", at_least=0, nullable=True
    )
    criterion: str = choice(
        "independence", "When a set counts as a Markov boundary.", ("independence", "prediction")
    )  # fmt: skip
    max_blankets: int | None = integer(
        100, "Largest number of Markov boundaries; null for no limit.", at_least=1, nullable=True
    )

    def reads_rows(self) -> str:
        """Return what reads the rows besides the CI test."""
        return "compares sets by models of rows" if self.criterion == "prediction" else ""

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Grow the first Markov boundary on all features."""
        return self._grow_on(problem, problem.features)

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterator[Step]:
        """Shrink the first Markov boundary; then find the others."""
        decisions = []
        for decision in self._shrink_to(problem, candidates):
            decisions.append(decision)
            yield decision
        first = tuple(step.feature for step in members(decisions))
        problem.answers.append(Answer(first))
        exclusions, n_undecided = Exclusions(first), 0
        while (left_out := exclusions.next()) is not None:
            if len(problem.answers) == self.max_blankets:
                problem.say("unreliable", TOO_MANY.format(self.max_blankets))
                break
            kept = [feature for feature in problem.features if feature not in left_out]
            again = list(self._shrink_to(problem, standing(self._grow_on(problem, kept))))
            candidate = tuple(step.feature for step in members(again))
            is_boundary = self._is_boundary(problem, candidate, first)
            if is_boundary:
                problem.answers.append(Answer(candidate))
                exclusions.found.append(candidate)
            else:
                exclusions.failed.append(left_out)
                n_undecided += is_boundary is None
        if n_undecided:
            problem.say("unreliable", TOO_FEW_ROWS.format(n_undecided))

    def _grow_on(self, problem: Problem, features: list[str]) -> Iterable[Step]:
        if self.base == "iamb":
            return admit_strongest(problem.test, problem.target, features, self.alpha, self.max_k)
        found = semi_interleaved_neighbours(problem.test, problem.target, features, self.alpha, self.max_k)
        return [*found.removals, *found.members]

    def _shrink_to(self, problem: Problem, candidates: Sequence[Step]) -> Iterable[Step]:
        if self.base == "si-hiton-pc" or not candidates:
            return candidates
        names = [candidate.feature for candidate in candidates]
        return remove_until_stable(problem.test, problem.target, names, self.alpha)

    def _is_boundary(self, problem: Problem, candidate: tuple[str, ...], first: tuple[str, ...]) -> bool | None:
        if self.criterion == "prediction":
            return predicts_as_well(problem, candidate, first, self.alpha)
        return tells_nothing_more(problem.test, problem.target, first, candidate, self.alpha)


class Exclusions:
    """Sets of features to leave out, smallest first, that intersect every boundary found and contain no failed set.

    A further boundary lacks some feature of every boundary found. Leaving out a set of such features keeps it and hides
    all boundaries found; if no such set is left, there is no further boundary. Sets grow by features of a boundary that
    they do not intersect (Reiter's hitting-set tree). Among sets of equal size, those with earlier features of the
    first boundary come first. The caller appends each new boundary to `found`, and each set without a boundary to
    `failed`.

    >>> exclusions = Exclusions(["a", "b"])
    >>> sorted(exclusions.next())
    ['a']
    >>> exclusions.found.append(["b", "c"])
    >>> sorted(exclusions.next())
    ['b']
    >>> exclusions.failed.append(frozenset("b"))
    >>> sorted(exclusions.next())
    ['a', 'c']
    >>> exclusions.failed.append(frozenset("ac"))
    >>> exclusions.next() is None
    True
    """

    def __init__(self, first: Sequence[str]) -> None:
        self.found = [first]
        self.failed: list[frozenset[str]] = []
        self._open: deque[frozenset[str]] = deque([frozenset()])
        self._seen: set[frozenset[str]] = set()

    def next(self) -> frozenset[str] | None:
        """Return the next set, or None; it does not change until `found` or `failed` excludes it."""
        while self._open:
            left_out = self._open[0]
            if not any(bad <= left_out for bad in self.failed):
                unmet = next((boundary for boundary in self.found if left_out.isdisjoint(boundary)), None)
                if unmet is None:
                    return left_out
                larger = [left_out | {feature} for feature in unmet]
                self._open.extend(choice for choice in larger if choice not in self._seen)
                self._seen.update(larger)
            self._open.popleft()
        return None


def tells_nothing_more(
    test: BoundTest, target: str, others: Sequence[str], given: Sequence[str], alpha: float
) -> bool | None:
    """Return whether the target is independent of some features given others; None if there are too few rows.

    Features that are not given are tested as one joint variable, or one after the other given the earlier ones if the
    test takes single columns only; both are equivalent by the chain rule of mutual information. An unreliable test does
    not show that two sets have the same information, unless its rule is to use unreliable results.
    """
    extra = [other for other in others if other not in given]
    if not extra:
        return True
    if test.card.column_sets:
        results = [test.test(extra, target, given=given)]
    else:
        results = [test.test(feature, target, given=(*given, *extra[:i])) for i, feature in enumerate(extra)]
    if any(is_dependent(test, result, alpha) for result in results):
        return False
    return True if test.unreliable == "use" or all(result.reliable for result in results) else None


def predicts_as_well(problem: Problem, candidate: Sequence[str], first: Sequence[str], alpha: float) -> bool:
    """Return whether held-out losses from `candidate` are not significantly larger than from `first`.

    Logistic or linear regression in 10-fold cross-validation with the same folds; one-sided paired t test at level
    `alpha`.
    """
    from scipy.stats import ttest_1samp
    from sklearn.linear_model import LinearRegression

    target = problem.target
    model = "logistic" if problem.table[target].is_discrete else LinearRegression()
    sets = [[feature for feature in problem.features if feature in chosen] for chosen in (candidate, first)]
    columns = [problem.columns(features) for features in sets]
    worse, better = (
        held_out_losses(problem.table, names, target, model, N_FOLDS, problem.seed, problem.groups) for names in columns
    )
    differences = worse - better
    if np.ptp(differences) == 0.0:
        return bool(differences[0] <= 0.0)
    return bool(ttest_1samp(differences, 0.0, alternative="greater").pvalue > alpha)
