"""TabArena's selectors by what their papers define, written anew: none of its code is used.

Each way returns columns in the order in which it would keep them, which may be some of them only: a time limit was
reached, or it keeps no more. The rest is then drawn at random, as TabArena does. Numbers are binned where a criterion
counts labels, a target of numbers too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

#: Bins of equal numbers of rows for columns of more values than that, and trees of the models that wrappers ask.
N_BINS, N_TREES = 5, 50


@dataclass
class Given:
    """What a way sees: the rows as numbers and as labels, and when it has to end."""

    X: pd.DataFrame
    y: pd.Series
    is_class: bool
    seed: int
    sizes: list[int]
    seconds: float
    numbers: np.ndarray = field(init=False)
    codes: np.ndarray = field(init=False)
    target: np.ndarray = field(init=False)
    classes: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        """Make the numbers, (n, d), the labels, (n, d), and the target as numbers and as labels, (n,)."""
        self.numbers = np.column_stack([as_numbers(self.X[name]) for name in self.X])
        labels = [not pd.api.types.is_numeric_dtype(self.X[name]) for name in self.X]
        columns = zip(self.numbers.T, labels, strict=True)
        self.codes = np.column_stack([_dense(c) if is_label else binned(c) for c, is_label in columns])
        self.target = self.y.to_numpy().astype(float)
        self.classes = _dense(self.target) if self.is_class else binned(self.target)
        self.rng, self.end = np.random.default_rng(self.seed), time.process_time() + self.seconds

    def is_over(self) -> bool:
        """Return whether the time is over."""
        return time.process_time() > self.end


def as_numbers(column: pd.Series) -> np.ndarray:
    """Return a column as numbers without gaps: the mean in place of missing ones, labels by their order."""
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(dtype=float, na_value=np.nan)
        return np.where(np.isnan(values), np.nanmean(values), values)
    return pd.factorize(column, sort=True, use_na_sentinel=False)[0].astype(float)


def binned(values: np.ndarray) -> np.ndarray:
    """Return numbers as labels: their own values if there are few, else bins of equal numbers of rows."""
    if len(np.unique(values)) <= N_BINS:
        return _dense(values)
    return _dense(np.searchsorted(np.quantile(values, np.arange(1, N_BINS) / N_BINS), values, side="right"))


def _dense(values: np.ndarray) -> np.ndarray:
    return np.unique(values, return_inverse=True)[1]


def best_first(scores: Any) -> list[int]:
    """Return positions by their score, highest first."""
    return list(np.argsort(-np.nan_to_num(np.asarray(scores, dtype=float), nan=-np.inf), kind="stable"))


# --- criteria of single columns ---------------------------------------------------------------------------------------


def _counts(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.bincount(a * (b.max() + 1) + b, minlength=(a.max() + 1) * (b.max() + 1)).reshape(a.max() + 1, -1)


def _entropy(counts: np.ndarray) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _information(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """Return I(A;B), H(A), H(B)."""
    both = _counts(a, b)
    own, other = _entropy(both.sum(axis=1)), _entropy(both.sum(axis=0))
    return own + other - _entropy(both), own, other


def _uncertainty(a: np.ndarray, b: np.ndarray) -> float:
    shared, own, other = _information(a, b)
    return 2 * shared / (own + other) if own + other > 0 else 0.0


def _by_column(score: Callable[[np.ndarray, np.ndarray], float]) -> Callable[[Given], list[int]]:
    return lambda given: best_first([score(column, given.classes) for column in given.codes.T])


def _gain_ratio(column: np.ndarray, classes: np.ndarray) -> float:
    shared, own, _ = _information(column, classes)
    return shared / own if own > 0 else 0.0


def anova(given: Given) -> list[int]:
    """F tests."""
    from sklearn.feature_selection import f_classif, f_regression

    return best_first((f_classif if given.is_class else f_regression)(given.numbers, given.target)[0])


def chi2(given: Given) -> list[int]:
    """Chi-square of numbers scaled to 0 to 1, as sums, with the classes."""
    from sklearn.feature_selection import chi2
    from sklearn.preprocessing import minmax_scale

    return best_first(chi2(minmax_scale(given.numbers), given.classes)[0])


def mutual_information(given: Given) -> list[int]:
    """Mutual information by nearest neighbours."""
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    estimate = mutual_info_classif if given.is_class else mutual_info_regression
    return best_first(estimate(given.numbers, given.target, random_state=given.seed))


def pearson(given: Given) -> list[int]:
    """Correlation with the target; the largest with one class against the others."""
    ys = given.target[:, None] if not given.is_class else np.eye(given.classes.max() + 1)[given.classes]
    own, others = (_standardised(values) for values in (given.numbers, ys))
    return best_first(np.abs(own.T @ others).max(axis=1))


def _standardised(values: np.ndarray) -> np.ndarray:
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1)


def gini(given: Given) -> list[int]:
    """What the best cut of one column takes from the Gini index, or from the variance."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    stump = (DecisionTreeClassifier if given.is_class else DecisionTreeRegressor)(max_depth=1, random_state=0)
    scores = []
    for column in given.numbers.T:
        tree = stump.fit(column[:, None], given.target).tree_
        leaves = slice(1, None) if tree.node_count > 1 else slice(None)
        scores.append(-np.average(tree.impurity[leaves], weights=tree.n_node_samples[leaves]))
    return best_first(scores)


