"""Every method beside every other, on a page: `python benchmarks/all_methods.py` after a run of config/all-small.yaml.

Renews the tables and charts of docs/all-methods.md from results/all-small/tables.
"""

from __future__ import annotations

from pathlib import Path

import altair as alt
import pandas as pd
from page import renewed
from papers import row

from blanketflow.plots.render import svg
from blanketflow.plots.theme import BLUE, themed

PAGE = Path(__file__).parents[1] / "docs" / "all-methods.md"
TABLES = Path("results") / "all-small" / "tables"
METRIC = "accuracy"


def main() -> None:
    """Renew the page."""
    tables = {path.stem: pd.read_parquet(path) for path in TABLES.glob("*.parquet")}
    found = summary(tables)
    blocks = {"friedman": tests(tables["friedman"]), "methods": methods(found)}
    for name, drawing in (("sizes", sizes(found)), ("seconds", seconds(found))):
        (PAGE.parent / f"all-methods-{name}.svg").write_text(
            svg(themed(drawing).properties(background="white")), encoding="utf-8"
        )
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), blocks, str(PAGE)), encoding="utf-8")


def summary(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return a row a selector, the best mean rank first: what it scores, keeps, costs and repeats over data sets."""
    scores = tables["scores"][lambda one: one["metric"] == METRIC]
    kept = scores.drop_duplicates(["dataset", "selector"]).set_index(["dataset", "selector"])["n_features"]
    shares = kept / kept.xs("all", level="selector").reindex(kept.index, level="dataset")
    ranks = tables["ranks"][lambda one: one["metric"] == METRIC]
    by_model = ranks.pivot(index="selector", columns="model", values="mean_rank")
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


def methods(found: pd.DataFrame) -> str:
    """Return the table of all selectors."""
    models = list(found.columns[: found.columns.get_loc("rank")])
    heads = ("method", "mean rank", *(f"by {model}" for model in models), "mean accuracy", "features kept")
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
    for one in friedman[friedman["metric"] == METRIC].itertuples():
        numbers = (f"{one.p_value:.2g}", f"{one.f_p_value:.2g}", f"{one.critical_difference:.1f}")
        lines.append(row(one.model, one.n_datasets, one.n_selectors, *numbers))
    return "\n".join(lines)


def sizes(found: pd.DataFrame) -> alt.LayerChart:
    """Draw the accuracy over the share of features kept."""
    return points(found, alt.X("share:Q", title="features kept", axis=alt.Axis(format="%")))


def seconds(found: pd.DataFrame) -> alt.LayerChart:
    """Draw the accuracy over the seconds of a selection."""
    return points(found, alt.X("seconds:Q", title="seconds, median", scale=alt.Scale(type="log")))


def points(found: pd.DataFrame, x: alt.X) -> alt.LayerChart:
    """Draw each selector as a named point."""
    y = alt.Y("score:Q", title="mean accuracy", scale=alt.Scale(zero=False))
    base = alt.Chart(found.reset_index()).encode(x=x, y=y)
    names = base.mark_text(align="left", dx=5, fontSize=9).encode(text="selector:N")
    return alt.layer(base.mark_point(filled=True, color=BLUE, size=35), names).properties(width=620, height=460)


if __name__ == "__main__":
    main()
