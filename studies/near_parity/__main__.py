"""GS(m), RGS(m,k) and Relieved on near-parity, as in Margaritis (2009), figures 1 and 2.

`python -m studies.near_parity` writes the tables and the chart of README.md; some ten minutes on one core.
With `--quick` it prints smaller ones.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
from scipy import stats

import blanketflow as bf
from blanketflow.ci.base import CITest
from blanketflow.core.seeds import derive_seed
from blanketflow.data.simulate.near_parity import PARENTS, TARGET, near_parity
from blanketflow.moves.forward import n_sets
from blanketflow.reporting.formatting import BLUE, GREEN, ORANGE, VERMILLION
from blanketflow.reporting.plots.theme import svg_on_white
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors.base import Method
from blanketflow.selectors.causal.gs import GSM, RGSMK
from blanketflow.selectors.filters.relief import Relieved
from studies.shared.page import write

PAGE = Path(__file__).with_name("README.md")
ROWS, DATA_SETS, K = 1000, 20, 1000
#: At 10 % noise; and the noise, of 50 variables.
SIZES, NOISES = (10, 20, 30, 40, 50, 75, 100), (0.0, 0.1, 0.2, 0.3, 0.4)
NOISE, SIZE = 0.1, 50
METHODS: dict[str, Method] = {
    **{f"gs-m, m = {m}": GSM(m=m) for m in (1, 2, 3)},
    **{f"rgs-mk, m = {m}": RGSMK(m=m, k=K) for m in (1, 2, 3)},
}
TESTS: dict[str, CITest] = {
    "g2, 5 rows per cell": bf.get_ci_test("g2"),
    "chi2, 5 rows per cell": bf.get_ci_test("chi2"),
    "chi2, 10 rows per cell": bf.get_ci_test("chi2", min_samples_per_cell=10),
}
#: Ranks all features, so that only the threshold cuts; asks no test.
RELIEVED: dict[str, Method] = {
    f"relieved, tau = {tau}": Relieved(n_features=SIZES[-1], threshold=tau) for tau in (0.01, 0.03)
}
NO_TEST = "no test"
CELL = ["test", "method", "variables", "noise"]


def cells(sizes: tuple[int, ...]) -> list[tuple[int, float]]:
    """Return (variables, noise) of both figures, each once."""
    return list(dict.fromkeys([*((size, NOISE) for size in sizes), *((min(SIZE, *sizes[-1:]), n) for n in NOISES)]))


def measure(sizes: tuple[int, ...], n_data_sets: int) -> Iterator[dict[str, object]]:
    """Run every method with every test on the same data sets."""
    for variables, noise in cells(sizes):
        for number in range(n_data_sets):
            seed = derive_seed("near-parity study", variables, f"{noise:g}", number)
            table = near_parity(variables, noise, seed=seed).sample(ROWS, seed)
            features, target = table.select(table.names[1:]), table[TARGET]
            for test, method in [*itertools.product(TESTS, METHODS), *((NO_TEST, name) for name in RELIEVED)]:
                begin = time.process_time()
                outcome = run_fold((METHODS | RELIEVED)[method], TESTS.get(test), features, target, seed)
                seconds = time.process_time() - begin
                found = {s.feature for s in outcome.decisions if s.kept}
                hits = len(found & set(PARENTS))
                yield {
                    **dict(zip(CELL, (test, method, variables, noise), strict=True)),
                    "f1": 2 * hits / (len(found) + len(PARENTS)),
                    "hits": hits,
                    "false": len(found) - hits,
                    "seconds": seconds,
                    "tests": outcome.n_tests,
                }


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Return means over the data sets, and half the width of the 95 % interval of the mean F1 by Student's t."""
    groups = runs.groupby(CELL, sort=False)
    found = groups[["f1", "hits", "false", "seconds", "tests"]].mean()
    n = groups.size()
    found["half"] = stats.t.ppf(0.975, n - 1) * groups["f1"].std() / np.sqrt(n)
    return found.reset_index()


