"""The contract of a method: two functions, `grow` and `shrink`, on a problem that a bound CI test answers."""

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
from ..ci.number_of_tests import Tally
from ..core.cards import CROSS_PRODUCTS, TRIPLES
from ..core.limits import NO_LIMITS, Allowance, Limits
from ..core.numerics import comparable_number
from ..core.parameters import Configurable
from ..core.progress_lines import SILENT, Teller
from ..core.results import CIResults
from ..core.rows import balanced_parts
from ..core.seeds import derive_rng
from ..core.table import Table
from ..moves.steps import INCLUDED, Answer, Step, standing, step
from ..moves.tiers import Tiers

#: What a search can say of itself, the most serious last.
SERIOUSNESS = ("ok", "unreliable", "timeout")


def no_search(*asked: Any, **options: Any) -> FoldOutcome:
    """Refuse to search within a question that was not put by a search."""
    raise RuntimeError("this problem was made without a way to search within it")


@dataclass
class Problem:
    """One fold's question: which features form the target's Markov blanket?

    Parameters
    ----------
    features : sequence of str
        Names in the order in which they are searched, which decides ties: that of `core.column_order`, unless the
        method follows the order of the table.
    target : str
        Name of the target.
    marginal : CIResults or None
        The ci_test stage: each feature against the target given nothing. None for methods without a test.
    seed : int
        The fold's seed; derive others from it with `core.seeds.derive_rng`.
    read_table : callable returning Table
        Reads the fold's rows, features and target. Called when first needed, so that a method which decides on the
        marginal results alone never reads the data.
    bind : callable returning BoundTest
        Binds the CI test to that table, likewise when first needed.
    limits : Limits
        What each stage may spend.
    shared : dict
        What methods found about other columns and want to keep, between the stages of one process and between the
        targets of `blanketflow.blankets`. Nothing in it may change a result.
    tell : Teller
        Says lines to a person, as `verbose` asks for them.
    included : tuple of str
        Features that stay in the answer whatever is found, in the order of `features`. Those that a method
        does not keep are added to its answer; a method may also begin with them.
    min_effect : float
        Smaller effects are independent, in `marginal` too; 0 for no such limit.
    tiers : mapping of str to int
        When features and target were measured, the earliest 0, of those for which that is known.
    feature_groups : mapping of str to tuple of str
        The columns of the features that are groups; see `columns`.
    costs : mapping of str to float
        What features cost, of those that cost something.
    read_gaps : callable returning mapping of str to int
        Returns how many cells of each feature were missing, of those of which any were.
    read_groups : callable returning ndarray of shape (n,) or None
        Reads the numbers of the fold's rows that say which belong together; None where each row is by itself.
    n_jobs : int
        Processes that the method may use. Its answer does not depend on them.
    finds_stand_ins : bool
        Whether to find the features that could stand in for those of the answer.
    search : callable returning FoldOutcome
        Runs another method on a table, as `blanketflow.search.run_fold.run_fold` does; for methods that search
        within their own work.

    Attributes
    ----------
    status, reason : str
        ``ok``; ``timeout`` when a limit was reached, and ``unreliable`` when a method says so.
    answers : list of Answer
        All Markov blankets, for methods that look for several.
    verdict : dict
        What a method says of its answer beside the features, as JSON has it; empty for most.
    n_inner_tests : int
        CI tests of problems made by `on_rows`: the marginal tests, and the tests that their maker adds.
    refused : set of tuple of str
        The columns of tests on counts that a stage in another process could not make, since a table was refused.

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
        """The fold's rows."""
        return self.read_table()

    def columns(self, features: Iterable[str]) -> list[str]:
        """Return the names of the table's columns of some features: all of a group's, else the one of that name."""
        return [column for feature in features for column in self.feature_groups.get(feature, (feature,))]

    @property
    def column_counts(self) -> list[int]:
        """How many columns of the table each feature has, in the order of `columns` of all features."""
        return [len(self.columns([feature])) for feature in self.features]

    @cached_property
    def groups(self) -> np.ndarray | None:
        """Which rows belong together, and so to one part wherever a method splits them: numbers, (n,), or None."""
        return self.read_groups()

    def parts(self, target: np.ndarray, most: int, *purpose: str) -> np.ndarray:
        """Return each row's part of a cross-validation inside the stage, shape (n,), as `balanced_parts` does.

        There are `most` parts, or as many as rows or groups. The seed is that of the `purpose`.
        """
        return balanced_parts(target, most, derive_rng(self.seed, *purpose), self.groups)

    @cached_property
    def test(self) -> BoundTest:
        """The bound CI test; it counts tests and caches results, and already has the marginal results."""
        bound = self.bind(self.table)
        self._n_before = bound.n_tests
        bound.allowance, bound.tally = self._allowance, Tally()
        bound.require(self.min_effect)
        if self.marginal is not None:
            bound.remember(bound.table.positions(self.features), self.target, self.marginal)
        return bound

    @property
    def n_tests(self) -> int:
        """CI tests computed so far by this problem's test and on parts of its rows, the marginal ones not counted."""
        return self.n_inner_tests + (self.test.n_tests - self._n_before if "test" in self.__dict__ else 0)

    def begin_stage(self) -> None:
        """Let a stage spend what the limits allow."""
        self._allowance = self.limits.start()
        if "test" in self.__dict__:
            self.test.allowance, self.test.tally = self._allowance, Tally()

    def check_time(self) -> None:
        """Raise `LimitReached` if the stage's time is over; for methods that do other work than CI tests."""
        if self._allowance is not None:
            self._allowance.spend(0)

    def seconds_left(self) -> float:
        """Return the seconds until the stage's time is over; infinite if it is not limited."""
        return math.inf if self._allowance is None else self._allowance.seconds_left()

    def on_rows(
        self, rows: np.ndarray, seed: int, test: CITest | None = None, tests_marginally: bool = True
    ) -> Problem:
        """Return the same question on some of the rows, as if there were no others; for validation inside a stage.

        Its CI test is `test`, or else this problem's; marginal tests included, it spends this problem's allowance. A
        method that reads no marginal results need not wait for them.
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
        """Return the same question without the features of one value, which say nothing, unless they are included.

        A group of columns stays if one of them varies. A column of several values has one to the test if supervised
        binning finds no cut: then its table has no degree of freedom, and those of others have. The rows are read; the
        test must not be bound yet.
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
        """Return the admissions with which a search begins that keeps what is included, each with its marginal test."""
        return [self.including(feature) for feature in self.included]

    def including(self, feature: str) -> Step:
        """Return the step that keeps a feature because it is included."""
        if self.marginal is None:
            return Step(feature, role=INCLUDED)
        return step(feature, self.marginal[self.features.index(feature)], importance=0.0, role=INCLUDED)

    def refused_tables(self) -> set[tuple[str, ...]]:
        """Return the columns of the tests on counts that could not be made, since a place refused a table."""
        return self.refused | (refused_by(self.test) if "test" in self.__dict__ else set())

    def say(self, status: str, reason: str) -> None:
        """Set status and reason, unless a more serious one is set; the first reason stays."""
        self.status, self.reason = worst_status([(self.status, self.reason), (status, reason)])


