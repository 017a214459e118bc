"""A test of conditional independence where relations bend: cross products of splines screen, and rows confirm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...core.cards import ASYMPTOTIC, IMPUTATIONS, PAIRWISE, Card
from ...core.parameters import number
from ...core.results import CIResults
from ...core.table import Table
from ..base import CITest
from ..linear.regressions import rounded_away, with_exact_tests
from ..pooling import pooled_p_values
from .spline_given import GivenFunctions
from .spline_rows import Confirmation
from .spline_screen import KEPT_CELLS, Parts, Rows, SplineScreen, rows_that_confirm


@dataclass
class Spline(CITest):
    """Nested regressions on splines: conditional independence where relations bend, between any mixture of columns.

    Each number is four functions as X or Y, itself and three bends of it, and up to eight as a given column
    (`spline_functions.py`); a label is the indicators of its levels. Given the functions of Z three parts are tested:
    the straight one, X with Y; whether bends of X tell more of Y; and whether bends of Y tell more of X. The straight
    part has a share of alpha, ``straight_share``, and the bends the rest, so that little power is lost where nothing
    bends: with t the least p / share of the parts, p = 1 - product of (1 - share t). A label has no bends, and two of
    them, or two flags, one part.

    *The screen* tests these parts by the F tests of nested regressions (of labels by Rao's F of Wilks' lambda), from
    cross products of all functions that are added up once. It finds too much where the variance of a column moves with
    Z, where X is a function of Z, and where Z acts by steps or by products. So *rows confirm* what it finds: a p-value
    up to ``confirm_below`` is replaced by that of a score test which is robust against such variances, given more
    functions of Z while these tell anything of X or Y: finer splines, up to three cuts of a column, products of two
    columns, and powers of the fit. Where these leave nothing of X or Y but what splines cannot follow, the columns are
    independent.

    Of many rows, samples of 2,000 and 12,000 are asked first, if there are twice as many. What one of these rejects at
    1e-9 is rejected, with the p-value that all rows would have if they told as much each. All rows are asked about the
    rest.

    Statistic and degrees of freedom are those of the part that decides. A test is not reliable if the functions of Z
    leave at most eight rows, of two labels of r and s levels ten for each of (r - 1) (s - 1), or if rounding has
    destroyed a numeric column. A flag is one function whatever its type: 0 and 1, false and true, or no and yes. Two
    flags, given nothing, have Fisher's exact test if fewer than five rows are expected in a cell.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=500)
    >>> X = pd.DataFrame({"y": z**2 + rng.normal(size=500), "z": z, "x": z**2 + rng.normal(size=500)})
    >>> test = Spline().bind(X)
    >>> bool(test.test("y", "z").p_value < 1e-6), bool(test.test("y", "x", given=["z"]).p_value > 0.05)
    (True, True)
    """

    card: ClassVar[Card] = Card(
        id="spline",
        name="Nested regressions on splines",
        family="ci-test",
        summary="Regressions on splines for relations that bend, screened by cross products, confirmed on rows.",
        reference="robust scores: MacKinnon, White (1985) Some heteroskedasticity-consistent covariance matrix "
        "estimators with improved finite sample properties, Journal of Econometrics 29, 305-325, "
        "doi:10.1016/0304-4076(85)90158-7; functions: Demmler, Reinsch (1975) Oscillation matrices with spline "
        "smoothing, Numerische Mathematik 24, 375-382, doi:10.1007/BF01437407",
        guarantee="p-values right in large samples where sums of splines, cuts and products of pairs of Z hold",
        p_values=ASYMPTOTIC,
        cost="O(n) for each new pair of columns, then O(|Z|^3 + m |Z|) for m candidates given Z, with up to 8 "
        "functions of each column; O(n |Z|^2) for each one confirmed",
        symmetric=True,
        measures=("p-value",),
        incomplete=(PAIRWISE, IMPUTATIONS),
        takes_max_rows=True,
    )

    straight_share: float = number(
        0.85,
        "Share of alpha of straight relations; the rest is for bends, of X and of Y in equal parts.",
        above=0,
        below=1,
    )
    confirm_below: float = number(
        0.2,
        "Screened p-values up to this are confirmed on rows; 0 for none, which rejects too often where variances move "
        "with Z, and 1 for all.",
        at_least=0,
        at_most=1,
    )

    def prepare(self, table: Table, seed: int, target: int | None) -> SplineEngine:
        """Return the engine; neither `seed` nor `target` is used."""
        return SplineEngine(self, table)

    def pooled(self, copies: Sequence[CIResults], stacked: CIResults | None) -> CIResults:
        """Return results pooled by their p-values."""
        return pooled_p_values(copies)

    def doubts(self, table: Table, target: str, results: CIResults) -> str:
        """Return which columns rounding has destroyed."""
        return rounded_away(table, target, results)


class SplineEngine:
    """Screens candidates by cross products, and confirms on rows what that finds."""

    def __init__(self, test: Spline, table: Table) -> None:
        self._test, self._table = test, table
        self._given: dict[tuple[int, tuple[int, ...]], GivenFunctions] = {}

    @cached_property
    def screen(self) -> SplineScreen:
        """The functions of all columns."""
        return SplineScreen(self._table, self._test.straight_share)

    @cached_property
    def _rows(self) -> list[Rows]:
        return rows_that_confirm(self.screen)

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate with the target."""
        parts = self.screen.evaluate(candidates, target, given)
        results = parts.combined(self._table.n_rows)
        if not self._test.confirm_below:
            return results
        found = np.flatnonzero((parts.dof > 0).any(axis=0) & (results.p_value <= self._test.confirm_below))
        if not len(found):
            return results
        self._confirm(parts, found.tolist(), candidates, target, given)
        results = parts.combined(self._table.n_rows)
        return results if given else with_exact_tests(results, self._table, candidates, target)

    def _confirm(
        self, parts: Parts, found: list[int], candidates: Sequence[int], target: int, given: tuple[int, ...]
    ) -> None:
        """Replace what was found by what rows say: a few if they say it clearly, and else more of them."""
        for step in range(len(self._rows)):
            confirmation = Confirmation(self.screen, target, self._functions_of(given, step))
            unclear = []
            for at in found:
                said = confirmation.of(candidates[at], parts.shares[:, at])
                if said is None:
                    unclear.append(at)
                else:
                    parts.statistic[:, at], parts.dof[:, at], parts.log_p[:, at] = said
            found = unclear

    def _functions_of(self, given: tuple[int, ...], at_rows: int) -> GivenFunctions:
        """Return the functions of given columns on some of the rows that confirm, kept for the most recent ones."""
        key = at_rows, given
        found = self._given.pop(key, None) or GivenFunctions(self.screen, given, self._rows[at_rows])
        self._given[key] = found
        while sum(one.n_cells for one in self._given.values()) > KEPT_CELLS and len(self._given) > 1:
            del self._given[next(iter(self._given))]
        return found
