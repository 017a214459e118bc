"""Detection of columns with the same information about a target, whose separations must not all count.

Of two such columns each separates the other from the target, and if both separations counted, the information would be
lost. Searches assume that there are none, as in faithful or everywhere positive distributions.

References: Statnikov, Lytkin, Lemeire, Aliferis (2013) Algorithms for discovery of multiple Markov boundaries, JMLR 14,
499-566; Lemeire, Meganck, Cartella, Liu (2012) Conservative independence-based causal structure learning in absence of
adjacency faithfulness, International Journal of Approximate Reasoning 53(9), 1305-1325.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ..ci.base import BoundTest
from .steps import is_dependent, separates

#: Members given beside a set, and the share of alpha at which they depend on the feature: the set is one of many tried,
#: so a weak dependence may be chance and would hide a strong one.
MOST_BESIDE, CLEAR = 3, 0.005


def leans_on(
    given: Iterable[str],
    feature: str,
    separating_sets: Mapping[str, Iterable[str]],
    staying: Collection[str] = (),
) -> bool:
    """Return whether a set has a column whose removal depended on a feature, directly or through other columns.

    Such a set cannot remove the feature. `separating_sets` maps each separated column to its separating set; columns
    `staying` depend on nothing.

    >>> removed = {"fahrenheit": ["celsius"], "rounded": ["fahrenheit"], "noise": []}
    >>> leans_on(["rounded", "noise"], "celsius", removed), leans_on(["noise"], "celsius", removed)
    (True, False)
    """
    waiting, seen = [column for column in given if column in separating_sets], set(staying)
    while waiting:
        column = waiting.pop()
        if column in seen:
            continue
        seen.add(column)
        for other in separating_sets[column]:
            if other == feature:
                return True
            if other in separating_sets:
                waiting.append(other)
    return False


def equivalents(
    test: BoundTest,
    feature: str,
    target: str,
    given: Sequence[str],
    separating_sets: Mapping[str, Sequence[str]],
    alpha: float,
    staying: Collection[str] = (),
    known: Collection[str] = (),
    members: Iterable[str] = (),
) -> frozenset[str]:
    """Return the columns with the same information as a feature that `given` separates from a target; empty if none.

    A column has it if it separates the feature from the target as the feature separated it. So do the columns of
    `given` that lean on the feature together, if the target depends on the feature given the rest of the set, but not
    on them given that and the feature. Both violate the intersection property. So do they also if, given the set and
    members that are independent of the feature given it, the target depends on the feature, because there are too few
    rows for nearly equal columns. This violates composition and weak union. d-separation has all three properties.

    Columns in `known` are skipped. Costs no test if `given` does not lean on the feature; else one per column that
    does, and if none of these separates it, one per column of the set and of the members, and two more.

    >>> import numpy as np
    >>> from blanketflow.ci import get_ci_test
    >>> a, noise = np.random.default_rng(0).normal(size=(2, 100))
    >>> bound = get_ci_test("fisher-z").bind(np.column_stack([a, 2 * a + 1, a + noise]))
    >>> sorted(equivalents(bound, "x0", "x2", ["x1"], {"x1": ["x0"]}, 0.05))
    ['x1']
    """

    def is_separated(x: str, *conditions: str) -> bool:
        return separates(test, test.test(x, target, given=conditions), alpha)

    leaning = [other for other in given if leans_on([other], feature, separating_sets, staying)]
    if not leaning:
        return frozenset()
    found = set()
    for other, removing in separating_sets.items():
        if other not in known and leans_on([other], feature, separating_sets, staying):
            rest = (z for z in removing if z != feature and not leans_on([z], feature, separating_sets, staying))
            if is_separated(feature, *rest, other):
                found.add(other)
    if found:
        return frozenset(found)
    rest = [other for other in given if other not in leaning]
    is_needed = is_dependent(test, test.test(feature, target, given=rest), alpha)
    if is_needed and all(is_separated(other, *rest, feature) for other in leaning):
        return frozenset(leaning)
    apart = (z for z in members if z != feature and z not in given)
    apart = [z for z in apart if separates(test, test.test(z, feature, given=given), CLEAR * alpha)][:MOST_BESIDE]
    is_missed = bool(apart) and is_dependent(test, test.test(feature, target, given=(*given, *apart)), alpha)
    return frozenset(leaning if is_missed else ())
