"""PyImpetus, the authors' implementation of PPFS, as a selector of a config: trees, 30 repeats, p 0.05, no folds."""

from __future__ import annotations

import numpy as np
import pandas as pd

SEED = 0


class PyImpetus:
    """A scikit-learn selector; the package must be installed."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> PyImpetus:
        """Select."""
        from PyImpetus import PPIMBC, PPIMBR
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        y = np.asarray(y)
        is_numeric = y.dtype.kind == "f"
        selector, tree = (PPIMBR, DecisionTreeRegressor) if is_numeric else (PPIMBC, DecisionTreeClassifier)
        codes = y if is_numeric else np.unique(y, return_inverse=True)[1]
        asked = {"p_val_thresh": 0.05, "num_simul": 30, "cv": 0, "n_jobs": 1, "verbose": 0, "random_state": SEED}
        found = selector(tree(random_state=SEED), **asked)
        found.fit(pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), codes)
        kept = {int(name[1:]) for name in found.MB}
        self.support_ = np.array([j in kept for j in range(X.shape[1])])
        return self

    def get_support(self) -> np.ndarray:
        """Return the mask of selected features."""
        return self.support_
