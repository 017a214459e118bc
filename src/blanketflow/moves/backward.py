"""Backward moves, which remove false positives. Each decision is yielded as soon as it is made."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from ..ci.base import BoundTest
from ..core.results import CIResult
from .neighbours import WeakestTest, find_separating_set
from .steps import INCLUDED, MEMBER, MOST_LISTED, Step, is_independent, step


def remove_until_stable(
    test: BoundTest,
    target: str,
    members: Sequence[str],
    alpha: float,
    max_k: int | None = None,
    staying: Collection[str] = (),
) -> Iterator[Step]:
    """Yield removals of members that are independent of the target given the others, then the kept members.

    Members are visited in the given order, from the start again after a removal. With more than `max_k` others nothing
    is tested or removed, and kept members have their marginal test. Members `staying` are never removed; an independent
    one has the role ``included``.
    """
    kept = list(members)
    removed = max_k is None or len(kept) <= max_k + 1
    while removed:
        removed = False
        for feature in kept:
            if feature in staying:
                continue
            others = [other for other in kept if other != feature]
            result = test.test(feature, target, given=others)
            if is_independent(test, result, alpha):
                yield step(feature, result, others, kept=False)
                kept = others
                removed = True
                break
    for feature in kept:
        others = [other for other in kept if other != feature]
        if max_k is not None and len(others) > max_k:
            others = []
        result = test.test(feature, target, given=others)
        was_asked_for = feature in staying and is_independent(test, result, alpha)
        yield step(feature, result, others, role=INCLUDED if was_asked_for else MEMBER)


def remove_in_one_pass(test: BoundTest, target: str, least_first: Sequence[Step], alpha: float) -> Iterator[Step]:
    """Visit each member once, least important first, and remove it if it is independent given the others.

    Yields one decision per member with its importance. The last remaining member is kept, with the test that admitted
    it.
    """
    standing = dict.fromkeys(admission.feature for admission in least_first)
    elimination = BackwardElimination(test, standing, target)
    for admission in least_first:
        feature = admission.feature
        if len(standing) == 1:
            yield admission
            continue
        result = elimination.test(feature)
        removed = is_independent(test, result, alpha)
        given = tuple(other for other in standing if other != feature) if len(standing) <= MOST_LISTED else None
        yield replace(step(feature, result, importance=admission.importance, kept=not removed), given=given)
        if removed:
            elimination.drop(feature)
            del standing[feature]


def remove_by_subsets(
    test: BoundTest, target: str, members: Sequence[str], alpha: float, max_k: int | None = None
) -> Iterator[Step]:
    """Remove any member that a subset of the other members separates from the target, visiting each member once.

    Yields one decision per member, in the given order; a kept member has its weakest test.
    """
    kept = list(members)
    for feature in members:
        others = [other for other in kept if other != feature]
        weakest = WeakestTest(test.test(feature, target))
        separated = find_separating_set(test, target, feature, others, alpha, max_k, weakest=weakest)
        if separated:
            kept = others
            yield step(feature, *separated, kept=False)
        else:
            yield weakest.step(feature, MEMBER)


class BackwardElimination:
    """Tests of each member of a set given all others, while members are dropped; each test counts.

    If the engine has `backward_elimination`, conditioning sets and results are not cached, and only what a dropped
    member changes is recomputed, even for thousands of members.
    """

    def __init__(self, bound: BoundTest, members: Iterable[str | int], target: str | int) -> None:
        self._bound, self._target = bound, bound.table.position(target)
        self._members = dict.fromkeys(map(bound.table.position, members))
        start = getattr(bound.engine, "backward_elimination", None)
        self._engine = start(sorted(self._members), self._target) if start and not bound.min_effect else None

    def test(self, x: str | int) -> CIResult:
        """Test a member given all the others."""
        position = self._bound.table.position(x)
        if self._engine is None:
            return self._bound.test(position, self._target, [other for other in self._members if other != position])
        self._bound.spend(1)
        return self._engine.test(position)

    def drop(self, x: str | int) -> None:
        """Remove a member."""
        position = self._bound.table.position(x)
        del self._members[position]
        if self._engine is not None:
            self._engine.drop(position)
