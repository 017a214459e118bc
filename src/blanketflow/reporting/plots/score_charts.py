"""Charts of scores: by selector and model, against size or cost, and of the best set of each size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import altair as alt
import pandas as pd

from ...core.errors import UnknownNameError, did_you_mean
from ..formatting import BLUE, INK, ORANGE, mean_sd, number, seconds, signed
from ..tables.result_table import reference_of
from .placement import GAP, Place, Scale, in_order, linear, place_labels, wide, window
from .theme import STEP, WIDTH, noted, rounded, tooltip

_COLUMNS = 3
#: Width of the names on the y axis and of the gaps between panels, in pixels.
_MARGIN = 220
#: The lines of the references: column of the data, name, dashes.
_LINES = (("baseline", "all features", [4, 3]), ("nothing", "no feature", [1, 3]))


def score_by_selector(
    scores: pd.DataFrame, metric: str, baseline: str = "all", nothing: str = "none"
) -> alt.FacetChart:
    """Draw the mean score of each selector with its 95 % interval on one data set, one panel per model.

    `scores` is that result table for one data set in display order; sd, low, high, n_splits, n_features and difference
    are optional. A dashed line marks `baseline` (all features) and a dotted one `nothing` (no features). Both are on
    the axis; intervals are cut by `window`. Hovering highlights a selector in every panel.
    """
    known = scores[(scores["metric"] == metric) & scores["mean"].notna()]
    means = known.set_index(["selector", "model"])["mean"]
    shown = known[known["selector"] != nothing]
    data = _described(shown).drop(columns="n_features")
    data = data.assign(
        mean=rounded(shown["mean"]),
        baseline=rounded(shown["model"].map(lambda model: means.get((baseline, model)))),
        nothing=rounded(shown["model"].map(lambda model: means.get((nothing, model)))),
    )
    panels = [panel for _, panel in data.groupby("model", sort=False)]
    data = pd.concat([data[:0], *(_cut(panel, panel[["baseline", "nothing"]].iloc[0]) for panel in panels)])
    models = list(dict.fromkeys(data["model"]))
    data = data.assign(panel=data["model"].map(models.index))
    columns = max(1, min(_COLUMNS, len(models)))
    scale = alt.Scale(zero=False, nice=True)
    axis = alt.Axis(tickCount=3, labelOverlap="parity", labelSeparation=6)
    y = alt.Y("selector:N", scale=in_order(data["selector"]), title=None)
    shown_as = tooltip({"selector": "selector", "model": "model", "score": metric, **_SHOWN})
    # Explicit names of selections and views: Altair numbers its own, so that equal charts would differ.
    pointed = alt.selection_point(name="pointed", fields=["selector"], on="pointerover", clear="pointerout", empty=True)
    base = alt.Chart().properties(width=(WIDTH - _MARGIN) // columns, height=alt.Step(STEP))
    spreads = base.mark_rule(color=BLUE, strokeWidth=2)
    marks = base.mark_point(color=BLUE, filled=True, size=60).properties(name="means").add_params(pointed)
    emphasis = alt.condition(pointed, alt.value(1), alt.value(0.25))
    layers = alt.layer(
        *(
            base.mark_rule(color=INK, opacity=0.6, strokeDash=dash).encode(
                x=alt.X(f"mean({column}):Q", scale=scale),
                tooltip=[alt.Tooltip(f"mean({column}):Q", title=title, format=".4~g")],
            )
            for column, title, dash in _LINES
        ),
        spreads.encode(
            x=alt.X("low:Q", scale=scale, title=metric, axis=axis), x2=alt.X2("high:Q"), y=y, tooltip=shown_as
        ),
        marks.encode(x=alt.X("mean:Q", scale=scale), y=y, opacity=emphasis, tooltip=shown_as),
        data=data,
    )
    by_panel = alt.EncodingSortField("panel", op="min")
    facets = layers.facet(facet=alt.Facet("model:N", sort=by_panel, title=None), columns=columns, spacing=18)
    drawn = [
        f"{how}: {title}"
        for (column, title, _), how in zip(_LINES, ("dashed", "dotted"), strict=True)
        if data[column].notna().any()
    ]
    return noted(facets.resolve_scale(x="independent"), "; ".join(drawn))


def _cut(rows: pd.DataFrame, references: Iterable[float]) -> pd.DataFrame:
    """Return rows with their intervals (low, high) cut to the visible part of the axis."""
    start, end = window(rows["mean"].tolist(), references, rows["low"], rows["high"])
    return rows.assign(low=rounded(rows["low"].clip(lower=start)), high=rounded(rows["high"].clip(upper=end)))


_WIDTH, _HEIGHT = WIDTH - 90, 320
#: Largest length of a label in pixels.
_LONGEST = 260
#: Columns of texts that every tooltip shows, with their titles.
_SHOWN = {"interval": "95 % interval", "difference": "difference to all features", "features": "features kept"}
#: The title of the axis of each cost.
_AXES = {"n_tests": "tests, all splits and folds", "selection_seconds": "seconds of selection, all splits and folds"}


def size_against_score(
    scores: pd.DataFrame, metric: str, model: str, baseline: str = "all", nothing: str = "none"
) -> alt.LayerChart:
    """Draw the mean score of each selector on one data set, with its 95 % interval, against its mean blanket size.

    Selectors at one point share a label. `baseline` has its own colour and a dashed line, `nothing` a dotted one.
    """
    shown = _described(scores[(scores["metric"] == metric) & (scores["model"] == model)])
    points = shown.assign(x=shown["n_features"].round(2), y=shown["mean"]).dropna(subset=["x", "y"])
    titles = {"score": f"{metric} ({model})", **_SHOWN}
    kept = points.loc[points["selector"] != nothing, "x"]
    across, up = "features kept, mean over splits", f"{metric} ({model})"
    return _scatter(points, wide(kept), across, up, titles, (baseline, nothing))


def cost_against_score(
    scores: pd.DataFrame,
    runtime: pd.DataFrame,
    metric: str,
    model: str,
    cost: str = "selection_seconds",
    baseline: str = "all",
    nothing: str = "none",
) -> alt.LayerChart:
    """Draw the mean score of each selector on one data set against the cost of selection, on a logarithmic axis.

    `scores` and `runtime` are those result tables for one data set; `cost` is ``selection_seconds`` or ``n_tests``. The
    axis includes 0 if a selector costs nothing, for example one without tests.
    """
    if cost not in _AXES:
        raise UnknownNameError(f"no cost {cost!r} to draw. {did_you_mean(cost, _AXES)}")
    shown = _described(scores[(scores["metric"] == metric) & (scores["model"] == model)])
    shown = shown.merge(runtime[["selector", "n_tests", "selection_seconds"]], on="selector", how="left")
    points = shown.assign(
        x=shown[cost].fillna(0.0),  # what was not run, as no feature
        y=shown["mean"],
        tests=[number(n) for n in shown["n_tests"]],
        time=[seconds(value) for value in shown["selection_seconds"]],
    ).dropna(subset=["x", "y"])
    titles = {"score": f"{metric} ({model})", **_SHOWN, "tests": "tests", "time": "time to select"}
    of_selectors = points.loc[points["selector"] != nothing, "x"]
    up = f"{metric} ({model})"
    return _scatter(points, wide(of_selectors, always=True), _AXES[cost], up, titles, (baseline, nothing))


def _scatter(
    points: pd.DataFrame,
    x_scale: Scale,
    across: str,
    up: str,
    titles: Mapping[str, str],
    references: tuple[str, str],
) -> alt.LayerChart:
    """Draw a point with interval and names of selectors per position, and the reference lines.

    `points` has the columns selector, x, y (not missing), low, high, and those of the tooltip (keys of `titles`).
    `across` and `up` are the axis titles, `references` the selectors of all features and of none.
    """
    at = dict(zip(points["selector"], points["y"], strict=True))
    lines = [(at[name], title, dash) for name, (_, title, dash) in zip(references, _LINES, strict=True) if name in at]
    points = _cut(points.assign(mean=points["y"]), [y for y, *_ in lines])
    shown = points[points["selector"] != references[1]]
    shown = shown.assign(x=rounded(shown["x"]), y=rounded(shown["y"]), is_baseline=shown["selector"] == references[0])
    texts = dict.fromkeys(titles, _each_once)
    how = {"selector": ", ".join, "is_baseline": "any", "low": "min", "high": "max", **texts}
    shown = shown.groupby(["x", "y"], as_index=False).agg(how)
    y_scale = linear(pd.concat([shown["y"], shown["low"], shown["high"], pd.Series([y for y, *_ in lines])]).dropna())
    places = _places(shown, x_scale, y_scale)
    shown = shown.assign(
        side=[place.side if place else "" for place in places],
        label_y=rounded(pd.Series([_value(place, y_scale) for place in places], dtype="float64")),
    )
    title = across + ("" if x_scale.kind == "linear" else " (logarithmic)")
    x = alt.X("x:Q", title=title, scale=x_scale.of_chart(), axis=x_scale.axis())
    base = alt.Chart().encode(x=x, tooltip=tooltip({"selector": "selector", **titles}))
    colour = alt.condition("datum.is_baseline", alt.value(ORANGE), alt.value(BLUE))
    up_axis = alt.Y("y:Q", title=up, scale=y_scale.of_chart(), axis=y_scale.axis())
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(y=up_axis, color=colour)
    spreads = base.mark_rule(strokeWidth=2, opacity=0.4).encode(
        y=alt.Y("low:Q", scale=y_scale.of_chart()), y2=alt.Y2("high:Q"), color=colour
    )
    labels = [
        base.transform_filter(f"datum.side == '{side}'")
        .mark_text(align=align, dx=dx, color=INK, fontSize=12, limit=_LONGEST)
        .encode(y=alt.Y("label_y:Q", scale=y_scale.of_chart()), text=alt.Text("selector:N"))
        for side, align, dx in (("right", "left", GAP), ("left", "right", -GAP))
    ]
    layers = [*_reference_lines(lines, y_scale), spreads, dots, *labels]
    chart = alt.layer(*layers, data=shown, width=_WIDTH, height=_HEIGHT)
    hidden = places.count(None)
    note = f"{hidden} of {len(places)} names do not fit: point at the dots to read them"
    return noted(chart, note if hidden else "")


def _reference_lines(lines: Sequence[tuple[float, str, list[int]]], y_scale: Scale) -> list[alt.Chart]:
    """Return horizontal lines: a point marks that of all features, a text at the right end the other."""
    layers = []
    for y, title, dash in lines:
        base = alt.Chart(pd.DataFrame({"y": [y], "title": [title]})).encode(
            y=alt.Y("y:Q", scale=y_scale.of_chart()), tooltip=tooltip({"title": "reference"})
        )
        layers.append(base.mark_rule(color=INK, opacity=0.45, strokeDash=dash))
        if title == _LINES[1][1]:
            text = base.mark_text(align="right", color=INK, opacity=0.75, fontSize=11, dy=-7)
            layers.append(text.encode(x=alt.XValue(_WIDTH), text=alt.Text("title:N")))
    return layers


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
    """Return the columns selector, model, mean, low, high and n_features, and the texts of the tooltips."""
    numbers = ["mean", "sd", "low", "high", "n_splits", "n_features", "difference"]
    full = scores.reindex(columns=["selector", "model", *numbers])
    return pd.DataFrame(full[["selector", "model", "mean", "low", "high", "n_features"]]).assign(
        score=[
            mean_sd(mean, sd, number) + (f" over {int(n)} splits" if n > 1 else "")
            for mean, sd, n in zip(full["mean"], full["sd"], full["n_splits"], strict=True)
        ],
        interval=[
            "not known" if low != low else f"{number(low)} to {number(high)}"
            for low, high in zip(full["low"], full["high"], strict=True)
        ],
        difference=[signed(value) for value in full["difference"]],
        features=[number(value, 1) for value in full["n_features"]],
    )


# --- the score of the best set of each size ---------------------------------------------------------------------------

_LINE_WIDTH = 420


def score_by_size(alternatives: pd.DataFrame, metric: str) -> alt.LayerChart:
    """Draw the score of the best set of each size, the chosen size, and a dashed line at all (or no) features.

    `alternatives` has the columns n_features, ranking, difference, stability, chosen and `metric`, by size.
    """
    at, reference = reference_of(alternatives)
    data = pd.DataFrame(
        {
            "size": alternatives["n_features"],
            "score": rounded(alternatives[metric]),
            "chosen": alternatives["chosen"],
            "ranking": alternatives["ranking"],
            "stability": alternatives["stability"].map(number),
            "difference": alternatives["difference"].map(number),
        }
    )
    titles = {
        "size": "features",
        "score": metric,
        "ranking": "ranking",
        "stability": "stability",
        "difference": "difference to all features",
    }
    sizes = alt.Axis(values=data["size"].tolist(), format="d", labelOverlap="greedy")
    base = alt.Chart(data).encode(
        x=alt.X("size:Q", title="features kept", scale=alt.Scale(type="symlog", constant=4), axis=sizes),
        y=alt.Y("score:Q", title=metric, scale=alt.Scale(zero=False)),
        tooltip=tooltip(titles),
    )
    line = (
        alt.Chart(data.iloc[[at]][["score"]]).mark_rule(color=INK, opacity=0.6, strokeDash=[4, 3]).encode(y="score:Q")
    )
    points = base.mark_point(filled=True, opacity=1, size=50, color=BLUE)
    chosen = base.transform_filter("datum.chosen").mark_point(filled=True, opacity=1, size=160, color=ORANGE)
    chart = alt.layer(line, base.mark_line(color=BLUE), points, chosen).properties(width=_LINE_WIDTH, height=200)
    return noted(chart, f"orange: kept; dashed: {reference}")
