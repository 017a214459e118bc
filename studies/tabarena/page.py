"""The tables and charts of README.md, from what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from blanketflow.reporting.formatting import BLUE, ORANGE, VERMILLION
from blanketflow.reporting.plots.comparison_charts import critical_difference
from blanketflow.reporting.plots.theme import svg_on_white
from blanketflow.reporting.tables.ranks import friedman, friedman_ranks
from blanketflow.reporting.tables.stability import nogueira
from studies.shared.how_good import say
from studies.shared.over_data_sets import apart
from studies.shared.page import row, write
from studies.tabarena import theirs
from studies.tabarena.data import CLASSES, NUMBERS, halves, read
from studies.tabarena.interface import MIDDLE, N_BUDGETS
from studies.tabarena.judges import JUDGES

HERE = Path(__file__).parent
RAW, PAGE = HERE / "results" / "tabarena.parquet", HERE / "README.md"
THEIRS = [*theirs.WAYS, "Consistency", *theirs.AS_OURS]
OURS = ["auto", "auto, exact", "hiton-mb", "iamb", "stmb"]
#: What is asked for as many features as TabArena wants, and what is filled up to them.
EXACT, FILLED = "auto, exact", "auto"
HALVES = ("all", "tuning", "held back")


def write_page(rows: Path) -> None:
    """Write the raw results, the tables and the charts."""
    raw = recorded(rows)
    RAW.parent.mkdir(exist_ok=True)
    raw.to_parquet(RAW, index=False, compression="zstd")
    scores = judged(raw)
    raw = raw[(raw["round"] != "score") | raw["set"].isin(scores.index.unique("set"))]
    blocks = {
        "run": run_of(raw, scores),
        "aims": aims(raw, scores),
        "ranks": ranks_table(scores),
        "places": places_table(scores),
        "own": own_table(raw),
        "noise": noise_table(raw),
        "stability": stability_table(raw, scores),
        "losses": losses_table(scores),
        "seconds": seconds_table(raw),
    }
    write(PAGE, blocks)
    sentence, other = sentences(raw, scores)
    say("tabarena", sentence, page="studies/tabarena/README.md", more=[other])
    charts = {"ranks": ranks_chart(scores)}
    if len(stabilities(raw)):
        charts["stability"] = stability_chart(raw, scores)
    for name, chart in charts.items():
        (HERE / f"tabarena-{name}.svg").write_text(svg_on_white(chart), encoding="utf-8")


def recorded(rows: Path) -> pd.DataFrame:
    """Return one row for each table, selector and number of features."""
    if not rows.exists():
        return pd.read_parquet(RAW)
    found = pd.DataFrame([json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()])
    found["budget"] = found["budget"].astype("Int64")
    return found.assign(features=found["features"].map(" ".join))


def judged(raw: pd.DataFrame) -> pd.DataFrame:
    """Return the mean score of the judges: sets and numbers of features by selectors, without incomplete splits."""
    of_scores = raw[(raw["round"] == "score") & raw["budget"].notna()]
    of_scores = of_scores.assign(score=of_scores[list(JUDGES)].mean(axis=1))
    wide = of_scores.pivot_table(index=["set", "of", "budget"], columns="method", values="score").reindex(
        columns=[*THEIRS, *OURS]
    )
    return wide.dropna().groupby(level=["set", "budget"]).mean()


def _sets(half: str) -> list[str]:
    return [name for name, own in halves().items() if half in ("all", own)]


def _of(scores: pd.DataFrame, half: str, budget: int | None = None) -> pd.DataFrame:
    """Return the scores of a half, at one number of features, or means of the five."""
    of_half = scores[scores.index.get_level_values("set").isin(_sets(half))]
    return of_half.groupby("set").mean() if budget is None else of_half.xs(budget, level="budget")


def mean_ranks(scores: pd.DataFrame) -> pd.Series:
    """Return the mean rank of each column over the rows; 1 is best."""
    return (-scores.round(6)).rank(axis=1).mean()


def _head(*names: str) -> list[str]:
    return [row(*names), row(*["---"] * len(names))]


def run_of(raw: pd.DataFrame, scores: pd.DataFrame) -> str:
    """Return what was run."""
    sets = sorted(scores.index.unique("set"))
    n = {half: len(set(sets) & set(_sets(half))) for half in HALVES}
    splits = raw[(raw["round"] == "score") & raw["set"].isin(sets)].groupby("set")["of"].nunique()
    lines = [
        f"{len(sets)} of {len(CLASSES) + len(NUMBERS)} sets, {n['tuning']} of the half for tuning and "
        f"{n['held back']} held back. Every set has {splits.min()} split or more. {len(THEIRS)} of "
        "TabArena's 29 selectors.",
        "",
        *_head("set", "half", "rows selected by", "columns", "score"),
    ]
    for name in sets:
        data = read(name)
        of_set = raw[(raw["round"] == "score") & (raw["set"] == name)]
        n_rows = min(len(data.y) - min(len(data.y) // 3, 1000), 600)
        lines.append(row(name, halves()[name], n_rows, of_set["d"].max(), "ROC AUC" if data.is_class else "R²"))
    missing = sorted({*CLASSES, *NUMBERS} - {*sets})
    lines += ["", f"Not run on all: {', '.join(missing)}."] if missing else []
    altered = raw[raw["round"] != "score"].groupby(["round", "of"])["set"].nunique()
    said = [f"{of} % of copies on {n}" for (what, of), n in altered.items() if what == "noise"]
    samples = [str(n) for (what, _), n in altered.items() if what == "bootstrap"]
    lines += ["", f"Copies: {', '.join(said) or 'none'} sets. Bootstrap samples: on {', '.join(samples) or 'no'} sets."]
    return "\n".join(lines)


def place(scores: pd.DataFrame, method: str) -> tuple[int, float]:
    """Return the place of a method of ours alone among TabArena's selectors by mean rank, and that rank."""
    ranks = mean_ranks(scores[[*THEIRS, method]])
    return int((ranks < ranks[method] - 1e-9).sum()) + 1, float(ranks[method])


