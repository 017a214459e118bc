"""Model-X knockoffs: features selected with a controlled false discovery rate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.cards import Card
from ...core.column_checks import clusters_of_copies
from ...core.errors import ParameterError, UnsupportedError
from ...core.parameters import anything, choice, integer, number
from ...core.seeds import derive_rng
from ...moves.steps import Step, Steps
from ..base import Method, Problem
from ..discoveries import ROUNDING, by_level, in_words, levels, reached
from ..knockoff.columns_for_knockoffs import (
    BANDED,
    FACTOR,
    FEWEST_COLUMNS,
    SHARED,
    TakesCovariance,
    columns_of,
    covariance_option,
    known_columns,
    numbers_of,
    of_one_spread,
    row_spreads,
    shared_spread,
)
from ..knockoff.gaussian_knockoffs import (
    AUTO,
    EQUICORRELATED,
    MINIMUM_RECONSTRUCTABILITY,
    KnockoffLaw,
    banded_law,
    factor_law,
    law_of,
)
from ..knockoff.knockoff_importances import CORRELATION, DECIMALS, LASSO, MODEL, TEST, by_correlation, excess
from ..knockoff.knockoff_pairs import GAUSSIAN, MARKOV_CHAIN, NETWORK, GaussianPairs, Pairs, discrete_pairs


@dataclass
class Knockoffs(TakesCovariance, Method):
    """Keep the features that matter clearly more to the target than their knockoffs do.

    A knockoff is a synthetic copy of a feature, drawn without the target, that is exchangeable with it in the joint
    distribution of all features. A feature that is independent of the target given all others is as often below its
    knockoff as above it, which gives an estimate of the false positives far above. The kept features are the Markov
    boundary, up to an expected share of false ones, the false discovery rate, of at most `q`.

    Grow draws the knockoffs and admits the features that pass in some draw; the statistic is the mean e-value over the
    draws. Shrink keeps those whose e-values are jointly large enough. With one draw it keeps all.

    Notes
    -----
    The rate is controlled if the distribution of the features is known and rows are independent. By default features
    are taken as Gaussian, with an estimated covariance unless `covariance` is given. Discrete features can have the
    distribution of a `network` with ``law="network"``; its tables are estimated if only its `arcs` are given, and so
    are the transitions of ``law="markov-chain"``. Nodes that are not features, such as the target, are summed out.
    docs/error-control.md has measured rates, also with a wrong distribution. The guarantee is for one search on all
    rows, not for aggregated folds: set ``folds: 0`` in a configuration.

    One draw selects at least 1 / q features at the level q or none: ten at 0.1. The level may also be chosen after
    seeing the result: `discoveries_` has each feature with the smallest level at which it is a discovery. Whatever
    level is chosen from this table, the expected ratio of the share of false features to the level is at most 1
    (Fischer, Sechidis 2025). With `max_q`, a search without a discovery at `q` selects the set of the smallest level up
    to `max_q`. The false discovery rate is then at most `max_q`. This is one fit: fits with other seeds, options or
    rows must not be chosen from.

    With several draws, each at level q / 2, features with a large mean e-value are selected (Ren, Barber 2024); this
    depends less on chance.

    If rows differ in spread in many numbers at once, as in a multivariate t distribution, they are taken as Gaussian
    given the spread of the row, which is estimated unless the covariance is given.

    A feature of more than two levels is a group of columns that are exchanged together, and so is a group of features.
    Near-copies form such a group too, unless `covariance` is banded or factor, since a lasso cannot distinguish them
    from their knockoffs. The rate is then that of groups, and the column most correlated with the target represents a
    kept group.

    Examples
    --------
    >>> import numpy as np
    >>> import blanketflow as bf
    >>> X = np.random.default_rng(0).normal(size=(300, 40))
    >>> y = X[:, :12].sum(axis=1)
    >>> found = bf.Knockoffs(q=0.1).fit(X, y)
    >>> set(found.get_support(indices=True).tolist()) >= set(range(12))
    True
    >>> few = bf.Knockoffs(q=0.1, max_q=0.3).fit(X, X[:, :5].sum(axis=1))
    >>> few.selected_features_, few.verdict_["q"]
    (['x4', 'x0', 'x3', 'x1', 'x2'], 0.2)
    >>> few.discoveries_.iloc[0].to_dict()
    {'feature': 'x4', 'q': 0.2, 'n_features': 5, 'e_value': 40.0}
    """

    card: ClassVar[Card] = Card(
        id="knockoffs",
        name="model-X knockoffs",
        family="wrapper",
        summary="Keeps features that matter more to a lasso, a model or a test than copies made without the target.",
        reference="Candes, Fan, Janson, Lv (2018) Panning for gold: model-X knockoffs for high dimensional controlled "
        "variable selection, JRSS B 80(3), 551-577, doi:10.1111/rssb.12265; Ren, Barber (2024) Derandomised knockoffs: "
        "leveraging e-values for false discovery rate control, JRSS B 86(1), 122-154, doi:10.1093/jrsssb/qkad085; "
        "levels chosen afterwards: Fischer, Sechidis (2025) Choosing the nominal level post-hoc with knockoffs using "
        "e-values, arXiv:2511.11166; of discrete features: Sesia, Sabatti, Candes (2019) Gene hunting with hidden "
        "Markov model knockoffs, Biometrika 106(1), 1-18, doi:10.1093/biomet/asy033; Bates, Candes, Janson, Wang "
        "(2021) Metropolized knockoff sampling, JASA 116(535), 1413-1427, doi:10.1080/01621459.2020.1729163; of "
        "groups: Dai, Barber (2016) The knockoff filter for FDR control in group-sparse and multitask regression, "
        "ICML 48, 1851-1859.",
        guarantee="false discovery rate at most q in one search, if rows are independent and the features are Gaussian "
        "with the covariance given, or discrete with the network given, of groups where features are in groups; "
        "nothing is proved for an estimated covariance, estimated tables or other laws",
        work="knockoffs",
        cost="no tests, or 2 d with importance: test; d^3 for the law, d with covariance: banded or factor and for "
        "discrete features, and draws times a lasso path of 2 d columns on each of 6 sets of rows",
        importance="how much more it matters than its knockoff, the mean over draws, as a share of the largest",
    )
    default_test: ClassVar[str | None] = None
    takes_feature_groups: ClassVar[bool] = True

    q: float = number(0.1, "False discovery rate.", above=0, below=1)
    max_q: float | None = number(
        None,
        "Highest level to which q is raised, after the search, if it finds nothing at q; null: not raised.",
        above=0,
        below=1,
        nullable=True,
    )
    importance: str = choice(
        LASSO,
        "How features and knockoffs are compared: by a lasso whose penalty is cross-validated (lasso), by correlation "
        "with the target, each by itself (correlation), by what a fitted model says of its columns (model), or by "
        "minus log p of a CI test with the target, each by itself (test).",
        (LASSO, CORRELATION, MODEL, TEST),
    )
    model: Any = anything(
        "lightgbm", "The model for importance: model; a model id, 'module:Class', or a scikit-learn estimator."
    )
    draws: int = integer(1, "Number of times that knockoffs are drawn, combined by e-values.", at_least=1)
    construction: str = choice(
        AUTO,
        "How far knockoffs are from their features: minimum variance-based reconstructability (mvr), equally far "
        "(equicorrelated), or the first up to 2,000 columns and the second beyond (auto).",
        (AUTO, MINIMUM_RECONSTRUCTABILITY, EQUICORRELATED),
    )
    covariance: Any = covariance_option(
        "; for tables of many columns, banded: estimated as if a column depended on the few before it alone, or "
        "factor: as if a few factors made columns alike"
    )
    law: str = choice(
        GAUSSIAN,
        "What is known of the features: that they are Gaussian (gaussian), a Markov chain of discrete columns in table "
        "order (markov-chain), or a Markov network of discrete columns (network).",
        (GAUSSIAN, MARKOV_CHAIN, NETWORK),
    )
    network: Any = anything(
        None,
        "The discrete Bayesian network for law: network; in a configuration a source such as network:mine.bif, and for "
        "simulated data filled in.",
    )
    arcs: Any = anything(
        None, "Pairs (parent, child) of features for law: network, in place of a network: its tables are estimated."
    )
    importance_test: Any = anything(
        "lr-mixed", "The CI test for importance: test, given nothing; an id, 'module:Class', or a configured test."
    )

    bandwidth: int | None = integer(
        None,
        "Number of columns before each that covariance: banded lets it depend on; null: by the Bayesian information "
        "criterion, at most 20.",
        at_least=1,
        nullable=True,
    )
    n_factors: int | None = integer(
        None,
        "Number of factors of covariance: factor; null: by the ratio of eigenvalues, at most 20.",
        at_least=1,
        nullable=True,
    )

    def check(self, where: str | None = None) -> None:
        """Raise an error if a value is out of range, or the model is unknown or has no importances."""
        from ...ci import get_ci_test
        from ...models import get_model

        super().check(where)
        get_model(self.model)
        where = where or type(self).__name__
        if self.max_q is not None and self.max_q < self.q:
            raise ParameterError(f"{where}: max_q is {self.max_q:g}, but must be at least q, which is {self.q:g}.")
        if isinstance(self.covariance, str) and self.covariance not in (BANDED, FACTOR):
            raise ParameterError(
                f"{where}: covariance is {self.covariance!r}, but must be a matrix, a mapping, banded, factor or null."
            )
        if isinstance(self.covariance, str) and self.construction == EQUICORRELATED:
            raise ParameterError(f"{where}: construction: equicorrelated is not for covariance: {self.covariance}.")
        if self.law != GAUSSIAN and self.covariance is not None:
            raise ParameterError(f"{where}: covariance is of law: gaussian, but law is {self.law}. Leave one out.")
        if self.law != NETWORK and (self.network is not None or self.arcs is not None):
            raise ParameterError(f"{where}: network and arcs are of law: network, but law is {self.law}. Set law.")
        if self.network is not None and self.arcs is not None:
            raise ParameterError(f"{where}: give either arcs (pairs of parent and child) or network, but not both.")
        test = get_ci_test(self.importance_test) if isinstance(self.importance_test, str) else self.importance_test
        if "p-value" not in test.card.measures:
            raise UnsupportedError(f"{where}: importance_test must give p-values, which {test.card.id} does not.")

    @property
    def level(self) -> float:
        """False discovery rate of one draw."""
        return self.q if self.draws == 1 else self.q / 2

    def follows_order(self) -> bool:
        """Whether the column order matters: for a chain, a band, or a matrix without names."""
        return self.law == MARKOV_CHAIN or super().follows_order()

    def proves_one_search(self) -> bool:
        """Whether the guarantee holds for one search only: yes."""
        return True

    def grow(self, problem: Problem) -> Steps:
        """Admit the features that pass in some draw, the largest e-value first."""
        together = self._together(problem)
        d = len(together.features)
        values, weights = np.zeros(d), np.zeros(d)
        for found in self.excess_by_draw(together):
            values += e_values(found, self.level) / self.draws
            weights += found / self.draws
        highest = self.max_q or self.q
        if d < fewest(highest):
            problem.say(
                "unreliable",
                f"knockoffs at q = {highest:g} select at least {fewest(highest)} features or none, and there are "
                f"{d}: raise q, or set max_q",
            )
        problem.say(together.status, together.reason)
        problem.n_inner_tests = together.n_inner_tests
        order = np.lexsort((-weights, -values))
        order = order[values[order] > 0]
        names = [_strongest(problem, together, j) for j in order.tolist()]
        return Steps(names, statistic=values[order], importance=weights[order])

    def _together(self, problem: Problem) -> Problem:
        """Return the problem with each cluster of near-copies as a group, named by its first column.

        Not for laws for very many columns, since clustering compares all pairs of columns.
        """
        alone = [name for name in problem.features if name not in problem.feature_groups]
        clusters = [] if isinstance(self.covariance, str) else clusters_of_copies(problem.table, alone)
        if not clusters:
            return problem
        groups = {alone[cluster[0]]: tuple(alone[i] for i in cluster) for cluster in clusters}
        others = {name for copies in groups.values() for name in copies[1:]}
        together = copy(problem)
        together.features = [name for name in problem.features if name not in others]
        together.feature_groups = {**problem.feature_groups, **groups}
        return together

    def excess_by_draw(self, problem: Problem) -> Iterator[np.ndarray]:
        """Yield for each draw the importance of each feature minus that of its knockoff, (d,); does not depend on q."""
        pairs = self._pairs(problem)
        for draw in range(self.draws):
            problem.check_time()
            rng = derive_rng(problem.seed, "knockoffs", draw)
            yield excess(problem, self.importance, self.model, self.importance_test, pairs.draw(rng), rng)

    def _pairs(self, problem: Problem) -> Pairs:
        """Return the sampler of knockoffs for the requested law."""
        if self.law != GAUSSIAN:
            return discrete_pairs(problem, self.law, self.network, self.arcs, self.card.id)
        features, correlations = problem.table.select(problem.columns(problem.features)), None
        numbers = numbers_of(features)
        together = shared_spread(features.matrix(numbers)) if numbers else 0.0
        spreads = is_spread = None
        if self.covariance is None or isinstance(self.covariance, str):
            if together > SHARED and len(numbers) >= FEWEST_COLUMNS:
                spreads = row_spreads(features.matrix(numbers))
                features = of_one_spread(features, numbers, spreads)
                together = shared_spread(features.matrix(numbers))
            columns, owners = columns_of(features, problem.column_counts)
            if spreads is not None:
                of_numbers = np.isin(np.arange(len(features)), numbers)
                starts = np.cumsum([0, *problem.column_counts[:-1]])
                is_spread = np.logical_and.reduceat(of_numbers, starts)[owners]
        else:
            known = self.options()["covariance"]
            if np.shape(known) == (len(features), len(features)):  # a matrix is in table order, groups stand together
                at = np.argsort(np.argsort(problem.table.positions(features.names)))
                known = np.asarray(known)[np.ix_(at, at)]
            columns, owners, correlations = known_columns(features, known, self.card.id, problem.column_counts)
        if together > SHARED:
            instead = "leave covariance out" if correlations is not None else "take stability-selection"
            problem.say(
                "unreliable",
                "rows differ in spread, in many numbers at once, so that the false discovery rate may be above q: "
                f"{instead}",
            )
        problem.check_time()
        # Only with the later estimates, so that earlier configurations give bit-identical results.
        by_products = isinstance(self.covariance, str)
        return GaussianPairs(columns, owners, self._law(columns, correlations), by_products, spreads, is_spread)

    def _law(self, columns: np.ndarray, correlations: np.ndarray | None) -> KnockoffLaw:
        """Return the law of the knockoffs of Gaussian columns."""
        if isinstance(self.covariance, str) and self.covariance == BANDED:
            return banded_law(columns, self.bandwidth)
        if isinstance(self.covariance, str):
            return factor_law(columns, self.n_factors)
        return law_of(columns, self.construction, correlations)

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Steps:
        """Keep the features whose e-values are jointly large enough at q, or at the smallest level up to max_q."""
        steps = Steps.of(candidates)
        values = steps.statistic
        smallest = levels(values, len(self._together(problem).features))
        q = max(self.q, min(float(smallest.min(initial=math.inf)), self.max_q or self.q))
        problem.verdict.update(q=q, discoveries=by_level(steps.feature.tolist(), smallest, e_value=values))
        problem.verdict["sentence"] = in_words(problem.features, smallest, q, self.q)
        return steps.with_columns(kept=reached(smallest, q))


def _strongest(problem: Problem, together: Problem, at: int) -> str:
    """Return the name of a feature, or of its near-copy that is most correlated with the target."""
    name = together.features[at]
    if name in problem.feature_groups or name not in together.feature_groups:
        return name
    copies = together.feature_groups[name]
    columns, owners = columns_of(problem.table.select(copies))
    weights = by_correlation(columns, problem.table[problem.target])
    return copies[owners[int(np.argmax(np.round(weights, DECIMALS)))]]


def threshold(excess: np.ndarray, q: float) -> float:
    """Return the smallest T > 0 with (1 + number of W <= -T) / (number of W >= T) <= q; infinite if there is none.

    `excess`, (d,), is W: importance of a feature minus that of its knockoff. The offset 1 controls the false discovery
    rate at q. O(d log d).

    >>> import numpy as np
    >>> threshold(np.array([3.0, 2.0, 1.0, -0.5, 0.25]), 0.4)
    1.0
    >>> threshold(np.array([3.0, 2.0, 1.0, -0.5, 0.25]), 0.2)
    inf
    """
    found, n_above, n_below = _counts(excess)
    return _first(found, (1 + n_below) <= q * n_above * (1.0 + ROUNDING))


def _counts(excess: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all T > 0 that occur in ascending order, and for each the number of W >= T and of W <= -T."""
    found = np.unique(np.abs(excess[excess != 0]))
    ordered = np.sort(excess)
    n_above = len(excess) - np.searchsorted(ordered, found, side="left")
    return found, n_above, np.searchsorted(ordered, -found, side="right")


