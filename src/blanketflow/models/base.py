"""The interface of every model: a card, options, and how to build its scikit-learn estimator."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import UnsupportedError
from ..core.parameters import Configurable


@dataclass
class Model(Configurable):
    """A configured model. A subclass adds a `card`, declared options and `assemble`.

    Examples
    --------
    >>> from blanketflow.models import get_model
    >>> model = get_model({"type": "knn", "n_neighbors": 3})
    >>> model.card.tasks, model.options()
    (('classification', 'regression'), {'n_neighbors': 3})
    """

    def build(self, task: str, seed: int, n_jobs: int = 1) -> Any:
        """Return an unfitted scikit-learn estimator for a float matrix.

        Parameters
        ----------
        task : {"classification", "regression"}
            The task. A classifier has `predict_proba` if the method allows it.
        seed : int
            Seed of the estimator's random numbers, below 2**32.
        n_jobs : int, default=1
            Number of threads or processes, which does not change the result.

        Raises
        ------
        UnsupportedError
            If the card does not list the task.
        """
        if task not in self.card.tasks:
            raise UnsupportedError(
                f"model {self.card.id!r} does not do {task}, only {' and '.join(self.card.tasks)}. Choose another."
            )
        return self.assemble(task, seed, n_jobs)

    def certify(self, estimator: Any) -> Any:
        """Return an estimator from `build` with the setting, if there is one, in which `used_columns` is known."""
        return estimator

    def used_columns(self, fitted: Any) -> np.ndarray | None:
        """Return the columns on which a fitted estimator depends, shape (k,), ascending; None if that is not known.

        This is a certificate: fitted on the same rows with the same seed, but without any of the other columns, it
        would give the same predictions to the last bit. Most estimators draw columns at random or mix all columns, and
        have no certificate.
        """
        return None

    def predict_by_sets(
        self,
        task: str,
        seed: int,
        train: tuple[np.ndarray, np.ndarray],
        X: np.ndarray,
        sets: Sequence[Sequence[int]],
        check_time: Callable[[], None],
    ) -> Iterator[np.ndarray]:
        """Yield what models of some columns, of some others, and so on predict for some rows.

        Parameters
        ----------
        task : {"classification", "regression"}
            What is predicted.
        seed : int
            Seed of every model, below 2**32.
        train : tuple of numpy.ndarray
            The matrix, shape (n, d), and the target, (n,), that the models learn.
        X : numpy.ndarray
            The rows to predict, (m, d).
        sets : sequence of sequences of int
            The columns that each model reads.
        check_time : callable
            Raises an error if the time is over; called before each model or block of rows.
        """
        for columns in sets:
            check_time()
            rows, asked = (np.ascontiguousarray(matrix[:, columns]) for matrix in (train[0], X))
            yield self.build(task, seed).fit(rows, train[1]).predict(asked)

    @abstractmethod
    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the unfitted estimator of a task that the card lists.

        Parameters
        ----------
        task : {"classification", "regression"}
            What it is to predict.
        seed : int
            Where the estimator takes its random numbers from, below 2**32.
        n_jobs : int
            Threads or processes.

        Returns
        -------
        estimator
            In the manner of scikit-learn: `fit`, `predict`, and `predict_proba` where the metrics want probabilities.
        """
