"""Scores of models with each selector's features, compared with all features and the other selectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.errors import UnknownNameError, did_you_mean
from ...core.metrics import METRICS, in_order_of_place
from ...core.task import has_rare_class
from ...data.artefact_columns import Column, rows_of
from ...data.provenance import STATUSES
from .result_table import ALL, NOTHING, competes, frame, selector_of

if TYPE_CHECKING:
    import pandas as pd


#: Smaller differences between means come from the order of summation and count as 0.
DECIMALS = 12


SCORES = rows_of(
    "data set, selector, model and metric: means over the splits",
    "dataset selector model metric mean sd low high n_splits n_features difference difference_low difference_high "
    "gain gain_low gain_high best status reason",
    mean=Column("double", "mean over the evaluation splits", "the metric's"),
    sd=Column("double", "standard deviation over the evaluation splits", "the metric's"),
    low=Column(
        "double", "lower end of the 95 % interval of the mean, corrected for overlapping splits", "the metric's"
    ),
    high=Column("double", "its upper end", "the metric's"),
    n_splits=Column("int64", "number of evaluation splits with a value"),
    n_features=Column("double", "mean number of features that the model saw"),
    difference=Column("double", "mean of the differences to all features on the same splits", "the metric's"),
    difference_low=Column("double", "lower end of its 95 % interval", "the metric's"),
    difference_high=Column("double", "upper end of its 95 % interval", "the metric's"),
    gain=Column("double", "mean improvement over no feature on the same splits; positive is better", "the metric's"),
    gain_low=Column("double", "lower end of its 95 % interval", "the metric's"),
    gain_high=Column("double", "upper end of its 95 % interval", "the metric's"),
    best=Column("bool", "whether it is the best mean, and there are others, all of which are clearly worse"),
    status=Column("string", f"one of {', '.join(STATUSES)}; undefined: the metric has no value"),
)
_KEYS = ["dataset", "split", "model", "metric"]


def scores(
    evaluations: pd.DataFrame, selectors: Mapping[str, Mapping[str, Any]] = MappingProxyType({}), n_parts: float = 0
) -> pd.DataFrame:
    """Summarise each metric over the evaluation splits.

    ``sd`` (denominator n - 1) is missing for one split. ``difference`` is the mean difference to all features, and
    ``gain`` the mean improvement over no features, on the common splits. If no selector is the reference without
    features, its rows are made from ``prior`` in `evaluations`. ``best`` marks the best mean and ties if there are
    other selectors and the 95 % intervals of all their differences to it exclude 0, so that noise makes no winner. Only
    competing selectors with scores on the most splits count, because those that fail on hard splits have an advantage.
    ``status`` is that of the first split if no split has a value; ``unreliable`` if some lack one.

    `selectors` has the specs; `n_parts` is the number of outer folds of a repetition (0: the number of splits of a data
    set), which affects the intervals. Raises `UnknownNameError` for a metric not in `METRICS`.
    """
    import pandas as pd

    evaluations = evaluations.dropna(subset=["model", "metric"])  # a failure before any model was fitted has neither
    for metric in evaluations["metric"].unique():
        is_higher_better(metric)
    evaluations = with_nothing(evaluations.assign(value=pd.to_numeric(evaluations["value"])), selectors)
    n_splits = evaluations.groupby("dataset")["split"].nunique()
    parts_of = {name: n_parts or n for name, n in n_splits.items()}
    paired = evaluations
    for method, column in ((ALL, "of_all"), (NOTHING, "of_none")):
        reference = evaluations.loc[evaluations["selector"] == selector_of(method, selectors), [*_KEYS, "value"]]
        paired = paired.merge(reference.rename(columns={"value": column}), on=_KEYS, how="left")
    group = ["dataset", "selector", "model", "metric"]
    rows = [
        dict(zip(group, key, strict=True)) | _summary(part, key[-1], parts_of[key[0]]) | _status(part)
        for key, part in paired.groupby(group, sort=False, observed=True)
    ]
    table = frame(SCORES, rows)
    return table.assign(best=_best(evaluations, table, selectors, parts_of))


def with_nothing(evaluations: pd.DataFrame, selectors: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Return evaluations including those of no features, which are equal for every selector."""
    import pandas as pd

    name = selector_of(NOTHING, selectors)
    if "prior" not in evaluations:
        return evaluations
    has_it = evaluations.loc[evaluations["selector"] == name, "dataset"].unique()
    known = evaluations[~evaluations["dataset"].isin(has_it)].dropna(subset=["prior"]).drop_duplicates(_KEYS)
    of_prior = {"selector": name, "value": pd.to_numeric(known["prior"]), "n_features": 0, "seconds": 0.0}
    rows = known.assign(**of_prior, status="ok", reason="")
    return pd.concat([evaluations, rows], ignore_index=True) if len(rows) else evaluations


