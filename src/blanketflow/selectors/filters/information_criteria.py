"""Rankings by criteria of mutual information (table of the unified-view paper), and what they share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.cards import Card
from ...core.parameters import choice, number
from ...moves.greedy_ranking import DECIMALS, DEVIATIONS, Known, Picks, highest, rank_by_minimum, rank_greedily
from ...moves.steps import INCLUDED, MEMBER, Steps, objects
from ..base import Problem
from ..ranking import RankingMethod

#: Estimates of mutual information from counts.
ADJUSTED, PLUG_IN = "adjusted", "plug-in"


def information_option() -> Any:
    """Declare the option `information`."""
    return choice(
        ADJUSTED,
        "Estimate of mutual informations from counts: adjusted for chance, which is less their mean over permutations "
        "(and, where they count for a feature, 2.33 standard deviations), or plug-in, as in the publication.",
        (ADJUSTED, PLUG_IN),
    )


@dataclass
class InformationRanking(RankingMethod):
    """Base class of rankings by mutual information, measured by the CI test.

    Estimates from counts are above 0 by chance, more so and with more variance for many levels and few rows. Each is
    adjusted for its own chance level.
    """

    information: str = information_option()

    default_test: ClassVar[str | None] = "g2"
    needs: ClassVar[str] = "mutual-information"
    draws_rows: ClassVar[bool] = False
    takes_feature_groups: ClassVar[bool] = True
    learns_from: ClassVar[str] = "triples"

    @property
    def is_adjusted(self) -> bool:
        """Whether mutual informations are adjusted for chance."""
        return self.information == ADJUSTED

    @abstractmethod
    def picks(self, problem: Problem, n_features: int) -> Picks:
        """Return `n_features` features in ranking order."""

    def rank(self, problem: Problem, n_features: int) -> Steps:
        """Rank `n_features` features, included ones first; the statistic is the criterion at that step."""
        index, scores = self.picks(problem, n_features)
        names = [problem.features[i] for i in index.tolist()]
        included = set(problem.included)
        return Steps(
            names,
            statistic=scores,
            p_value=problem.marginal.p_value[index],
            importance=np.arange(n_features, n_features - len(index), -1, dtype=np.float64),
            role=objects([INCLUDED if name in included else MEMBER for name in names]),
        )


@dataclass
class InformationFilter(InformationRanking):
    """Base class of greedy rankings by mutual information with the target and the features ranked before."""

    @abstractmethod
    def criterion(self, known: Known) -> np.ndarray:
        """Return the scores of the remaining features; the highest is ranked next."""

    def picks(self, problem: Problem, n_features: int) -> Picks:
        """Rank the features one after the other."""
        return rank_greedily(self.known_of(problem), n_features, self.criterion, included_first(problem))

    def known_of(self, problem: Problem) -> Known:
        """Return the relevance of each feature."""
        positions, relevance = problem.test.table.positions(problem.features), relevance_of(problem, self.is_adjusted)
        return Known(problem.test, problem.target, positions, relevance, self.is_adjusted)


def included_first(problem: Problem) -> list[int]:
    """Return the positions of the included features, which are ranked first."""
    return [problem.features.index(feature) for feature in problem.included]


def relevance_of(problem: Problem, adjusted: bool, deviations: float = DEVIATIONS) -> np.ndarray:
    """Return I(X;T) of each feature from the ci_test stage, adjusted for chance if asked."""
    found, test = problem.test.test_config.mutual_information(problem.marginal), problem.test
    if not adjusted:
        return found
    return test.chance(test.table.positions(problem.features), problem.target).taken_from(found, deviations)


@dataclass
class MIM(InformationRanking):
    """Rank features by I(X;T), each by itself.

    Eq. 29 of the unified-view paper, without redundancy between features. Ties go by name. Mutual information comes
    from the CI test: on level codes with ``g2``, where numbers are binned on the rows at hand, Gaussian with
    ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.MIM(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="mim",
        name="mutual information maximization (MIM)",
        family="filter",
        summary="Ranking by relevance to the target alone.",
        reference="Lewis (1992) Feature selection and feature extraction for text categorization, Speech and "
        "Natural Language Workshop, 212-217, doi:10.3115/1075527.1075574.",
        formula="I(X;T)",
        work="marginal",
        cost="d mutual informations",
    )

    def picks(self, problem: Problem, n_features: int) -> Picks:
        """Sort the features by I(X;T)."""
        relevance, first = np.round(relevance_of(problem, self.is_adjusted), DECIMALS), included_first(problem)
        others = relevance.copy()
        others[first] = -np.inf  # last, and cut off
        best = highest(others, n_features)
        order = np.array([*first, *best[np.argsort(-others[best], kind="stable")]][:n_features], dtype=np.int64)
        return Picks(order, relevance[order])


