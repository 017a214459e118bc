"""LightGBM's gradient-boosted trees."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..core.cards import CLASSIFICATION, Card
from ..core.errors import UnsupportedError
from ..core.parameters import integer, number
from .base import Model

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
        cost="O(d n) per tree",
    )

    n_estimators: int = integer(100, "Number of boosting rounds.", at_least=1)
    learning_rate: float = number(0.1, "Weight of each tree.", above=0)
    num_leaves: int = integer(31, "Largest number of leaves per tree.", at_least=2)
    # LightGBM's own default of 20 leaves a table of fewer than 40 rows without a single split.
    min_child_samples: int = integer(5, "Fewest training rows in a leaf.", at_least=1)
    max_bin: int = integer(255, "Largest number of bins of a column; fewer are faster.", at_least=2)

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

        family = LGBMClassifier if task == CLASSIFICATION else LGBMRegressor
        return family(
            **self.options(),
            importance_type="gain",  # the default counts splits, and useless columns have as many
            random_state=seed,
            n_jobs=n_jobs,
            deterministic=True,
            force_col_wise=True,
            verbose=-1,
        )

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
