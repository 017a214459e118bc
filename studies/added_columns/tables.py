"""Tables to which columns are added: the sets, their halves, and the three kinds of added columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import train_test_split

from blanketflow.core.seeds import derive_rng, derive_seed, seed_32
from studies.shared import paper_data

#: Sets of the folder of data, and those of scikit-learn.
FILES = (
    "auto_mpg", "automobile", "boston_housing", "breast_cancer_wisconsin", "cpu_performance", "credit_approval",
    "german_numeric", "heart_statlog", "ionosphere", "kr_vs_kp", "satimage", "sonar", "spambase", "spect",
    "waveform_40", "wdbc",
)  # fmt: skip
SHIPPED: dict[str, Callable[..., pd.DataFrame]] = {"diabetes": load_diabetes, "wine": load_wine}
NAMES = (*FILES, *SHIPPED)
#: The columns 22 to 40 of this set are noise as its source made it, and are left out.
WAVEFORM, N_WAVES = "waveform_40", 21
#: Rows to choose by and held out, at most; the share that is held out.
MOST_TAUGHT, MOST_HELD_OUT, SHARE_HELD_OUT = 1000, 1000, 1 / 3
RANDOM, CORRUPTED, SECOND_ORDER = SETTINGS = ("random", "corrupted", "second-order")
#: Of all columns, the share that is added.
SHARES = (0.5, 0.75)
#: A corrupted column is this share of a column, and the rest noise of the column's standard deviation.
KEPT_OF_COLUMN = 0.5


@dataclass(frozen=True)
class Task:
    """A set, the kind of the columns that are added to it, and their share of all."""

    dataset: str
    setting: str
    share: float

    @property
    def id(self) -> str:
        """Its name, from which its random numbers come."""
        return f"{self.dataset} {self.setting} {self.share:g}"


@dataclass(frozen=True)
class Made:
    """Rows to choose by and held out, with original and added columns in random order under neutral names."""

    X: pd.DataFrame
    y: np.ndarray
    held_out_X: pd.DataFrame
    held_out_y: np.ndarray
    original: tuple[str, ...]
    is_class: bool


def held_back() -> frozenset[str]:
    """Return the half of the sets, by a hash of their names, that no choice of the study looked at."""
    order = sorted(NAMES, key=lambda name: derive_seed("added columns", "half", name))
    return frozenset(order[: len(order) // 2])


def tasks() -> list[Task]:
    """Return all tasks in rounds: in each, every set has one kind and share, and each of these has as many sets."""
    cells = [(setting, share) for share in SHARES for setting in SETTINGS]
    halves = [[name for name in NAMES if (name in held_back()) == is_held] for is_held in (False, True)]
    order = [name for pair in zip(*halves, strict=True) for name in pair]
    return [Task(name, *cells[(at + turn) % len(cells)]) for turn in range(len(cells)) for at, name in enumerate(order)]


def read(name: str, folder: Path) -> tuple[pd.DataFrame, np.ndarray, bool]:
    """Return the columns of a set as numbers, its target, and whether that is a class.

    Rows with missing cells are left out. A column of labels becomes one column for each label but the first.
    """
    if name in SHIPPED:
        frame = SHIPPED[name](as_frame=True).frame
        labels, is_class = set(), name == "wine"
    else:
        facts = json.loads((folder / "catalogue.json").read_text(encoding="utf-8"))[name]
        labels, is_class = set(facts.get("categorical", [])), facts["kind"] != "regression"
        frame = paper_data.read(folder / name, name)
        frame = paper_data.numbers(frame, {*labels, *(["target"] if is_class else [])}).dropna()
    y = frame.pop("target")
    X = pd.get_dummies(frame.iloc[:, :N_WAVES] if name == WAVEFORM else frame, drop_first=True, dtype=float)
    X = X.loc[:, X.nunique() > 1].astype(float).reset_index(drop=True)
    return X, y.astype(str).to_numpy() if is_class else y.to_numpy(dtype=float), is_class


def added(X: np.ndarray, setting: str, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return the columns that are added, (n, m), so that they are this share of all.

    Random columns are Gaussian noise. Corrupted ones are `KEPT_OF_COLUMN` of an original column plus noise, so that
    their correlation with it is 0.71. Second-order ones are products of two different columns; constant products and
    those that equal another column are left out.
    """
    n, d = X.shape
    m = round(d * share / (1 - share))
    if setting == RANDOM:
        return rng.normal(size=(n, m))
    if setting == CORRUPTED:
        drawn = X[:, rng.choice(d, m)]
        return KEPT_OF_COLUMN * drawn + (1 - KEPT_OF_COLUMN) * drawn.std(axis=0) * rng.normal(size=(n, m))
    pairs, seen, found = rng.permutation(list(combinations(range(d), 2))), {column.tobytes() for column in X.T}, []
    for first, second in pairs:
        product = X[:, first] * X[:, second]
        if product.std() > 0 and product.tobytes() not in seen:
            seen.add(product.tobytes())
            found.append(product)
        if len(found) == m:
            return np.column_stack(found)
    raise ValueError(f"of {d} columns only {len(found)} products differ, fewer than the {m} that are to be added.")


def make(task: Task, folder: Path) -> Made:
    """Return the table of a task, the same each time."""
    original, y, is_class = read(task.dataset, folder)
    extra = added(original.to_numpy(), task.setting, task.share, derive_rng("added columns", task.id))
    whole = np.column_stack([original.to_numpy(), extra])
    order = derive_rng("added columns", task.id, "order").permutation(whole.shape[1])
    names = [f"c{place}" for place in range(len(order))]
    n_held_out = min(round(SHARE_HELD_OUT * len(y)), MOST_HELD_OUT)
    taught, asked = train_test_split(
        np.arange(len(y)),
        train_size=min(len(y) - n_held_out, MOST_TAUGHT),
        test_size=n_held_out,
        random_state=seed_32("added columns", task.dataset),
        stratify=y if is_class else None,
    )
    frame = pd.DataFrame(whole[:, order], columns=names)
    true = tuple(name for name, of in zip(names, order, strict=True) if of < original.shape[1])
    parts = (frame.iloc[rows].reset_index(drop=True) for rows in (taught, asked))
    return Made(next(parts), y[taught], next(parts), y[asked], true, is_class)
