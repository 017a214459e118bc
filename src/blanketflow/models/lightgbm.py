"""LightGBM's gradient-boosted trees."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..core.cards import COUNT, POSITIVE, SHARE, SURVIVAL, TARGET_KINDS, Card
from ..core.errors import UnsupportedError
from ..core.parameters import integer, number
from ..core.rows import balanced_parts
from .base import CLASSES, LazyEstimator, Model
from .penalised import maximum
from .risk_sets import EVENT, TIME, ProportionalHazards, RiskSets

#: With these parameters the bins, sums and comparisons for one column do not depend on other columns: columns are not
#: bundled or sampled, and among equal gains the first column in table order wins.
CERTIFIED = {
    "boosting_type": "gbdt",
    "class_weight": None,
    "colsample_bytree": 1.0,
    "deterministic": True,
    "enable_bundle": False,
    "force_col_wise": True,
    "n_jobs": 1,
    "objective": None,
    "subsample_freq": 0,
}
#: Largest change of a log hazard or log mean by a tree at a learning rate of 1. A leaf with events only has its maximum
#: at infinity; in one with small numbers only, a Newton step goes far beyond it. LightGBM limits counts by itself.
MOST_CHANGE: dict[str, Any] = {"max_delta_step": 1.0}
#: Losses of further kinds of targets.
OBJECTIVES: dict[str, dict[str, Any]] = {
    COUNT: {"objective": "poisson"},
    POSITIVE: {"objective": "gamma", **MOST_CHANGE},
    SHARE: {"objective": "cross_entropy"},
}
#: Fewest events in a part of the rows, and most Newton steps for the slope.
FEWEST_EVENTS, MAX_STEPS = 5, 50
#: Keeps every column that varies: with an objective of our own, LightGBM fails where it has dropped all of them.
ALL_COLUMNS = {"feature_pre_filter": False, "min_data_in_bin": 1}
#: Parameters that may have any value; others, such as extra_trees or use_quantized_grad, must not be set.
FREE = {
    "importance_type",
    "learning_rate",
    "max_bin",
    "max_depth",
    "min_child_samples",
    "min_child_weight",
    "min_split_gain",
    "n_estimators",
    "num_leaves",
    "random_state",
    "reg_alpha",
    "reg_lambda",
    "subsample",
    "subsample_for_bin",
    "verbose",
}


@dataclass
class LightGBM(Model):
    """Gradient-boosted trees by LightGBM, silent and deterministic.

    Losses: log-loss of classes and ordered classes, squared error, Poisson deviance of counts, gamma deviance of
    positive numbers, cross-entropy of shares, and Cox's partial likelihood (Efron) of survival.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(LightGBM().build("classification", seed=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    card: ClassVar[Card] = Card(
        id="lightgbm",
        name="LightGBM",
        family="model",
        summary="Gradient boosting of leaf-wise grown trees on binned columns.",
        reference="Ke, Meng, Finley, Wang, Chen, Ma, Ye, Liu (2017) LightGBM: A Highly Efficient Gradient Boosting "
        "Decision Tree, NeurIPS 30.",
        tasks=TARGET_KINDS,
        cost="O(d n) per tree",
    )

    n_estimators: int = integer(100, "Number of boosting rounds.", at_least=1)
    learning_rate: float = number(0.1, "Weight of each tree.", above=0)
    num_leaves: int = integer(31, "Largest number of leaves per tree.", at_least=2)
    # LightGBM's own default of 20 leaves a table of fewer than 40 rows without a single split.
    min_child_samples: int = integer(5, "Fewest training rows in a leaf.", at_least=1)
    max_bin: int = integer(255, "Largest number of bins of a column; fewer are faster.", at_least=2)
    parts: int = integer(
        3,
        "Survival: parts of the rows, each predicted by trees of the others to calibrate curves; 1 for none.",
        at_least=1,
    )

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the estimator, deterministic on any number of cores.

        Raises `UnsupportedError` if LightGBM cannot be loaded without OpenMP, which its wheels do not contain.
        """
        try:
            from lightgbm import LGBMClassifier, LGBMRegressor
        except OSError as error:
            raise UnsupportedError(
                f"lightgbm cannot be loaded ({error}). Install OpenMP (Debian: libgomp1, macOS: libomp, conda: "
                "llvm-openmp), or leave lightgbm out of models."
            ) from error

        family = LGBMClassifier if task in CLASSES else LGBMRegressor
        estimator = family(
            **{name: value for name, value in self.options().items() if name != "parts"},
            importance_type="gain",  # the default counts splits, and useless columns have as many
            random_state=seed,
            n_jobs=n_jobs,
            deterministic=True,
            force_col_wise=True,
            verbose=-1,
        )
        if task == SURVIVAL:
            return LazyEstimator(partial(_boosted_cox, estimator, self.parts), task)
        return estimator.set_params(**OBJECTIVES.get(task, {}))

    def certify(self, estimator: Any) -> Any:
        """Return the estimator without bundles of columns, which make one column's splits depend on others.

        Without bundles a fit on 500 columns with 2 % of ones takes 4 times as long, so only callers that share fits
        between sets of columns use this.
        """
        return estimator.set_params(**CERTIFIED)

    def used_columns(self, fitted: Any) -> np.ndarray | None:
        """Return the columns on which a tree splits; None without `certify`."""
        parameters = fitted.get_params()
        is_certain = CERTIFIED.items() <= parameters.items() and parameters.keys() <= CERTIFIED.keys() | FREE
        if not is_certain:
            return None
        # Not from importances, where gains that are too small for a 32-bit number count as no split.
        splits = re.findall(r"^split_feature=(.*)$", fitted.booster_.model_to_string(), re.MULTILINE)
        return np.unique([int(column) for tree in splits for column in tree.split()]).astype(np.int64)


def _boosted_cox(estimator: Any, parts: int, X: np.ndarray, y: np.ndarray) -> BoostedCox:
    from sklearn.base import clone

    return BoostedCox(clone(estimator), parts)


class BoostedCox:
    """Trees boosted by the gradient and the diagonal Hessian of the partial likelihood, and Breslow's hazard.

    Log hazards of the training rows are too far apart, since trees learnt their times. The hazard and the factor of log
    hazards in survival curves, `slope_` from 0 to 1, therefore come from rows that trees have not seen: each of some
    parts is predicted by trees of the others.
    """

    def __init__(self, trees: Any, parts: int) -> None:
        self.trees, self.parts = trees, parts

    def fit(self, X: np.ndarray, y: np.ndarray) -> BoostedCox:
        """Fit the trees and the baseline hazard."""
        n_parts = min(self.parts, int(y[EVENT].sum()) // FEWEST_EVENTS)
        self.slope_, unseen = 1.0, None
        if n_parts > 1:
            rng = np.random.default_rng(self.trees.random_state)
            part, unseen = balanced_parts(np.column_stack([y[TIME], y[EVENT]]), n_parts, rng), np.empty(len(y))
            for at in range(n_parts):
                unseen[part == at] = self._boost(X[part != at], y[part != at]).predict(X[part == at])
            sets = RiskSets(y)
            best = maximum(lambda slope: sets.likelihood(unseen[:, None], slope), np.zeros(1), MAX_STEPS)
            self.slope_ = float(np.clip(best[0], 0.0, 1.0))
        self._boost(X, y)
        self.hazards_ = ProportionalHazards(y, self.slope_ * (self.predict(X) if unseen is None else unseen))
        return self

    def _boost(self, X: np.ndarray, y: np.ndarray) -> BoostedCox:
        sets = RiskSets(y)  # sorted once for all rounds

        def objective(_: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return sets.derivatives(scores)

        self.n_features_in_, self.can_split_ = X.shape[1], bool((X[:1] != X).any())
        if self.can_split_:
            self.trees.set_params(objective=objective, **MOST_CHANGE, **ALL_COLUMNS)
            self.trees.fit(X, y[EVENT].astype(float))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the risk score of each row: the higher, the earlier the event."""
        return self.trees.predict(X) if self.can_split_ else np.zeros(len(X))

    @property
    def feature_importances_(self) -> np.ndarray:
        """The total gain of each column."""
        return self.trees.feature_importances_ if self.can_split_ else np.zeros(self.n_features_in_)

    def predict_survival(self, X: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Return the probability of no event up to each of some times, (n, len(times))."""
        return self.hazards_.survival(self.slope_ * self.predict(X), times)