def ranks_table(scores: pd.DataFrame) -> str:
    """Return mean ranks of all selectors at each number of features."""
    lines = _head("selector", *(f"{i}" for i in range(1, N_BUDGETS + 1)), "mean", "tuning", "held back", "score")
    whole, parts = [_of(scores, "all", budget) for budget in range(N_BUDGETS)], {h: _of(scores, h) for h in HALVES}
    columns = [*map(mean_ranks, whole), *(mean_ranks(parts[half]) for half in HALVES)]
    for method in columns[N_BUDGETS].sort_values().index:
        name = f"**`{method}`**" if method in OURS else f"{method} *" if method in theirs.AS_OURS else method
        lines.append(row(name, *(f"{one[method]:.1f}" for one in columns), f"{parts['all'][method].mean():.4f}"))
    n, test = len(parts["all"]), _friedman(parts["all"])
    lines += ["", f"Over {n} sets, mean ranks that differ by {test:.1f} or more differ by Nemenyi's test at 0.05."]
    return "\n".join(lines)


def _long(scores: pd.DataFrame) -> pd.DataFrame:
    table = (
        scores.rename_axis(columns="selector").stack().rename("mean").reset_index().rename(columns={"set": "dataset"})
    )
    return table.assign(model="mean of the models", metric="accuracy", sd=np.nan, n_splits=1, status="ok")


def _friedman(scores: pd.DataFrame) -> float:
    return float(friedman(_long(scores), list(scores)).iloc[0]["critical_difference"])


def places_table(scores: pd.DataFrame) -> str:
    """Return the places of our methods, each alone, among TabArena's selectors."""
    lines = _head("method", "half", *(f"{i}" for i in range(1, N_BUDGETS + 1)), "all numbers")
    for method in OURS:
        for half in HALVES:
            found = [place(_of(scores, half, b), method) for b in (*range(N_BUDGETS), None)]
            lines.append(row(f"`{method}`", half, *(f"{at} ({rank:.1f})" for at, rank in found)))
    return "\n".join(lines)


