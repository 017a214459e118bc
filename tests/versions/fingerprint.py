"""Write what every CI test, method and model says of fixed tables, as JSON: fingerprint.py FILE."""

from __future__ import annotations

import json
import platform
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.registry import discover
from blanketflow.core.table import column_from_array
from blanketflow.data.simulate.network import DiscreteNetwork, node
from blanketflow.models.evaluation import evaluate_split

PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "pyarrow", "numba", "lightgbm")
COIN = node("01", table=[0.5, 0.5])
#: What keeps a test or method cheap, or what it cannot do without.
TEST_OPTIONS = {
    "ppi": {"n_repeats": 12},
    "cpi": {"n_splits": 3, "model": "tree"},
    "oracle": {"arcs": [("a", "b"), ("a", "target")]},
    "population": {"network": DiscreteNetwork("coins", dict.fromkeys("abcdefg", COIN) | {"target": COIN})},
}
METHOD_OPTIONS = {
    "ppfs": {"n_repeats": 12},
    "kiamb": {"n_runs": 3},
    "srs": {"lambda_step": 0.05},
    "permutation-importance": {"model": "forest", "n_permutations": 19},
    "true-blanket": {"blanket": ["a", "d"]},
}
QUERIES = [
    ("b", "a", []),
    ("d", "a", ["b"]),
    ("c", "b", ["a"]),
    ("e", "c", ["a", "d"]),
    ("f", "a", ["b"]),
    ("a", "e", []),
]


def frame(n: int = 160) -> pd.DataFrame:
    """Return columns of every kind; whole numbers from a generator that is the same in all versions of numpy."""
    rng = np.random.RandomState(7)
    a, noise = rng.random_sample((2, n)) - 0.5
    parts = rng.random_sample((4, n)) - 0.5
    return pd.DataFrame(
        {
            "a": a,
            "b": a + noise,
            "c": parts[0],
            "d": np.round(6 * (a + parts[1])).astype(int),
            "e": a + 0.6 * parts[2] > 0,
            "f": np.where(a + parts[3] > 0, "yes", "no"),
            "g": np.array(["red", "green", "blue"])[rng.randint(0, 3, n)],
        }
    )


def with_copies(X: pd.DataFrame) -> pd.DataFrame:
    """Return the columns and copies of some, of another scale or with other labels: rounding errors decide no tie."""
    return X.assign(
        **{
            "a again": -3.7 * X["a"],
            "d again": 0.1 * X["d"],
            "f again": np.where(X["f"] == "yes", "no", "yes"),
            "g again": X["g"].map({"red": "u", "green": "w", "blue": "v"}).astype(object),
        }
    )


def targets(X: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return a target for each task."""
    score = 2 * X["a"] + X["b"] + 0.3 * X["d"] + 0.2 * X["c"] ** 2
    return {"classification": np.array(["low", "middle", "high"])[np.digitize(score, [-0.8, 0.8])], "regression": score}


def of_tests(X: pd.DataFrame) -> dict[str, object]:
    """Return statistics and logarithms of p-values."""
    found = {}
    for name, test in discover("blanketflow.ci").items():
        table = X.drop(columns="g") if "categorical" in test.card.kinds else X.drop(columns=["f", "g"])
        bound = bf.get_ci_test(name, **TEST_OPTIONS.get(name, {})).bind(table, seed=5)
        for x, y, given in QUERIES:
            if {x, y} <= set(table):
                result = bound.test(x, y, given)
                found[f"{name}: {x}, {y} given {given}"] = [float(result.statistic), float(result.log_p)]
    return found


def of_methods(X: pd.DataFrame) -> dict[str, object]:
    """Return selected features and their importances."""
    found = {}
    for name in discover("blanketflow.selectors"):
        for task, y in targets(X).items():
            fitted = bf.get_selector(name, n_folds=2, random_state=3, **METHOD_OPTIONS.get(name, {})).fit(X, y)
            found[f"{name}, {task}"] = [
                [list(map(str, blanket)) for blanket in [fitted.selected_features_, *fitted.blankets_]],
                [float(value) for value in fitted.importances_.values()],
            ]
    return found


def of_models(X: pd.DataFrame) -> dict[str, object]:
    """Return the scores of every model on held-out rows."""
    found, table, rows = {}, as_table(X), np.arange(len(X))
    for task, y in targets(X).items():
        target = column_from_array("target", np.asarray(y))
        train, test = rows[rows % 3 > 0], rows[rows % 3 == 0]
        for model in discover("blanketflow.models"):
            parts = (table.take(train), target.take(train), table.take(test), target.take(test))
            scores = evaluate_split(*parts, [model], "auto", task, (11,))
            for score in scores:
                found[f"{model}, {task}, {score['metric']}"] = score["value"]
    return found


def main(path: str) -> None:
    """Write the fingerprint."""
    warnings.simplefilter("ignore", UserWarning)
    X = frame()
    found = {
        "versions": {"Python": platform.python_version(), **{package: version(package) for package in PACKAGES}},
        "tests": of_tests(X),
        "methods": of_methods(X),
        "methods with copies": of_methods(with_copies(X)),
        "models": of_models(X),
    }
    Path(path).write_text(json.dumps(found, indent=1, sort_keys=True))


if __name__ == "__main__":
    main(sys.argv[1])
