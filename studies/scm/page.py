"""Writes the tables and charts of the study's page, and its raw results as Parquet."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
from scipy.stats import beta

from blanketflow.reporting.formatting import BLUE, GREEN, ORANGE, VERMILLION
from blanketflow.reporting.plots.theme import svg_on_white
from studies.answer.tables import enumerated
from studies.scm.methods import ALL, METHODS, OURS, TRUE
from studies.shared.how_good import say
from studies.shared.page import row, write

FOLDER = Path(__file__).parent
PAGE = FOLDER / "README.md"
MODELS = ("ridge", "boosted", "forest", "neighbours")
#: Searches with which the aims are compared.
SEARCHES = ("auto", "hiton-mb", "iamb", "iamb, alpha 0.001")
#: Scores that are nearer than this are level.
LEVEL = 0.02
#: Methods on the charts, with their colours.
SHOWN = {"auto": BLUE, "hiton-mb": GREEN, "iamb": ORANGE, "lasso": VERMILLION, "boruta": "#999999"}


def write_page(raw: pd.DataFrame) -> None:
    """Write the raw results, the blocks of the page and its charts."""
    raw.to_parquet(FOLDER / "scm.parquet", index=False)
    first = with_references(raw[raw["limit"] == 60])
    blocks = {
        "tuned": beside(first[~first["is_held_back"]]),
        "held-back": beside(first[first["is_held_back"]]),
        "families": by(first, "family"),
        "columns": by(first, "n_columns"),
        "counts": counts(first),
        "aims": aims(first),
    }
    write(PAGE, blocks)
    sentence, other = sentences(first)
    say("scm", sentence, page="studies/scm/README.md", more=[other])
    (FOLDER / "scm-recall.svg").write_text(svg_on_white(recall_over_columns(first)), encoding="utf-8")
    (FOLDER / "scm-score.svg").write_text(svg_on_white(score_over_time(first)), encoding="utf-8")


def with_references(raw: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with R², the mean over models, and those of all features and of the true blanket.

    A method without an answer has R² 0, that of no feature.
    """
    found = raw.assign(r2=raw[list(MODELS)].clip(lower=-1.0).mean(axis=1).fillna(0.0))
    for name, method in (("r2_all", ALL), ("r2_true", TRUE)):
        of_task = found[found["method"] == method].set_index("task")["r2"]
        found[name] = found["task"].map(of_task)
    return found.dropna(subset=["r2_all", "r2_true"])


def beside(rows: pd.DataFrame) -> str:
    """Return a table of all methods."""
    heads = ("method", "tasks", "no answer", "precision", "recall", "features", "R²", "R² less the true blanket's")
    heads += (f"within {LEVEL} of it, with 1,000 rows or more", f"above all features, if the truth is by {LEVEL}")
    heads += ("CPU s",)
    lines = [row(*heads), row(*["---"] * len(heads))]
    for method in METHODS:
        of = rows[rows["method"] == method]
        if of.empty:
            continue
        many, gains = of[of["n_rows"] >= 1000], of[of["r2_true"] > of["r2_all"] + LEVEL]
        lines.append(
            row(
                method,
                len(of),
                int(of["ridge"].isna().sum()),
                f"{of['precision'].mean():.2f}",
                f"{of['recall'].mean():.2f}",
                f"{of['n_kept'].median():.0f}",
                f"{of['r2'].mean():.3f}",
                f"{(of['r2'] - of['r2_true']).mean():+.3f}",
                _share(many["r2"] >= many["r2_true"] - LEVEL),
                _share(gains["r2"] > gains["r2_all"]),
                "" if of["seconds"].isna().all() else f"{of['seconds'].median():.1f}",
            )
        )
    return "\n".join(lines)


def by(rows: pd.DataFrame, column: str) -> str:
    """Return a table of R² less the true blanket's, and of recall, by a property of tasks."""
    values = sorted(rows[column].unique())
    lines = [row("method", *values), row(*["---"] * (len(values) + 1))]
    for method in [method for method in METHODS if method in set(rows["method"])]:
        cells = []
        for value in values:
            of = rows[(rows["method"] == method) & (rows[column] == value)]
            cells.append("" if of.empty else f"{(of['r2'] - of['r2_true']).mean():+.3f} ({of['recall'].mean():.2f})")
        lines.append(row(method, *cells))
    return "\n".join(lines)


