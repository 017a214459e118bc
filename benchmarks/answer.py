"""Which features to keep, measured: `python benchmarks/answer.py` after a run of config/answer.yaml.

Renews the tables and charts of docs/answer-measured.md and the raw scores in benchmarks/results/answer.parquet from
the artefacts of that run, and of one by in_parts.py. Other raw scores are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import yaml
from in_parts import folder_of
from over_data_sets import apart, beside, facts, foretold, one_of_each, with_earlier
from page import write
from papers import row
from scipy import stats

from blanketflow.data.storage import feature_names
from blanketflow.reporting.colours import BLUE, ORANGE, VERMILLION
from blanketflow.reporting.plots.critical_difference import critical_difference
from blanketflow.reporting.plots.render import svg_on_white
from blanketflow.reporting.tables.friedman import friedman, friedman_ranks

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "answer-measured.md"
CONFIG = ROOT / "config" / "answer.yaml"
RUNS = folder_of(CONFIG.name), ROOT / "results" / "answer"
RAW = ROOT / "benchmarks" / "results" / "answer.parquet"
#: The data sets on which `auto` was designed; the others were not looked at before it was fixed.
TUNED_ON = {
    "auto-mobile",
    "auto-mpg",
    "colon",
    "colon-numbers",
    "cpu-performance",
    "credit",
    "desharnais",
    "ecoli",
    "german",
    "hepatitis",
    "housing",
    "ionosphere",
    "kr-vs-kp",
    "promoter",
    "reged1",
    "sonar",
    "spect",
    "statlog",
    "waveform",
    "wdbc",
}

HALVES = {"tuned on": TUNED_ON.__contains__, "held back": lambda name: name not in TUNED_ON, "all": lambda name: True}
OURS = ("auto", "hiton-mb", "mrmr", "permutation-importance", "ppfs", "relief")
REFERENCES = ("all", "none")
METRICS = ("accuracy", "r2")
#: What a person would call worse: so much less of accuracy or R-square, and significantly so.
WORSE, LEVEL = 0.02, 0.05


def main() -> None:
    """Renew the page, its charts and the raw scores."""
    raw = pd.read_parquet(RAW) if RAW.exists() else pd.DataFrame()
    for run in RUNS:
        raw = with_earlier(scores_of(run), raw) if run.exists() else raw
    RAW.parent.mkdir(exist_ok=True)
    raw.to_parquet(RAW, index=False, compression="zstd")
    by_set = compared(raw)
    everywhere, partly = by_completeness(by_set)
    blocks = {"run": run_of(by_set, raw), "partly": table_of_partly(by_set, partly), "sets": sets(by_set)}
    for half, is_in in HALVES.items():
        some = everywhere[everywhere["dataset"].map(is_in)]
        blocks |= {f"reach {half}": reach(some), f"table {half}": table(summary(some))}
    once = everywhere[everywhere["dataset"].isin(one_of_each(sorted(set(everywhere["dataset"]))))]
    scores = once[once["selector"] != "none"].pivot(index="dataset", columns="selector", values="score")
    blocks |= {"beside": beside(scores, "auto"), "foretold": foretold(scores, facts(raw).loc[scores.index])}
    write(PAGE, blocks)
    found = summary(everywhere)
    drawn = {"sizes": over_sizes(found), "seconds": over_seconds(found), "ranks": ranked(once)}
    for name, chart in drawn.items():
        drawing = svg_on_white(chart)
        (PAGE.parent / f"answer-{name}.svg").write_text(drawing, encoding="utf-8")


def scores_of(run: Path) -> pd.DataFrame:
    """Return one row per data set, selector and split: the mean score of the models, the features kept, and seconds.

    `score` and `n_features` are missing where there is no answer; `chosen` are the positions of the features in the
    data set, in ascending order, separated by spaces. Where there is an answer and they are missing, how stable the
    answers are is not known.
    """
    rows = []
    for path in sorted((run / "evaluate").glob("*/*.parquet")):
        dataset, selector = path.parent.name, path.stem
        found, table = pd.read_parquet(path), run / "data" / dataset / "table.parquet"
        features, n_rows = feature_names(table), pq.read_metadata(table).num_rows
        scored = found[found["metric"].isin(METRICS)].assign(value=lambda one: one["value"].clip(lower=-1.0))
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
                    **of_split.groupby("model")["value"].first().to_dict(),
                    "score": of_split["value"].mean(),
                    "n_features": len(chosen) if answered else None,
                    "d": len(features),
                    "n": n_rows,
                    "chosen": " ".join(map(str, chosen)) if answered else None,
                    "seconds": folds["seconds"].sum(),
                }
            )
    return pd.DataFrame(rows)


def compared(raw: pd.DataFrame) -> pd.DataFrame:
    """Return one row per data set and selector: score, difference to all features with its p-value, size, stability.

    The data sets are those that were run with all features and with `auto`. A selector without an answer leaves a
    person with all features, and is counted so.
    """
    whole, auto = (raw[raw["selector"] == name].set_index(["dataset", "split"])["score"] for name in ("all", "auto"))
    rows = []
    for (dataset, selector), found in raw[raw["dataset"].isin(set(auto.index.get_level_values(0)))].groupby(
        ["dataset", "selector"]
    ):
        if dataset not in whole:
            continue
        answered, expected = found.set_index("split"), whole.loc[dataset]
        differences = (answered["score"] - expected).fillna(0.0).to_numpy()
        d = int(found["d"].max())
        sizes = answered["n_features"].fillna(d).to_numpy(dtype=float)
        rows.append(
            {
                "dataset": dataset,
                "selector": selector,
                "metric": found["metric"].iloc[0],
                "score": float((answered["score"].fillna(expected)).mean()),
                "difference": differences.mean(),
                "p_value": corrected_p(differences),
                "share": (sizes / d).mean(),
                "n_features": sizes.mean(),
                "d": d,
                "stability": nogueira(answered["chosen"].dropna(), d),
                "seconds": answered["seconds"].mean(),
                "answered": answered["score"].notna().all(),
            }
        )
    return pd.DataFrame(rows)


def by_completeness(by_set: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of the selectors that were run on all data sets, and the names of the others.

    Stability stays where it is known of all these selectors, so that means over data sets can be compared.
    """
    n_sets = by_set.groupby("selector")["dataset"].nunique()
    partly = sorted(n_sets.index[n_sets < by_set["dataset"].nunique()])
    found = by_set[~by_set["selector"].isin(partly)]
    known = found["stability"].notna().groupby(found["dataset"]).transform("all")
    return found.assign(stability=found["stability"].where(known)), partly


