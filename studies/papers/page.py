"""What papers printed beside ours, on a page: `python -m studies.papers.page`, after runs of configs/ or without.

Renews the tables and charts of printed.md. Our numbers are kept in results/printed.parquet, and taken anew from
results/papers/*/tables/paper-*.parquet where there is such a run, or from the tables of one by in_parts.py. The
verdicts are made here from the printed numbers, ours and their noise (noise.py).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import altair as alt
import pandas as pd
import yaml

from blanketflow.reporting.formatting import BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from blanketflow.reporting.plots.theme import svg_on_white
from studies.papers.comparison import NOT_COMPARABLE
from studies.papers.noise import half_width, of_partition
from studies.papers.printed_tables import ALL, PrintedTable, read_printed
from studies.papers.verdict import verdict
from studies.shared import page
from studies.shared.in_parts import folder_of
from studies.shared.page import row

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "studies" / "papers" / "printed.md"
RUNS, CONFIGS = Path("results") / "papers", ROOT / "studies" / "papers" / "configs"
CELLS = Path(__file__).parent / "results" / "printed.parquet"
LOWER, HIGHER = "different, ours lower", "different, ours higher"
#: What is said of a cell, and how the page shows it, between the printed number and ours.
MARKS = {"reproduced": "=", LOWER: ">", HIGHER: "<", "undecided": "~", "vacuous": "?", NOT_COMPARABLE: "·"}
#: What is kept of a cell of a run.
KEPT = ["table", "measure", "model", "selected_on", "dataset", "method", "ours", "noise", "n_partitions", "reason"]
#: What a cell is.
CELL = ["run", "table", "measure", "model", "selected_on", "dataset", "method"]
#: Selectors that rank a number of features, by the name that configs give them.
RANKING = r"^(mrmr|cmim|jmi)-(\d+)$"
COLOURS = {"reproduced": BLUE, "different": VERMILLION, "undecided": ORANGE, "vacuous": PURPLE}
SIZE = "n-features"
#: Measures between 0 and 1, which a chart can share.
SHARES = ("accuracy", "error", "kappa", "balanced-accuracy", "r2", "accuracy-percent")


def main() -> None:
    """Renew the page, with what has been run since."""
    kept = pd.read_parquet(CELLS)
    for folder in sorted(RUNS.iterdir()) if RUNS.exists() else []:
        for path in sorted((folder / "tables").glob("paper-*-claims.parquet")):
            write(f"{folder.name} claims", claims(pd.read_parquet(path)))
        kept = renewed(kept, folder.name, [folder / "tables"], is_whole=True)
        draw_curves(folder)
    for config in sorted(CONFIGS.glob("*.yaml")):
        parts = folder_of(config.name) / "tables"
        in_order = yaml.safe_load(config.read_text(encoding="utf-8"))["datasets"]
        kept = renewed(kept, config.stem, [parts / dataset for dataset in in_order])
    kept.to_parquet(CELLS, index=False)
    write("noise", noises(kept))
    for run, cells in kept.groupby("run", sort=False):
        compared = judged(cells, printed_tables(run))
        write(run, tables(compared, run))
        shown = of_chart(compared)
        if len(shown):
            (PAGE.parent / f"printed-{run}.svg").write_text(svg_on_white(chart(shown)), encoding="utf-8")


def renewed(kept: pd.DataFrame, run: str, folders: list[Path], is_whole: bool = False) -> pd.DataFrame:
    """Return the cells that are kept, with those of a run from its folders of tables in the place of the same cells.

    A whole run takes the place of all its cells, since its config may have lost some.
    """
    paths = [path for folder in folders for path in sorted(folder.glob("paper-*.parquet"))]
    tables = [pd.read_parquet(path) for path in paths if not path.stem.endswith("-claims")]
    found = [table.loc[table["selected_on"] != "", KEPT].assign(run=run) for table in tables]
    if not sum(map(len, found)):
        return kept
    every = pd.concat([kept[kept["run"] != run] if is_whole else kept, *found], ignore_index=True)
    in_order = pd.MultiIndex.from_frame(every[CELL].drop_duplicates())
    latest = every.drop_duplicates(CELL, keep="last").set_index(CELL)
    return latest.loc[in_order].reset_index()[list(every.columns)]


def draw_curves(folder: Path) -> None:
    """Draw the accuracy of a run's rankings over the number of features, if it has any."""
    scores = pd.read_parquet(folder / "tables" / "scores.parquet")
    sizes = scores["selector"].str.extract(RANKING).dropna()
    if len(sizes):
        drawing = svg_on_white(curves(scores, sizes))
        (PAGE.parent / f"printed-{folder.name}-psi.svg").write_text(drawing, encoding="utf-8")
        write(f"{folder.name} psi", f"![Accuracy over the number of features](printed-{folder.name}-psi.svg)")