def aims(raw: pd.DataFrame, scores: pd.DataFrame) -> str:
    """Return what was aimed at, and what came out."""
    lines = [
        f"`auto`, asked for the best set of exactly as many features (`n_features`) and alone among {len(THEIRS)} "
        "selectors of TabArena, has these places by mean rank at five numbers of features; filled, it is asked for the "
        "smallest set that loses nothing, which stand-ins and JMI then fill:",
        "",
    ]
    for half, named in zip(HALVES, ("all sets", "half for tuning", "half held back"), strict=True):
        of_each = []
        for method in (EXACT, FILLED):
            places = [place(_of(scores, half, b), method)[0] for b in range(N_BUDGETS)]
            n_met = sum(at <= 3 for at in places)
            of_each.append(f"{', '.join(map(str, places))}, among the first three at {n_met} of 5")
        lines.append(f"- {named}: {of_each[0]}; filled {of_each[1]}")
    lines.append("")
    noise = own_noise(raw)
    if len(noise):
        told = [
            f"{100 * part['share'].mean():.1f} % with {of} % of copies" for of, part in noise.loc["auto"].groupby("of")
        ]
        lines.append(f"Unfilled, of what `auto` keeps is noise, in the mean over sets: {'; '.join(told)}.")
    steady = stabilities(raw)
    if len(steady):
        means = steady.groupby("method")["stability"].mean()
        own = steady_places(means, scores)
        lines.append(f"Stability of `auto` at the middle number: {means['auto']:.2f}; the median of the selectors "
                     f"whose mean score is no lower is {own:.2f}, of all {means.median():.2f}.")  # fmt: skip
    return "\n".join(lines)


def sentences(raw: pd.DataFrame, scores: pd.DataFrame) -> tuple[str, str]:
    """Return the place of `auto` over all numbers of features, and at each, with the noise that it keeps."""
    at = place(_of(scores, "all", None), EXACT)[0]
    n_sets = len(scores.index.unique("set"))
    n = len(THEIRS) + 1
    first = (
        f"By TabArena's protocol, `auto` with `n_features` has place {at} among {n} selectors on {n_sets} sets; most "
        "differences are not significant."
    )
    places = [str(place(_of(scores, "all", b), EXACT)[0]) for b in range(N_BUDGETS)]
    share = own_noise(raw).loc[FILLED]["share"].mean()
    return first, (
        f"At the five numbers of features its places are {', '.join(places)}. If it chooses the number, {share:.0%} of "
        "what it keeps are shuffled copies."
    )


def steady_places(means: pd.Series, scores: pd.DataFrame) -> float:
    """Return the median stability of TabArena's selectors that score at least as much as `auto` does."""
    at_middle = _of(scores, "all", MIDDLE).mean()
    peers = [m for m in THEIRS if m in means and at_middle[m] >= at_middle["auto"]]
    return float(means[peers].median()) if peers else float("nan")


def own_table(raw: pd.DataFrame) -> str:
    """Return the scores of what our methods select themselves at the largest limit, beside those of all columns."""
    of_scores = raw[raw["round"] == "score"]
    whole = of_scores[of_scores["method"] == "all"].set_index(["set", "of"])
    lines = _head("method", "half", "kept", *(f"{judge}: difference to all" for judge in JUDGES), "sets with none kept")
    for method in [method for method in OURS if method != EXACT]:
        for half in HALVES:
            own = of_scores[
                (of_scores["method"] == method)
                & (of_scores["budget"] == N_BUDGETS - 1)
                & of_scores["set"].isin(_sets(half))
            ].set_index(["set", "of"])
            beside = whole.reindex(own.index)
            gains = [(own[f"own {judge}"] - beside[judge]).mean() for judge in JUDGES]
            kept = (own["selected"] / own["d"]).mean()
            none = int((own["selected"] == 0).groupby(level="set").any().sum())
            lines.append(row(f"`{method}`", half, f"{kept:.0%}", *(f"{gain:+.3f}" for gain in gains), none))
    return "\n".join(lines)


