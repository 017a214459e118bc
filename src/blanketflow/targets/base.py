"""The base of kinds of targets, in one file each: checks, covariates and the null model of likelihood-ratio tests."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from ..core.column import Column, TargetColumn
from ..core.parameters import Configurable


class NullModel(Protocol):
    """A regression of a target on given predictors, to which others can be added.

    It may have a method `likelihood_ratios` that returns the ratio of each row of predictors by itself, faster.

    Attributes
    ----------
    size : float
        What bounds the number of parameters: events of a survival target, the smaller side of an ordered one, else
        rows.
    n_own : int
        Parameters besides one per predictor: intercepts, thresholds, a dispersion.
    """

    size: float
    n_own: int

    def likelihood_ratio(self, added: np.ndarray) -> float:
        """Return twice the log likelihood gained by predictors `added`, (q, n), at least 0."""
        ...

    def residuals(self) -> np.ndarray:
        """Return the score residual of each row under the null model, (n,): its derivative by the linear predictor.

        They sum to 0. Martingale residuals of a survival target; y - fit, scaled by the variance, of others.
        """
        ...


@dataclass
class TargetKind(Configurable):
    """A kind of target. A subclass declares a `card`, names its parts, and has the methods below.

    Attributes
    ----------
    own : str
        What the target's own column is called in a config, such as ``time``.
    parts : tuple of str
        Names of further columns that each row needs.
    optional : tuple of str
        Names of further columns that may be absent.
    models : tuple of str
        Ids of the models that suit it, the linear one first.
    counted : str
        What the size of its null model counts, in words.
    """

    own: ClassVar[str] = "column"
    parts: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[tuple[str, ...]] = ()
    models: ClassVar[tuple[str, ...]] = ()
    counted: ClassVar[str] = "rows"

    @abstractmethod
    def column(self, where: str, column: Column, parts: Mapping[str, Column]) -> TargetColumn:
        """Return the target with its parts, checked.

        Parameters
        ----------
        where : str
            Start of messages, such as the name of a data set.
        column : Column
            Times, counts, labels or numbers, without missing cells.
        parts : dict of str to Column
            Columns of `parts` and `optional`, without missing cells.

        Raises
        ------
        DataError
            If cells are not of this kind; the message names the column and a way out.
        """

    def size(self, target: TargetColumn) -> float:
        """Return the `size` of the target's null models, without fitting one: by default the rows."""
        return float(target.n_rows)

    @abstractmethod
    def null_model(self, target: TargetColumn, predictors: np.ndarray) -> NullModel:
        """Return the fitted regression on `predictors`, (k, n), orthogonal with mean 0 and variance 1.

        k may be 0. The model adds its own intercepts.
        """

    @abstractmethod
    def covariates(self, target: TargetColumn) -> list[Column]:
        """Return ordinary columns by which the target enters regressions of other columns."""

    def doubts(self, target: TargetColumn, predictors: np.ndarray, tested: Mapping[str, np.ndarray]) -> list[str]:
        """Return in words which assumptions of the regression on `predictors`, (k, n), the rows contradict.

        `tested` has, by feature, the rows of `predictors` that say how large it is, or which label it has. A check
        rejects a true assumption with a probability of at most `targets.checks.LEVEL` for all features together. By
        default nothing is checked.
        """
        return []

    @abstractmethod
    def why_likely(self, column: Column) -> str:
        """Return in words why a column without missing cells looks like this kind of target; empty if it does not."""
