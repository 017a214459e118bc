"""How good the best of many runs of PPFS looks: `python benchmarks/ppfs_seeds.py`, after paper_data.py.

Table 2 of the paper, with its B and K: PPFS on all rows by 30 seeds, each selection judged by a decision tree on ten
partitions of the rows into five folds, as printed and by what of that looks best.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from papers import row
from sklearn.model_selection import KFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

import blanketflow as bf

DATA = Path(__file__).parents[1] / "data"
#: Data set: what is printed, B, K.
PRINTED = {
    "statlog": (0.837, 30, 5),
    "ionosphere": (0.923, 50, 0),
    "sonar": (0.784, 10, 5),
    "wdbc": (0.949, 50, 0),
    "credit": (0.864, 50, 0),
}
SEEDS, PARTITIONS = 30, 10


def accuracies(X: pd.DataFrame, y: pd.Series) -> list[float]:
    """Return the accuracy on each partition."""
    found = []
    for seed in range(PARTITIONS):
        folds = KFold(5, shuffle=True, random_state=seed)
        found.append(cross_val_score(DecisionTreeClassifier(random_state=seed), X, y, cv=folds).mean())
    return found


def main() -> None:
    """Print a row a data set."""
    warnings.simplefilter("ignore")
    heads = ("data", "printed", "mean over seeds", "best seed, mean of partitions", "best seed on its best partition")
    print(row(*heads), row(*["---"] * len(heads)), sep="\n")
    for name, (printed, n_repeats, n_folds) in PRINTED.items():
        frame = pd.read_parquet(DATA / f"{name}.parquet")
        X, y = frame.drop(columns="target"), frame["target"]
        found = []
        for seed in range(SEEDS):
            test = bf.get_ci_test("ppi", n_repeats=n_repeats, model="tree")
            kept = bf.PPFS(ci_test=test, n_folds=n_folds, random_state=seed).fit(X, y).selected_features_
            if kept:
                found.append(accuracies(pd.get_dummies(X[kept], dtype=float), y))
        means = np.mean(found, axis=1)
        print(row(name, printed, *(f"{value:.3f}" for value in (means.mean(), means.max(), np.max(found)))))


if __name__ == "__main__":
    main()
