"""The Markov blanket of every column of a table, with each column in turn as the target."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from ..ci import get_ci_test
from ..ci.base import CITest
from ..ci.choice import AUTO, described
from ..core.column_checks import warn_of_number_texts
from ..core.convert import as_table
from ..core.errors import DataError, DependentRowsWarning, ParameterError, UnreliableWarning, UnsupportedError, shown
from ..core.limits import Limits
from ..core.messages import Teller
from ..core.prior import PriorKnowledge, as_texts
from ..core.registry import look_up
from ..core.table import is_complex
from ..data.arrow_frames import as_frame
from ..data.suspected_cells import warn_of_cells
from ..moves.steps import PARENT_OR_CHILD, SPOUSE, Step
from ..search.every_target import EveryTarget
from ..search.sample import Sample, check_complete, rows_at_hand, with_strata
from ..search.search import Search
from ..search.workers import n_workers
from ..selectors.base import Method
from ..selectors.compatibility import (
    check_choice,
    check_feature_groups,
    check_min_effect,
    check_pair,
    check_resolution,
    notes_on_p_values,
    why_repeats_mislead,
)
from .arguments import SHARED

if TYPE_CHECKING:
    import pandas as pd


#: Largest rows times squared columns for which splines are fast enough for the blankets of all columns.
MOST_CELLS_OF_ALL = 5_000_000


def blankets(
    X: Any,
    method: str | Method = "hiton-mb",
    ci_test: str | CITest | None = None,
    *,
    targets: Iterable[str] | None = None,
    exclude_targets: bool = False,
    random_state: int = 0,
    time_limit: float | None = None,
    max_tests: int | None = None,
    min_effect: float | None = None,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    tiers: Sequence[Sequence[str]] | None = None,
    feature_groups: Mapping[str, Sequence[str]] | None = None,
    sample_weight: Any = None,
    weights_are: Literal["counts", "sampling"] = "counts",
    groups: Any = None,
    within: Any = None,
    missing: Literal["error", "impute", "drop", "pairwise"] = "error",
    imputations: int | None = None,
    max_rows: int | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    **options: Any,
) -> Blankets:
    """Find the Markov blanket of every column.

    The test is bound once and caches its results for all targets, and searches for parents and children run once per
    column. The blankets are the same as in separate searches for each target with this test.

    Parameters
    ----------
    X : DataFrame, ndarray or sparse matrix of shape (n, d)
        Frames of pandas, polars or pyarrow. Text, boolean and categorical columns are discrete.
    method : str or Method
        Id of a causal method, or a configured method.
    ci_test : str, CITest or None
        Id of a test, or a configured test. None uses the method's default. ``auto``, the default of most methods, uses
        the fastest test that is calibrated for the columns and rows with each column as target.
    targets : iterable of str, optional
        Columns whose blankets are searched; by default all that are in no group of `feature_groups`.
    exclude_targets : bool, default=False
        Whether each search leaves out the other `targets`, as if the table did not have them (they become latent).
    random_state : int, default=0
        Seed of methods and tests that draw random numbers.
    time_limit, max_tests : optional
        Seconds and CI tests allowed for growing on one target, and the same for shrinking. At a limit the status of the
        target is ``timeout``, and only anytime methods return a blanket.
    min_effect : float, optional
        Smallest effect that counts as dependence, in the unit on the card of the test.
    include, exclude : list of str, optional
        Columns forced into each blanket but their own, and columns left out of all; ``prefix*`` matches a prefix.
    tiers : list of lists of str, optional
        Columns by time of measurement, earliest first; a column is no parent of one in an earlier tier.
    feature_groups : dict of str to list of str, optional
        Columns that are selected together or not at all, by the name of their group.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    weights_are : {"counts", "sampling"}, default="counts"
        Whether weights are numbers of equal rows or sampling weights.
    groups : array-like of shape (n,), optional
        Labels of rows that belong together, such as patients, for tests that support clusters.
    within : array-like of shape (n,), optional
        Labels of strata, such as sites, within which CI tests are computed.
    missing : {"error", "impute", "drop", "pairwise"}, default="error"
        Missing cells raise an error, are imputed (median or most frequent label), or their rows are dropped. With
        "pairwise" each CI test uses the rows that are complete in its columns.
    imputations : int, optional
        Imputed copies of the table, at least 2, over which CI tests are pooled; needs ``missing="impute"``.
    max_rows : int, optional
        Most rows, at least 10, for tests that fit models or compare pairs of rows (such as ``ppi`` and ``spline``).
        Larger tables are sampled, once for all targets and so without stratification.
    n_jobs : int, optional
        Processes that share the targets, at most one per core; -1 uses all cores, None is 1. Without limits, blankets
        do not depend on it. Nor does `n_tests`, as long as results are cached: up to two million.
    verbose : int, default=0
        Messages on stderr: 0 none, 1 a line per target, 2 also one per step.
    **options
        Options of the method, such as ``alpha`` and ``max_k``.

    Returns
    -------
    Blankets
        The blankets by target, and the graph that they form.

    Raises
    ------
    UnsupportedError
        If the method has no CI test, or method or test do not support a column or the rows.
    ParameterError, UnknownNameError
        If a name or an option is wrong.
    DataError
        If the table has fewer than two columns, or incomplete ones.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data
    >>> found = bf.blankets(X, method="iamb", ci_test="fisher-z", alpha=0.01)
    >>> found["petal width (cm)"][0]
    'petal length (cm)'
    >>> found.graph().columns.tolist()
    ['x', 'y', 'kind']
    """
    from .frames import own_names

    if "target_kind" in options or isinstance(targets, Mapping):
        raise ParameterError(
            "blankets: its targets are columns of classes or numbers. For a target of a further kind, or of joint "
            "labels, use fit, such as bf.HITONMB().fit, or bf.compare."
        )
    configured = _configured_method(method, options)
    prior = {"include": include, "exclude": exclude, "tiers": tiers, "feature_groups": feature_groups}
    prior = {key: as_texts(value) for key, value in prior.items()}
    asked = {"verbose": verbose, "missing": missing, "weights_are": weights_are, "max_rows": max_rows, **prior}
    for name, value in asked.items():
        SHARED[name].check("blankets", name, value)
    X = as_frame(X)
    table = as_table(X)
    warn_of_number_texts("blankets", X, table, told=warn_of_cells("blankets", X, table))
    check_complete(table, missing)
    if len(table) < 2:
        raise DataError("blankets needs a table of at least two columns.")
    table, _ = with_strata("blankets", table, table[0], within)
    of_rows = (sample_weight, groups, weights_are)
    table, _, together, are_counted = rows_at_hand("blankets", table, table[0], *of_rows, missing == "drop")
    search = Search(
        configured,
        _test_asked(configured, ci_test),
        random_state,
        limits=Limits(time_limit, max_tests),
        prior=PriorKnowledge.joined(prior),
        max_rows=max_rows,
        missing=missing,
        imputations=imputations,
        min_effect=min_effect,
        where="blankets",
    )
    is_long = table.n_rows * len(table) ** 2 > MOST_CELLS_OF_ALL
    if search.test == AUTO:
        why_not = "spline takes long for all columns" if is_long else ""
        has_design = is_complex(table.design)
        search = search.with_test_for(described(table, None), table.n_rows, are_counted, has_design, why_not)
    check_pair(configured, search.test)
    search = search.suited(table, are_counted)
    n_groups = None if table.design is None else table.design.n_clusters
    if doubt := notes_on_p_values(configured, search.test, min_effect, None, n_groups)["groups"]:
        warnings.warn(f"blankets: {doubt}.", DependentRowsWarning, stacklevel=2)
    repeats = Sample(table, table[0], "", together, are_counted).repeats
    if doubt := why_repeats_mislead(configured, search.test, repeats):
        warnings.warn(f"blankets: the answers are unreliable: {doubt}.", UnreliableWarning, stacklevel=2)
    test = search.test
    table, sample = search.sample_of(table)
    check_min_effect("blankets", configured, test, min_effect)
    own = own_names(X)
    ordered = table.in_order_of_names()
    known = search.prior.of(ordered.names, "blankets", table.names[0])
    in_groups = {column: group for group, columns in known.feature_groups.items() for column in columns}
    check_feature_groups("blankets", configured, test, known.feature_groups, min_effect)
    wanted = list(map(str, targets)) if targets is not None else [n for n in table.names if n not in in_groups]
    for target in wanted:
        table.position(target)  # refused before anything is searched
        if target in in_groups:
            raise ParameterError(
                f"blankets: the target {shown(target)} is in the feature group {shown(in_groups[target])}. Take it out "
                "of the group, or name other targets."
            )
    if exclude_targets and (both := [name for name in known.included if name in wanted]):
        raise ParameterError(
            f"blankets: include names the target {shown(both[0])}, which exclude_targets leaves out. Remove one."
        )
    latent = {*known.excluded, *(wanted if exclude_targets else ())}
    n_features = min((len({*table.names} - {*latent, target}) for target in wanted), default=1)
    if not n_features:
        raise ParameterError(
            "blankets: exclude and exclude_targets leave no column to search among. Name fewer columns or targets."
        )
    check_resolution(configured, test, n_features)
    searched = EveryTarget(search, ordered, frozenset(latent), known, Teller(verbose, "blankets"), doubt)
    (found, statuses), n_tests = searched.dealt(wanted, n_workers("blankets", n_jobs, len(wanted)))
    return Blankets(
        {own.get(name, name): [_renamed(step, own) for step in found[name]] for name in wanted if name in found},
        {own.get(name, name): statuses[name] for name in wanted},
        n_tests,
        [own.get(name, name) for name in table.names],
        sample,
    )


def _renamed(step: Step, own: dict[str, Any]) -> Step:
    """Return a step with the column names of the caller's frame, which may be integers."""
    given = None if step.given is None else tuple(own.get(name, name) for name in step.given)
    return replace(step, feature=own.get(step.feature, step.feature), given=given)


