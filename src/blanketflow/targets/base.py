"""The base of kinds of targets, in one file each: checks, covariates and the null model of likelihood-ratio tests."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
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

    Examples
    --------
    >>> class Mean:
    ...     n_own = 1
    ...
    ...     def __init__(self, y):
    ...         self.y, self.size = y, float(len(y))
    ...
    ...     def likelihood_ratio(self, added):
    ...         return float(len(self.y) * np.sum((added @ self.residuals() / len(self.y)) ** 2) / self.y.var())
    ...
    ...     def residuals(self):
    ...         return self.y - self.y.mean()
    >>> Mean(np.array([1.0, 3.0])).likelihood_ratio(np.array([[-1.0, 1.0]]))
    2.0
    """

    size: float
    n_own: int

    @abstractmethod
    def likelihood_ratio(self, added: np.ndarray) -> float:
        """Return twice the log likelihood gained by added predictors, at least 0.

        Parameters
        ----------
        added : ndarray of shape (q, n)
            Predictors with mean 0 and variance 1, orthogonal to the given ones.

        Returns
        -------
        float
            To be compared with chi-square with q degrees of freedom.
        """
        ...

    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients of the predictors, (k,), and their covariance matrix, (k, k).

        The inverse of the information, times the dispersion by which likelihood ratios are divided. Needed if the card
        names an effect.
        """
        ...

    def scores(self, added: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of each row's log likelihood at this model's fit, (p, n), and the information, (p, p).

        By parameters such as intercepts, then by the coefficients of the given predictors, last of the added ones. The
        information is minus the second derivative of all rows, or its expectation. Needed if the card says
        ``design_based``.
        """
        ...

    @abstractmethod
    def residuals(self) -> np.ndarray:
        """Return the score residual of each row under the null model: its derivative by the linear predictor.

        Martingale residuals of a survival target; y - fit, scaled by the variance, of others.

        Returns
        -------
        ndarray of shape (n,)
            They sum to 0.
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
    regression : class
        The null model, made from a target and predictors.
    counted : str
        What the size of its null model counts, in words.

    Examples
    --------
    >>> from blanketflow.targets import get_target_kind
    >>> kind = get_target_kind("survival")
    >>> kind.own, kind.parts, kind.optional
    ('time', ('event',), ('entry', 'strata'))
    """

    own: ClassVar[str] = "column"
    parts: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[tuple[str, ...]] = ()
    models: ClassVar[tuple[str, ...]] = ()
    regression: ClassVar[Callable[[TargetColumn, np.ndarray], NullModel]]
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

        Returns
        -------
        TargetColumn
            A value for each row, and numbers of the parts.

        Raises
        ------
        DataError
            If cells are not of this kind; the message names the column and a way out.

        Examples
        --------
        >>> from blanketflow.targets import get_target_kind
        >>> found = get_target_kind("share").column("demo", Column("cover", "numeric", np.array([0.2, 1.0])), {})
        >>> found.target_kind
        'share'
        """

    def size(self, target: TargetColumn) -> float:
        """Return the `size` of the target's null models, without fitting one: by default the rows."""
        return float(target.n_rows)

    def null_model(self, target: TargetColumn, predictors: np.ndarray) -> NullModel:
        """Return the fitted regression on given predictors. It adds its own intercepts.

        Parameters
        ----------
        target : TargetColumn
            A target of this kind.
        predictors : ndarray of shape (k, n)
            Orthogonal rows with mean 0 and variance 1; k may be 0.

        Returns
        -------
        NullModel
            The regression.

        Examples
        --------
        >>> from blanketflow.targets import get_target_kind
        >>> kind = get_target_kind("share")
        >>> target = kind.column("demo", Column("cover", "numeric", np.array([0.2, 0.6])), {})
        >>> kind.null_model(target, np.empty((0, 2))).residuals().round(3).tolist()
        [-0.2, 0.2]
        """
        return self.regression(target, predictors)

    @abstractmethod
    def covariates(self, target: TargetColumn) -> list[Column]:
        """Return ordinary columns by which the target enters regressions of other columns.

        Parameters
        ----------
        target : TargetColumn
            A target of this kind.

        Returns
        -------
        list of Column
            At least one.

        Examples
        --------
        >>> from blanketflow.targets import get_target_kind
        >>> kind = get_target_kind("positive")
        >>> target = kind.column("demo", Column("cost", "numeric", np.array([1.0, np.e])), {})
        >>> [column.values.tolist() for column in kind.covariates(target)]
        [[0.0, 1.0]]
        """

    def doubts(self, target: TargetColumn, predictors: np.ndarray, tested: Mapping[str, np.ndarray]) -> list[str]:
        """Return in words which assumptions of the regression on `predictors`, (k, n), the rows contradict.

        `tested` has, by feature, the rows of `predictors` that say how large it is, or which label it has. A check
        rejects a true assumption with a probability of at most `targets.checks.LEVEL` for all features together. By
        default nothing is checked.
        """
        return []

    def why_likely(self, column: Column) -> str:
        """Return in words why a column without missing cells looks like this kind of target; empty if it does not."""
        return ""
