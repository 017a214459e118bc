"""The data sets, their halves, and the rows of a split."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

#: Sets of BLANKETFLOW_DATA and of scikit-learn, chosen before anything was measured.
CLASSES = (
    "coil2000", "credit_approval", "german_numeric", "heart_statlog", "ionosphere", "kr_vs_kp", "madelon", "satimage",
    "sonar", "spambase", "waveform_40",
)  # fmt: skip
NUMBERS = ("auto_mpg", "automobile", "boston_housing", "diabetes", "maxwell")
#: Most rows to select by, and to judge on.
MOST_ROWS, MOST_UNSEEN = 600, 1000


class DataSet(NamedTuple):
    """A table and its target; labels are categories, and classes are numbered."""

    name: str
    X: pd.DataFrame
    y: pd.Series
    is_class: bool


def halves() -> dict[str, str]:
    """Return which half each set is in: of both kinds of target every other one, ordered by a hash of the name."""
    found = {}
    for names in (CLASSES, NUMBERS):
        ordered = sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
        found |= {name: "held back" if place % 2 else "tuning" for place, name in enumerate(ordered)}
    return found


def in_turn() -> list[str]:
    """Return the sets so that every beginning has about as many of each half and kind."""
    half = halves()
    rows: list[str] = []
    for kind in (CLASSES, NUMBERS):
        parts = [[name for name in half if half[name] == one and name in kind] for one in ("tuning", "held back")]
        longest = max(map(len, parts))
        turns = [part[at] for at in range(longest) for part in parts if at < len(part)]
        rows += [(place / len(turns), name) for place, name in enumerate(turns)]
    return [name for _, name in sorted(rows)]


def read(name: str) -> DataSet:
    """Return a set; constant columns, and all but one of equal ones, are left out, as TabArena does."""
    if name == "diabetes":
        from sklearn.datasets import load_diabetes

        X, y = load_diabetes(return_X_y=True, as_frame=True)
    else:
        folder = os.environ.get("BLANKETFLOW_DATA")
        if folder is None:
            sys.exit(f"Set BLANKETFLOW_DATA to the folder that holds {name}/{name}.csv and the others.")
        X, y = _stored(Path(folder), name)
    is_class = name in CLASSES
    X = X[[column for column in X if X[column].nunique(dropna=False) > 1]]
    X = X.loc[:, ~X.apply(lambda column: pd.factorize(column)[0]).T.duplicated().to_numpy()]
    return DataSet(name, X, pd.Series(pd.factorize(y, sort=True)[0]) if is_class else y.astype(float), is_class)


def _stored(folder: Path, name: str) -> tuple[pd.DataFrame, pd.Series]:
    place = folder / name
    if (place / f"{name}.npz").exists():
        with np.load(place / f"{name}.npz", allow_pickle=False) as stored:
            X = pd.DataFrame(stored["X"].astype(float), columns=stored["feature_names"].astype(str))
        return X, pd.read_csv(place / f"{name}.y.csv", dtype=str)["target"]
    labels = json.loads((folder / "catalogue.json").read_text(encoding="utf-8"))[name]["categorical"]
    table = pd.read_csv(place / f"{name}.csv", dtype=dict.fromkeys(labels, str))
    X = table.drop(columns="target")
    for column in X:
        X[column] = X[column].astype("category") if X[column].dtype.kind not in "iuf" else X[column].astype(float)
    return X, table["target"]


def rows_of(data: DataSet, split: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows to select by and unseen rows: two thirds and one third, cut at the most."""
    from sklearn.model_selection import train_test_split

    seed = int.from_bytes(hashlib.sha256(f"{data.name} {split}".encode()).digest()[:4], "big")
    n = len(data.y)
    unseen = min(n // 3, MOST_UNSEEN)
    learn, ask = train_test_split(
        np.arange(n), train_size=min(n - unseen, MOST_ROWS), test_size=unseen, random_state=seed,
        stratify=data.y if data.is_class else None,
    )  # fmt: skip
    return learn, ask
