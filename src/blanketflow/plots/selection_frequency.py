"""Which fold chose which feature, for one selector."""

from __future__ import annotations

import altair as alt
import pandas as pd

from .theme import BLUE, INK, ORANGE, STEP, themed

#: Features shown at most.
MAX_FEATURES = 30
_CELL = 34


def selection_frequency(
    members: pd.DataFrame, folds: pd.DataFrame, blanket: list[str], limit: int = MAX_FEATURES
) -> alt.LayerChart:
    """Draw features by folds, the most often selected on top.

    Parameters
    ----------
    members : DataFrame
        Columns fold, feature: the sets of one selector on one split.
    folds : DataFrame
        Column fold: all folds of that split, also those that selected nothing; `chosen`, where given, marks the
        folds whose set became the blanket.
    blanket : list of str
        The features of the final blanket.
    limit : int
        Features shown at most; a note says how many there are.
    """
    order = sorted(dict.fromkeys(folds["fold"]), key=_fold_number)
    counts = members.drop_duplicates(["fold", "feature"])["feature"].value_counts(sort=False)
    in_blanket = set(blanket)
    ranked = sorted(counts.index, key=lambda feature: (-counts[feature], feature not in in_blanket))
    shown = ranked[:limit]
    data = members.loc[members["feature"].isin(shown), ["fold", "feature"]].drop_duplicates()
    kind = data["feature"].isin(in_blanket).map({True: "in the final blanket", False: "not in the final blanket"})
    data = data.assign(kind=kind, fold=data["fold"].map(fold_label))
    winners = folds[folds["chosen"].astype(bool)] if "chosen" in folds else folds[:0]
    labels = [fold_label(fold) for fold in order]
    x = alt.X(
        "fold:N",
        title="fold (marked: its set is the blanket)" if len(winners) else "fold",
        axis=alt.Axis(labelAngle=0, orient="top"),
        scale=alt.Scale(domain=labels, paddingInner=0.06),
    )
    y = alt.Y("feature:N", title=None, scale=alt.Scale(domain=shown, paddingInner=0.08))
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=["in the final blanket", "not in the final blanket"], range=[BLUE, ORANGE]),
        legend=alt.Legend(title=None, orient="bottom", direction="horizontal"),
    )
    cells = alt.Chart(data).mark_rect().encode(x=x, y=y, color=colour)
    marks = (
        alt.Chart(pd.DataFrame({"fold": [fold_label(fold) for fold in winners["fold"]]}))
        .mark_point(shape="triangle-down", filled=True, color=INK, size=40, opacity=1)
        .encode(x=x, y=alt.value(-4))
    )
    note = f"{len(shown)} of {len(ranked)} features that any fold selected" if len(shown) < len(ranked) else ""
    chart = alt.layer(cells, marks).properties(width=_CELL * max(len(order), 1), height=STEP * max(len(shown), 1))
    return themed(chart.properties(title=alt.TitleParams(text="", subtitle=note)) if note else chart)


def fold_label(fold: str) -> str:
    """Return the number of a fold id such as ``3of5``."""
    return fold.split("of")[0]


def _fold_number(fold: str) -> int:
    return int(fold_label(fold))
