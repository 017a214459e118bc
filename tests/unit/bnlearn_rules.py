"""Slow, literal renderings of six searches, each with the rules in which bnlearn 5.2.1 differs from this library.

A rendering takes a target, the other columns in table order and `theirs`: the names of the rules (keys of `RULES`) to
follow as bnlearn does; the others are followed as this library does. It returns a set of names. It knows tests whose
results are used as they stand, not "undecided" ones, and sets no limit on conditioning sets.
"""

import math
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from scipy import special

from blanketflow.ci.base import BoundTest
from blanketflow.ci.linear.fisher_z import FisherZ
from blanketflow.core.results import CIResults

#: From the name of a rule to what bnlearn does; and what this library does.
RULES = {
    "column order": (
        "visits columns in table order",
        "visits them in decreasing dependence given nothing",
    ),
    "start over": (
        "starts its scan over after each admission",
        "finishes the scan first",
    ),
    "smallest p": (
        "ranks by p alone; a p that is too small for a double is 0, and then the first column wins",
        "ranks by log p, then by statistic per degree of freedom, then by column",
    ),
    "one pass": (
        "when removing, visits each member once, in order of admission; IAMB and inter-IAMB do not visit the newest "
        "member, and no method visits the last remaining one",
        "visits all, and again after each removal, until none leaves",
    ),
    "bar": (
        "when a set recurs, removes the last admitted feature, never considers it again, and continues",
        "stops there and says so",
    ),
    "cut short": (
        "treats a round that ends for lack of 5 rows per cell as the last one if no member leaves",
        "treats a round that admits nothing as the last one",
    ),
    "no return": (
        "does not reconsider a feature that was in the set at the end of a round and left later",
        "reconsiders it, and stops when a set recurs",
    ),
    "all candidates": (
        "at the end, tests members given subsets of all candidates, including those that have just left",
        "tests them given subsets of the remaining ones, small subsets first; of columns that separate each other, one "
        "stays",
    ),
}


@dataclass
class Target:
    """A column, and the test that answers for it."""

    bound: BoundTest
    name: str
    alpha: float

    def test(self, x, given):
        return self.bound.test(x, self.name, given)

    def depends(self, x, given):
        return self.test(x, given).log_p <= math.log(self.alpha)

    def rank(self, x, given, theirs):
        """Return what candidates are ordered by: the smaller, the stronger; the first column on ties."""
        result = self.test(x, given)
        if "smallest p" in theirs:
            return (math.exp(result.log_p),)  # not p_value: scipy's normal tail is 0 where a double still has digits
        return result.log_p, -abs(result.statistic) / max(result.dof, 1.0)

    def dependent(self, columns, given, theirs):
        """Return the columns that depend on the target, strongest first."""
        found = [x for x in columns if x not in given and self.depends(x, given)]
        return sorted(found, key=lambda x: self.rank(x, given, theirs))

    def is_separable(self, x, sets):
        return any(not self.depends(x, given) for given in sets)


def subsets(members):
    return chain.from_iterable(combinations(members, size) for size in range(len(members) + 1))


def without(members, x):
    return [member for member in members if member != x]


def gs(target, columns, theirs):
    if "column order" not in theirs:
        columns = sorted(columns, key=lambda x: target.rank(x, [], ()))
    members, grew = [], True
    while grew:
        grew = False
        for x in columns:
            if x not in members and target.depends(x, members):
                members.append(x)
                grew = True
                if "start over" in theirs:
                    break
    return remove(target, members, ())


def iamb(target, columns, theirs):
    members = []
    while found := target.dependent(columns, members, theirs):
        members.append(found[0])
    return remove(target, members, theirs, newest=members[-1:])


def inter_iamb(target, columns, theirs):
    members, seen, barred = [], [], []
    if "bar" not in theirs:
        seen.append(set())
    while found := target.dependent([x for x in columns if x not in barred], members, theirs):
        members = remove(target, [*members, found[0]], theirs, newest=found[:1])
        if set(members) not in seen:
            seen.append(set(members))
        elif "bar" in theirs:
            barred.append(members.pop())
        else:
            break
    return members


