"""The interface of every model: a card, declared options, and how to build its scikit-learn estimator."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from ..core.errors import UnsupportedError
from ..core.parameters import Configurable


@dataclass
class Model(Configurable):
    """A configured model. A subclass adds a `card`, declared options and `assemble`."""

    def build(self, task: str, seed: int, n_jobs: int = 1) -> Any:
        """Return an unfitted scikit-learn estimator for a float matrix.

        Parameters
        ----------
        task : {"classification", "regression"}
            A classifier has `predict_proba` wherever the method allows it.
        seed : int
            Where the estimator takes its random numbers from, below 2**32.
        n_jobs : int, default=1
            Threads or processes. They change the time, not the result.

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

    @abstractmethod
    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the estimator of a task that the card lists."""