def corrected_p(differences: np.ndarray) -> float:
    """Return the two-sided p-value of a mean difference over splits with overlapping training rows.

    The corrected resampled t test of Nadeau and Bengio (2003), doi:10.1023/A:1024068626366, for n parts.
    """
    n = len(differences)
    variance = differences.var(ddof=1) * (1 / n + 1 / (n - 1))
    if variance == 0:
        return 1.0 if differences.mean() == 0 else 0.0
    return float(2 * stats.t.sf(abs(differences.mean()) / np.sqrt(variance), n - 1))


def nogueira(chosen: pd.Series, d: int) -> float:
    """Return how alike the sets of the splits are (Nogueira, Sechidis and Brown, 2018); NaN if that is not defined."""
    from blanketflow.reporting.tables.stability import nogueira as stability

    members = np.zeros((len(chosen), d), dtype=bool)
    for i, positions in enumerate(chosen):
        members[i, np.array(positions.split(), dtype=int)] = True
    return float(stability(members).value) if len(chosen) > 1 else float("nan")


def summary(by_set: pd.DataFrame) -> pd.DataFrame:
    """Return one row per selector, the smallest loss first."""
    is_worse = (by_set["difference"] < -WORSE) & (by_set["p_value"] < LEVEL)
    by_set = by_set.assign(
        worse=is_worse, no_answer=~by_set["answered"], log_size=np.log(by_set["n_features"].clip(lower=1))
    )
    found = by_set.groupby("selector").agg(
        difference=("difference", "mean"),
        share=("share", "mean"),
        log_size=("log_size", "mean"),
        worse=("worse", "sum"),
        stability=("stability", "mean"),
        seconds=("seconds", "median"),
        no_answer=("no_answer", "sum"),
    )
    for metric in METRICS:
        found[metric] = by_set[by_set["metric"] == metric].groupby("selector")["difference"].mean()
    return found.assign(size=np.exp(found["log_size"])).sort_values("difference", ascending=False)