def _summary(part: pd.DataFrame, metric: str, n_parts: float) -> dict[str, Any]:
    sign = 1 if is_higher_better(metric) else -1
    own = corrected_mean(part["value"].to_numpy(), n_parts)
    to_all = corrected_mean((part["value"] - part["of_all"]).to_numpy(), n_parts)
    to_none = corrected_mean(sign * (part["value"] - part["of_none"]).to_numpy(), n_parts)
    perfect = 1.0 if sign > 0 else 0.0
    return {
        "mean": own.value,
        "sd": part["value"].std(ddof=1),
        "low": own.low if sign > 0 else max(own.low, perfect),
        "high": min(own.high, perfect) if sign > 0 else own.high,
        "n_splits": int(part["value"].notna().sum()),
        "n_features": part.loc[~_without_blanket(part), "n_features"].mean(),
        "difference": to_all.value,
        "difference_low": to_all.low,
        "difference_high": to_all.high,
        "gain": to_none.value,
        "gain_low": to_none.low,
        "gain_high": to_none.high,
        "best": False,
    }


def _without_blanket(part: pd.DataFrame) -> pd.Series:
    """Mark the splits on which the search failed: no features, and a failure status."""
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
    """Return the direction of a metric; raises `UnknownNameError`."""
    if metric not in METRICS:
        raise UnknownNameError(f"no metric {metric!r} to compare by. {did_you_mean(metric, METRICS)}")
    return METRICS[metric].higher_is_better


def _best(
    evaluations: pd.DataFrame,
    table: pd.DataFrame,
    selectors: Mapping[str, Mapping[str, Any]],
    parts_of: Mapping[str, int],
) -> pd.Series:
    """Return which rows are clearly better than all others of their data set, model and metric."""
    best = table["best"].copy()
    group = ["dataset", "model", "metric"]
    by_split = dict(iter(evaluations.groupby(group, sort=False, observed=True)))
    for key, part in table.groupby(group, sort=False):
        compared = part[part["selector"].map(lambda name: competes(name, selectors)) & part["mean"].notna()]
        compared = compared[compared["n_splits"] == compared["n_splits"].max()]
        if compared.empty:
            continue
        values = by_split[key].pivot(index="split", columns="selector", values="value")[list(compared["selector"])]
        behind = behind_the_best(values, is_higher_better(key[-1]), parts_of[key[0]])
        first = [round(behind[name].value, DECIMALS) == 0 for name in compared["selector"]]
        apart = [behind[name].low > 0 for name in compared["selector"]]
        if any(apart) and all(is_first or is_apart for is_first, is_apart in zip(first, apart, strict=True)):
            best.loc[compared.index] = first
    return best


def behind_the_best(values: pd.DataFrame, higher_is_better: bool, n_parts: float) -> dict[str, Mean]:
    """Return by how much each column is worse than the column with the best mean, on the same rows.

    `values` has shape (n_splits, n_selectors); `n_parts` is as in `corrected_mean`.
    """
    losses = -values if higher_is_better else values
    best = losses.mean().round(DECIMALS).idxmin()
    return {name: corrected_mean((losses[name] - losses[best]).to_numpy(), n_parts) for name in losses}


