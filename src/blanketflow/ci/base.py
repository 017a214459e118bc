"""The base class of CI tests: a test is configured, then bound to a table; the bound test computes results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..core.errors import UnsupportedError
from ..core.table import Table
from .bound import BoundTest
from .engines import constant_results
from .unbound import UnboundTest, checked_table, unreliable_rule

__all__ = ["BoundTest", "CITest", "constant_results", "unreliable_rule"]


@dataclass
class CITest(UnboundTest):
    """A configured CI test. A subclass defines a `card`, its options and `prepare`.

    Attributes
    ----------
    card : Card
        Describes the test, the columns that it accepts and the guarantee of its p-values.
    own_models : tuple of str
        Values of the option `model` that are implemented by the test itself and are not ids of models.
    joins_columns : bool
        Whether `bind_joined` can treat a group of columns as one column.
    exchanges_within_strata : bool
        Whether strata are handled by permuting rows within them; otherwise strata join each conditioning set.
    stacks_copies : bool
        Whether pooling over imputed copies also needs the results on all copies as one table.
    incomplete : str, int or None
        Rule for missing cells: ``pairwise``, the number of imputed copies to pool over, or None to refuse them. Set by
        `with_incomplete`; not an option.

    Examples
    --------
    >>> from blanketflow.ci import get_ci_test
    >>> test = get_ci_test("g2", bins=3)
    >>> test.card.symmetric, test.options()["bins"]
    (True, 3)
    """

    def bind(
        self,
        X: Any,
        *,
        seed: int = 0,
        target: str | int | None = None,
        sample_weight: Any = None,
        groups: Any = None,
        within: Any = None,
        weights_are: Literal["counts", "sampling"] = "counts",
    ) -> BoundTest:
        """Bind the test to a table.

        Parameters
        ----------
        X : Table, DataFrame, ndarray or scipy sparse matrix of shape (n, d)
            A table without missing cells. Text, boolean and categorical columns are discrete.
        seed : int, default=0
            Seed of the random numbers of a resampling test.
        target : str or int, optional
            The target; only supervised binning (``mdlp``) needs it.
        sample_weight : array-like of shape (n,), optional
            Counts of equal rows or sampling weights, see `weights_are`. Rows of weight 0 are left out.
        groups : array-like of shape (n,), optional
            Cluster labels of rows that were sampled together, such as the patient.
        within : array-like of shape (n,), optional
            Labels of strata, such as the site, within which tests are made.
        weights_are : {"counts", "sampling"}, default="counts"
            Whether `sample_weight` has whole numbers of equal rows, from 0 on, or sampling weights, proportional to the
            number of members of the population that a row represents.

        Returns
        -------
        BoundTest
            The test of this table's columns.

        Raises
        ------
        UnsupportedError
            If the test does not support a column, weights or groups; the message names which.
        DataError
            If cells are missing or infinite, or weights, groups or strata do not have one entry per row.
        ParameterError
            If an option is out of range.

        Examples
        --------
        >>> import numpy as np
        >>> from blanketflow.ci import get_ci_test
        >>> bound = get_ci_test("fisher-z").bind(np.random.default_rng(0).normal(size=(50, 3)))
        >>> bound.n_tests
        0
        """
        table = checked_table(self, X, sample_weight, groups, within, weights_are)
        return self.bound(table, seed, None if target is None else table.position(target))

    def bound(self, table: Table, seed: int, target: int | None) -> BoundTest:
        """Return the test bound to a table that `bind` has checked."""
        return BoundTest(self, table, seed, target)

    def bind_joined(
        self, table: Table, groups: Mapping[str, Sequence[str]], seed: int, target: str | None
    ) -> BoundTest:
        """Return the test bound to a table in which each group of columns is one column, if `joins_columns`."""
        raise UnsupportedError(f"{self.card.id} does not join columns into one.")