def reach(by_set: pd.DataFrame) -> str:
    """Return what `auto` was to reach, and what it did, one line each."""
    found = summary(by_set)
    auto, others = found.loc["auto"], found.drop([name for name in ("auto", *REFERENCES) if name in found.index])
    as_good = others[others["difference"] >= auto["difference"]]
    smaller = as_good[as_good["share"] <= auto["share"]]
    near = others[(others["difference"] - auto["difference"]).abs() <= 0.01]
    beside_it, n = near["stability"].median(), by_set["dataset"].nunique()
    cells = by_set[by_set["selector"] == "auto"].set_index("dataset")
    lines = [
        row("what", "aim", "measured", ""),
        row("---", "---", "---", "---"),
        goal("accuracy lost against all features", "at most 0.005", -auto["accuracy"], -auto["accuracy"] <= 0.005),
        goal("R² lost against all features", "at most 0.010", -auto["r2"], not -auto["r2"] > 0.01),
        row(
            "selectors that lose no more and keep fewer features",
            "none",
            ", ".join(f"`{name}` ({one['share']:.0%})" for name, one in smaller.iterrows())
            or f"none of {len(as_good)} that lose no more",
            "missed" if len(smaller) else "reached",
        ),
        row(
            "data sets on which it is worse than all features by over 0.02, significantly",
            f"at most {n // 20}",
            f"{int(auto['worse'])} of {n}",
            "reached" if auto["worse"] <= n / 20 else "missed",
        ),
        row(
            "stability, beside the median of selectors within 0.01 of its score",
            "above it",
            f"{rounded(auto['stability'])}, {rounded(beside_it) if len(near) else 'none is that near'}",
            "" if not len(near) else "reached" if auto["stability"] > beside_it else "missed",
        ),
        row("seconds, median over data sets", "", f"{cells['seconds'].median():.1f}", ""),
    ]
    return "\n".join(lines)


def rounded(value: float) -> str:
    """Return a number with two digits; nothing where it is not known."""
    return "" if np.isnan(value) else f"{value:.2f}"


def goal(what: str, aim: str, measured: float, is_reached: bool) -> str:
    """Return a line of `reach`."""
    return row(what, aim, f"{measured:+.4f}", "reached" if is_reached else "missed")


def table(found: pd.DataFrame) -> str:
    """Return the table of all selectors."""
    heads = ("selector", "difference to all", "accuracy", "R²", "features kept", "number, geometric mean")
    heads += ("significantly worse sets", "stability", "seconds, median", "sets without an answer")
    lines = [row(*heads), row(*["---"] * len(heads))]
    for name, one in found.iterrows():
        scores = (f"{one[column]:+.4f}" for column in ("difference", *METRICS))
        kept = (f"{one['share']:.0%}", f"{one['size']:.1f}", int(one["worse"]), rounded(one["stability"]))
        lines.append(row(f"`{name}`", *scores, *kept, f"{one['seconds']:.2g}", int(one["no_answer"])))
    return "\n".join(lines)


def sets(by_set: pd.DataFrame) -> str:
    """Return one row per data set: what `auto` did there, and the best of the others."""
    heads = ("data set", "features", "metric", "all features", "`auto`", "p", "kept", "stability", "seconds")
    heads += ("best other",)
    lines = [row(*heads), row(*["---"] * len(heads))]
    for dataset, of_set in by_set.groupby("dataset"):
        one, whole = (of_set[of_set["selector"] == name].iloc[0] for name in ("auto", "all"))
        others = of_set[~of_set["selector"].isin(("auto", *REFERENCES))]
        best = others.loc[others["difference"].idxmax()]
        kept, stability = f"{one['n_features']:.1f}", rounded(one["stability"])
        scores = (f"{whole['score']:.3f}", f"{one['difference']:+.3f}", f"{one['p_value']:.2f}")
        told = f"`{best['selector']}` {best['difference']:+.3f} with {best['n_features']:.1f}"
        name = f"{dataset}{'' if dataset in TUNED_ON else ' *'}"
        lines.append(row(name, one["d"], one["metric"], *scores, kept, stability, f"{one['seconds']:.1f}", told))
    return "\n".join(lines)


