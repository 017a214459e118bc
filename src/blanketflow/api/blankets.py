"""The Markov blanket of every column of a table, each column in turn as the target, and the graph that they form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from joblib import Parallel, delayed

from ..ci import get_ci_test
from ..ci.base import BoundTest, CITest
from ..ci.choice import AUTO, choose_test, described
from ..core.convert import as_table
from ..core.counted_warnings import say_once, with_warnings
from ..core.errors import DataError, ParameterError, UnsupportedError
from ..core.limits import LimitReached, Limits
from ..core.prior import PriorKnowledge, as_texts
from ..core.progress_lines import SILENT, STEPS, Teller
from ..core.registry import look_up
from ..core.table import Table
from ..data.frames import as_frame
from ..search.steps import PARENT_OR_CHILD, SPOUSE, Step
from ..search.tiers import Tiers
from ..selectors.base import Method, Problem, members
from ..selectors.min_effect import check_min_effect
from ..selectors.missing_cells import for_missing_cells
from ..selectors.run_fold import check_choice, check_pair, check_resolution, fold_seed, run_problem
from ..workflow.worker_count import n_workers
from .arguments import SHARED
from .rows_at_hand import check_complete, complete_rows, filled

if TYPE_CHECKING:
    import pandas as pd


@dataclass(repr=False)
class Blankets:
    """The blankets that `blankets` found.

    Attributes
    ----------
    found : dict of str to list of Step
        For each target the members of its blanket, most important first, each with role and test. Targets whose search
        failed at a limit are not in it.
    statuses : dict of str to (str, str)
        Status and reason of each target: ``ok``, ``unreliable`` or ``timeout``.
    n_tests : int
        CI tests computed for all targets together.
    columns : list of str
        Names of the table's columns, in table order.

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

    def __getitem__(self, target: str) -> list[str]:
        """Return the names of a target's blanket, most important first."""
        return [step.feature for step in self.found[target]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __repr__(self) -> str:
        from .shown import blankets_text

        return blankets_text(self)

    def _repr_html_(self) -> str:
        from .shown import blankets_html

        return blankets_html(self)

    def to_dict(self) -> dict[str, list[str]]:
        """Return the names of each target's blanket.

        Returns
        -------
        dict of str to list of str
            By target, most important first.

        Examples
        --------
        >>> Blankets({"a": [Step("b")]}, {"a": ("ok", "")}, 1, ["a", "b"]).to_dict()
        {'a': ['b']}
        """
        return {target: self[target] for target in self.found}

    def union(self) -> list[str]:
        """Return the columns that are in the blanket of at least one target.

        Returns
        -------
        list of str
            Those of the first target first, and most important first within a target.

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
            `kind` is ``neighbours`` if a blanket has the other as parent or child, ``spouses`` if both have it only as
            a spouse, else ``members``: the method does not report roles. `x` stands before `y` in the table.
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
    tiers: Sequence[Sequence[str]] | None = None,
    missing: Literal["error", "impute", "drop", "pairwise"] = "error",
    imputations: int | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    **options: Any,
) -> Blankets:
    """Find the Markov blanket of every column.

    The test is bound once and remembers its answers for all targets. Searches for parents and children are made once
    per column. Neither changes a result: each blanket is what the method finds for that target alone by this test.

    Parameters
    ----------
    X : DataFrame, ndarray or sparse matrix of shape (n, d)
        Of pandas, polars or pyarrow. Text, boolean and categorical columns are discrete. Cells may be missing if
        `missing` says what becomes of them.
    method : str or Method
        A causal method's id, or a configured method.
    ci_test : str, CITest or None
        A test's id, or a configured test; None for the method's own; ``auto``, which most methods have, for the fastest
        that is calibrated for the table's columns and rows, with each column as target.
    targets : iterable of str, optional
        Columns to find the blankets of; all by default.
    exclude_targets : bool, default=False
        Whether the searches for one of `targets` leave out the others, which then are latent: each blanket is that of a
        table without them.
    random_state : int, default=0
        Seed of methods and tests that draw random numbers.
    time_limit, max_tests : optional
        Seconds, and CI tests, that growing may spend on one target, and shrinking likewise. A target that reaches a
        limit has status ``timeout``; it has a blanket only if the method is anytime.
    min_effect : float, optional
        Smallest effect that counts as a dependence, in the unit that the card of the test says.
    tiers : list of lists of str, optional
        Columns by when they were measured, the earliest first: what is later is no parent of what is earlier.
    missing : {"error", "impute", "drop", "pairwise"}, default="error"
        What becomes of missing cells: refused, imputed (median, or most frequent label), or their rows dropped;
        pairwise: each CI test uses the rows that are complete for its columns.
    imputations : int, optional
        Imputed copies of the table, at least 2, over which every CI test is pooled; with ``missing="impute"``.
    n_jobs : int, optional
        Processes that share the targets, at most one per core; -1 uses all cores, None is 1. Blankets do not depend on
        it. `n_tests` does, because processes do not share answers.
    verbose : int, default=0
        What is said on stderr: 0 nothing, 1 a line per target, 2 one per step too.
    **options
        Options of the method, such as ``alpha`` and ``max_k``.

    Returns
    -------
    Blankets
        By target, with the graph that they form.

    Raises
    ------
    UnsupportedError
        If the method has no CI test, or the test cannot take a column.
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

    configured = _configured_method(method, options)
    for name, value in (("verbose", verbose), ("missing", missing), ("tiers", as_texts(tiers))):
        SHARED[name].check("blankets", name, value)
    X = as_frame(X)
    table = as_table(X)
    check_complete(table, missing)
    if missing == "drop":
        table = complete_rows("blankets", table)
    test = _configured_test(configured, ci_test, table)
    check_pair(configured, test)
    test = for_missing_cells("blankets", configured, test, missing, imputations)
    table = filled(table, missing, test)
    check_min_effect("blankets", configured, test, min_effect)
    if len(table) < 2:
        raise DataError("blankets needs a table of at least two columns.")
    own = own_names(X)
    wanted = list(table.names if targets is None else map(str, targets))
    for target in wanted:
        table.position(target)  # refused before anything is searched
    latent = set(wanted) if exclude_targets else set()
    n_features = len(table) - max(1, len(latent))
    if not n_features:
        raise ParameterError("blankets: exclude_targets leaves no column to search among. Name fewer targets.")
    check_resolution(configured, test, n_features)
    n = n_workers("blankets", n_jobs, len(wanted))
    limits = Limits(time_limit, max_tests)
    tell, known = Teller(verbose, "blankets"), PriorKnowledge.joined({"tiers": as_texts(tiers)})
    tiers_of = known.of(table.names[1:], "blankets", table.names[0]).tiers
    search = _Search(
        configured, test, table, random_state, limits, tell, min_effect or 0.0, frozenset(latent), tiers_of
    )
    parts = Parallel(n_jobs=n)(delayed(with_warnings)(search.of, wanted[part::n]) for part in range(n))
    say_once("blankets", *(warned for _, warned in parts))
    found = {target: steps for (members, _, _), _ in parts for target, steps in members.items()}
    statuses = {target: status for (_, own, _), _ in parts for target, status in own.items()}
    return Blankets(
        {own.get(name, name): [_renamed(step, own) for step in found[name]] for name in wanted if name in found},
        {own.get(name, name): statuses[name] for name in wanted},
        sum(n_tests for (_, _, n_tests), _ in parts),
        [own.get(name, name) for name in table.names],
    )


def _renamed(step: Step, own: dict[str, Any]) -> Step:
    """Return a step whose columns have the names of the caller's frame, which may be whole numbers."""
    given = None if step.given is None else tuple(own.get(name, name) for name in step.given)
    return replace(step, feature=own.get(step.feature, step.feature), given=given)


@dataclass(frozen=True)
class _Search:
    """The search for the blankets of some targets, by one bound test."""

    method: Method
    test: CITest
    table: Table
    seed: int
    limits: Limits
    tell: Teller
    min_effect: float
    latent: frozenset[str]
    tiers: Tiers

    def of(self, targets: list[str]) -> tuple[dict[str, list[Step]], dict[str, tuple[str, str]], int]:
        """Return the blankets, the statuses and the number of tests."""
        bound = self.test.bind(self.table, seed=self.seed)
        bound.require(self.min_effect)
        found: dict[str, list[Step]] = {}
        statuses: dict[str, tuple[str, str]] = {}
        shared: dict[Any, Any] = {}
        for target in targets:
            features = [name for name in self.table.names if name != target and name not in self.latent]
            problem = _problem(bound, features, target, fold_seed(self.seed, "0"), self.limits, shared)
            problem.tiers = self.tiers
            problem.tell = self.tell.of(target) if self.tell.says(STEPS) else SILENT
            try:
                outcome = run_problem(self.method, problem)
            except LimitReached as limit:
                statuses[target] = ("timeout", str(limit))
            else:
                found[target] = members(outcome.decisions)
                statuses[target] = (outcome.status, outcome.reason)
            self.tell(f"{target}: {len(found.get(target, []))} in its blanket, {statuses[target][0]}")
        return found, statuses, bound.n_tests


def _problem(
    bound: BoundTest, features: list[str], target: str, seed: int, limits: Limits, shared: dict[Any, Any]
) -> Problem:
    bound.allowance = None  # the marginal tests do not count as part of a search
    marginal = bound.test_many(features, target)
    problem = Problem(features, target, marginal, seed, lambda: bound.table, lambda _: bound, limits, shared)
    problem.min_effect = bound.min_effect
    if doubts := bound.test_config.doubts(bound.table, target, marginal):
        problem.say("unreliable", doubts)
    return problem


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


def _configured_test(method: Method, ci_test: str | CITest | None, table: Table) -> CITest:
    if isinstance(ci_test, CITest):
        return ci_test
    wanted = method.default_test if ci_test is None else ci_test
    if wanted == AUTO:
        check_choice(method)
        return choose_test(described(table, None), table.n_rows).configured()
    return get_ci_test(wanted, **(method.default_test_options if wanted == method.default_test else {}))
