"""Figure 2 of the paper of SRS, 100 runs of KIAMB on arcene.

`python -m studies.papers.kiamb_runs`, after paper_data.py.

Blankets by Fisher's z at 0.01 on the 100 training rows, sets of up to three given; accuracy of models of their columns
on the 100 validation rows. Renews the table and the chart of printed.md.
"""

from __future__ import annotations

from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd

import blanketflow as bf
from blanketflow.models import build_estimator
from blanketflow.reporting.formatting import BLUE, GREEN, ORANGE, VERMILLION
from blanketflow.reporting.plots.theme import svg_on_white
from studies.papers.page import PAGE, write
from studies.shared.page import row

DATA = Path(__file__).parents[2] / "data" / "arcene-parts.parquet"
N_TRAINING, N_RUNS, SHARE = 100, 100, 0.6
MODELS = ("tree", "knn")
COMMON = {"ci_test": "fisher-z", "alpha": 0.01, "max_k": 3}
OTHERS = {"iamb": {}, "hiton-mb": {"symmetry": "none"}, "pcmb": {}, "mmmb": {"symmetry": "none"}}


def main() -> None:
    """Renew the table and the chart."""
    frame = pd.read_parquet(DATA)
    train, test = frame.iloc[:N_TRAINING], frame.iloc[N_TRAINING:]
    X, y = train.drop(columns="target"), train["target"]
    runs = bf.KIAMB(**COMMON, k=SHARE, n_runs=N_RUNS).fit(X, y)
    judged = {blanket: accuracies(train, test, blanket) for blanket in map(tuple, runs.blankets_)}
    repeated = np.repeat(np.array(list(judged.values())), runs.blanket_counts_, axis=0)
    sizes = np.repeat([len(blanket) for blanket in judged], runs.blanket_counts_)
    others = {}
    for name, options in OTHERS.items():
        blanket = tuple(X.columns[bf.get_selector(name, **COMMON, **options).fit(X, y).get_support()])
        others[name] = (len(blanket), *accuracies(train, test, blanket))
    write("kiamb runs", table(sizes, repeated, others, len(judged)))
    drawing = svg_on_white(chart(repeated, others))
    (PAGE.parent / "printed-srs-kiamb.svg").write_text(drawing, encoding="utf-8")


def accuracies(train: pd.DataFrame, test: pd.DataFrame, blanket: tuple[str, ...]) -> list[float]:
    """Return the accuracy of each model of a blanket's columns on the test rows."""
    X, unseen, found = train[list(blanket)].to_numpy(float), test[list(blanket)].to_numpy(float), []
    for name in MODELS:
        model = build_estimator(name, "classification", seed=0).fit(X, train["target"])
        found.append(float(np.mean(model.predict(unseen) == test["target"])))
    return found


def table(sizes: np.ndarray, runs: np.ndarray, others: dict[str, tuple[float, ...]], n_distinct: int) -> str:
    """Return a row a method, KIAMB's with the lowest, median and highest of its runs."""
    heads = ("", "features", *(f"accuracy by {model}" for model in MODELS))
    ranges = (f"{np.min(v):.3g}, {np.median(v):.3g}, {np.max(v):.3g}" for v in (sizes, *runs.T))
    lines = [row(*heads), row(*["---"] * len(heads)), row(f"KIAMB: least, median, most of {len(runs)} runs", *ranges)]
    for name, (size, *scores) in others.items():
        above = (
            f"{score:.2f}; {np.mean(of > score):.0%} of runs above" for score, of in zip(scores, runs.T, strict=True)
        )
        lines.append(row(f"`{name}`", size, *above))
    return "\n".join(lines) + f"\n\nDistinct blankets of KIAMB: {n_distinct}."


def chart(runs: np.ndarray, others: dict[str, tuple[float, ...]]) -> alt.HConcatChart:
    """Draw the runs in the order of their accuracy, and the others as lines across."""
    panels = []
    for i, model in enumerate(MODELS):
        ordered = pd.DataFrame({"run": np.arange(1, len(runs) + 1), "accuracy": np.sort(runs[:, i])}).assign(of="kiamb")
        lines = pd.DataFrame([{"of": name, "accuracy": scores[1 + i]} for name, scores in others.items()])
        colour = alt.Color(
            "of:N",
            title=None,
            scale=alt.Scale(domain=["kiamb", *others], range=[BLUE, ORANGE, GREEN, VERMILLION, "#000000"]),
        )
        y = alt.Y("accuracy:Q", scale=alt.Scale(zero=False))
        points = (
            alt.Chart(ordered, title=model)
            .mark_point(filled=True, size=15)
            .encode(x=alt.X("run:Q", title="run, in order"), y=y, color=colour)
        )
        panels.append(alt.layer(points, alt.Chart(lines).mark_rule().encode(y=y, color=colour)).properties(width=300))
    return alt.hconcat(*panels)


if __name__ == "__main__":
    main()