@dataclass
class MIFS(InformationFilter):
    """Rank features by I(X;T) minus beta times the sum of I(X;F) over the features F ranked before.

    Eq. 32 of the unified-view paper; ``beta = 0`` is MIM. Ties go by name. Mutual information comes from the CI test:
    on level codes with ``g2`` (numbers are binned on the rows at hand), Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.MIFS(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="mifs",
        name="mutual information feature selection (MIFS)",
        family="filter",
        summary="Greedy ranking by relevance minus redundancy, summed with a weight.",
        reference="Battiti (1994) Using mutual information for selecting features in supervised neural net "
        "learning, IEEE Transactions on Neural Networks 5(4), 537-550, doi:10.1109/72.298224.",
        formula="I(X;T) - beta sum_F I(X;F)",
        cost="d + (psi - 1) d mutual informations",
    )

    beta: float = number(1.0, "Weight of the redundancy.", at_least=0)

    def criterion(self, known: Known) -> np.ndarray:
        """Return the relevance minus the weighted redundancy."""
        return known.relevance - self.beta * known.redundancy


@dataclass
class MRMR(InformationFilter):
    """Rank features by I(X;T) minus the mean of I(X;F) over the features F ranked before.

    Eq. 33 of the unified-view paper, greedily. Ties go by name. Mutual information comes from the CI test: on level
    codes with ``g2`` (numbers are binned on the rows at hand), Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.MRMR(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="mrmr",
        name="mRMR",
        family="filter",
        summary="Greedy ranking by relevance minus mean redundancy with the features ranked before.",
        reference="Peng, Long, Ding (2005) Feature selection based on mutual information: criteria of "
        "max-dependency, max-relevance, and min-redundancy, IEEE TPAMI 27(8), 1226-1238, "
        "doi:10.1109/TPAMI.2005.159.",
        formula="I(X;T) - mean_F I(X;F)",
        cost="d + (psi - 1) d mutual informations",
    )

    def criterion(self, known: Known) -> np.ndarray:
        """Return the relevance minus the mean redundancy."""
        return known.relevance - known.mean(known.redundancy)


@dataclass
class CIFE(InformationFilter):
    """Rank features by I(X;T) minus the sum of I(X;F) plus the sum of I(X;F|T) over the features F ranked before.

    Eq. 36 of the unified-view paper: redundancy within classes is a gain. Ties go by name. Mutual information comes
    from the CI test: on level codes with ``g2`` (numbers are binned on the rows at hand), Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.CIFE(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="cife",
        name="conditional infomax feature extraction (CIFE)",
        family="filter",
        summary="Greedy ranking by relevance, minus redundancy, plus redundancy within the classes.",
        reference="Lin, Tang (2006) Conditional infomax learning: an integrated framework for feature extraction "
        "and fusion, ECCV, 68-82, doi:10.1007/11744023_6.",
        formula="I(X;T) - sum_F I(X;F) + sum_F I(X;F|T)",
        cost="d + 2 (psi - 1) d mutual informations",
    )

    def criterion(self, known: Known) -> np.ndarray:
        """Return the relevance minus the redundancy plus the redundancy within classes."""
        return known.relevance - known.redundancy + known.class_redundancy


@dataclass
class JMI(InformationFilter):
    """Rank features by the mean of I(X;T|F) over the features F ranked before, the first by I(X;T).

    Eq. 38 of the unified-view paper: I(X;T) - mean I(X;F) + mean I(X;F|T), which is the mean of I(X;T|F) by the chain
    rule. Ties go by name. Mutual information comes from the CI test: on level codes with ``g2`` (numbers are binned on
    the rows at hand), Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.JMI(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="jmi",
        name="joint mutual information (JMI)",
        family="filter",
        summary="Greedy ranking by the mean information about the target together with each feature ranked before.",
        reference="Yang, Moody (1999) Data visualization and feature selection: new algorithms for nongaussian "
        "data, NIPS 12, 687-693.",
        formula="mean_F I(X;T|F) = I(X;T) - mean_F I(X;F) + mean_F I(X;F|T)",
        cost="d + (psi - 1) d mutual informations",
    )

    def criterion(self, known: Known) -> np.ndarray:
        """Return the mean of I(X;T|F); the relevance at the first step."""
        return known.mean(known.conditional_relevance) if known.n_ranked else known.relevance


