"""Which features to leave out next, and whether the features found without them have as much information."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ..ci.base import BoundTest
from .strength import is_dependent


class Exclusions:
    """Sets of features to leave out, smallest first. Each meets every boundary found and contains no set that failed.

    A further Markov boundary lacks some feature of every boundary found. So there is a set of such features outside it,
    and leaving out that set keeps the further boundary and hides all those found. When no such set is left, there is no
    further boundary. A set grows by the features of a boundary that it does not meet (Reiter's hitting-set tree).

    Parameters
    ----------
    first : sequence of str
        The first Markov boundary. Among sets of equal size, those with its first features come first.

    Attributes
    ----------
    found : list of sequence of str
        The Markov boundaries found; the caller appends each new one.
    failed : list of frozenset of str
        The sets without which there is no Markov boundary; the caller appends each.

    Examples
    --------
    >>> exclusions = Exclusions(["a", "b"])
    >>> sorted(exclusions.next())
    ['a']
    >>> exclusions.found.append(["b", "c"])
    >>> sorted(exclusions.next())
    ['b']
    >>> exclusions.failed.append(frozenset("b"))
    >>> sorted(exclusions.next())
    ['a', 'c']
    >>> exclusions.failed.append(frozenset("ac"))
    >>> exclusions.next() is None
    True
    """

    def __init__(self, first: Sequence[str]) -> None:
        self.found = [first]
        self.failed: list[frozenset[str]] = []
        self._open: deque[frozenset[str]] = deque([frozenset()])
        self._seen: set[frozenset[str]] = set()

    def next(self) -> frozenset[str] | None:
        """Return the next set, or None. The set is the same until it has failed or a boundary without it is found."""
        while self._open:
            left_out = self._open[0]
            if not any(bad <= left_out for bad in self.failed):
                unmet = next((boundary for boundary in self.found if left_out.isdisjoint(boundary)), None)
                if unmet is None:
                    return left_out
                larger = [left_out | {feature} for feature in unmet]
                self._open.extend(choice for choice in larger if choice not in self._seen)
                self._seen.update(larger)
            self._open.popleft()
        return None


def tells_nothing_more(
    test: BoundTest, target: str, others: Sequence[str], given: Sequence[str], alpha: float
) -> bool | None:
    """Return whether the target is independent of some features given others; None if the data cannot tell.

    The features that are not given are tested as one joint variable. A test of single columns tests them one after the
    other, with the earlier ones given too, which is equivalent by the chain rule of mutual information.

    An unreliable test admits no feature, since there is too little evidence. For the same reason it does not show here
    that two sets have the same information, unless the test's rule is to use unreliable results.
    """
    extra = [other for other in others if other not in given]
    if not extra:
        return True
    if test.card.column_sets:
        results = [test.test(extra, target, given=given)]
    else:
        results = [test.test(feature, target, given=(*given, *extra[:i])) for i, feature in enumerate(extra)]
    if any(is_dependent(test, result, alpha) for result in results):
        return False
    return True if test.unreliable == "use" or all(result.reliable for result in results) else None
