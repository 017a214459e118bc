"""Incremental association: IAMB, IAMB-FDR, Fast-IAMB, Inter-IAMB, KIAMB, MixedMB, IAMBnPC and Inter-IAMBnPC."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any, ClassVar

from ...ci.base import BoundTest
from ...ci.multiple_testing import CORRECTIONS, NONE, rejected
from ...ci.unbound import why_a_correction_admits_none
from ...core.cards import Card
from ...core.limits import LimitReached
from ...core.parameters import choice, integer, number
from ...core.seeds import derive_rng
from ...moves.backward import remove_by_subsets, remove_until_stable
from ...moves.equivalent_information import equivalents, leans_on
from ...moves.forward import admit_strongest, strongest_dependent
from ...moves.steps import MEMBER, PARENT_OR_CHILD, SPOUSE, Answer, Step, separates, step, strength_of
from ..base import Method, Problem, members
from .gs import CORRECTION_GUARANTEE, GS, log_p_of, tests_of_members, weakest_to_leave, without


@dataclass
class IAMB(GS):
    """Admit the feature that depends most on the target given the admitted ones, until none does; then shrink.

    Notes
    -----
    With a `correction` this is IAMB-FDR: p-values of all features given the current members are corrected, and members
    that are not rejected are removed before each admission. `bnlearn` compares each p-value with the level of its own
    rank; the step-up procedure used here rejects at least as many. The publication was not available; details follow
    secondary descriptions and may differ.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> bf.IAMB(ci_test="fisher-z").fit(X, y).selected_features_[:2]
    ['s5', 'bmi']
    """

    card: ClassVar[Card] = Card(
        id="iamb",
        name="incremental association Markov blanket (IAMB)",
        family="causal",
        summary="Admits the strongest dependence given the set so far, one at a time; then a backward pass.",
        reference="Tsamardinos, Aliferis, Statnikov (2003) Algorithms for large scale Markov blanket discovery, "
        "FLAIRS 16, 376-381. Correction: Peña (2008) Learning Gaussian graphical models of gene networks with false "
        "discovery rate control, EvoBIO, 165-176, doi:10.1007/978-3-540-78757-0_15.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets; with "
        "correction, the features kept are those that it rejects given the kept ones, and their false discovery rate "
        "would be at most alpha (by; bh if p-values are independent or positively dependent) if the kept ones were "
        "not chosen on the same rows: they are, so for finite samples nothing is proved",
        cost="d tests per admission; at most |S|^2 tests in the backward pass",
    )

    correction: str = choice(
        NONE,
        "How each step corrects the p-values of all features given the current members: not at all (none, IAMB), by "
        "the false discovery rate at alpha (bh, Benjamini and Hochberg; by, Benjamini and Yekutieli, under any "
        "dependence; IAMB-FDR), or by alpha / d (bonferroni).",
        CORRECTIONS,
    )

    def grow(self, problem: Problem) -> Iterator[Step]:
        """Admit the strongest feature, one at a time; with a correction, remove members in between."""
        if self.correction != NONE:
            yield from admit_and_remove(problem, self.alpha, self.correction, self.max_k)
            return
        yield from problem.admit_included()
        yield from admit_strongest(
            problem.test, problem.target, problem.features, self.alpha, self.max_k, start=problem.included
        )


@dataclass
class FastIAMB(GS):
    """Admit several features per round by decreasing dependence, while there are enough rows per cell; then remove.

    A round tests all features given the members. It admits dependent ones while the table of target, members and the
    new feature has on average `samples_per_cell` rows per cell, or all of them for tests without cells. The search ends
    when a round admits none.

    Notes
    -----
    On finite samples admissions and removals can cycle. If a set occurs again, the search stops with status
    ``unreliable``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.FastIAMB(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="fast-iamb",
        name="fast IAMB",
        family="causal",
        summary="IAMB that admits several features per round while rows last, with a backward pass after each round.",
        reference="Yaramakala, Margaritis (2005) Speculative Markov blanket discovery for optimal feature selection, "
        "ICDM, 809-812, doi:10.1109/ICDM.2005.134.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets"
        + CORRECTION_GUARANTEE,
        cost="d tests per round, and at most |S|^2 in the backward pass after it",
    )

    samples_per_cell: float = number(5.0, "Average number of rows per cell that an admission needs.", at_least=0)

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Alternate rounds of admissions and removals."""
        return grow_and_shrink_alternately(problem, lambda members: self._round(problem, members), self.alpha)

    def _round(self, problem: Problem, members: list[str]) -> Iterator[Step]:
        """Return the admissions of one round."""
        test, target = problem.test, problem.target
        given = list(members)
        for admission in strongest_dependent(test, target, problem.features, members, self.alpha, self.max_k):
            is_too_large = self.max_k is not None and len(given) > self.max_k
            if is_too_large or test.samples_per_cell(admission.feature, target, given) < self.samples_per_cell:
                return
            yield admission
            given.append(admission.feature)


@dataclass
class InterIAMB(GS):
    """Admit features as IAMB does, with a backward pass after every admission to keep conditioning sets small.

    Notes
    -----
    On finite samples admissions and removals can cycle. If a set occurs again, the search stops with status
    ``unreliable``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> bf.InterIAMB(ci_test="fisher-z").fit(X, y).selected_features_[:2]
    ['s5', 'bmi']
    """

    card: ClassVar[Card] = Card(
        id="inter-iamb",
        name="interleaved IAMB (inter-IAMB)",
        family="causal",
        summary="IAMB with a backward pass after every admission.",
        reference="Tsamardinos, Aliferis, Statnikov (2003) Algorithms for large scale Markov blanket discovery, "
        "FLAIRS 16, 376-381.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets"
        + CORRECTION_GUARANTEE,
        cost="d tests per admission, and at most |S|^2 in the backward pass after it",
    )

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Alternate admissions of the strongest feature and removals."""

        def admit(members: list[str]) -> Iterable[Step]:
            ranked = strongest_dependent(
                problem.test, problem.target, problem.features, members, self.alpha, self.max_k
            )
            return islice(ranked, 1)

        return grow_and_shrink_alternately(problem, admit, self.alpha)


