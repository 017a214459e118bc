"""Every method beside every other, on a page: `python benchmarks/all_methods.py` after runs of its two configs.

Renews the tables and charts of docs/all-methods.md from the tables of config/all-small.yaml and
config/all-regression.yaml, of those that were run.
"""

from __future__ import annotations

from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
from page import write
from papers import row
from scipy.spatial.distance import pdist, squareform

from blanketflow.core.cards import Card
from blanketflow.core.registry import discover
from blanketflow.reporting.colours import BLUE, GREEN, ORANGE, VERMILLION
from blanketflow.reporting.plots.render import svg_on_white

PAGE = Path(__file__).parents[1] / "docs" / "all-methods.md"
#: What was run, where its blocks and charts stand, by which metric, and that metric's name.
RUNS = {
    "all-small": ("", "accuracy", "accuracy"),
    "all-regression": ("regression-", "r2", "R-square"),
}
#: Of a letter on a chart, as a share of it.
WIDTH, HEIGHT = 0.008, 0.022


def main() -> None:
    """Renew the page."""
    blocks = {}
    for run, (prefix, metric, title) in RUNS.items():
        tables = {path.stem: pd.read_parquet(path) for path in (Path("results") / run / "tables").glob("*.parquet")}
        if not tables:
            continue
        of_metric = {name: one[one["metric"] == metric] if "metric" in one else one for name, one in tables.items()}
        found = summary(of_metric)
        blocks |= {f"{prefix}friedman": tests(of_metric["friedman"]), f"{prefix}methods": methods(found, title)}
        for name, drawing in (("sizes", sizes(found, title)), ("seconds", seconds(found, title))):
            (PAGE.parent / f"all-methods-{prefix}{name}.svg").write_text(svg_on_white(drawing), encoding="utf-8")
    write(PAGE, blocks)


def summary(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return a row a selector, the best mean rank first: what it scores, keeps, costs and repeats over data sets."""
    scores = tables["scores"]
    kept = scores.drop_duplicates(["dataset", "selector"]).set_index(["dataset", "selector"])["n_features"]
    shares = kept / kept.xs("all", level="selector").reindex(kept.index, level="dataset")
    by_model = tables["ranks"].pivot(index="selector", columns="model", values="mean_rank")
    failed = tables["statuses"][lambda one: ~one["status"].isin(("ok", "unreliable"))]
    failed = failed.drop_duplicates(["dataset", "selector"]).groupby("selector").size()
    found = by_model.assign(
        rank=by_model.mean(axis=1),
        score=scores.groupby("selector")["mean"].mean(),
        share=shares.groupby("selector").mean(),
        seconds=tables["runtime"].groupby("selector")["selection_seconds"].median(),
        stability=tables["stability"].groupby("selector")["stability"].mean(),
        failed=failed.reindex(by_model.index, fill_value=0),
    )
    return found.sort_values("rank")


def methods(found: pd.DataFrame, title: str) -> str:
    """Return the table of all selectors."""
    models = list(found.columns[: found.columns.get_loc("rank")])
    heads = ("method", "mean rank", *(f"by {model}" for model in models), f"mean {title}", "features kept")
    heads += ("stability", "seconds, median", "data sets without an answer")
    lines = [row(*heads), row(*["---"] * len(heads))]
    for name, one in found.iterrows():
        ranks = (f"{one[column]:.1f}" for column in ("rank", *models))
        stability = "" if pd.isna(one["stability"]) else f"{one['stability']:.2f}"
        cells = (f"{one['score']:.3f}", f"{one['share']:.0%}", stability, f"{one['seconds']:.2g}", int(one["failed"]))
        lines.append(row(f"`{name}`", *ranks, *cells))
    return "\n".join(lines)


def tests(friedman: pd.DataFrame) -> str:
    """Return Friedman's test for each model."""
    heads = ("model", "data sets", "methods", "Friedman, p", "Iman and Davenport, p", "critical difference of ranks")
    lines = [row(*heads), row(*["---"] * len(heads))]
    for one in friedman.itertuples():
        numbers = (f"{one.p_value:.2g}", f"{one.f_p_value:.2g}", f"{one.critical_difference:.1f}")
        lines.append(row(one.model, one.n_datasets, one.n_selectors, *numbers))
    return "\n".join(lines)


def sizes(found: pd.DataFrame, title: str) -> alt.LayerChart:
    """Draw the score over the share of features kept."""
    axis = alt.Axis(format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    scale = alt.Scale(domain=[0, 1.1])
    return points(found, alt.X("share:Q", title="features kept", axis=axis, scale=scale), found["share"], title)


def seconds(found: pd.DataFrame, title: str) -> alt.LayerChart:
    """Draw the score over the seconds of a data set's selections."""
    x = alt.X("seconds:Q", title="seconds, median", axis=alt.Axis(format="~g"), scale=alt.Scale(type="log"))
    return points(found, x, np.log(found["seconds"]), title)


def points(found: pd.DataFrame, x: alt.X, at: pd.Series, title: str) -> alt.LayerChart:
    """Draw each selector as a point, and the name of those that stand apart; the page's table has all."""
    shown = found.assign(named=apart(at, found["score"]), family=[card_of(name).family for name in found.index])
    base = alt.Chart(shown.reset_index()).encode(
        x=x,
        y=alt.Y("score:Q", title=f"mean {title}", scale=alt.Scale(zero=False)),
        color=alt.Color("family:N", title=None, scale=alt.Scale(range=[BLUE, ORANGE, GREEN, "#000000", VERMILLION])),
    )
    names = base.transform_filter("datum.named").mark_text(align="left", dx=5, fontSize=9)
    drawn = base.mark_point(filled=True, size=35), names.encode(text="selector:N", color=alt.value("black"))
    return alt.layer(*drawn).properties(width=620, height=460)


def card_of(name: str) -> Card:
    """Return a method's card."""
    return discover("blanketflow.selectors")[name].card


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


if __name__ == "__main__":
    main()
