"""How much the sets that a selector chooses vary: over the splits, and over the folds of one split."""

from __future__ import annotations

import altair as alt
import pandas as pd

from ..colours import BLUE, INK, ORANGE
from ..text import mean_sd, number
from .scales import in_order
from .theme import STEP, WIDTH, noted, rounded, tooltip

_MARGIN = 240
_AIR = 0.02


def stability_by_selector(stability: pd.DataFrame) -> alt.LayerChart:
    """Draw Nogueira's index with its 95 % interval for each selector of one data set, in the order of the rows.

    Selectors without an index are named in a note.
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
    """Draw features by folds for one selector, with the most often selected feature on top.

    `members` has the columns fold and feature, the sets of one split; `folds` all folds of that split, including those
    that selected nothing. Its optional column chosen marks the folds whose set became the blanket. At most `limit`
    features are drawn; a note says how many there are.
    """
    order = sorted(dict.fromkeys(folds["fold"]), key=lambda fold: int(fold_label(fold)))
    in_blanket = set(blanket)
    chosen_by = members.drop_duplicates(["fold", "feature"]).groupby("feature", sort=False)["fold"].agg(list)
    ranked = sorted(chosen_by.index, key=lambda feature: (-len(chosen_by[feature]), feature not in in_blanket))
    shown = ranked[:limit]
    # One row per feature, which the chart expands to its folds: a page holds hundreds of these charts.
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