def own_noise(raw: pd.DataFrame) -> pd.DataFrame:
    """Return what share of the features that our methods select themselves are copies, where they select any."""
    altered = raw[(raw["round"] == "noise") & raw["method"].isin(OURS)]
    # What is nested is asked at the largest number of features, `auto` at the middle one.
    most = altered.groupby(["method", "set", "of"])["budget"].transform("max")
    last = altered[altered["budget"] == most]
    rows = []
    for one in last.itertuples():
        own = one.features.split(" ")[: int(one.selected)] if one.selected else []
        copies = sum(name.startswith("noise_") for name in own)
        rows.append((one.method, one.set, one.of, len(own), copies / len(own) if own else 0.0))
    return pd.DataFrame(rows, columns=["method", "set", "of", "kept", "share"]).set_index(["method", "set", "of"])


def noise_table(raw: pd.DataFrame) -> str:
    """Return the share of copies among the features kept."""
    altered = raw[raw["round"] == "noise"]
    if altered.empty:
        return "Not measured yet."
    is_copy = altered["features"].map(lambda text: np.mean([name.startswith("noise_") for name in text.split(" ")]))
    altered = altered.assign(share=is_copy)
    shares = sorted(altered["of"].unique())
    at_middle = altered[altered["budget"] == MIDDLE].pivot_table(index="method", columns="of", values="share")
    smallest = altered[altered["budget"] == 0].pivot_table(index="method", columns="of", values="share")
    own = own_noise(raw)["share"].groupby(level=["method", "of"]).mean() if len(altered) else pd.Series()
    kept = own_noise(raw)["kept"].groupby(level=["method", "of"]).mean()
    heads = [f"{of} %: {what}" for of in shares for what in ("first number", "middle number", "unfilled")]
    lines = _head("selector", *heads)
    for method in at_middle.mean(axis=1).sort_values().index:
        cells = []
        for of in shares:
            cells += [_percent(smallest, method, of), _percent(at_middle, method, of)]
            is_own = (method, of) in own.index
            cells.append(f"{own[method, of]:.1%} of {kept[method, of]:.1f}" if is_own else "")
        lines.append(row(f"**`{method}`**" if method in OURS else method, *cells))
    return "\n".join(lines)


def _percent(table: pd.DataFrame, method: str, of: Any) -> str:
    if method not in table.index or of not in table or not table.loc[method, of] >= 0:
        return ""
    return f"{table.loc[method, of]:.1%}"


def stabilities(raw: pd.DataFrame, own: bool = False) -> pd.DataFrame:
    """Return Nogueira's index of the sets on bootstrap samples at the middle number; of what is selected if `own`."""
    altered = raw[(raw["round"] == "bootstrap") & (raw["budget"] == MIDDLE)]
    rows = []
    for (name, method), part in altered.groupby(["set", "method"]):
        if len(part) < 2 or (own and method not in OURS):
            continue
        sets = [
            text.split(" ")[: int(n) if own else None]
            for text, n in zip(part["features"], part["selected"], strict=True)
        ]
        names = sorted(set().union(*sets))
        if not names:
            continue
        d = int(part["d"].max())
        members = np.zeros((len(sets), d), dtype=bool)
        for i, one in enumerate(sets):
            members[i, [names.index(feature) for feature in one]] = True
        rows.append((name, method, nogueira(members).value))
    return pd.DataFrame(rows, columns=["set", "method", "stability"])


def stability_table(raw: pd.DataFrame, scores: pd.DataFrame) -> str:
    """Return the stability of all selectors at the middle number, beside their score there."""
    steady = stabilities(raw)
    if steady.empty:
        return "Not measured yet."
    means = steady.groupby("method")["stability"].mean()
    own = stabilities(raw, own=True).groupby("method")["stability"].mean()
    at_middle, ranks = _of(scores, "all", MIDDLE).mean(), mean_ranks(_of(scores, "all", MIDDLE))
    lines = _head("selector", "stability", "unfilled", "score", "mean rank")
    for method in means.sort_values(ascending=False).index:
        name = f"**`{method}`**" if method in OURS else method
        unfilled = f"{own[method]:.2f}" if method in own else ""
        lines.append(row(name, f"{means[method]:.2f}", unfilled, f"{at_middle[method]:.4f}", f"{ranks[method]:.1f}"))
    return "\n".join(lines)


