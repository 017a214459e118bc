"""PPFS whose shrink tests each feature given the strongest of the others only, as a method of a config."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from blanketflow.core.cards import Card
from blanketflow.core.parameters import integer
from blanketflow.moves.steps import Step, is_independent, step
from blanketflow.selectors.base import Problem
from blanketflow.selectors.causal.ppfs import PPFS


@dataclass
class LimitedPPFS(PPFS):
    """Admit what depends on the target; then test each feature given at most `most_given` of the others."""

    card: ClassVar[Card] = replace(PPFS.card, id="limited-ppfs", name="PPFS given few")
    most_given: int = integer(10, "Most features that are given in shrinking, the most important ones.", at_least=1)

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterable[Step]:
        """Test each candidate once, least important first, all that have the same features given at once."""
        names, most = [one.feature for one in candidates], self.most_given
        if len(names) < 2:
            return list(candidates)
        test, target = problem.test, problem.target
        later = test.test_many(names[most:], target, names[:most]) if len(names) > most else []
        found = {name: (later[at], names[:most]) for at, name in enumerate(names[most:])}
        kept = names[:most] + [name for name in names[most:] if not is_independent(test, found[name][0], self.alpha)]
        decisions = []
        for at in range(len(names) - 1, -1, -1):
            one = candidates[at]
            if at < most:
                if len(kept) == 1:
                    decisions.append(one)
                    continue
                given = [name for name in kept if name != one.feature][:most]
                found[one.feature] = test.test(one.feature, target, given), given
                if is_independent(test, found[one.feature][0], self.alpha):
                    kept.remove(one.feature)
            result, given = found[one.feature]
            is_kept = one.feature in kept
            decisions.append(step(one.feature, result, given, importance=one.importance, kept=is_kept))
        return decisions