@dataclass
class CMIM(InformationRanking):
    """Rank features by the smallest of I(X;T) and I(X;T|F) over the features F ranked before.

    Evaluated lazily (Fleuret): the minimum never increases, so features already below the best of a step are skipped.
    Ties go by name. Mutual information comes from the CI test: on level codes with ``g2`` (numbers are binned on the
    rows at hand), Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.CMIM(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="cmim",
        name="conditional mutual information maximization (CMIM)",
        family="filter",
        summary="Greedy ranking by the least information about the target beyond any feature ranked before.",
        reference="Fleuret (2004) Fast binary feature selection with conditional mutual information, JMLR 5, "
        "1531-1555.",
        formula="min(I(X;T), min_F I(X;T|F))",
        cost="d + (psi - 1) d mutual informations at most; far fewer by lazy evaluation",
    )

    def picks(self, problem: Problem, n_features: int) -> Picks:
        """Return the features in ranking order."""
        positions, relevance = problem.test.table.positions(problem.features), relevance_of(problem, self.is_adjusted)
        first = included_first(problem)
        asked = problem.test, problem.target, positions, relevance, n_features
        return rank_by_minimum(*asked, relevance, first, self.is_adjusted)


@dataclass
class InformativeFragments(InformationRanking):
    """Rank features by the smallest of I(X;T|F) over the features F ranked before, the first by I(X;T).

    Eq. 39 of the unified-view paper: I(X;T) minus the largest I(X;F) - I(X;F|T). Unlike CMIM, it does not penalise a
    small I(X;T) of a feature that is informative with others. Evaluated lazily, as CMIM is. Ties go by name. Mutual
    information comes from the CI test: on level codes with ``g2`` (numbers are binned on the rows at hand), Gaussian
    with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.InformativeFragments(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="if",
        name="informative fragments (IF)",
        family="filter",
        summary="Greedy ranking by the least information about the target beyond any feature ranked before, however "
        "little the feature says by itself.",
        reference="Vidal-Naquet, Ullman (2003) Object recognition with informative features and linear classification, "
        "ICCV, 281-288, doi:10.1109/ICCV.2003.1238356.",
        formula="min_F I(X;T|F) = I(X;T) - max_F [I(X;F) - I(X;F|T)]",
        cost="d + (psi - 1) d mutual informations at most; far fewer by lazy evaluation after the first 2 d",
    )

    def picks(self, problem: Problem, n_features: int) -> Picks:
        """Return the features in ranking order."""
        positions, relevance = problem.test.table.positions(problem.features), relevance_of(problem, self.is_adjusted)
        start = np.full(len(positions), np.inf)
        asked = problem.test, problem.target, positions, relevance, n_features
        return rank_by_minimum(*asked, start, included_first(problem), self.is_adjusted)


@dataclass
class DISR(InformationFilter):
    """Rank features by the sum of I(X,F;T) / H(X,F,T) over the features F ranked before, the first by I(X;T).

    Dividing by the joint entropy prevents features from winning only by many levels. Ties go by name. The CI test must
    measure entropy on level codes, as ``g2`` does (numbers are binned on the rows at hand).

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.DISR(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="disr",
        name="double input symmetrical relevance (DISR)",
        family="filter",
        summary="Greedy ranking by the normalised joint information about the target with each feature ranked before.",
        reference="Meyer, Bontempi (2006) On the use of variable complementarity for feature selection in cancer "
        "classification, EvoWorkshops, 91-102, doi:10.1007/11732242_9.",
        formula="sum_F I(X,F;T) / H(X,F,T)",
        cost="d + 2 (psi - 1) d mutual informations and joint entropies",
    )
    needs: ClassVar[str] = "entropy"

    def criterion(self, known: Known) -> np.ndarray:
        """Return the sum of I(X,F;T) / H(X,F,T); the relevance at the first step."""
        return known.symmetrical_relevance if known.n_ranked else known.relevance


@dataclass
class MRI(InformationFilter):
    """Rank features by I(X;T) plus the sum of I(X;T|F) + I(F;T|X) over the features F ranked before.

    I(F;T|X) is computed as I(F;T) + I(X;T|F) - I(X;T). Ties go by name. Mutual information comes from the CI test: on
    level codes with ``g2`` (numbers are binned on the rows at hand), Gaussian with ``fisher-z``.

    Notes
    -----
    Both terms have weight 1. The publication was not available; its weights may differ.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.MRI(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="mri",
        name="max-relevance and max-independence (MRI)",
        family="filter",
        summary="Greedy ranking by relevance plus what each of two features says about the target beyond the other.",
        reference="Wang, Wei, Yang, Wang (2017) Feature selection by maximizing independent classification "
        "information, IEEE TKDE 29(4), 828-841, doi:10.1109/TKDE.2017.2650906.",
        formula="I(X;T) + sum_F [I(X;T|F) + I(F;T|X)]",
        cost="d + (psi - 1) d mutual informations",
    )

    def criterion(self, known: Known) -> np.ndarray:
        """Return the relevance plus the conditional informations of the feature and each ranked one."""
        return known.relevance * (1 - known.n_ranked) + 2 * known.conditional_relevance + known.ranked_relevance


