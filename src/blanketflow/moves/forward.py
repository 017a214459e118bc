"""Forward moves, which admit single columns, or sets as joint variables. Each admission is yielded as soon as it is
made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations, islice

import numpy as np

from ..ci.base import BoundTest
from ..ci.multiple_testing import BONFERRONI, NONE
from ..core.errors import UnsupportedError
from ..core.results import CIResult
from .steps import Step, first_dependent, is_dependent, step, strength_of, strongest_first


def scan_until_stable(
    test: BoundTest,
    target: str,
    ordered: Sequence[str],
    alpha: float,
    max_k: int | None = None,
    start: Sequence[str] = (),
) -> Iterator[Step]:
    """Yield admissions of features that depend on the target given the admitted ones, until a scan admits none.

    Scans follow `ordered`, after the features of `start`, and end once more than `max_k` are admitted. Until an
    admission, features are tested in batches of 1, 2, 4, ..., because tests given the same set are cheapest together;
    those after it are tested again. At most half of the tests are wasted.
    """
    members = list(start)
    grew = True
    while grew:
        grew = False
        waiting = [feature for feature in ordered if feature not in members]
        n_ahead = 1
        while waiting:
            if max_k is not None and len(members) > max_k:
                return
            asked = test.answerable(waiting[:n_ahead], target, members)
            results = test.test_many(asked, target, given=members)
            first = first_dependent(test, results, alpha)
            if first is None:
                waiting = waiting[n_ahead:]
                n_ahead *= 2
            else:
                yield step(asked[first], results[first], members)
                members.append(asked[first])
                waiting = waiting[waiting.index(asked[first]) + 1 :]
                n_ahead = 1
                grew = True
    test.tally.end_round(len(members))


def strongest_dependent(
    test: BoundTest,
    target: str,
    features: Sequence[str],
    members: Sequence[str],
    alpha: float,
    max_k: int | None = None,
) -> Iterator[Step]:
    """Yield an admission for each feature that depends on the target given the members, strongest first.

    Table order breaks ties; members are left out. With more than `max_k` members nothing is yielded.
    """
    others = [feature for feature in features if feature not in members]
    if not others or (max_k is not None and len(members) > max_k):
        return
    results = test.test_many(others, target, given=members)
    admits = False
    for i in strongest_first(results):
        if results.log_p[i] > math.log(alpha):
            break
        result = results[i]
        if is_dependent(test, result, alpha):
            admits = True
            yield step(others[i], result, members)
    if not admits:
        test.tally.end_round(len(members))


def admit_strongest(
    test: BoundTest,
    target: str,
    features: Sequence[str],
    alpha: float,
    max_k: int | None = None,
    start: Sequence[str] = (),
) -> Iterator[Step]:
    """Admit the feature that depends most on the target given `start` and the admitted ones, until none does."""
    members = list(start)
    while admission := next(strongest_dependent(test, target, features, members, alpha, max_k), None):
        yield admission
        members.append(admission.feature)


#: The number of sets tested at once; limits are checked between two blocks.
BLOCK = 4_096

#: Takes (columns outside, members, largest size); returns groups of sets. A group is used if earlier groups admit none.
Propose = Callable[[list[str], list[str], int], Iterable[Iterable[tuple[str, ...]]]]


def admit_sets(
    test: BoundTest,
    target: str,
    features: Sequence[str],
    propose: Propose,
    alpha: float,
    m: int,
    max_k: int | None = None,
    correction: str = NONE,
    start: Sequence[str] = (),
) -> Iterator[Step]:
    """Admit the set that depends most on the target given the admitted columns and `start`, until there is none.

    `propose` is `every_set` or `random_sets`; sets have at most `m` columns, and at most ``max_k + 1`` columns are
    admitted: the largest conditioning set, and the other members of the tested set. Each member is yielded with the
    set's test. Table order breaks ties. ``bonferroni`` divides alpha by the number of sets of up to `m` columns not
    admitted, so that a scan admits anything with probability at most alpha if the target depends on none, even if
    `propose` looks at the data. Raises `UnsupportedError` if ``m > 1`` and the test does not support sets.
    """
    if m > 1 and not test.card.column_sets:
        raise UnsupportedError(
            f"{test.card.id} tests one column at a time, but m = {m} needs sets of columns. Set m: 1, or choose a "
            "test with column_sets in blanketflow.list_ci_tests(), such as g2, fisher-z or lr-mixed."
        )
    members = list(start)
    while True:
        others = [feature for feature in features if feature not in members]
        largest = min(m, len(others), len(others) if max_k is None else max(0, max_k + 1 - len(members)))
        level = alpha / max(1, n_sets(len(others), largest)) if correction == BONFERRONI else alpha
        groups = propose(others, members, largest) if largest else ()
        found = (strongest_dependent_set(test, target, sets, members, level) for sets in groups)
        names, result = next(filter(None, found), ((), None))
        if result is None:
            test.tally.end_round(len(members))
            return
        yield from [step(name, result, members) for name in names]
        members.extend(names)


def n_sets(n: int, largest: int) -> int:
    """Return the number of sets of 1 to `largest` out of n columns.

    >>> n_sets(49, 3)
    19649
    """
    return sum(math.comb(n, size) for size in range(1, largest + 1))


def strongest_dependent_set(
    test: BoundTest, target: str, sets: Iterable[tuple[str, ...]], members: Sequence[str], alpha: float
) -> tuple[tuple[str, ...], CIResult] | None:
    """Return the set that depends most on the target given the members, with its test; None if none does.

    Sets are compared by log p, then statistic per degree of freedom, then their order.
    """
    best: tuple[tuple[str, ...], CIResult] | None = None
    sets = iter(sets)
    while block := list(islice(sets, BLOCK)):
        results = test.test_many(block, target, given=members)
        for i in strongest_first(results):
            result = results[i]
            if result.log_p > math.log(alpha):
                break
            if is_dependent(test, result, alpha):
                if best is None or strength_of(result) > strength_of(best[1]):
                    best = block[i], result
                break
    return best


def every_set(others: list[str], members: list[str], largest: int) -> Iterator[Iterator[tuple[str, ...]]]:
    """Propose all sets, size by size."""
    return (combinations(others, size) for size in range(1, largest + 1))


def random_sets(test: BoundTest, target: str, k: int, rng: np.random.Generator, by_size: bool = True) -> Propose:
    """Return a function that proposes k random sets in one group, or all sets if there are at most k; duplicates count
    once.

    A set's probability is proportional to the sum of its members' weights 1/p, from their own tests given the admitted
    columns. With `by_size` this holds within each size, and sizes are uniform; a weight is then at most the number of
    columns outside, so that a column with a tiny p-value is in at most about half of the sets.
    """

    def propose(others: list[str], members: list[str], largest: int) -> Iterable[Iterable[tuple[str, ...]]]:
        if n_sets(len(others), largest) <= k:
            return [chain.from_iterable(every_set(others, members, largest))]
        results = test.test_many(others, target, given=members)
        strength = np.minimum(-results.log_p, np.finfo(float).max)  # p may be 0
        if by_size:
            drawn = draw_sets(np.exp(np.minimum(strength, math.log(len(others)))), largest, k, rng)
        else:  # of sets of one size, the sums of all weights are in proportion to how many sets hold a column
            n = len(others)
            holding = np.array(
                [math.lgamma(n) - math.lgamma(m) - math.lgamma(n - m + 1) for m in range(1, largest + 1)]
            )
            drawn = draw_sets(np.exp(strength - strength.max()), largest, k, rng, np.exp(holding - holding.max()))
        return [[tuple(others[i] for i in positions) for positions in drawn]]

    return propose


def draw_sets(
    weights: np.ndarray, largest: int, k: int, rng: np.random.Generator, of_sizes: np.ndarray | None = None
) -> list[tuple[int, ...]]:
    """Return the sets of positions in k random draws, without duplicates, ordered by size and then position.

    One member is drawn by weight, (n,), and the others uniformly, so that a set's probability is proportional to its
    summed weights. Sizes 1 to `largest`, at most n, are uniform or weighted by `of_sizes`, (largest,).
    """
    n = len(weights)
    if of_sizes is None:
        sizes = rng.integers(1, largest + 1, size=k)
    else:
        sizes = rng.choice(np.arange(1, largest + 1), size=k, p=of_sizes / of_sizes.sum())
    firsts = rng.choice(n, size=k, p=weights / weights.sum())
    drawn: set[tuple[int, ...]] = set()
    for size, first in zip(sizes.tolist(), firsts.tolist(), strict=True):
        rest = rng.choice(n - 1, size=size - 1, replace=False) if size > 1 else np.empty(0, dtype=np.int64)
        drawn.add(tuple(sorted([first, *(rest + (rest >= first)).tolist()])))
    return sorted(drawn, key=lambda positions: (len(positions), positions))
