"""What a search for one column's parents and children finds, and how a conditioning set is sought."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from ..ci.base import BoundTest
from ..core.results import CIResult
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


def conditioning_sets(
    members: Sequence[str], max_k: int | None, including: Sequence[str] = ()
) -> Iterator[tuple[str, ...]]:
    """Give the subsets of some columns by size, then in their order; each with all of `including`.

    Examples
    --------
    >>> list(conditioning_sets(["a", "b"], None))
    [(), ('a',), ('b',), ('a', 'b')]
    >>> list(conditioning_sets(["a", "b"], 2, including=["c"]))
    [('c',), ('a', 'c'), ('b', 'c')]
    >>> list(conditioning_sets(["a", "b"], 0, including=["c"]))
    []
    """
    largest = len(members) if max_k is None else min(len(members), max_k - len(including))
    for size in range(largest + 1):
        for chosen in combinations(members, size):
            yield (*chosen, *including)


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
    """Return what dependences are compared by: log p, then statistic per degree of freedom; larger is stronger."""
    return -result.log_p, abs(result.statistic) / max(result.dof, 1.0)


def find_separating_set(
    test: BoundTest,
    target: str,
    feature: str,
    sets: Iterable[tuple[str, ...]],
    alpha: float,
    weakest: WeakestTest | None = None,
) -> tuple[CIResult, tuple[str, ...]] | None:
    """Return the first set given which a feature is independent of the target, with that test; None if there is none.

    Parameters
    ----------
    weakest : WeakestTest, optional
        Is told of every test that finds dependence.
    """
    for given in sets:
        result = test.test(feature, target, given=given)
        if separates(test, result, alpha):
            return result, given
        if weakest is not None and is_dependent(test, result, alpha):
            weakest.see(result, given)
    return None