@dataclass
class RelaxMRMR(InformationFilter):
    """Rank features by JMI's criterion minus the redundancy with one ranked feature given another.

    The score is I(X;T) - mean I(X;F) + mean I(X;F|T) - mean I(X;F|G), over the features F ranked before and the ordered
    pairs of different ones F, G. Eq. 44 of the unified-view paper (``variant: eq44``) has other weights: the sum of
    I(X;F|T), and the sum of I(X;F|G) divided by the number of F. Ties go by name. Mutual information comes from the CI
    test: on level codes with ``g2`` (numbers are binned on the rows at hand), Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.RelaxMRMR(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    learns_from: ClassVar[str] = "tests"
    card: ClassVar[Card] = Card(
        id="relax-mrmr",
        name="RelaxMRMR",
        family="filter",
        summary="Greedy ranking as by JMI, minus the redundancy with one ranked feature given another.",
        reference="Vinh, Zhou, Chan, Bailey (2016) Can high-order dependencies improve mutual information based "
        "feature selection?, Pattern Recognition 53, 46-58, doi:10.1016/j.patcog.2015.11.007.",
        formula="I(X;T) - mean_F I(X;F) + mean_F I(X;F|T) - mean_FG I(X;F|G)",
        cost="d + 2 (psi - 1) d + (psi - 1) (psi - 2) d mutual informations",
    )

    variant: str = choice(
        "original", "Weights of the original publication, or of the unified-view paper's eq. 44.", ("original", "eq44")
    )

    def criterion(self, known: Known) -> np.ndarray:
        """Return JMI's criterion minus the second-order redundancy."""
        n = known.n_ranked
        if self.variant == "eq44":
            redundancy = known.redundancy + (known.conditional_redundancy if n > 1 else 0.0)
            return known.relevance + known.class_redundancy - known.mean(redundancy)
        second_order = known.conditional_redundancy / (n * (n - 1)) if n > 1 else 0.0
        return known.relevance + known.mean(known.class_redundancy - known.redundancy) - second_order


@dataclass
class MIMR(InformationFilter):
    """Rank features by (1 - balance) I(X;T) + balance times the mean of I(X;F|T) - I(X;F).

    F are the features ranked before. I(X;F) - I(X;F|T) is the interaction of X, F and the target, negative for two
    causes of the target. With ``balance = 0.5`` (the paper's lambda) and ``start: single`` the ranking is JMI's.
    ``start: pair`` starts with the pair of the best (1 - balance) (I(X;T) + I(F;T)) + balance (I(X;F|T) - I(X;F)), the
    more relevant one first. Ties go by name. Mutual information comes from the CI test: on level codes with ``g2``
    (numbers are binned on the rows at hand), Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.MIMR(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="mimr",
        name="min-interaction max-relevance (mIMR)",
        family="filter",
        summary="Greedy ranking by relevance and by interaction, which tells causes of the target from effects.",
        reference="Bontempi, Meyer (2010) Causal filter selection in microarray data, ICML 27, 95-102.",
        formula="(1 - balance) I(X;T) + balance mean_F [I(X;F|T) - I(X;F)]",
        cost="d + 2 (psi - 1) d mutual informations; d (d - 1) more with start: pair",
    )

    balance: float = number(0.5, "Weight of the interaction (lambda).", at_least=0, at_most=1)
    start: str = choice("single", "Begin with the most relevant feature, or with the best pair.", ("single", "pair"))

    def criterion(self, known: Known) -> np.ndarray:
        """Return relevance and mean interaction, weighted."""
        interaction = known.mean(known.class_redundancy - known.redundancy)
        return (1 - self.balance) * known.relevance + self.balance * interaction

    def picks(self, problem: Problem, n_features: int) -> Picks:
        """Rank greedily, after the best pair if requested."""
        known = self.known_of(problem)
        first = self._best_pair(known) if self.start == "pair" and len(known.left) > 1 else ()
        return rank_greedily(known, n_features, self.criterion, first)

    def _best_pair(self, known: Known) -> tuple[int, int]:
        """Return the pair with the best score, the first on ties, the more relevant one first."""
        best, pair = -np.inf, (0, 1)
        for i in range(len(known.left) - 1):
            others = known.left[i + 1 :]
            interaction = known.gain(others, known.left[i], [known.target])
            interaction -= known.loss(others, known.left[i])
            relevance = known.relevance[i] + known.relevance[i + 1 :]
            scores = np.round((1 - self.balance) * relevance + self.balance * interaction, DECIMALS)
            if scores.max() > best:
                best, pair = float(scores.max()), (i, i + 1 + int(np.argmax(scores)))
        return pair if known.relevance[pair[0]] >= known.relevance[pair[1]] else pair[::-1]