OPTIMISM = rows_of(
    "data set, selector, model and metric: how much the score gains if selection sees the test rows",
    "dataset selector model metric honest optimistic difference n_splits",
    honest=Column("double", "mean score of blankets of the training rows, over the splits that both kinds have"),
    optimistic=Column("double", "mean score of the final blanket, which has seen the test rows"),
    difference=Column("double", "optimistic less honest"),
    n_splits=Column("int64", "number of splits that both kinds have"),
)


def optimism(evaluations: pd.DataFrame) -> pd.DataFrame:
    """Compare the scores of the final blanket with those of the blankets of the training rows.

    `evaluations` has the additional column `selected_on`. Means are over the splits scored both ways.
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


#: Coverage of the intervals.
LEVEL = 0.95


class Mean(NamedTuple):
    """A mean with its standard error and 95 % interval; NaN if unknown."""

    value: float
    error: float
    low: float
    high: float


def corrected_mean(values: np.ndarray, n_parts: float) -> Mean:
    """Return the mean of one value per split with the corrected standard error and Student's interval.

    The variance of the mean is that of the values times 1 / n_splits + 1 / (n_parts - 1), where the second term is the
    ratio of test to training rows of a split and `n_parts` the number of outer folds of a repetition, or another number
    with that ratio. NaN in `values` is ignored; one value has no interval.

    Nadeau and Bengio (2003), Inference for the generalization error, Machine Learning 52, 239-281,
    doi:10.1023/A:1024068626366.

    >>> [round(float(number), 3) for number in corrected_mean(np.array([0.7, 0.8, 0.9]), 3)]
    [0.8, 0.091, 0.407, 1.193]
    """
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    mean = float(known.mean()) if len(known) else float("nan")
    if len(known) < 2 or n_parts < 2:
        return Mean(mean, *[float("nan")] * 3)
    from scipy.special import stdtrit

    error = float(np.sqrt(known.var(ddof=1) * (1 / len(known) + 1 / (n_parts - 1))))
    half = error * float(stdtrit(len(known) - 1, (1 + LEVEL) / 2))
    return Mean(mean, error, mean - half, mean + half)


# --- scores on held-out groups, such as sites -------------------------------------------------------------------------

HELD_OUT_GROUPS = rows_of(
    "data set, selector, model, metric and group: how well the set does there, found and trained without its rows",
    "dataset selector model metric group n_rows value seen drop prior n_features status reason",
    group=Column("string", "the group that the split holds out, as its column names it"),
    n_rows=Column("int64", "its rows"),
    value=Column("double", "score at this group; NaN where there is none", "the metric's"),
    drop=Column("double", "by how much that is worse than `seen`; negative if it is better", "the metric's"),
    prior=Column("double", "score there of the majority class or the mean, without any feature", "the metric's"),
)


def held_out_groups(evaluations: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each score at a held-out group; none without groups (`group` and `n_rows`).

    Steyerberg and Harrell (2016), Prediction models need appropriate internal, internal-external, and external
    validation, Journal of Clinical Epidemiology 69, 245-247, doi:10.1016/j.jclinepi.2015.04.005.
    """
    import pandas as pd

    if "group" not in evaluations:
        return frame(HELD_OUT_GROUPS, [])
    known = evaluations.dropna(subset=["model", "metric", "group"])
    numbers = {name: pd.to_numeric(known[name]) for name in ("value", "seen", "prior")}
    sign = known["metric"].map(lambda metric: 1 if is_higher_better(metric) else -1)
    known = known.assign(**numbers, drop=sign * (numbers["seen"] - numbers["value"]))
    return frame(HELD_OUT_GROUPS, known.to_dict("records"))


# --- what was observed on unseen rows, by parts of the predictions, for further kinds of targets ----------------------

