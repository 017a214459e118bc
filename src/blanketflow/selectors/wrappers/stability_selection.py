"""Stability selection: features that a ranking selects on most of many random halves of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...core.errors import ParameterError
from ...core.near_copies import clusters_of_copies
from ...core.parameters import choice, integer, number
from ...core.seeds import derive_seed
from ...moves.steps import INCLUDED, MEMBER, Step
from ..base import Method, Problem
from ..stability.half_rankings import LASSO, RANKINGS, first_of, halved
from ..stability.stability_paths import ROUNDING, Places, complementary_halves, most_selected, worst_case_bound

#: Features that are named in the sentence on an answer.
MOST_NAMED = 10


@dataclass
class StabilitySelection(Method):
    """Keep the features that a ranking puts among its first on most of many random halves of the rows.

    The rows are divided at random into two halves, `pairs` times; the halves of a pair have no row in common. On each
    half the ranking selects its first `n_features`. A feature stays if the share of the halves that select it is at
    least `threshold`. The share is statistic and importance.

    Of near-copies each half selects one, so that none may reach the threshold. Then the one that is selected most often
    has the share of the halves that select any of them (cluster stability selection). Grow admits the features that
    some half selects, the largest share first, ties by name. Shrink keeps those with the threshold.

    Notes
    -----
    What is proved is a bound on the number of features of low selection probability that are kept, in expectation. Low
    is at most q / p, where q is `n_features`, p the number of features searched, and the probability that of being
    selected on a random half. The bound is q^2 / ((2 threshold - 1) p), if rows are independent and of one law, for
    every ranking and every number of pairs (Shah, Samworth 2013, theorem 1). It is no false discovery rate, and a
    feature that says nothing may have a high selection probability, such as a copy of one that matters. Near-copies
    that are counted together are one feature to the theorem, and p is not lowered for them.

    `verdict_["paths"]` has how the shares grow with the number of features that a half selects, which
    ``plot(paths=True)`` draws. `verdict_` also has the bound that holds, and the reason says so where it does not limit
    anything. With ``n_features: null`` the ranking selects as many features as keep `bound`. The bounds that assume a
    shape of the distribution of the shares are smaller, and not used.

    It holds for one search on all rows, not for what folds agree on: set ``folds: 0`` in a configuration. Halves are
    not balanced by the target, since they would depend on each other. Rows of one group are in one half: then groups
    must be independent, and halves are of the groups. Included features are among the first of every half.

    Examples
    --------
    >>> import numpy as np
    >>> import blanketflow as bf
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> found = bf.StabilitySelection(n_features=5).fit(X, X[:, 3] - X[:, 7])
    >>> found.selected_features_, found.verdict_["bound"]
    (['x3', 'x7'], 1.0)
    """

    card: ClassVar[Card] = Card(
        id="stability-selection",
        name="stability selection",
        family="wrapper",
        summary="Keeps features that a ranking selects on most of many complementary pairs of halves of the rows.",
        reference="Meinshausen, Buehlmann (2010) Stability selection, JRSS B 72(4), 417-473, "
        "doi:10.1111/j.1467-9868.2010.00740.x; Shah, Samworth (2013) Variable selection with error control: another "
        "look at stability selection, JRSS B 75(1), 55-80, doi:10.1111/j.1467-9868.2011.01034.x; clusters: Faletto, "
        "Bien (2022) Cluster stability selection, arXiv:2201.00494.",
        guarantee="in one search at most q^2 / ((2 threshold - 1) p) features kept in expectation whose probability of "
        "being selected on half the rows is at most q / p, if rows are independent; no false discovery rate",
        work="halves",
        cost="2 pairs rankings of half the rows; tests only if the ranking makes some",
        importance="the share of the halves on which it was selected",
    )
    default_test: ClassVar[str | None] = None
    takes_feature_groups: ClassVar[bool] = True

    ranking: str = choice(
        LASSO,
        "What selects on each half: the features that enter the lasso's path first (lasso), or the first of a ranking "
        "with its default options; those by mutual information use g2.",
        (LASSO, *RANKINGS),
    )
    n_features: int | None = integer(
        None, "Features that are selected on each half (q); null: as many as keep `bound`.", at_least=1, nullable=True
    )
    bound: float = number(
        1.0, "Most features of low selection probability, in expectation, where n_features is null.", above=0
    )
    threshold: float = number(0.75, "Share of the halves that must select a feature that stays.", above=0.5, at_most=1)
    pairs: int = integer(50, "Number of complementary pairs of halves.", at_least=1)

    def proves_one_search(self) -> bool:
        """Whether what is proved holds for one search only: it does."""
        return True

    def grow(self, problem: Problem) -> list[Step]:
        """Admit the features that some half selects, the largest share first."""
        n_halves, positions = 2 * self.pairs, {feature: j for j, feature in enumerate(problem.features)}
        n_selected = self.n_selected(len(positions))
        counts, places = np.zeros(len(positions), dtype=np.int64), Places(n_selected)
        selected: list[frozenset[int]] = []
        halves = complementary_halves(problem.table.n_rows, problem.groups, self.pairs, problem.seed)
        for pair, both in enumerate(halves):
            for half, rows in enumerate(both):
                problem.check_time()
                seed = derive_seed(problem.seed, "stability-selection", pair, half)
                inner = halved(problem, rows, seed, self.ranking)
                first = [positions[name] for name in first_of(inner, self.ranking, n_selected)]
                counts[first] += 1
                selected.append(frozenset(first))
                places.add(first)
                problem.n_inner_tests += inner.n_tests
        for cluster in self._split_clusters(problem, counts, n_halves):
            counts[cluster[0]] = sum(1 for first in selected if not first.isdisjoint(cluster))
        order = np.argsort(-counts, kind="stable")
        shares = counts / n_halves
        problem.verdict["paths"] = places.paths(problem.features, order.tolist(), n_halves, self.threshold)
        return [self._step(problem, j, float(shares[j])) for j in order.tolist() if counts[j]]

    def _split_clusters(self, problem: Problem, counts: np.ndarray, n_halves: int) -> Iterator[list[int]]:
        """Yield the clusters of near-copies of which none is selected often enough, the most selected one first."""
        at = [j for j in np.flatnonzero(counts).tolist() if problem.features[j] not in problem.feature_groups]
        for cluster in clusters_of_copies(problem.table, [problem.features[j] for j in at]):
            members = sorted((at[i] for i in cluster), key=lambda j: (-counts[j], j))
            if counts[members[0]] / n_halves < self.threshold - ROUNDING:
                yield members

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterable[Step]:
        """Keep the features with the threshold, and say what is proved of them."""
        n, n_selected = len(problem.features), self.n_selected(len(problem.features))
        bound = worst_case_bound(n_selected, n, self.threshold)
        proved = (
            f"at most {bound:.3g} features are kept in expectation whose probability of being selected on half the "
            f"rows is at most {n_selected}/{n}"
        )
        sentence = self._sentence(candidates, n, n_selected, proved)
        problem.verdict.update(bound=bound, n_features=n_selected, sentence=sentence)
        if bound >= n:
            problem.say("unreliable", f"stability-selection proves nothing here: {proved}; lower n_features")
        return [replace(step, kept=self._is_stable(step)) for step in candidates]

    def n_selected(self, n_features: int) -> int:
        """Return how many features each half selects of so many; raises `ParameterError` if none keeps the bound."""
        if self.n_features is not None:
            return min(self.n_features, n_features)
        most = most_selected(self.bound, n_features, self.threshold)
        if not most:
            least = worst_case_bound(1, n_features, self.threshold)
            raise ParameterError(
                f"StabilitySelection: bound is {self.bound:g}, but one feature selected on each half of {n_features} "
                f"gives {least:.3g}. Raise bound or threshold, or set n_features."
            )
        return most

    def _is_stable(self, step: Step) -> bool:
        return step.importance >= self.threshold - ROUNDING

    def _sentence(self, candidates: list[Step], n: int, n_selected: int, proved: str) -> str:
        names = [step.feature for step in candidates if self._is_stable(step)]
        were = f"{len(names)} of {n} features were" if len(names) > 1 else f"{len(names) or 'None'} of {n} features was"
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        listed = f": {', '.join(names[:MOST_NAMED])}{more}" if names else ""
        share = f"{100 * self.threshold:g} % of {2 * self.pairs} halves of the rows"
        few = "" if names else f" A half selects only {n_selected}: a higher bound, or n_features, lets it select more."
        return f"{were} selected on at least {share}{listed}.{few} In one search {proved}."

    @staticmethod
    def _step(problem: Problem, j: int, share: float) -> Step:
        feature = problem.features[j]
        role = INCLUDED if feature in problem.included else MEMBER
        return Step(feature, share, importance=share, role=role)
