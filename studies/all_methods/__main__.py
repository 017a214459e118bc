"""Every method beside every other: `python -m studies.all_methods` after a run of all.yaml, or parts of it.

Adds the scores of that run, and of one by in_parts.py, to all_methods.parquet, so that the study can
grow a few data sets at a time. With --page, README.md is renewed from all of them.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
import yaml

from blanketflow.core.cards import Card
from blanketflow.core.registry import discover
from blanketflow.reporting.formatting import BLUE, GREEN, ORANGE, VERMILLION
from blanketflow.reporting.plots.theme import svg_on_white
from blanketflow.reporting.tables.ranks import friedman, friedman_ranks
from studies.shared.in_parts import folder_of
from studies.shared.over_data_sets import apart, beside, facts, foretold, one_of_each, with_earlier
from studies.shared.page import row, write

ROOT = Path(__file__).parents[2]
PAGE, RAW = ROOT / "studies" / "all_methods" / "README.md", ROOT / "studies" / "all_methods" / "all_methods.parquet"
CONFIG = ROOT / "studies" / "all_methods" / "all.yaml"
#: By metric: where its blocks and charts stand, and its name.
KINDS = {"accuracy": ("", "accuracy"), "r2": ("regression-", "R-square")}


def main() -> None:
    """Add what was run to the raw scores."""
    raw = pd.read_parquet(RAW) if RAW.exists() else pd.DataFrame()
    for tables, run in folders():
        raw = with_earlier(scores_of(tables, run), raw)
    raw.to_parquet(RAW, index=False)
    print(run_of(raw))
    if "--page" in sys.argv:
        renew(raw)


def renew(raw: pd.DataFrame) -> None:
    """Renew the page and its charts."""
    blocks = {"run": run_of(raw)}
    for metric, (prefix, title) in KINDS.items():
        once = guessed(raw[(raw["metric"] == metric) & raw["dataset"].isin(one_of_each(sorted(set(raw["dataset"]))))])
        found = summary(once)
        blocks |= {f"{prefix}friedman": tests(friedman(once)), f"{prefix}methods": methods(found, title)}
        for name, drawing in (("sizes", sizes(found, title)), ("seconds", seconds(found, title))):
            (PAGE.parent / f"all-methods-{prefix}{name}.svg").write_text(svg_on_white(drawing), encoding="utf-8")
        if metric == "accuracy":
            means = once.groupby(["dataset", "selector"])["mean"].mean().unstack()
            blocks |= {"beside": beside(means, "all"), "foretold": foretold(means, facts(once).loc[means.index])}
    write(PAGE, blocks)


def guessed(once: pd.DataFrame) -> pd.DataFrame:
    """Return the scores with that of `none` for the splits on which a selector has no answer: models can only guess."""
    keys = ["dataset", "model"]
    none = once[once["selector"] == "none"].set_index(keys)["mean"]
    guesses = pd.Series(none.reindex(pd.MultiIndex.from_frame(once[keys])).to_numpy(), once.index)
    return once.assign(mean=once["mean"].fillna(0.0) * once["answered"] + guesses * (1.0 - once["answered"]))


def folders() -> Iterator[tuple[Path, Path]]:
    """Yield the folders of tables, each with that of its run."""
    parts, whole = folder_of(CONFIG.name), ROOT / "results" / "all"
    yield from ((tables, parts) for tables in sorted((parts / "tables").glob("*")))
    if (whole / "tables").is_dir():
        yield whole / "tables", whole


def scores_of(tables: Path, run: Path) -> pd.DataFrame:
    """Return one row per data set, selector and model: score, features kept, CPU seconds, stability and status.

    `answered` is the share of the splits with an answer. The seconds are those of a search that has one, of which there
    are `n_searches`, on all rows, too, where that was asked for.
    """
    named = ("scores", "runtime", "stability", "statuses")
    scores, runtime, stability, statuses = (pd.read_parquet(tables / f"{name}.parquet") for name in named)
    pair = ["dataset", "selector"]
    ended = statuses[~statuses["status"].isin(("ok", "unreliable"))].drop_duplicates(pair)[[*pair, "status"]]
    found = scores.loc[scores["metric"].isin(KINDS), [*pair, "metric", "model", "mean", "n_features", "n_splits"]]
    for other in (runtime[[*pair, "selection_seconds"]], stability[[*pair, "stability"]], ended):
        found = found.merge(other, how="left")
    n_splits, n_answers = found["n_splits"].max(), found.pop("n_splits")
    found["answered"] = n_answers / n_splits
    found["n_searches"] = found["dataset"].map(statuses.groupby("dataset")["split"].nunique()) - n_splits + n_answers
    found["seconds"] = found.pop("selection_seconds") / found["n_searches"]
    d = found[found["selector"] == "all"].groupby("dataset")["n_features"].first()
    cards = {name: (run / "data" / name / "card.json").read_text(encoding="utf-8") for name in set(found["dataset"])}
    n = found["dataset"].map({name: json.loads(card)["n_rows"] for name, card in cards.items()})
    return found.assign(status=found["status"].fillna("ok"), d=found["dataset"].map(d), n=n)


def run_of(raw: pd.DataFrame) -> str:
    """Return what was run, and what of the config was not."""
    asked, ran = yaml.safe_load(CONFIG.read_text(encoding="utf-8")), set(raw["dataset"])
    missing = ", ".join(f"`{name}`" for name in asked["datasets"] if name not in ran)
    timed = raw.dropna(subset="seconds").drop_duplicates(["dataset", "selector"])
    timed = timed[timed.groupby("dataset")["selector"].transform("size") > raw["selector"].nunique() / 2]
    said = f"{len(ran)} of the {len(asked['datasets'])} data sets of the config were run, with "
    hours = (timed["seconds"] * timed["n_searches"]).sum() / 3600
    said += f"{raw['selector'].nunique()} selectors; {hours:.1f} CPU hours of searches were "
    said += f"counted on {timed['dataset'].nunique()} of them."
    return textwrap.fill(f"{said} Not yet: {missing}." if missing else said, 120, break_on_hyphens=False)


def summary(once: pd.DataFrame) -> pd.DataFrame:
    """Return a row a selector, the best mean rank first: what it scores, keeps, costs and repeats over data sets."""
    pairs = once.drop_duplicates(["dataset", "selector"])
    by_model = friedman_ranks(once).pivot(index="selector", columns="model", values="mean_rank")
    of_pairs = pairs.assign(share=pairs["n_features"] / pairs["d"], failed=pairs["status"] != "ok").groupby("selector")
    found = by_model.assign(
        rank=by_model.mean(axis=1),
        score=once.groupby("selector")["mean"].mean(),
        share=of_pairs["share"].mean(),
        seconds=of_pairs["seconds"].median(),
        stability=of_pairs["stability"].mean(),
        failed=of_pairs["failed"].sum(),
    )
    return found.sort_values("rank")


def methods(found: pd.DataFrame, title: str) -> str:
    """Return the table of all selectors."""
    models = list(found.columns[: found.columns.get_loc("rank")])
    heads = ("method", "mean rank", *(f"by {model}" for model in models), f"mean {title}", "features kept")
    heads += ("stability", "seconds a search, median", "data sets not searched to the end")
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
    """Draw the score over the seconds of a search."""
    x = alt.X("seconds:Q", title="seconds a search, median", axis=alt.Axis(format="~g"), scale=alt.Scale(type="log"))
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


if __name__ == "__main__":
    main()