def say_cycle(problem: Problem, members: Sequence[str]) -> None:
    """Set the status of a search that cycles."""
    names = ", ".join(sorted(members)) or "the empty set"
    problem.say("unreliable", f"admissions and removals contradict each other: the search came back to {names}.")


#: Returns the admissions of one round given the members, none at the end.
Admit = Callable[[list[str]], Iterable[Step]]


def grow_and_shrink_alternately(problem: Problem, admit: Admit, alpha: float) -> Iterator[Step]:
    """Alternate rounds of admissions (`admit`, given the members) and removals, until a round admits none.

    Included features are admitted first and never removed. If a set of members recurs, the search ends as unreliable.
    """
    yield from problem.admit_included()
    members = list(problem.included)
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
        for decision in remove_until_stable(problem.test, problem.target, members, alpha, staying=problem.included):
            if not decision.kept:
                members.remove(decision.feature)
                yield decision
    say_cycle(problem, members)


@dataclass
class KIAMB(GS):
    """Run IAMB `n_runs` times, each time admitting the strongest of a random share `k` of the dependent features.

    If several Markov blankets exist, runs find different ones. Distinct blankets are returned with their counts, most
    frequent first; the first is the answer. With ``k = 1`` every run is IAMB.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> selector = bf.KIAMB(ci_test="fisher-z", n_runs=5).fit(X, y)
    >>> sum(selector.blanket_counts_)
    5
    """

    card: ClassVar[Card] = Card(
        id="kiamb",
        name="KIAMB",
        family="causal",
        summary="IAMB with random admissions, run several times: several Markov blankets where there are several.",
        reference="Peña, Nilsson, Björkegren, Tegnér (2007) Towards scalable and data efficient learning of Markov "
        "boundaries, International Journal of Approximate Reasoning 45(2), 211-232, "
        "doi:10.1016/j.ijar.2006.06.008.",
        guarantee="each run an exact Markov blanket with exact tests, composition and no limit on conditioning sets"
        + CORRECTION_GUARANTEE,
        cost="n_runs times: d tests per admission, and at most |S|^2 in the backward pass",
    )

    k: float = number(0.8, "Share of the dependent features from which an admission is chosen.", at_least=0, at_most=1)
    n_runs: int = integer(10, "Number of runs.", at_least=1)

    def grow(self, problem: Problem) -> Iterator[Step]:
        """Grow the first run."""
        return self._grow_run(problem, 0)

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterator[Step]:
        """Shrink the first run, make the others, and return the most frequent blanket, the first found on ties."""
        runs = [list(super().shrink(problem, candidates))]
        try:
            for run in range(1, self.n_runs):
                runs.append(list(super().shrink(problem, list(self._grow_run(problem, run)))))
        except LimitReached as limit:
            problem.say("timeout", f"{len(runs)} of {self.n_runs} runs were made: {limit}")
        found = [frozenset(step.feature for step in run if step.kept) for run in runs]
        ordered = Counter(found).most_common()  # equal counts stay in the order in which they were found
        for blanket, count in ordered:
            first = members(runs[found.index(blanket)])
            problem.answers.append(Answer(tuple(step.feature for step in first), count))
        yield from runs[found.index(ordered[0][0])]

    def _grow_run(self, problem: Problem, run: int) -> Iterator[Step]:
        """Admit the strongest of max(1, floor(k count)) features drawn from the dependent ones, until there is none."""
        rng = derive_rng(problem.seed, "kiamb", run)
        test, target, admitted = problem.test, problem.target, list(problem.included)
        yield from problem.admit_included()
        while dependent := list(strongest_dependent(test, target, problem.features, admitted, self.alpha, self.max_k)):
            n_drawn = max(1, int(self.k * len(dependent)))
            best = int(rng.choice(len(dependent), size=n_drawn, replace=False).min())  # they are sorted
            yield dependent[best]
            admitted.append(dependent[best].feature)


