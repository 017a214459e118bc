"""How well models predict from each selector's features, compared with all features and the other selectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.errors import UnknownNameError, did_you_mean
from ...data.artefact_columns import Column, rows_of
from ...data.provenance import STATUSES
from .result_table import frame

if TYPE_CHECKING:
    import pandas as pd


#: Direction of each metric. The first one that a data set has is its main metric.
HIGHER_IS_BETTER: dict[str, bool] = {
    "accuracy": True,
    "balanced-accuracy": True,
    "roc-auc": True,
    "kappa": True,
    "r2": True,
    "error": False,
    "log-loss": False,
    "mse": False,
    "mae": False,
}
#: Means closer than this count as equal: they differ by the order of summation alone.
DECIMALS = 12


SCORES = rows_of(
    "data set, selector, model and metric: means over the splits",
    "dataset selector model metric mean sd n_splits n_features difference best status reason",
    mean=Column("double", "mean over the evaluation splits", "the metric's"),
    sd=Column("double", "standard deviation over the evaluation splits", "the metric's"),
    n_splits=Column("int64", "number of evaluation splits with a value"),
    n_features=Column("double", "mean number of features that the model saw"),
    difference=Column("double", "mean of the differences to all features", "the metric's"),
    best=Column("bool", "whether it is the best mean among the selectors that were scored on the most splits"),
    status=Column("string", f"one of {', '.join(STATUSES)}; undefined: the metric has no value"),
)


def scores(evaluations: pd.DataFrame, baseline: str = "all") -> pd.DataFrame:
    """Summarise each metric over the evaluation splits.

    ``sd`` (n - 1 in the denominator) is missing for one split. ``difference`` is the mean of the differences to
    `baseline`, the selector that keeps all features, on the splits that both have. ``best`` marks the best mean, ties
    included, among the selectors scored on the most splits: a selector that fails on the hard splits cannot win by it.
    ``status`` is that of the first split if there is no value on any; ``unreliable`` if some splits lack one. Raises
    `UnknownNameError` if a metric is not in `HIGHER_IS_BETTER`.
    """
    import pandas as pd

    evaluations = evaluations.dropna(subset=["model", "metric"])  # a failure before any model was fitted has neither
    for metric in evaluations["metric"].unique():
        is_higher_better(metric)
    evaluations = evaluations.assign(value=pd.to_numeric(evaluations["value"]))
    keys = ["dataset", "split", "model", "metric"]
    reference = evaluations.loc[evaluations["selector"] == baseline, [*keys, "value"]]
    paired = evaluations.merge(reference.rename(columns={"value": "reference"}), on=keys, how="left")
    paired["difference"] = paired["value"] - paired["reference"]
    group = ["dataset", "selector", "model", "metric"]
    rows = [
        dict(zip(group, key, strict=True))
        | {
            "mean": part["value"].mean(),
            "sd": part["value"].std(ddof=1),
            "n_splits": int(part["value"].notna().sum()),
            "n_features": part.loc[~_without_blanket(part), "n_features"].mean(),
            "difference": part["difference"].mean(),
            "best": False,
        }
        | _status(part)
        for key, part in paired.groupby(group, sort=False, observed=True)
    ]
    return _mark_best(frame(SCORES, rows))


def _without_blanket(part: pd.DataFrame) -> pd.Series:
    """Mark the splits on which the search failed: they have no features, and the status of a failure."""
    return part["status"].isin(("error", "timeout")) & (part["n_features"] == 0)


def _status(part: pd.DataFrame) -> dict[str, str]:
    lacking = part[part["value"].isna()]
    if lacking.empty:
        return {"status": "ok", "reason": ""}
    first = lacking.iloc[0]
    if len(lacking) == len(part):
        return {"status": first["status"], "reason": first["reason"]}
    said = f"no value on {len(lacking)} of {len(part)} splits; {first['split']}: {first['status']}, {first['reason']}"
    return {"status": "unreliable", "reason": said}


def is_higher_better(metric: str) -> bool:
    """Return the direction of a metric, or raise `UnknownNameError`."""
    if metric not in HIGHER_IS_BETTER:
        raise UnknownNameError(f"no metric {metric!r} to compare by. {did_you_mean(metric, HIGHER_IS_BETTER)}")
    return HIGHER_IS_BETTER[metric]


def _mark_best(table: pd.DataFrame) -> pd.DataFrame:
    for (_, _, metric), part in table.groupby(["dataset", "model", "metric"], sort=False):
        means = part.loc[part["n_splits"] == part["n_splits"].max(), "mean"].dropna().round(DECIMALS)
        if len(means):
            best = means.max() if is_higher_better(metric) else means.min()
            table.loc[means.index[means == best], "best"] = True
    return table


OPTIMISM = rows_of(
    "data set, selector, model and metric: how much the score gains if selection sees the test rows",
    "dataset selector model metric honest optimistic difference n_splits",
    honest=Column("double", "mean score of blankets of the training rows, over the splits that both kinds have"),
    optimistic=Column("double", "mean score of the final blanket, which has seen the test rows"),
    difference=Column("double", "optimistic less honest"),
    n_splits=Column("int64", "number of splits that both kinds have"),
)


def optimism(evaluations: pd.DataFrame) -> pd.DataFrame:
    """Set the scores of the final blanket beside those of the blankets of the training rows.

    `evaluations` has one more column, `selected_on`. Only what was scored both ways has a row, with means over the
    splits that both have.
    """
    import pandas as pd

    keys = ["dataset", "selector", "model", "metric"]
    scored = evaluations.dropna(subset=["model", "metric"]).assign(value=lambda rows: pd.to_numeric(rows["value"]))
    wide = scored.pivot_table("value", [*keys, "split"], "selected_on", sort=False)
    if wide.shape[1] < 2:
        return frame(OPTIMISM, [])
    rows = [
        dict(zip(keys, key, strict=True))
        | {"honest": part.iloc[:, 0].mean(), "optimistic": part.iloc[:, 1].mean(), "n_splits": len(part)}
        | {"difference": (part.iloc[:, 1] - part.iloc[:, 0]).mean()}
        for key, part in wide.dropna().groupby(keys, sort=False)
    ]
    return frame(OPTIMISM, rows)
