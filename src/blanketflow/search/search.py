"""A search as a value: all options that determine the result on a table, stored as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from ..ci import get_ci_test
from ..ci.base import CITest
from ..ci.choice import AUTO, OF_FOLD, OF_FURTHER_KINDS, Choice, Described, choose_test, described, why_no_spline
from ..ci.missing import incomplete_rule
from ..core.cards import IMPUTATIONS
from ..core.errors import ConfigError, DataError, ParameterError, UnsupportedError
from ..core.limits import NO_LIMITS, Limits
from ..core.messages import SILENT, Counts, Teller, with_warnings
from ..core.parameters import Configurable
from ..core.prior import NOTHING, PriorKnowledge
from ..core.results import StandIn
from ..core.rows import repeats_told, sample_told, sampled, searched_rows, seed_of_split, why_no_splits
from ..core.seeds import DEFAULT_SEED, derive_seed
from ..core.table import Column, Table, is_complex, with_used_levels
from ..data.splits import rows_of_folds
from ..selectors import get_method
from ..selectors.base import FoldOutcome, Method, worst_status
from ..selectors.compatibility import (
    for_missing_cells,
    notes_on_p_values,
    why_no_sampling_weights,
    why_no_strata,
    why_no_target,
    why_no_weights,
    why_repeats_mislead,
)
from ..selectors.external import External
from ..targets import as_read, clipped_told, size_of
from .aggregate import Aggregate, aggregate, check_rule
from .confirmation import Confirmation, are_signed, combined, confirm_members, result_columns, selected_again
from .run_fold import fold_seed, run_fold
from .sample import Sample, as_sample, filled
from .workers import MANY, n_workers

#: Defaults, which are not written.
_USUAL: dict[str, Any] = {
    "folds": 0,
    "fold_rows": "train",
    "aggregate": "best-blanket",
    "max_rows": None,
    "missing": "error",
    "imputations": None,
    "min_effect": None,
    "confirm": None,
    "confirm_splits": 1,
}


@dataclass(frozen=True)
class Search:
    """All options that determine the result on a table; equal searches of equal tables have identical results.

    Parameters
    ----------
    method : Method
        The configured method.
    test : CITest, "auto" or None
        The configured CI test; ``auto`` chooses one that suits the table, None is for methods without a test.
    seed : int
        Seed of all random numbers.
    folds : int
        Inner folds whose sets are combined; 0 searches all rows once.
    fold_rows : {"train", "part"}
        Rows of a fold: all but its part, or the part.
    aggregate : str or mapping
        Rule that combines the sets of the folds.
    limits : Limits
        Limits of each stage on a fold.
    prior : PriorKnowledge
        Prior knowledge of features.
    max_rows : int, optional
        Maximum rows of a fold; a larger fold is sampled.
    missing : {"error", "impute", "drop", "pairwise"}
        Rule for missing cells.
    imputations : int, optional
        Number of imputed copies over which every CI test is pooled.
    min_effect : float, optional
        Smaller effects count as independent.
    confirm : float, optional
        Share of the rows left out of the search, on which each member is then tested.
    confirm_splits : int
        Number of such random splits.
    identity : tuple of str
        Data set and split from which seeds are derived in a workflow; empty for a single table.
    where : str
        Start of messages.
    choice : Choice, optional
        The CI test chosen by ``auto``, and the reason.

    Examples
    --------
    >>> from blanketflow.selectors.causal.iamb import IAMB
    >>> search = Search(IAMB(alpha=0.01), get_ci_test("fisher-z"), folds=5)
    >>> Search.from_dict(search.as_dict()) == search
    True
    """

    method: Method
    test: CITest | Literal["auto"] | None = AUTO
    seed: int = DEFAULT_SEED
    folds: int = 0
    fold_rows: str = "train"
    aggregate: str | Mapping[str, float] = "best-blanket"
    limits: Limits = NO_LIMITS
    prior: PriorKnowledge = NOTHING
    max_rows: int | None = None
    missing: str = "error"
    imputations: int | None = None
    min_effect: float | None = None
    confirm: float | None = None
    confirm_splits: int = 1
    identity: tuple[str, ...] = ()
    where: str = field(default="search", compare=False)
    choice: Choice | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Raise `ParameterError` if options contradict each other."""
        check_rule(self.aggregate, self.where)
        if reason := why_no_splits(self.confirm, self.confirm_splits):
            raise ParameterError(f"{self.where}: {reason}")
        incomplete_rule(self.where, self.missing, self.imputations)

    @property
    def reason(self) -> str:
        """Reason for the CI test, if it was chosen by ``auto``."""
        return "" if self.choice is None else self.choice.reason

    @property
    def test_id(self) -> str | None:
        """The id of the CI test, with the options chosen by ``auto``."""
        if self.choice is not None:
            return self.choice.test_id
        return self.test.card.id if isinstance(self.test, CITest) else self.test

    def as_dict(self) -> dict[str, Any]:
        """Return the search as plain types for JSON.

        Returns
        -------
        dict
            Method, options, CI test and seed, and all other values that differ from their default.

        Raises
        ------
        ConfigError
            If an option is an object that JSON cannot represent, such as a fitted model.

        Examples
        --------
        >>> import blanketflow as bf
        >>> bf.IAMB(ci_test="fisher-z", max_tests=100).search().as_dict()["limits"]
        {'max_tests': 100}
        """
        said: dict[str, Any] = {"method": _name(self.method), "options": _options(self.method), "seed": self.seed}
        said["ci_test"] = self.test
        if isinstance(self.test, CITest):
            said["ci_test"] = {"type": _name(self.test), "options": _options(self.test)}
        limits = {"time_limit": self.limits.time_limit, "max_tests": self.limits.max_tests}
        given = {"limits": {key: value for key, value in limits.items() if value is not None}}
        given |= {"prior": self.prior.as_dict(), "identity": list(self.identity)}
        own = {key: getattr(self, key) for key, usual in _USUAL.items() if getattr(self, key) != usual}
        return {**said, **{key: value for key, value in given.items() if value}, **own}

    @classmethod
    def from_dict(cls, said: Mapping[str, Any], where: str = "search") -> Search:
        """Return the search from `as_dict` or from the spec of a job."""
        of_test = said.get("ci_test")
        test = get_ci_test(of_test["type"], **of_test["options"]) if isinstance(of_test, Mapping) else of_test
        own = {key: said.get(key, usual) for key, usual in _USUAL.items()}
        if isinstance(of_test, Mapping) and (rule := of_test.get("missing") or of_test.get(IMPUTATIONS)):
            own |= {"missing": "impute", "imputations": rule} if isinstance(rule, int) else {"missing": rule}
        own["identity"] = tuple(said.get("identity", ()))
        return cls(
            get_method(said["method"], where, dict(said["options"])),
            test,
            said["seed"],
            limits=Limits(**said.get("limits", {})),
            prior=PriorKnowledge.joined(said.get("prior", {})),
            where=where,
            **own,
        )

    def for_sample(self, sample: Sample) -> Search:
        """Return the search with ``auto`` replaced by the CI test for its smallest fold."""
        if self.test != AUTO:
            return self
        known, has_design = described(sample.features, sample.target), is_complex(sample.features.design)
        return self.with_test_for(known, min(self._folds(sample)[1]), sample.are_counted, has_design)

    def _folds(self, sample: Sample) -> tuple[list[tuple[str, np.ndarray]], list[int]]:
        """Return the rows of each fold, and how many of them the search uses."""
        identity = self.identity and (*self.identity, self.folds, "folds")
        seed = derive_seed(self.seed, *identity) if identity else self.seed
        folds = rows_of_folds(sample.target, self.folds, seed, self.fold_rows, sample.groups, self.where)
        is_searched = self._searched(sample, self.seed)
        return folds, [int(is_searched[rows].sum()) for _, rows in folds]

    def with_test_for(
        self,
        table: Described,
        n_rows: int,
        are_counted: bool = False,
        has_design: bool = False,
        why_not_spline: str = "",
    ) -> Search:
        """Return the search with the CI test for a table in place of ``auto``."""
        no_spline = why_no_spline(self.method.tests_sets(), self.min_effect) or why_not_spline
        of = OF_FOLD if self.folds else ""
        choice = choose_test(table, n_rows, of, are_counted, has_design, no_spline)
        return replace(self, test=choice.configured(), choice=choice)

    def suited(self, features: Table, are_counted: bool) -> Search:
        """Return the search with its test's rule for missing cells set.

        Raises `UnsupportedError` if the method or the test does not support the rows' weights, groups, strata or
        missing cells, and `ParameterError` if `max_rows` is set but the search needs all rows.
        """
        design, confirms = features.design, self.confirm is not None
        test = for_missing_cells(self.where, self.method, self.test, self.missing, self.imputations)
        if are_counted and (reason := why_no_weights(self.method, test, confirms)):
            raise UnsupportedError(f"{self.where}: {reason}. Repeat the rows, or choose another method or test.")
        if test is not None and test.knows_clusters and (design is None or design.clusters is None):
            raise UnsupportedError(
                f"{self.where}: permute of {test.card.id} needs groups. Give fit groups, or remove permute."
            )
        has_weights = design is not None and design.weights is not None
        if has_weights and (reason := why_no_sampling_weights(self.method, test, confirms)):
            raise UnsupportedError(f"{self.where}: {reason}. Choose another method or test.")
        if design is not None and design.within is not None and (reason := why_no_strata(self.method, test, confirms)):
            raise UnsupportedError(f"{self.where}: {reason}. Remove within, or choose another method.")
        if self.max_rows is not None and are_counted:
            raise UnsupportedError(f"{self.where}: rows that count several times are not sampled. Remove max_rows.")
        if self.max_rows is not None and not (test or self.method).card.takes_max_rows:
            of = self.method.card.id if test is None else f"{self.method.card.id} with {test.card.id}"
            raise ParameterError(f"{self.where}: {of} takes all rows, and never a sample of them. Remove max_rows.")
        return replace(self, test=test)

    def sample_of(self, table: Table) -> tuple[Table, str]:
        """Return the rows for the searches of all columns, and in words whether they are a sample.

        A sample of `max_rows` is not stratified. Missing cells are imputed unless tests support them.
        """
        rows = sampled(np.arange(table.n_rows), np.zeros(table.n_rows), self.max_rows, fold_seed(self.seed, "0"))
        said = ""
        if len(rows) < table.n_rows:
            said = f"{self.max_rows:,} of {table.n_rows:,} rows were taken (max_rows)"
            table = with_used_levels(table.take(rows))
        return filled(table, self.missing, self.test), said

    def run(self, X: Any, y: Any = None, *, tell: Teller = SILENT, n_jobs: int | None = 1, **of_rows: Any) -> Outcome:
        """Search a table.

        Parameters
        ----------
        X : Sample, DataFrame, ndarray or sparse matrix of shape (n, d)
            The rows as a `Sample`, or the features.
        y : array-like of shape (n,), optional
            The target, unless `X` is a `Sample`.
        tell : Teller
            Prints progress.
        n_jobs : int, optional
            Processes that share folds, or the work on the one set of rows; results do not depend on it.
        **of_rows
            ``sample_weight``, ``weights_are``, ``groups``, ``within`` and ``target_kind``, as in `fit` of the selector
            classes.

        Returns
        -------
        Outcome
            The result, with notes on rows, test and answer.

        Raises
        ------
        UnsupportedError, ParameterError, DataError
            If method, test and rows do not suit each other.
        LimitReached
            If a limit was reached and the method is not anytime.

        Examples
        --------
        >>> import blanketflow as bf
        >>> from sklearn.datasets import load_iris
        >>> outcome = bf.MRMR(n_features=1).search().run(*load_iris(return_X_y=True, as_frame=True))
        >>> outcome.features, outcome.status
        (['petal width (cm)'], 'ok')
        """
        sample = X if isinstance(X, Sample) else as_sample(self.where, X, y, self.missing, **of_rows)
        test = get_ci_test(OF_FURTHER_KINDS[0]) if self.test == AUTO else self.test
        if reason := why_no_target(self.method, test, sample.task):
            raise UnsupportedError(f"{self.where}: {reason}.")
        if not sample.features.has_rows:
            return self._of(sample, ["0"], [self._on_fold(sample, "0", tell, n_jobs)], {})
        target = sample.target
        if len(np.unique(target.values)) < 2:
            raise DataError("y has only one class or value. Give rows of at least two.")
        folds, n_rows = self._folds(sample)
        search = self.for_sample(sample).suited(sample.features, sample.are_counted)
        notes = {"sample": sample_told(n_rows[0], self.max_rows)}
        found, warned = search._on_folds(sample, folds, self.seed, tell, n_jobs)
        is_searched = self._searched(sample, self.seed)
        smallest = min((target.take(rows[is_searched[rows]]) for _, rows in folds), key=size_of)
        of = OF_FOLD if self.folds else ""
        outcome = search._of(sample, [fold for fold, _ in folds], found, notes, warned, smallest, of)
        return outcome if self.confirm is None else search._confirmed(outcome, sample, folds, tell, n_jobs)

    def _searched(self, sample: Sample, seed: int) -> np.ndarray:
        seed = derive_seed(seed, *self.identity) if self.identity else seed
        return searched_rows(sample.target.balanced_by, self.confirm, seed, sample.groups, self.where)

    def _on_folds(
        self, sample: Sample, folds: Sequence[tuple[str, np.ndarray]], seed: int, tell: Teller, n_jobs: int | None
    ) -> tuple[list[FoldOutcome], list[Counts]]:
        """Return the result of each fold, and the warnings of other packages."""
        from joblib import Parallel, delayed

        is_searched, search = self._searched(sample, seed), replace(self, seed=seed)
        within = n_jobs if len(folds) == 1 else 1
        found = Parallel(n_jobs=n_workers(self.where, n_jobs, len(folds)))(
            delayed(with_warnings)(
                search._on_fold,
                sample.take(
                    sampled(own, sample.target.balanced_by, self.max_rows, fold_seed(seed, *self.identity, fold))
                ),
                fold,
                tell.of(f"fold {fold}") if self.folds else tell,
                within,
            )
            for fold, own in ((fold, rows[is_searched[rows]]) for fold, rows in folds)
        )
        return [outcome for outcome, _ in found], [warned for _, warned in found]

    def _on_fold(self, sample: Sample, fold: str, tell: Teller, n_jobs: int | None) -> FoldOutcome:
        return self.on_rows(sample, fold_seed(self.seed, *self.identity, fold), tell, n_jobs)

    def on_rows(
        self,
        sample: Sample,
        seed: int,
        tell: Teller = SILENT,
        n_jobs: int | None = 1,
        finds_stand_ins: bool = True,
    ) -> FoldOutcome:
        """Return the result on the rows of one fold, with its seed."""
        has_rows = sample.features.has_rows
        decides = self.method if self.test is None else self.test
        outcome = run_fold(
            self.method,
            self.test,
            filled(sample.features, self.missing, self.test) if has_rows else sample.features,
            as_read(sample.target, decides.card),
            seed,
            self.limits,
            tell=tell,
            prior=self.prior,
            where=self.where,
            groups=sample.groups,
            min_effect=self.min_effect,
            n_jobs=n_workers(self.where, n_jobs, MANY),
            finds_stand_ins=finds_stand_ins,
            gaps=sample.gaps,
        )
        if why := why_repeats_mislead(self.method, self.test, sample.repeats):
            said = worst_status([(outcome.status, outcome.reason), ("unreliable", why)])
            outcome.status, outcome.reason = said
        return outcome

    def _of(
        self,
        sample: Sample,
        folds: Sequence[str],
        found: Sequence[FoldOutcome],
        notes: Mapping[str, str],
        warned: Sequence[Counts] = (),
        target: Column | None = None,
        of: str = "",
    ) -> Outcome:
        design = sample.features.design
        n_groups = None if design is None else design.n_clusters
        is_named = self.test is not None and self.choice is None and self.method.needs == "p-value"
        table = described(sample.features, sample.target) if is_named and target is not None else None
        said = {
            **{f"table {at}": note for at, note in enumerate(sample.notes)},
            "clipped": clipped_told(sample.target),
            "repeats": repeats_told(sample.repeats),
            **notes,
            **notes_on_p_values(
                self.method, self.test, self.min_effect, found[0].marginal, n_groups, target, of, table
            ),
        }
        combined = aggregate([outcome.members for outcome in found], self.aggregate)
        said["assumptions"] = found[combined.best or 0].doubts
        return Outcome(self, sample, list(folds), list(found), combined, said, list(warned))

    def _confirmed(
        self,
        outcome: Outcome,
        sample: Sample,
        folds: Sequence[tuple[str, np.ndarray]],
        tell: Teller,
        n_jobs: int | None,
    ) -> Outcome:
        """Return the outcome with each selected feature tested on rows that its search did not use."""
        of_features, by_split, doubts, all_warned = self.prior.feature_groups, [], [], outcome.warned
        for number in range(self.confirm_splits):
            seed, members = seed_of_split(self.seed, number), outcome.features
            if number:
                found, warned = self._on_folds(sample, folds, seed, tell, n_jobs)
                all_warned = all_warned + warned
                members, status, reason = selected_again(found, self.aggregate)
                if status != "ok":
                    doubts.append(f"the search of split {number + 1} of confirm_splits is {status}: {reason}")
            out = sample.take(np.flatnonzero(~self._searched(sample, seed)))
            rows = filled(out.features, self.missing), out.target
            own = fold_seed(seed, *self.identity, "0") if self.identity else seed
            by_split.append(confirm_members(*rows, members, own, out.groups, self.where, of_features))
        tested: Sequence[Confirmation] = by_split[0]
        if self.confirm_splits > 1:
            signed = are_signed(sample.features, sample.target, of_features)
            tested = combined(by_split, outcome.features, signed, of_features)
        return replace(outcome, confirmed=tested, doubts=doubts, warned=all_warned)


