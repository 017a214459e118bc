"""Multiple imputation: each test on several imputed copies of the rows, pooled (`imputations: 5`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...core.cards import BOOLEAN, CATEGORICAL, INTEGER
from ...core.design import is_complex
from ...core.results import CIResults
from ...core.seeds import derive_rng
from ...core.table import Column, Table
from ..contingency.binning import FEW_VALUES
from ..contingency.chance import Chance
from ..engines import Candidate, columns_of
from ..unbound import UnboundTest
from .pairwise import chance_of, information_of

#: Returns the result of each test from those on the copies, and on all of them as one table.
Pool = Callable[[Sequence[CIResults], CIResults | None], CIResults]


class PooledEngine:
    """Asks the test's engines on m imputed copies of a table, and pools what they answer.

    Queries about complete columns alone are answered by one engine, since the copies are equal there. Results of rows
    with a design, such as clusters, are pooled by their p-values, which do not follow from their statistics. An engine
    that tests two sets of columns has `evaluate_pair` here, too.
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
        """The engine on the rows of all copies together."""
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
        """Return the mean of what `information` is by chance over the copies."""
        return Chance(*np.mean([chance_of(one, candidates, target, given) for one in self.engines], axis=0))

    def entropy(self, candidates: np.ndarray, given: tuple[int, ...]) -> np.ndarray:
        """Return the mean H(X, Z) of each candidate over the copies, in nats."""
        return np.mean([one.entropy(candidates, given) for one in self.engines], axis=0)

    def samples_per_cell(self, columns: Sequence[int]) -> float:
        """Return the rows per cell of the joint table of some columns; infinite without cells."""
        count = getattr(self.engines[0], "n_cells", None)
        return np.inf if count is None else self.n_rows / count(columns)

    def rows_needed(self, x: Candidate, target: int, given: tuple[int, ...]) -> int | None:
        """Return how many rows a test needs to be reliable; None if that is not known."""
        needed = getattr(self.engines[0], "rows_needed", None)
        return None if needed is None else needed(x, target, given)


#: How often each column is imputed anew given the others, and of how many rows one lends its value, or its residual.
#: Of 5 residuals the same would fill a whole side where few cells are known: a true null was rejected in 11 %, not 5 %.
SWEEPS, VALUES, RESIDUALS = 5, 5, 60
#: A column is predicted from so many others at most, and from one for so many rows: those most correlated with it. The
#: target is always among them.
MOST_PREDICTORS, ROWS_PER_PREDICTOR = 25, 10
#: So many of a column's levels have an indicator, the most frequent ones.
MOST_LEVELS = 20
#: Share of the mean diagonal that is added to the normal equations, and of the spread by which ties are broken.
RIDGE, TIES = 1e-5, 1e-6
_WHOLE = {INTEGER: np.int64, BOOLEAN: np.int8}


def imputed_copies(table: Table, n_copies: int, seed: int, target: int | None = None) -> list[Table]:
    """Return imputed copies of a table.

    Columns are imputed in turn, each given all others, several times over (chained equations). A missing cell borrows
    from a row at random out of those whose predictions are nearest: a label or one of few numbers is taken over
    (predictive mean matching); of other numbers the residual is added to the prediction (local residual draws), since
    values that occur do not reach where most cells are missing. Predictions for incomplete rows come from regressions
    on a bootstrap sample, so that the copies differ by what the rows leave open about the regressions, too.

    Parameters
    ----------
    table : Table
        n rows, some with missing cells.
    n_copies : int
        How many.
    seed : int
        Of the draws; each copy has its own.
    target : int, optional
        Position of the column that predicts every other, however many there are.

    Returns
    -------
    list of Table
        They share the complete columns. A column without any observed cell gets 0, or its first level.

    References
    ----------
    van Buuren (2007) Multiple imputation of discrete and continuous data by fully conditional specification,
    Statistical Methods in Medical Research 16, 219-242, doi:10.1177/0962280206074463; predictive mean matching: Little
    (1988) Missing-data adjustments in large surveys, Journal of Business & Economic Statistics 6, 287-296,
    doi:10.1080/07350015.1988.10509663; local residual draws: Schenker, Taylor (1996) Partially parametric techniques
    for multiple imputation, Computational Statistics & Data Analysis 22, 425-446, doi:10.1016/0167-9473(95)00057-7.

    Examples
    --------
    >>> table = Table([Column("a", "numeric", np.array([1.0, 2, 3, np.nan])), Column("b", "integer", np.arange(4))])
    >>> copies = imputed_copies(table, 3, seed=0)
    >>> {copy["a"].values[3] in (1, 2, 3) for copy in copies}, copies[0]["a"].n_missing()
    ({True}, 0)
    """
    chain = _Chain(table, target)
    return [chain.draw(derive_rng(seed, "imputations", copy)) for copy in range(n_copies)]


class _Chain:
    """What all copies share: the incomplete columns in the order of imputation, and the regressors of each column."""

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
        """Return the columns that predict one: all others, or the most correlated of very many."""
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
        """Return one copy."""
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
    """How a column enters regressions: as its standardised number, or as indicators of all its levels but one."""

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
        """Return the regressors, (n, number of them), 0 where a cell is missing; none of a column that is constant."""
        if self.levels is not None:
            return (values[:, np.newaxis] == self.levels).astype(np.float64)
        if not self.spread > 0.0 or not np.isfinite(self.spread):
            return np.empty((len(values), 0))
        scaled = (values[:, np.newaxis] - self.centre) / self.spread
        return np.where(np.isnan(scaled), 0.0, scaled)

    def borrowed(self, values: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """Return what rows borrow: other rows' values, or these with what their predictions differ by, (m, 1)."""
        if self.is_taken_over:
            return values
        borrowed = values + shift[:, 0] * self.spread
        return np.rint(borrowed) if self.is_whole else borrowed


def _donors(
    regressors: np.ndarray, block: np.ndarray, mask: np.ndarray, n_nearest: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the row from which each row of a mask borrows, (m,), and by what its own prediction is larger."""
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
