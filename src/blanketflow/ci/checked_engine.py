"""Checks the results of CI tests that are not ours before a search uses them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import WrongAnswerError, shown
from ..core.results import CIResults
from .engines import Engine


class CheckedEngine:
    """An engine that passes on the results of another engine if they are valid, and raises `WrongAnswerError` if not.

    Parameters
    ----------
    engine : Engine
        The engine whose results are checked.
    name : str
        Name of the test in messages.
    """

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine, self._name = engine, name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._engine, name)

    def evaluate(self, candidates: Sequence[int] | np.ndarray, target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate against the target given the same conditioning set."""
        return self._checked(self._engine.evaluate(candidates, target, given), len(candidates))

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test sets of columns."""
        return self._checked(self._engine.evaluate_sets(candidates, target, given), len(candidates))

    def judge(self, differences: np.ndarray) -> CIResults:
        """Return the results for the differences of all repeats."""
        return self._checked(self._engine.judge(differences), len(differences))

    def _checked(self, results: Any, n: int) -> CIResults:
        if not isinstance(results, CIResults):
            raise WrongAnswerError(f"CI test {self._name} returned {shown(results)}, but must return CIResults")
        for name, values in results.columns().items():
            if not isinstance(values, np.ndarray) or values.shape != (n,) or values.dtype.kind not in "biuf":
                found = f"shape {values.shape} of {values.dtype}" if isinstance(values, np.ndarray) else shown(values)
                raise WrongAnswerError(
                    f"CI test {self._name} returned {name} as {found}, but must return {n} numbers in an array"
                )
            if np.isnan(values).any():
                raise WrongAnswerError(f"CI test {self._name} returned {name} nan")
        outside = (results.p_value < 0) | (results.p_value > 1)
        if outside.any():
            first = results.p_value[outside][0]
            raise WrongAnswerError(f"CI test {self._name} returned the p-value {first:g}, which is not between 0 and 1")
        if (results.log_p > 0).any():
            first = results.log_p[results.log_p > 0][0]
            raise WrongAnswerError(f"CI test {self._name} returned log_p {first:g}, which is above 0")
        return results