def impurity(given: Given) -> list[int]:
    """The least share of other classes between the first and last row of a class, with rows sorted by the column."""
    scores = []
    for column in given.numbers.T:
        ordered, shares = given.classes[np.argsort(column, kind="stable")], []
        for one in range(ordered.max() + 1):
            places = np.flatnonzero(ordered == one)
            shares.append(1 - len(places) / (places[-1] - places[0] + 1))
        scores.append(1 - min(shares))
    return best_first(scores)


def laplacian(given: Given) -> list[int]:
    """Laplacian score (He, Cai and Niyogi 2005): how little a column changes between neighbours; without the target."""
    from sklearn.neighbors import kneighbors_graph

    X = _standardised(given.numbers)
    near = kneighbors_graph(X, min(5, len(X) - 1), mode="distance")
    near.data = np.exp(-(near.data**2) / (np.mean(near.data**2) or 1))
    near = near.maximum(near.T)
    weights = np.asarray(near.sum(axis=1)).ravel()
    centred = X - (weights @ X) / weights.sum()
    spread = weights @ centred**2
    changes = spread - np.einsum("ij,ij->j", centred, near @ centred)
    return best_first(-changes / np.where(spread > 0, spread, 1e-300))


# --- models -----------------------------------------------------------------------------------------------------------


def cart(given: Given) -> list[int]:
    """Importance in one tree."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    tree = (DecisionTreeClassifier if given.is_class else DecisionTreeRegressor)(random_state=given.seed)
    return best_first(tree.fit(given.numbers, given.target).feature_importances_)


def forest(given: Given) -> list[int]:
    """Importance in a random forest."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    model = (RandomForestClassifier if given.is_class else RandomForestRegressor)(100, random_state=given.seed)
    return best_first(model.fit(given.numbers, given.target).feature_importances_)


def penalised(share: float) -> Callable[[Given], list[int]]:
    """Coefficients of a linear model, with the penalty that cross-validation chooses; `share` of it is L1."""

    def way(given: Given) -> list[int]:
        from sklearn.linear_model import ElasticNetCV, LogisticRegressionCV

        X = _standardised(given.numbers)
        if given.is_class:
            model = LogisticRegressionCV(
                Cs=5, l1_ratios=(share,), solver="saga", cv=3, max_iter=200, tol=1e-2, random_state=given.seed,
                scoring="neg_log_loss", use_legacy_attributes=False,
            )  # fmt: skip
        else:
            model = ElasticNetCV(l1_ratio=share, alphas=20, cv=3, random_state=given.seed)
        return best_first(np.abs(np.atleast_2d(model.fit(X, given.target).coef_)).max(axis=0))

    return way


def _loss(given: Given) -> Callable[[list[int]], float]:
    """Return what gives the loss of boosted trees on a third of the rows that they do not see."""
    from lightgbm import LGBMClassifier, LGBMRegressor
    from sklearn.metrics import log_loss, mean_squared_error
    from sklearn.model_selection import train_test_split

    strata = given.target if given.is_class else None
    learn, ask = train_test_split(np.arange(len(given.X)), test_size=0.33, random_state=given.seed, stratify=strata)
    y = given.classes if given.is_class else given.target

    def loss(columns: list[int]) -> float:
        model = (LGBMClassifier if given.is_class else LGBMRegressor)(n_estimators=N_TREES, n_jobs=1, verbose=-1)
        model.fit(given.numbers[np.ix_(learn, columns)], y[learn])
        asked = given.numbers[np.ix_(ask, columns)]
        if given.is_class:
            return float(log_loss(y[ask], model.predict_proba(asked), labels=model.classes_))
        return float(mean_squared_error(y[ask], model.predict(asked)))

    return loss


def accuracy(given: Given) -> list[int]:
    """What boosted trees lose without a column."""
    loss, d = _loss(given), given.numbers.shape[1]
    whole, scores = loss(list(range(d))), {}
    for column in given.rng.permutation(d).tolist():
        if given.is_over():
            break
        scores[column] = loss([other for other in range(d) if other != column]) - whole
    return sorted(scores, key=lambda column: -scores[column])


def forward(given: Given) -> list[int]:
    """Sequential forward selection by boosted trees."""
    loss, chosen = _loss(given), []
    while len(chosen) < max(given.sizes):
        losses = {}
        for column in given.rng.permutation(given.numbers.shape[1]).tolist():
            if given.is_over():
                return chosen
            if column not in chosen:
                losses[column] = loss([*chosen, column])
        chosen.append(min(losses, key=lambda column: losses[column]))
    return chosen


