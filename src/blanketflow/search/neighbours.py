"""What a search for one column's parents and children finds, and how a conditioning set is sought."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from ..ci.base import BoundTest
from ..core.results import CIResult
from ..core.ties import comparable_number
from .steps import PARENT_OR_CHILD, Step, step
from .strength import is_dependent, separates


@dataclass
class Neighbours:
    """Parents and children of one column as far as its own search can tell, and what separates the others from it.

    Attributes
    ----------
    members : list of Step
        In order of admission, each with its weakest test. Without a symmetry correction descendants may be among them.
    separating_sets : dict of str to tuple of str
        For each column that left the search, a set given which it was independent.
    removals : list of Step
        Who left after being admitted, in order.
    """

    members: list[Step] = field(default_factory=list)
    separating_sets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    removals: list[Step] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The members' names."""
        return [member.feature for member in self.members]


#: A search: (test, target, other columns in table order, alpha, max_k) to what it found.
FindNeighbours = Callable[[BoundTest, str, Sequence[str], float, int | None], Neighbours]


def askable_sets(
    test: BoundTest,
    target: str,
    asked: Sequence[str],
    members: Callable[[], Sequence[str]],
    max_k: int | None,
    including: Sequence[str] = (),
) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Give conditioning sets, and which of some columns to test given each: those that there are rows enough to test.

    Sets come by size, then in the order of what they are drawn from. Where no column can be tested given any set of a
    size, none can given larger ones, and the search ends.

    Parameters
    ----------
    asked : sequence of str
        The columns to test. Who leaves it meanwhile is not asked for again.
    members : callable
        What the sets of the next size are drawn from.
    including : sequence of str
        Columns that every set holds besides.

    Examples
    --------
    >>> import numpy as np
    >>> from blanketflow.ci import get_ci_test
    >>> rows = np.random.default_rng(0).integers(0, 2, (50, 4))  # tables of 8 cells, of 16 they would need 80 rows
    >>> bound = get_ci_test("g2").bind(rows)
    >>> list(askable_sets(bound, "x0", ["x1"], lambda: ["x2", "x3"], None))
    [((), ['x1']), (('x2',), ['x1']), (('x3',), ['x1'])]
    """
    size = 0
    while max_k is None or size + len(including) <= max_k:
        level, is_over = list(members()), True
        for chosen in combinations(level, size):
            given = (*chosen, *including)
            columns = test.answerable([column for column in asked if column not in given], target, given)
            if columns:
                is_over = False
                yield given, columns
        if is_over:
            return
        size += 1


class WeakestTest:
    """The weakest dependence that one feature's tests have shown, and given what."""

    def __init__(self, result: CIResult, given: Sequence[str] = ()) -> None:
        self.result, self.given = result, tuple(given)

    def see(self, result: CIResult, given: Sequence[str]) -> None:
        """Take a further result into account."""
        if strength_of(result) < strength_of(self.result):
            self.result, self.given = result, tuple(given)

    def step(self, feature: str, role: str = PARENT_OR_CHILD) -> Step:
        """Return the admission that this test leaves."""
        return step(feature, self.result, self.given, role=role)


def strength_of(result: CIResult) -> tuple[float, float]:
    """Return what dependences are compared by: log p, then statistic per degree of freedom; larger is stronger.

    Both without their last bits, so that float noise does not decide.
    """
    per_dof = abs(result.statistic) / max(result.dof, 1.0)
    return -comparable_number(result.log_p), comparable_number(per_dof)


def find_separating_set(
    test: BoundTest,
    target: str,
    feature: str,
    others: Sequence[str],
    alpha: float,
    max_k: int | None,
    including: Sequence[str] = (),
    weakest: WeakestTest | None = None,
) -> tuple[CIResult, tuple[str, ...]] | None:
    """Return the first set given which a feature is independent of the target, with that test; None if there is none.

    Parameters
    ----------
    others : sequence of str
        What the sets are drawn from.
    including : sequence of str
        Columns that every set holds besides.
    weakest : WeakestTest, optional
        Is told of every test that finds dependence.
    """
    for given, _ in askable_sets(test, target, [feature], lambda: others, max_k, including):
        result = test.test(feature, target, given=given)
        if separates(test, result, alpha):
            return result, given
        if weakest is not None and is_dependent(test, result, alpha):
            weakest.see(result, given)
    return None
