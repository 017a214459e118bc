"""CI tests of feature groups: each group is one variable, as X, as Y and in conditioning sets.

A group is missing in the rows where any of its columns is missing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.cards import NUMERIC, PAIRWISE
from ..core.results import CIResult, CIResults
from ..core.table import Column, Table
from .base import CITest
from .bound import BoundTest
from .engines import Candidate, columns_of
from .missing import PairwiseEngine, PooledEngine
from .unbound import UnboundTest, with_strata

#: The columns of each group, by its name.
Groups = Mapping[str, Sequence[str]]


def bind_groups(
    test: CITest, table: Table, groups: Mapping[str, Sequence[str]], seed: int = 0, target: str | None = None
) -> BoundTest:
    """Bind a test to a table in which `groups` of two or more columns are variables, in place of their first column.

    Tests of levels see one column per group, whose levels are the occurring combinations; kernel tests use one joint
    kernel; others test sets of columns, see `GroupEngine`. Groups are disjoint and do not contain the target.

    >>> import numpy as np
    >>> from blanketflow.ci import get_ci_test
    >>> from blanketflow.core.convert import as_table
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> table = as_table(np.column_stack([X, X[:, 0] + X[:, 1] + rng.normal(size=200)]))
    >>> bound = bind_groups(get_ci_test("fisher-z"), table, {"both": ["x0", "x1"]})
    >>> bound.table.names, bound.test("both", "x3").dof
    (['both', 'x2', 'x3'], 2.0)
    """
    if not groups:
        return test.bind(table, seed=seed, target=target)
    is_incomplete = test.incomplete is not None and table.first_incomplete() is not None
    if is_incomplete and (bound := _bind_incomplete(test, table, groups, seed, target)) is not None:
        return bound
    if test.joins_columns:
        return test.bind_joined(table, groups, seed, target)
    bound, named = test.bind(table, seed=seed, target=target), table_of_variables(table, groups)
    columns = [*positions_of(table.names, groups), *((at,) for at in bound.strata)]
    return BoundTest(test, named, seed, engine=GroupEngine(test, bound.engine, columns))


def table_of_variables(table: Table, groups: Mapping[str, Sequence[str]]) -> Table:
    """Return a table with each group's name in place of its first column; engines read the group's own columns."""
    columns = [replace(table[groups.get(name, (name,))[0]], name=name) for name in variables(table.names, groups)]
    return Table(columns, table.design)


def variables(names: Sequence[str], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the column names with each group's name in place of its first column.

    >>> variables(["age", "site_a", "dose", "site_b"], {"site": ("site_a", "site_b")})
    ['age', 'site', 'dose']
    """
    if not groups:
        return list(names)
    group_of = {column: group for group, members in groups.items() for column in members}
    return list(dict.fromkeys(group_of.get(name, name) for name in names))


def positions_of(names: Sequence[str], groups: Mapping[str, Sequence[str]]) -> list[tuple[int, ...]]:
    """Return the ascending column positions of each of the `variables`.

    >>> positions_of(["age", "site_a", "dose", "site_b"], {"site": ("site_a", "site_b")})
    [(0,), (1, 3), (2,)]
    """
    at = {name: position for position, name in enumerate(names)}
    return [tuple(sorted(at[column] for column in groups.get(name, (name,)))) for name in variables(names, groups)]


class GroupEngine:
    """Tests variables of one or more columns (`columns_of`, ascending positions) by an `engine` bound to the columns.

    In a conditioning set a group means all of its columns. As X it is a set of columns, if the test supports sets; else
    the smallest p-value of its columns times their number counts (Bonferroni). As Y it is swapped with an X of one
    column, if the test is symmetric. Otherwise `evaluate_pair` is used if the engine has it, else the chain rule: X is
    independent of Y1 and Y2 together if and only if it is independent of Y1, and of Y2 given Y1; the smallest p-value
    of the links counts, times their number.
    """

    def __init__(self, test: CITest, engine: Any, columns_of: Sequence[tuple[int, ...]]) -> None:
        self.engine, self.columns_of = engine, columns_of
        self.takes_sets, self.is_symmetric = test.card.column_sets, test.is_symmetric
        if hasattr(engine, "rows_needed"):
            self.rows_needed = self._rows_needed

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each variable."""
        return self.evaluate_sets([(int(candidate),) for candidate in candidates], target, given)

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set of variables as one joint variable."""
        asked, y, z = [self._columns(c) for c in candidates], self.columns_of[target], self._columns(given)
        if len(y) == 1:
            return self._with_column(asked, y[0], z)
        return CIResults.from_rows(self._with_group(x, y, z) for x in asked)

    def _columns(self, variables: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted(column for variable in variables for column in self.columns_of[variable]))

    def _with_column(self, asked: Sequence[tuple[int, ...]], y: int, z: tuple[int, ...]) -> CIResults:
        found: dict[tuple[int, ...], CIResult] = {}
        singles, sets = ([x for x in asked if (len(x) == 1) is is_single] for is_single in (True, False))
        if singles:
            results = self.engine.evaluate([x for (x,) in singles], y, z)
            found.update(zip(singles, results, strict=True))
        if sets and self.takes_sets:
            found.update(zip(sets, self.engine.evaluate_sets(sets, y, z), strict=True))
        elif sets:
            results = self.engine.evaluate([column for x in sets for column in x], y, z)
            rows = iter(results)
            found.update((x, smallest_of([next(rows) for _ in x])) for x in sets)
        return CIResults.from_rows(found[x] for x in asked)

    def _with_group(self, x: tuple[int, ...], y: tuple[int, ...], z: tuple[int, ...]) -> CIResult:
        if self.is_symmetric and len(x) == 1:
            return self._with_column([y], x[0], z)[0]
        x, y = sorted((x, y)) if self.is_symmetric else (x, y)
        if hasattr(self.engine, "evaluate_pair"):
            return self.engine.evaluate_pair(x, y, z)[0]
        earlier = [tuple(sorted((*z, *y[:i]))) for i in range(len(y))]
        return smallest_of([self._with_column([x], column, z)[0] for column, z in zip(y, earlier, strict=True)])

    def _rows_needed(self, x: Candidate, target: int, given: tuple[int, ...]) -> int | None:
        columns, y = self._columns(columns_of(x)), self.columns_of[target]
        z = tuple(sorted((*self._columns(given), *y[:-1])))
        return self.engine.rows_needed(columns if len(columns) > 1 else columns[0], y[-1], z)


