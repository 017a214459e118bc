"""What several data sets say of selectors: differences by Wilcoxon's test, and whether facts foretell the best one.

Data sets that are forms of one study say the same twice, so one of each counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist, squareform
from scipy.stats import wilcoxon
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from blanketflow.ci.multiple_testing import holm
from studies.shared.page import row

#: Data sets that are another form of one, and that one.
FORMS_OF = {
    "bankruptcy-5": "bankruptcy-1",
    "colon-numbers": "colon",
    "leukemia-numbers": "leukemia",
    "prostate-singh": "prostate",
}
#: Of a letter on a chart, as a share of it.
WIDTH, HEIGHT = 0.008, 0.022
#: Scores that are nearer than this are level.
LEVEL = 0.001
#: What may foretell how selectors do on a data set, by the others.
FORETELLERS: dict[str, Callable[[], Any]] = {
    "the five data sets most alike": lambda: make_pipeline(StandardScaler(), KNeighborsRegressor(5)),
    "a tree of three leaves": lambda: DecisionTreeRegressor(max_leaf_nodes=3, min_samples_leaf=4, random_state=0),
}


def one_of_each(datasets: Sequence[str]) -> list[str]:
    """Return the data sets without those of which another form is among them."""
    return [name for name in datasets if FORMS_OF.get(name) not in datasets]


def with_earlier(raw: pd.DataFrame, earlier: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of a run and those earlier ones of which it has not the data set with the selector."""
    if earlier.empty or raw.empty:
        return earlier if raw.empty else raw
    pairs = [pd.MultiIndex.from_frame(one[["dataset", "selector"]]) for one in (raw, earlier)]
    joined = pd.concat([earlier[~pairs[1].isin(pairs[0])], raw])
    order = [name for name in ("dataset", "selector", "model", "split") if name in joined]
    return joined.sort_values(order, ignore_index=True)


def facts(raw: pd.DataFrame) -> pd.DataFrame:
    """Return what is known of each data set before a search: its shape, and whether the target is a number."""
    of_set = raw.groupby("dataset")[["n", "d"]].max()
    shape = np.log10(of_set).assign(rows_per_feature=np.log10(of_set["n"] / of_set["d"]))
    return shape.assign(is_number=(raw.groupby("dataset")["metric"].first() == "r2").astype(float))


def beside(scores: pd.DataFrame, named: str) -> str:
    """Return a table of all selectors beside the one that is named.

    `scores` has one row per data set, one of each study, and one column per selector.
    """
    others = [name for name in scores.columns if name != named]
    differences = {name: (scores[named] - scores[name]).to_numpy() for name in others}
    p_values = [float(wilcoxon(differences[name], zero_method="pratt").pvalue) for name in others]
    found = pd.DataFrame({"selector": others, "p": p_values, "p_holm": holm(p_values)})
    heads = (f"`{named}` beside", "better", "level", "worse", "median difference", "p", "p by Holm")
    lines = [row(*heads), row(*["---"] * len(heads))]
    for one in found.sort_values("p").itertuples():
        d = differences[one.selector]
        counts = (int((d > LEVEL).sum()), int((abs(d) <= LEVEL).sum()), int((d < -LEVEL).sum()))
        lines.append(row(f"`{one.selector}`", *counts, f"{np.median(d):+.4f}", f"{one.p:.2g}", f"{one.p_holm:.2g}"))
    return "\n".join(lines)


def foretold(scores: pd.DataFrame, facts: pd.DataFrame) -> str:
    """Return a table of how well the best selector of a data set is foretold by facts about it, from all others.

    A way chooses a selector for each data set by what it learned on the others. It is worth its name only where the
    selector chosen scores higher than the one that was best on the others, always.
    """
    constant = "always the one that is best on the others"
    chosen: dict[str, list[float]] = {constant: [], **{way: [] for way in FORETELLERS}}
    for name in scores.index:
        others = scores.drop(index=name)
        chosen[constant].append(scores.loc[name, others.mean().idxmax()])
        for way, make in FORETELLERS.items():
            found = make().fit(facts.loc[others.index], others.sub(others.mean(axis=1), axis=0))
            chosen[way].append(scores.loc[name].iloc[int(np.argmax(found.predict(facts.loc[[name]])[0]))])
    chosen["the best one, by hindsight"] = scores.max(axis=1).tolist()
    return _compared(chosen)


def _compared(chosen: Mapping[str, Sequence[float]]) -> str:
    heads = ("the selector of a data set", "mean score", "beside the first", "better", "worse")
    lines, first = [row(*heads), row(*["---"] * len(heads))], np.array(next(iter(chosen.values())))
    for way, values in chosen.items():
        d = np.array(values) - first
        counts = (int((d > LEVEL).sum()), int((d < -LEVEL).sum())) if d.any() else ("", "")
        lines.append(row(way, f"{np.mean(values):.4f}", f"{d.mean():+.4f}" if d.any() else "", *counts))
    return "\n".join(lines)


def apart(x: pd.Series, y: pd.Series) -> pd.Series:
    """Return which points' names are written, right of the point: the loneliest first, that lie on none before."""
    points = pd.DataFrame({"x": (x - x.min()) / np.ptp(x), "y": (y - y.min()) / np.ptp(y)})
    distances = squareform(pdist(points))
    np.fill_diagonal(distances, np.inf)
    written: dict[str, tuple[float, float, float]] = {}
    for name in points.index[np.argsort(-distances.min(axis=1))]:
        left, height = points.loc[name]
        right = left + WIDTH * (len(name) + 2)
        if all(right < a or left > b or abs(height - other) > HEIGHT for a, b, other in written.values()):
            written[name] = left, right, height
    return pd.Series(points.index.isin(list(written)), points.index)
