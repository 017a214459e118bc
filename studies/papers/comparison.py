"""Compares each printed number with ours: the difference, the noise of the partition, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from blanketflow.reporting.tables.result_table import typed_frame
from studies.papers.printed_tables import MEASURES, Measure, PrintedNumber, PrintedTable, values_of
from studies.papers.verdict import verdict

if TYPE_CHECKING:
    import pandas as pd

#: Columns of the table, with the type names of `blanketflow.data.artefacts.write_columns`.
COLUMNS: dict[str, str] = {
    "table": "string",
    "dataset": "string",
    "method": "string",
    "measure": "string",
    "model": "string",
    "selected_on": "string",
    "selector": "string",
    "printed": "double",
    "printed_spread": "double",
    "ours": "double",
    "difference": "double",
    "noise": "double",
    "n_partitions": "int64",
    "verdict": "string",
    "reason": "string",
}
NOT_COMPARABLE = "not comparable"
CONFIDENCE = 0.95


def compare_with_printed(tables: Sequence[PrintedTable], evaluations: pd.DataFrame, n_folds: int) -> pd.DataFrame:
    """Compare a run's results, as `collect.both_selections` returns them, with printed ones.

    There is one row per printed cell of a data set that was run and per kind of selection. The splits ``cv-1`` to
    ``cv-n_folds`` form the first partition, and so on. ``ours`` is the mean over the partitions. ``noise`` is half the
    width of the 95 % interval of the difference, if the printed number is that of one more partition, plus the rounding
    of the print. The interval is Student's t with the standard deviation over the partitions. With a single partition
    it is that over its folds, which is wider on most data sets, so that less is decided. `verdict` says what the
    difference means. A selection on all rows by a method that draws is one draw; ``noise`` does not hold its seed.
    """
    run = evaluations.reset_index(drop=True)
    run = run.assign(partition=(run["split"].str.removeprefix("cv-").astype(int) - 1) // n_folds)
    rows = [
        row
        for table in tables
        for (dataset, method), printed in table.cells.items()
        if dataset in set(run["dataset"])
        for row in _of_cell(table, dataset, method, printed, run)
    ]
    return typed_frame(rows, COLUMNS)


def _of_cell(
    table: PrintedTable, dataset: str, method: str, printed: PrintedNumber | None, run: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return the rows of a cell: one for each kind of selection in the run."""
    measure = MEASURES[table.measure]
    cell = {"table": table.table, "dataset": dataset, "method": method, "measure": table.measure}
    cell |= {"model": table.model or "", "selected_on": "", "selector": "", "ours": math.nan, "n_partitions": 0}
    cell |= {"difference": math.nan, "noise": math.nan, "verdict": NOT_COMPARABLE}
    cell |= {"printed": printed.value if printed else math.nan, "printed_spread": math.nan}
    if printed and printed.spread is not None:
        cell["printed_spread"] = printed.spread
    candidates = run[(run["dataset"] == dataset) & run["selector"].isin(table.candidates(dataset, method))]
    ours = values_of(candidates, measure, table.model)
    if ours.empty:
        return [{**cell, "reason": table.why_not(dataset, method) or "not run"}]
    by = MEASURES[table.chosen_by or table.measure]
    rows = []
    for kind, part in ours.groupby("selected_on", sort=False):
        best = _best(values_of(candidates[candidates["selected_on"] == kind], by, table.model), by)
        mine = part if best is None else part[part["selector"] == best]
        rows.append({**cell, "selected_on": kind, **_compared(table, dataset, method, printed, measure, mine)})
    return rows


def _best(values: pd.DataFrame, measure: Measure) -> str | None:
    """Return the selector with the best mean; None if no selector has a value."""
    sign = 1 if measure.higher_is_better else -1
    means = values.groupby("selector", sort=False)["value"].mean().map(measure.of_mean, na_action="ignore").dropna()
    return None if means.empty else str((sign * means).idxmax())


def _compared(
    table: PrintedTable,
    dataset: str,
    method: str,
    printed: PrintedNumber | None,
    measure: Measure,
    ours: pd.DataFrame,
) -> dict[str, Any]:
    lacking = ours["value"].isna()
    if lacking.all():
        first = ours.iloc[0]
        return {"reason": f"ours has no value: {first['status']}, {first['reason']}"}
    by_partition = ours.groupby("partition")["value"].mean().dropna().map(measure.of_mean)
    found: dict[str, Any] = {
        "selector": ours["selector"].iloc[0],
        "ours": by_partition.mean(),
        "n_partitions": len(by_partition),
    }
    if lacking.any():
        first = ours[lacking].iloc[0]
        said = f"{first['split']}: {first['status']}, {first['reason']}"
        return {**found, "reason": f"ours has no value on {lacking.sum()} of {len(ours)} splits; {said}"}
    found["noise"] = _noise(by_partition, ours["value"].map(measure.of_mean))
    if printed is None:
        return {**found, "reason": "the paper prints no number"}
    found["noise"] += printed.rounding
    found["difference"] = found["ours"] - printed.value
    why_not = table.why_not(dataset, method)
    if why_not:
        return {**found, "reason": why_not}
    if math.isnan(found["noise"]):
        return {**found, "reason": "the noise cannot be estimated from a single split"}
    said = verdict(printed.value, found["ours"], found["noise"], table.methods_of(dataset))
    return {**found, "verdict": said, "reason": ""}


def _noise(by_partition: pd.Series, by_fold: pd.Series) -> float:
    """Return half the width of the interval for one more partition."""
    from scipy.stats import t

    values = by_partition if len(by_partition) > 1 else by_fold
    n = len(values)
    if n < 2:
        return math.nan
    more = 1 if len(by_partition) > 1 else 1 / n  # one more partition, or the mean over the folds of one
    return float(t.ppf((1 + CONFIDENCE) / 2, n - 1) * values.std(ddof=1) * math.sqrt(more + 1 / n))
