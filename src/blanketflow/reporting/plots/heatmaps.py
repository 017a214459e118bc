"""Selectors by selectors as heat maps: which found the same features, and which beat which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from ..formatting import BLUE, INK, VERMILLION
from .theme import noted, rounded, tooltip

#: With more selectors than this the cells are too small for a text.
MAX_TEXTS = 15
_LARGE, _SMALL = 46, 22
#: The colour is never fully opaque, so that the page's text colour is legible on it, light or dark.
_DEEPEST = 0.85
#: The smallest number of selectors that can be ordered by similarity.
_FEWEST = 3
#: The line above the matrix of wins.
_WINS = "data sets won-tied-lost by the row against the column; blue: more wins, orange: more losses"


def agreement(agreement: pd.DataFrame, selectors: Sequence[str]) -> alt.LayerChart:
    """Draw the Jaccard index of the final blankets of every two selectors, with similar selectors next to each other.

    `agreement` is the result table of that name for one data set. Selectors without a final blanket are left out; fewer
    than three keep their order.
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
    """Draw on how many data sets each selector beats each other one: wins minus losses of the row against the column.

    `wins` is the result table of that name for one metric and model. Selectors without a score are left out.
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
    """Draw a square of cells with a text in each; the larger a value, the deeper its colour.

    `cells` has the columns selector (the row), other (the column), value, text, and those of the tooltip, which are the
    keys of `titles`. Values are blue, values below 0 vermillion; the absolute value `depth` has the deepest colour.
    """
    step = _LARGE if len(names) <= MAX_TEXTS else _SMALL
    wanted = cells[cells["selector"].isin(names) & cells["other"].isin(names)]
    # One row per selector, which the chart expands: this keeps the page small, since each pair would repeat two names.
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
