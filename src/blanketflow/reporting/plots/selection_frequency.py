"""Which folds chose which features, for one selector."""

from __future__ import annotations

import altair as alt
import pandas as pd

from .theme import BLUE, INK, ORANGE, STEP, noted, tooltip

#: The largest number of features shown.
MAX_FEATURES = 30
_CELL = 34
_KINDS = ("in the final blanket", "not in the final blanket")


def selection_frequency(
    members: pd.DataFrame, folds: pd.DataFrame, blanket: list[str], limit: int = MAX_FEATURES
) -> alt.LayerChart:
    """Draw features by folds, with the most often selected feature on top.

    Parameters
    ----------
    members : DataFrame
        Columns fold and feature: the sets of one selector on one split.
    folds : DataFrame
        Column fold: all folds of that split, including those that selected nothing. An optional column chosen marks
        the folds whose set became the blanket.
    blanket : list of str
        The features of the final blanket.
    limit : int
        The largest number of features shown; a note says how many there are.
    """
    order = sorted(dict.fromkeys(folds["fold"]), key=_fold_number)
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
        title="fold (marked: its set is the blanket)" if len(winners) else "fold",
        axis=alt.Axis(labelAngle=0, orient="top"),
        scale=alt.Scale(domain=[fold_label(fold) for fold in order], paddingInner=0.06),
    )
    y = alt.Y("feature:N", title=None, scale=alt.Scale(domain=shown, paddingInner=0.08))
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=list(_KINDS), range=[BLUE, ORANGE]),
        legend=alt.Legend(title=None, orient="bottom", direction="horizontal"),
    )
    titles = {"feature": "feature", "fold": "fold", "share": "folds that chose it", "kind": "this feature is"}
    cells = alt.Chart(data).transform_flatten(["folds"], ["fold"]).mark_rect()
    marks = (
        alt.Chart(pd.DataFrame({"fold": [fold_label(fold) for fold in winners["fold"]]}))
        .mark_point(shape="triangle-down", filled=True, color=INK, size=40, opacity=1)
        .encode(x=x, y=alt.value(-4), tooltip=tooltip({"fold": "its set is the blanket: fold"}))
    )
    note = f"{len(shown)} of {len(ranked)} features that any fold selected" if len(shown) < len(ranked) else ""
    chart = alt.layer(cells.encode(x=x, y=y, color=colour, tooltip=tooltip(titles)), marks)
    chart = chart.properties(width=_CELL * max(len(order), 1), height=STEP * max(len(shown), 1))
    return noted(chart, note)


def fold_label(fold: str) -> str:
    """Return the number of a fold id such as ``3of5``."""
    return fold.split("of")[0]


def _fold_number(fold: str) -> int:
    return int(fold_label(fold))
