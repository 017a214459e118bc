"""Charts that compare selectors: heat maps of agreement and wins, and critical difference diagrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from ..formatting import BLUE, INK, VERMILLION, count, number, some
from .theme import noted, rounded, tooltip

#: With more selectors the cells are too small for a text.
MAX_TEXTS = 15
_LARGE, _SMALL = 46, 22
#: Largest opacity at which the page's text is legible, light or dark.
_DEEPEST = 0.85
#: The smallest number of selectors that can be ordered by similarity.
_FEWEST = 3
#: The line above the matrix of wins.
_WINS = "data sets won-tied-lost by the row against the column; blue: more wins, orange: more losses"


def agreement(agreement: pd.DataFrame, selectors: Sequence[str]) -> alt.LayerChart:
    """Draw the Jaccard index of the final blankets of every two selectors, similar selectors next to each other.

    `agreement` is that table of one data set. Selectors without a blanket are left out; two keep their order.
    """
    present = set(agreement["selector"])
    names = [name for name in selectors if name in present]
    cells = agreement.assign(
        value=agreement["jaccard"],
        text=[f"{value:.2f}" for value in agreement["jaccard"]],
        common=[
            f"{common:,} of {either:,}" if either else "both blankets are empty"
            for common, either in zip(agreement["n_common"], agreement["n_either"], strict=True)
        ],
    )
    titles = {"selector": "selector", "other": "and", "text": "Jaccard index", "common": "features in common"}
    note = (
        "Jaccard index of the final blankets: 1 means the same features, 0 means none in common"
        if names
        else "no two selectors to compare"
    )
    return _matrix(cells, _by_similarity(cells, names), 1.0, titles, note)


def wins(wins: pd.DataFrame, selectors: Sequence[str]) -> alt.LayerChart:
    """Draw wins minus losses of the row's selector against the column's, over data sets.

    `wins` is that result table for one metric and model. Selectors without a score are left out.
    """
    present = set(wins["selector"])
    names = [name for name in selectors if name in present]
    cells = wins.assign(
        value=wins["wins"] - wins["losses"],
        text=[f"{row.wins}-{row.ties}-{row.losses}" for row in wins.itertuples()],
    )
    titles = {"selector": "selector", "other": "against", "text": "data sets won-tied-lost"}
    depth = float(max((wins["wins"] + wins["ties"] + wins["losses"]).max(), 1)) if len(wins) else 1.0
    return _matrix(cells, names, depth, titles, _WINS if names else "no two selectors to compare")


def _matrix(
    cells: pd.DataFrame,
    names: Sequence[str],
    depth: float,
    titles: Mapping[str, str],
    note: str = "",
) -> alt.LayerChart:
    """Draw a square of cells with texts, positive values in blue and negative ones in vermillion.

    `cells` has selector (row), other (column), value, text and the keys of `titles`; `depth` has full colour.
    """
    step = _LARGE if len(names) <= MAX_TEXTS else _SMALL
    wanted = cells[cells["selector"].isin(names) & cells["other"].isin(names)]
    # The chart expands one row per selector: rows per pair would repeat two names and enlarge the page.
    spread = list(dict.fromkeys(["other", "value", "text", *titles]))
    spread.remove("selector")
    shown = wanted.assign(value=rounded(wanted["value"])).groupby("selector", sort=False)[spread].agg(list)
    axis = alt.Axis(domain=False, ticks=False, labelPadding=6)
    scale = alt.Scale(domain=list(names), paddingInner=0.05)
    base = alt.Chart().encode(
        x=alt.X("other:N", title=None, scale=scale, axis=alt.Axis(orient="top", labelAngle=-45, **axis.to_dict())),
        y=alt.Y("selector:N", title=None, scale=scale, axis=axis),
        tooltip=tooltip(titles),
    )
    rects = base.mark_rect().encode(
        color=alt.condition("datum.value < 0", alt.value(VERMILLION), alt.value(BLUE)),
        opacity=alt.Opacity("depth:Q", scale=alt.Scale(domain=[0, depth], range=[0.06, _DEEPEST]), legend=None),
    )
    texts = base.mark_text(color=INK, fontSize=11).encode(text=alt.Text("text:N"))
    layers = [rects, texts] if len(names) <= MAX_TEXTS else [rects]
    side = step * max(len(names), 1)
    chart = alt.layer(*layers, data=shown.reset_index(), width=side, height=side)
    return noted(chart.transform_flatten(spread).transform_calculate(depth="abs(datum.value)"), note)


def _by_similarity(agreement: pd.DataFrame, names: list[str]) -> list[str]:
    """Return the names in the leaf order of an average-linkage tree."""
    if len(names) < _FEWEST:
        return names
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    known = agreement.pivot(index="selector", columns="other", values="jaccard").reindex(index=names, columns=names)
    distance = 1 - known.to_numpy(dtype=np.float64, copy=True)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), method="average", optimal_ordering=True)
    return [names[leaf] for leaf in leaves_list(tree)]


_WIDTH = 460
#: Pixels between two names, between two bars, and from the axis to the first bar.
_ROW, _LANE, _FIRST = 22, 9, 12
#: Pixels between axis ends and names, of the printed ranks, and from the axis up to the ruler.
_MARGIN, _RULER = 44, 38
#: The number of names in a tooltip; the number of selectors up to which every rank has a tick.
_MOST_NAMES, _EACH_RANK = 8, 12


def critical_difference(ranks: pd.DataFrame, critical_difference: float, n_datasets: int) -> alt.LayerChart:
    """Draw the selectors on an axis of mean ranks, best on the left; bars join selectors that do not differ.

    `ranks` has the columns selector and mean_rank, over the same data sets for every selector. Mean ranks differ if
    they are at least `critical_difference` apart; NaN (no test) draws no bars.
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
    """Return one bar per group, in the first lane where it touches no other bar."""
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
