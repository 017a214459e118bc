"""IAMB whose backward phase is the PC algorithm (IAMB-nPC)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from ...ci.base import BoundTest
from ...core.cards import Card
from ...core.parameters import choice, integer, number
from ...moves.backward import remove_by_subsets
from ...moves.equivalent_information import equivalents, leans_on
from ...moves.steps import MEMBER, PARENT_OR_CHILD, SPOUSE, Step, step
from ...moves.strength import separates
from ..base import Method, Problem
from .iamb import IAMB, InterIAMB


@dataclass
class IAMBnPC(Method):
    """Grow as IAMB does; then learn the skeleton of target and candidates, and read the blanket off it.

    Kept are the target's neighbours in the skeleton, and every feature two edges away whose middle feature did not
    separate it from the target, which makes the middle a common child.

    Notes
    -----
    ``variant: subset`` removes a candidate when any subset of the others separates it, which deletes spouses that are
    independent of the target given nothing. This variant guarantees nothing.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.IAMBnPC(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="iamb-npc",
        name="IAMB-nPC (repaired)",
        family="causal",
        summary="IAMB's growth; then the PC algorithm on target and candidates, and the blanket read off its skeleton.",
        reference="Tsamardinos, Aliferis, Statnikov (2003) Algorithms for large scale Markov blanket discovery, "
        "FLAIRS 16, 376-381.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets; "
        "none with variant subset",
        cost="d tests per admission; then the PC algorithm on |S| + 1 columns",
    )
    why_no_correction: ClassVar[str] = (
        "its answer is read off the tests of many pairs of features, and no p-value stands for a member"
    )
    draws_rows: ClassVar[bool] = False
    takes_feature_groups: ClassVar[bool] = True
    learns_from: ClassVar[str] = "tests"

    anytime: ClassVar[bool] = True

    alpha: float = number(0.05, "Significance level.", above=0, below=1)
    max_k: int | None = integer(3, "Largest conditioning set when shrinking; null for no limit.", at_least=0,
                                nullable=True)  # fmt: skip
    variant: str = choice("pc", "Backward phase: the PC algorithm (pc), or subsets of the others (subset).",
                          ("pc", "subset"))  # fmt: skip

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Admit the strongest, one at a time; conditioning sets have no limit here."""
        return IAMB(alpha=self.alpha).grow(problem)

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterable[Step]:
        """Read the blanket off the skeleton of target and candidates."""
        names = [candidate.feature for candidate in candidates]
        if self.variant == "subset":
            return remove_by_subsets(problem.test, problem.target, names, self.alpha, self.max_k)
        return self._read_off_skeleton(problem, names)

    def _read_off_skeleton(self, problem: Problem, names: list[str]) -> Iterator[Step]:
        test, target = problem.test, problem.target
        skeleton = find_skeleton(test, [*names, target], self.alpha, self.max_k)
        opened = skeleton.opened_by_colliders(target)
        for feature in names:
            given = skeleton.separating_sets[target].get(feature, ())
            role = PARENT_OR_CHILD
            if feature in opened:
                given, role = (*(z for z in given if z != opened[feature]), opened[feature]), SPOUSE
            kept = feature in opened or feature in skeleton.adjacent[target]
            result = test.test(feature, target, given=given)
            yield step(feature, result, given, kept=kept, role=role if kept else MEMBER)


class Skeleton:
    """An undirected graph of columns: `adjacent`, and by column the sets that separated others from it."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.adjacent = {column: [other for other in columns if other != column] for column in columns}
        self.separating_sets: dict[str, dict[str, tuple[str, ...]]] = {column: {} for column in columns}

    def separate(self, x: str, y: str, given: tuple[str, ...]) -> None:
        """Remove the edge between two columns."""
        for one, other in ((x, y), (y, x)):
            self.adjacent[one].remove(other)
            self.separating_sets[one][other] = given

    def opened_by_colliders(self, column: str) -> dict[str, str]:
        """Return each column two edges away that the middle column did not separate, with that middle, a collider."""
        opened: dict[str, str] = {}
        for middle in self.adjacent[column]:
            for other in self.adjacent[middle]:
                if other == column or other in self.adjacent[column] or other in opened:
                    continue
                if middle not in self.separating_sets[column][other]:
                    opened[other] = middle
        return opened


def find_skeleton(test: BoundTest, columns: Sequence[str], alpha: float, max_k: int | None) -> Skeleton:
    """Find the skeleton level by level, as the PC algorithm does.

    A level's conditioning sets are drawn from a column's neighbours at the start of the level, so that the order of the
    columns does not matter. Of columns with the same information about another, one stays its neighbour.

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
                    if separates(test, result, alpha) and not _is_circular(test, skeleton, x, y, given, alpha):
                        skeleton.separate(x, y, given)
        size += 1
    return skeleton


def _is_circular(test: BoundTest, skeleton: Skeleton, x: str, y: str, given: tuple[str, ...], alpha: float) -> bool:
    """Return whether a set of neighbours of X separates it from Y by columns that left X or Y thanks to the other.

    From X they left in the same level. From Y they may have left rightly: it is tested whether they say the same as X.
    """
    removed = skeleton.separating_sets
    return leans_on(given, y, removed[x]) or bool(
        equivalents(test, x, y, given, removed[y], alpha, members=skeleton.adjacent[y])
    )


@dataclass
class InterIAMBnPC(IAMBnPC):
    """Grow as inter-IAMB does; then learn the skeleton of target and candidates, and read the blanket off it.

    See `IAMBnPC` for the second phase, and `InterIAMB` for searches that go in circles.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.InterIAMBnPC(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="inter-iamb-npc",
        name="inter-IAMB-nPC (repaired)",
        family="causal",
        summary="Inter-IAMB's growth; then the PC algorithm, and the blanket read off its skeleton.",
        reference="Tsamardinos, Aliferis, Statnikov (2003) Algorithms for large scale Markov blanket discovery, "
        "FLAIRS 16, 376-381.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets; "
        "none with variant subset",
        cost="d tests per admission, and at most |S|^2 in the backward pass after it; then the PC algorithm on "
        "|S| + 1 columns",
    )

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Admit the strongest and remove false positives, alternately."""
        return InterIAMB(alpha=self.alpha).grow(problem)
