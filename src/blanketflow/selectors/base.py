"""The contract of a method: two functions, `grow` and `shrink`, on a problem that a bound CI test answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ..ci.base import BoundTest
from ..core.parameters import Configurable
from ..core.results import CIResults
from ..core.table import Table
from ..search.steps import Step


@dataclass
class Problem:
    """One fold's question: which features form the target's Markov blanket?

    Parameters
    ----------
    features : sequence of str
        Names in table order.
    target : str
        Name of the target.
    marginal : CIResults or None
        The ci_test stage: each feature against the target given nothing. None for methods without a test.
    seed : int
        The fold's seed; derive others from it with `core.seeds.derive_rng`.
    read_table : callable returning Table
        Reads the fold's rows, features and target. Called when first needed, so that a method which decides on the
        marginal results alone never reads the data.
    bind : callable returning BoundTest
        Binds the CI test to that table, likewise when first needed.
    """

    features: Sequence[str]
    target: str
    marginal: CIResults | None
    seed: int
    read_table: Callable[[], Table]
    bind: Callable[[Table], BoundTest]

    @cached_property
    def table(self) -> Table:
        """The fold's rows."""
        return self.read_table()

    @cached_property
    def test(self) -> BoundTest:
        """The bound CI test; it counts and remembers."""
        return self.bind(self.table)

    @property
    def n_tests(self) -> int:
        """CI tests computed so far by this problem's test, the marginal ones not counted."""
        return self.test.n_tests if "test" in self.__dict__ else 0


@dataclass
class Method(Configurable):
    """A configured method. A subclass adds a `card`, declared parameters, `grow` and `shrink`.

    Attributes
    ----------
    default_test : str or None
        Id of the CI test used when none is asked for; None for methods without one.
    needs : str
        What the test must measure: ``p-value`` or ``mutual-information``.
    test_shorthands : tuple of str
        Options of the default test that the scikit-learn class takes directly, for convenience.
    """

    default_test: ClassVar[str | None] = "g2"
    needs: ClassVar[str] = "p-value"
    test_shorthands: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def grow(self, problem: Problem) -> list[Step]:
        """Return the candidates, in the order in which they were admitted."""

    @abstractmethod
    def shrink(self, problem: Problem, candidates: list[Step]) -> list[Step]:
        """Return one final decision for each feature that was considered, in the order of decisions."""


def members(decisions: Sequence[Step]) -> list[Step]:
    """Return the features kept, most important first, ties by the order of decisions."""
    return sorted((d for d in decisions if d.kept), key=lambda d: -d.importance)
