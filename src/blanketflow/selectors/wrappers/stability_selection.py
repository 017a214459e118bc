"""Stability selection: features that a ranking selects on most of many random halves of the rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ...core.cards import Card
from ...core.column_checks import clusters_of_copies
from ...core.errors import ParameterError
from ...core.parameters import choice, integer, number
from ...core.seeds import derive_rng
from ...core.table import Table
from ...moves.steps import INCLUDED, MEMBER, Step
from ..base import Method, Problem
from .halves import LASSO, RANKINGS, first_of, on_halves
from .lasso_path import lasso_path
from .stability_paths import Places, paths_by_strength

#: Estimated share of false features above which the answer is not reliable.
MOST_FALSE = 0.5
#: Share of features and copies that a half selects at most where the threshold comes from noise.
MOST_ENTERED = 0.75
#: Number of features named in a sentence.
MOST_NAMED = 10


@dataclass
class StabilitySelection(Method):
    """Keep the features that a ranking puts among its first on most of many random halves of the rows.

    The rows are divided at random into two disjoint halves, `pairs` times. On each half the ranking selects its first
    `n_features`. A feature is kept if the share of halves that select it, its statistic and importance, is at least
    `threshold`.

    A half selects only one of several near-copies, so that none may reach the threshold. The near-copy selected most
    often then gets the share of halves that select any of them (cluster stability selection). Grow admits the features
    that some half selects, largest share first, ties by name. Shrink keeps those with the threshold.

    Notes
    -----
    The guarantee is a bound on the expected number of kept features with a low selection probability, at most q / p on
    a random half, where q is `n_features` and p the number of features searched. The bound is q^2 / ((2 threshold - 1)
    p) for independent and identically distributed rows, any ranking and any number of pairs (Shah, Samworth 2013,
    theorem 1). It is no false discovery rate, and an irrelevant feature may have a high selection probability, such as
    a copy of a relevant one. Clustered near-copies are one feature to the theorem, and p is not lowered for them.

    `verdict_["paths"]` has the shares by the number of features that a half selects, which ``plot(paths=True)`` draws.
    `verdict_` also has the bound, and the reason says if it limits nothing. With ``n_features: null`` the ranking
    selects as many features as `bound` allows. Smaller bounds that assume a shape of the distribution of the shares are
    not used.

    With ``threshold: null`` the threshold comes from noise (Stabl): copies of all features, with their rows shuffled
    together, are ranked beside the features. If k features and m copies have at least a share, (m + 1) / k estimates
    the share of false ones among the k, `statistic` in this case. The share at which it is smallest is the threshold.
    The estimate is not a bound, and irrelevant features may be selected more often than copies, which depend on no
    relevant feature; docs/error-control.md has measured rates. It is at least 1 / k, so the answer is unreliable if
    only one or two features are relevant. The share of a feature is then the largest over 30 penalties of the lasso,
    down to a tenth of the first; other rankings select `n_features`, by default as many as a half has rows, at most
    three quarters of features and copies.

    The bound is for one search on all rows, not for aggregated folds: set ``folds: 0`` in a configuration. Halves are
    not stratified by the target, since they would then depend on each other. Rows of one group are in one half; then
    groups must be independent, and halves are of the groups. Included features are among the first of every half.

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
        "Bien (2022) Cluster stability selection, arXiv:2201.00494; threshold by noise: Hedou and others (2024) "
        "Discovery of sparse, reliable omic biomarkers with Stabl, Nature Biotechnology 42, 1581-1593, "
        "doi:10.1038/s41587-023-02033-x.",
        guarantee="in one search at most q^2 / ((2 threshold - 1) p) features kept in expectation whose probability of "
        "being selected on half the rows is at most q / p, if rows are independent; no false discovery rate; none with "
        "threshold: null",
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
        None,
        "Features that are selected on each half (q); null: as many as keep `bound`, or many if threshold is null.",
        at_least=1,
        nullable=True,
    )
    bound: float = number(
        1.0, "Most features of low selection probability, in expectation, where n_features is null.", above=0
    )
    threshold: float | None = number(
        0.75,
        "Share of the halves that must select a feature that stays; null: the share at which the fewest false features "
        "are estimated, by shuffled copies of the features.",
        above=0.5,
        at_most=1,
        nullable=True,
    )
    pairs: int = integer(50, "Number of complementary pairs of halves.", at_least=1)

    def check(self, where: str | None = None) -> None:
        """Raise an error if a value is out of range, or if a number of features is asked of penalties."""
        super().check(where)
        if self.by_penalties and self.n_features is not None:
            raise ParameterError(
                f"{where or type(self).__name__}: n_features is {self.n_features}, but with threshold null the lasso "
                "selects at each of many penalties. Leave n_features out, or name another ranking."
            )

    @property
    def by_penalties(self) -> bool:
        """Whether halves select at penalties of the lasso, and not a number of features."""
        return self.threshold is None and self.ranking == LASSO

    def proves_one_search(self) -> bool:
        """Whether the guarantee holds for one search only: yes."""
        return True

    def grow(self, problem: Problem) -> list[Step]:
        """Admit the features that some half selects, the largest share first."""
        d, is_by_noise = len(problem.features), self.threshold is None
        searched = beside_shuffled(problem) if is_by_noise else problem
        selected, paths = self._selected(searched)
        if is_by_noise:
            problem.n_inner_tests += searched.n_inner_tests
        shares = selected.mean(axis=1).max(axis=0)
        threshold = self.threshold or _least(shares[:d], false_shares(shares[:d], shares[d:]))
        for cluster in self._split_clusters(problem, shares[:d], threshold):
            for of in (cluster, [d + j for j in cluster])[: 1 + is_by_noise]:  # of features, and of their copies
                first = max(of, key=lambda j: shares[j])
                shares[first] = selected[:, :, of].any(axis=2).mean(axis=1).max()
        statistics, shares = false_shares(shares[:d], shares[d:]) if is_by_noise else shares, shares[:d]
        order = np.argsort(-shares, kind="stable")
        threshold = self.threshold or _least(shares, statistics)
        problem.verdict["paths"] = paths(problem.features, order.tolist(), threshold)
        return [counted(problem, j, float(statistics[j]), float(shares[j])) for j in order.tolist() if shares[j]]

    def _selected(self, problem: Problem) -> tuple[np.ndarray, Callable[..., dict[str, Any]]]:
        """Return what each half selects at each strength, (strengths, halves, d), and a function of stability paths.

        There is one strength, `n_selected` features, unless halves select `by_penalties`.
        """
        positions = {feature: j for j, feature in enumerate(problem.features)}
        penalties = penalties_of(problem) if self.by_penalties else np.zeros(0)
        selected = np.zeros((max(1, len(penalties)), 2 * self.pairs, len(positions)), dtype=bool)
        places = Places(0 if self.by_penalties else self.n_selected(len(positions), problem.table.n_rows))
        for half, inner in enumerate(on_halves(problem, self.pairs, self.ranking)):
            if not self.by_penalties:
                first = [positions[name] for name in first_of(inner, self.ranking, places.n_selected)]
                selected[0, half, first] = True
                places.add(first)
            elif inner.features and len(penalties):
                at = [positions[name] for name in inner.features]
                selected[:, half, at] = lasso_path(inner).sizes(penalties).T > 0
        if not self.by_penalties:
            return selected, partial(places.paths, 2 * self.pairs)
        selected[:, :, [positions[name] for name in problem.included]] = True
        return selected, partial(paths_by_strength, selected.mean(axis=1), selected.sum(axis=2).mean(axis=1))

    def _split_clusters(self, problem: Problem, shares: np.ndarray, threshold: float) -> Iterator[list[int]]:
        """Yield clusters of near-copies without a member above the threshold, the most selected one first."""
        at = [j for j in np.flatnonzero(shares).tolist() if problem.features[j] not in problem.feature_groups]
        for cluster in clusters_of_copies(problem.table, [problem.features[j] for j in at]):
            members = sorted((at[i] for i in cluster), key=lambda j: (-shares[j], j))
            if shares[members[0]] < threshold - ROUNDING:
                yield members

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterable[Step]:
        """Keep the features with the threshold, and state the guarantee, or the estimate."""
        bounded = self.threshold
        threshold, more = (
            self._by_noise(problem, candidates) if bounded is None else self._by_bound(problem, candidates, bounded)
        )
        decided = [replace(step, kept=step.importance >= threshold - ROUNDING) for step in candidates]
        names, n = [step.feature for step in decided if step.kept], len(problem.features)
        were = f"{len(names)} of {n} features were" if len(names) > 1 else f"{len(names) or 'None'} of {n} features was"
        unnamed = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        listed = f": {', '.join(names[:MOST_NAMED])}{unnamed}" if names else ""
        share = f"{100 * threshold:.3g} % of {2 * self.pairs} halves of the rows"
        problem.verdict["sentence"] = f"{were} selected on at least {share}{listed}. {more}"
        return decided

    def _by_bound(self, problem: Problem, candidates: Sequence[Step], threshold: float) -> tuple[float, str]:
        """Return the threshold, and the bound in words."""
        n, n_selected = len(problem.features), self.n_selected(len(problem.features), problem.table.n_rows)
        bound = worst_case_bound(n_selected, n, threshold)
        proved = (
            f"at most {bound:.3g} features are kept in expectation whose probability of being selected on half the "
            f"rows is at most {n_selected}/{n}"
        )
        problem.verdict.update(bound=bound, n_features=n_selected)
        if bound >= n:
            problem.say("unreliable", f"stability-selection proves nothing here: {proved}; lower n_features")
        is_none = all(step.importance < threshold - ROUNDING for step in candidates)
        few = f"A half selects only {n_selected}: a higher bound, or n_features, lets it select more. "
        return threshold, f"{few * is_none}In one search {proved}."

    def _by_noise(self, problem: Problem, candidates: Sequence[Step]) -> tuple[float, str]:
        """Return the threshold at which the fewest false features are estimated, and the estimate in words."""
        estimates = np.array([step.statistic for step in candidates])
        estimate = float(estimates.min(initial=1.0))
        told = f"By shuffled copies, a share of {estimate:.2g} of them is estimated to be false."
        problem.verdict.update(estimate=estimate)
        if estimate > MOST_FALSE:
            problem.say("unreliable", f"stability-selection found hardly more features than shuffled copies: {told}")
        return _least(np.array([step.importance for step in candidates]), estimates), told

    def n_selected(self, n_features: int, n_rows: int) -> int:
        """Return the number of features that each half selects; raises `ParameterError` if none meets the bound."""
        if self.n_features is not None:
            return min(self.n_features, n_features)
        if self.threshold is None:
            return max(1, min(n_rows // 2, int(MOST_ENTERED * n_features)))
        most = most_selected(self.bound, n_features, self.threshold)
        if not most:
            least = worst_case_bound(1, n_features, self.threshold)
            raise ParameterError(
                f"StabilitySelection: bound is {self.bound:g}, but one feature selected on each half of {n_features} "
                f"gives {least:.3g}. Raise bound or threshold, or set n_features."
            )
        return most


def beside_shuffled(problem: Problem) -> Problem:
    """Return the problem with a copy of each feature whose rows are shuffled, all in the same order.

    The copies depend on each other as the features do, but on neither the features nor the target.
    """
    table = problem.table
    columns = problem.columns(problem.features)
    order = derive_rng(problem.seed, "shuffled").permutation(table.n_rows)
    mark = " (shuffled)"
    while any(name + mark in table.names for name in columns):
        mark += "'"
    shuffled = [replace(column, name=column.name + mark) for column in table.select(columns).take(order).columns]
    wider = Table([*table.columns, *shuffled], table.design)
    found = copy(problem)
    found.__dict__.pop("table", None)
    found.read_table, found.marginal, found.n_inner_tests = (lambda: wider), None, 0
    found.features = [*problem.features, *(feature + mark for feature in problem.features)]
    groups = problem.feature_groups
    found.feature_groups = {**groups, **{name + mark: tuple(c + mark for c in of) for name, of in groups.items()}}
    return found


def false_shares(shares: np.ndarray, of_copies: np.ndarray) -> np.ndarray:
    """Return for each feature the estimated share of false ones among those with at least its share, (d,).

    `shares`, (d,), are of features, and `of_copies` of shuffled copies: (copies + 1) / features with at least as much.

    >>> false_shares(np.array([9, 5, 7]), np.array([1, 6, 0])).tolist()
    [1.0, 0.6666666666666666, 0.5]
    """
    features, copies = (
        len(of) - np.searchsorted(np.sort(of), shares - ROUNDING, side="left") for of in (shares, of_copies)
    )
    return (1 + copies) / features


def _least(shares: np.ndarray, estimates: np.ndarray) -> float:
    """Return the smallest share at which the estimate of false features is smallest; 1 without any share above 0."""
    least = estimates <= estimates.min(initial=np.inf) + ROUNDING
    return float(shares[least].min()) if shares.any() else 1.0


def counted(problem: Problem, j: int, statistic: float, importance: float) -> Step:
    """Return the step that admits a feature by what halves selected."""
    feature = problem.features[j]
    role = INCLUDED if feature in problem.included else MEMBER
    return Step(feature, statistic, importance=importance, role=role)


#: Number of penalties where the threshold comes from noise, and the last as a share of the first.
N_BY_NOISE, LAST_BY_NOISE = 30, 0.1


def penalties_of(problem: Problem) -> np.ndarray:
    """Return the penalties at which halves select where the threshold comes from noise, in descending order."""
    highest = lasso_path(problem).highest if problem.features else 0.0
    return np.geomspace(highest, LAST_BY_NOISE * highest, N_BY_NOISE) if highest else np.zeros(0)


#: Numbers of features are compared up to this rounding.
ROUNDING = 1e-9


def worst_case_bound(n_selected: int, n_features: int, threshold: float) -> float:
    """Return the largest expected number of kept features with selection probability at most n_selected / n_features.

    Let p_k be the probability that the base selector selects feature k on half the rows. For a complementary pair of
    halves, 1{A and B select k} >= 1{A selects k} + 1{B selects k} - 1, so a share of halves of at least t means a share
    of pairs in which both select k of at least 2 t - 1. The halves are disjoint, hence independent, and that share has
    expectation p_k^2. By Markov's inequality k is kept with probability at most p_k^2 / (2 t - 1). Summed over the
    features with p_k at most q / p, where all p_k sum to at most q = `n_selected`, this is at most q^2 / ((2 t - 1) p)
    (Shah, Samworth 2013, theorem 1 with theta = q / p, doi:10.1111/j.1467-9868.2011.01034.x). `threshold` t is above
    0.5.

    >>> worst_case_bound(10, 100, 0.75)
    2.0
    """
    return n_selected**2 / ((2 * threshold - 1) * n_features)


def most_selected(bound: float, n_features: int, threshold: float) -> int:
    """Return the largest q, at most all features, for which `worst_case_bound` is at most `bound`; 0 if there is none.

    >>> most_selected(2.0, 100, 0.75), most_selected(1.99, 100, 0.75), most_selected(0.01, 100, 0.75)
    (10, 9, 0)
    """
    return min(n_features, math.isqrt(math.floor(bound * (2 * threshold - 1) * n_features + ROUNDING)))
