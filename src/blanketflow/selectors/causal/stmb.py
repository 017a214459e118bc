"""Simultaneous Markov blanket discovery (STMB)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ...ci.base import BoundTest
from ...ci.multiple_testing import CORRECTIONS, NONE
from ...core.cards import Card
from ...core.numerics import comparable_number
from ...core.parameters import choice, integer, number
from ...moves.neighbours import Neighbours, find_separating_set
from ...moves.parents_and_children import level_wise_neighbours
from ...moves.steps import PARENT_OR_CHILD, SPOUSE, Step, all_dependent, is_independent, step
from ..base import Method, Problem
from .gs import CORRECTION_GUARANTEE, remove
from .neighbours_and_spouses import neighbourhoods


@dataclass
class STMB(Method):
    """Find parents and children by level-wise elimination, then spouses among all others, which may remove neighbours.

    A feature outside is a spouse via a neighbour X if adding X to its separating set makes it dependent. A spouse may
    separate further neighbours, which are descendants but not children. No search starts from another feature. Finally,
    two backward passes test spouses and then neighbours, each given all the rest.

    Notes
    -----
    Repaired: a neighbour removed given Z becomes a candidate spouse with separating set Z, spouses found via it are
    dropped, and the search continues until the neighbours are stable. The published algorithm loses spouses.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.STMB(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="stmb",
        name="STMB (repaired)",
        family="causal",
        summary="Level-wise parents and children, spouses among all others, and neighbours removed by spouses; "
        "repaired.",
        reference="Gao, Ji (2017) Efficient Markov blanket discovery and its application, IEEE Transactions on "
        "Cybernetics 47(5), 1169-1179, doi:10.1109/TCYB.2016.2539338.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets"
        + CORRECTION_GUARANTEE,
        work="neighbours",
        cost="d tests, then at most d 2^|PC| tests given up to max_k conditions; |PC| d tests for spouses, 2^|PC| for "
        "each spouse found",
    )
    draws_rows: ClassVar[bool] = False
    takes_feature_groups: ClassVar[bool] = True
    learns_from: ClassVar[str] = "tests"

    alpha: float = number(0.05, "Significance level.", above=0, below=1)
    max_k: int | None = integer(
        3, "Largest conditioning set of the search for neighbours; null for no limit.", at_least=0, nullable=True
    )

    correction: str = choice(
        NONE,
        "How shrinking corrects, last of all, the p-values of the members, each given the others, for as many tests as "
        "there are features: not at all (none, the paper), by the false discovery rate at alpha (bh, Benjamini and "
        "Hochberg; by, Benjamini and Yekutieli, under any dependence), or by alpha / d (bonferroni).",
        CORRECTIONS,
    )

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Search for parents and children; return removals, then members."""
        found = self._neighbours(problem)
        return [*found.removals, *found.members]

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterator[Step]:
        """Find spouses and remove neighbours alternately; then two backward passes."""
        found = self._neighbours(problem)
        search = Coexistence(problem.test, problem.target, problem.features, found, self.alpha, self.max_k)
        yield from search.settle()
        decisions = list(search.remove_given_the_rest())
        if self.correction == NONE or not decisions:
            yield from decisions
            return
        roles = {decision.feature: decision.role for decision in decisions}
        yield from (decision for decision in decisions if not decision.kept)
        left = [decision.feature for decision in decisions if decision.kept]
        for decision in remove(problem, left, self.alpha, self.correction) if left else ():
            yield replace(decision, role=roles[decision.feature])

    def _neighbours(self, problem: Problem) -> Neighbours:
        near = neighbourhoods(problem, level_wise_neighbours, self.alpha, self.max_k, "none")
        return near.found(problem.target)


class Coexistence:
    """Neighbours and spouses of a target, in table order; `max_k` limits the sets that separate a neighbour."""

    def __init__(
        self, test: BoundTest, target: str, features: Sequence[str], found: Neighbours, alpha: float, max_k: int | None
    ) -> None:
        self.test, self.target, self.features, self.alpha, self.max_k = test, target, features, alpha, max_k
        self.neighbours = {member.feature: member for member in found.members}
        self.separating_sets = dict(found.separating_sets)
        self.spouses: dict[str, dict[str, Step]] = {}
        self._tried: set[str] = set()

    def settle(self) -> Iterator[Step]:
        """Find spouses via each neighbour and remove neighbours by each spouse, until stable; yield the removals."""
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
        """Remove spouses, then neighbours, that are independent of the target given all others, each tested once.

        The least important come first, so that conditioning sets shrink until there are enough rows.
        """
        spouses = {name: found for by_child in self.spouses.values() for name, found in by_child.items()}
        spouses = {name: found for name, found in spouses.items() if name not in self.neighbours}
        remaining = [*self.neighbours, *spouses]
        # Spouses first, and of both the weakest first.
        visits = (sorted(g.values(), key=lambda m: comparable_number(m.importance)) for g in (spouses, self.neighbours))
        for name in [member.feature for group in visits for member in group]:
            others = [other for other in remaining if other != name]
            result = self.test.test(name, self.target, given=others)
            role = SPOUSE if name in spouses else PARENT_OR_CHILD
            kept = not is_independent(self.test, result, self.alpha)
            if not kept:
                remaining = others
            yield step(name, result, others, kept=kept, role=role)

    def _opened_by(self, child: str) -> list[Step]:
        """Return the features outside that depend on the target given their separating set and the child."""
        outside: dict[tuple[str, ...], list[str]] = {}
        for name in self.features:
            given = self.separating_sets.get(name)
            known = name in self.neighbours or name in self.spouses.get(child, ())
            if not known and given is not None and child not in given:
                outside.setdefault(given, []).append(name)
        opened = []
        for given, names in outside.items():
            results = self.test.test_many(names, self.target, given=(*given, child))
            for i in all_dependent(self.test, results, self.alpha):
                opened.append(step(names[i], results[i], (*given, child), role=SPOUSE))
        return opened

    def _removed_by(self, spouse: str) -> Iterator[Step]:
        """Remove neighbours that a spouse with subsets of the others separates from the target.

        Once per spouse is enough: later there are fewer neighbours for subsets.
        """
        if spouse in self._tried:
            return
        self._tried.add(spouse)
        for name in list(self.neighbours):
            if name == spouse:
                continue
            others = [other for other in self.neighbours if other not in (name, spouse)]
            separated = find_separating_set(
                self.test,
                self.target,
                name,
                others,
                self.alpha,
                self.max_k,
                [spouse],
                separating_sets=self.separating_sets,
            )
            if separated:
                result, given = separated
                del self.neighbours[name]
                self.separating_sets[name] = given
                self.spouses.pop(name, None)
                yield step(name, result, given, kept=False, role=PARENT_OR_CHILD)
