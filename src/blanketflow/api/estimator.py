"""Base of the scikit-learn selector classes: common parameters, `fit`, and fitted attributes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, dataclass_transform

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..ci import get_ci_test
from ..ci.base import CITest
from ..ci.choice import AUTO
from ..core.column_checks import warn_of_row_order
from ..core.errors import DependentRowsWarning, ParameterError, UnreliableWarning
from ..core.limits import Limits
from ..core.messages import Teller, say_once
from ..core.prior import KEYS, PriorKnowledge, as_texts, in_order_of_groups
from ..core.results import StandIn
from ..core.seeds import seed_of
from ..core.task import asked_task, infer_task, target_column
from ..data.arrow_frames import is_arrow_table
from ..data.column_roles import RawTable
from ..data.columns import gaps
from ..search.aggregate import check_rule
from ..search.sample import Sample, rows_at_hand, with_strata
from ..search.search import Outcome, Search
from ..selectors.base import Method
from ..selectors.compatibility import check_choice, check_pair
from .arguments import SHARED, docstring, initialiser, own_arguments, sections, shared_arguments
from .frames import (
    confirmation_frame,
    discoveries_frame,
    findings_told,
    plain,
    selected_columns,
    table_and_target,
    trace,
    with_own_names,
)

if TYPE_CHECKING:
    import pandas as pd

MYPY = False  # which mypy takes as True
if MYPY:

    class BaseEstimator:
        """scikit-learn has no types; mypy would accept all arguments of a class with an unknown base."""

        def __getattr__(self, name: str) -> Any: ...

    class SelectorMixin: ...  # noqa: D101
else:
    from sklearn.base import BaseEstimator
    from sklearn.feature_selection import SelectorMixin


# Type checkers and editors derive the signature of a selector class from the annotated fields of the class and of
# MarkovBlanketSelector. Annotations of the class that has the decorator are not fields.
@dataclass_transform(kw_only_default=True, eq_default=False)
class _Fitted:
    """The attributes set by `fit`."""

    selected_features_: list[str]
    roles_: dict[str, str]
    blankets_: list[list[str]]
    blanket_counts_: list[int]
    groups_: dict[str, str]
    feature_groups_: dict[str, list[str]]
    status_: str
    reason_: str
    notes_: list[str]
    sample_: str
    ci_test_: CITest | None
    ci_test_reason_: str
    caution_: str
    importances_: dict[str, float]
    frequencies_: dict[str, float]
    stand_ins_: dict[str, list[StandIn]]
    candidates_: list[str]
    confirmed_: pd.DataFrame
    discoveries_: pd.DataFrame
    trace_: pd.DataFrame
    n_tests_: int
    verdict_: dict[str, Any]
    task_: str
    n_features_in_: int
    feature_names_in_: np.ndarray


class MarkovBlanketSelector(_Fitted, SelectorMixin, BaseEstimator):
    """Base of all selector classes.

    Attributes
    ----------
    selected_features_ : list of str
        Names, most important first.
    roles_ : dict of str to str
        Role of each selected feature: ``parent_or_child``, or ``parent`` or ``child`` where `tiers` decide; ``spouse``,
        ``member``, or ``included`` for a feature that only `include` added.
    blankets_ : list of list of str
        The selected features; all Markov blankets for methods that find several; one per fold if ``n_folds > 1``.
    blanket_counts_ : list of int
        How often each list of `blankets_` was found.
    groups_ : dict of str to str
        Group of each selected feature, for methods that form groups; else empty.
    feature_groups_ : dict of str to list of str
        Features of each selected group of `feature_groups`; they have the importance of the group.
    status_, reason_ : str
        ``ok`` (empty reason); ``timeout``: a partial result at a limit; ``unreliable``: the method doubts its result.
    notes_ : list of str
        Notes on rows, test and result.
    sample_ : str
        Sample size and number of rows if `max_rows` was exceeded; else empty.
    ci_test_ : CITest or None
        The CI test that was used; None for methods without one.
    ci_test_reason_ : str
        Why it was chosen, with ``ci_test="auto"``; else empty.
    caution_ : str
        Why the p-values that the method uses are no error rates, and how often they mislead; else empty.
    importances_ : dict of str to float
        Importance of each selected feature, comparable within one selector only.
    frequencies_ : dict of str to float
        Share of the folds, 0 to 1, that selected each feature or one that it can replace.
    stand_ins_ : dict of str to list of StandIn
        For each selected feature, others with at least 0.8 of its information about the target, in descending order:
        feature, share (0 to 1) and its 95 % interval (low, high). From 0.95 a feature can replace the selected one.
    candidates_ : list of str
        The result of grow, on the winning fold or the only one.
    confirmed_ : DataFrame
        With `confirm` one row per selected feature, tested given the others on rows left out of the search: feature,
        statistic, p_value, effect with 95 % interval (low, high), confirmed (by Holm at 0.05). Else no rows. With
        `confirm_splits` they combine all splits; member: whether it is selected, splits: how many tested it.
    discoveries_ : DataFrame
        For methods that control the false discovery rate at any level (`Knockoffs`), a row for each feature, the
        smallest level first: feature, q (the smallest level at which it is a discovery), n_features (number of
        discoveries at that level), and what the level was computed from. Else no rows.
    trace_ : DataFrame
        Each admission or removal: fold, stage, step, feature, kept, role, statistic, p_value, importance, given.
    n_tests_ : int
        Number of CI tests computed.
    verdict_ : dict
        Further results of the method; empty for most methods, and for a set combined from folds that no fold found.
    task_ : str
        Kind of the target: ``classification``, ``regression``, or that of `target_kind`.
    n_features_in_ : int
        Number of columns of `X`.
    feature_names_in_ : ndarray of str
        Their names, if `X` has names.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = bf.get_selector("mrmr", n_features=2).fit(X, y)
    >>> selector.transform(X).shape, selector.status_
    ((150, 2), 'ok')
    """

    method_class: ClassVar[type[Method]]
    n_folds: int = 0
    fold_rows: Literal["train", "part"] = "train"
    aggregate: str | Mapping[str, float] = "best-blanket"
    task: Literal["auto", "classification", "regression"] = "auto"
    target_kind: (
        Literal["auto", "classification", "regression", "survival", "count", "ordered", "share", "positive"] | str
    ) = "auto"
    random_state: int | np.random.RandomState | None = 0
    time_limit: float | None = None
    max_tests: int | None = None
    max_rows: int | None = None
    confirm: float | None = None
    confirm_splits: int = 1
    include: Sequence[str] | None = None
    exclude: Sequence[str] | None = None
    tiers: Sequence[Sequence[str]] | None = None
    feature_groups: Mapping[str, Sequence[str]] | None = None
    costs: Mapping[str, float] | None = None
    missing: Literal["error", "impute", "drop", "pairwise"] = "error"
    imputations: int | None = None
    weights_are: Literal["counts", "sampling"] = "counts"
    n_jobs: int | None = None
    verbose: int = 0

    def __init_subclass__(cls, **options: Any) -> None:
        """Add ``__init__`` and docstring to a class that names its method."""
        super().__init_subclass__(**options)
        if "method_class" in vars(cls):
            arguments = [*own_arguments(cls.method_class), *shared_arguments(vars(MarkovBlanketSelector))]
            cls.__init__ = initialiser(cls.__name__, arguments)
            attributes = sections(MarkovBlanketSelector)[1].get("Attributes", "")
            cls.__doc__ = docstring(cls.method_class, arguments, attributes)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, within: Any = None) -> Self:
        """Find the Markov blanket of `y`.

        Parameters
        ----------
        X : DataFrame, ndarray, sparse matrix or Table of shape (n, d)
            n rows, d features; frames of pandas, polars or pyarrow. `missing` says how missing cells are handled. Text,
            boolean and categorical columns are discrete. Object columns of numbers are numeric: `Decimal` and
            `Fraction` become the nearest floats, and integers beyond 2^53 are stored exactly, relative to the minimum
            of their column. Masked cells of numpy's masked arrays are missing. A sparse matrix stays sparse unless the
            method or test has to read all cells. Warnings name texts that look like numbers, and cells that may be
            missing or are below detection.
        y : array-like of shape (n,)
            The target, without missing cells. A survival target is a structured array of events (boolean) and times, a
            DataFrame of two columns, or a pair (time, event) of arrays; a count with exposure is a mapping or a
            DataFrame with the column ``exposure``. Joint labels are ``{"joint": table}`` of their columns.
        sample_weight : array-like of shape (n,), optional
            Number of equal rows that each row represents, integers from 0 on. The result is that of the repeated rows,
            which stay together; methods that draw single rows refuse weights. See `weights_are` for sampling weights.
        groups : array-like of shape (n,), optional
            Labels of rows that belong together, such as patients: they stay in one fold, and in one part wherever a
            method splits rows. A warning says if the test does not support groups, or if there are fewer than 40.
        within : array-like of shape (n,), optional
            Labels of strata, such as sites, within which CI tests are computed; they are no feature.

        Returns
        -------
        self : MarkovBlanketSelector
            The fitted selector.

        Raises
        ------
        ParameterError
            If a parameter is out of range.
        DataError, UnsupportedError
            If the table cannot be used: missing cells, dates, duplicate column names, text that is not Unicode, ...
        LimitReached
            If `time_limit` or `max_tests` was reached and the method is not anytime.

        Examples
        --------
        >>> import blanketflow as bf
        >>> bf.GS(ci_test="fisher-z").fit([[0.0, 1], [1, 0], [2, 2], [3, 1], [4, 0]], [0, 1, 2, 3, 4.5]).blankets_
        [['x0']]
        """
        name, search = type(self).__name__, self.search()
        warn_of_row_order(name, X, y=y, sample_weight=sample_weight, groups=groups, within=within)
        read = with_strata(name, *table_and_target(self, X, y), within)
        missing, drop = gaps(read[0]), self.missing == "drop"
        features, target, together, are_counted = rows_at_hand(
            name, *read, sample_weight, groups, self.weights_are, drop
        )
        task = infer_task(target, asked_task(name, self.task, self.target_kind))
        self.task_, target = task.name, target_column(target, task.name)
        looks = self.method_class.looks_at_table
        notes = findings_told(X, RawTable(features, target, task, together), search.prior) if looks else ()
        sample = Sample(features, target, self.task_, together, are_counted, missing, notes)
        found = search.run(sample, tell=Teller(self.verbose, name), n_jobs=self.n_jobs)
        return with_own_names(self._take(found), self._own_names)

    def search(self) -> Search:
        """Return the search defined by these parameters as a value.

        Returns
        -------
        Search
            Its CI test is ``auto`` if it is chosen for the table.

        Raises
        ------
        ParameterError
            If a parameter is out of range.

        Examples
        --------
        >>> import blanketflow as bf
        >>> bf.IAMB(alpha=0.01).search().method.alpha
        0.01
        """
        method, test = self.configured()
        return Search(
            method,
            test,
            seed_of(self.random_state),
            self.n_folds,
            self.fold_rows,
            self.aggregate,
            Limits(self.time_limit, self.max_tests),
            self._prior(),
            self.max_rows,
            self.missing,
            self.imputations,
            getattr(self, "min_effect", None),
            self.confirm,
            self.confirm_splits,
            where=type(self).__name__,
        )

    def configured(self) -> tuple[Method, CITest | Literal["auto"] | None]:
        """Return the method and its CI test with these parameters; raises `ParameterError` as `fit` does.

        The test is None if the method has none, and ``auto`` if it is chosen for the table.
        """
        where = type(self).__name__
        for name, parameter in SHARED.items():
            parameter.check(where, name, as_texts(getattr(self, name)) if name in KEYS else getattr(self, name))
        check_rule(self.aggregate, where)
        options = {name: getattr(self, name) for name in self.method_class.parameters()}
        method = self.method_class.from_options(where, options)
        if method.default_test is None:
            return method, None
        given = {name: value for name in method.test_shorthands if (value := getattr(self, name)) is not None}
        asked = method.default_test if self.ci_test is None else self.ci_test
        if isinstance(asked, CITest):
            test = type(asked)(**{**asked.options(), **given})
        elif asked == AUTO:
            check_choice(method)
            if given:
                raise ParameterError(
                    f"{where}: {next(iter(given))} is an option of {method.default_test}. Set ci_test to it."
                )
            return method, AUTO
        elif isinstance(asked, str):
            own = method.default_test_options if asked == method.default_test else {}
            test = get_ci_test(asked, **{**own, **given})
        else:
            raise ParameterError(f"{where}: ci_test is {self.ci_test!r}, but must be an id or a test of get_ci_test.")
        check_pair(method, test)
        return method, test

    def _prior(self) -> PriorKnowledge:
        """Return the prior knowledge of features by their names in a `Table`."""
        return PriorKnowledge.joined({key: as_texts(getattr(self, key)) for key in KEYS})

    def _take(self, outcome: Outcome) -> Self:
        """Set the fitted attributes, and issue the warnings of an outcome."""
        chosen, name, said = outcome.chosen, type(self).__name__, outcome.notes_by_kind
        self.selected_features_ = outcome.features
        self.roles_ = {feature["feature"]: feature["role"] for feature in chosen}
        self.importances_ = {feature["feature"]: feature["importance"] for feature in chosen}
        self.frequencies_ = {feature["feature"]: feature["frequency"] for feature in outcome.combined.features}
        self.stand_ins_ = outcome.stand_ins
        self.groups_ = {feature["feature"]: feature["group"] for feature in chosen if feature["group"]}
        self.feature_groups_ = in_order_of_groups(self.selected_features_, outcome.search.prior.feature_groups)
        self.blankets_ = [blanket for blanket, _ in outcome.blankets]
        self.blanket_counts_ = [count for _, count in outcome.blankets]
        self.candidates_ = (outcome.winner or outcome.found[0]).candidates.feature.tolist()
        self.verdict_, self.n_tests_ = outcome.verdict, outcome.n_tests
        self.status_, self.reason_, self.notes_ = outcome.status, outcome.reason, outcome.notes
        self.ci_test_, self.ci_test_reason_ = outcome.search.test, outcome.search.reason
        self.sample_, self.caution_ = said.get("sample", ""), said["misleading"]
        self.trace_ = trace(outcome.folds, outcome.found)
        self.confirmed_, self.discoveries_ = confirmation_frame(outcome), discoveries_frame(self.verdict_)
        if doubt := said.get("groups"):
            warnings.warn(f"{name}: {doubt}.", DependentRowsWarning, stacklevel=3)
        say_once(name, *outcome.warned, stacklevel=3)
        for doubt in filter(None, [said["few"], said["assumptions"], *outcome.doubts]):
            warnings.warn(f"{name}: {doubt}.", UnreliableWarning, stacklevel=3)
        if self.status_ == "unreliable":
            warnings.warn(f"{name}: the answer is unreliable: {self.reason_}.", UnreliableWarning, stacklevel=3)
        return self

    def transform(self, X: Any) -> Any:
        """Keep the selected columns.

        Parameters
        ----------
        X : DataFrame, ndarray or sparse matrix of shape (n, d)
            The same columns as in `fit`.

        Returns
        -------
        DataFrame, ndarray or sparse matrix of shape (n, k)
            The k selected columns in the order of `X`. Unless ``set_output`` says otherwise, a table of polars or
            pyarrow keeps its type and a DataFrame of pandas becomes an array, as usual in scikit-learn.

        Examples
        --------
        >>> import blanketflow as bf
        >>> import pyarrow as pa
        >>> X = pa.table({"a": [1.0, 2, 3, 4, 5], "b": [1.5, 0, 2, 1, 0]})
        >>> bf.MIM(n_features=1, ci_test="fisher-z").fit(X, [1.0, 2, 3, 4, 5.5]).transform(X).column_names
        ['a']
        """
        return selected_columns(self, X) if is_arrow_table(X) else super().transform(plain(self, X))

    def plot(self, paths: bool = False) -> Any:
        """Draw the importance of each selected feature as a bar in the colour of its role.

        Parameters
        ----------
        paths : bool, default=False
            Draw stability paths (`StabilitySelection`, `IPSS`): the share of halves that select a feature, by the
            number of features selected.

        Returns
        -------
        altair.Chart
            A chart, which a notebook shows and ``chart.save("blanket.svg")`` writes.

        Raises
        ------
        NotFittedError
            If `fit` was not called.
        ParameterError
            If `paths` is set for another method.

        Examples
        --------
        >>> import blanketflow as bf
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> bf.MRMR(n_features=2).fit(X, y).plot().to_dict()["mark"]
        {'type': 'bar'}
        """
        import pandas as pd

        from ..core.errors import ParameterError
        from ..reporting.plots import blanket_bars, stability_paths
        from .notebook import FEATURE_COLUMNS, features_of

        check_is_fitted(self, "selected_features_")
        if paths:
            if not self.verdict_.get("paths"):
                name = type(self).__name__
                raise ParameterError(f"{name}: only StabilitySelection and IPSS have paths. Leave paths out.")
            return stability_paths(self.verdict_["paths"], self.selected_features_)
        return blanket_bars(pd.DataFrame(features_of(self), columns=FEATURE_COLUMNS))

    # scikit-learn's diagram with the result below it once fitted; neither with set_config(display="text").
    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._found_html()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**options)
        return bundle | {"text/html": bundle["text/html"] + self._found_html()} if "text/html" in bundle else bundle

    def _found_html(self) -> str:
        from .notebook import selector_html

        return selector_html(self) if hasattr(self, "selected_features_") else ""

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "selected_features_")
        chosen = set(map(str, self.selected_features_))
        return np.array([name in chosen for name in self._table_names], dtype=bool)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = tags.input_tags.categorical = tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags
