"""A CI test of sets whose answers are known, and Algorithms 1 and 2 of Margaritis (2009), word for word."""

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blanketflow.core.cards import Card
from blanketflow.core.limits import Limits
from blanketflow.core.results import CIResult, CIResults
from blanketflow.core.seeds import derive_rng
from blanketflow.core.table import Column, Table
from blanketflow.search.run_fold import run_fold
from literal import KnownTest

TARGET = "target"


@dataclass
class KnownSets(KnownTest):
    """`answer(x, given)` is (p, statistic) by frozen sets of names."""

    card: ClassVar[Card] = Card(
        "known-sets", "known", "ci-test", "Known answers.", "none", measures=("p-value",), column_sets=True
    )

    def prepare(self, table, seed, target):
        return _KnownSetsEngine(self.answer, table.names)


class _KnownSetsEngine:
    def __init__(self, answer, names):
        self.answer, self.names, self.asked = answer, names, []

    def evaluate(self, candidates, target, given):
        return self.evaluate_sets([(x,) for x in candidates], target, given)

    def evaluate_sets(self, candidates, target, given):
        assert self.names[target] == TARGET
        return CIResults.from_rows(self._result(x, given) for x in candidates)

    def _result(self, x, given):
        query = frozenset(self.names[i] for i in x), frozenset(self.names[z] for z in given)
        self.asked.append(query)
        p, statistic = self.answer(*query)
        return CIResult(statistic, p, math.log(p), 1.0, 10, True)


def arbitrary_answers(seed, share_dependent):
    """Return answers that obey no axiom, with many ties in p, and some in the statistic too."""

    def answer(x, given):
        rng = derive_rng(seed, ",".join(sorted(x)), ",".join(sorted(given)))
        p = rng.choice([1e-9, 1e-4, 0.01]) if rng.random() < share_dependent else rng.choice([0.2, 0.9])
        return float(p), float(rng.integers(1, 4))

    return answer


def zeros(names):
    return Table([Column(name, "numeric", np.zeros(2)) for name in names])


def run(method, test, names, seed=0, limits=None):
    """Return the outcome of a method on a test that needs no data."""
    return run_fold(method, test, zeros(names), Column(TARGET, "numeric", np.zeros(2)), seed, limits or Limits())


def blanket(outcome):
    return {s.feature for s in outcome.decisions if s.kept}


def subsets(outside, m, max_k, n_members):
    """All sets of 1 to m, by size; with their other members no more than max_k are given."""
    sizes = [size for size in range(1, m + 1) if max_k is None or n_members + size - 1 <= max_k]
    return [Y for size in sizes for Y in itertools.combinations(outside, size)]


def level_of(alpha, correction, sets):
    return alpha / len(sets) if correction == "bonferroni" else alpha


def gs_m(answer, features, m, alpha, correction, max_k):
    """Algorithm 1, with the order that the paper used: by size, then by decreasing dependence."""
    S, admitted = [], []
    while True:
        sets = subsets([f for f in features if f not in S], m, max_k, len(S))
        answers = {Y: answer(frozenset(Y), frozenset(S)) for Y in sets}
        for Y in by_dependence(answers, sets):
            p = answers[Y][0]
            if p <= level_of(alpha, correction, sets):
                admitted.append((Y, p, set(S)))
                S = [*S, *Y]
                break  # restart loop
        else:
            return admitted, shrink(answer, S, alpha)


def by_dependence(answers, sets):
    """Order by size, then by decreasing dependence; the sets are given in table order."""
    return sorted(sets, key=lambda Y: (len(Y), answers[Y][0], -answers[Y][1]))


def rgs_mk(answer, features, m, alpha, correction, max_k, draw):
    """Algorithm 2; `draw(outside, S, sets)` are the k random ones of the sets."""
    S, admitted, changed = [], [], True
    while changed:
        changed = False
        outside = [f for f in features if f not in S]
        sets = subsets(outside, m, max_k, len(S))
        drawn = draw(outside, S, sets) if sets else []
        if not drawn:
            break
        answers = {Y: answer(frozenset(Y), frozenset(S)) for Y in drawn}
        Y = min(drawn, key=lambda Y: (answers[Y][0], -answers[Y][1], sets.index(Y)))
        if answers[Y][0] <= level_of(alpha, correction, sets):
            admitted.append((Y, answers[Y][0], set(S)))
            S, changed = [*S, *Y], True
    return admitted, shrink(answer, S, alpha)


def shrink(answer, S, alpha):
    for Y in S:
        rest = [other for other in S if other != Y]
        if answer(frozenset([Y]), frozenset(rest))[0] > alpha:
            return shrink(answer, rest, alpha)  # restart loop
    return set(S)


def admissions(outcome):
    """Return what a run admitted in the form of the literal algorithms: (set, p, given)."""
    found = [(s.feature, s.p_value, frozenset(s.given)) for s in outcome.grown]
    groups = itertools.groupby(found, key=lambda step: step[2])
    return [(tuple(f for f, _, _ in group), p, set(given)) for given, group, p in unpacked(groups)]


def unpacked(groups):
    for given, steps in groups:
        steps = list(steps)
        assert len({p for _, p, _ in steps}) == 1
        yield given, steps, steps[0][1]
