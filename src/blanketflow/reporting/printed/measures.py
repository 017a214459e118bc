"""The measures that papers print, expressed by our metrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Measure:
    """How a printed measure is computed from ours.

    Attributes
    ----------
    metric : str or None
        Metric of the evaluation; None for the number of features.
    of_mean : function
        Converts the mean of the metric over the parts of one partition to the printed unit.
    higher_is_better : bool
        Whether a larger value is better.
    """

    metric: str | None
    of_mean: Callable[[float], float]
    higher_is_better: bool


def _same(value: float) -> float:
    return value


#: The measures by their names in files of printed results.
MEASURES: dict[str, Measure] = {
    "accuracy": Measure("accuracy", _same, True),
    "accuracy-percent": Measure("accuracy", lambda value: 100 * value, True),
    "error": Measure("accuracy", lambda value: 1 - value, False),
    "error-percent": Measure("accuracy", lambda value: 100 * (1 - value), False),
    "kappa": Measure("kappa", _same, True),
    "auc": Measure("roc-auc", _same, True),
    "balanced-accuracy": Measure("balanced-accuracy", _same, True),
    "root-mean-squared-error": Measure("mse", math.sqrt, False),
    "r2": Measure("r2", _same, True),
    "n-features": Measure(None, _same, False),
}


def measure_of(entry: Mapping[str, Any]) -> str:
    """Return the measure of a printed table: its key compared_as, else its key measure."""
    return str(entry.get("compared_as", entry.get("measure", ""))).replace("_", "-")


def values_of(run: pd.DataFrame, measure: Measure, model: str | None) -> pd.DataFrame:
    """Return the rows of a run with the measure in `value`: one row per selector, split and kind of selection.

    A search that found no blanket has no value, even if the measure is the number of features.
    """
    if measure.metric is None:
        one = ["dataset", "selector", "split", "selected_on"]
        has_blanket = (run["n_features"] > 0) | (run.groupby(one)["value"].transform("count") > 0)
        return run.assign(value=run["n_features"].where(has_blanket)).drop_duplicates(one)
    found = run[run["metric"] == measure.metric]
    return found[found["model"] == model] if model else found