def sentences(rows: pd.DataFrame) -> tuple[str, str]:
    """Return how near `auto` is to the true blanket, and how near all features and searches are on the same tasks."""
    tasks = rows.loc[(rows["method"] == "auto") & (rows["n_rows"] >= 1000), "task"]
    many = rows[rows["task"].isin(tasks)].assign(difference=lambda rows: rows["r2"] - rows["r2_true"])
    of = many.groupby("method")["difference"]
    within, mean, n_tasks = of.apply(lambda lost: (lost >= -LEVEL).sum()), of.mean(), many["task"].nunique()
    first = (
        f"`auto` is within {LEVEL} R² of the true blanket or above on {within['auto']} of {n_tasks} simulated tables "
        f"of 1,000 rows or more. All features are on {within[ALL]}."
    )
    others = [f"{mean[name]:+.3f} with `{name}`" for name in ("hiton-mb", "iamb", "mrmr") if name in mean]
    second = (
        f"The mean difference in R² is {mean['auto']:+.3f} with `auto`, {mean[ALL]:+.3f} with all features, "
        f"{enumerated(others)}."
    )
    return first, second


def aims(rows: pd.DataFrame) -> str:
    """Return how far the aims that were set beforehand are met, with exact lower bounds of the shares."""
    many, gains = rows[rows["n_rows"] >= 1000], rows[rows["r2_true"] > rows["r2_all"] + LEVEL]
    asked = (
        (
            f"within {LEVEL} R² of the true blanket, of tasks with 1,000 rows or more",
            0.8,
            many,
            many["r2_true"] - LEVEL,
        ),
        (f"above all features, of tasks where the true blanket is by more than {LEVEL}", 0.9, gains, gains["r2_all"]),
    )
    lines = [row("aim", "method", "share", "lower 95 % bound"), row(*["---"] * 4)]
    for what, aim, of, least in asked:
        for method in SEARCHES:
            reached = (of["r2"] >= least)[of["method"] == method]
            k, n = int(reached.sum()), len(reached)
            if n:
                bound = beta.ppf(0.05, k, n - k + 1) if k else 0.0
                lines.append(row(f"{what}: {aim:.0%}", method, f"{k} of {n}", f"{bound:.0%}"))
    return "\n".join(lines)


def counts(rows: pd.DataFrame) -> str:
    """Return in words how much was run."""
    timed = rows["seconds"].dropna()
    n_tasks, n_held_back = rows["task"].nunique(), rows.loc[rows["is_held_back"], "task"].nunique()
    return (
        f"{n_tasks} tasks so far, {n_held_back} of them held back; {len(rows):,} answers. The column "
        f"`tasks` has the number of these that a method was run on; differences are on the same tasks. CPU seconds are "
        f"those of {len(timed):,} answers, {timed.sum() / 3600:.1f} hours in all; the others were not timed."
    )


def recall_over_columns(rows: pd.DataFrame) -> alt.Chart:
    """Return a chart of the mean recall by the number of columns."""
    of = rows[rows["method"].isin(SHOWN)].groupby(["method", "n_columns"], as_index=False)["recall"].mean()
    return (
        alt.Chart(of, width=420, height=240)
        .mark_line(point=True)
        .encode(
            alt.X("n_columns", title="columns").scale(type="log"),
            alt.Y("recall", title="share of the true blanket that is found").scale(domain=[0, 1]),
            alt.Color("method", title=None).scale(domain=list(SHOWN), range=list(SHOWN.values())),
        )
    )


def score_over_time(rows: pd.DataFrame) -> alt.Chart:
    """Return a chart of R² less the true blanket's over the CPU seconds, a point for each method."""
    of = rows.assign(difference=rows["r2"] - rows["r2_true"]).groupby("method", as_index=False)
    means = of.agg(seconds=("seconds", "median"), difference=("difference", "mean")).dropna()
    means["seconds"] = np.maximum(means["seconds"], 0.01)
    means["whose"] = np.where(means["method"].isin(OURS), "blanketflow", "others and references")
    base = alt.Chart(means, width=420, height=300).encode(
        alt.X("seconds", title="CPU seconds (median)").scale(type="log"),
        alt.Y("difference", title="R² less that of the true blanket (mean)"),
    )
    points = base.mark_point(filled=True, size=60).encode(alt.Color("whose", title=None))
    return points + base.mark_text(align="left", dx=6).encode(alt.Text("method"))


def _share(is_so: pd.Series) -> str:
    return f"{is_so.mean():.0%} of {len(is_so)}" if len(is_so) else ""