def table_of_partly(by_set: pd.DataFrame, names: Sequence[str]) -> str:
    """Return one row per selector that was run on some data sets only, beside `auto` on the same sets."""
    if not names:
        return "None: all were run on all of them."
    heads = ("selector", "data sets", "difference to all", "`auto` there", "on held-back sets", "`auto` there")
    heads += ("features kept", "by `auto`", "significantly worse sets", "stability", "by `auto`", "seconds, median")
    heads += ("sets without an answer",)
    lines = [row(*heads), row(*["---"] * len(heads))]
    auto = by_set[by_set["selector"] == "auto"].set_index("dataset", drop=False)
    for name in names:
        own = by_set[by_set["selector"] == name].set_index("dataset", drop=False)
        pair = [own, auto.loc[own.index]]
        held = [one[~one["dataset"].isin(TUNED_ON)] for one in pair]
        differences = [f"{one['difference'].mean():+.4f}" if len(one) else "" for one in (*pair, *held)]
        total = summary(own).loc[name]
        shares = (f"{one['share'].mean():.0%}" for one in pair)
        both = pair[0]["stability"].notna() & pair[1]["stability"].notna()
        alike = [rounded(one["stability"][both].mean()) for one in pair]
        rest = (alike[0], alike[1], f"{total['seconds']:.2g}", int(total["no_answer"]))
        lines.append(row(f"`{name}`", len(own), *differences, *shares, int(total["worse"]), *rest))
    return "\n".join(lines)


def run_of(by_set: pd.DataFrame, raw: pd.DataFrame) -> str:
    """Return what was run, and what of the config was not."""
    asked = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    n_sets, everywhere = by_set["dataset"].nunique(), by_completeness(by_set)[0]
    lines = [f"{raw.groupby('dataset')['split'].nunique().max()} splits of each data set."]
    for kind, column, of, where in (
        ("data sets", "dataset", by_set, ""),
        ("selectors", "selector", everywhere, " on all of them"),
    ):
        ran, all_of_them = set(of[column]), list(asked[f"{column}s"])
        lines.append(f"{len(ran)} of the {len(all_of_them)} {kind} of the config were run{where}.")
        missing = [f"`{name}`" for name in all_of_them if name not in ran]
        lines += [f"Not yet{where}: {', '.join(missing)}."] if missing else []
    known = everywhere.loc[everywhere["stability"].notna(), "dataset"].nunique()
    lines += [f"Stability is known on {known} of the data sets."] if known < n_sets else []
    return "\n".join(lines)


def over_sizes(found: pd.DataFrame) -> alt.LayerChart:
    """Draw the difference to all features over the share of features kept."""
    axis = alt.Axis(format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    scale = alt.Scale(domain=[0, 1.1])
    return points(found, alt.X("share:Q", title="features kept, mean share", axis=axis, scale=scale), found["share"])


def over_seconds(found: pd.DataFrame) -> alt.LayerChart:
    """Draw it over the seconds of a selection."""
    axis = alt.Axis(format="~g")
    x = alt.X("seconds:Q", title="seconds, median", axis=axis, scale=alt.Scale(type="log"))
    return points(found, x, np.log(found["seconds"]))


def points(found: pd.DataFrame, x: alt.X, at: pd.Series) -> alt.LayerChart:
    """Draw each selector as a point, with the names that overlap no other; the page's table has all."""
    kind = {**dict.fromkeys(OURS, "ours"), "auto": "auto"}
    shown = found.assign(named=apart(at, found["difference"])).reset_index()
    shown = shown.assign(kind=shown["selector"].map(kind).fillna("used elsewhere"))
    colour = alt.Scale(domain=["auto", "ours", "used elsewhere"], range=[VERMILLION, BLUE, ORANGE])
    base = alt.Chart(shown).encode(
        x=x,
        y=alt.Y("difference:Q", title="mean difference to all features", axis=alt.Axis(format="+.3f")),
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
    means = by_set[["dataset", "selector", "score"]].rename(columns={"score": "mean"})
    table = means.assign(model="mean of the models", metric="accuracy", sd=np.nan, n_splits=5, status="ok")
    names = sorted(set(means["selector"]) - {"none"})
    test = friedman(table, names).iloc[0]
    return critical_difference(
        friedman_ranks(table, names), float(test["critical_difference"]), int(test["n_datasets"])
    )


if __name__ == "__main__":
    main()