def fast_iamb(target, columns, theirs):
    members, seen = [], [set()]
    while found := target.dependent(columns, members, theirs):
        before, members, is_cut_short = members, list(members), False
        for x in found:
            if target.bound.samples_per_cell(x, target.name, members) < 5:
                is_cut_short = True
                break
            members.append(x)
        n_admitted = len(members)
        members = remove(target, members, theirs)
        if "cut short" in theirs and is_cut_short and len(members) == n_admitted:
            break
        if set(members) == set(before) or ("no return" not in theirs and set(members) in seen):
            break
        seen.append(set(members))
        if "no return" in theirs:
            columns = [x for x in columns if x not in members]
    return members


def remove(target, members, theirs, newest=()):
    """Remove members that are independent given the others."""
    staying = list(members)
    if "one pass" in theirs:
        for x in members:
            if x not in newest and len(staying) > 1 and not target.depends(x, without(staying, x)):
                staying.remove(x)
        return staying
    while leaving := [x for x in staying if not target.depends(x, without(staying, x))]:
        staying.remove(leaving[0])
    return staying


def mmpc(target, columns, theirs):
    members, left = [], [x for x in columns if target.depends(x, [])]
    while left:
        weakest = {x: max(target.rank(x, given, theirs) for given in subsets(members)) for x in left}
        members.append(min(left, key=weakest.get))
        left = [x for x in left if x not in members and not target.is_separable(x, subsets(members))]
    return eliminate(target, members, theirs)


def si_hiton_pc(target, columns, theirs):
    members = []
    for x in target.dependent(columns, [], theirs):
        if not target.is_separable(x, subsets(members)):
            members.append(x)
    return eliminate(target, members, theirs)


def eliminate(target, candidates, theirs):
    """Take out candidates that a subset of others separates from the target."""
    if "all candidates" in theirs:
        return [x for x in candidates if not target.is_separable(x, subsets(without(candidates, x)))]
    staying, removed = list(candidates), {}

    def leans(x, on):
        """Whether a column left thanks to another, or thanks to one that did."""
        return any(z == on or leans(z, on) for z in removed.get(x, ()))

    for size in range(len(candidates)):
        for given in list(combinations(staying, size)):
            for x in list(staying):
                if x not in given and not target.depends(x, given) and not any(leans(z, x) for z in given):
                    staying.remove(x)
                    removed[x] = given
    return staying


#: From a method to its rendering and the rules in which bnlearn's differs from this library's.
RENDERINGS = {
    "gs": (gs, ("column order", "start over")),
    "iamb": (iamb, ("smallest p", "one pass")),
    "inter-iamb": (inter_iamb, ("smallest p", "one pass", "bar")),
    "fast-iamb": (fast_iamb, ("smallest p", "one pass", "cut short", "no return")),
    "mmpc": (mmpc, ("smallest p", "all candidates")),
    "si-hiton-pc": (si_hiton_pc, ("smallest p", "all candidates")),
}


class ExactT(FisherZ):
    """The exact t test of a vanishing partial correlation (bnlearn's ``cor``), which the library does not have.

    From Fisher's z = arctanh(r) sqrt(n - k - 3), since r / sqrt(1 - r^2) = sinh(arctanh r): t is sqrt(n - k - 2)
    times that.
    """

    def prepare(self, table, seed, target):
        return _ExactTEngine(super().prepare(table, seed, target))


@dataclass
class _ExactTEngine:
    fisher_z: object

    def evaluate(self, candidates, target, given):
        z = self.fisher_z.evaluate(candidates, target, given)
        dof = z.dof + 1
        t = np.sinh(z.statistic / np.sqrt(z.dof)) * np.sqrt(dof)
        p = 2 * special.stdtr(dof, -np.abs(t))
        with np.errstate(divide="ignore"):  # where p is 0, t decides
            return CIResults(t, p, np.log(p), dof, z.n, z.reliable)
