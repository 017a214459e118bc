"""How small the blankets are against how well a model predicts from them."""

from __future__ import annotations

import math
from typing import NamedTuple

import altair as alt
import pandas as pd

from .theme import BLUE, INK, ORANGE, WIDTH, themed

_WIDTH, _HEIGHT = WIDTH - 90, 320
#: Pixels that a character and a line of a label take, and the gap between a point and its label.
_CHARACTER, _LINE, _GAP = 6.6, 15.0, 8.0
#: Where the largest blanket is this many times the smallest, sizes are drawn on a logarithmic axis.
_LOG_RATIO = 10
_LONGEST_LABEL = 40


def size_against_score(scores: pd.DataFrame, metric: str, model: str, baseline: str = "all") -> alt.LayerChart:
    """Draw mean blanket size and mean score of each selector on one data set, for one model.

    Selectors at the same point share one label.

    Parameters
    ----------
    scores : DataFrame
        Columns selector, model, metric, mean, n_features of one data set.
    metric, model : str
        What to draw.
    baseline : str
        The selector that keeps all features, drawn in its own colour.
    """
    wanted = (scores["metric"] == metric) & (scores["model"] == model)
    shown = scores[wanted].dropna(subset=["mean", "n_features"])
    points = (
        shown.assign(n_features=shown["n_features"].round(2), mean=shown["mean"].round(9))
        .groupby(["n_features", "mean"], sort=True)["selector"]
        .agg(list)
        .reset_index()
    )
    points = points.assign(
        label=[_shortened(", ".join(names)) for names in points["selector"]],
        is_baseline=[baseline in names for names in points["selector"]],
    ).drop(columns="selector")
    sizes = points["n_features"]
    logarithmic = len(sizes) > 0 and sizes.min() >= 1 and sizes.max() > _LOG_RATIO * sizes.min()
    x_domain = [sizes.min() / 1.3, sizes.max() * 1.3] if logarithmic else _padded(sizes, at_least=0.0)
    y_domain = _padded(points["mean"])
    points = points.assign(**_labels(points, x_domain, y_domain, logarithmic))
    x = alt.X(
        "n_features:Q",
        title="features kept, mean over splits" + (" (logarithmic)" if logarithmic else ""),
        scale=alt.Scale(type="log" if logarithmic else "linear", domain=x_domain, nice=False),
        axis=alt.Axis(tickCount=6, format="~g"),
    )
    y_scale = alt.Scale(domain=y_domain, nice=False)
    y = alt.Y("mean:Q", title=f"{metric} ({model})", scale=y_scale, axis=alt.Axis(tickCount=6))
    base = alt.Chart(points)
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=x, y=y, color=alt.condition("datum.is_baseline", alt.value(ORANGE), alt.value(BLUE))
    )
    labels = [
        base.transform_filter(f"datum.side == '{side}'")
        .mark_text(
            align="left" if side == "right" else "right", dx=_GAP if side == "right" else -_GAP, color=INK, fontSize=12
        )
        .encode(x=x, y=alt.Y("label_y:Q", scale=y_scale), text="label:N")
        for side in ("right", "left")
    ]
    return themed(alt.layer(dots, *labels).properties(width=_WIDTH, height=_HEIGHT))


def _padded(values: pd.Series, at_least: float | None = None) -> list[float]:
    """Return the range of the values with air around it."""
    if not len(values):
        return [0.0, 1.0]
    low, high = float(values.min()), float(values.max())
    air = 0.08 * (high - low) or 0.05 * abs(high) or 0.5
    low -= air
    return [low if at_least is None else max(low, at_least - air / 2), high + air]


def _labels(points: pd.DataFrame, x_domain: list[float], y_domain: list[float], logarithmic: bool) -> dict[str, list]:
    """Write each label beside its point, at the nearest place that no other point or label takes."""

    def across(size: float) -> float:
        low, value, high = (math.log(v) if logarithmic else v for v in (x_domain[0], size, x_domain[1]))
        return (value - low) / (high - low) * _WIDTH

    per_pixel = (y_domain[1] - y_domain[0]) / _HEIGHT
    rows = [(across(row.n_features), (row.mean - y_domain[0]) / per_pixel, row.label) for row in points.itertuples()]
    taken = [_Box(x - _GAP / 2, x + _GAP / 2, y) for x, y, _ in rows]
    out: dict[str, list] = {"side": [], "label_y": []}
    for x, y, label in rows:
        width = len(label) * _CHARACTER
        places = [
            (side, _Box(start, start + width, y + lines * _LINE))
            for lines in (0, 0.75, -0.75, 1.5, -1.5, 2.5, -2.5)
            for side, start in (("right", x + _GAP), ("left", x - _GAP - width))
        ]
        side, box = next((place for place in places if place[1].is_free(taken)), places[0])
        taken.append(box)
        out["side"].append(side)
        out["label_y"].append(y_domain[0] + box.height * per_pixel)
    return out


class _Box(NamedTuple):
    """A line of text, or a point, in pixels."""

    start: float
    end: float
    height: float

    def is_free(self, taken: list[_Box]) -> bool:
        inside = self.start >= 0 and self.end <= _WIDTH and 0 <= self.height <= _HEIGHT
        return inside and not any(
            other.start < self.end and self.start < other.end and abs(other.height - self.height) < 0.7 * _LINE
            for other in taken
        )


def _shortened(label: str) -> str:
    return label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"
