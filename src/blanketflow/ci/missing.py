"""Tests on missing cells: test-wise deletion (`missing: pairwise`) and multiple imputation (`imputations: 5`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL, IMPUTATIONS, INTEGER, PAIRWISE
from ..core.errors import DataError, ParameterError, UnsupportedError
from ..core.parameters import Parameter
from ..core.results import CIResults
from ..core.seeds import derive_rng
from ..core.table import FEW_VALUES, Column, Table, is_complex
from .engines import Candidate, Chance, Engine, columns_of, constant_results
from .unbound import UnboundTest

#: Fewest complete rows for a test.
FEWEST_ROWS = 2


class PairwiseEngine:
    """Computes each result on the rows where no column of the query is missing.

    Bins, levels and `n` are those of these rows. Candidates with the same complete rows share an engine.
    """

    def __init__(self, test: UnboundTest, table: Table, seed: int, target: int | None) -> None:
        if target is not None and table[target].n_missing():
            raise DataError(f"the target {table[target].name!r} has missing cells. Drop those rows first.")
        self.test, self.table, self.seed, self.target = test, table, seed, target
        self._observed = {at: ~c.missing() for at, c in enumerate(table.columns) if c.n_missing()}
        complete = [at for at in range(len(table)) if at not in self._observed]
        self._of_complete = self._prepared(complete, None) if complete else None

    def evaluate(self, candidates: Sequence[int] | np.ndarray, target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate on the rows complete for it, the target and the conditioning set."""
        return self._tests("evaluate", list(map(int, candidates)), target, given)

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set on the rows complete for all of its columns."""
        return self._tests("evaluate_sets", candidates, target, given)

    def _tests(self, name: str, candidates: Sequence[Candidate], target: int, given: tuple[int, ...]) -> CIResults:
        found, order = [], []
        for at, engine, place, n_rows in self._groups(candidates, (target, *given)):
            order += at
            if engine is None:
                nothing = constant_results(len(at), n_rows)
                nothing.reliable[:] = False
                found.append(nothing)
            else:
                asked = [_placed(candidates[i], place) for i in at]
                found.append(getattr(engine, name)(asked, place[target], tuple(place[z] for z in given)))
        return CIResults.joined(found).take(np.argsort(order))

    def information(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> np.ndarray:
        """Return I(X;Y|Z) of each candidate in nats, on its complete rows; 0 without any."""
        found = np.zeros(len(candidates))
        for at, engine, place, _ in self._groups(candidates.tolist(), (target, *given)):
            if engine is not None:
                asked, conditions = np.array([place[candidates[i]] for i in at]), tuple(place[z] for z in given)
                found[at] = information_of(self.test, engine, asked, place[target], conditions)
        return found

    def chance(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> Chance:
        """Return the `information` expected of independent columns, on the complete rows of each candidate."""
        found = Chance.none(len(candidates))
        for at, engine, place, _ in self._groups(candidates.tolist(), (target, *given)):
            if engine is not None:
                asked, conditions = np.array([place[candidates[i]] for i in at]), tuple(place[z] for z in given)
                found.mean[at], found.deviation[at] = chance_of(engine, asked, place[target], conditions)
        return found

    def entropy(self, candidates: np.ndarray, given: tuple[int, ...]) -> np.ndarray:
        """Return H(X, Z) of each candidate in nats, on its complete rows; 0 without any."""
        found = np.zeros(len(candidates))
        for at, engine, place, _ in self._groups(candidates.tolist(), given):
            if engine is not None:
                asked = np.array([place[candidates[i]] for i in at])
                found[at] = engine.entropy(asked, tuple(place[z] for z in given))
        return found

    def n_complete(self, columns: Iterable[int]) -> int:
        """Return the number of rows complete for some columns."""
        rows = self._complete(columns)
        return self.table.n_rows if rows is None else int(np.count_nonzero(rows))

    def samples_per_cell(self, columns: Sequence[int]) -> float:
        """Return the complete rows per cell of the joint table of some columns; infinite without cells."""
        _, engine, place, n_rows = next(self._groups([tuple(columns)], ()))
        count = getattr(engine, "n_cells", None)
        return math.inf if count is None else n_rows / count([place[column] for column in columns])

    def rows_needed(self, x: Candidate, target: int, given: tuple[int, ...]) -> int | None:
        """Return how many complete rows a reliable test needs; None if unknown."""
        _, engine, place, _ = next(self._groups([x], (target, *given)))
        needed = getattr(engine, "rows_needed", None)
        return None if needed is None else needed(_placed(x, place), place[target], tuple(place[z] for z in given))

    def _groups(
        self, candidates: Sequence[Candidate], others: tuple[int, ...]
    ) -> Iterator[tuple[list[int], Any, dict[int, int], int]]:
        """Yield candidates with the same complete rows, their engine (None for too few rows), positions and rows."""
        groups: dict[bytes | None, list[int]] = {}
        patterns: dict[bytes | None, np.ndarray | None] = {}
        for i, candidate in enumerate(candidates):
            rows = self._complete((*columns_of(candidate), *others))
            key = None if rows is None else np.packbits(rows).tobytes()
            groups.setdefault(key, []).append(i)
            patterns[key] = rows
        for key, at in groups.items():
            rows = patterns[key]
            if rows is None:
                complete = [column for column in range(len(self.table)) if column not in self._observed]
                yield at, self._of_complete, dict(zip(complete, range(len(complete)), strict=True)), self.table.n_rows
                continue
            kept = np.flatnonzero(rows)
            explained = () if self.target is None else (self.target,)  # which supervised binning looks at
            columns = sorted({*(c for i in at for c in columns_of(candidates[i])), *others, *explained})
            place = dict(zip(columns, range(len(columns)), strict=True))
            yield at, self._prepared(columns, kept) if len(kept) >= FEWEST_ROWS else None, place, len(kept)

    def _complete(self, columns: Iterable[int]) -> np.ndarray | None:
        """Return the mask of the rows complete for some columns, (n,); None if all are."""
        masks = [self._observed[column] for column in columns if column in self._observed]
        return np.logical_and.reduce(masks) if masks else None

    def _prepared(self, columns: list[int], rows: np.ndarray | None) -> Any:
        table = self.table.select(columns)
        target = None if self.target is None else columns.index(self.target)
        return self.test.prepare(table if rows is None else table.take(rows), self.seed, target)


def information_of(
    test: UnboundTest, engine: Any, candidates: np.ndarray, target: int, given: tuple[int, ...]
) -> np.ndarray:
    """Return I(X;Y|Z) in nats, from the engine's `information` or from test results."""
    if hasattr(engine, "information"):
        return engine.information(candidates, target, given)
    return test.mutual_information(engine.evaluate(candidates.tolist(), target, given))


