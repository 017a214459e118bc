"""Integrated path stability selection (IPSS): expected numbers of false features from whole stability paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.cards import Card
from ...core.column_checks import clusters_of_copies
from ...core.parameters import anything, choice, integer, number
from ...core.seeds import derive_seed
from ...moves.steps import Step, Steps
from ..base import Method, Problem
from ..discoveries import ROUNDING, by_level, in_words, levels, reached
from ..learning import Importances
from .halves import LASSO, RANKINGS, on_halves
from .lasso_path import LAST, N_PENALTIES, lasso_path
from .stability_paths import paths_by_strength
from .stability_selection import counted

MODEL = "model"
#: Number of strengths: penalties of the lasso, or thresholds of importances.
N_OF_LASSO, N_OF_SCORES = 25, 100
#: The lasso's penalties end where it keeps this share of the features of all rows.
MOST_KEPT = 0.75
#: The smallest threshold of a model's importances, as a share of the largest importance.
SMALLEST = 1e-8
#: Number of features that are ranked on a half.
MOST_RANKED = 100
#: With fewer features, a random choice selects each one often.
FEW = 10
#: Expected numbers are rounded to this many decimals.
DECIMALS = 8


@dataclass
class IPSS(Method):
    """Keep the features whose stability paths, integrated over all strengths of selection, are high.

    The rows are divided at random into two disjoint halves, `pairs` times. On each half a lasso selects features at
    each of 25 penalties, or a model or a ranking at each of 100 thresholds. The stability path of a feature is the
    share of the halves that select it, by penalty or threshold. Its score is the integral of (2 share - 1)^power where
    the share is above 1/2. Stability selection uses a single point of the path.

    The bound of the integral for irrelevant features, divided by the score, is the expected number of false features
    if this feature and all with a higher score are kept (E(FP)). Divided by the number of these features it is an
    estimate of their false discovery rate; the smallest such rate of a set with the feature is its q-value. Features
    with a q-value of at most `q`, or with E(FP) of at most `max_false`, are kept.

    Grow admits the features with a score above 0, highest first; the statistic is E(FP), the importance the score.
    Shrink keeps those with the target. If no near-copy of a cluster is kept, the one with the highest score gets the
    shares of halves that select any of them.

    Notes
    -----
    E(FP) is bounded if rows are independent and identically distributed and, at every strength, up to 2 power halves
    all select an irrelevant feature with a probability of at most that of a random choice. Irrelevant features that
    depend on relevant ones can violate this. The number of features selected is estimated by its mean. **The q-values
    are estimates, and the false discovery rate is not guaranteed**; docs/error-control.md has measured rates.

    With fewer than ten features a random choice selects each one often, so that the bound is hardly below the scores.
    If nothing is found among them, the status is ``unreliable``.

    `discoveries_` has each feature with its q-value, and `verdict_["paths"]` the paths of up to 30 features. The bound
    is for one search on all rows: set ``folds: 0`` in a configuration.

    The package of the authors first removes features by a look at all rows, which this method does not. Its lasso of
    classes is logistic; here classes are regressed as indicators.

    Examples
    --------
    >>> import numpy as np
    >>> import blanketflow as bf
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> found = bf.IPSS(q=0.1).fit(X, X[:, 3] - X[:, 7] + np.random.default_rng(1).normal(size=200))
    >>> found.selected_features_
    ['x3', 'x7']
    >>> list(found.discoveries_.columns)
    ['feature', 'q', 'n_features', 'expected_false']
    """

    card: ClassVar[Card] = Card(
        id="ipss",
        name="integrated path stability selection (IPSS)",
        family="wrapper",
        summary="Keeps features whose share of halves that select them is high over all penalties or thresholds.",
        reference="Melikechi, Miller (2025) Integrated path stability selection, JASA, arXiv:2403.15877; "
        "Melikechi, Dunson, Miller (2025) Nonparametric IPSS: fast, flexible feature selection with false discovery "
        "control, Bioinformatics 41(5), btaf299, doi:10.1093/bioinformatics/btaf299.",
        guarantee="in one search at most max_false features kept in expectation that several halves all select with at "
        "most the probability of a random choice, if rows are independent and the mean number of features selected is "
        "known; no false discovery rate is proved",
        work="halves",
        cost="2 pairs lasso paths, fits of a model, or rankings of half the rows; tests only if the ranking makes some",
        importance="the integral of its stability path above one half",
    )
    default_test: ClassVar[str | None] = None
    takes_feature_groups: ClassVar[bool] = True

    q: float = number(0.1, "Target of the false discovery rate.", above=0, below=1)
    max_false: float | None = number(
        None, "Target of the expected number of false features, in place of q.", above=0, nullable=True
    )
    base: str = choice(
        LASSO,
        "What selects on each half: a lasso at each penalty (lasso), the importances of a fitted model above each "
        "threshold (model), or the first of a ranking with its default options; those by mutual information use g2.",
        (LASSO, MODEL, *RANKINGS),
    )
    model: Any = anything(
        "lightgbm", "The model for base: model; a model id, 'module:Class', or a scikit-learn estimator."
    )
    pairs: int = integer(50, "Number of complementary pairs of halves.", at_least=1)
    power: int | None = integer(
        None, "Power of 2 share - 1: 1, 2 or 3; null: 2 for the lasso, 3 for others.", at_least=1, nullable=True
    )
    cutoff: float = number(
        0.05, "The integral ends where its bound for the score of an irrelevant feature would be above this.", above=0
    )
    delta: float = number(
        1.0,
        "Strengths have the weight strength^-delta: 1 for equal weights of equal ratios, less for stronger ones.",
        at_least=0,
    )

    def check(self, where: str | None = None) -> None:
        """Raise an error if a value is out of range or the model is unknown."""
        from ...core.errors import ParameterError
        from ...models import get_model

        super().check(where)
        get_model(self.model)
        if self.power is not None and self.power > MOST_POWER:
            raise ParameterError(
                f"{where or type(self).__name__}: power is {self.power}, but must be 1, 2 or 3, or null."
            )

    def proves_one_search(self) -> bool:
        """Whether the guarantee holds for one search only: yes."""
        return True

    def grow(self, problem: Problem) -> list[Step]:
        """Admit the features with a score above 0, the smallest expected number of false features first."""
        strengths, layers = self._selections(problem)
        if not len(strengths):
            return []
        ever = np.zeros(len(problem.features), dtype=bool)
        for layer in layers():
            ever |= layer.any(axis=0)
        clusters = _clusters(problem, ever)
        read = [
            (
                layer.mean(axis=0),
                layer.sum(axis=1).mean(),
                [layer[:, cluster].any(axis=1).mean() for cluster in clusters],
            )
            for layer in layers()
        ]
        shares, sizes, together = (np.array(values) for values in zip(*read, strict=True))
        how = strengths, self.pairs, self.power or (2 if self.base == LASSO else 3), self.cutoff, self.delta
        expected, scores = expected_false(shares, sizes, *how)
        for at, cluster in enumerate(clusters):
            if not self._is_kept(expected)[cluster].any():
                first = cluster[int(np.argmax(scores[cluster]))]
                shares[:, first] = together[:, at]
        expected, scores = expected_false(shares, sizes, *how)
        order = np.lexsort((-scores, expected))
        problem.verdict["paths"] = paths_by_strength(shares, sizes, problem.features, order.tolist(), 0.5)
        return [counted(problem, j, float(expected[j]), float(scores[j])) for j in order.tolist() if scores[j] > 0]

    def _selections(self, problem: Problem) -> tuple[np.ndarray, Callable[[], Iterable[np.ndarray]]]:
        """Return the strengths, and a function that yields what each half selects at each of them, (halves, d)."""
        positions = {feature: j for j, feature in enumerate(problem.features)}
        if self.base != LASSO:
            scores = np.zeros((2 * self.pairs, len(positions)))
            for half, inner in enumerate(on_halves(problem, self.pairs, self.base)):
                at = [positions[name] for name in inner.features]
                scores[half, at] = self._scores(inner, half)
            least = 1 / (1 + min(MOST_RANKED, len(positions))) if self.base != MODEL else SMALLEST
            thresholds = scores.max(initial=0.0) * np.geomspace(1, least, N_OF_SCORES) if scores.any() else np.zeros(0)
            return thresholds, lambda: (scores > threshold for threshold in thresholds)
        penalties = _penalties(problem)
        selected = np.zeros((len(penalties), 2 * self.pairs, len(positions)), dtype=bool)
        if len(penalties):
            for half, inner in enumerate(on_halves(problem, self.pairs, self.base)):
                if inner.features:
                    at = [positions[name] for name in inner.features]
                    selected[:, half, at] = lasso_path(inner).sizes(penalties).T > 0
        return penalties, lambda: iter(selected)

    def _scores(self, problem: Problem, half: int) -> np.ndarray:
        """Return the importance of each feature of a half, or 1 / its place in the ranking."""
        features, target = problem.features, problem.table[problem.target]
        if not features or target.is_constant():
            return np.zeros(len(features))
        if self.base == MODEL:
            columns, seed = problem.table.select(problem.columns(features)), derive_seed(problem.seed, "ipss", half)
            counts = problem.column_counts
            return Importances(columns, self.model, MODEL, 1, seed, problem.groups, counts).of(target)
        most = min(MOST_RANKED, len(features))
        ranked = RANKINGS[self.base](n_features=most).beginning(problem, most)
        places = {step.feature: place for place, step in enumerate(ranked, 1)}
        return np.array([1 / places[name] if name in places else 0.0 for name in features])

    def _is_kept(self, expected: np.ndarray) -> np.ndarray:
        """Return which features have the target."""
        if self.max_false is not None:
            return expected <= self.max_false * (1 + ROUNDING)
        return reached(q_values(expected), self.q)

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Steps:
        """Keep the features with the target, and state it."""
        n, steps = len(problem.features), Steps.of(candidates)
        names = steps.feature.tolist()
        # Those that are no candidates have no score, and the largest expected number.
        expected = np.array([*steps.statistic.tolist(), *[float(n)] * (n - len(names))])
        smallest, kept = q_values(expected)[: len(names)], self._is_kept(expected)[: len(names)]
        if n < FEW and not kept.any():
            problem.say(
                "unreliable",
                f"the bound of ipss hardly lets anything be found among {n} features: raise q, or take dcrt",
            )
        problem.verdict["discoveries"] = by_level(names, smallest, expected_false=expected[: len(names)])
        if self.max_false is None:
            problem.verdict["sentence"] = in_words(problem.features, smallest, self.q, self.q)
        else:
            were = f"{kept.sum()} features are" if kept.sum() > 1 else f"{'One' if kept.any() else 'No'} feature is"
            problem.verdict["sentence"] = f"{were} kept with at most {self.max_false:g} false in expectation."
        return steps.with_columns(kept=kept)


def _penalties(problem: Problem) -> np.ndarray:
    """Return the penalties for all halves, in descending order: from twice the first at which all rows select none."""
    if not problem.features:
        return np.zeros(0)
    path = lasso_path(problem)
    if not path.highest:
        return np.zeros(0)
    penalties = np.geomspace(path.highest, LAST * path.highest, N_PENALTIES)
    many = np.count_nonzero(path.sizes(penalties), axis=0) >= MOST_KEPT * len(problem.features)
    return np.geomspace(2 * path.highest, penalties[np.argmax(many) if many.any() else -1], N_OF_LASSO)


def _clusters(problem: Problem, ever: np.ndarray) -> list[list[int]]:
    """Return the clusters of near-copies among the features that some half selects."""
    at = [j for j in np.flatnonzero(ever).tolist() if problem.features[j] not in problem.feature_groups]
    found = clusters_of_copies(problem.table, [problem.features[j] for j in at])
    return [[at[i] for i in cluster] for cluster in found]


#: Largest power with a bound.
MOST_POWER = 3


def expected_false(
    shares: np.ndarray,
    sizes: np.ndarray,
    strengths: np.ndarray,
    n_pairs: int,
    power: int,
    cutoff: float,
    delta: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each feature the expected number of false ones with at least its score, (d,), and the scores, (d,).

    `shares`, (strengths, d), are of the halves that select a feature, `sizes` the mean numbers of features selected,
    and `strengths` are in descending order.

    At one strength let U be the share of pairs of which both halves select an irrelevant feature. Then 2 share - 1 <=
    U, as for `worst_case_bound` of stability selection. So the mean of (2 share - 1)^m above 1/2 is at most that of
    U^m. For m different pairs, let all 2 m halves select it with a probability of at most (s / d)^(2 m), that of a
    random choice of s features; then the moments of U are at most those of a binomial share of B pairs with (s / d)^2.
    Summed over d features and integrated over the strengths this bounds the expected sum of the scores of irrelevant
    features by I. By Markov's inequality at most I / t of them have a score of at least t in expectation (Melikechi and
    Miller, 2025). The integral ends where I would be above `cutoff`, or where no path changes any more.
    """
    n_features = shares.shape[1]
    n = _n_before_settled(shares)
    shares, sizes, strengths = shares[:n], sizes[:n], strengths[:n]
    chance = (sizes / n_features) ** 2
    bounds = n_features * moments(chance, n_pairs, power)
    sums = np.cumsum(weights(strengths, delta) * bounds[:-1])
    above = np.flatnonzero(sums > cutoff)
    n = int(above[0]) + 1 if len(above) else n
    bound = float(sums[n - 2]) if n > 1 else 0.0
    scores = weights(strengths[:n], delta) @ np.maximum(2 * shares[: n - 1] - 1, 0.0) ** power
    if not bound:
        return np.full(n_features, float(n_features)), np.zeros(n_features)
    return np.round(bound / np.maximum(scores, bound / n_features), DECIMALS), scores


