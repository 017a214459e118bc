"""Rows of a problem, and rankings of all features whose first features are candidate answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ...ci.base import CITest
from ...ci.choice import choose_test, described
from ...ci.contingency.g2_and_chi2 import G2
from ...ci.feature_groups import variables
from ...core.cards import CLASSIFICATION
from ...core.column import TargetColumn
from ...core.limits import NO_LIMITS, Limits
from ...core.numerics import standardised
from ...core.prior import PriorKnowledge
from ...core.seeds import seed_32
from ...core.table import Column, Table
from ...models import get_model
from ...models.base import CLASSES, Model
from ...models.encode import Design, design, moderate, moderated
from ...models.lightgbm import LightGBM
from ...models.linear_models import Logistic, Ridge
from ...models.tree_models import Forest
from ...targets import get_target_kind
from ..base import FoldOutcome, Method, no_search
from ..causal.iamb import IAMB
from ..filters.information_criteria import JMI, MIM
from ..filters.relief import Relief
from ..learning import estimator_for, own_weights, task_of
from ..ranking import RankingMethod
from .pace import Pace

#: Number of lasso penalties, the last as a share of the first, at which no column enters, and the number of columns
#: from which on the path ends: it takes most of its time there, and few answers are so large.
N_PENALTIES, LAST, MOST_ENTERED = 30, 1e-3, 200


def linear_model(target: Column) -> Model:
    """Return the linear model of a target."""
    if isinstance(target, TargetColumn):
        return get_model(get_target_kind(target.target_kind).models[0])
    return Logistic(max_iter=100) if task_of(target) == CLASSIFICATION else Ridge()


def boosted_model(target: Column) -> Model:
    """Return boosted trees of a target, few and small, a fifth of the usual time; fewer rounds for many classes."""
    n_classes = len(target.levels) if task_of(target) in CLASSES else 2
    return LightGBM(n_estimators=max(10, 60 // max(2, n_classes)), learning_rate=0.2, num_leaves=8, max_bin=63)


def by_forest(rows: Rows) -> np.ndarray:
    """Rank by the importances of a random forest."""
    weights = _weights(rows, Forest(n_estimators=50, min_samples_leaf=3), rows.design.blocks)
    return np.argsort(-np.round(weights, 12), kind="stable")


def by_boosted_elimination(rows: Rows) -> np.ndarray:
    """Rank by recursive elimination of the features least important to boosted trees, refitted each time.

    Removes a quarter at a time, half above 200 features (Guyon, Weston, Barnhill and Vapnik, 2002,
    doi:10.1023/A:1012487302797).
    """
    model, left, last = boosted_model(rows.target), np.arange(len(rows.names)), []
    while len(left) > 1:
        weights = _weights(rows, model, [rows.design.blocks[j] for j in left])
        n_leaving = max(1, int(len(left) * (0.5 if len(left) > 200 else 0.25)))
        worst = np.argsort(np.round(weights, 12), kind="stable")[:n_leaving]
        last += left[worst].tolist()
        left = np.delete(left, worst)
    return np.array([*left.tolist(), *reversed(last)], dtype=np.int64)


def by_lasso(rows: Rows) -> np.ndarray:
    """Rank by the penalty at which a feature enters the lasso path, then by the size of its coefficients at the end.

    Least squares with an L1 penalty; several classes share one path, with a group for each column (Tibshirani, 1996,
    doi:10.1111/j.2517-6161.1996.tb02080.x). The path ends when `MOST_ENTERED` columns have entered; the others follow
    by their correlation with what is left of the target.
    """
    from sklearn.linear_model import enet_path

    y, is_class = rows.y, task_of(rows.target) == CLASSIFICATION
    outcomes = (y[:, np.newaxis] == np.unique(y)).T if is_class else y[np.newaxis]
    scale = np.sqrt(len(y))  # columns of variance 1
    X = np.asfortranarray(scale * standardised(rows.design.matrix.T).T)
    Y = scale * standardised(outcomes[:1] if len(outcomes) == 2 else outcomes).T
    rows.check_time()
    first = float(np.sqrt(((X.T @ Y) ** 2).sum(axis=1)).max()) / len(X)
    if not first:
        return np.arange(len(rows.names))
    y, coefficients, entered = (Y[:, 0] if Y.shape[1] == 1 else Y), None, []
    for penalty in np.geomspace(first, LAST * first, N_PENALTIES):
        _, path, _ = enet_path(X, y, l1_ratio=1.0, alphas=[penalty], coef_init=coefficients, tol=1e-3)
        coefficients = path[..., 0]
        entered.append(np.abs(np.atleast_2d(coefficients)).sum(axis=0) > 0)
        if entered[-1].sum() >= MOST_ENTERED:
            break
    rest = np.abs((y - X @ coefficients.T).T @ X)  # (columns,) or (outcomes, columns)
    starts = [block.start for block in rows.design.blocks]
    is_in = np.logical_or.reduceat(np.array(entered), starts, axis=1)  # (penalties, features)
    enters = np.where(is_in.any(axis=0), is_in.argmax(axis=0), N_PENALTIES)
    sizes, rests = (np.add.reduceat(np.abs(np.atleast_2d(each)).sum(axis=0), starts) for each in (coefficients, rest))
    return np.lexsort((-np.round(rests, 12), -np.round(sizes, 12), enters))


def _weights(rows: Rows, model: Model, blocks: list[slice]) -> np.ndarray:
    """Return the importance of each feature in a fitted model, (number of blocks,)."""
    rows.check_time()
    widths = [block.stop - block.start for block in blocks]
    X = rows.design.matrix[:, np.concatenate([np.arange(block.start, block.stop) for block in blocks])]
    fitted = estimator_for(model, rows.target, seed_32(rows.seed, "portfolio"), X, np.arange(len(X))).fit(X, rows.y)
    weights = own_weights(fitted)
    if weights is None or len(weights) != X.shape[1]:  # a single class: the prior says nothing
        return np.zeros(len(blocks))
    return np.add.reduceat(weights, np.cumsum([0, *widths[:-1]]))


#: Level at which the search for a blanket admits features: a loose one, since beginnings of its order are judged.
ALPHA = 0.1
#: Maximum features for rankings that compare features; the others follow by mutual information.
MOST_COMPARED = 100
#: Maximum differences that Relief computes; beyond, rows are sampled.
MOST_DIFFERENCES, FEWEST_ROWS = 200_000_000, 30


def by_information(rows: Rows) -> np.ndarray:
    """Rank by mutual information with the target, of numbers in five bins; constant features are last."""
    order = _by_criterion(rows, MIM(n_features=len(rows.names)))
    return np.concatenate([order, np.setdiff1d(np.arange(len(rows.names)), order)])


def by_joint_information(rows: Rows) -> np.ndarray:
    """Rank by JMI, among the features with the largest mutual information."""
    return _by_criterion(rows, JMI(n_features=min(MOST_COMPARED, len(rows.names))))


def by_f_test(rows: Rows) -> np.ndarray:
    """Rank by the explained share of variance, monotone in F, for a categorical feature of its best level."""
    X = standardised(rows.design.matrix.T)  # (columns, n), of length 1
    if task_of(rows.target) == CLASSIFICATION:
        is_class = rows.y[:, np.newaxis] == np.unique(rows.y)
        explained = ((X @ is_class) ** 2 / is_class.sum(axis=0)).sum(axis=1)
    else:
        explained = (X @ standardised(rows.y[np.newaxis].astype(float))[0]) ** 2
    rows.check_time()
    weights = np.maximum.reduceat(np.round(explained, 12), [block.start for block in rows.design.blocks])
    return np.argsort(-weights, kind="stable")


def by_near_rows(rows: Rows) -> np.ndarray:
    """Rank by Relief."""
    n, d = rows.features.n_rows, len(rows.features)
    n_drawn = max(FEWEST_ROWS, MOST_DIFFERENCES // (n * d))
    method = Relief(n_features=len(rows.names), n_iterations=None if n_drawn >= n else n_drawn)
    return _order(rows, rows.run(method, None))


def by_blanket(rows: Rows) -> np.ndarray:
    """Return the features in IAMB's order of admission, with the CI test that suits the rows.

    At smaller levels IAMB admits a beginning of this order.
    """
    found = rows.run(IAMB(alpha=ALPHA), rows.test)
    rows.count_tests(found.n_tests)
    return _order(rows, found)


def _by_criterion(rows: Rows, method: RankingMethod) -> np.ndarray:
    return _order(rows, rows.run(method, G2()))


def _order(rows: Rows, outcome: FoldOutcome) -> np.ndarray:
    """Return the positions of the candidates."""
    rows.check_time()
    position = {name: i for i, name in enumerate(rows.names)}
    names = variables([step.feature for step in outcome.candidates], rows.feature_groups)
    return np.array([position[name] for name in names], dtype=np.int64)


@dataclass
class Rows:
    """Rows of a problem without missing cells, and what rankings of them share.

    `check_time` is called between models and tests, and raises `LimitReached` if the time is over. `count_tests` is
    called with the number of CI tests made. The columns of a group in `feature_groups` are adjacent. `search` runs a
    method on a table, as in `Problem`. Unless `ranks_target`, a numeric target is residuals to be read as they are.
    """

    features: Table
    target: Column
    seed: int
    check_time: Callable[[], None] = field(default=lambda: None)
    count_tests: Callable[[int], None] = field(default=lambda _: None)
    feature_groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    search: Callable[..., FoldOutcome] = no_search
    ranks_target: bool = True

    @cached_property
    def names(self) -> list[str]:
        """Names of the features, to which positions refer."""
        return variables(self.features.names, self.feature_groups)

    @cached_property
    def design(self) -> Design:
        """Matrix that models read."""
        counts = [len(self.feature_groups.get(name, (name,))) for name in self.names]
        return design(moderate(self.features)).joined(counts)

    @cached_property
    def y(self) -> np.ndarray:
        """The target as numbers or codes, (n,)."""
        return moderated(self.target)

    @cached_property
    def test(self) -> CITest:
        """The CI test of searches that propose sets, never the slow ``spline``, since sets are validated anyway."""
        return self.suited("spline takes long")

    def suited(self, no_spline: str = "") -> CITest:
        """Return the CI test that suits these columns and rows."""
        seen = described(self.features, self.target)
        return choose_test(seen, self.features.n_rows, no_spline=no_spline).configured()

    def of(self, positions: np.ndarray) -> Rows:
        """Return the same rows with the features at some positions."""
        names = [self.names[j] for j in positions]
        groups = {name: self.feature_groups[name] for name in names if name in self.feature_groups}
        columns = [column for name in names for column in groups.get(name, (name,))]
        return replace(self, features=self.features.select(columns), feature_groups=groups)

    def run(self, method: Method, test: CITest | None, limits: Limits = NO_LIMITS) -> FoldOutcome:
        """Run a method on these rows, within the limits and the total time."""
        prior, limits = PriorKnowledge(feature_groups=self.feature_groups), replace(limits, check_time=self.check_time)
        found = method, test, self.features, self.target, self.seed, limits
        return self.search(*found, prior=prior, finds_stand_ins=False)


#: Maximum features, preselected by mutual information; the others follow in that order.
MOST_RANKED = 2000
#: Maximum features in forests, whose trees are grown to the end.
MOST_IN_FORESTS = 300
#: Name of the ranking by the mean logarithm of the others' ranks.
CONSENSUS = "consensus"
#: First ranking, as the fastest.
FIRST = "f-test"

#: The rankings but for the consensus, each with the number of features that it takes, of more the first by information.
RANKINGS: dict[str, tuple[Callable[[Rows], np.ndarray], int]] = {
    "mim": (by_information, sys.maxsize),
    "jmi": (by_joint_information, MOST_COMPARED),
    "f-test": (by_f_test, sys.maxsize),
    "blanket": (by_blanket, MOST_COMPARED),
    "relief": (by_near_rows, MOST_RANKED),
    "lasso": (by_lasso, MOST_RANKED),
    "forest": (by_forest, MOST_IN_FORESTS),
    "boosted": (by_boosted_elimination, MOST_RANKED),
}


def rankings(rows: Rows, wanted: Collection[str] = (), pace: Pace | None = None) -> Iterator[tuple[str, np.ndarray]]:
    """Yield rankings with their names, each an array of feature positions, best first, (d,).

    `wanted` has names, by default all. The consensus needs all others. Each counts as a fit of the `pace`.

    >>> from blanketflow.core.convert import as_table
    >>> from blanketflow.core.table import column_from_array
    >>> from blanketflow.search.run_fold import run_fold
    >>> x = np.random.default_rng(0).normal(size=(100, 3))
    >>> rows = Rows(as_table(x), column_from_array("y", (x[:, 1] > 0).astype(str)), seed=0, search=run_fold)
    >>> found = rankings(rows)
    >>> {name: int(order[0]) for name, order in found}
    {'f-test': 1, 'mim': 1, 'jmi': 1, 'blanket': 1, 'relief': 1, 'lasso': 1, 'forest': 1, 'boosted': 1, 'consensus': 1}
    """
    needs_all, pace = not wanted or CONSENSUS in wanted, pace or Pace()
    n, d = rows.features.n_rows, len(rows.names)
    found: dict[str, np.ndarray] = {}
    parts: dict[int, tuple[np.ndarray, Rows]] = {}
    known: list[np.ndarray] = []

    def information() -> np.ndarray:
        if not known:
            with pace.fit("mim", n * d):
                known.append(by_information(rows))
        return known[0]

    for name in sorted(RANKINGS, key=lambda name: name != FIRST):
        rank, most = RANKINGS[name]
        if not needs_all and name not in wanted:
            continue
        if rank is by_information:
            found[name] = information()
        else:
            if most < d and most not in parts:
                first = np.sort(information()[:most])
                parts[most] = first, rows.of(first)
            first, few = parts.get(most, (np.arange(d), rows))
            with pace.fit(name, n * len(first)):
                order = first[rank(few)]
            found[name] = order if len(order) == d else _followed(order, information())
        yield name, found[name]
    if needs_all:
        yield CONSENSUS, by_mean_rank(np.mean([log_ranks(found[name]) for name in RANKINGS], axis=0))


def log_ranks(order: np.ndarray) -> np.ndarray:
    """Return log(1 + rank) of each feature in a ranking, (d,), with ranks from 0."""
    return np.log1p(np.argsort(order))


def by_mean_rank(ranks: np.ndarray) -> np.ndarray:
    """Return the ranking by mean or summed logarithms of ranks, (d,)."""
    return np.argsort(np.round(ranks, 12), kind="stable")


def _followed(first: np.ndarray, information: np.ndarray) -> np.ndarray:
    """Return a ranking that begins with some features, followed by all others."""
    return np.concatenate([first, information[~np.isin(information, first)]])
