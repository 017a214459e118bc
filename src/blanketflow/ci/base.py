"""The base class of CI tests: configure one, bind it to a table once, then ask the bound test (bound.py)."""

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
        Values of its option `model` that are not ids of models, but the test's own.
    joins_columns : bool
        Whether a group of columns is one column to it, by `bind_joined`.
    exchanges_within_strata : bool
        Whether it conditions on strata by exchanging rows only within them; else they are in each conditioning set.
    stacks_copies : bool
        Whether imputed copies are pooled by the results on all of them as one table, too.
    incomplete : str, int or None
        What a bound test does where cells are missing: ``pairwise``, or how many imputed copies it pools over; None
        refuses them. It is no option: `with_incomplete` sets it, as the data set or the caller asks.

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
            The column to be explained; only supervised binning (``mdlp``) needs it.
        sample_weight : array-like of shape (n,), optional
            How many equal rows each row stands for, or sampling weights, as `weights_are` says. Rows of weight 0 are
            left out.
        groups : array-like of shape (n,), optional
            Labels of rows that were drawn together, such as the patient.
        within : array-like of shape (n,), optional
            Labels of strata, such as the site, within which tests are made.
        weights_are : {"counts", "sampling"}, default="counts"
            What `sample_weight` is: numbers of equal rows, whole ones from 0 on, or sampling weights, in proportion to
            how many members of the population a row stands for.

        Returns
        -------
        BoundTest
            The test of this table's columns.

        Raises
        ------
        UnsupportedError
            If the test does not accept a column, or does not know weights and groups; the message names which.
        DataError
            If cells are missing or infinite, or weights, groups or strata are not one of each row.
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
        """Return the test bound to a table of which `bind` has checked that it can be."""
        return BoundTest(self, table, seed, target)

    def bind_joined(
        self, table: Table, groups: Mapping[str, Sequence[str]], seed: int, target: str | None
    ) -> BoundTest:
        """Return the test bound to a table of which each group of columns is one to its engine, if `joins_columns`."""
        raise UnsupportedError(f"{self.card.id} does not join columns into one.")
