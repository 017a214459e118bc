"""Which features to keep, measured: `python -m studies.answer.page` after a run of answer.yaml.

Renews the tables and charts of README.md, the sentences of README.md, and the raw scores in
answer.parquet, from the artefacts of that run, of one by in_parts.py, and from the files of
answer_rows.py that are named. Other raw scores are kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
import yaml

from blanketflow.data.storage import feature_names, read_table
from blanketflow.reporting.formatting import BLUE, ORANGE, VERMILLION
from blanketflow.reporting.plots.comparison_charts import critical_difference
from blanketflow.reporting.plots.theme import svg_on_white
from blanketflow.reporting.tables.ranks import friedman, friedman_ranks
from studies.answer import tables
from studies.answer.rows import OUTSIDE, PANEL, lines_of, taken_up
from studies.shared.how_good import say
from studies.shared.in_parts import folder_of
from studies.shared.over_data_sets import apart, beside, one_of_each, with_earlier
from studies.shared.page import write

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "studies" / "answer" / "README.md"
CONFIG = ROOT / "studies" / "answer" / "answer.yaml"
RUNS = folder_of(CONFIG.name), ROOT / "results" / "answer"
RAW = ROOT / "studies" / "answer" / "answer.parquet"
OURS = ("auto", "hiton-mb", "mrmr", "permutation-importance", "ppfs", "relief")
REFERENCES = ("all", "none")


def main() -> None:
    """Renew the page, its charts and the raw scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", type=Path, metavar="FILE", help="what answer_rows.py wrote")
    asked = parser.parse_args()
    raw = pd.read_parquet(RAW) if RAW.exists() else pd.DataFrame()
    for run in RUNS:
        raw = with_earlier(scores_of(run), raw) if run.exists() else raw
    for path in asked.rows:
        raw = taken_up(raw, lines_of(path))
    RAW.parent.mkdir(exist_ok=True)
    raw.to_parquet(RAW, index=False, compression="zstd")
    judged, judges = tables.with_judges(raw)
    of_sets = tables.by_set(tables.differences(judged, judges), judges, nogueira)
    everywhere, _ = tables.by_completeness(of_sets)
    found = tables.means(everywhere, judges)
    once = everywhere[everywhere["dataset"].isin(one_of_each(sorted(set(everywhere["dataset"]))))]
    scores = once[once["selector"] != "none"].pivot(index="dataset", columns="selector", values=tables.MEAN)
    said = tables.sentences(everywhere, judges)
    said[3:3] = tables.on_fewer_sets(raw, judges, nogueira)
    blocks = {
        "run": run_of(of_sets, judged, judges),
        "short": "\n".join(f"- {sentence}" for sentence in said),
        "auto by judge": tables.table_of_auto(everywhere, judges),
        "power": tables.power(everywhere),
        "judges": tables.table_of_judges(found, judges),
        "answers": tables.table_of_answers(found),
        "beside": beside(scores, "auto"),
        "sets": tables.table_of_sets(everywhere),
    }
    write(PAGE, blocks)
    say("answer", " ".join(said[:2]), page="studies/answer/README.md", more=said[2:])
    for name, chart in {"sizes": over_sizes(found), "ranks": ranked(once)}.items():
        drawing = svg_on_white(chart)
        (PAGE.parent / f"answer-{name}.svg").write_text(drawing, encoding="utf-8")


def scores_of(run: Path) -> pd.DataFrame:
    """Return one row per data set, selector and split: the scores of the models, the features kept, and seconds.

    `score` and `n_features` are missing where there is no answer; `chosen` are the positions of the features in the
    data set, in ascending order, separated by spaces. Where there is an answer and they are missing, how stable the
    answers are is not known.
    """
    rows, names = [], {asked: name for name, asked in OUTSIDE.items()}
    for path in sorted((run / "evaluate").glob("*/*.parquet")):
        dataset, selector = path.parent.name, path.stem
        found, table = pd.read_parquet(path), run / "data" / dataset / "table.parquet"
        features, n_rows = feature_names(table), read_table(table, []).target.n_rows
        scored = found[found["metric"].isin(("accuracy", "r2"))].assign(value=lambda one: one["value"].clip(lower=-1.0))
        for split, of_split in scored.groupby("split"):
            place = run / "select" / dataset / str(split) / selector
            blanket, folds = pd.read_parquet(place / "blanket.parquet"), pd.read_parquet(place / "folds.parquet")
            chosen = sorted(map(features.index, blanket.loc[blanket["chosen"], "feature"]))
            answered = of_split["value"].notna().any()
            rows.append(
                {
                    "dataset": dataset,
                    "selector": selector,
                    "split": split,
                    "metric": of_split["metric"].iloc[0],
                    **of_split.groupby("model")["value"].first().rename(names).to_dict(),
                    "score": of_split.loc[of_split["model"].isin(PANEL), "value"].mean(),
                    "n_features": len(chosen) if answered else None,
                    "d": len(features),
                    "n": n_rows,
                    "chosen": " ".join(map(str, chosen)) if answered else None,
                    "seconds": folds["seconds"].sum(),
                }
            )
    return pd.DataFrame(rows)


