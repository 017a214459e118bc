"""Charts of the variation of selected sets over splits, folds and halves of the rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import altair as alt
import pandas as pd

from ..formatting import BLUE, INK, ORANGE, mean_sd, number
from .placement import in_order
from .theme import STEP, WIDTH, noted, rounded, themed, tooltip

_MARGIN = 240
_AIR = 0.02


def stability_by_selector(stability: pd.DataFrame) -> alt.LayerChart:
    """Draw Nogueira's index with its 95 % interval for each selector of one data set, in row order.

    A note names selectors without an index.
    """
    shown = stability.dropna(subset=["stability"])
    data = pd.DataFrame(
        {
            "selector": shown["selector"],
            "index": rounded(shown["stability"]),
            "lower": rounded(shown["lower"]),
            "upper": rounded(shown["upper"]),
            "text": [number(value, 2) for value in shown["stability"]],
            "interval": [
                f"{number(low, 2)} to {number(high, 2)}"
                for low, high in zip(shown["lower"], shown["upper"], strict=True)
            ],
            "size": [mean_sd(*sizes, number) for sizes in zip(shown["mean_size"], shown["sd_size"], strict=True)],
            "sets": shown["n_sets"],
        }
    )
    titles = {
        "selector": "selector",
        "text": "stability",
        "interval": "95 % interval",
        "size": "features in a set, mean ± sd",
        "sets": "sets compared",
    }
    x = alt.X(
        "lower:Q",
        title="stability; 1: the same set each time",
        scale=alt.Scale(domain=[min(0.0, *(data["lower"] - _AIR), 0.0), 1.0], nice=False),
        axis=alt.Axis(tickCount=6, format="~g"),
    )
    base = alt.Chart().encode(
        y=alt.Y("selector:N", scale=in_order(data["selector"]), title=None),
        tooltip=tooltip(titles),
    )
    zero = (
        alt.Chart(pd.DataFrame({"index": [0]}))
        .mark_rule(color=INK, opacity=0.6, strokeDash=[4, 3])
        .encode(x=alt.X("index:Q"), tooltip=tooltip({"index": "as stable as random sets"}))
    )
    intervals = base.mark_rule(color=BLUE, strokeWidth=2).encode(x=x, x2=alt.X2("upper:Q"))
    points = base.mark_point(color=BLUE, filled=True, size=60, opacity=1).encode(x=alt.X("index:Q"))
    left_out = list(stability.loc[stability["stability"].isna(), "selector"])
    chart = alt.layer(zero, intervals, points, data=data, width=WIDTH - _MARGIN, height=alt.Step(STEP))
    return noted(chart, f"fewer than two sets to compare: {', '.join(left_out)}" if left_out else "")


#: The largest number of features shown.
MAX_FEATURES = 30
_CELL = 34
_KINDS = ("chosen, and in the final blanket", "chosen here, but not in the final blanket")


def selection_frequency(
    members: pd.DataFrame, folds: pd.DataFrame, blanket: list[str], limit: int = MAX_FEATURES
) -> alt.LayerChart:
    """Draw features by folds for one selector, the most often selected feature on top.

    `members` has the columns fold and feature of one split, `folds` all its folds, even with empty sets; its optional
    column chosen marks the folds whose set became the blanket. Beyond `limit` features a note gives their number.
    """
    order = sorted(dict.fromkeys(folds["fold"]), key=lambda fold: int(fold_label(fold)))
    in_blanket = set(blanket)
    chosen_by = members.drop_duplicates(["fold", "feature"]).groupby("feature", sort=False)["fold"].agg(list)
    ranked = sorted(chosen_by.index, key=lambda feature: (-len(chosen_by[feature]), feature not in in_blanket))
    shown = ranked[:limit]
    # The chart expands one row per feature to its folds, because a page has hundreds of these charts.
    data = pd.DataFrame(
        {
            "feature": shown,
            "folds": [sorted(map(fold_label, chosen_by[feature]), key=int) for feature in shown],
            "kind": [_KINDS[feature not in in_blanket] for feature in shown],
            "share": [f"{len(chosen_by[feature])} of {len(order)}" for feature in shown],
        }
    )
    winners = folds[folds["chosen"].astype(bool)] if "chosen" in folds else folds[:0]
    x = alt.X(
        "fold:N",
        title="parts of the rows (folds)" + (", ▼ its set is the blanket" if len(winners) else ""),
        axis=alt.Axis(labelAngle=0, orient="top", labelPadding=10 if len(winners) else 2),
        scale=alt.Scale(domain=[fold_label(fold) for fold in order], paddingInner=0.06),
    )
    y = alt.Y("feature:N", title=None, scale=alt.Scale(domain=shown, paddingInner=0.08))
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=list(_KINDS), range=[BLUE, ORANGE]),
        legend=alt.Legend(title=None, orient="bottom", direction="vertical", labelLimit=0),
    )
    titles = {"feature": "feature", "fold": "fold", "share": "folds that chose it", "kind": "this feature is"}
    cells = alt.Chart(data).transform_flatten(["folds"], ["fold"]).mark_rect()
    marks = (
        alt.Chart(pd.DataFrame({"fold": [fold_label(fold) for fold in winners["fold"]]}))
        .mark_point(shape="triangle-down", filled=True, color=INK, size=40, opacity=1)
        .encode(x=x, y=alt.YValue(-4), tooltip=tooltip({"fold": "its set is the blanket: fold"}))
    )
    note = f"{len(shown)} of {len(ranked)} features that any fold selected" if len(shown) < len(ranked) else ""
    width, height = _CELL * max(len(order), 1), STEP * max(len(shown), 1)
    cells = cells.encode(x=x, y=y, color=colour, tooltip=tooltip(titles))
    chart = alt.layer(cells, marks, width=width, height=height)
    return noted(chart, note)


def fold_label(fold: str) -> str:
    """Return the number of a fold id such as ``3of5``."""
    return fold.split("of")[0]


# --- stability paths: the share of halves that select a feature, by the number of features that each selects ----------

#: Largest number of named lines.
MOST_NAMED = 12
_PATHS_WIDTH, _PATHS_HEIGHT, _GREY = 520, 300, "#9aa3ad"
_IS_KEPT = ("kept", "not kept")


def stability_paths(paths: Mapping[str, Any], kept: Collection[str]) -> alt.LayerChart:
    """Draw the stability path of each feature, blue if it is among those kept.

    `paths` has n_features (the numbers at which shares are known), shares (a list by feature) and the threshold, which
    is dashed.
    """
    sizes, threshold = list(paths["n_features"]), float(paths["threshold"])
    ordered = sorted(paths["shares"].items(), key=lambda one: [-share for share in reversed(one[1])])
    rows = [
        (feature, size, share, _IS_KEPT[feature not in kept])
        for feature, shares in ordered
        for size, share in zip(sizes, shares, strict=True)
    ]
    data = pd.DataFrame(rows, columns=["feature", "size", "share", "kind"])
    data["share"], data["text"] = rounded(data["share"]), [number(share, 2) for share in data["share"]]
    titles = {"feature": "feature", "size": "features selected on each half", "text": "share of the halves"}
    of_sizes = alt.Axis(format="d", tickMinStep=1)
    base = alt.Chart(data).encode(
        x=alt.X("size:Q", title=titles["size"], axis=of_sizes, scale=alt.Scale(domain=[sizes[0], sizes[-1]])),
        y=alt.Y("share:Q", title=titles["text"], scale=alt.Scale(domain=[0, 1])),
        detail="feature:N",
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=list(_IS_KEPT), range=[BLUE, _GREY]),
            legend=alt.Legend(title=None, orient="bottom"),
        ),
        tooltip=tooltip(titles),
    )
    limit = alt.Chart(pd.DataFrame({"share": [threshold]})).mark_rule(color=INK, opacity=0.6, strokeDash=[4, 3])
    named = _ends(data, sizes[-1])
    layers = [
        limit.encode(y="share:Q", tooltip=tooltip({"share": "threshold"})),
        base.mark_line(strokeWidth=1.5, point={"size": 14}),
        alt.Chart(named)
        .mark_text(align="left", dx=6, fontSize=11, color=INK)
        .encode(x="size:Q", y="place:Q", text="feature:N"),
    ]
    n_kept = data.loc[data["kind"] == _IS_KEPT[0], "feature"].nunique()
    note = f"{len(named)} of {n_kept} kept features are named" if len(named) < n_kept else ""
    return noted(themed(alt.layer(*layers).properties(width=_PATHS_WIDTH, height=_PATHS_HEIGHT)), note)


def _ends(data: pd.DataFrame, last: int) -> pd.DataFrame:
    """Return the positions of the names of selected features: at the ends of their lines, moved apart downwards."""
    ends = data[(data["size"] == last) & (data["kind"] == _IS_KEPT[0])].head(MOST_NAMED).copy()
    places, step = [], 14 / _PATHS_HEIGHT
    for share in ends["share"]:
        places.append(min(share, places[-1] - step) if places else share)
    return ends.assign(place=places)[["feature", "size", "place"]]
