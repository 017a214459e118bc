"""Demsar's diagram: mean ranks over data sets, and which selectors do not differ.

Demsar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7, 1-30.
"""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from ..formatting import INK, VERMILLION, count, number, some
from .theme import noted, rounded, tooltip

_WIDTH = 460
#: Pixels between two names, between two bars, and from the axis to the first bar.
_ROW, _LANE, _FIRST = 22, 9, 12
#: Pixels between the ends of the axis and the names, where the ranks are printed, and from the axis up to the ruler.
_MARGIN, _RULER = 44, 38
#: The number of names in a tooltip; the number of selectors up to which every rank has a tick.
_MOST_NAMES, _EACH_RANK = 8, 12


def critical_difference(ranks: pd.DataFrame, critical_difference: float, n_datasets: int) -> alt.LayerChart:
    """Draw the selectors along an axis of mean ranks, best on the left; bars join selectors that do not differ.

    `ranks` has the columns selector and mean_rank, over the same data sets for every selector. Two mean ranks that are
    at least `critical_difference` apart differ. It is NaN if there is no test; then no bars are drawn.
    """
    known = ranks.sort_values("mean_rank", kind="stable")
    names, means = list(known["selector"]), [float(rank) for rank in known["mean_rank"]]
    bars = _bars(names, means, critical_difference)
    nodes = _nodes(names, means, critical_difference, first_row=_FIRST + _LANE * bars["y"].nunique())
    height = int(nodes["y"].max() + _ROW / 2) if len(nodes) else _ROW
    last = max(len(names), 2)
    x_scale = alt.Scale(domain=[1, last], nice=False, zero=False)
    y_scale = alt.Scale(domain=[height, 0], nice=False, zero=False)
    axis = alt.Axis(orient="top", title=None, grid=False, format="d", values=_ticks(last))
    x = alt.X("rank:Q", scale=x_scale, axis=axis)
    y = alt.Y("y:Q", scale=y_scale, axis=None)
    layers = [_lines_and_names(nodes, x, y), _joined(bars, y_scale)]
    if critical_difference == critical_difference:
        layers.append(_ruler(critical_difference))
    chart = alt.layer(*layers, width=_WIDTH, height=height)
    return noted(chart, _note(len(names), n_datasets, critical_difference))


def alike(ranks: Sequence[float], critical_difference: float) -> list[tuple[int, int]]:
    """Return the first and last position of each maximal run of ascending ranks that do not differ.

    Examples
    --------
    >>> alike([1.0, 1.8, 2.5, 4.0], 1.6)
    [(0, 2), (2, 3)]
    """
    groups: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max((at for at in range(first, len(ranks)) if ranks[at] - rank < critical_difference), default=first)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def _ticks(last: int) -> list[int]:
    step = 1 if last <= _EACH_RANK else 5
    return [1, *range(max(step, 2), last + 1, step)]


def _nodes(names: Sequence[str], means: Sequence[float], critical_difference: float, first_row: int) -> pd.DataFrame:
    half = (len(names) + 1) // 2
    rows = [*range(half), *reversed(range(len(names) - half))]  # inner lines go deeper, so that no lines cross
    return pd.DataFrame(
        {
            "selector": names,
            "rank": rounded(pd.Series(means, dtype="float64")),
            "text": [f"{rank:.2f}" for rank in means],
            "y": [first_row + _ROW * (row + 1) for row in rows],
            "is_left": [place < half for place in range(len(names))],
            "alike": [
                _alike_words(name, rank, names, means, critical_difference)
                for name, rank in zip(names, means, strict=True)
            ],
        }
    )


def _alike_words(
    name: str, rank: float, names: Sequence[str], means: Sequence[float], critical_difference: float
) -> str:
    if critical_difference != critical_difference:
        return "not tested"
    near = [o for o, r in zip(names, means, strict=True) if o != name and abs(r - rank) < critical_difference]
    return some(near, _MOST_NAMES) if near else "none: differs from all"


def _bars(names: Sequence[str], means: Sequence[float], critical_difference: float) -> pd.DataFrame:
    """Return one bar per group, in the first lane where it does not touch another bar."""
    ends: list[float] = []
    rows = []
    for first, last in alike(means, critical_difference):
        lane = next((at for at, end in enumerate(ends) if end < means[first]), len(ends))
        ends[lane : lane + 1] = [means[last]]
        rows.append((means[first], means[last], _FIRST + _LANE * lane, some(names[first : last + 1], _MOST_NAMES)))
    bars = pd.DataFrame(rows, columns=["low", "high", "y", "names"])
    return bars.assign(low=rounded(bars["low"]), high=rounded(bars["high"]))


def _lines_and_names(nodes: pd.DataFrame, x: alt.X, y: alt.Y) -> alt.LayerChart:
    titles = {"selector": "selector", "text": "mean rank", "alike": "does not differ from"}
    base = alt.Chart().encode(tooltip=tooltip(titles))
    layers = [base.mark_rule(color=INK, opacity=0.6).encode(x=x, y=y, y2=alt.Y2Value(0))]
    for test, edge, outwards, inwards, sign in (
        ("datum.is_left", -_MARGIN, "right", "left", -1),
        ("!datum.is_left", _WIDTH + _MARGIN, "left", "right", 1),
    ):
        side = base.transform_filter(test)
        at_edge = side.encode(x=alt.XValue(edge), y=y)
        layers += [
            side.mark_rule(color=INK, opacity=0.6).encode(x=x, x2=alt.X2Value(edge), y=y),
            at_edge.mark_text(align=outwards, dx=6 * sign, color=INK, fontSize=12, limit=200).encode(
                text=alt.Text("selector:N")
            ),
            at_edge.mark_text(align=inwards, dy=-7, color=INK, fontSize=11).encode(text=alt.Text("text:N")),
        ]
    return alt.layer(*layers, data=nodes)


def _joined(bars: pd.DataFrame, y_scale: alt.Scale) -> alt.Chart:
    return (
        alt.Chart(bars)
        .mark_rule(color=VERMILLION, strokeWidth=5, strokeCap="round")
        .encode(
            x=alt.X("low:Q"),
            x2=alt.X2("high:Q"),
            y=alt.Y("y:Q", scale=y_scale, axis=None),
            tooltip=tooltip({"names": "do not differ"}),
        )
    )


def _ruler(critical_difference: float) -> alt.LayerChart:
    text = f"critical difference {number(critical_difference, 2)}"
    data = pd.DataFrame({"low": [1], "high": [1 + critical_difference], "text": [text]})
    base = alt.Chart(data.assign(high=rounded(data["high"]))).encode(
        y=alt.YValue(-_RULER), tooltip=tooltip({"text": "Nemenyi, alpha 0.05"})
    )
    return alt.layer(
        base.mark_rule(color=VERMILLION, strokeWidth=3).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        base.mark_text(color=INK, fontSize=11, align="left", dy=-10).encode(x=alt.X("low:Q"), text=alt.Text("text:N")),
    )


def _note(n_selectors: int, n_datasets: int, critical_difference: float) -> str:
    if not n_selectors:
        return "no data set has a score of every selector"
    ranks = f"mean ranks over {count(n_datasets, 'data set')}, 1 is best"
    tested = critical_difference == critical_difference
    return f"{ranks}; " + ("bars join selectors that do not differ (Nemenyi, alpha 0.05)" if tested else "not tested")