def nogueira(chosen: pd.Series, d: int) -> float:
    """Return how alike the sets of the splits are (Nogueira, Sechidis and Brown, 2018); NaN if that is not defined.

    Sets of all features or none, which say nothing of features, do not count.
    """
    from blanketflow.reporting.tables.stability import nogueira as stability

    members = np.zeros((len(chosen), d), dtype=bool)
    for i, positions in enumerate(chosen):
        members[i, np.array(positions.split(), dtype=int)] = True
    members = members[members.any(axis=1) & ~members.all(axis=1)]
    return float(stability(members).value) if len(members) > 1 else float("nan")


def run_of(of_sets: pd.DataFrame, raw: pd.DataFrame, judges: list[str]) -> str:
    """Return what was run, and what of the config was not."""
    asked = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    everywhere = tables.by_completeness(of_sets)[0]
    n_splits = raw[raw["selector"] == "auto"].groupby("dataset")["split"].nunique()
    lines = [f"{number} splits of {n} data sets." for number, n in n_splits.value_counts().sort_index().items()]
    for kind, column, of, where in (
        ("data sets", "dataset", of_sets, ""),
        ("selectors", "selector", everywhere, " on all of them"),
    ):
        ran, all_of_them = set(of[column]), list(asked[f"{column}s"])
        lines.append(f"{len(ran)} of the {len(all_of_them)} {kind} of the config were run{where}.")
        missing = [f"`{name}`" for name in all_of_them if name not in ran]
        lines += [f"Not yet{where}: {', '.join(missing)}."] if missing else []
    lines += [f"Not asked of all answers yet: {tables.JUDGES[name]}." for name in tables.JUDGES if name not in judges]
    known = everywhere.loc[everywhere["stability"].notna(), "dataset"].nunique()
    lines += [f"Stability is known on {known} of the data sets."] if known < of_sets["dataset"].nunique() else []
    return "\n".join(lines)


def over_sizes(found: pd.DataFrame) -> alt.LayerChart:
    """Draw the difference of accuracy to all features over the share of features kept."""
    axis = alt.Axis(format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    scale = alt.Scale(domain=[0, 1.1])
    return points(found, alt.X("share:Q", title="features kept, mean share", axis=axis, scale=scale), found["share"])


def points(found: pd.DataFrame, x: alt.X, at: pd.Series) -> alt.LayerChart:
    """Draw each selector as a point, with the names that overlap no other; the page's table has all."""
    kind = {**dict.fromkeys(OURS, "ours"), "auto": "auto"}
    shown = found.assign(named=apart(at, found["mean"])).reset_index()
    shown = shown.assign(kind=shown["selector"].map(kind).fillna("used elsewhere"))
    colour = alt.Scale(domain=["auto", "ours", "used elsewhere"], range=[VERMILLION, BLUE, ORANGE])
    base = alt.Chart(shown).encode(
        x=x,
        y=alt.Y("mean:Q", title="accuracy, mean difference to all features", axis=alt.Axis(format="+.3f")),
        color=alt.Color("kind:N", title=None, scale=colour),
    )
    names = (
        base.transform_filter("datum.named")
        .mark_text(align="left", dx=6, fontSize=10)
        .encode(text="selector:N", color=alt.value("black"))
    )
    zero = alt.Chart(pd.DataFrame({"y": [0]})).mark_rule(strokeDash=[4, 3], color="grey").encode(y="y:Q")
    return alt.layer(zero, base.mark_point(filled=True, size=50), names).properties(width=620, height=420)


def ranked(by_set: pd.DataFrame) -> alt.LayerChart:
    """Draw the mean ranks of the scores over data sets, with the critical difference of Nemenyi's test."""
    table = by_set[["dataset", "selector", "mean"]].assign(
        model="mean of the models", metric="accuracy", sd=np.nan, n_splits=5, status="ok"
    )
    names = sorted(set(table["selector"]) - {"none"})
    test = friedman(table, names).iloc[0]
    return critical_difference(
        friedman_ranks(table, names), float(test["critical_difference"]), int(test["n_datasets"])
    )


if __name__ == "__main__":
    main()