def _configured_method(method: str | Method, options: dict[str, Any]) -> Method:
    if isinstance(method, Method):
        if options:
            raise ParameterError(f"blankets: give options ({', '.join(options)}) to the method itself.")
        configured = method
    else:
        configured = look_up("blanketflow.selectors", method, "method").from_options("blankets", options)
    if configured.default_test is None:
        raise UnsupportedError(f"blankets: {configured.card.id} uses no CI test. Choose a causal method.")
    return configured


def _test_asked(method: Method, ci_test: str | CITest | None) -> CITest | Literal["auto"]:
    wanted = method.default_test if ci_test is None else ci_test
    if isinstance(wanted, CITest):
        return wanted
    if wanted == AUTO:
        check_choice(method)
        return AUTO
    return get_ci_test(str(wanted), **(method.default_test_options if wanted == method.default_test else {}))


@dataclass(repr=False)
class Blankets:
    """The result of `blankets`.

    Attributes
    ----------
    found : dict of str to list of Step
        Members of each blanket with role and test, most important first; without targets that failed at a limit.
    statuses : dict of str to (str, str)
        Status (``ok``, ``unreliable`` or ``timeout``) and reason of each target.
    n_tests : int
        Different CI tests computed for all targets together.
    columns : list of str
        Column names in table order.
    sample : str
        Sample size and number of rows if `max_rows` was exceeded; else empty.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> found = bf.blankets(load_iris(as_frame=True).data, method="mmpc", ci_test="fisher-z")
    >>> len(found), found.statuses["sepal width (cm)"]
    (4, ('ok', ''))
    """

    found: dict[str, list[Step]]
    statuses: dict[str, tuple[str, str]]
    n_tests: int
    columns: list[str] = field(repr=False)
    sample: str = ""

    def __getitem__(self, target: str) -> list[str]:
        """Return the names of a target's blanket, most important first."""
        return [step.feature for step in self.found[target]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __repr__(self) -> str:
        from .notebook import blankets_text

        return blankets_text(self)

    def _repr_html_(self) -> str:
        from .notebook import blankets_html

        return blankets_html(self)

    def to_dict(self) -> dict[str, list[str]]:
        """Return the members of each target's blanket.

        Returns
        -------
        dict of str to list of str
            Names by target, most important first.

        Examples
        --------
        >>> Blankets({"a": [Step("b")]}, {"a": ("ok", "")}, 1, ["a", "b"]).to_dict()
        {'a': ['b']}
        """
        return {target: self[target] for target in self.found}

    def union(self) -> list[str]:
        """Return the columns in the blanket of at least one target.

        Returns
        -------
        list of str
            Names in the order of the targets, and by importance within a target.

        Examples
        --------
        >>> found = {"a": [Step("x"), Step("y")], "b": [Step("z"), Step("x")]}
        >>> Blankets(found, {}, 2, ["a", "b", "x", "y", "z"]).union()
        ['x', 'y', 'z']
        """
        return list(dict.fromkeys(step.feature for steps in self.found.values() for step in steps))

    def frame(self) -> pd.DataFrame:
        """Return the members of all blankets as a table.

        Returns
        -------
        DataFrame
            One row per target and member: target, feature, rank (from 1), role, importance, statistic, p_value.

        Examples
        --------
        >>> found = Blankets({"a": [Step("b")]}, {"a": ("ok", "")}, 1, ["a", "b"])
        >>> found.frame()[["target", "feature", "rank"]].values.tolist()
        [['a', 'b', 1]]
        """
        import pandas as pd

        rows = [
            (target, step.feature, rank, step.role, step.importance, step.statistic, step.p_value)
            for target, steps in self.found.items()
            for rank, step in enumerate(steps, start=1)
        ]
        names = ["target", "feature", "rank", "role", "importance", "statistic", "p_value"]
        return pd.DataFrame(rows, columns=names)

    def graph(self, symmetry: str = "and") -> pd.DataFrame:
        """Return the graph of the blankets: one row per edge, with columns `x`, `y` and `kind`.

        Parameters
        ----------
        symmetry : {"and", "or"}
            Whether an edge needs each column in the other's blanket, or only one of them.

        Returns
        -------
        DataFrame
            `kind` is ``neighbours`` if one blanket has the other column as parent or child, ``spouses`` if both have it
            only as a spouse, else ``members``: the method reports no roles. `x` precedes `y` in the table.
            ``networkx.from_pandas_edgelist(edges, "x", "y", edge_attr=True)`` makes a graph of it.

        Raises
        ------
        ParameterError
            If `symmetry` is something else.

        Examples
        --------
        >>> found = Blankets({"a": [Step("b")]}, {"a": ("ok", "")}, 1, ["a", "b"])
        >>> found.graph("or").values.tolist()
        [['a', 'b', 'members']]
        """
        import pandas as pd

        if symmetry not in ("and", "or"):
            raise ParameterError(f"graph: symmetry is {symmetry!r}, but must be 'and' or 'or'.")
        roles = {(target, step.feature): step.role for target, steps in self.found.items() for step in steps}
        edges = []
        for i, x in enumerate(self.columns):
            for y in self.columns[i + 1 :]:
                seen = {roles.get((x, y)), roles.get((y, x))} - {None}
                is_edge = (x, y) in roles and (y, x) in roles if symmetry == "and" else bool(seen)
                if is_edge:
                    kind = "neighbours" if PARENT_OR_CHILD in seen else "spouses" if seen == {SPOUSE} else "members"
                    edges.append((x, y, kind))
        return pd.DataFrame(edges, columns=["x", "y", "kind"])
