"""Searches alternately for spouses among all other features and for neighbours that spouses separate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..ci.base import BoundTest
from ..core.ties import comparable_number
from .neighbours import Neighbours, find_separating_set
from .steps import PARENT_OR_CHILD, SPOUSE, Step, step
from .strength import is_dependent, is_independent


class Coexistence:
    """Neighbours and spouses of one target, starting from the neighbours that another search found.

    Parameters
    ----------
    test : BoundTest
        The bound CI test.
    target : str
        The target.
    features : sequence of str
        All features in table order.
    found : Neighbours
        The start: neighbours, and the separating sets of the other features.
    alpha : float
        Significance level.
    max_k : int or None
        Largest conditioning set by which a spouse may separate a neighbour.
    """

    def __init__(
        self, test: BoundTest, target: str, features: Sequence[str], found: Neighbours, alpha: float, max_k: int | None
    ) -> None:
        self.test, self.target, self.features, self.alpha, self.max_k = test, target, features, alpha, max_k
        self.neighbours = {member.feature: member for member in found.members}
        self.separating_sets = dict(found.separating_sets)
        self.spouses: dict[str, dict[str, Step]] = {}
        self._tried: set[str] = set()

    def settle(self) -> Iterator[Step]:
        """Find spouses through each neighbour and remove neighbours by each spouse, until the neighbours are stable.

        Yields
        ------
        Step
            The removal of each neighbour that leaves.
        """
        n_before = len(self.neighbours) + 1
        while len(self.neighbours) < n_before:
            n_before = len(self.neighbours)
            for child in list(self.neighbours):
                for candidate in self._opened_by(child) if child in self.neighbours else ():
                    if child not in self.neighbours:
                        break
                    self.spouses.setdefault(child, {})[candidate.feature] = candidate
                    yield from self._removed_by(candidate.feature)

    def remove_given_the_rest(self) -> Iterator[Step]:
        """Remove spouses, then neighbours, that are independent of the target given all others, visiting each once.

        The least important come first. So if there are too few rows to test given all others, the set shrinks until
        there are enough.

        Yields
        ------
        Step
            One decision per feature.
        """
        spouses = {name: found for by_child in self.spouses.values() for name, found in by_child.items()}
        spouses = {name: found for name, found in spouses.items() if name not in self.neighbours}
        remaining = [*self.neighbours, *spouses]
        visits = [_weakest_first(group.values()) for group in (spouses, self.neighbours)]
        for name in [member.feature for group in visits for member in group]:
            others = [other for other in remaining if other != name]
            result = self.test.test(name, self.target, given=others)
            role = SPOUSE if name in spouses else PARENT_OR_CHILD
            kept = not is_independent(self.test, result, self.alpha)
            if not kept:
                remaining = others
            yield step(name, result, others, kept=kept, role=role)

    def _opened_by(self, child: str) -> list[Step]:
        """Return the other features that depend on the target given their separating set and the child."""
        outside: dict[tuple[str, ...], list[str]] = {}
        for name in self.features:
            given = self.separating_sets.get(name)
            known = name in self.neighbours or name in self.spouses.get(child, ())
            if not known and given is not None and child not in given:
                outside.setdefault(given, []).append(name)
        opened = []
        for given, names in outside.items():
            results = self.test.test_many(names, self.target, given=(*given, child))
            for name, result in zip(names, results, strict=True):
                if is_dependent(self.test, result, self.alpha):
                    opened.append(step(name, result, (*given, child), role=SPOUSE))
        return opened

    def _removed_by(self, spouse: str) -> Iterator[Step]:
        """Remove the neighbours that subsets of the others, together with a spouse, separate from the target.

        This is done once per spouse, because later there are only fewer neighbours to draw subsets from.
        """
        if spouse in self._tried:
            return
        self._tried.add(spouse)
        for name in list(self.neighbours):
            if name == spouse:
                continue
            others = [other for other in self.neighbours if other not in (name, spouse)]
            separated = find_separating_set(self.test, self.target, name, others, self.alpha, self.max_k, [spouse])
            if separated:
                result, given = separated
                del self.neighbours[name]
                self.separating_sets[name] = given
                self.spouses.pop(name, None)
                yield step(name, result, given, kept=False, role=PARENT_OR_CHILD)


def _weakest_first(members: Iterable[Step]) -> list[Step]:
    return sorted(members, key=lambda member: comparable_number(member.importance))