OBSERVED = rows_of(
    "part of the unseen rows by prediction, and time of a survival curve or class of ordered ones",
    "dataset selector model part n_parts rows at label at_risk events observed predicted low high",
    part=Column("int64", "part by rank of the prediction in its split, 1 for the lowest; equal ones are together"),
    n_parts=Column("int64", "number of parts: 3 for survival and ordered classes, else 10"),
    rows=Column("int64", "test rows of the part, each counted once"),
    at=Column("double", "survival: time; ordered classes: code of the class; else null", "the target's"),
    label=Column("string", "ordered classes: the class"),
    at_risk=Column("double", "survival: rows at risk just before the time; null between round times"),
    events=Column("double", "survival: events up to the time; null between round times"),
    observed=Column(
        "double",
        "survival: Kaplan-Meier estimate of the share without the event, null after the part's last row; ordered "
        "classes: share of the class; else the mean, for counts with exposure per unit of it",
    ),
    predicted=Column("double", "ordered classes: predicted share of the class; survival: null; else predicted mean"),
    low=Column("double", "lower end of the 95 % interval of an observed mean; null for others"),
    high=Column("double", "upper end of it"),
)


def observed(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the parts of all data sets, selectors and models; none for classification and regression."""
    return frame(OBSERVED, rows)


# --- the leading metric and model of a data set, in the report, the charts and the summary of a run -------------------

#: The leading metrics if a class is rare; else that of the lowest place.
IF_RARE = ("roc-auc", "log-loss")
#: The leading metrics if ``auto`` has a `metric`.
IF_ASKED: Mapping[str, tuple[str, ...]] = {
    "error": ("accuracy",),
    "log-loss": IF_RARE,
    "r2": ("r2",),
    "normal-scores": ("r2",),
}
Selectors = Mapping[str, Mapping[str, Any]]
NO_SELECTORS: Selectors = MappingProxyType({})


def is_rare(card: Mapping[str, Any]) -> bool:
    """Return whether a class is so rare that accuracy is uninformative, by the rule of ``auto``."""
    return has_rare_class((card["target"].get("classes") or {}).values())


def _first(card: Mapping[str, Any], selectors: Selectors) -> tuple[str, ...]:
    """Return the leading metrics: those by which ``auto`` judges the data set, for consistency."""
    asked = next((spec.get("metric") for spec in selectors.values() if spec.get("method") == "auto"), None)
    is_of_task = (asked in ("error", "log-loss")) == bool(card["target"].get("classes"))
    return IF_ASKED[asked] if asked in IF_ASKED and is_of_task else IF_RARE if is_rare(card) else ()


def metrics_in_order(card: Mapping[str, Any], selectors: Selectors = NO_SELECTORS) -> list[str]:
    """Return all metrics, those that lead on a data set first.

    >>> metrics_in_order({"target": {"classes": {"ill": 10, "well": 90}}})[:3]
    ['roc-auc', 'log-loss', 'accuracy']
    """
    return list(dict.fromkeys((*_first(card, selectors), *in_order_of_place())))


def leading_metrics(scores: pd.DataFrame, card: Mapping[str, Any], selectors: Selectors = NO_SELECTORS) -> list[str]:
    """Return the leading metrics among those in `scores`: one, or two if a class is rare.

    In `selectors`, ``auto`` may have been configured to judge by another metric, which then leads.
    """
    known = set(scores.dropna(subset=["mean"])["metric"])
    in_order = [metric for metric in metrics_in_order(card, selectors) if metric in known]
    return [metric for metric in _first(card, selectors) if metric in known] or in_order[:1]


def leading_model(scores: pd.DataFrame, metric: str | None, selectors: Selectors) -> str | None:
    """Return the model that predicts best from all features, so that no selector affects the choice.

    Without this baseline it is the first model; None without scores.
    """
    known = scores[scores["metric"] == metric].dropna(subset=["mean"])
    if metric is None or known.empty:
        return None
    means = known[known["selector"] == selector_of(ALL, selectors)].set_index("model")["mean"]
    if means.empty:
        return known["model"].iloc[0]
    return means.idxmax() if is_higher_better(metric) else means.idxmin()
