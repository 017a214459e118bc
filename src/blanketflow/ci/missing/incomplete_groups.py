"""Groups of columns, each one variable to a CI test, where cells are missing.

In rows where any column of a group is missing, the group is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.cards import NUMERIC, PAIRWISE
from ...core.table import Column, Table
from ..bind import with_strata
from ..bound import BoundTest
from ..feature_groups import GroupEngine, positions_of, variables
from ..unbound import UnboundTest
from .imputations import PooledEngine
from .pairwise import PairwiseEngine

#: The columns of each group, by its name.
Groups = Mapping[str, Sequence[str]]


def bind_incomplete_groups(
    test: UnboundTest, table: Table, groups: Groups, seed: int, target: str | None
) -> BoundTest | None:
    """Bind a test with a rule for missing cells to a table of which some columns form groups.

    Returns None where the test pools over imputed copies and takes groups as sets of columns, which need no more than
    its engine on single columns.
    """
    whole, _ = with_strata(test, table)
    if test.incomplete == PAIRWISE:
        return BoundTest(test, _named(table, groups), seed, engine=PairwiseGroups(test, whole, groups, seed, target))
    if test.joins_columns:
        return BoundTest(test, _named(table, groups), seed, engine=PooledGroups(test, whole, groups, seed, target))
    return None


def _named(table: Table, groups: Groups) -> Table:
    """Return a table of the variables; a group is a column of zeros, and of missing cells where one of its has any."""
    columns = []
    for name in variables(table.names, groups):
        if name not in groups:
            columns.append(table[name])
            continue
        missing = np.any([table[column].missing() for column in groups[name]], axis=0)
        columns.append(Column(name, NUMERIC, np.where(missing, np.nan, 0.0)))
    return Table(columns, table.design)


def _engine(test: UnboundTest, table: Table, groups: Groups, seed: int, target: str | None) -> Any:
    """Return the engine of a table without missing cells, by position of the variables; strata are columns of it."""
    if test.joins_columns:
        joined = test.joined(table, groups, target)
        return test.prepare(joined, seed, None if target is None else joined.position(target))
    engine = test.prepare(table, seed, None if target is None else table.position(target))
    return GroupEngine(test, engine, positions_of(table.names, groups))


class PairwiseGroups(PairwiseEngine):
    """Answers each query as the test does, with the groups, on the rows where no column of the query is missing."""

    def __init__(self, test: UnboundTest, table: Table, groups: Groups, seed: int, target: str | None) -> None:
        self._whole, self._groups_of, named = table, groups, _named(table, groups)
        super().__init__(test, named, seed, None if target is None else named.position(target))

    def _prepared(self, columns: list[int], rows: np.ndarray | None) -> Any:
        names = [self.table.names[at] for at in columns]
        groups = {name: self._groups_of[name] for name in names if name in self._groups_of}
        table = self._whole.select([column for name in names for column in groups.get(name, (name,))])
        target = None if self.target is None else self.table.names[self.target]
        return _engine(self.test, table if rows is None else table.take(rows), groups, self.seed, target)


class PooledGroups(PooledEngine):
    """Pools over imputed copies of the columns, on each of which a group is one column, as it is to the test."""

    def __init__(self, test: UnboundTest, table: Table, groups: Groups, seed: int, target: str | None) -> None:
        self._groups, self._target_name = groups, target
        super().__init__(test, table, seed, None if target is None else table.position(target), int(test.incomplete))
        names = variables(table.names, groups)
        self._incomplete = {
            at for at, name in enumerate(names) if any(table[c].n_missing() for c in groups.get(name, (name,)))
        }

    def _prepared(self, table: Table) -> Any:
        return _engine(self.test, table, self._groups, self.seed, self._target_name)