def markdown(means: pd.DataFrame, by: str, show: str) -> str:
    """Return a table with one row per size or noise and one column per method."""
    texts = means.assign(text=[show.format(**row) for row in means.to_dict("records")])
    wide = texts.pivot(index=by, columns="method", values="text")
    wide = wide[list(dict.fromkeys(texts["method"]))]
    rows = [
        [by, *wide.columns],
        ["---"] * (1 + len(wide.columns)),
        *([f"{row[0]:g}", *row[1:]] for row in wide.itertuples()),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def tables(means: pd.DataFrame) -> str:
    """Return all tables of the page."""
    by_size = means[means["noise"] == NOISE]
    by_noise = means[means["variables"] == min(SIZE, means["variables"].max())]
    parts = []
    for test in TESTS:
        parts += [f"### {test}", f"F1 over the number of variables, {NOISE:.0%} noise:"]
        parts += [markdown(by_size[by_size["test"] == test], "variables", "{f1:.2f} ± {half:.2f}")]
        parts += [f"F1 over the noise, {by_noise['variables'].iloc[0]} variables:"]
        parts += [markdown(by_noise[by_noise["test"] == test], "noise", "{f1:.2f} ± {half:.2f}")]
    first = next(iter(TESTS))
    brackets = "In brackets: means of the members found (of 3) and of the others kept."
    parts += ["### relieved", f"Compared with gs-m with {first}. {brackets}"]
    for title, by, chosen in (
        (f"Over the number of variables, {NOISE:.0%} noise:", "variables", by_size),
        (f"Over the noise, {by_noise['variables'].iloc[0]} variables:", "noise", by_noise),
    ):
        beside = chosen[(chosen["test"] == NO_TEST) | ((chosen["test"] == first) & (chosen["method"] == "gs-m, m = 3"))]
        parts += [title, markdown(beside, by, "{f1:.2f} ± {half:.2f} ({hits:.2g} + {false:.2g})")]
    cost = by_size[by_size["test"].isin([first, NO_TEST])]
    parts += ["### Cost", f"CPU seconds and tests per data set, {first}; relieved has no tests:"]
    parts += [markdown(cost, "variables", "{seconds:.2g} s, {tests:,.0f}")]
    return "\n\n".join(parts)


def false_positives(n_data_sets: int) -> str:
    """Return a table: of sets of independent bits given the blanket, how many each test rejects at a level."""
    levels = (0.01, 1e-4, 0.05 / n_sets(SIZE - 1, 3))
    sets = {size: list(itertools.combinations([f"x{i}" for i in range(5, SIZE + 1)], size)) for size in (1, 2, 3)}
    rejected = {(test, size): np.zeros(len(levels), dtype=int) for test in TESTS for size in sets}
    for number in range(n_data_sets):
        seed = derive_seed("near-parity false positives", number)
        table = near_parity(SIZE, NOISE, seed=seed).sample(ROWS, seed)
        for test, size in rejected:
            log_p = TESTS[test].bind(table).test_many(sets[size], TARGET, PARENTS).log_p
            rejected[test, size] += [(log_p <= np.log(level)).sum() for level in levels]
    lines = ["| test | sets | " + " | ".join(f"p <= {level:.2g}" for level in levels) + " |", "|" + " --- |" * 5]
    for (test, size), counts in rejected.items():
        n = len(sets[size]) * n_data_sets
        shares = [f"{count:,} ({n * level:,.1f} expected)" for count, level in zip(counts, levels, strict=True)]
        lines.append(f"| {test} | {n:,} of {size} | " + " | ".join(shares) + " |")
    return "\n".join(lines)


def chart(means: pd.DataFrame) -> alt.HConcatChart:
    """Draw F1 and CPU seconds over the number of variables, and F1 over the noise, for the first test and relieved."""
    shown = means[means["test"].isin([next(iter(TESTS)), NO_TEST])].copy()
    shown["family"] = shown["method"].str.split(",").str[0]
    shown["line"] = shown["family"].where(shown["family"] != "relieved", shown["method"])
    shown["colour"] = shown["family"].where(shown["family"] == "relieved", shown["method"].str.split(", ").str[1])
    dashes = {"gs-m": [1, 0], "rgs-mk": [4, 3], **dict(zip(RELIEVED, ([1, 3], [1, 0]), strict=True))}
    shown = shown.assign(low=shown["f1"] - shown["half"], high=shown["f1"] + shown["half"])
    looks = {
        "color": alt.Color(
            "colour:N",
            title="dashed: rgs-mk; dotted: tau = 0.01",
            scale=alt.Scale(domain=["m = 1", "m = 2", "m = 3", "relieved"], range=[ORANGE, VERMILLION, BLUE, GREEN]),
        ),
        "strokeDash": alt.StrokeDash(
            "line:N", scale=alt.Scale(domain=list(dashes), range=list(dashes.values())), legend=None
        ),
    }
    f1 = alt.Y("f1:Q", title="F1", scale=alt.Scale(domain=[0, 1], clamp=True))
    seconds = alt.Y(
        "seconds:Q",
        title="CPU seconds",
        scale=alt.Scale(type="log"),
        axis=alt.Axis(values=[0.001, 0.01, 0.1, 1], format="~g"),
    )
    by_size, by_noise = shown[shown["noise"] == NOISE], shown[shown["variables"] == SIZE]

    def lines(data: pd.DataFrame, x: str, title: str, y: alt.Y, interval: bool) -> alt.LayerChart:
        axis = alt.Axis(values=sorted(set(data[x])), format="~f")
        base = alt.Chart(data).encode(x=alt.X(f"{x}:Q", title=title, axis=axis), **looks)
        layers = [base.mark_line(point=True).encode(y=y)]
        if interval:
            layers.append(base.mark_rule(opacity=0.5).encode(y=alt.Y("low:Q", title="F1"), y2="high:Q"))
        return alt.layer(*layers).properties(width=230, height=220)

    return alt.hconcat(
        lines(by_size, "variables", f"variables, {NOISE:.0%} noise", f1, interval=True),
        lines(by_size, "variables", f"variables, {NOISE:.0%} noise", seconds, interval=False),
        lines(by_noise, "noise", f"noise, {SIZE} variables", f1, interval=True),
    )


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 30 variables, 5 data sets; the page stays as it is")
    quick, begin = parser.parse_args().quick, time.process_time()
    for _ in measure((5,), 1):
        pass  # compile, or load what is compiled, before the clock runs
    means = summary(pd.DataFrame(measure((10, 20, 30), 5) if quick else measure(SIZES, DATA_SETS)))
    written = tables(means) + "\n\n### Sets of independent bits that are rejected given x2, x3, x4\n\n"
    written += f"{NOISE:.0%} noise, {SIZE} variables:\n\n" + false_positives(2 if quick else DATA_SETS)
    print(written)
    print(f"\n{time.process_time() - begin:.0f} CPU seconds in all.")
    if quick:
        return
    write(PAGE, {"tables": written})
    drawing = svg_on_white(chart(means))
    PAGE.with_suffix(".svg").write_text(drawing, encoding="utf-8")


if __name__ == "__main__":
    main()