#: Paths are taken as settled only where this share of the features is selected on average.
FEWEST_SELECTED = 0.01


def _n_before_settled(shares: np.ndarray) -> int:
    """Return the number of strengths before that from which on no path differs from two strengths before.

    The authors' package ends at the first such strength even if paths change again, as where one feature enters long
    before all others.
    """
    last = len(shares)
    while last > 2 and np.allclose(shares[last - 1], shares[last - 3]) and shares[last - 1].mean() > FEWEST_SELECTED:
        last -= 1
    return last


def moments(chance: np.ndarray, n: int, power: int) -> np.ndarray:
    """Return the mean of the share of successes in n independent trials to the power of 1, 2 or 3.

    >>> moments(np.array([0.5]), 2, 2)
    array([0.375])
    """
    if power == 1:
        return chance
    if power == 2:
        return chance / n + (n - 1) / n * chance**2
    return (chance + 3 * (n - 1) * chance**2 + (n - 1) * (n - 2) * chance**3) / n**2


def weights(strengths: np.ndarray, delta: float) -> np.ndarray:
    """Return the weights of all strengths but the last in an integral, (n - 1,).

    The measure is proportional to strength^-delta, of total mass 1 between the last and the first strength, which are
    n values of equal ratios.
    """
    n = len(strengths)
    if n < 2:
        return np.zeros(0)
    low, high = float(strengths[-1]), float(strengths[0])
    step = 1 - (low / high) ** (1 / n)
    if delta == 1:
        return np.full(n - 1, step / np.log(high / low))
    mass = (high ** (1 - delta) - low ** (1 - delta)) / (1 - delta)
    return step * strengths[1:] ** (1 - delta) / mass


def q_values(expected: np.ndarray) -> np.ndarray:
    """Return for each feature the smallest ratio of expected false features to all, of the sets with the feature.

    >>> q_values(np.array([0.1, 4.0, 0.3, 0.9])).round(3).tolist()
    [0.1, 1.0, 0.15, 0.3]
    """
    return levels(len(expected) / expected, len(expected))