def backward(given: Given) -> list[int]:
    """Sequential backward elimination by boosted trees; those that are left at the end of time are in random order."""
    loss, left, removed = _loss(given), list(range(given.numbers.shape[1])), []
    while len(left) > min(given.sizes):
        losses = {}
        for column in left:
            if given.is_over():
                return [*given.rng.permutation(left).tolist(), *removed[::-1]]
            losses[column] = loss([other for other in left if other != column])
        removed.append(min(losses, key=lambda column: losses[column]))
        left.remove(removed[-1])
    return [*left, *removed[::-1]]


# --- sets of columns --------------------------------------------------------------------------------------------------


def correlation_based(given: Given) -> list[int]:
    """CFS (Hall 1999): the column that adds most to the merit of those before, which all see the target."""
    d = given.codes.shape[1]
    with_target = np.array([_uncertainty(column, given.classes) for column in given.codes.T])
    chosen, between = [], np.zeros(d)
    shared_by_chosen = 0.0
    while len(chosen) < max(given.sizes) and not given.is_over():
        k = len(chosen) + 1
        merit = (with_target[chosen].sum() + with_target) / np.sqrt(k + 2 * (shared_by_chosen + between))
        merit[chosen] = -np.inf
        chosen.append(int(np.argmax(merit)))
        shared_by_chosen += between[chosen[-1]]
        newest = given.codes[:, chosen[-1]]
        between += [_uncertainty(column, newest) for column in given.codes.T]
    return chosen


def _inconsistency(codes: np.ndarray, classes: np.ndarray) -> float:
    """Return the share of rows that are not of the most frequent class among equal rows."""
    if codes.shape[1] == 0:
        return 1 - np.bincount(classes).max() / len(classes)
    groups = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    return 1 - _counts(groups, classes).max(axis=1).sum() / len(classes)


def interact(given: Given) -> list[int]:
    """INTERACT (Zhao and Liu 2009): columns without which rows stay consistent are removed, the weakest first."""
    ranked = best_first([_uncertainty(column, given.classes) for column in given.codes.T])
    kept, removed = list(ranked), []
    now = _inconsistency(given.codes[:, kept], given.classes)
    for column in ranked[::-1]:
        if given.is_over():
            break
        others = [other for other in kept if other != column]
        without = _inconsistency(given.codes[:, others], given.classes)
        if others and without - now <= 1e-4:
            kept, now = others, without
            removed.append(column)
    return [*kept, *removed[::-1]]


def consistency(given: Given, most: int) -> list[int]:
    """LVF (Liu and Setiono 1996): of 77 random sets of at most `most` columns, the smallest that is consistent."""
    d = given.codes.shape[1]
    least, whole = None, _inconsistency(given.codes, given.classes)
    for _ in range(77):
        drawn = np.flatnonzero(given.rng.random(d) < 0.5)
        drawn = given.rng.permutation(drawn)[:most]
        if len(drawn) and (least is None or len(drawn) < len(least)) and not given.is_over():
            least = drawn if _inconsistency(given.codes[:, drawn], given.classes) <= whole else least
    return [] if least is None else least.tolist()


#: Those that cost many model fits, whose answers on altered tables are not asked.
WRAPPERS: dict[str, Callable[[Given], list[int]]] = {"Accuracy": accuracy, "SFS": forward, "SBE": backward}
WAYS: dict[str, Callable[[Given], list[int]]] = {
    "Random": lambda given: [],
    "ANOVA": anova,
    "CART": cart,
    "CFS": correlation_based,
    "Chi2": chi2,
    "ElasticNet": penalised(0.5),
    "GainRatio": _by_column(_gain_ratio),
    "Gini": gini,
    "Impurity": impurity,
    "InformationGain": _by_column(lambda column, classes: _information(column, classes)[0]),
    "INTERACT": interact,
    "LaplacianScore": laplacian,
    "Lasso": penalised(1.0),
    "MI": mutual_information,
    "OneR": _by_column(lambda column, classes: float(_counts(column, classes).max(axis=1).sum())),
    "PearsonCorrelation": pearson,
    "RFImportance": forest,
    "SymmetricalUncertainty": _by_column(_uncertainty),
    **WRAPPERS,
}
#: Criteria that blanketflow has: TabArena's name, and the method.
AS_OURS = {
    "CMIM": "cmim",
    "DISR": "disr",
    "JMI": "jmi",
    "MarkovBlanket": "koller-sahami",
    "mRMR": "mrmr",
    "ReliefF": "relief",
}


def kept(name: str, given: Given) -> dict[int, tuple[list[str], int]]:
    """Return for each size the columns that one of TabArena's selectors keeps, and how many are drawn at random."""
    columns, found = list(given.X), {}
    order = WAYS[name](given) if name != "Consistency" else []
    for size in given.sizes:
        chosen = (consistency(given, size) if name == "Consistency" else order)[:size]
        drawn = given.rng.permutation([at for at in range(len(columns)) if at not in set(chosen)])
        at_random = drawn[: size - len(chosen)].tolist()
        found[size] = [columns[at] for at in [*chosen, *at_random]], len(at_random)
    return found