@cache
def printed_tables(run: str) -> dict[tuple[str, str, str], PrintedTable]:
    """Return the printed tables of a config of configs/, by number, measure and model."""
    config = yaml.safe_load((CONFIGS / f"{run}.yaml").read_text(encoding="utf-8"))
    every = (table for spec in config["tables"].values() for table in read_printed(ROOT / spec["path"]))
    return {(table.table, table.measure, table.model or ""): table for table in every}


def judged(cells: pd.DataFrame, printed: dict[tuple[str, str, str], PrintedTable]) -> pd.DataFrame:
    """Return cells with the printed numbers, the noise of the difference, the verdict and what is said of it."""
    rows = []
    for _, one in cells.iterrows():
        table = printed[one["table"], one["measure"], one["model"]]
        number = table.cells[one["dataset"], one["method"]]
        found = {"printed": number.value if number else float("nan"), "verdict": NOT_COMPARABLE}
        if number and not one["reason"] and not table.why_not(one["dataset"], one["method"]):
            found["noise"] = half_width(one, table, number.rounding)
            methods = table.methods_of(one["dataset"])
            found["verdict"] = verdict(number.value, one["ours"], found["noise"], methods)
        direction = LOWER if one["ours"] < found["printed"] else HIGHER
        found["said"] = direction if found["verdict"] == "different" else found["verdict"]
        rows.append({**one, **found})
    return pd.DataFrame(rows)


def write(block: str, text: str) -> None:
    """Renew a block of the page."""
    page.write(PAGE, {block: text})


def noises(kept: pd.DataFrame) -> str:
    """Return how wide the interval of a difference is by folds and by partitions, where both are known."""
    lines = [row("run", "data", "model", "by folds", "by partitions", "folds / partitions"), row(*["---"] * 6)]
    scores = kept[(kept["n_partitions"] == 1) & kept["measure"].isin(["accuracy", "error"]) & (kept["method"] != ALL)]
    for (run, dataset, model), cells in scores.groupby(["run", "dataset", "model"], sort=False):
        printed = printed_tables(run)
        found = [of_partition(one, printed[one["table"], one["measure"], model]) for _, one in cells.iterrows()]
        if found[0] is not None:
            by_folds, by_partitions = cells["noise"].median(), pd.Series(found).median()
            ratio = f"{by_folds / by_partitions:.1f}"
            lines.append(row(run, dataset, model, f"{by_folds:.2g}", f"{by_partitions:.2g}", ratio))
    return "\n".join(lines)


def tables(compared: pd.DataFrame, run: str) -> str:
    """Return the verdicts by table, the chart's place, and every table with ours beside what is printed."""
    parts = [counted(compared)]
    if len(of_chart(compared)):
        parts.append(f"![Printed numbers and ours, by verdict](printed-{run}.svg)")
    for (table, measure, model, kind), cells in compared.groupby(
        ["table", "measure", "model", "selected_on"], sort=False
    ):
        by = f", {model}" if model else ""
        parts += [f"Table {table}, {measure}{by}, selected on {kind}:", grid(cells)]
    return "\n\n".join(parts)


