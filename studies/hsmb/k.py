"""How HSMB's accuracy depends on k, as in Lou and Obradovic (2010), table 7: `python -m studies.hsmb.k`.

Sets a run of hsmb-k.yaml beside the printed row of Wdbc, in README.md. With `--data FOLDER` it measures the
rows of the data that the folder has instead, as NAME/NAME.csv with a column `target`; some minutes on one core.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.models import build_estimator
from studies.hsmb.tables import write_block

TABLES = Path("results") / "hsmb-k" / "tables"
KS = (1, 2, 3, 4, 5)
FOLDS = 5
#: What the paper prints, in percent, by the name that it gives the data.
PRINTED = {
    "BC-wisconsin": (96.2, 93.8, 96.8, 97.1, 96.7),
    "Hepatitis": (87.0, 89.8, 89.8, 86.3, 85.8),
    "German-numeric": (100, 100, 100, 100, 100),
    "Wdbc": (93.9, 97.6, 97.3, 94.4, 95.4),
    "wpbc": (79.4, 81.5, 81.5, 79.5, 76.9),
    "Lung-Cancer": (67.9, 67.9, 70.4, 70.4, 65),
    "COIL2000": (93.7, 94.4, 94.4, 92.6, 92.6),
    "Musk2": (90, 89.2, 92.4, 86, 86),
    "Promoters": (98.1, 98.1, 98.6, 96.2, 95.3),
}


class DataSet(NamedTuple):
    """A data set of the paper: its folder, how to make the features that the paper has, and repetitions."""

    folder: str
    prepare: Callable[[pd.DataFrame], pd.DataFrame]
    repeats: int = 2
    one_against_rest: bool = False


def _as_it_is(frame: pd.DataFrame) -> pd.DataFrame:
    return frame


def _hepatitis(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the 112 complete rows that remain without PROTIME, as numbers."""
    frame = frame.drop(columns="PROTIME").dropna()
    two_valued = [name for name in frame.columns[:-1] if not pd.api.types.is_numeric_dtype(frame[name])]
    return frame.assign(**{name: pd.factorize(frame[name], sort=True)[0] for name in two_valued})


def _promoters(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a column for each base at each of the 57 places."""
    bases = pd.get_dummies(frame.drop(columns="target"), dtype=float)
    return bases.assign(target=frame["target"])


DATA = {
    "BC-wisconsin": DataSet("breast_cancer_wisconsin", pd.DataFrame.dropna, repeats=1),
    "Hepatitis": DataSet("hepatitis", _hepatitis, repeats=5),
    "German-numeric": DataSet("german_numeric", _as_it_is, repeats=1),
    "Wdbc": DataSet("wdbc", _as_it_is),
    "Lung-Cancer": DataSet("lung_cancer_uci", _as_it_is, one_against_rest=True),
    "COIL2000": DataSet("coil2000", lambda frame: frame.iloc[:5822], repeats=1),  # the training rows of the challenge
    "Promoters": DataSet("promoters", _promoters),
}


def percent_and_size(X: pd.DataFrame, y: pd.Series, selector: object, repeats: int) -> tuple[float, float]:
    """Return the accuracy of the support vector machine in percent, and the mean number of features kept."""
    svm = build_estimator("svm", "classification", seed=0)
    pipeline = make_pipeline(
        SimpleImputer(strategy="most_frequent").set_output(transform="pandas"), clone(selector), svm
    )
    folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=repeats, random_state=0)
    found = cross_validate(pipeline, X, y, cv=folds, return_estimator=True)
    sizes = [len(fitted[1].selected_features_) for fitted in found["estimator"]]
    return 100 * float(np.mean(found["test_score"])), float(np.mean(sizes))


def measured(folder: Path) -> pd.DataFrame:
    """Return accuracy and size by data set and k, for the data that the folder has."""
    rows = []
    for name, data in DATA.items():
        path = folder / data.folder / f"{data.folder}.csv"
        if not path.is_file():
            continue
        frame = data.prepare(pd.read_csv(path))
        X, y = frame.drop(columns="target"), frame["target"]
        problems = [(y == label).astype(int) for label in sorted(y.unique())] if data.one_against_rest else [y]
        for k in (*KS, None):
            selector = bf.get_selector("hsmb", k=k) if k else bf.get_selector("all")
            begin = time.process_time()
            results = [percent_and_size(X, problem, selector, data.repeats) for problem in problems]
            percent, size = np.mean(results, axis=0)
            seconds = time.process_time() - begin
            print(f"{name}, k {k}: {percent:.1f} %, {size:.1f} features, {seconds:.0f} CPU seconds", flush=True)
            rows.append({"data": name, "shape": f"{len(X):,} x {X.shape[1]}", "k": k, "percent": percent, "size": size})
    return pd.DataFrame(rows)


def of_the_run(tables: Path) -> pd.DataFrame:
    """Return the same of the workflow's run, whose selectors are hsmb-k1 .. hsmb-k5 and all."""
    scores = pd.read_parquet(tables / "scores.parquet")
    scores = scores[scores["metric"].isin(["accuracy", "r2"])]
    k = scores["selector"].str.extract(r"^hsmb-k(\d)$")[0].astype(float)
    wanted = k.notna() | (scores["selector"] == "all")
    scores = scores.assign(k=k, percent=100 * scores["mean"], size=scores["n_features"])[wanted]
    return scores.rename(columns={"dataset": "data"})[["data", "metric", "k", "percent", "size"]]


def markdown(found: pd.DataFrame, labels: dict[str, str]) -> str:
    """Return a table: two rows a data set, ours and, where there is one, the printed."""
    head = ["data set", "", *(f"k = {k}" for k in KS), "all features"]
    lines = [head, ["---"] * len(head)]
    for data, part in found.groupby("data", sort=False):
        cells = {None if pd.isna(row.k) else int(row.k): row for row in part.itertuples()}
        ours = [f"{cells[k].percent:.1f} ({cells[k].size:.1f})" for k in (*KS, None)]
        lines.append([labels[data], "ours", *ours])
        name = {key.lower(): key for key in PRINTED}.get(data.lower())
        if name:
            lines.append(["", "printed", *(f"{value:g}" for value in PRINTED[name]), ""])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Write one of the two tables of the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=TABLES, help=f"tables of the run, {TABLES} by default")
    parser.add_argument("--data", type=Path, help="folder of the paper's data")
    arguments = parser.parse_args()
    if arguments.data is not None:
        warnings.simplefilter("ignore")  # a fold may select nothing, which scikit-learn warns of
        with threadpool_limits(1):  # several threads are slower than one on matrices as small as these
            found = measured(arguments.data)
        text = markdown(found, {row.data: f"{row.data} ({row.shape})" for row in found.itertuples()})
        write_block("table 7, the paper's data", text)
    else:
        found = of_the_run(arguments.results)
        text = markdown(found, {row.data: f"{row.data}, {row.metric}" for row in found.itertuples()})
        write_block("table 7, the config", text)
    print(text)


if __name__ == "__main__":
    main()
