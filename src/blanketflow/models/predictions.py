"""Checks the predictions of a fitted model before they are used, since models that are not ours may return anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import WrongAnswerError, shown

#: Tolerance for the sum of a row's probabilities; some models work in single precision.
TOLERANCE = 1e-3


def predicted(estimator: Any, X: np.ndarray, classes: np.ndarray | None = None) -> np.ndarray:
    """Return the prediction of each row of X, shape (n,).

    `classes` are the classes in the training rows; None if the estimator predicts numbers. Raises `WrongAnswerError` if
    the predictions are not n finite numbers, or not all among these classes.
    """
    found = _numbers(estimator.predict(X), "predictions")
    if found.shape not in ((len(X),), (len(X), 1)):
        raise WrongAnswerError(f"the model returned predictions of shape {found.shape} for {len(X)} rows")
    found = found.reshape(-1)
    if classes is not None:
        unknown = found[~np.isin(found, classes)]
        if len(unknown):
            raise WrongAnswerError(f"the model predicted the class {shown(unknown[0].item())}, which it was not taught")
    return found


def probabilities(estimator: Any, X: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability of each class for each row of X, shape (n, k), and the classes of the columns.

    Raises `WrongAnswerError` if these are not probabilities, or not of classes in the training rows.
    """
    said = np.asarray(estimator.classes_)
    if not np.isin(said, classes).all() or len(np.unique(said)) < len(said):
        raise WrongAnswerError(f"the model says that its classes are {shown(said.tolist())}, which it was not taught")
    found = _numbers(estimator.predict_proba(X), "probabilities")
    if found.shape != (len(X), len(said)):
        raise WrongAnswerError(
            f"the model returned probabilities of shape {found.shape} for {len(X)} rows and {len(said)} classes"
        )
    if (found < -TOLERANCE).any() or (np.abs(found.sum(axis=1) - 1) > TOLERANCE).any():
        raise WrongAnswerError("the model returned probabilities that are negative or whose sum is not 1")
    return found, said


def class_probabilities(estimator: Any, X: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the probability of each of some classes, ascending, for each row of X, (n, r): 0 of one not taught."""
    found, said = probabilities(estimator, X, classes)
    whole = np.zeros((len(X), len(classes)))
    whole[:, np.searchsorted(classes, said)] = found
    return whole


def _numbers(values: Any, what: str) -> np.ndarray:
    try:
        found = np.asarray(values)
    except ValueError as error:
        raise WrongAnswerError(f"the model returned {what} that are not an array ({error})") from error
    if found.dtype.kind not in "biuf":
        raise WrongAnswerError(f"the model returned {what} of type {found.dtype}, which are not numbers")
    if not np.isfinite(found).all():
        raise WrongAnswerError(f"the model returned {what} that are not finite")
    return found
