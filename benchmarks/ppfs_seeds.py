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
from blanketflow.reporting.printed import read_printed

ROOT = Path(__file__).parents[1]
SEEDS, PARTITIONS = 30, 10


def accuracies(X: pd.DataFrame, y: pd.Series) -> list[float]:
    """Return the accuracy on each partition; without features that of the larger class."""
    if X.empty:
        return [y.value_counts(normalize=True).max()] * PARTITIONS
    X, found = pd.get_dummies(X, dtype=float), []
    for seed in range(PARTITIONS):
        folds = KFold(5, shuffle=True, random_state=seed)
        found.append(cross_val_score(DecisionTreeClassifier(random_state=seed), X, y, cv=folds).mean())
    return found


def main() -> None:
    """Print a row a data set."""
    warnings.simplefilter("ignore")
    heads = ("data", "printed", "mean over seeds", "best seed, mean of partitions", "best seed on its best partition")
    print(row(*heads), row(*["---"] * len(heads)), sep="\n")
    published = read_printed(ROOT / "tests" / "published" / "ppfs.yaml")
    [table] = [table for table in published if table.table == "2"]
    for name, options in table.options.items():
        frame = pd.read_parquet(ROOT / "data" / f"{name}.parquet")
        X, y = frame.drop(columns="target"), frame["target"]
        found = []
        for seed in range(SEEDS):
            test = bf.get_ci_test("ppi", n_repeats=int(options["n_repeats"]), model="tree")
            fitted = bf.PPFS(ci_test=test, n_folds=int(options["n_folds"]), random_state=seed).fit(X, y)
            found.append(accuracies(X[fitted.selected_features_], y))
        means, printed = np.mean(found, axis=1), table.cells[name, "ppfs"]
        print(row(name, printed.value, *(f"{value:.3f}" for value in (means.mean(), means.max(), np.max(found)))))


if __name__ == "__main__":
    main()