@dataclass
class FoldOutcome:
    """What one fold's stages returned; `grown` has interleaved removals too, `candidates` does not."""

    marginal: CIResults | None
    grown: list[Step]
    decisions: list[Step]
    n_tests: int
    status: str = "ok"
    reason: str = ""
    answers: list[Answer] = field(default_factory=list)
    verdict: dict[str, Any] = field(default_factory=dict)

    @property
    def candidates(self) -> list[Step]:
        """What shrink was given."""
        return standing(self.grown)

    @property
    def members(self) -> list[Step]:
        """The features that shrink kept, most important first."""
        return members(self.decisions)


@dataclass
class Method(Configurable):
    """A configured method. A subclass adds a `card`, declared parameters, `grow` and `shrink`.

    Both may return their steps or yield them one by one. A method that yields can be `anytime`.

    Attributes
    ----------
    default_test : str or None
        Id of the CI test used when none is asked for; ``auto`` for the one that suits the table, of methods that need
        p-values; None for methods without a test.
    default_test_options : mapping
        Options that this method's default test has, where they are not the test's own defaults.
    needs : str
        What the test must measure: ``p-value``, ``mutual-information``, ``entropy`` or ``hsic``.
    test_shorthands : tuple of str
        Options of the default test that the scikit-learn class takes directly, for convenience.
    anytime : bool
        Whether the steps yielded before a limit was reached are an answer: what was admitted and not removed. If not,
        a limit makes the fold fail.
    always_answers : bool
        Whether it has an answer whatever the time limit, and ends by itself.
    forms_groups : bool
        Whether steps carry a group.
    obeys_prior : bool
        Whether features can be included in its answer and excluded from it; not so for references.
    takes_feature_groups : bool
        Whether features can be groups of columns: so if it asks the CI test alone, or reads `Problem.columns`.
    keeps_untested : bool
        Whether it keeps features that no test has found to depend on the target, such as the first ones of a ranking.
        Then features of one value are left out of its question.
    draws_rows : bool
        Whether it draws, permutes or compares single rows, so that equal rows would not stay together: then rows cannot
        have weights. Splitting rows by `Problem.parts` is not drawing them.
    learns_from : str
        All that it learns of rows, but for what `reads_rows` names: ``rows``; ``tests``, if only by its CI test; or
        ``triples``, if only by tests of the target and at most two features. Then the test decides what missing cells
        mean, and sums of the rows can take their place; see `blanketflow.count`.

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
    forms_groups: ClassVar[bool] = False
    obeys_prior: ClassVar[bool] = True
    takes_feature_groups: ClassVar[bool] = False
    keeps_untested: ClassVar[bool] = False
    draws_rows: ClassVar[bool] = True
    learns_from: ClassVar[str] = "rows"

    def why_rows(self, test: CITest | None) -> str:
        """Return why one exchange of sums cannot take the place of the rows, with some CI test; empty if it can."""
        if test is None or self.needs_complete_rows():
            return f"{self.card.id} {self.reads_rows() or 'reads rows'}"
        if not test.sums or test.sums_by_kinds:
            return f"{test.card.id} reads rows"
        is_enough = test.sums == CROSS_PRODUCTS or self.learns_from == TRIPLES
        return "" if is_enough else f"{self.card.id} with {test.card.id} asks for tables as it goes"

    def tests_sets(self) -> bool:
        """Whether sets of columns are tested as one joint variable, which not every CI test can."""
        return False

    def reads_rows(self) -> str:
        """Return in words what reads the rows beside the CI test, which knows no sampling weights; empty if nothing."""
        return ""

    def needs_complete_rows(self) -> bool:
        """Whether no cell may be missing, with these options, whatever the CI test does about it."""
        return self.learns_from == "rows" or bool(self.reads_rows())

    def follows_order(self) -> bool:
        """Whether the order of the table's columns means something, with these options; else names decide it."""
        return False

    def proves_one_search(self) -> bool:
        """Whether what the card proves of errors holds for one search, and not for what several folds agree on."""
        return False

    @abstractmethod
    def grow(self, problem: Problem) -> Iterable[Step]:
        """Give the candidates in the order in which they are admitted; an interleaved removal is a step not kept.

        Parameters
        ----------
        problem : Problem
            The question, with its rows and its test.

        Returns
        -------
        iterable of Step
            One per admission or removal.
        """

    @abstractmethod
    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterable[Step]:
        """Give one final decision for each feature that was considered, in the order of decisions.

        Parameters
        ----------
        problem : Problem
            The question, with its rows and its test.
        candidates : list of Step
            What grow admitted and did not remove.

        Returns
        -------
        iterable of Step
            One per feature; `kept` says whether it is in the blanket.
        """


def members(decisions: Sequence[Step]) -> list[Step]:
    """Return the features kept, most important first, ties by the order of decisions."""
    return sorted((d for d in decisions if d.kept), key=lambda d: -comparable_number(d.importance))


def refused_by(bound: BoundTest) -> set[tuple[str, ...]]:
    """Return the columns of the tests on counts that a bound test could not make since a place refused a table."""
    return getattr(bound.engine, "refused", set())


def worst_status(outcomes: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """Return the most serious of some (status, reason), the first of equals.

    Examples
    --------
    >>> worst_status([("ok", ""), ("unreliable", "a circle"), ("timeout", "10 s")])
    ('timeout', '10 s')
    """
    return max(outcomes, key=lambda outcome: SERIOUSNESS.index(outcome[0]), default=("ok", ""))
