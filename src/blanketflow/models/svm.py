"""Support vector machine with a radial kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..core.cards import CLASSIFICATION, Card
from ..core.parameters import number
from .base import LazyEstimator, Model

#: The largest number of folds for the decision values that calibration uses.
CALIBRATION_FOLDS = 5


@dataclass
class SVM(Model):
    """Support vector machine with a radial kernel on standardised columns; a regression target is standardised too.

    The machine predicts classes itself. Probabilities come from a sigmoid per class (Platt), fitted on held-out
    decision values from cross-validation with 5 folds, or as many as the smallest class has training rows. With a
    single row in a class, the sigmoid is fitted on the training rows, which keeps the order of rows but makes
    probabilities too extreme. The first `predict_proba` calibrates.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(SVM().build("classification", seed=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    card: ClassVar[Card] = Card(
        id="svm",
        name="support vector machine (radial kernel)",
        family="model",
        summary="A maximum-margin classifier or epsilon-insensitive regression with a radial kernel.",
        reference="Cortes, Vapnik (1995) Support-vector networks, 10.1007/BF00994018; probabilities: Platt (1999) "
        "Probabilistic outputs for support vector machines.",
        cost="O(n^2 d) to O(n^3 d)",
    )

    C: float = number(1.0, "Inverse of the strength of the regularisation.", above=0)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the estimator; the seed shuffles the calibration folds."""
        if task == CLASSIFICATION:
            return CalibratedSVC(partial(_machine, self.C), seed)

        from sklearn.compose import TransformedTargetRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import SVR

        # C and epsilon are in the target's units, so without scaling the fit would depend on the unit.
        return TransformedTargetRegressor(make_pipeline(StandardScaler(), SVR(C=self.C)), transformer=StandardScaler())


class CalibratedSVC(LazyEstimator):
    """A classifier that predicts the machine's classes, and fits `sigmoids_` at the first `predict_proba`."""

    def __init__(self, make: Callable[[np.ndarray, np.ndarray], Any], seed: int) -> None:
        super().__init__(make, CLASSIFICATION)
        self.seed = seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> CalibratedSVC:
        """Fit the machine, and store the rows for calibration."""
        super().fit(X, y)
        self.rows_ = np.asarray(X), np.asarray(y)
        vars(self).pop("sigmoids_", None)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return class probabilities, with columns in the order of `classes_`; the first call calibrates."""
        if not hasattr(self, "sigmoids_"):
            self.sigmoids_ = self._calibrated(*self.rows_)
        return self.sigmoids_.predict_proba(_columns(self.estimator_.decision_function(X)))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's parameters."""
        return {"make": self.make, "seed": self.seed}

    def _calibrated(self, X: np.ndarray, y: np.ndarray) -> Any:
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.frozen import FrozenEstimator
        from sklearn.model_selection import StratifiedKFold, cross_val_predict

        n_folds = min(CALIBRATION_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
        every = np.arange(len(y))
        if n_folds > 1:
            folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.seed)
            held_out = cross_val_predict(self.make(X, y), X, y, cv=folds, method="decision_function")
        else:
            held_out = self.estimator_.decision_function(X)
        decided = FrozenEstimator(DecisionValues(self.classes_))
        return CalibratedClassifierCV(decided, cv=[(every, every)], ensemble=False).fit(_columns(held_out), y)


class DecisionValues(LazyEstimator):
    """A classifier whose rows are decision values: one column per class, or one for two classes."""

    def __init__(self, classes: np.ndarray) -> None:
        super().__init__(_machine, CLASSIFICATION)
        self.classes_ = classes

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the rows."""
        return X[:, 0] if X.shape[1] == 1 else X


def _columns(decisions: np.ndarray) -> np.ndarray:
    return decisions.reshape(len(decisions), -1)


def _machine(C: float, X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return make_pipeline(StandardScaler(), SVC(C=C))
