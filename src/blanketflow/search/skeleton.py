"""The skeleton of a few columns: which pairs no subset of the neighbours separates."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from ..ci.base import BoundTest
from .strength import separates


class Skeleton:
    """An undirected graph of columns and, for each pair without an edge, the set that separated it.

    Attributes
    ----------
    adjacent : dict of str to list of str
        Neighbours of each column.
    separating_sets : dict of frozenset to tuple of str
        The separating set of each pair without an edge.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self.adjacent = {column: [other for other in columns if other != column] for column in columns}
        self.separating_sets: dict[frozenset[str], tuple[str, ...]] = {}

    def separate(self, x: str, y: str, given: tuple[str, ...]) -> None:
        """Remove the edge between two columns."""
        self.adjacent[x].remove(y)
        self.adjacent[y].remove(x)
        self.separating_sets[frozenset((x, y))] = given

    def opened_by_colliders(self, column: str) -> dict[str, str]:
        """Return each column two edges away that the middle column did not separate, with that middle, a collider."""
        opened: dict[str, str] = {}
        for middle in self.adjacent[column]:
            for other in self.adjacent[middle]:
                if other == column or other in self.adjacent[column] or other in opened:
                    continue
                if middle not in self.separating_sets[frozenset((column, other))]:
                    opened[other] = middle
        return opened


def find_skeleton(test: BoundTest, columns: Sequence[str], alpha: float, max_k: int | None) -> Skeleton:
    """Find the skeleton level by level, as the PC algorithm does.

    A level's conditioning sets are drawn from a column's neighbours at the start of the level, so that the order of the
    columns does not matter.

    References
    ----------
    Spirtes, Glymour, Scheines (2000) Causation, Prediction, and Search, doi:10.7551/mitpress/1754.001.0001;
    Colombo, Maathuis (2014) Order-independent constraint-based causal structure learning, JMLR 15, 3741-3782.
    """
    skeleton = Skeleton(columns)
    size = 0
    while (max_k is None or size <= max_k) and any(len(near) > size for near in skeleton.adjacent.values()):
        level = {column: list(near) for column, near in skeleton.adjacent.items()}
        for x in columns:
            for given in combinations(level[x], size):
                asked = test.answerable([y for y in skeleton.adjacent[x] if y not in given], x, given)
                for y, result in zip(asked, test.test_many(asked, x, given=given) if asked else (), strict=True):
                    if separates(test, result, alpha):
                        skeleton.separate(x, y, given)
        size += 1
    return skeleton