def of_chart(compared: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that a chart shows."""
    return compared[compared["measure"].isin(SHARES) & compared["verdict"].isin(COLOURS)]


def counted(compared: pd.DataFrame) -> str:
    """Return how many cells of each table came out how; in all, scores apart from numbers of features.

    Cells of all features say nothing about a method. Their scores, which show whether models and partitions are the
    paper's, are counted once, in a line of their own; their sizes are not.
    """
    by = ["table", "measure", "model", "selected_on"]
    is_size = compared["measure"] == SIZE
    chosen = compared["method"] != ALL
    rest = compared[~chosen & ~is_size].drop_duplicates(["table", "measure", "model", "dataset"])
    counts = compared[chosen].groupby(by, sort=False)["said"].value_counts().unstack(fill_value=0)
    lines = [row("table", "measure", "model", "selected on", *MARKS), row(*["---"] * (4 + len(MARKS)))]
    lines += [row(*key, *(count.get(said, 0) for said in MARKS)) for key, count in counts.iterrows()]
    by_model = compared[chosen & ~is_size].groupby("model", sort=False)
    totals = [("all scores of methods", model, cells) for model, cells in by_model]
    totals += [("all numbers of features", "", compared[chosen & is_size]), ("scores of all features", "", rest)]
    for name, model, cells in totals:
        total = cells["said"].value_counts()
        lines += [row(name, "", model, "", *(total.get(said, 0) for said in MARKS))] if len(cells) else []
    return "\n".join(lines)


def grid(cells: pd.DataFrame) -> str:
    """Return a table as the paper has it: printed, ours with its noise, and the verdict's mark."""
    methods = list(dict.fromkeys(cells["method"]))
    lines = [row("", *methods), row(*["---"] * (1 + len(methods)))]
    for dataset, found in cells.groupby("dataset", sort=False):
        by_method = found.set_index("method")
        lines.append(row(dataset, *(cell(by_method.loc[m]) if m in by_method.index else "" for m in methods)))
    return "\n".join(lines)


def cell(one: pd.Series) -> str:
    """Return a printed number and ours."""
    printed = "none" if pd.isna(one["printed"]) else f"{one['printed']:.4g}"
    if pd.isna(one["ours"]):
        return f"{printed} · {one['reason'].partition(',')[0][:40]}"
    noise = "" if pd.isna(one["noise"]) else f" ± {one['noise']:.2g}"
    return f"{printed} {MARKS[one['said']]} {one['ours']:.4g}{noise}"


def chart(shown: pd.DataFrame) -> alt.LayerChart:
    """Draw each printed number against ours, with the noise of ours."""
    percent = shown["measure"].str.endswith("percent")
    scaled = shown.assign(
        **{name: shown[name].where(~percent, shown[name] / 100) for name in ("printed", "ours", "noise")}
    )
    scaled = scaled.assign(low=scaled["ours"] - scaled["noise"], high=scaled["ours"] + scaled["noise"])
    low, high = scaled[["printed", "ours"]].min().min(), scaled[["printed", "ours"]].max().max()
    scale = alt.Scale(domain=[low, high], nice=True, zero=False)
    x = alt.X("printed:Q", title="printed", scale=scale, axis=alt.Axis(tickCount=6))
    colour = alt.Color("verdict:N", title=None, scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())))
    base = alt.Chart(scaled).encode(x=x, color=colour)
    diagonal = pd.DataFrame({"printed": [low, high], "ours": [low, high]})
    return alt.layer(
        alt.Chart(diagonal).mark_line(strokeDash=[3, 3], color="grey").encode(x=x, y=alt.Y("ours:Q", scale=scale)),
        base.mark_rule(opacity=0.35, clip=True).encode(y=alt.Y("low:Q", scale=scale, title="ours"), y2="high:Q"),
        base.mark_point(filled=True, size=30).encode(y=alt.Y("ours:Q", scale=scale), shape=alt.Shape("selected_on:N")),
    ).properties(width=460, height=380)


def curves(scores: pd.DataFrame, sizes: pd.DataFrame) -> alt.FacetChart:
    """Draw the accuracy of rankings over the number of features, psi, beside the best method that finds its own."""
    accuracy = scores[scores["metric"] == "accuracy"].assign(model_of=lambda one: one["dataset"] + ", " + one["model"])
    ranked = accuracy.loc[accuracy.index.intersection(sizes.index)]
    ranked = ranked.assign(method=sizes[0], psi=sizes[1].astype(int))
    others = accuracy.drop(ranked.index)[lambda one: one["selector"] != "all"]
    best = others.groupby("model_of", as_index=False)["mean"].max()
    every = pd.concat([ranked[["model_of", "method", "psi", "mean"]], best.assign(method="best causal method")])
    colour = alt.Color("method:N", title=None, scale=alt.Scale(range=[VERMILLION, ORANGE, GREEN, BLUE]))
    y = alt.Y("mean:Q", title="accuracy", scale=alt.Scale(zero=False))
    base = alt.Chart().encode(y=y, color=colour)
    lines = base.transform_filter("isValid(datum.psi)").mark_line(point=True).encode(x=alt.X("psi:Q", title="psi"))
    rule = base.transform_filter("!isValid(datum.psi)").mark_rule(strokeDash=[4, 3])
    panel = alt.layer(lines, rule).properties(width=180, height=120)
    return alt.FacetChart(data=every, spec=panel, facet=alt.Facet("model_of:N", title=None), columns=4).resolve_scale(
        y="independent"
    )


def claims(found: pd.DataFrame) -> str:
    """Return what the run says of each claim."""
    if found.empty:
        return ""
    head = (
        "where",
        "claim",
        "measure",
        "said",
        "of",
        "against",
        "data sets",
        "better, equal, worse",
        "p",
        "Holm",
        "verdict",
    )
    lines = [row(*head), row(*["---"] * len(head))]
    for one in found.itertuples():
        counts = f"{one.wins}, {one.ties}, {one.losses}"
        p, corrected = ("" if pd.isna(value) else f"{value:.2g}" for value in (one.p_value, one.p_holm))
        measure = f"{one.measure}, {one.model}" if one.model else one.measure
        who = (one.table, one.claim, measure, one.said, one.method, one.other)
        lines.append(row(*who, one.n_datasets, counts, p, corrected, one.verdict))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
