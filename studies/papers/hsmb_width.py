"""HSMB judged by a machine as wide as the paper has it.

`nice python -m studies.papers.hsmb_width`, after paper_data.py.

The paper's radial kernel has the median distance between the rows as its width; `svm` has scikit-learn's, which is the
square root of half the number of columns where these are standardised. The paper does not say what an error costs (C).
On partitions of the rows into five folds HSMB's features (k = 3, inside the training folds) and all features are judged
by each. Renews a block of printed.md.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist
from sklearn.compose import TransformedTargetRegressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import blanketflow as bf
from blanketflow.ci import get_ci_test
from studies.papers.page import write
from studies.papers.printed_tables import read_printed
from studies.shared.page import ROOT, row

FOLDS = 5
#: How many partitions of each data set. Large ones have kernels of low rank, as in configs/hsmb-large.yaml.
CLASSES = dict.fromkeys(("bc-wisconsin", "hepatitis", "wdbc", "promoters"), 5)
LARGE = {"madelon": 2, "isolet": 2, "arcene": 2}
NUMBERS = dict.fromkeys(("cpu-performance", "auto-mpg", "housing"), 5)
LOW_RANK = {"ci_test": get_ci_test("hsic", trace_error=0.01, n_landmarks=5000)}
#: Width and C of each machine.
MACHINES = {
    "scikit-learn's": ("scale", 1.0),
    "median distance": ("median", 1.0),
    "median distance, C = 0.1": ("median", 0.1),
}


def machine(X: np.ndarray, name: str, regression: bool) -> object:
    """Return the unfitted machine; X are its training rows."""
    gamma, C = MACHINES[name]
    if gamma == "median":
        gamma = 1 / (2 * np.median(pdist(StandardScaler().fit_transform(X))) ** 2)
    if regression:
        rows_scaled = make_pipeline(StandardScaler(), SVR(C=C, gamma=gamma))
        return TransformedTargetRegressor(rows_scaled, transformer=StandardScaler())
    return make_pipeline(StandardScaler(), SVC(C=C, gamma=gamma))


def judged(name: str, regression: bool) -> dict[tuple[str, str], list[float]]:
    """Return the score of each partition, by features and machine."""
    frame = pd.read_parquet(ROOT / "data" / f"{name}.parquet")
    X, y = frame.drop(columns="target"), frame["target"].to_numpy()
    measured = r2_score if regression else accuracy_score
    found: dict[tuple[str, str], list[float]] = {}
    for partition in range((CLASSES | LARGE | NUMBERS)[name]):
        by_fold: dict[tuple[str, str], list[float]] = {}
        for train, test in KFold(FOLDS, shuffle=True, random_state=partition).split(X):
            chosen = (
                bf.HSMB(k=3, random_state=0, **(LOW_RANK if name in LARGE else {}))
                .fit(X.iloc[train], y[train])
                .selected_features_
            )
            for features, columns in (("all", list(X)), ("hsmb", chosen)):
                rows = pd.get_dummies(X[columns], dtype=float).to_numpy(dtype=float)
                for used in MACHINES:
                    model = machine(rows[train], used, regression).fit(rows[train], y[train])
                    score = measured(y[test], model.predict(rows[test]))
                    by_fold.setdefault((features, used), []).append(score)
        for key, values in by_fold.items():
            found.setdefault(key, []).append(float(np.mean(values)))
    return found


def main() -> None:
    """Judge each data set, and write the table."""
    warnings.simplefilter("ignore")
    cells = {}
    for table in read_printed(ROOT / "studies" / "papers" / "published" / "hsmb.yaml"):
        if (table.table, table.measure) in (("4", "accuracy-percent"), ("6", "r2")):
            cells |= table.cells
    keys = [(features, used) for features in ("all", "hsmb") for used in MACHINES]
    lines = [row("data", *(f"{features}, {part}" for features in ("all", "hsmb") for part in ("printed", *MACHINES)))]
    lines.append(row(*["---"] * 9))
    for name in (*CLASSES, *LARGE, *NUMBERS):
        started = time.process_time()
        found = judged(name, name in NUMBERS)
        unit = 1 if name in NUMBERS else 100
        said = {k: f"{unit * np.mean(found[k]):.3g} ({unit * np.std(found[k], ddof=1):.1g})" for k in keys}
        parts = [[f"{cells[name, f].value:g}", *(said[f, used] for used in MACHINES)] for f in ("all", "hsmb")]
        lines.append(row(name, *parts[0], *parts[1]))
        print(f"{name}: {time.process_time() - started:.0f} CPU s", file=sys.stderr)
    write("hsmb width", "\n".join(lines))


if __name__ == "__main__":
    main()
