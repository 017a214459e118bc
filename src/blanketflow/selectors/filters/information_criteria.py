"""Rankings by criteria of mutual informations, which differ in a formula (the table of the unified-view paper)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...core.parameters import choice, number
from ...moves.greedy_ranking import DECIMALS, Known, Pick, rank_by_minimum
from ..base import Problem
from .information import InformationFilter, InformationRanking, included_first, relevance_of


@dataclass
class MIM(InformationRanking):
    """Rank features by I(X;T), each by itself.

    Eq. 29 of the unified-view paper: redundancy between features is ignored. Ties go by name. Mutual
    information comes from the CI test: counted on level codes with ``g2`` (numbers are binned on the rows at hand, a
    numeric target too), Gaussian with ``fisher-z``.

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

    def picks(self, problem: Problem, n_features: int) -> Iterator[Pick]:
        """Give the features in the order of I(X;T), which no ranked feature changes: they are sorted once."""
        relevance, first = np.round(relevance_of(problem, self.is_adjusted), DECIMALS), included_first(problem)
        in_order = np.argsort(-relevance, kind="stable")
        for index in [*first, *in_order[~np.isin(in_order, first)].tolist()][:n_features]:
            yield Pick(index, float(relevance[index]))


@dataclass
class MIFS(InformationFilter):
    """Rank features by I(X;T) minus beta times the sum of I(X;F) over the features F ranked before.

    Eq. 32 of the unified-view paper. With ``beta = 0`` it is MIM. Ties go by name. Mutual information comes
    from the CI test: counted on level codes with ``g2`` (numbers are binned on the rows at hand, a numeric target too),
    Gaussian with ``fisher-z``.

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

    Eq. 33 of the unified-view paper, greedily; ties go by name. Mutual information comes from the CI test:
    counted on level codes with ``g2`` (numbers are binned on the rows at hand, a numeric target too), Gaussian with
    ``fisher-z``.

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

    Eq. 36 of the unified-view paper: redundancy within the classes counts in favour. Ties go by name. Mutual
    information comes from the CI test: counted on level codes with ``g2`` (numbers are binned on the rows at hand, a
    numeric target too), Gaussian with ``fisher-z``.

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
        """Return the relevance minus the redundancy, plus that within the classes."""
        return known.relevance - known.redundancy + known.class_redundancy


@dataclass
class JMI(InformationFilter):
    """Rank features by the mean of I(X;T|F) over the features F ranked before, the first by I(X;T).

    Eq. 38 of the unified-view paper: I(X;T) - mean of I(X;F) + mean of I(X;F|T) is the mean of I(X;T|F), by the chain
    rule. Ties go by name. Mutual information comes from the CI test: counted on level codes with ``g2``
    (numbers are binned on the rows at hand, a numeric target too), Gaussian with ``fisher-z``.

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
        """Return the mean of I(X;T|F), the relevance where nothing is ranked."""
        return known.mean(known.conditional_relevance) if known.n_ranked else known.relevance


@dataclass
class CMIM(InformationRanking):
    """Rank features by the smallest of I(X;T) and I(X;T|F) over the features F ranked before.

    The minimum can only fall from step to step, so features whose minimum is already below the best of a step are not
    computed again (Fleuret's lazy evaluation). The ranking equals the full computation's. Ties go by name.
    Mutual information comes from the CI test: counted on level codes with ``g2`` (numbers are binned on the rows at
    hand, a numeric target too), Gaussian with ``fisher-z``.

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

    def picks(self, problem: Problem, n_features: int) -> Iterable[Pick]:
        """Give the features in the order of their ranking."""
        positions, relevance = problem.test.table.positions(problem.features), relevance_of(problem, self.is_adjusted)
        first = included_first(problem)
        asked = problem.test, problem.target, positions, relevance, n_features
        return rank_by_minimum(*asked, relevance, first, self.is_adjusted)


@dataclass
class InformativeFragments(InformationRanking):
    """Rank features by the smallest of I(X;T|F) over the features F ranked before, the first by I(X;T).

    Eq. 39 of the unified-view paper: I(X;T) minus the largest I(X;F) - I(X;F|T). Unlike in CMIM, a feature that is
    informative only together with others does not rank low because of its own I(X;T). Evaluated lazily, as CMIM is.
    Ties go by name. Mutual information comes from the CI test: counted on level codes with ``g2`` (numbers are
    binned on the rows at hand, a numeric target too), Gaussian with ``fisher-z``.

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

    def picks(self, problem: Problem, n_features: int) -> Iterable[Pick]:
        """Give the features in the order of their ranking."""
        positions, relevance = problem.test.table.positions(problem.features), relevance_of(problem, self.is_adjusted)
        start = np.full(len(positions), np.inf)
        asked = problem.test, problem.target, positions, relevance, n_features
        return rank_by_minimum(*asked, start, included_first(problem), self.is_adjusted)


@dataclass
class DISR(InformationFilter):
    """Rank features by the sum of I(X,F;T) / H(X,F,T) over the features F ranked before, the first by I(X;T).

    Dividing by the joint entropy keeps features from winning only because they have many levels. Ties go by column
    order. The CI test must measure entropy, as ``g2`` does. Mutual information comes from the CI test: counted on level
    codes with ``g2`` (numbers are binned on the rows at hand, a numeric target too), Gaussian with ``fisher-z``.

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
        importance="the score of its formula when it was ranked: shares of information, without a unit",
    )
    needs: ClassVar[str] = "entropy"

    def criterion(self, known: Known) -> np.ndarray:
        """Return the sum of I(X,F;T) / H(X,F,T), the relevance where nothing is ranked."""
        return known.symmetrical_relevance if known.n_ranked else known.relevance


@dataclass
class MRI(InformationFilter):
    """Rank features by I(X;T) plus the sum of I(X;T|F) + I(F;T|X) over the features F ranked before.

    I(X;T|F) is what X says beyond F, I(F;T|X) what F still says beyond X; the latter is I(F;T) + I(X;T|F) - I(X;T).
    Ties go by name. Mutual information comes from the CI test: counted on level codes with ``g2`` (numbers are
    binned on the rows at hand, a numeric target too), Gaussian with ``fisher-z``.

    Notes
    -----
    Both terms have weight 1 here. The publication was not at hand: its weights may differ.

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
        """Return the relevance plus what a feature and each ranked one tell beyond each other."""
        return known.relevance * (1 - known.n_ranked) + 2 * known.conditional_relevance + known.ranked_relevance


@dataclass
class RelaxMRMR(InformationFilter):
    """Rank features by JMI's criterion minus the redundancy with one ranked feature given another.

    The score is I(X;T) - mean I(X;F) + mean I(X;F|T) - mean I(X;F|G), over the features F ranked before and the ordered
    pairs of different ones F, G. The unified-view paper prints it with other weights (eq. 44): the sum of I(X;F|T), and
    the sum of I(X;F|G) divided by the number of F; ``variant: eq44`` ranks by that. Ties go by name. Mutual
    information comes from the CI test: counted on level codes with ``g2`` (numbers are binned on the rows at hand, a
    numeric target too), Gaussian with ``fisher-z``.

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
