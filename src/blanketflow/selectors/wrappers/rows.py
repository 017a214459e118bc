"""The rows that the rankings of a portfolio share: features, target, and what models read of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ...ci.base import CITest
from ...ci.choice import choose_test, described
from ...core.table import Column, Table
from ...models.encode import Design, design, moderate, moderated


@dataclass
class Rows:
    """Some rows of a question: features and target, and what rankings of them share.

    Parameters
    ----------
    features : Table
        The features, without missing cells.
    target : Column
        The target.
    seed : int
        Seed of the models.
    check_time : function
        Called between models; raises if the time is over.
    count_tests : function
        Told how many CI tests were made.
    """

    features: Table
    target: Column
    seed: int
    check_time: Callable[[], None] = field(default=lambda: None)
    count_tests: Callable[[int], None] = field(default=lambda _: None)

    @cached_property
    def design(self) -> Design:
        """What models read."""
        return design(moderate(self.features))

    @cached_property
    def y(self) -> np.ndarray:
        """The target as numbers or codes, (n,)."""
        return moderated(self.target)

    @cached_property
    def test(self) -> CITest:
        """The CI test that suits these columns and rows."""
        return choose_test(described(self.features, self.target), self.features.n_rows).configured()

    def of(self, positions: np.ndarray) -> Rows:
        """Return the same rows with some features, by their positions."""
        names = self.features.names
        return replace(self, features=self.features.select([names[j] for j in positions]))