def chance_of(engine: Any, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> Chance:
    """Return the engine's `chance`; zeros if it has none."""
    return engine.chance(candidates, target, given) if hasattr(engine, "chance") else Chance.none(len(candidates))


def _placed(candidate: Candidate, place: dict[int, int]) -> Candidate:
    return tuple(place[column] for column in candidate) if isinstance(candidate, tuple) else place[candidate]


#: Pools the results on the copies, and those on all copies as one table.
Pool = Callable[[Sequence[CIResults], CIResults | None], CIResults]


class PooledEngine:
    """Pools the results of the test's engines on m imputed copies of a table.

    Queries on complete columns use one engine, since the copies agree there. With a sample design p-values are pooled,
    because they do not follow from the statistics.
    """

    def __init__(self, test: UnboundTest, table: Table, seed: int, target: int | None, n_copies: int) -> None:
        self.test, self.n_rows, self.seed, self.target = test, table.n_rows, seed, target
        self._incomplete = {at for at, column in enumerate(table.columns) if column.n_missing()}
        self._by_design = is_complex(table.design)
        self.copies = imputed_copies(table, n_copies, seed, target)
        self.engines: list[Any] = list(map(self._prepared, self.copies))
        if hasattr(self.engines[0], "evaluate_pair"):
            self.evaluate_pair = self._evaluate_pair

    def _prepared(self, table: Table) -> Any:
        return self.test.prepare(table, self.seed, self.target)

    @cached_property
    def stacked(self) -> Any:
        """The engine on the concatenated rows of all copies."""
        columns = [
            replace(column, values=np.concatenate([copy.columns[at].cells() for copy in self.copies]))
            for at, column in enumerate(self.copies[0].columns)
        ]
        return self._prepared(Table(columns))

    def evaluate(self, candidates: Sequence[int] | np.ndarray, target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate on every copy, and pool."""
        return self._tests("evaluate", list(map(int, candidates)), target, given, self._pool(self.test.pooled))

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set of columns on every copy, and pool."""
        return self._tests("evaluate_sets", candidates, target, given, self.test.pooled_sets)

    def _evaluate_pair(self, x: tuple[int, ...], y: tuple[int, ...], given: tuple[int, ...]) -> CIResults:
        if self._incomplete.isdisjoint((*x, *y, *given)):
            return self.engines[0].evaluate_pair(x, y, given)
        return self.test.pooled_sets([engine.evaluate_pair(x, y, given) for engine in self.engines], None)

    def _pool(self, plain: Pool) -> Pool:
        return (lambda copies, _: self.test.pooled_by_design(copies)) if self._by_design else plain

    def _tests(
        self, name: str, candidates: Sequence[Any], target: int, given: tuple[int, ...], pool: Pool
    ) -> CIResults:
        def ask(engine: Any, asked: list[Any]) -> CIResults:
            return getattr(engine, name)(asked, target, given)

        differ = np.array([not self._incomplete.isdisjoint((*columns_of(c), target, *given)) for c in candidates])
        order = np.argsort(differ, kind="stable")
        n_equal, parts = len(candidates) - int(differ.sum()), []
        if n_equal:
            parts.append(ask(self.engines[0], [candidates[i] for i in order[:n_equal]]))
        if n_equal < len(candidates):
            asked = [candidates[i] for i in order[n_equal:]]
            stacked = ask(self.stacked, asked) if self.test.stacks_copies and not self._by_design else None
            parts.append(pool([ask(engine, asked) for engine in self.engines], stacked))
        return CIResults.joined(parts).take(np.argsort(order))

    def information(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> np.ndarray:
        """Return the mean I(X;Y|Z) of each candidate over the copies, in nats."""
        return np.mean([information_of(self.test, one, candidates, target, given) for one in self.engines], axis=0)

    def chance(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> Chance:
        """Return the mean over the copies of the `information` expected of independent columns."""
        return Chance(*np.mean([chance_of(one, candidates, target, given) for one in self.engines], axis=0))

    def entropy(self, candidates: np.ndarray, given: tuple[int, ...]) -> np.ndarray:
        """Return the mean H(X, Z) of each candidate over the copies, in nats."""
        return np.mean([one.entropy(candidates, given) for one in self.engines], axis=0)

    def samples_per_cell(self, columns: Sequence[int]) -> float:
        """Return the rows per cell of the joint table of some columns; infinite without cells."""
        count = getattr(self.engines[0], "n_cells", None)
        return np.inf if count is None else self.n_rows / count(columns)

    def rows_needed(self, x: Candidate, target: int, given: tuple[int, ...]) -> int | None:
        """Return how many rows a reliable test needs; None if unknown."""
        needed = getattr(self.engines[0], "rows_needed", None)
        return None if needed is None else needed(x, target, given)


#: Imputation rounds, and the numbers of donor rows for values and for residuals. With 5 residuals the same ones would
#: fill a whole side where few cells are known, and a true null was rejected in 11 %, not 5 %.
SWEEPS, VALUES, RESIDUALS = 5, 5, 60
#: Most predictors of a column, and rows per predictor; the most correlated columns and the target are used.
MOST_PREDICTORS, ROWS_PER_PREDICTOR = 25, 10
#: Number of most frequent levels with an indicator.
MOST_LEVELS = 20
#: Ridge added to the normal equations, as a share of the mean diagonal, and of the spread, for breaking ties.
RIDGE, TIES = 1e-5, 1e-6
_WHOLE = {INTEGER: np.int64, BOOLEAN: np.int8}


def imputed_copies(table: Table, n_copies: int, seed: int, target: int | None = None) -> list[Table]:
    """Return `n_copies` imputed copies of a table by chained equations; complete columns are shared.

    A missing cell borrows from a random row among those with the nearest predictions: the value itself for labels and
    columns of few numbers (predictive mean matching); for other numbers the residual, added to the prediction (local
    residual draws), since observed values do not extend to where most cells are missing. Predictions for incomplete
    rows come from regressions on a bootstrap sample, so the copies differ by the regressions' uncertainty too. Column
    `target` predicts every other column. A column without observed cells gets 0, or its first level.

    References: van Buuren (2007), Statistical Methods in Medical Research 16, 219-242, doi:10.1177/0962280206074463;
    predictive mean matching: Little (1988), Journal of Business & Economic Statistics 6, 287-296,
    doi:10.1080/07350015.1988.10509663; local residual draws: Schenker, Taylor (1996), Computational Statistics & Data
    Analysis 22, 425-446, doi:10.1016/0167-9473(95)00057-7.

    >>> table = Table([Column("a", "numeric", np.array([1.0, 2, 3, np.nan])), Column("b", "integer", np.arange(4))])
    >>> copies = imputed_copies(table, 3, seed=0)
    >>> {copy["a"].values[3] in (1, 2, 3) for copy in copies}, copies[0]["a"].n_missing()
    ({True}, 0)
    """
    chain = _Chain(table, target)
    return [chain.draw(derive_rng(seed, "imputations", copy)) for copy in range(n_copies)]


class _Chain:
    """What all copies share: the incomplete columns in imputation order, and the regressors of each column."""

    def __init__(self, table: Table, target: int | None) -> None:
        self.columns, self.design = list(table.columns), table.design
        missing = {at: column.missing() for at, column in enumerate(self.columns) if column.n_missing()}
        self.empty = [at for at, mask in missing.items() if mask.all()]
        self.missing = {at: missing[at] for at in sorted(missing, key=lambda at: int(missing[at].sum()))}
        for at in self.empty:
            del self.missing[at]
        self.scales = [_Scale(column) for column in self.columns]
        self.blocks = [scale.block(column.numbers()) for scale, column in zip(self.scales, self.columns, strict=True)]
        self.predictors = {at: self._predictors(at, target) for at in self.missing}

    def _predictors(self, at: int, target: int | None) -> list[int]:
        """Return the predictors of a column: all others, or the most correlated of very many."""
        others = [column for column in range(len(self.columns)) if column != at and self.blocks[column].shape[1]]
        observed = ~self.missing[at]
        most = max(1, min(MOST_PREDICTORS, int(observed.sum()) // ROWS_PER_PREDICTOR))
        if len(others) <= most:
            return others
        own = self.blocks[at][observed]
        related = [-np.abs(self.blocks[column][observed].T @ own).max(initial=0.0) for column in others]
        nearest = [others[i] for i in np.argsort(related, kind="stable")[:most]]
        return sorted({*nearest, *([target] if target is not None and target != at else [])})

    def draw(self, rng: np.random.Generator) -> Table:
        values = {at: self.columns[at].numbers().copy() for at in self.missing}
        blocks = list(self.blocks)
        for at, mask in self.missing.items():
            values[at][mask] = rng.choice(values[at][~mask], size=int(mask.sum()))
            blocks[at] = self.scales[at].block(values[at])
        for _ in range(SWEEPS if len(self.missing) > 1 else 1):
            for at, mask in self.missing.items():
                regressors = np.column_stack([np.ones(len(mask)), *(blocks[other] for other in self.predictors[at])])
                scale = self.scales[at]
                donors, shift = _donors(regressors, blocks[at], mask, VALUES if scale.is_taken_over else RESIDUALS, rng)
                values[at][mask] = scale.borrowed(values[at][donors], shift)
                blocks[at] = self.scales[at].block(values[at])
        return Table([self._column(at, column, values) for at, column in enumerate(self.columns)], self.design)

    def _column(self, at: int, column: Column, values: dict[int, np.ndarray]) -> Column:
        if at in self.empty:
            levels = (column.levels or ("missing",)) if column.kind == CATEGORICAL else ()
            values = {at: np.zeros(column.n_rows)}
            column = replace(column, levels=levels)
        if at not in values:
            return column
        held = column.cells().dtype if column.kind == CATEGORICAL else _WHOLE.get(column.kind, np.float64)
        return replace(column, values=values[at].astype(held))


class _Scale:
    """A column in regressions: its standardised number, or indicators of all its levels but one."""

    def __init__(self, column: Column) -> None:
        values = column.numbers()[~column.missing()]
        self.levels: np.ndarray | None = None
        self.is_taken_over = column.is_discrete or len(np.unique(values)) <= FEW_VALUES
        self.is_whole = column.kind == INTEGER
        self.centre, self.spread = 0.0, 0.0
        if column.is_discrete:
            levels, counts = np.unique(values, return_counts=True)
            self.levels = levels[np.argsort(-counts, kind="stable")][1 : MOST_LEVELS + 1]
        elif len(values):
            self.centre = float(values.mean())
            self.spread = float(values.std())

    def block(self, values: np.ndarray) -> np.ndarray:
        """Return the regressors, (n, number of them), 0 where a cell is missing; none for a constant column."""
        if self.levels is not None:
            return (values[:, np.newaxis] == self.levels).astype(np.float64)
        if not self.spread > 0.0 or not np.isfinite(self.spread):
            return np.empty((len(values), 0))
        scaled = (values[:, np.newaxis] - self.centre) / self.spread
        return np.where(np.isnan(scaled), 0.0, scaled)

    def borrowed(self, values: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """Return the borrowed values, (m, 1), plus the differences of the predictions for local residual draws."""
        if self.is_taken_over:
            return values
        borrowed = values + shift[:, 0] * self.spread
        return np.rint(borrowed) if self.is_whole else borrowed


def _donors(
    regressors: np.ndarray, block: np.ndarray, mask: np.ndarray, n_nearest: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the donor row of each row of a mask, (m,), and the row's prediction minus the donor's."""
    from scipy.spatial import cKDTree

    observed = np.flatnonzero(~mask)
    known, response = regressors[observed], block[observed]
    if not block.shape[1]:  # a constant
        return rng.choice(observed, size=int(mask.sum())), np.zeros((int(mask.sum()), 1))
    drawn = rng.integers(len(observed), size=len(observed))
    of_donors = known @ _coefficients(known, response)
    asked = regressors[mask] @ _coefficients(known[drawn], response[drawn])
    width = TIES * (float(of_donors.std(axis=0).max()) or 1.0)  # rows with equal predictions lend in a random order
    places, sought = (at + width * rng.uniform(-1, 1, at.shape) for at in (of_donors, asked))
    _, nearest = cKDTree(places).query(sought, k=list(range(1, min(n_nearest, len(observed)) + 1)))
    chosen = nearest[np.arange(len(asked)), rng.integers(nearest.shape[1], size=len(asked))]
    return observed[chosen], asked - of_donors[chosen]


def _coefficients(regressors: np.ndarray, response: np.ndarray) -> np.ndarray:
    products = regressors.T @ regressors
    products.flat[:: len(products) + 1] += RIDGE * np.trace(products) / len(products)
    return np.linalg.solve(products, regressors.T @ response)


Test = TypeVar("Test", bound=UnboundTest)
#: The key of a data set, and the argument of functions and selector classes.
N_COPIES = Parameter(
    "integer",
    "Imputed copies of each fold's rows, over which every CI test is pooled; needs missing: impute. null: one, with "
    "medians and most frequent labels.",
    at_least=2,
    at_most=1000,
    nullable=True,
)


def incomplete_rule(where: str, missing: str, imputations: int | None) -> str | int | None:
    """Return the rule for missing cells: ``pairwise``, the number of copies, or None to refuse them.

    Raises `ParameterError`, starting with `where`, if copies are requested but nothing is imputed.
    """
    N_COPIES.check(where, IMPUTATIONS, imputations)
    if imputations is not None and missing != "impute":
        raise ParameterError(
            f"{where}: imputations is {imputations}, but missing is {missing}. Set missing to impute, or remove "
            "imputations."
        )
    return PAIRWISE if missing == PAIRWISE else imputations


def why_not_incomplete(test: UnboundTest, rule: str | int | None) -> str | None:
    """Return why a test cannot follow a rule of `incomplete_rule`; None if it can."""
    asked = IMPUTATIONS if isinstance(rule, int) else rule
    if asked is None or asked in test.card.incomplete:
        return None
    why = "fits models or compares rows with rows" if test.card.takes_max_rows else "does not say that it can"
    return f"{test.card.id} {why}, so that {asked} is refused: set missing to impute or drop, or choose another test"


def with_incomplete(test: Test, rule: str | int | None) -> Test:
    """Return a copy of the test that accepts missing cells by a rule; raises `UnsupportedError` if it cannot.

    >>> import numpy as np
    >>> from blanketflow.ci import get_ci_test
    >>> table = np.column_stack([np.arange(10.0), np.arange(10.0) % 3, np.arange(10.0) % 4])
    >>> table[:2, 0] = np.nan
    >>> bound = with_incomplete(get_ci_test("fisher-z"), "pairwise").bind(table)
    >>> bound.test(0, 1).n, bound.test(1, 2).n
    (8, 10)
    """
    if rule is None:
        return test
    if reason := why_not_incomplete(test, rule):
        raise UnsupportedError(f"{reason}.")
    test = copy(test)
    test.incomplete = rule
    return test


def engine_for(test: UnboundTest, table: Table, seed: int, target: int | None) -> Engine:
    """Return the engine for a table, which may have missing cells if the test has a rule for them."""
    if not table.has_rows:
        return table.engine_of(test)
    if test.incomplete is None or table.first_incomplete() is None:
        return test.prepare(table, seed, target)
    if test.incomplete == PAIRWISE:
        return PairwiseEngine(test, table, seed, target)
    return PooledEngine(test, table, seed, target, int(test.incomplete))
