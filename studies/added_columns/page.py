"""Writes the tables and the chart of the study's page, from the raw results."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import pandas as pd

from blanketflow.reporting.formatting import BLUE, GREEN, ORANGE
from blanketflow.reporting.plots.theme import svg_on_white
from studies.added_columns.methods import ALL, METHODS, ORIGINAL, RANKINGS, SEARCHES
from studies.added_columns.tables import SETTINGS, SHARES
from studies.shared.how_good import say
from studies.shared.over_data_sets import beside
from studies.shared.page import row, write

FOLDER = Path(__file__).parent
PAGE = FOLDER / "README.md"
JUDGES = {"boosted": "boosted trees", "mlp": "network"}
#: Whose methods are on the chart, with their colours.
WHOSE = {"blanketflow, search": BLUE, "blanketflow, ranking": GREEN, "others": ORANGE}
#: Largest losses that are named.
N_NAMED = 12


def write_page(raw: pd.DataFrame, page: Path = PAGE) -> None:
    """Write the blocks of the page, and its chart beside it."""
    write(page, blocks(raw))
    drawing = svg_on_white(chart(_at_number(whole(raw))))
    (page.parent / "added-columns.svg").write_text(drawing, encoding="utf-8")
    if page == PAGE:
        sentence, other = sentences(raw)
        say("added columns", sentence, page="studies/added_columns/README.md", more=[other])


def blocks(raw: pd.DataFrame) -> dict[str, str]:
    """Return the text of each block."""
    found = whole(raw)
    held = found["is_held_back"]
    return {
        "counts": counts(found),
        "precision": cells_table(_at_number(found[~held])),
        "precision held back": cells_table(_at_number(found[held])),
        "scores": scores_table(found[~held], "at_number"),
        "scores held back": scores_table(found[held], "at_number"),
        "own": own_table(found[~held]),
        "own held back": own_table(found[held]),
        **{f"auto {judge}": beside(_of_sets(found, judge), "auto") for judge in JUDGES},
        "losses": losses_table(found),
    }


def whole(raw: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of tasks that all methods were asked for."""
    n = raw.groupby("task")["method"].transform("nunique")
    return raw[n == len(METHODS)].reset_index(drop=True)


def counts(found: pd.DataFrame) -> str:
    """Return in words how much was run."""
    n_tasks, n_sets = found["task"].nunique(), found["dataset"].nunique()
    of_half = found[found["is_held_back"]]["task"].nunique()
    minutes, without = found["seconds"].sum() / 60, int(found["at_number_kept"].isna().sum())
    return (
        f"{n_tasks} tasks of {n_sets} sets, {of_half} of them of sets held back; {len(found):,} answers in "
        f"{minutes:.0f} CPU minutes, {without} without an answer."
    )


def sentences(raw: pd.DataFrame) -> tuple[str, str]:
    """Return which columns `auto` keeps, and its scores."""
    found = whole(raw)
    means = _at_number(found).groupby("method")["precision"].mean()
    n_sets, share, chance = found["dataset"].nunique(), means["auto"], means[ALL]
    first = (
        f"With noise, copies or products added to {n_sets} public tables, {share:.0%} of what `auto` keeps is original "
        f"({chance:.0%} by chance)."
    )
    scores = _with_differences(found, "own").groupby("method")[list(JUDGES)].mean().loc["auto"]
    every = _with_differences(found, "at_number").groupby("method")[list(JUDGES)].mean().loc[ALL]
    parts = [f"{scores[judge]:+.3f} by {JUDGES[judge]} ({every[judge]:+.3f} with all columns)" for judge in JUDGES]
    return first, f"Its scores less those of the original columns are {' and '.join(parts)}."


def cells_table(of: pd.DataFrame) -> str:
    """Return the share of original columns among those kept at the original number, by kind and share of added ones."""
    cells = [(setting, share) for setting in SETTINGS for share in SHARES]
    heads = ("method", *(f"{setting} {share:.0%}" for setting, share in cells), "mean", "recall")
    lines = [row(*heads), row(*["---"] * len(heads))]
    for method in _in_order(of, [name for name in METHODS if name != ORIGINAL], "precision"):
        own = of[of["method"] == method]
        means = own.groupby(["setting", "share"])["precision"].mean().dropna()
        lines.append(
            row(
                method,
                *(f"{means[cell]:.2f}" if cell in means else "" for cell in cells),
                f"{means.mean():.2f}",
                f"{own.groupby(['setting', 'share'])['recall'].mean().mean():.2f}",
            )
        )
    return "\n".join(lines)


def scores_table(found: pd.DataFrame, place: str) -> str:
    """Return the scores less those of the original columns, as means over tasks, by kind of added columns and judge."""
    of = _with_differences(found, place)
    cells = [(setting, judge) for setting in SETTINGS for judge in JUDGES]
    heads = ("method", *(f"{setting}, {JUDGES[judge]}" for setting, judge in cells), "mean", "CPU s, median")
    lines = [row(*heads), row(*["---"] * len(heads))]
    for method in _in_order(of, [name for name in METHODS if name != ORIGINAL], "mean"):
        own = of[of["method"] == method]
        means = own.groupby("setting")[list(JUDGES)].mean()
        shown = [f"{means.loc[setting, judge]:+.3f}" if setting in means.index else "" for setting, judge in cells]
        lines.append(row(method, *shown, f"{own['mean'].mean():+.3f}", f"{own['seconds'].median():.2g}"))
    return "\n".join(lines)


