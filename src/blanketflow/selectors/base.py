"""The base class of methods, with `grow` and `shrink`, and the `Problem` that they receive."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..ci.base import BoundTest, CITest
from ..ci.choice import AUTO
from ..ci.feature_groups import bind_groups
from ..ci.tests_made import Tally
from ..core.cards import CROSS_PRODUCTS, TRIPLES
from ..core.limits import NO_LIMITS, Allowance, Limits
from ..core.messages import SILENT, Teller
from ..core.numerics import comparable
from ..core.parameters import Configurable
from ..core.results import CIResults
from ..core.rows import balanced_parts
from ..core.seeds import derive_rng
from ..core.table import Table
from ..moves.steps import INCLUDED, Answer, Step, Steps, Tiers, standing, step

#: Statuses of a search, the most serious last.
SERIOUSNESS = ("ok", "unreliable", "timeout")


def no_search(*asked: Any, **options: Any) -> FoldOutcome:
    """Raise an error: this problem cannot run a search within a search."""
    raise RuntimeError("this problem was made without a way to search within it")


@dataclass
class Problem:
    """The search on one fold: the features, the target, the rows and the CI test.

    Parameters
    ----------
    features : sequence of str
        Names in search order, which decides ties: that of `core.table.by_names`, or of the table if the method follows
        it.
    target : str
        Name of the target.
    marginal : CIResults or None
        Results of the ci_test stage: each feature with the target given nothing. None for methods without a test.
    seed : int
        Seed of the fold; derive other seeds with `core.seeds.derive_rng`.
    read_table : callable returning Table
        Reads features and target of the fold's rows, on first use: a method that needs only `marginal` reads no data.
    bind : callable returning BoundTest
        Binds the CI test to that table, on first use.
    limits : Limits
        Limits of time and number of tests for each stage.
    shared : dict
        Cache shared by the stages of a process and the targets of `blanketflow.blankets`. It must not change results.
    tell : Teller
        Prints progress lines, depending on `verbose`.
    included : tuple of str
        Features always in the answer, in the order of `features`. They are added unless the method keeps them, and a
        method may start from them.
    min_effect : float
        Smaller effects count as independent, also in `marginal`; 0 for no limit.
    tiers : mapping of str to int
        Measurement times of features and target where known, the earliest 0.
    feature_groups : mapping of str to tuple of str
        Columns of the features that are groups; see `columns`.
    costs : mapping of str to float
        Costs of features that are not free.
    read_gaps : callable returning mapping of str to int
        Returns the number of missing cells of each feature that has any.
    read_groups : callable returning ndarray of shape (n,) or None
        Returns the group number of each row; None if rows have no groups.
    n_jobs : int
        Number of processes that the method may use, which does not change the result.
    finds_stand_ins : bool
        Whether to find features that could replace members of the answer.
    search : callable returning FoldOutcome
        Runs another method on a table; see `blanketflow.search.run_fold.run_fold`.

    Attributes
    ----------
    status, reason : str
        ``ok``, ``timeout`` if a limit was reached, or ``unreliable`` if the method says so.
    answers : list of Answer
        All Markov blankets, for methods that find several.
    verdict : dict
        Further results of a method, as JSON types.
    n_inner_tests : int
        Number of CI tests of problems made by `on_rows`: marginal tests, plus tests that the caller adds.
    refused : set of tuple of str
        Columns of tests on counts that a stage in another process could not make because a site refused the table.

    Examples
    --------
    >>> import numpy as np
    >>> from blanketflow.ci import get_ci_test
    >>> from blanketflow.core.convert import as_table
    >>> table = as_table(np.array([[0, 0], [1, 1]] * 20))
    >>> problem = Problem(["x0"], "x1", None, 0, lambda: table, get_ci_test("g2").bind)
    >>> problem.test.test("x0", problem.target).p_value < 0.05, problem.n_tests
    (True, 1)
    """

    features: Sequence[str]
    target: str
    marginal: CIResults | None
    seed: int
    read_table: Callable[[], Table]
    bind: Callable[[Table], BoundTest]
    limits: Limits = NO_LIMITS
    shared: dict[Any, Any] = field(default_factory=dict)
    tell: Teller = SILENT
    included: tuple[str, ...] = ()
    tiers: Tiers = field(default_factory=dict)
    min_effect: float = 0.0
    feature_groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    costs: Mapping[str, float] = field(default_factory=dict)
    read_gaps: Callable[[], Mapping[str, int]] = dict
    read_groups: Callable[[], np.ndarray | None] = lambda: None
    n_jobs: int = 1
    finds_stand_ins: bool = True
    search: Callable[..., FoldOutcome] = no_search
    status: str = field(default="ok", init=False)
    reason: str = field(default="", init=False)
    answers: list[Answer] = field(default_factory=list, init=False)
    verdict: dict[str, Any] = field(default_factory=dict, init=False)
    n_inner_tests: int = field(default=0, init=False)
    refused: set[tuple[str, ...]] = field(default_factory=set, init=False)
    _allowance: Allowance | None = field(default=None, init=False)
    _n_before: int = field(default=0, init=False)

    @cached_property
    def table(self) -> Table:
        """The rows of the fold."""
        return self.read_table()

    def columns(self, features: Iterable[str]) -> list[str]:
        """Return the table columns of some features: all columns of a group, else the feature itself."""
        return [column for feature in features for column in self.feature_groups.get(feature, (feature,))]

    @property
    def column_counts(self) -> list[int]:
        """The number of table columns of each feature."""
        return [len(self.columns([feature])) for feature in self.features]

    @cached_property
    def groups(self) -> np.ndarray | None:
        """The group number of each row, shape (n,), or None. Split rows so that groups stay together."""
        return self.read_groups()

    def parts(self, target: np.ndarray, most: int, *purpose: str) -> np.ndarray:
        """Assign rows to at most `most` parts by `balanced_parts`, (n,), with a seed that depends on `purpose`."""
        return balanced_parts(target, most, derive_rng(self.seed, *purpose), self.groups)

    @cached_property
    def test(self) -> BoundTest:
        """The bound CI test, which counts and caches tests and knows the marginal results."""
        bound = self.bind(self.table)
        self._n_before = bound.n_tests
        bound.allowance, bound.tally = self._allowance, Tally()
        bound.require(self.min_effect)
        if self.marginal is not None:
            bound.remember(bound.table.positions(self.features), self.target, self.marginal)
        return bound

    @property
    def n_tests(self) -> int:
        """Number of CI tests so far, also on parts of the rows, without the marginal tests."""
        return self.n_inner_tests + (self.test.n_tests - self._n_before if "test" in self.__dict__ else 0)

    def begin_stage(self) -> None:
        """Start the limits of a stage."""
        self._allowance = self.limits.start()
        if "test" in self.__dict__:
            self.test.allowance, self.test.tally = self._allowance, Tally()

    def check_time(self) -> None:
        """Raise `LimitReached` if the stage is out of time; for work other than CI tests."""
        if self._allowance is not None:
            self._allowance.spend(0)

    def seconds_left(self) -> float:
        """Return the seconds left for the stage; infinite without a limit."""
        return math.inf if self._allowance is None else self._allowance.seconds_left()

    def on_rows(
        self, rows: np.ndarray, seed: int, test: CITest | None = None, tests_marginally: bool = True
    ) -> Problem:
        """Return the problem restricted to some rows, for validation inside a stage.

        `test` defaults to the CI test of this problem. Its tests count towards this problem's limits, also marginal
        ones; ``tests_marginally=False`` skips these.
        """
        table = self.table.take(rows)
        inner = Problem(self.features, self.target, None, seed, lambda: table, self.bind)
        inner.included, inner.tiers, inner.min_effect = self.included, self.tiers, self.min_effect
        inner.feature_groups, inner.search = self.feature_groups, self.search
        inner.read_groups = lambda: None if self.groups is None else self.groups[rows]
        inner._allowance = self._allowance
        if test is None and self.marginal is not None:
            test = self.test.test_config
        if test is not None:
            bound = bind_groups(test, table, self.feature_groups, seed, self.target)
            bound.allowance = self._allowance
            bound.require(self.min_effect)
            if tests_marginally:
                inner.marginal = bound.test_many(bound.table.positions(self.features), self.target)
            inner.bind = lambda _: bound
            self.n_inner_tests += bound.n_tests
        return inner.of_varying()

    def of_varying(self) -> Problem:
        """Return the problem without constant features, except included ones; call it before the test is bound.

        A group stays if one of its columns varies. A column with a single bin, because supervised binning finds no cut,
        has no degree of freedom and is left out too. Reads the rows.
        """
        varies, of_groups = self.table.varying(), self.feature_groups
        kept = varies[self.table.positions(self.columns(self.features) if of_groups else self.features)]
        if of_groups:
            kept = np.logical_or.reduceat(kept, np.cumsum([0, *self.column_counts[:-1]]))
        if self.marginal is not None and self.marginal.dof.any():
            kept &= (self.marginal.dof > 0) | ~self.marginal.reliable
        kept |= np.isin(self.features, self.included) if self.included else False
        if kept.all():
            return self
        narrower, at = copy(self), np.flatnonzero(kept)
        narrower.features = [self.features[i] for i in at.tolist()]
        narrower.marginal = None if self.marginal is None else self.marginal.take(at)
        return narrower

    def admit_included(self) -> list[Step]:
        """Return a step for each included feature, with its marginal test."""
        return [self.including(feature) for feature in self.included]

    def including(self, feature: str) -> Step:
        """Return the step that keeps an included feature."""
        if self.marginal is None:
            return Step(feature, role=INCLUDED)
        return step(feature, self.marginal[self.features.index(feature)], importance=0.0, role=INCLUDED)

    def refused_tables(self) -> set[tuple[str, ...]]:
        """Return the columns of tests on counts that were not made because a site refused the table."""
        return self.refused | (refused_by(self.test) if "test" in self.__dict__ else set())

    def say(self, status: str, reason: str) -> None:
        """Set status and reason, unless the current status is at least as serious."""
        self.status, self.reason = worst_status([(self.status, self.reason), (status, reason)])


@dataclass
class FoldOutcome:
    """Results of the stages of a fold. `grown` includes interleaved removals, `candidates` does not.

    `doubts` says which assumptions of the CI test the rows contradict.
    """

    marginal: CIResults | None
    grown: Steps
    decisions: Steps
    n_tests: int
    status: str = "ok"
    reason: str = ""
    answers: list[Answer] = field(default_factory=list)
    verdict: dict[str, Any] = field(default_factory=dict)
    doubts: str = ""

    @property
    def candidates(self) -> Steps:
        """The features passed to shrink."""
        return standing(self.grown)

    @property
    def members(self) -> Steps:
        """The features that shrink kept, most important first."""
        return members(self.decisions)


@dataclass
class Method(Configurable):
    """A configured method. A subclass adds a `card`, declared parameters, `grow` and `shrink`.

    Both functions return or yield steps.

    Attributes
    ----------
    default_test : str or None
        Id of the default CI test; ``auto`` chooses one that suits the table, for methods that need p-values; None for
        methods without a test.
    default_test_options : mapping
        Options of the default test that differ from the test's own defaults.
    needs : str
        What the test must measure: ``p-value``, ``mutual-information``, ``entropy`` or ``hsic``.
    test_shorthands : tuple of str
        Options of the default test that are also parameters of the scikit-learn class.
    anytime : bool
        Whether the steps yielded before a limit are an answer. Otherwise the fold fails at a limit.
    always_answers : bool
        Whether the method returns an answer within any time limit.
    looks_at_table : bool
        Whether `fit` first looks for findings in the table, such as leakage, which takes up to a second.
    forms_groups : bool
        Whether steps have a group.
    obeys_prior : bool
        Whether features can be included and excluded; False for references.
    takes_feature_groups : bool
        Whether a feature can be a group of columns: True if the method only uses the CI test or `Problem.columns`.
    keeps_untested : bool
        Whether the answer can contain features that no test found dependent on the target, as rankings do. Constant
        features are then removed beforehand.
    draws_rows : bool
        Whether the method draws, permutes or compares single rows, and so does not support row weights. `Problem.parts`
        does not count.
    learns_from : str
        What the method uses of the rows, apart from `reads_rows`: ``rows``; ``tests`` for its CI test only; ``triples``
        for tests of the target and at most two features only. With the last two, the test handles missing cells, and
        sums can replace the rows; see `blanketflow.count`.

    Examples
    --------
    >>> from blanketflow.plugins import Card
    >>> @dataclass
    ... class Strongest(Method):
    ...     card = Card("strongest", "the strongest", "filter", "Keeps the feature of least p.", "unpublished")
    ...
    ...     def grow(self, problem):
    ...         return [Step(problem.features[int(problem.marginal.log_p.argmin())])]
    ...
    ...     def shrink(self, problem, candidates):
    ...         return candidates
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> bf.get_selector(Strongest, ci_test="g2").fit(*load_iris(return_X_y=True, as_frame=True)).selected_features_
    ['petal width (cm)']
    """

    default_test: ClassVar[str | None] = AUTO
    default_test_options: ClassVar[Mapping[str, Any]] = {}
    needs: ClassVar[str] = "p-value"
    test_shorthands: ClassVar[tuple[str, ...]] = ()
    anytime: ClassVar[bool] = False
    always_answers: ClassVar[bool] = False
    looks_at_table: ClassVar[bool] = False
    forms_groups: ClassVar[bool] = False
    obeys_prior: ClassVar[bool] = True
    takes_feature_groups: ClassVar[bool] = False
    keeps_untested: ClassVar[bool] = False
    draws_rows: ClassVar[bool] = True
    learns_from: ClassVar[str] = "rows"

    def why_rows(self, test: CITest | None) -> str:
        """Return why sums cannot replace the rows with this CI test; empty if they can."""
        if test is None or self.needs_complete_rows():
            return f"{self.card.id} {self.reads_rows() or 'reads rows'}"
        if not test.sums or test.sums_by_kinds:
            return f"{test.card.id} reads rows"
        is_enough = test.sums == CROSS_PRODUCTS or self.learns_from == TRIPLES
        return "" if is_enough else f"{self.card.id} with {test.card.id} asks for tables as it goes"

    def tests_sets(self) -> bool:
        """Whether sets of columns are tested as one joint variable, which not every CI test supports."""
        return False

    def reads_rows(self) -> str:
        """Return what reads the rows besides the CI test, without sampling weights; empty if nothing."""
        return ""

    def needs_complete_rows(self) -> bool:
        """Whether these options do not allow missing cells."""
        return self.learns_from == "rows" or bool(self.reads_rows())

    def follows_order(self) -> bool:
        """Whether these options depend on the column order of the table; otherwise the order of names decides ties."""
        return False

    def proves_one_search(self) -> bool:
        """Whether the error guarantee of the card holds for a single search only, not for aggregated folds."""
        return False

    @abstractmethod
    def grow(self, problem: Problem) -> Iterable[Step | Steps]:
        """Return the candidates in order of admission; an interleaved removal is a step with ``kept=False``.

        Parameters
        ----------
        problem : Problem
            The features, rows and test.

        Returns
        -------
        iterable of Step or Steps
            One per admission or removal, or blocks of them.
        """

    @abstractmethod
    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterable[Step | Steps]:
        """Return a final decision for each feature, in order.

        Parameters
        ----------
        problem : Problem
            The features, rows and test.
        candidates : sequence of Step
            Features that grow admitted and did not remove.

        Returns
        -------
        iterable of Step or Steps
            One per feature, or blocks of them; `kept` says whether it is in the blanket.
        """


def members(decisions: Sequence[Step]) -> Steps:
    """Return the kept features, most important first; ties in order of the decisions."""
    steps = Steps.of(decisions)
    kept = np.flatnonzero(steps.kept)
    return steps[kept[np.argsort(-comparable(steps.importance[kept]), kind="stable")]]


def refused_by(bound: BoundTest) -> set[tuple[str, ...]]:
    """Return the columns of a bound test's tests on counts that were not made because a site refused the table."""
    return getattr(bound.engine, "refused", set())


def worst_status(outcomes: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """Return the most serious (status, reason), the first on ties.

    >>> worst_status([("ok", ""), ("unreliable", "a circle"), ("timeout", "10 s")])
    ('timeout', '10 s')
    """
    return max(outcomes, key=lambda outcome: SERIOUSNESS.index(outcome[0]), default=("ok", ""))
