"""Times to an event: right-censored, with or without late entry and strata. Null model: Cox regression."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL, NUMERIC, SURVIVAL, Card
from ..core.column import Column, TargetColumn
from ..core.errors import DataError
from ..core.follow_up_names import is_time, says_follow_up, says_time
from ..core.printable import listed
from ..models.responses import response
from ..models.risk_sets import STRATA, RiskSets, without_strata
from .base import NullModel, TargetKind
from .checks import finite_numbers, refuse_missing, refuse_where, rejected
from .means import inverse

#: Fewest events that a regression can use.
FEWEST_EVENTS = 2
#: Labels that say themselves whether the event was observed.
TRUTH_VALUES = {"0": 0, "false": 0, "1": 1, "true": 1}


class CoxModel:
    """Cox regression with Efron's treatment of ties on given predictors. See `NullModel`.

    With strata each has its own baseline hazard: its rows are at risk at its own event times only.
    """

    n_own = 0

    def __init__(self, target: TargetColumn, predictors: np.ndarray) -> None:
        from ..kernels.cox import fit_cox  # numba takes half a second to import: only if needed

        self._sets, self._predictors = RiskSets(response(target, SURVIVAL)), predictors
        self._order = np.argsort(-self._sets.last, kind="stable")
        self._first, self._last = self._sets.first[self._order], self._sets.last[self._order] - 1
        self._died = self._sets.event[self._order]
        self.size = float(n_compared(target))
        self._design = np.ascontiguousarray(predictors[:, self._order])
        self._coefficients, self._hazards = np.zeros(len(predictors)), np.empty(target.n_rows)
        self._log_likelihood = fit_cox(
            self._design, self._first, self._last, self._died, self._coefficients, self._hazards
        )

    def likelihood_ratio(self, added: np.ndarray) -> float:
        """Return twice the log partial likelihood gained by predictors `added`, (q, n)."""
        from ..kernels.cox import fit_cox

        design = np.ascontiguousarray(np.vstack([self._design, added[:, self._order]]))
        start = np.concatenate([self._coefficients, np.zeros(len(added))])
        reached = fit_cox(design, self._first, self._last, self._died, start, np.empty(design.shape[1]))
        return max(2.0 * (reached - self._log_likelihood), 0.0)

    def likelihood_ratios(self, added: np.ndarray) -> np.ndarray:
        """Return `likelihood_ratio` of each row of `added`, (m, n), by itself, (m,)."""
        from ..kernels.cox import fit_each

        of_rows = self._design, self._first, self._last, self._died, self._coefficients
        reached = np.empty(len(added))
        fit_each(*of_rows, np.ascontiguousarray(added[:, self._order]), reached)
        return np.maximum(2.0 * (reached - self._log_likelihood), 0.0)

    def proportionality(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return score, (k,), and information, (2 k, 2 k), of slopes that change with functions of time.

        `times`, (m,), has the function's value at each event time. The information is first that of the slopes.
        """
        from ..kernels.cox import slopes_in_time

        k = len(self._coefficients)
        score, information = np.zeros(k), np.zeros((3, k, k))
        of_rows = self._design, self._first, self._last, self._died, self._coefficients
        slopes_in_time(*of_rows, times, score, information)
        own, mixed, squared = information + np.tril(information, -1).transpose(0, 2, 1)
        return score, np.block([[own, mixed], [mixed, squared]])

    def residuals(self) -> np.ndarray:
        """Return martingale residuals, (n,): 1 for an event, else 0, minus the hazard between entry and time."""
        found = np.empty(len(self._order))
        found[self._order] = self._died - self._hazards
        return found

    def scores(self, added: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of rows by all coefficients, of predictors `added` last, and their information."""
        columns = np.vstack([self._predictors, added]).T
        at = np.concatenate([self._coefficients, np.zeros(len(added))])
        return self._sets.score_residuals(columns, at).T, self._sets.likelihood(columns, at).curvature

    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients of the predictors, (k,), and their covariance, (k, k)."""
        return self._coefficients, inverse(self._sets.likelihood(self._predictors.T, self._coefficients).curvature)


def n_compared(target: TargetColumn) -> int:
    """Return the number of events; with strata, of those at which another row of the stratum is at risk.

    >>> parts = {"event": np.array([1, 1, 0]), "strata": np.array([0, 1, 1])}
    >>> n_compared(TargetColumn("days", "numeric", np.array([1.0, 2.0, 3.0]), (), "survival", parts))
    1
    """
    event = target.parts["event"].astype(bool)
    if STRATA not in target.parts or not event.any():
        return int(event.sum())
    sets = RiskSets(response(target, SURVIVAL))
    return int((sets.at_risk(np.ones(target.n_rows))[sets.last[event] - 1] > 1).sum())


def proportional_hazards(
    target: TargetColumn, predictors: np.ndarray, tested: Mapping[str, np.ndarray]
) -> dict[str, tuple[float, int]]:
    """Return by feature the score test of a slope that is constant in time: chi-square and degrees of freedom.

    The alternative of each feature is a slope linear in 1 minus the Kaplan-Meier estimate before a time: scaled
    Schoenfeld residuals do not depend on it (Grambsch and Therneau 1994, doi:10.1093/biomet/81.3.515). `tested` has
    the feature's rows of `predictors`, (k, n).
    """
    y = response(target, SURVIVAL)
    model, sets, whole = CoxModel(target, predictors), RiskSets(y), RiskSets(without_strata(y))
    survival = np.cumprod(np.concatenate([[1.0], 1.0 - whole.n_events / whole.at_risk(np.ones(len(y)))]))
    times = 1.0 - survival[np.searchsorted(whole.times, sets.times)]
    times -= sets.n_events @ times / sets.n_events.sum()
    score, information = model.proportionality(times)
    k, found = len(predictors), {}
    for name, rows in tested.items():
        u = np.concatenate([np.zeros(k), score[rows]])
        at = np.concatenate([np.arange(k), k + np.asarray(rows)])
        found[name] = float(u @ np.linalg.lstsq(information[np.ix_(at, at)], u, rcond=1e-12)[0]), len(rows)
    return found


def cumulative_hazard(target: TargetColumn) -> np.ndarray:
    """Return the Nelson-Aalen cumulative hazard of a row's stratum at its time, minus that at its entry, (n,).

    >>> target = TargetColumn(
    ...     "days", "numeric", np.array([1.0, 2.0, 3.0]), (), "survival", {"event": np.array([1, 0, 1])}
    ... )
    >>> cumulative_hazard(target).round(3)
    array([0.333, 0.333, 1.333])
    """
    sets = RiskSets(response(target, SURVIVAL))
    hazard = np.concatenate([[0.0], np.exp(sets.baseline(np.zeros(target.n_rows)))])
    return np.maximum(hazard[sets.last] - hazard[sets.first], 0.0)


@dataclass
class Survival(TargetKind):
    """Times to an event, right-censored; rows may enter late, and strata may have baseline hazards of their own."""

    card: ClassVar[Card] = Card(
        id="survival",
        name="time to an event",
        family="target",
        summary="Times until an event or until observation ended; likelihood ratios of Cox regressions.",
        reference="Cox (1972) Regression models and life-tables, J. R. Statist. Soc. B 34(2), 187-220, "
        "doi:10.1111/j.2517-6161.1972.tb00899.x; ties: Efron (1977) The efficiency of Cox's likelihood function for "
        "censored data, JASA 72(359), 557-565, doi:10.1080/01621459.1977.10480613",
        tasks=(SURVIVAL,),
        effect="hazard ratio",
        design_based=True,
    )
    own: ClassVar[str] = "time"
    models: ClassVar[tuple[str, ...]] = ("cox", "lightgbm")
    regression: ClassVar[Callable[[TargetColumn, np.ndarray], NullModel]] = CoxModel
    parts: ClassVar[tuple[str, ...]] = ("event",)
    optional: ClassVar[tuple[str, ...]] = ("entry", STRATA)
    counted: ClassVar[str] = "events"

    def column(self, where: str, column: Column, parts: Mapping[str, Column]) -> TargetColumn:
        """Return the times with their events and entries, checked."""
        time = finite_numbers(where, column, "times to an event")
        refuse_where(where, column, time < 0, "negative times", "Count time from the start of observation.")
        refuse_where(
            where,
            column,
            time == 0,
            "times of 0",
            "Nothing can be observed in no time: write half of the smallest time step in these rows, or drop them.",
        )
        checked = {"event": _events(where, parts["event"])}
        if "entry" in parts:
            entry = parts["entry"]
            checked["entry"] = finite_numbers(where, entry, "times of entry")
            late = checked["entry"] >= time
            if late.any():
                row = int(np.argmax(late))
                raise DataError(
                    f"{where}: in row {row + 1} the entry, {checked['entry'][row]:g} in column {entry.name!r}, is not "
                    f"before the time, {time[row]:g} in column {column.name!r}; so in {int(late.sum())} of {len(time)} "
                    "rows. Drop rows that entered after their end, and count both from the same start."
                )
        if STRATA in parts:
            checked[STRATA] = _strata(where, parts[STRATA])
        target = TargetColumn(column.name, column.kind, column.cells(), (), SURVIVAL, checked)
        if (compared := n_compared(target)) < FEWEST_EVENTS:
            raise DataError(
                f"{where}: in the strata of column {parts[STRATA].name!r}, {compared} of {int(checked['event'].sum())} "
                f"events have another row at risk, and at least {FEWEST_EVENTS} are needed. Give a column of fewer, "
                "larger strata."
            )
        return target

    def size(self, target: TargetColumn) -> float:
        """Return the number of events, with strata of those that are compared."""
        return float(n_compared(target))

    def covariates(self, target: TargetColumn) -> list[Column]:
        """Return the event and the cumulative hazard (White and Royston 2009, doi:10.1002/sim.3618).

        The event is left out where all rows had it.
        """
        event = Column(f"{target.name}: event", BOOLEAN, target.parts["event"].astype(np.int8))
        hazard = Column(f"{target.name}: cumulative hazard", NUMERIC, cumulative_hazard(target))
        return [hazard] if event.is_constant() else [event, hazard]

    def doubts(self, target: TargetColumn, predictors: np.ndarray, tested: Mapping[str, np.ndarray]) -> list[str]:
        """Return the features whose hazards are not proportional."""
        failing = rejected(proportional_hazards(target, predictors, tested))
        if not failing:
            return []
        return [
            f"the effect of {listed(failing)} on {target.name!r} changes with time, but Cox regression takes hazards "
            "as proportional: an effect that turns into its opposite may be missed. ci_test: gcm does not assume it"
        ]

    def why_likely(self, column: Column) -> str:
        """Return a reason if positive numbers are named as a follow-up time is."""
        is_named_so = says_follow_up(column.name) or says_time(column.name)
        if is_named_so and is_time(column) and column.numbers().min() > 0:
            return f"{column.name!r} is named as times to an event are, and its numbers are positive"
        return ""


def _strata(where: str, column: Column) -> np.ndarray:
    """Return the number of each row's stratum, (n,); raises `DataError` for missing cells and measured numbers."""
    refuse_missing(where, column)
    numbers = column.numbers()
    if column.kind == NUMERIC and not (numbers == np.round(numbers)).all():
        raise DataError(
            f"{where}: column {column.name!r} holds decimals, but strata are labels, such as sites. Make bins of it."
        )
    return np.unique(numbers, return_inverse=True)[1]


def _events(where: str, column: Column) -> np.ndarray:
    """Return whether the event was observed, (n,); raises `DataError` unless this is written as 0/1 or false/true."""
    refuse_missing(where, column)
    start = f"{where}: column {column.name!r}"
    how = "Write 1 (or true) where the event was observed and 0 (or false) where observation ended without it"
    found, which = np.unique(column.numbers(), return_inverse=True)
    if column.kind == CATEGORICAL:
        labels = [column.levels[int(code)] for code in found]
        texts = list(map(repr, labels))
        codes = np.array([TRUTH_VALUES.get(label.lower(), -1) for label in labels])
    else:
        texts, codes = [f"{value:g}" for value in found], found
    if texts == ["1", "2"]:
        raise DataError(
            f"{start} holds 1 and 2, and tables differ in which of them is the event. {how}: subtract 1 if 2 is the "
            "event, or take 2 minus the column if 1 is."
        )
    if not set(codes) <= {0, 1} or len(codes) > 2:
        held = listed(texts, between=" and " if len(texts) == 2 else ", ")
        causes = "; of several causes choose one as the event" if len(texts) > 2 else ""
        raise DataError(f"{start} holds {held}, which does not say where the event was observed. {how}{causes}.")
    event = codes[which].astype(bool)
    if (n_events := int(event.sum())) < FEWEST_EVENTS:
        held = f"only {n_events} event" if n_events else "no event"
        raise DataError(
            f"{start} holds {held} in {len(event):,} rows, and at least {FEWEST_EVENTS} are needed. If it says where "
            "observation ended without the event, give 1 minus the column; else choose another event."
        )
    return event