@dataclass(frozen=True)
class Outcome:
    """The result of a search in a table, with notes on rows, test and answer.

    Attributes
    ----------
    search : Search
        The search, with the CI test that was used.
    sample : Sample
        The rows.
    folds : list of str
        Ids of the folds.
    found : list of FoldOutcome
        The result of each fold's stages.
    combined : Aggregate
        The combined set of the folds.
    notes_by_kind : dict of str to str
        Notes on rows, test and answer, by subject; empty if there are none.
    warned : list of counts
        Warnings of other packages.
    confirmed : sequence of Confirmation
        Test of each selected feature on rows that the search did not use, with `confirm`.
    doubts : list of str
        Problems in the repeated searches of a confirmation.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = bf.IAMB(n_folds=3).search().run(X, y)
    >>> len(found.blankets), found.n_tests > 0
    (3, True)
    """

    search: Search
    sample: Sample
    folds: list[str]
    found: list[FoldOutcome]
    combined: Aggregate
    notes_by_kind: dict[str, str]
    warned: list[Counts] = field(default_factory=list)
    confirmed: Sequence[Confirmation] = ()
    doubts: list[str] = field(default_factory=list)

    @property
    def confirmed_columns(self) -> list[str]:
        """Names of what is told of each confirmed feature."""
        return result_columns(self.sample.target, self.search.confirm_splits)

    @property
    def confirmed_rows(self) -> list[dict[str, Any]]:
        """What is told of each confirmed feature, by `confirmed_columns`."""
        return [{name: getattr(one, name) for name in self.confirmed_columns} for one in self.confirmed]

    @property
    def notes(self) -> list[str]:
        """Notes on rows, test and answer."""
        return [*filter(None, self.notes_by_kind.values()), *self.doubts]

    @property
    def chosen(self) -> list[dict[str, Any]]:
        """The rows of `Aggregate` of the selected features, most important first."""
        return [feature for feature in self.combined.features if feature["chosen"]]

    @property
    def features(self) -> list[str]:
        """Names of the selected features, most important first."""
        return [feature["feature"] for feature in self.chosen]

    @property
    def stand_ins(self) -> dict[str, list[StandIn]]:
        """The features that can stand in for each selected one."""
        return {feature["feature"]: list(feature["stand_ins"]) for feature in self.chosen}

    @property
    def blankets(self) -> list[tuple[list[str], int]]:
        """The set of each fold, or all answers of a method with several, with how often each was found."""
        if len(self.found) == 1 and self.found[0].answers:
            return [(list(answer.features), answer.count) for answer in self.found[0].answers]
        return [(outcome.members.feature.tolist(), 1) for outcome in self.found]

    @property
    def winner(self) -> FoldOutcome | None:
        """The fold whose set is the answer; None if the combined set is that of no fold."""
        return None if self.combined.best is None else self.found[self.combined.best]

    @property
    def verdict(self) -> dict[str, Any]:
        """The method's own remark on its answer."""
        return {} if self.winner is None else self.winner.verdict

    @property
    def status(self) -> str:
        """``ok``, ``unreliable`` or ``timeout``: the most serious of all folds."""
        return self._worst[0]

    @property
    def reason(self) -> str:
        """Why the status is not ``ok``."""
        return self._worst[1]

    @property
    def _worst(self) -> tuple[str, str]:
        return worst_status([(outcome.status, outcome.reason) for outcome in self.found])

    @property
    def n_tests(self) -> int:
        """Number of CI tests computed."""
        return sum(outcome.n_tests for outcome in self.found)


def _name(configured: Configurable) -> str:
    """Return the id of a method or test of this package, else the path of its class."""
    if isinstance(configured, External):
        return configured.path
    kind = type(configured)
    is_own = kind.__module__.partition(".")[0] == __package__.partition(".")[0]
    return configured.card.id if is_own else f"{kind.__module__}:{kind.__qualname__}"


def _options(configured: Configurable) -> dict[str, Any]:
    options = dict(configured.options())
    for key, value in options.items():
        if not _is_plain(value):
            raise ConfigError(
                f"{configured.card.id}: {key} is an object of {type(value).__name__}, which JSON cannot say. Name it."
            )
    return options


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(inner) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float | bool)
