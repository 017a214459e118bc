"""Representative sets on gene-expression data, beside what the SRS paper prints: `python -m studies.gene_sets`.

Needs the folder of data sets that the environment variable BLANKETFLOW_DATA names; takes some 7 CPU minutes. Five
stratified folds a data set, selection inside the training rows; errors on the rows left out. Prints the tables of
README.md.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import blanketflow as bf

#: Data set to what the paper prints for SRS (Table II): its name there, features, seconds.
PAPER = {
    "colon_alon": ("colon", 101, 63),
    "leukemia_golub": ("leukemia", 4, 468),
    "prostate_ge": ("prostate", 2, 42),
    "lung_cancer_gordon": ("lung-cancer", 23, 1),
    "arcene": ("arcene", 9, 20),
}
#: The significance level is the paper's; HITON-PC is without the symmetry correction, as in RES, SRS and SGAI.
METHODS: dict[str, dict[str, Any]] = {
    "hiton-pc": {"alpha": 0.01, "symmetry": "none"},
    "res": {"alpha": 0.01},
    "srs": {"alpha": 0.01},
    "sgai": {"alpha": 0.01},
    "mrmr": {"n_features": 10},
}


def load(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return genes in columns, and classes."""
    stored = np.load(folder / name / f"{name}.npz")
    genes = pd.DataFrame(stored["X"].astype(float), columns=[f"gene{j}" for j in range(stored["X"].shape[1])])
    return genes, pd.read_csv(folder / name / f"{name}.y.csv")["target"].astype(str).to_numpy()


def models(n_features: int) -> dict[str, Any]:
    """Return the classifiers; the larger class where nothing was selected."""
    if n_features == 0:
        return {"knn": DummyClassifier(), "tree": DummyClassifier()}
    knn = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    return {"knn": knn, "tree": DecisionTreeClassifier(random_state=0)}


def measure(X: pd.DataFrame, y: np.ndarray, method: str) -> dict[str, Any]:
    """Return numbers of features, mistakes and CPU seconds of one method over five folds."""
    sizes, seconds, mistakes = [], [], {"knn": 0, "tree": 0}
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        start = time.process_time()
        selector = bf.get_selector(method, ci_test="fisher-z", **METHODS[method]).fit(X.iloc[train], y[train])
        seconds.append(time.process_time() - start)
        chosen = X[selector.selected_features_]
        sizes.append(chosen.shape[1])
        # A model needs a column, also where it looks at none.
        chosen = chosen if chosen.shape[1] else X.iloc[:, :1]
        for name, model in models(sizes[-1]).items():
            mistakes[name] += np.sum(model.fit(chosen.iloc[train], y[train]).predict(chosen.iloc[test]) != y[test])
    errors = {name: 100 * count / len(y) for name, count in mistakes.items()}
    return {"mean": np.mean(sizes), "low": min(sizes), "high": max(sizes), "seconds": np.mean(seconds), **errors}


def main() -> None:
    """Measure every method on every data set that is there."""
    warnings.simplefilter("ignore")
    folder = os.environ.get("BLANKETFLOW_DATA")
    if folder is None:
        sys.exit("Set BLANKETFLOW_DATA to the folder that holds colon_alon/colon_alon.npz and the others.")
    start = time.process_time()
    X, y = load(Path(folder), "colon_alon")
    bf.SRS(ci_test="fisher-z", lambda_step=0.05).fit(X.iloc[:, :20], y)
    print(f"the solver of SRS compiles in {time.process_time() - start:.0f} CPU seconds, once a process\n")
    print("| data | rows, genes | method | features (least-most) | error of knn % | error of tree % | CPU s |")
    print("|---|---|---|---|---|---|---|")
    for name in PAPER:
        if not (Path(folder) / name).is_dir():
            print(f"| {name} | not there | | | | | |")
            continue
        X, y = load(Path(folder), name)
        for method in METHODS:
            r = measure(X, y, method)
            first = (name, f"{X.shape[0]}, {X.shape[1]:,}") if method == next(iter(METHODS)) else ("", "")
            features = f"{r['mean']:.1f} ({r['low']}-{r['high']})"
            cells = (*first, method, features, f"{r['knn']:.1f}", f"{r['tree']:.1f}", f"{r['seconds']:.1f}")
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
