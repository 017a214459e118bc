"""The score of each selector: by model, and against the size of the blankets or their cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import altair as alt
import pandas as pd

from ...core.errors import UnknownNameError, did_you_mean
from ..text import mean_sd, number, seconds, signed
from .labels import GAP, Place, place_labels
from .scales import Scale, in_order, linear, wide
from .theme import BLUE, INK, ORANGE, STEP, WIDTH, noted, rounded, themed, tooltip

_COLUMNS = 3
#: Width of the names on the y axis and of the gaps between panels, in pixels.
_MARGIN = 220


def score_by_selector(scores: pd.DataFrame, metric: str, baseline: str = "all") -> alt.FacetChart:
    """Draw the mean and standard deviation over the splits of one data set, one panel per model.

    `scores` is the result table of that name for one data set, in the order to show; its columns sd, n_splits,
    n_features and difference may be missing. A dashed line marks `baseline`, the selector that keeps all features.
    Pointing at a selector highlights it in every panel.
    """
    shown = scores[(scores["metric"] == metric) & scores["mean"].notna()]
    spread = shown["sd"].fillna(0.0)
    reference = shown[shown["selector"] == baseline].set_index("model")["mean"]
    data = _described(shown).drop(columns="n_features")
    data = data.assign(
        mean=rounded(shown["mean"]),
        low=rounded(shown["mean"] - spread),
        high=rounded(shown["mean"] + spread),
        baseline=rounded(shown["model"].map(reference)),
    )
    models = list(dict.fromkeys(data["model"]))
    data = data.assign(panel=data["model"].map(models.index))
    columns = max(1, min(_COLUMNS, len(models)))
    scale = alt.Scale(zero=False, nice=True)
    axis = alt.Axis(tickCount=3, labelOverlap="parity", labelSeparation=6)
    y = alt.Y("selector:N", scale=in_order(data["selector"]), title=None)
    shown_as = tooltip({"selector": "selector", "model": "model", "score": metric, **_SHOWN})
    # Selections and views are named here, because Altair counts up its own names and equal charts would differ.
    pointed = alt.selection_point(name="pointed", fields=["selector"], on="pointerover", clear="pointerout", empty=True)
    base = alt.Chart().properties(width=(WIDTH - _MARGIN) // columns, height=alt.Step(STEP))
    reference_line = base.mark_rule(color=INK, opacity=0.6, strokeDash=[4, 3])
    spreads = base.mark_rule(color=BLUE, strokeWidth=2)
    means = base.mark_point(color=BLUE, filled=True, size=60).properties(name="means").add_params(pointed)
    emphasis = alt.condition(pointed, alt.value(1), alt.value(0.25))
    layers = alt.layer(
        reference_line.encode(
            x=alt.X("mean(baseline):Q", scale=scale),
            tooltip=[alt.Tooltip("mean(baseline):Q", title="all features", format=".4~g")],
        ),
        spreads.encode(x=alt.X("low:Q", scale=scale, title=metric, axis=axis), x2="high:Q", y=y, tooltip=shown_as),
        means.encode(x=alt.X("mean:Q", scale=scale), y=y, opacity=emphasis, tooltip=shown_as),
        data=data,
    )
    by_panel = alt.EncodingSortField("panel", op="min")
    facets = layers.facet(facet=alt.Facet("model:N", sort=by_panel, title=None), columns=columns, spacing=18)
    return themed(facets.resolve_scale(x="independent"))


_WIDTH, _HEIGHT = WIDTH - 90, 320
#: Largest length of a label in pixels.
_LONGEST = 260
#: Columns of texts that every tooltip shows, with their titles.
_SHOWN = {"difference": "difference to all features", "features": "features kept"}
#: The title of the axis of each cost.
_AXES = {"n_tests": "tests, all splits and folds", "selection_seconds": "seconds of selection, all splits and folds"}


def size_against_score(scores: pd.DataFrame, metric: str, model: str, baseline: str = "all") -> alt.LayerChart:
    """Draw the mean score of each selector on one data set against its mean blanket size.

    Selectors at the same point share one label; `baseline` has its own colour.
    """
    shown = _described(scores[(scores["metric"] == metric) & (scores["model"] == model)])
    points = shown.assign(x=shown["n_features"].round(2), y=shown["mean"]).dropna(subset=["x", "y"])
    titles = {"score": f"{metric} ({model})", **_SHOWN}
    return _scatter(
        points, wide(points["x"]), "features kept, mean over splits", f"{metric} ({model})", titles, baseline
    )


def cost_against_score(
    scores: pd.DataFrame,
    runtime: pd.DataFrame,
    metric: str,
    model: str,
    cost: str = "selection_seconds",
    baseline: str = "all",
) -> alt.LayerChart:
    """Draw the mean score of each selector on one data set against the cost of selection, on a logarithmic axis.

    `scores` and `runtime` are the result tables of these names for one data set, `cost` is ``selection_seconds`` or
    ``n_tests``. The axis reaches 0 if a selector costs nothing, such as one that makes no tests.
    """
    if cost not in _AXES:
        raise UnknownNameError(f"no cost {cost!r} to draw. {did_you_mean(cost, _AXES)}")
    shown = _described(scores[(scores["metric"] == metric) & (scores["model"] == model)])
    shown = shown.merge(runtime[["selector", "n_tests", "selection_seconds"]], on="selector")
    points = shown.assign(
        x=shown[cost],
        y=shown["mean"],
        tests=[number(n) for n in shown["n_tests"]],
        time=[seconds(value) for value in shown["selection_seconds"]],
    ).dropna(subset=["x", "y"])
    titles = {"score": f"{metric} ({model})", **_SHOWN, "tests": "tests", "time": "time to select"}
    return _scatter(points, wide(points["x"], always=True), _AXES[cost], f"{metric} ({model})", titles, baseline)


def _scatter(
    points: pd.DataFrame, x_scale: Scale, across: str, up: str, titles: Mapping[str, str], baseline: str
) -> alt.LayerChart:
    """Draw one point per position, with the names of its selectors next to it.

    `points` has the columns selector, x, y, and the texts of the tooltip, which are the keys of `titles`; no value is
    missing. `across` and `up` are the titles of the axes.
    """
    shown = points.assign(x=rounded(points["x"]), y=rounded(points["y"]), is_baseline=points["selector"] == baseline)
    texts = dict.fromkeys(titles, _each_once)
    shown = shown.groupby(["x", "y"], as_index=False).agg({"selector": ", ".join, "is_baseline": "any", **texts})
    y_scale = linear(shown["y"])
    places = _places(shown, x_scale, y_scale)
    shown = shown.assign(
        side=[place.side if place else "" for place in places],
        label_y=rounded(pd.Series([_value(place, y_scale) for place in places], dtype="float64")),
    )
    title = across + ("" if x_scale.kind == "linear" else " (logarithmic)")
    x = alt.X("x:Q", title=title, scale=x_scale.of_chart(), axis=x_scale.axis())
    base = alt.Chart().encode(x=x, tooltip=tooltip({"selector": "selector", **titles}))
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        y=alt.Y("y:Q", title=up, scale=y_scale.of_chart(), axis=y_scale.axis()),
        color=alt.condition("datum.is_baseline", alt.value(ORANGE), alt.value(BLUE)),
    )
    labels = [
        base.transform_filter(f"datum.side == '{side}'")
        .mark_text(align=align, dx=dx, color=INK, fontSize=12, limit=_LONGEST)
        .encode(y=alt.Y("label_y:Q", scale=y_scale.of_chart()), text="selector:N")
        for side, align, dx in (("right", "left", GAP), ("left", "right", -GAP))
    ]
    chart = alt.layer(dots, *labels, data=shown).properties(width=_WIDTH, height=_HEIGHT)
    hidden = places.count(None)
    note = f"{hidden} of {len(places)} names do not fit: point at the dots to read them"
    return noted(chart, note if hidden else "")


def _each_once(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))


def _places(points: pd.DataFrame, x_scale: Scale, y_scale: Scale) -> list[Place | None]:
    rows = [
        (x_scale.position(row.x) * _WIDTH, y_scale.position(row.y) * _HEIGHT, row.selector)
        for row in points.itertuples()
    ]
    return place_labels(rows, _WIDTH, _HEIGHT, _LONGEST)


def _value(place: Place | None, scale: Scale) -> float:
    return float("nan") if place is None else scale.low + place.height / _HEIGHT * (scale.high - scale.low)


def _described(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the columns selector, model, mean and n_features, and the texts score, difference and features."""
    full = scores.reindex(columns=["selector", "model", "mean", "sd", "n_splits", "n_features", "difference"])
    return pd.DataFrame(full[["selector", "model", "mean", "n_features"]]).assign(
        score=[
            mean_sd(mean, sd, number) + (f" over {int(n)} splits" if n > 1 else "")
            for mean, sd, n in zip(full["mean"], full["sd"], full["n_splits"], strict=True)
        ],
        difference=[signed(value) for value in full["difference"]],
        features=[number(value, 1) for value in full["n_features"]],
    )
