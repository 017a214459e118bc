"""How far chance moves our number from one partition and one seed to the next: from what two scripts have measured.

partition_noise.py has scores of further partitions, for the runs of configs/ with one partition; without them
the spread over that partition's folds counts, which is wider. ppfs_seeds.py has selections on all rows by further
seeds: a run has one seed.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t

from studies.papers.comparison import CONFIDENCE
from studies.papers.printed_tables import ALL, MEASURES, PrintedTable

RESULTS = Path(__file__).parent / "results"
ALL_ROWS, PPFS = "all rows", "ppfs"


@cache
def kept(name: str) -> pd.DataFrame:
    """Return a file of results."""
    return pd.read_parquet(RESULTS / f"{name}.parquet")


@cache
def of_partitions(*wanted: str) -> pd.DataFrame:
    """Return the scores on further partitions of a run, a data set, a model and a metric."""
    rows = kept("partition_noise")
    return rows[(rows[["run", "dataset", "model", "metric"]] == list(wanted)).all(axis=1)]


def half_width(cell: pd.Series, table: PrintedTable, rounding: float) -> float:
    """Return half the width of the 95 % interval of the difference between a cell's number and the printed one."""
    found = of_partition(cell, table) if cell["n_partitions"] == 1 else None
    partition = max(cell["noise"] - rounding, 0) if found is None else found
    return math.hypot(partition, of_seed(cell, table)) + rounding


def of_partition(cell: pd.Series, table: PrintedTable) -> float | None:
    """Return the half-width by partitions of this data set and model; None if there are none.

    It is that of the cell's own selector if it was measured, and of the selectors together otherwise, if there are two:
    one may be far more or less at home on a data set than others. Their partitions are the same, so that they have no
    more degrees of freedom than one.
    """
    measure = MEASURES[cell["measure"]]
    if measure.metric is None:
        return None
    rows = of_partitions(cell["run"], cell["dataset"], cell["model"], measure.metric)
    own = rows[rows["selector"].isin(table.candidates(cell["dataset"], cell["method"]))]
    rows = own if len(own) else rows[rows["selector"] != ALL]
    if own.empty and rows["selector"].nunique() < 2:
        return None
    values = rows["value"].map(measure.of_mean)
    variances = values.groupby(rows["selector"]).var(ddof=1)
    return interval(math.sqrt(variances.mean()), rows["partition"].nunique())


def of_seed(cell: pd.Series, table: PrintedTable) -> float:
    """Return the half-width by seeds of a selection by PPFS on all rows; 0 for others."""
    if cell["selected_on"] != ALL_ROWS or cell["method"] != PPFS:
        return 0.0
    rows = kept("ppfs_seeds")
    options = table.options[cell["dataset"]]
    same = (rows["code"] == "blanketflow") & (rows["fold_rows"] == "train") & (rows["dataset"] == cell["dataset"])
    same &= (rows["n_repeats"] == int(options["n_repeats"])) & (rows["n_folds"] == int(options["n_folds"]))
    of_sizes = MEASURES[cell["measure"]].metric is None
    rows = rows[same if of_sizes else same & (rows["table"] == cell["table"])]
    by_seed = rows.groupby("seed")["n_features" if of_sizes else "value"].mean()
    return interval(float(by_seed.std(ddof=1)), len(by_seed)) if len(by_seed) else 0.0


def interval(deviation: float, n: int) -> float:
    """Return the half-width of the difference of two draws of which n more are known."""
    return float(t.ppf((1 + CONFIDENCE) / 2, n - 1) * deviation * np.sqrt(2))