def smallest_of(results: Sequence[CIResult] | CIResults) -> CIResult:
    """Return the result with the smallest p-value, times the number of results (Bonferroni); reliable if all are.

    >>> results = [CIResult(4.0, p, math.log(p), 1.0, 50, True) for p in (0.2, 0.01)]
    >>> smallest_of(results).p_value
    0.02
    """
    best, m = min(results, key=lambda result: result.log_p), len(results)
    corrected = min(1.0, m * best.p_value), min(0.0, math.log(m) + best.log_p)
    return CIResult(best.statistic, *corrected, best.dof, best.n, all(result.reliable for result in results))


def _bind_incomplete(
    test: UnboundTest, table: Table, groups: Groups, seed: int, target: str | None
) -> BoundTest | None:
    """Bind a test with a rule for missing cells to groups; None if pooling with sets on single columns is enough."""
    whole, _ = with_strata(test, table)
    if test.incomplete == PAIRWISE:
        return BoundTest(test, _named(table, groups), seed, engine=PairwiseGroups(test, whole, groups, seed, target))
    if test.joins_columns:
        return BoundTest(test, _named(table, groups), seed, engine=PooledGroups(test, whole, groups, seed, target))
    return None


def _named(table: Table, groups: Groups) -> Table:
    """Return a table of the variables. A group is a column of zeros, missing where any of its columns is missing."""
    columns = []
    for name in variables(table.names, groups):
        if name not in groups:
            columns.append(table[name])
            continue
        missing = np.any([table[column].missing() for column in groups[name]], axis=0)
        columns.append(Column(name, NUMERIC, np.where(missing, np.nan, 0.0)))
    return Table(columns, table.design)


def _engine_of_groups(test: UnboundTest, table: Table, groups: Groups, seed: int, target: str | None) -> Any:
    """Return the engine of a table without missing cells, by variable position; strata are among its columns."""
    if test.joins_columns:
        joined = test.joined(table, groups, target)
        return test.prepare(joined, seed, None if target is None else joined.position(target))
    engine = test.prepare(table, seed, None if target is None else table.position(target))
    return GroupEngine(test, engine, positions_of(table.names, groups))


class PairwiseGroups(PairwiseEngine):
    """Tests groups on the rows where no column of the query is missing."""

    def __init__(self, test: UnboundTest, table: Table, groups: Groups, seed: int, target: str | None) -> None:
        self._whole, self._groups_of, named = table, groups, _named(table, groups)
        super().__init__(test, named, seed, None if target is None else named.position(target))

    def _prepared(self, columns: list[int], rows: np.ndarray | None) -> Any:
        names = [self.table.names[at] for at in columns]
        groups = {name: self._groups_of[name] for name in names if name in self._groups_of}
        table = self._whole.select([column for name in names for column in groups.get(name, (name,))])
        target = None if self.target is None else self.table.names[self.target]
        return _engine_of_groups(self.test, table if rows is None else table.take(rows), groups, self.seed, target)


class PooledGroups(PooledEngine):
    """Pools over imputed copies of the columns, in each of which a group is one column."""

    def __init__(self, test: UnboundTest, table: Table, groups: Groups, seed: int, target: str | None) -> None:
        self._groups, self._target_name = groups, target
        super().__init__(test, table, seed, None if target is None else table.position(target), int(test.incomplete))
        names = variables(table.names, groups)
        self._incomplete = {
            at for at, name in enumerate(names) if any(table[c].n_missing() for c in groups.get(name, (name,)))
        }

    def _prepared(self, table: Table) -> Any:
        return _engine_of_groups(self.test, table, self._groups, self.seed, self._target_name)
