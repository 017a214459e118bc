"""The smallest set of features that loses nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...ci.feature_groups import variables
from ...core.cards import CATEGORICAL, TARGET_KINDS, Card
from ...core.column_checks import identifier_kind
from ...core.errors import ParameterError, shown
from ...core.limits import LimitReached, Limits
from ...core.parameters import anything, choice, integer
from ...core.results import one_is_enough
from ...core.seeds import derive_rng, derive_seed
from ...moves.smallest_set import corrected_score, shares, smallest_set, undecided_size
from ...moves.steps import INCLUDED, MEMBER, Step
from ..base import Method, Problem
from ..causal.subset_searches import HITONMB
from ..judged.held_out import Judged, judge
from ..judged.in_time import judged_in_time
from ..judged.judged_round import NONE
from ..judged.pace import Pace
from ..judged.portfolio import Rows
from ..judged.verdict import ranked, rests_on_in_words, verdict
from ..judged.yardstick import AUTO, BY_GAIN, CHOICES
from ..stand_ins import with_stand_ins

#: Minimum number of labels, and per row, of a column of row names, as in the findings of tables.
FEWEST_NAMES, LEAST_SHARE_OF_NAMES = 20, 0.9


@dataclass
class Auto(Method):
    """Keep the smallest set of features with which models predict as well as with the best set.

    Grow ranks the features in several ways: mutual information, JMI, F tests, IAMB with the CI test that suits the
    table, Relief, the lasso path, a forest, recursive elimination with boosted trees, and their consensus. Sets of
    several sizes from each ranking are evaluated by cross-validation on the rows at hand, with rankings computed
    without the held-out part, which a linear model, nearest neighbours and boosted trees predict.

    The smallest set is kept whose mean loss exceeds the least by at most half a standard error, corrected for
    overlapping training rows, and by at most 0.01: of the error rate and the Brier score, or of the target's variance.
    If these two disagree about the best set, the Brier score decides. Sizes are weighted by their chances of being this
    set; the answer has the median size, and the features most frequent in these sets. For a rare class, the log-loss of
    calibrated probabilities decides; for a target with heavy tails, its normal scores are predicted. In both cases 5 %
    of the possible gain over no feature replaces the 0.01. The answer can be all features, and is none if a permutation
    test of all features finds nothing. Shrink keeps what grow found.

    The verdict has the score of the chosen set, corrected for the choice. Roles come from HITON-MB with the CI test
    that suits the table, if that search is short and reliable.

    Notes
    -----
    The answer depends only on the rows, the options and the seed. A time limit ends the evaluation early, with status
    ``timeout``, but there is always an answer, at least from one ranking evaluated once on 250 rows. The verdict has a
    ``budget`` of rows and fits that reproduces the answer without a time limit. At most 2,000 rows are used, with all
    of a rare class. Features whose labels hardly repeat, such as row names, are not considered unless included.
    Importance is 1 divided by the geometric mean of a feature's ranks over all rankings and resamples: 1 if it was
    always first.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> found = bf.Auto(max_candidates=20).fit(X[["age", "bmi", "s5"]], y)
    >>> sorted(found.selected_features_)
    ['bmi', 's5']
    """

    card: ClassVar[Card] = Card(
        id="auto",
        name="the smallest set that loses nothing",
        family="wrapper",
        summary="Keeps the smallest set with which several models predict as well as with the best.",
        reference="Tsamardinos, Greasidou, Borboudakis (2018) Bootstrapping the out-of-sample predictions for "
        "efficient and accurate cross-validation, Machine Learning 107, 1895-1922, doi:10.1007/s10994-018-5714-4; "
        "Nadeau, Bengio (2003) Inference for the generalization error, Machine Learning 52, 239-281, "
        "doi:10.1023/A:1024068626366.",
        cost="IAMB's tests in each resample; for roles HITON-MB's, at most 5,000; some 300 fits of three models",
        work="panel",
        tasks=TARGET_KINDS,
        takes_max_rows=True,
        importance="1 divided by the geometric mean of its ranks by all rankings in the resamples",
    )
    default_test: ClassVar[str | None] = None
    takes_feature_groups: ClassVar[bool] = True
    keeps_untested: ClassVar[bool] = True
    always_answers: ClassVar[bool] = True
    looks_at_table: ClassVar[bool] = True
    # A forest and Relief draw and compare single rows, but only to propose sets: rows are held out with their equals.
    draws_rows: ClassVar[bool] = False

    max_candidates: int = integer(
        60, "Rankings times numbers of features that are judged in all rounds; all are in the first two.", at_least=1
    )
    n_parts: int = integer(5, "Parts of the rows, each held out once.", at_least=2)
    metric: str = choice(AUTO, "What decides between sets; auto takes what suits the target.", CHOICES)
    max_features: int | None = integer(None, "Most features in the answer.", at_least=1, nullable=True)
    n_features: int | None = integer(
        None, "Keep the best set of exactly so many features, in place of the smallest.", at_least=1, nullable=True
    )
    budget: Mapping[str, int] | None = anything(
        None, "Rows to judge and fits to make, {rows: 2000, fits: 500}, in place of a time limit: that of an answer."
    )

    def __post_init__(self) -> None:
        """Raise `ParameterError` if the budget is invalid, or if two numbers of features are given."""
        if self.n_features is not None and self.max_features is not None:
            raise ParameterError("auto: n_features and max_features are both given. Give one of them.")
        given = {"rows": 1, "fits": 1} if self.budget is None else self.budget
        are_two = isinstance(given, Mapping) and set(given) == {"rows", "fits"}
        if not are_two or not all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in given.values()):
            raise ParameterError(
                f"auto: budget is {shown(given)}, but must be a mapping of rows and fits to whole numbers above 0, "
                "such as the one in the verdict of an answer."
            )

    def reads_rows(self) -> str:
        """Return what reads the rows besides the CI test."""
        return "judges sets by models of rows"

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Evaluate rankings at several sizes, and admit the features of the smallest set that loses nothing."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):  # the matrices are small, and threads would wait for each other
            return self._grown(problem)

    def _grown(self, problem: Problem) -> list[Step]:
        naming = _of_names(problem)
        names = [name for name in problem.features if name not in naming]
        features, target = problem.table.select(problem.columns(names)), problem.table[problem.target]
        if target.is_constant():
            return problem.admit_included()
        seed = derive_seed(problem.seed, "auto")

        def count_tests(n: int) -> None:
            problem.n_inner_tests += n

        included = np.array([names.index(name) for name in problem.included], dtype=np.int64)
        n_features = None if self.n_features is None else max(self.n_features, included.size)
        pace, most = self._pace(problem), n_features or self.max_features or math.inf
        widths = np.array([len(problem.columns([name])) for name in names], dtype=np.int64)
        if n_features and (widths > 1).any():
            raise ParameterError("auto: n_features does not count groups of features. Give max_features instead.")
        if widths[included].sum() > most:
            n = widths[included].sum()
            raise ParameterError(f"auto: max_features is {most}, but {n} features are included. Include fewer.")

        def judged_by(pace: Pace, most_rows: int, is_look: bool = False) -> Judged:
            kept_together = included, problem.groups, problem.feature_groups
            how = self.n_parts, self.max_candidates, pace, count_tests, problem.tell, *kept_together, problem.n_jobs
            of_sets = self.metric, self.max_features, n_features, most_rows, is_look, problem.search
            return judge(features, target, seed, *how, *of_sets)

        judged = judged_in_time(judged_by, pace, target.n_rows, (self.budget or {}).get("rows"))
        answers = np.flatnonzero(
            _may_answer(judged, len(included), judged.frequency @ widths <= most + 1e-9, n_features)
        )
        sets = judged.losses[answers], judged.sizes[answers], self.n_parts
        nothing = judged.losses[judged.candidates.index((NONE, 0))] if judged.metric in BY_GAIN else None
        chosen = int(answers[smallest_set(*sets, nothing=nothing)])
        counts = np.zeros(len(judged.candidates))
        if self.n_features:  # features that are common to several sets of one size may say the same
            counts[chosen] = 1.0
        else:
            counts[answers] = shares(*sets, nothing=nothing)
        kept, frequency = judged.kept(counts, judged.sizes[chosen])
        first = np.argsort(~np.isin(kept, included), kind="stable")
        fits = first[np.cumsum(widths[kept[first]]) <= most]  # of several sets, some with smaller groups of features
        importance = np.round(np.exp(-judged.log_ranks.mean(axis=0)), 12)
        whole = Rows(features, target, seed, pace.check_time, count_tests, problem.feature_groups, problem.search)
        role: dict[str, str] = {}
        no_roles = ""
        if not judged.stopped:
            try:
                with pace.fit("roles"):
                    role = roles_of(whole)
            except LimitReached as limit:
                no_roles = f" Roles were not found: {limit}"
            judged = replace(judged, n_fits=pace.n_fits)
        for name in problem.included:
            role.setdefault(name, INCLUDED)
        steps = [
            Step(names[j], float(often), importance=float(importance[j]), role=role.get(names[j], MEMBER))
            for j, often in zip(kept[fits], frequency[fits], strict=True)
        ]
        steps.sort(key=lambda step: -step.importance)
        if problem.finds_stand_ins:  # here, since the sentence names what is kept, and only once
            steps, problem.finds_stand_ins = with_stand_ins(problem, steps), False
        how_often = {step.feature: step.statistic for step in steps}
        problem.verdict.update(self._verdict(judged, answers, nothing, chosen, how_often, whole))
        problem.verdict["ranked"] = ranked(judged, counts, names, list(how_often))
        problem.verdict["budget"] = {"rows": judged.most_rows, "fits": judged.n_fits}
        if judged.stopped:
            problem.say("timeout", f"{rests_on_in_words(problem.verdict['rests_on'])}: {judged.stopped}")
        if included.size:
            stays = "was in every set that was" if included.size == 1 else "were in every set that was"
            problem.verdict["sentence"] += f" {', '.join(problem.included)} {stays} judged, as asked."
        if most < widths.sum() and n_features == self.n_features:
            how = "Exactly" if self.n_features else "At most"
            problem.verdict["sentence"] += f" {how} {most:,} {'was' if most == 1 else 'were'} to be kept, as asked."
        if naming:
            left_out = (
                "was not judged: its labels hardly repeat"
                if len(naming) == 1
                else ("were not judged: their labels hardly repeat")
            )
            problem.verdict["sentence"] += f" {', '.join(naming)} {left_out}."
        columns = [name for name in how_often if name not in problem.feature_groups]
        if numbering := [name for name in columns if identifier_kind(problem.table[name])]:
            it = "it only numbers or names" if len(numbering) == 1 else "they only number or name"
            problem.verdict["sentence"] += f" Look at {', '.join(numbering)}: if {it} the rows, exclude that."
        if said := one_is_enough({step.feature: step.stand_ins for step in steps}):
            problem.verdict["sentence"] += f" {said}"
        problem.verdict["sentence"] += no_roles
        return steps

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterable[Step]:
        """Keep all: grow has decided."""
        return [replace(candidate, kept=True) for candidate in candidates]

    def _pace(self, problem: Problem) -> Pace:
        if self.budget is not None:
            return Pace(most_fits=self.budget["fits"])
        seconds = problem.limits.time_limit
        return Pace(problem.seconds_left, math.inf if seconds is None else seconds, check=problem.check_time)

    def _verdict(
        self, judged: Judged, answers: np.ndarray, nothing: Any, chosen: int, kept: dict[str, float], rows: Rows
    ) -> dict[str, Any]:
        reference = judged.reference(chosen)

        def score(at: int | None, weights: np.ndarray) -> float:
            return judged.score_outside(reference if at is None else int(answers[at]), weights)

        sets = judged.losses[answers], judged.sizes[answers], self.n_parts
        corrected = corrected_score(*sets, score, derive_rng(rows.seed, "samples"), nothing)
        return verdict(judged, chosen, corrected, undecided_size(*sets), kept, rows.target)


def _of_names(problem: Problem) -> list[str]:
    """Return features, except included ones, whose labels hardly repeat, such as row names, unless all do."""
    fewest, asked = max(FEWEST_NAMES, LEAST_SHARE_OF_NAMES * problem.table.n_rows), {*problem.included}
    columns = [problem.table[name] for name in problem.features if name not in {*problem.feature_groups} | asked]
    labels = [column for column in columns if column.kind == CATEGORICAL and len(column.levels) >= fewest]
    found = [column.name for column in labels if len(np.unique(column.numbers())) >= fewest]
    return found if len(found) < len(problem.features) else []


def _may_answer(judged: Judged, n_included: int, is_allowed: np.ndarray, n_features: int | None) -> np.ndarray:
    """Return which of the sufficiently small candidates can be the answer, (n_candidates,).

    With `n_features`, only sets of so many can, or that of all if there are fewer. Otherwise the empty set is a
    reference. It can be the answer only if no feature is included and the permutation test found nothing, and is then
    the only one. No set larger than one without errors can be the answer.
    """
    may = is_allowed & (judged.sizes >= n_included)
    if n_features is not None:
        return may & (judged.sizes == judged.sizes[may].max())
    if judged.gate is not None and judged.gate.is_open and (may & (judged.sizes > 0)).any():
        may &= judged.sizes > 0
    if judged.gate is not None and not judged.gate.is_open:
        may &= judged.sizes == judged.sizes[may].min()
    if (may & judged.is_perfect).any():
        may &= judged.sizes <= judged.sizes[may & judged.is_perfect].min()
    return may


#: Maximum features and tests for the search of roles, which would take longer than the evaluation.
MOST_FEATURES, MOST_TESTS = 100, 5000


def roles_of(rows: Rows) -> dict[str, str]:
    """Return the role of each member of the blanket that HITON-MB finds with the CI test that suits the rows.

    Empty if the search is unreliable or takes more than `MOST_TESTS` tests. Raises `LimitReached` if the rows are out
    of time.
    """
    if len(rows.names) > MOST_FEATURES:
        return {}
    try:
        found = rows.run(HITONMB(max_k=3), rows.suited(), Limits(max_tests=MOST_TESTS))
    except LimitReached:  # how many tests it made by then is not known
        rows.check_time()
        return {}
    rows.count_tests(found.n_tests)
    if found.status != "ok":
        return {}
    return {variables([step.feature], rows.feature_groups)[0]: step.role for step in found.decisions if step.kept}