def losses_table(scores: pd.DataFrame, most: int = 15) -> str:
    """Return where `auto` is furthest below the median of TabArena's selectors, on the half for tuning."""
    of_half = scores[scores.index.get_level_values("set").isin(_sets("tuning"))]
    lost = (of_half[THEIRS].median(axis=1) - of_half["auto"]).sort_values(ascending=False)
    lines = _head("set", "number", "`auto`", "median of TabArena's", "best of TabArena's", "`iamb`", "`hiton-mb`")
    for key in lost[lost > 0.005].index[:most]:
        one = of_half.loc[key]
        best = one[THEIRS].idxmax()
        cells = (f"{one['auto']:.3f}", f"{one[THEIRS].median():.3f}", f"{one[best]:.3f} ({best})")
        lines.append(row(key[0], key[1] + 1, *cells, f"{one['iamb']:.3f}", f"{one['hiton-mb']:.3f}"))
    return "\n".join(lines)


def seconds_table(raw: pd.DataFrame) -> str:
    """Return CPU seconds of one selection for one number of features, and how often random features were added."""
    asked = raw[(raw["round"] == "score") & raw["budget"].notna()]
    found = asked.groupby("method").agg(seconds=("seconds", "median"), most=("seconds", "max"))
    found["random"] = asked.assign(any=asked["at_random"] > 0).groupby("method")["any"].mean()
    slow = found[(found["most"] > 1) | ((found["random"] > 0) & found["most"].notna())]
    lines = _head("selector", "CPU seconds, median", "most", "answers with random features")
    for one in slow.sort_values("most", ascending=False).itertuples():
        lines.append(row(one.Index, f"{one.seconds:.1f}", f"{one.most:.1f}", f"{one.random:.0%}"))
    return "\n".join(lines)


def ranks_chart(scores: pd.DataFrame) -> alt.LayerChart:
    """Draw the mean ranks of the scores, means over the five numbers of features, with the critical difference."""
    of_sets = _of(scores, "all")
    ranks = friedman_ranks(_long(of_sets), list(of_sets))
    return critical_difference(ranks, _friedman(of_sets), len(of_sets))


def stability_chart(raw: pd.DataFrame, scores: pd.DataFrame) -> alt.LayerChart:
    """Draw stability over mean rank, one point a selector."""
    steady = stabilities(raw)
    means = steady.groupby("method")["stability"].mean()
    ranks = mean_ranks(_of(scores, "all", MIDDLE))
    shown = pd.DataFrame({"stability": means, "rank": ranks.reindex(means.index)}).dropna().astype(float)
    shown["named"] = apart(shown["rank"], shown["stability"]) | shown.index.isin(OURS)
    shown["kind"] = ["auto" if m == "auto" else "ours" if m in OURS else "TabArena's" for m in shown.index]
    base = alt.Chart(shown.rename_axis("selector").reset_index()).encode(
        x=alt.X("rank:Q", title="mean rank at the middle number of features, 1 is best", scale=alt.Scale(zero=False)),
        y=alt.Y("stability:Q", title="stability on bootstrap samples"),
        color=alt.Color(
            "kind:N",
            title=None,
            scale=alt.Scale(domain=["auto", "ours", "TabArena's"], range=[VERMILLION, BLUE, ORANGE]),
        ),
    )
    names = (
        base.transform_filter("datum.named")
        .mark_text(align="left", dx=6, fontSize=10)
        .encode(text="selector:N", color=alt.value("black"))
    )
    return alt.layer(base.mark_point(filled=True, size=50), names).properties(width=620, height=420)
