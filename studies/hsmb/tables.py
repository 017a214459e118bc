"""HSMB, BAHSIC, GS and FCBF on made-up data, as in Lou and Obradovic (2010): `python -m studies.hsmb`.

Writes tables 1 and 2 of README.md; some minutes on one core. `--quick` prints those of 5 samples.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import r2_score
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.core.seeds import derive_seed
from blanketflow.core.table import Table
from blanketflow.data.simulate import NETWORKS
from blanketflow.data.simulate.regression import COPIES
from blanketflow.models import build_estimator
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors import get_method

PAGE = Path(__file__).parents[2] / "studies" / "hsmb" / "README.md"
SAMPLES, TEST_ROWS, K = 50, 1000, 3
CORRAL_ROWS, REGRESSION_ROWS = (100, 300, 1000), (100, 300)
#: BAHSIC has fewer samples of this many rows: it needs some seconds each.
LARGE, LARGE_SAMPLES = 1000, 10
#: How the name of the copy ends that matches x1 or x2 in every row.
EXACT_COPY = f"_{1 + COPIES.index(1.0)}"
#: What the paper's tables 1 and 2 say that each method selects; a text where they do not name it. "x1, x1" is theirs.
PRINTED: dict[str, dict[str, list[str] | str]] = {
    "corral-7": {
        "gs": ["A0", "B1", "R"],
        "fcbf": ["A0", "R"],
        "bahsic": ["A0", "A1", "B0", "B1", "R"],
        "hsmb": ["A0", "A1", "B0", "B1", "R"],
    },
    "corral-46": {
        "gs": ["A0", "B0"],
        "fcbf": ["A0", "A1", "B0", "B1"],
        "bahsic": ["A0", "A0_1", "A1", "B1"],
        "hsmb": ["A0", "A1", "B0", "B1"],
    },
    "corral-rel-7": {
        "gs": ["A0", "B1", "R"],
        "fcbf": ["A0", "B0", "R"],
        "bahsic": ["A0", "A1", "B0", "B1", "R"],
        "hsmb": ["A0", "A1", "B0", "B1", "R"],
    },
    "corral-rel-46": {
        "gs": ["A0", "B1"],
        "fcbf": ["A0", "B0"],
        "bahsic": ["A0", "A0_1", "B0", "B0_1"],
        "hsmb": ["A0", "A1", "B0", "B1"],
    },
    "regression-22": {"bahsic": ["x1", "x2"], "hsmb": ["x1", "x2"]},
    "regression-38": {"bahsic": ["x1", "x1"], "hsmb": ["x1", "x2"]},
    "regression-138": {"bahsic": "12 features", "hsmb": "12 features"},
}
PRINTED_R2 = {
    ("regression-22", "bahsic"): "0.86",
    ("regression-22", "hsmb"): "0.86",
    ("regression-38", "bahsic"): "0.69",
    ("regression-38", "hsmb"): "0.86",
    ("regression-138", "bahsic"): "0.54",
    ("regression-138", "hsmb"): "0.75",
}


def found_by(method: str, table: Table, target: str, seed: int, **options: int | str | None) -> list[str]:
    """Return what a method keeps of a sample."""
    test = bf.get_ci_test("hsic" if method in ("hsmb", "bahsic") else "g2")
    features = table.select([name for name in table.names if name != target])
    outcome = run_fold(get_method(method, "hsmb study", options), test, features, table[target], seed)
    return [decision.feature for decision in outcome.decisions if decision.kept]


def measure(data: str, rows: int, n_samples: int) -> Iterator[dict[str, object]]:
    """Run every method on the same samples of a data set."""
    known = NETWORKS[data]
    originals = known.truth()["blanket"]
    is_regression = data.startswith("regression")
    for number in range(n_samples):
        seed = derive_seed("hsmb study", rows, number)
        drawn = known.network.sample(rows + (TEST_ROWS if is_regression else 0), seed)
        table = drawn.take(np.arange(rows))
        kept = {"hsmb": found_by("hsmb", table, known.target, seed, k=K)}
        if not is_regression:
            kept["gs"] = found_by("gs", table, known.target, seed)
            kept["fcbf"] = found_by("fcbf", table, known.target, seed, information="plug-in", alpha=None)
        # As in the paper: as many features as the most that the others select by themselves.
        n_features = max(1, *map(len, kept.values()))
        if rows < LARGE or number < LARGE_SAMPLES:
            kept["bahsic"] = found_by("bahsic", table, known.target, seed, n_features=n_features)
        if is_regression:
            kept |= {"x1 and x2": originals, "all features": [name for name in table.names if name != known.target]}
        for method, features in kept.items():
            printed = PRINTED[data].get(method)
            yield {
                "data": data,
                "rows": rows,
                "method": method,
                **{f"has {name}": name in map(original, features) for name in originals},
                "features": len(features),
                "copies": sum("_" in name for name in features),
                "irrelevant": sum(name[0] == "I" for name in features),
                "exact": sorted(map(original, features)) == printed if isinstance(printed, list) else np.nan,
                "r2": r2(drawn, rows, features, known.target) if is_regression else np.nan,
            }


def original(name: str) -> str:
    """Return the feature itself for the copy that matches it in every row; the Corral data have none."""
    return name.removesuffix(EXACT_COPY) if name[0] == "x" else name


def r2(table: Table, rows: int, features: list[str], target: str) -> float:
    """Return R-square of the support vector machine on the rows from `rows` on, learnt from those before."""
    if not features:
        return 0.0  # no better than the mean
    X, y = table.matrix(features), table[target].numbers()
    machine = build_estimator("svm", "regression", seed=0).fit(X[:rows], y[:rows])
    return float(r2_score(y[rows:], machine.predict(X[rows:])))


def markdown(runs: pd.DataFrame) -> str:
    """Return the table of one data set: a row a sample size and method."""
    data = runs["data"].iloc[0]
    has = [column for column in runs.columns if column.startswith("has ") and runs[column].notna().all()]
    is_regression = runs["r2"].notna().all()
    runs = runs.assign(every=runs[has].astype(bool).all(axis=1))
    means = runs.groupby(["rows", "method"], sort=False)[[*has, "every", "features", "copies", "irrelevant", "r2"]]
    means = means.mean().astype(float)
    exact = runs.groupby(["rows", "method"], sort=False)["exact"].mean()
    head = ["rows", "method", *(column.removeprefix("has ") for column in has), "all of them", "features"]
    head += ["copies", "irrelevant", *(["R-square"] if is_regression else []), "printed", "exactly that"]
    lines = [head, ["---"] * len(head)]
    for (rows, method), row in means.iterrows():
        printed = PRINTED[data].get(method, "")
        shown = ", ".join(printed) if isinstance(printed, list) else printed
        if (data, method) in PRINTED_R2:
            shown += f"; R-square {PRINTED_R2[data, method]}"
        lines.append(
            [
                f"{rows:,}",
                f"`{method}`" if method in PRINTED[data] else method,
                *(f"{row[column]:.0%}" for column in [*has, "every"]),
                *(f"{row[column]:.1f}" for column in ("features", "copies", "irrelevant")),
                *([f"{row['r2']:.2f}"] if is_regression else []),
                shown,
                "" if np.isnan(float(exact[rows, method])) else f"{float(exact[rows, method]):.0%}",
            ]
        )
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_block(name: str, text: str) -> None:
    """Replace what stands on the page between the marks of this name."""
    marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
    pattern = re.compile(f"(?s){re.escape(marks[0])}.*?{re.escape(marks[1])}")
    page, count = pattern.subn(lambda _: f"{marks[0]}\n\n{text}\n\n{marks[1]}", PAGE.read_text(encoding="utf-8"))
    if count != 1:
        raise SystemExit(f"{PAGE}: {marks[0]} and {marks[1]} must each occur once, in this order.")
    PAGE.write_text(page, encoding="utf-8")


def main() -> None:
    """Measure, print, and write the tables of the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="5 samples; the page stays as it is")
    quick = parser.parse_args().quick
    begin = time.process_time()
    for title, kind, sizes in (("table 1", "corral", CORRAL_ROWS), ("table 2", "regression", REGRESSION_ROWS)):
        parts = []
        for data in (name for name in PRINTED if name.startswith(kind)):
            with threadpool_limits(1):  # several threads are slower than one on matrices as small as these
                runs = [run for rows in sizes for run in measure(data, rows, 5 if quick else SAMPLES)]
            parts += [f"### {data.capitalize()}", markdown(pd.DataFrame(runs))]
            print(f"{parts[-2]}\n\n{parts[-1]}\n\n{time.process_time() - begin:.0f} CPU seconds so far.", flush=True)
        if not quick:
            write_block(title, "\n\n".join(parts))


if __name__ == "__main__":
    main()