@dataclass
class MixedMB(InterIAMB):
    """Inter-IAMB with a likelihood-ratio test between regressions of the target, for any mixture of columns.

    The default test, `blanketflow.ci.linear.lr_mixed.LRMixed`, regresses only the target, by linear regression or
    multinomial logistic regression. Predictors can have any type.

    Notes
    -----
    The publication was not available; details follow secondary descriptions and may differ.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> X["sex"] = X["sex"].gt(0).map({True: "F", False: "M"})
    >>> {"bmi", "s5"} <= set(bf.MixedMB().fit(X, y).selected_features_)
    True
    """

    card: ClassVar[Card] = Card(
        id="mixed-mb",
        name="Mixed-MB",
        family="causal",
        summary="Inter-IAMB with regressions of the target: linear for numbers, multinomial logistic for classes.",
        reference="Lee, Jeong, Jun (2020) Markov blanket-based universal feature selection for classification and "
        "regression of mixed-type data, Expert Systems with Applications 158, 113398, doi:10.1016/j.eswa.2020.113398.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets"
        + CORRECTION_GUARANTEE,
        cost="d regressions per admission, and at most |S|^2 in the backward pass after it",
    )
    default_test: ClassVar[str | None] = "lr-mixed"
    default_test_options: ClassVar[Mapping[str, Any]] = {"directions": "target"}


