"""Growing with a backward pass after each round of one or more admissions, until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..ci.base import BoundTest
from .backward import remove_until_stable
from .steps import Step

#: Returns the admissions of one round for the members; none when the search is over.
Admit = Callable[[list[str]], Iterable[Step]]


def grow_and_shrink_by_turns(
    test: BoundTest, target: str, admit: Admit, alpha: float, on_cycle: Callable[[Sequence[str]], None]
) -> Iterator[Step]:
    """Admit a round of features and remove false positives, repeatedly, until a round admits none.

    On finite samples this can cycle; it ends when a set of members occurs for the second time.

    Parameters
    ----------
    admit : callable
        Returns the admissions of the next round for the members.
    on_cycle : callable
        Called with the set that occurs for the second time.

    Yields
    ------
    Step
        Admissions and removals in order.
    """
    members: list[str] = []
    seen: set[frozenset[str]] = set()
    while frozenset(members) not in seen:
        seen.add(frozenset(members))
        newcomers = []
        for admission in admit(list(members)):
            yield admission
            newcomers.append(admission.feature)
        if not newcomers:
            return
        members += newcomers
        for decision in remove_until_stable(test, target, members, alpha):
            if not decision.kept:
                members.remove(decision.feature)
                yield decision
    on_cycle(members)
