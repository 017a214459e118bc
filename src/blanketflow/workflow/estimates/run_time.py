"""About how long a whole run takes, from the estimates by which the plan merges and splits its jobs."""

from __future__ import annotations

from ..grain import DATASET, FOLD, SEVERAL, SPLIT
from ..specs import Plan
from .cost import LOADING, LOADING_MODELS

#: What marks the line that `cost_of` gives.
FROM_NOTHING = "of CPU time from nothing"


def run_seconds(plan: Plan) -> float:
    """Return about how many CPU seconds a run takes from nothing, without the work of Snakemake itself."""
    seconds = sum(LOADING + plan.estimates.work_seconds("table", {"dataset": dataset}) for dataset in plan.facts)
    tested = {(d, test, plan.selector(s).folds) for d, s in plan.pairs if (test := plan.test_id(d, s))}
    for dataset, test, folds in tested:
        n_splits = len(plan.splits(dataset))
        n_parts = max(folds, 1) * n_splits
        seconds += plan.estimates.work_seconds("ci_test", {"dataset": dataset, "test": test}, n_parts)
        n_jobs = {SEVERAL: 0, DATASET: 1, SPLIT: n_splits, FOLD: n_parts}
        seconds += LOADING * n_jobs.get(plan.grains.of_test(dataset, test), n_parts)
    return seconds + sum(pair_seconds(plan, *pair) for pair in plan.pairs) + 2 * LOADING_MODELS


def cost_of(plan: Plan, cores: int) -> str:
    """Return a line that says about how much a run will take, before it starts."""
    seconds = run_seconds(plan)
    numbers = sorted(set(plan.grains.n_splits.values()))
    n_splits = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    n_pairs = f"{len(plan.pairs):,} searches of {n_splits} splits each" if numbers[-1] else "no search"
    said = f"{n_pairs}: about {duration(seconds)} {FROM_NOTHING}"
    return said if cores == 1 else f"{said}, {duration(seconds / cores)} on {cores} cores"


def duration(seconds: float) -> str:
    """Return a time in the words of an estimate.

    Examples
    --------
    >>> duration(0.2), duration(42), duration(400), duration(9000), duration(720_000)
    ('under a second', '40 s', '7 min', '2.5 h', '200 h')
    """
    if seconds < 1:
        return "under a second"
    if seconds < 100:
        return f"{round(seconds) if seconds < 10 else round(seconds, -1):.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.2g} h" if seconds < 36_000 else f"{seconds / 3600:.0f} h"


def pair_seconds(plan: Plan, dataset: str, selector: str) -> float:
    """Return about how many CPU seconds all stages of a selector on a data set take."""
    n_splits = len(plan.splits(dataset))
    n_parts = max(plan.selector(selector).folds, 1) * n_splits
    n_jobs = {SEVERAL: 0, DATASET: 1, SPLIT: n_splits, FOLD: n_parts}[plan.grains.of_selector(dataset, selector)]
    ids, n_tested = {"dataset": dataset, "selector": selector}, len(plan.evaluation_splits(dataset))
    seconds = 2 * LOADING * n_jobs + plan.estimates.work_seconds("grow_shrink", ids, n_parts)
    if plan.selector(selector).confirm is not None:
        seconds += plan.estimates.seconds("confirm", ids)
    return seconds + (plan.estimates.seconds("evaluate", ids, n_tested) if n_tested else 0.0)