def _first(found: np.ndarray, stops: np.ndarray) -> float:
    return float(found[np.argmax(stops)]) if stops.any() else math.inf


def e_values(excess: np.ndarray, q: float) -> np.ndarray:
    """Return the e-values of one draw, (d,): d / (1 + number of W <= -T) where W >= T, else 0.

    T is `threshold` at q. If there is none, it is the smallest T > 0 without any W <= -T, so that the features with a
    larger W than the largest -W have the e-value d. Then no set is selected at q, but one of k features at 1 / k.

    **The expected sum over irrelevant features is at most d.** Let T grow from 0 and stop where (1 + number of W <= -T)
    / (number of W >= T) is at most q or where no W is <= -T. This is the T above: where the second comes first, 1 /
    (number of W >= T) is above q, and stays so as T grows. Let N+ and N- be the numbers of irrelevant features with W
    >= T and with W <= -T. Given all abs(W) and the signs of relevant features, the signs of irrelevant ones are
    independent fair coins. With growing T, irrelevant features are left out one by one, each of the remaining with
    equal probability given the counts so far, which decide where to stop. N+ / (1 + N-) is a supermartingale: from n+
    and n- > 0 its mean after one step is

        n+ / (n+ + n-) (n+ - 1) / (1 + n-) + n- / (n+ + n-) n+ / n- = n+ / (1 + n-)

    and less if n- = 0. At T = 0 its mean is 1 - 2^-n for n irrelevant features (Barber and Candes, 2015,
    doi:10.1214/15-AOS1337). By optional stopping its mean at T is at most 1, and the e-values of irrelevant features
    sum to at most d N+ / (1 + N-) at T. Means over draws keep the bound (Ren, Barber, 2024).
    This rule and its proof are our own; Fischer and Sechidis (2025) may stop at other places.

    >>> import numpy as np
    >>> e_values(np.array([3.0, 2.0, 1.0, -0.5, 0.25]), 0.4).tolist()
    [5.0, 5.0, 5.0, 0.0, 0.0]
    >>> e_values(np.array([3.0, 2.0, -1.5, -0.5, 0.25]), 0.1).tolist()
    [5.0, 5.0, 0.0, 0.0, 0.0]
    """
    found, n_above, n_below = _counts(excess)
    limit = _first(found, ((1 + n_below) <= q * n_above * (1.0 + ROUNDING)) | (n_below == 0))
    return np.where(excess >= limit, len(excess) / (1 + np.count_nonzero(excess <= -limit)), 0.0)


def passing(values: np.ndarray, n_features: int, q: float) -> np.ndarray:
    """Return which features the e-BH procedure selects at the level q, shape of `values`; see `levels`.

    >>> import numpy as np
    >>> passing(np.array([5.0, 5.0, 5.0, 0.0, 0.0]), 5, 0.5).tolist()
    [True, True, True, False, False]
    """
    return reached(levels(values, n_features), q)


def fewest(q: float) -> int:
    """Return the smallest number of features that one draw can select at q.

    >>> fewest(0.1), fewest(0.05), fewest(0.3)
    (10, 20, 4)
    """
    return math.ceil((1.0 - ROUNDING) / q)