def admit_and_remove(problem: Problem, alpha: float, correction: str, max_k: int | None) -> Iterator[Step]:
    """Admit and remove one feature at a time, until the members are the features that the correction rejects.

    Each step corrects the p-values of all features given the (other) members as one family. It removes the weakest
    member that is not rejected; if there is none, it admits the strongest rejected feature, unless there are more than
    `max_k` members. Included features are never removed. If a set of members recurs, the search ends as unreliable.
    """
    test, target = problem.test, problem.target
    yield from problem.admit_included()
    members = list(problem.included)
    seen: set[frozenset[str]] = set()
    while frozenset(members) not in seen:
        seen.add(frozenset(members))
        held = tests_of_members(problem, members)
        others = [feature for feature in problem.features if feature not in members]
        if not others or (max_k is not None and len(members) > max_k):
            others = []
        results = [*held, *(test.test_many(others, target, given=members) if others else ())]
        log_p = log_p_of(problem, results, alpha)
        is_rejected = rejected(log_p, alpha, correction)
        leaving = weakest_to_leave(problem, members, held, is_rejected)
        if leaving is not None:
            yield step(members[leaving], held[leaving], without(members, members[leaving]), kept=False)
            del members[leaving]
            continue
        entering = [i for i in range(len(members), len(results)) if is_rejected[i]]
        if not entering:
            if others:
                test.tally.end_round(len(members))
            if not members and (why := why_a_correction_admits_none(test.test_config, log_p, alpha, correction)):
                problem.say("unreliable", why)
            return
        best = max(entering, key=lambda i: strength_of(results[i]))  # the first one on ties
        feature = others[best - len(members)]
        yield step(feature, results[best], members)
        members.append(feature)
    say_cycle(problem, members)


@dataclass
class IAMBnPC(Method):
    """Grow as IAMB does; then learn the skeleton of target and candidates with PC, and read the blanket from it.

    The blanket has the target's neighbours, and each feature two edges away whose middle feature, then a common child,
    was not in the set that separated it from the target.

    Notes
    -----
    ``variant: subset`` removes a candidate if any subset of the others separates it. This also deletes spouses that are
    independent of the target given nothing, and guarantees nothing.

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
        """Admit the strongest feature, one at a time, without a limit on conditioning sets."""
        return IAMB(alpha=self.alpha).grow(problem)

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterable[Step]:
        """Read the blanket from the skeleton of target and candidates."""
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
    """An undirected graph: the `adjacent` columns, and the sets that separated columns."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.adjacent = {column: [other for other in columns if other != column] for column in columns}
        self.separating_sets: dict[str, dict[str, tuple[str, ...]]] = {column: {} for column in columns}

    def separate(self, x: str, y: str, given: tuple[str, ...]) -> None:
        """Remove the edge between two columns."""
        for one, other in ((x, y), (y, x)):
            self.adjacent[one].remove(other)
            self.separating_sets[one][other] = given

    def opened_by_colliders(self, column: str) -> dict[str, str]:
        """Return each column two edges away with the middle column, if not in their separating set (a collider)."""
        opened: dict[str, str] = {}
        for middle in self.adjacent[column]:
            for other in self.adjacent[middle]:
                if other == column or other in self.adjacent[column] or other in opened:
                    continue
                if middle not in self.separating_sets[column][other]:
                    opened[other] = middle
        return opened


def find_skeleton(test: BoundTest, columns: Sequence[str], alpha: float, max_k: int | None) -> Skeleton:
    """Find the skeleton level by level with the PC algorithm.

    Conditioning sets of a level come from the neighbours at its start, so the column order does not matter (Colombo,
    Maathuis 2014, JMLR 15, 3741-3782; PC: Spirtes, Glymour, Scheines 2000, doi:10.7551/mitpress/1754.001.0001). Of
    columns with the same information about another, one remains its neighbour.
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
    """Return whether neighbours of X that were themselves separated from X or Y given the other separate X and Y.

    Neighbours of X count if separated in the same level. Those separated from Y may be separated rightly, so they are
    tested for having the same information as X.
    """
    removed = skeleton.separating_sets
    return leans_on(given, y, removed[x]) or bool(
        equivalents(test, x, y, given, removed[y], alpha, members=skeleton.adjacent[y])
    )


@dataclass
class InterIAMBnPC(IAMBnPC):
    """Grow as Inter-IAMB does; then learn the skeleton of target and candidates, and read the blanket from it.

    See `IAMBnPC` for the second phase, and `InterIAMB` for searches that cycle.

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
        """Alternate admissions of the strongest feature and removals."""
        return InterIAMB(alpha=self.alpha).grow(problem)
