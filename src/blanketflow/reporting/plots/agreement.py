"""Which selectors found the same features."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from .matrix import matrix

#: Fewer selectors have no order by similarity.
_FEWEST = 3


def agreement(agreement: pd.DataFrame, selectors: Sequence[str]) -> alt.LayerChart:
    """Draw the Jaccard index of the final blankets of every two selectors, similar ones beside each other.

    Parameters
    ----------
    agreement : DataFrame
        Columns selector, other, jaccard, n_common, n_either of one data set, both orders of each pair.
    selectors : sequence of str
        Whom to show; those without a final blanket are left out. Fewer than three are shown in this order.
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
        "Jaccard index of the final blankets: 1 the same features, 0 none in common"
        if names
        else "no two selectors to compare"
    )
    return matrix(cells, _by_similarity(cells, names), 1.0, titles, note)


def _by_similarity(agreement: pd.DataFrame, names: list[str]) -> list[str]:
    """Return the names in the order of the leaves of an average-linkage tree."""
    if len(names) < _FEWEST:
        return names
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    known = agreement.pivot(index="selector", columns="other", values="jaccard").reindex(index=names, columns=names)
    distance = 1 - known.to_numpy(dtype=np.float64, copy=True)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), method="average", optimal_ordering=True)
    return [names[leaf] for leaf in leaves_list(tree)]
