"""PIFS and SFS at the sizes that PPFS's paper prints: `python -m studies.papers.ppfs_sizes`, after paper_data.py.

Tables 2 and 3 of the paper with the numbers of features of Table 6, not with those that a rule for stopping finds: the
first so many by permutation importance, and forward selection of so many by cross-validated accuracy (scikit-learn's),
both inside the training folds, judged on two partitions of the rows into five folds. Sets of numbers, without credit.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import blanketflow as bf
from studies.papers.printed_tables import read_printed
from studies.shared.page import row

ROOT = Path(__file__).parents[2]
PARTITIONS = 2
MODELS = {"tree": DecisionTreeClassifier(random_state=0), "svm": make_pipeline(StandardScaler(), SVC())}


def by_importance(X: pd.DataFrame, y: pd.Series, model: str, size: int) -> list[str]:
    """Return the features of the largest importance."""
    ranked = bf.get_selector(
        "permutation-importance", model=model, importance="permutation", alpha=0.5, n_permutations=2
    )
    return ranked.fit(X, y).candidates_[:size]


def by_forward_selection(X: pd.DataFrame, y: pd.Series, model: str, size: int) -> list[str]:
    """Return the features that are admitted one after the other."""
    if size >= X.shape[1]:
        return list(X)
    folds = KFold(5, shuffle=True, random_state=0)
    chosen = SequentialFeatureSelector(MODELS[model], n_features_to_select=size, cv=folds).fit(X, y)
    return list(X.columns[chosen.get_support()])


SELECTORS = {"permutation-importance": by_importance, "stepwise": by_forward_selection}


def accuracy(X: pd.DataFrame, y: pd.Series, model: str, method: str, size: int) -> float:
    """Return the mean accuracy over all folds of all partitions."""
    found = []
    for seed in range(PARTITIONS):
        for train, test in KFold(5, shuffle=True, random_state=seed).split(X):
            kept = SELECTORS[method](X.iloc[train], y.iloc[train], model, size)
            fitted = MODELS[model].fit(X.iloc[train][kept], y.iloc[train])
            found.append(fitted.score(X.iloc[test][kept], y.iloc[test]))
    return float(np.mean(found))


def main() -> None:
    """Print a row a data set."""
    warnings.simplefilter("ignore")
    tables = {table.table: table for table in read_printed(ROOT / "studies" / "papers" / "published" / "ppfs.yaml")}
    columns = [(model, table, method) for model, table in (("tree", "2"), ("svm", "3")) for method in SELECTORS]
    frames = {name: pd.read_parquet(ROOT / "data" / f"{name}.parquet") for name, _ in tables["2"].cells}
    names = [name for name, frame in frames.items() if len(frame.select_dtypes("number").columns) == frame.shape[1] - 1]
    asked = [(name, *column) for name in names for column in columns]
    sizes = {(name, method): int(tables["6"].cells[name, method].value) for name in names for method in SELECTORS}

    def score(name: str, model: str, _: str, method: str) -> float:
        X, y = frames[name].drop(columns="target"), frames[name]["target"]
        return accuracy(X, y, model, method, sizes[name, method])

    scores = dict(zip(asked, Parallel(n_jobs=-1)(delayed(score)(*one) for one in asked), strict=True))
    heads = [f"{method}, {model}" for model, _, method in columns]
    print(row("data", *heads), row(*["---"] * (len(heads) + 1)), sep="\n")
    for name in names:
        cells = [
            f"{tables[column[1]].cells[name, column[2]].value} / {scores[name, *column]:.3f} ({sizes[name, column[2]]})"
            for column in columns
        ]
        print(row(name, *cells))


if __name__ == "__main__":
    main()
