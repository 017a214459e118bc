"""Predictions of test rows, and scores of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class Predictions:
    """Predictions for the test rows.

    Attributes
    ----------
    y_true : ndarray of shape (n,)
        Class codes, numbers or counts; for survival a structured array, see `responses.response`.
    y_pred : ndarray of shape (n,)
        Class codes, means or, for survival, risk scores.
    probabilities : ndarray of shape (n, n_classes) or None
        A column for each of `classes`; None for models without probabilities and for other targets.
    classes : ndarray or None
        Codes of the training classes; of ordered classes all.
    survival : ndarray or str or None
        For survival: the probability of no event up to each of `times`, (n, len(times)), or why a model gives none.
    times : ndarray or None
        For survival: the times of the Brier score.
    taught : ndarray or None
        For survival: the training rows, as `y_true`.
    """

    y_true: np.ndarray
    y_pred: np.ndarray
    probabilities: np.ndarray | None = None
    classes: np.ndarray | None = None
    survival: np.ndarray | str | None = None
    times: np.ndarray | None = None
    taught: np.ndarray | None = None

    def probability_of(self, label: int) -> np.ndarray:
        """Return each row's probability of a class, 0 for a class without training rows."""
        if self.probabilities is None or self.classes is None:
            raise Undefined("the model gives no probabilities")
        at = np.flatnonzero(np.asarray(self.classes) == label)
        return self.probabilities[:, at[0]] if len(at) else np.zeros(len(self.y_true))


class Undefined(Exception):
    """A metric is undefined on these rows; the message says why."""


class Score(NamedTuple):
    """A metric's value, or None and the reason."""

    value: float | None
    reason: str = ""