def own_table(found: pd.DataFrame) -> str:
    """Return what methods keep that choose the number themselves."""
    of = _with_differences(found, "own")
    of["kept"] = of["own_kept"] / of["n_original"]
    of["precision"] = (of["own_hits"] / of["own_kept"]).where(of["own_kept"] > 0)
    of["recall"] = of["own_hits"] / of["n_original"]
    heads = ("method", "tasks", "kept, of the original number", "precision", "recall", "nothing kept")
    heads += (*(f"{name}, less the original columns'" for name in JUDGES.values()), "CPU s, median")
    lines = [row(*heads), row(*["---"] * len(heads))]
    for method in _in_order(of, METHODS, "mean"):
        own = of[of["method"] == method]
        means = own[["kept", "precision", "recall"]].mean()
        shown = (f"{means['kept']:.0%}", f"{means['precision']:.2f}", f"{means['recall']:.2f}")
        differences = (f"{own[judge].mean():+.3f}" for judge in JUDGES)
        seconds = f"{own['seconds'].median():.2g}"
        lines.append(row(method, len(own), *shown, int((own["own_kept"] == 0).sum()), *differences, seconds))
    return "\n".join(lines)


def losses_table(found: pd.DataFrame) -> str:
    """Return the tasks on which `auto` loses most to the original columns, with what it and the best other keep."""
    of = _with_differences(found, "own")
    at = _with_differences(found, "at_number").set_index(["task", "method"])["mean"].unstack()
    others = at[[name for name in METHODS if name not in (ALL, ORIGINAL, "auto")]]
    lost = of[of["method"] == "auto"].sort_values("mean").head(N_NAMED)
    heads = ("task", "rows", "original columns", "kept", "of them original", *JUDGES.values())
    heads += ("mean of both", "best other at the original number", "its mean")
    lines = [row(*heads), row(*["---"] * len(heads))]
    for one in lost.itertuples():
        best = others.loc[one.task].idxmax()
        shown = (
            f"{one.boosted:+.3f}",
            f"{one.mlp:+.3f}",
            f"{one.mean:+.3f}",
            best,
            f"{others.loc[one.task, best]:+.3f}",
        )
        lines.append(row(one.task, one.n_rows, one.n_original, int(one.own_kept), int(one.own_hits), *shown))
    return "\n".join(lines)


def chart(of: pd.DataFrame) -> alt.FacetChart:
    """Draw the share of original columns among those kept at the original number, a point for each share of added."""
    shown = of[~of["method"].isin((ALL, ORIGINAL))]
    means = shown.groupby(["method", "setting", "share"], as_index=False)["precision"].mean()
    means["added"] = means["share"].map("{:.0%} added".format)
    means["whose"] = means["method"].map(_whose)
    order = list(means.groupby("method")["precision"].mean().sort_values(ascending=False).index)
    base = alt.Chart(means).encode(
        alt.X("precision:Q", title="share of kept that is original").scale(domain=[0, 1]),
        alt.Y("method:N", sort=order, title=None),
        alt.Color("whose:N", title=None).scale(domain=list(WHOSE), range=list(WHOSE.values())),
        alt.Shape("added:N", title=None),
    )
    return base.mark_point(filled=True, size=50, opacity=0.9).properties(width=210, height=260).facet(
        alt.Facet("setting:N", title=None, sort=list(SETTINGS)), spacing=14
    )  # fmt: skip


def _whose(method: str) -> str:
    ours = {**dict.fromkeys(SEARCHES, "blanketflow, search"), **dict.fromkeys(RANKINGS, "blanketflow, ranking")}
    return ours.get(method, "others")


def _at_number(found: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with precision and recall at the original number; who keeps nothing has no precision."""
    kept, hits = found["at_number_kept"], found["at_number_hits"]
    return found.assign(precision=(hits / kept).where(kept > 0), recall=hits / found["n_original"])


def _with_differences(found: pd.DataFrame, place: str) -> pd.DataFrame:
    """Return the rows with scores of `place`, each judge's less that of the original columns, and the mean of both."""
    of = found.dropna(subset=[f"{place}_kept"]).copy()
    original = found[found["method"] == ORIGINAL].set_index("task")
    for judge in JUDGES:
        of[judge] = of[f"{place}_{judge}"] - of["task"].map(original[f"at_number_{judge}"])
    return of.assign(mean=of[list(JUDGES)].mean(axis=1))


def _of_sets(found: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Return the mean score of each set by each method: of its own number where it chooses that."""
    score = found[f"own_{judge}"].fillna(found[f"at_number_{judge}"])
    wide = found.assign(score=score).pivot(index="task", columns="method", values="score").dropna(axis=0)
    of_task = found.drop_duplicates("task").set_index("task")["dataset"]
    return wide.groupby(of_task).mean()[[name for name in METHODS if name in wide]]


def _in_order(of: pd.DataFrame, methods: list[str] | tuple[str, ...], by: str) -> list[str]:
    means = of.groupby("method")[by].mean().reindex([m for m in methods if m in set(of["method"])])
    return list(means.sort_values(ascending=False, kind="stable").index)
