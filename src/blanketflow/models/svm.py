"""Support vector machine with a radial kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..core.cards import CLASSIFICATION, Card
from ..core.parameters import number
from .base import Model
from .deferred import Deferred

#: Folds that the decision values for calibration come from.
CALIBRATION_FOLDS = 5


@dataclass
class SVM(Model):
    """Support vector machine with a radial kernel on standardised columns; a regression target is standardised too.

    Classes are predicted by the machine itself. Probabilities come from a sigmoid a class (Platt), fitted on decision
    values that cross-validation held out: in 5 folds, or in as many as the smallest class has training rows. A class of
    a single row cannot be held out; the sigmoid then sees the training rows themselves, which keeps the order of the
    rows but makes the probabilities too sure.

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
            return CalibratedSVC(partial(_calibrated, self.C, seed), task)

        from sklearn.compose import TransformedTargetRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import SVR

        # C and epsilon are in the target's units: unscaled, the fit would depend on what it is measured in.
        return TransformedTargetRegressor(make_pipeline(StandardScaler(), SVR(C=self.C)), transformer=StandardScaler())


class CalibratedSVC(Deferred):
    """A classifier whose classes are the machine's own decision and whose probabilities are calibrated."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class that the machine decides for, not the one of largest calibrated probability."""
        return self.estimator_.calibrated_classifiers_[0].estimator.predict(X)


def _calibrated(C: float, seed: int, X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    n_folds = min(CALIBRATION_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    rows = np.arange(len(y))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed) if n_folds > 1 else [(rows, rows)]
    machine = make_pipeline(StandardScaler(), SVC(C=C))
    # Without an ensemble the machine inside is the one fitted on all training rows. One core: starting processes costs
    # more than the folds of a usual table.
    return CalibratedClassifierCV(machine, cv=folds, ensemble=False)
