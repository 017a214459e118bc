"""On how many data sets each selector beats each other one."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from .matrix import matrix

_NOTE = "wins-ties-losses of the row against the column, in data sets; blue: more wins, orange: more losses"


def wins(wins: pd.DataFrame, selectors: Sequence[str]) -> alt.LayerChart:
    """Draw wins minus losses of the row against the column: blue where the row wins more, orange where it loses more.

    Parameters
    ----------
    wins : DataFrame
        Columns selector, other, wins, ties, losses of one metric and model, both orders of each pair.
    selectors : sequence of str
        Whom to show, in this order; those without a score are left out.
    """
    present = set(wins["selector"])
    names = [name for name in selectors if name in present]
    cells = wins.assign(
        value=wins["wins"] - wins["losses"],
        text=[f"{row.wins}-{row.ties}-{row.losses}" for row in wins.itertuples()],
    )
    titles = {"selector": "selector", "other": "against", "text": "wins-ties-losses, in data sets"}
    depth = float(max((wins["wins"] + wins["ties"] + wins["losses"]).max(), 1)) if len(wins) else 1.0
    return matrix(cells, names, depth, titles, _NOTE if names else "no two selectors to compare")
