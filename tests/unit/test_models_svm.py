"""The SVM's probabilities are scikit-learn's, and cost nothing until they are asked for."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from blanketflow.models.svm import SVM

SEED = 3


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
@pytest.mark.parametrize("members", [None, 3, 1])
def test_probabilities_are_those_of_calibration_by_scikit_learn(load, members):
    X, y = load(return_X_y=True)
    rows = np.r_[np.flatnonzero(y == 0)[:members], np.flatnonzero(y != 0)[::2]]
    n_folds = min(5, members or 5)
    every = np.arange(len(rows))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=SEED) if n_folds > 1 else [(every, every)]
    machine = make_pipeline(StandardScaler(), SVC(C=1.0))
    expected = CalibratedClassifierCV(machine, cv=folds, ensemble=False).fit(X[rows], y[rows])
    fitted = SVM().build("classification", SEED).fit(X[rows], y[rows])
    np.testing.assert_array_equal(fitted.predict_proba(X), expected.predict_proba(X))
    np.testing.assert_array_equal(fitted.predict(X), machine.fit(X[rows], y[rows]).predict(X))


def test_classes_take_one_fit_and_probabilities_one_for_each_fold_more(monkeypatch):
    fits = []
    own = SVC.fit
    monkeypatch.setattr(SVC, "fit", lambda self, *rows: fits.append(len(rows[0])) or own(self, *rows))
    X, y = load_iris(return_X_y=True)
    fitted = SVM().build("classification", SEED).fit(X, y)
    fitted.predict(X)
    assert fits == [150]
    fitted.predict_proba(X), fitted.predict_proba(X)
    assert fits == [150, *[120] * 5]
    fitted.fit(X[:100], y[:100])
    assert fitted.predict_proba(X).shape == (150, 2)  # not those of the rows before
