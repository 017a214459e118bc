"""Rankings of features in other packages, each as a call from a matrix and classes to the columns that it chose."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Call = Callable[[], Any]
#: From a matrix, classes and a number of features to a call.
Maker = Callable[[np.ndarray, np.ndarray, int], Call]

FEAST = {"mim": "MIM", "mrmr": "mRMR_D", "jmi": "JMI", "cmim": "CMIM", "disr": "DISR"}
PRAZNIK = {"mim": "MIM", "mrmr": "MRMR", "jmi": "JMI", "cmim": "CMIM", "disr": "DISR"}
#: More columns would take minutes.
MOST_COLUMNS = {
    ("FEAST", "disr"): 10_000,
    ("fast-select", "mrmr"): 1_000,
    ("mrmr-selection", "mrmr"): 1_000,
    ("skfeature-chappers", "cmim"): 1_000,
    ("skfeature-chappers", "fcbf"): 1_000,
    ("scikit-learn", "mim"): 10_000,
}


def feast(path: Path) -> dict[str, Maker]:
    """Return FEAST's rankings by method: C code that must be built by hand, from codes made beforehand."""
    library = ctypes.CDLL(str(path.resolve()))

    def maker(function: Any) -> Maker:
        def make(X: np.ndarray, y: np.ndarray, n_features: int) -> Call:
            columns = np.ascontiguousarray(X.T, dtype=np.uint32)
            classes = np.ascontiguousarray(y, dtype=np.uint32)
            pointers = (columns.ctypes.data + i * columns.strides[0] for i in range(len(columns)))
            starts = (ctypes.c_void_p * len(columns))(*pointers)
            found, scores = np.zeros(n_features, dtype=np.uint32), np.zeros(n_features)

            def call() -> list[int]:
                arrays = [ctypes.c_void_p(array.ctypes.data) for array in (classes, found, scores)]
                sizes = [ctypes.c_uint(number) for number in (n_features, len(classes), len(columns))]
                function(*sizes, starts, *arrays)
                return [int(j) for j in found]

            return call

        return make

    return {method: maker(getattr(library, name)) for method, name in FEAST.items()}


def installed() -> dict[str, dict[str, Maker]]:
    """Return the rankings of the packages that are there, by package and method."""
    found: dict[str, dict[str, Maker]] = {"scikit-learn": {"mim": _scikit_learn}}
    for package, name, makers in (
        ("fast-select", "fast_select", {"mrmr": _fast_select}),
        ("mrmr-selection", "mrmr", {"mrmr": _mrmr_selection}),
        ("skfeature-chappers", "skfeature", {"cmim": _skfeature("CMIM", "cmim"), "fcbf": _skfeature("FCBF", "fcbf")}),
    ):
        try:
            __import__(name)
        except ImportError:
            print(f"{package} is not installed: make setup-bench")
            continue
        found[package] = makers
    return found


def _scikit_learn(X: np.ndarray, y: np.ndarray, n_features: int) -> Call:
    from sklearn.feature_selection import mutual_info_classif

    def call() -> list[int]:
        score = mutual_info_classif(X, y, discrete_features=True)
        return np.argsort(-score, kind="stable")[:n_features].tolist()

    return call


def _fast_select(X: np.ndarray, y: np.ndarray, n_features: int) -> Call:
    from fast_select import mRMR

    def call() -> list[int]:
        return mRMR(n_features_to_select=n_features, backend="cpu").fit(X, y).top_features_.tolist()

    return call


def _mrmr_selection(X: np.ndarray, y: np.ndarray, n_features: int) -> Call:
    import pandas as pd
    from mrmr import mrmr_classif

    frame, target = pd.DataFrame(X, columns=list(range(X.shape[1]))), pd.Series(y)
    return lambda: list(mrmr_classif(frame, target, K=n_features, n_jobs=1, show_progress=False))


def _skfeature(module: str, function: str) -> Maker:
    def make(X: np.ndarray, y: np.ndarray, n_features: int) -> Call:
        from importlib import import_module

        rank = getattr(import_module(f"skfeature.function.information_theoretical_based.{module}"), function)
        return lambda: list(rank(X, y, mode="index", n_selected_features=n_features))[:n_features]

    return make


def reliefs() -> dict[str, Maker]:
    """Return ReliefF with ten neighbours in the packages that are there."""
    found: dict[str, Maker] = {}
    try:
        import skrebate

        found["skrebate"] = lambda X, y, k: lambda: skrebate.ReliefF(k, n_neighbors=10, n_jobs=1).fit(X, y)
    except ImportError:
        print("skrebate is not installed: make setup-bench")
    try:
        import fast_select

        found["fast-select"] = lambda X, y, k: (
            lambda: fast_select.ReliefF(k, n_neighbors=10, n_jobs=1, backend="cpu").fit(X, y)
        )
    except ImportError:
        print("fast-select is not installed: make setup-bench")
    try:
        from skfeature.function.similarity_based.reliefF import reliefF

        found["skfeature-chappers"] = lambda X, y, k: lambda: reliefF(X, y, mode="index", k=10)
    except ImportError:
        print("skfeature-chappers is not installed: make setup-bench")
    return found
