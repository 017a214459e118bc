"""What a bound test does where cells are missing: test-wise deletion, or pooling over imputed copies of the table."""

from __future__ import annotations

from copy import copy
from typing import TypeVar

from ...core.cards import IMPUTATIONS, PAIRWISE
from ...core.errors import ParameterError, UnsupportedError
from ...core.parameters import Parameter
from ...core.summed_table import SummedTable
from ...core.table import Table
from ..engines import Engine
from ..unbound import UnboundTest
from .imputations import PooledEngine
from .pairwise import PairwiseEngine

Test = TypeVar("Test", bound=UnboundTest)
#: The key of a data set, and the argument of functions and selector classes.
N_COPIES = Parameter(
    "integer",
    "Imputed copies of each fold's rows, over which every CI test is pooled; needs missing: impute. null: one, with "
    "medians and most frequent labels.",
    at_least=2,
    at_most=1000,
    nullable=True,
)


def incomplete_rule(where: str, missing: str, imputations: int | None) -> str | int | None:
    """Return what tests are to do with missing cells: ``pairwise``, the number of copies, or None: they see none.

    Raises `ParameterError`, beginning with `where`, if copies are asked for but nothing is imputed.
    """
    N_COPIES.check(where, IMPUTATIONS, imputations)
    if imputations is not None and missing != "impute":
        raise ParameterError(
            f"{where}: imputations is {imputations}, but missing is {missing}. Set missing to impute, or remove "
            "imputations."
        )
    return PAIRWISE if missing == PAIRWISE else imputations


def why_not_incomplete(test: UnboundTest, rule: str | int | None) -> str | None:
    """Return why a test cannot do what a rule of `incomplete_rule` says, or None if it can."""
    asked = IMPUTATIONS if isinstance(rule, int) else rule
    if asked is None or asked in test.card.incomplete:
        return None
    why = "fits models or compares rows with rows" if test.card.takes_max_rows else "does not say that it can"
    return f"{test.card.id} {why}, so that {asked} is refused: set missing to impute or drop, or choose another test"


def with_incomplete(test: Test, rule: str | int | None) -> Test:
    """Return the test as it is when bound to rows with missing cells; raises `UnsupportedError` if it cannot be.

    Examples
    --------
    >>> import numpy as np
    >>> from blanketflow.ci import get_ci_test
    >>> table = np.column_stack([np.arange(10.0), np.arange(10.0) % 3, np.arange(10.0) % 4])
    >>> table[:2, 0] = np.nan
    >>> bound = with_incomplete(get_ci_test("fisher-z"), "pairwise").bind(table)
    >>> bound.test(0, 1).n, bound.test(1, 2).n
    (8, 10)
    """
    if rule is None:
        return test
    if reason := why_not_incomplete(test, rule):
        raise UnsupportedError(f"{reason}.")
    test = copy(test)
    test.incomplete = rule
    return test


def engine_for(test: UnboundTest, table: Table, seed: int, target: int | None) -> Engine:
    """Return the engine that answers queries on a table, of which cells may be missing if the test has a rule."""
    if isinstance(table, SummedTable):
        return test.prepare_summed(table)
    if test.incomplete is None or table.first_incomplete() is None:
        return test.prepare(table, seed, target)
    if test.incomplete == PAIRWISE:
        return PairwiseEngine(test, table, seed, target)
    return PooledEngine(test, table, seed, target, int(test.incomplete))
