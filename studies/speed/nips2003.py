"""PPFS on four sets of the NIPS 2003 challenge, beside what its paper prints: `python -m studies.speed.nips2003`.

The paper's rows (the challenge's training part), B and K (its Table 4), trees, alpha 0.05. Measured: the marginal
stage, the whole on one core and, where there are folds, on two; how many features growth admits and shrinking keeps
(Table 7); and errors. The paper's error is that of an SVM (rbf, C = 1) over 10 folds. Ours is given with it and with a
tree, three times: selected on all rows and then validated (optimistic: selection has seen the test rows), selected
inside the training part of each fold, and on the challenge's validation part, which no step has seen.

Selection inside ten folds is left out where it would take longer than `--patience` seconds. Data: the folders arcene,
dexter, dorothea, madelon below the folder that the environment variable BLANKETFLOW_DATA names.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.table import Column
from studies.shared.clock import cpu_seconds, options
from studies.shared.record import Record

#: B and K of Table 4, its errors (all features, PPFS), and the size of the blanket in Table 7.
PRINTED = {
    "madelon": (5, 0, 0.351, 0.131, 12),
    "arcene": (10, 5, 0.180, 0.153, 304),
    "dexter": (5, 0, 0.170, 0.088, 384),
    "dorothea": (5, 0, 0.091, 0.043, 2001),
}
ALPHA, SEED, OUTER = 0.05, 0, 10


def read(folder: Path) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the matrix, dense or sparse, the classes and which rows are for training."""
    import pandas as pd
    import scipy.sparse

    name = folder.name
    path = folder / f"{name}.npz"
    with np.load(path, allow_pickle=False) as stored:
        is_dense = "X" in stored
        X = stored["X"] if is_dense else None
    X = X if is_dense else scipy.sparse.load_npz(path).tocsc()
    y = pd.read_csv(folder / f"{name}.y.csv")["target"].to_numpy()
    return X, y, (pd.read_csv(folder / f"{name}.split.csv")["split"] == "train").to_numpy()


def marginal(X: Any, y: np.ndarray, n_repeats: int) -> None:
    """Test each column given nothing, from the matrix on."""
    target = Column("target", "categorical", np.unique(y, return_inverse=True)[1].astype(np.int32), ("0", "1"))
    bound = bf.get_ci_test("ppi", n_repeats=n_repeats).bind(as_table(X).with_column(target), target="target")
    bound.test_many(np.arange(X.shape[1]), "target")


def models() -> dict[str, Any]:
    """Return the models whose errors are compared."""
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    return {"svm": SVC(), "tree": DecisionTreeClassifier(random_state=SEED)}


def validated(model: Any, X: Any, y: np.ndarray, chosen: list[np.ndarray] | None) -> float:
    """Return the error over the outer folds, of all columns or of those chosen in each."""
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold

    wrong = 0
    for fold, (train, test) in enumerate(StratifiedKFold(OUTER, shuffle=True, random_state=SEED).split(y, y)):
        at = slice(None) if chosen is None else chosen[fold]
        fitted = clone(model).fit(X[train][:, at], y[train])
        wrong += int((fitted.predict(X[test][:, at]) != y[test]).sum())
    return round(wrong / len(y), 4)


def selected(selector: Any) -> np.ndarray:
    """Return the columns found; all where none was, since a model needs one."""
    mask = selector.get_support()
    return np.flatnonzero(mask if mask.any() else ~mask)


def study(record: Record, name: str, data: tuple[Any, np.ndarray, np.ndarray], limit: float, patience: float) -> None:
    """Measure one data set."""
    from sklearn.model_selection import StratifiedKFold

    X, y, is_train = data
    n_repeats, n_folds, *_ = PRINTED.get(name, (5, 0))
    train, target = X[is_train], y[is_train]
    train = train.tocsc() if hasattr(train, "tocsc") else train
    case = {"data": name, "n": train.shape[0], "d": train.shape[1], "B": n_repeats, "K": n_folds}
    marginal(train[:, :20], target, 2)  # loads the kernels
    record.add("marginal stage", "blanketflow", cpu_seconds(lambda: marginal(train, target, n_repeats), 3, 30), **case)
    asked = {"alpha": ALPHA, "n_repeats": n_repeats, "random_state": SEED, "time_limit": limit}
    selector = bf.PPFS(n_folds=n_folds, **asked)
    begin, cpu = time.perf_counter(), time.process_time()
    selector.fit(train, target)
    wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
    trace = selector.trace_[selector.trace_["stage"] == "grow"]
    grown = [int(count) for count in trace.groupby("fold")["feature"].nunique()]
    chosen = selected(selector)
    facts: dict[str, Any] = {"grown": grown, "kept": len(selector.selected_features_), "status": selector.status_}
    facts |= {"wall_s": round(wall, 2)}
    if n_folds:
        begin = time.perf_counter()
        bf.PPFS(n_folds=n_folds, n_jobs=2, **asked).fit(train, target)
        facts["two_cores_wall_s"] = round(time.perf_counter() - begin, 2)
    record.add("whole", "blanketflow", [cpu], **case, facts=facts)
    rows = train.tocsr() if hasattr(train, "tocsr") else train
    inside = None
    if wall * OUTER <= patience:
        folds = StratifiedKFold(OUTER, shuffle=True, random_state=SEED).split(target, target)
        inside = [selected(bf.PPFS(n_folds=n_folds, **asked).fit(rows[part], target[part])) for part, _ in folds]
    everything = X.tocsr() if hasattr(X, "tocsr") else X
    for model_name, model in models().items():
        errors = {
            "all features": validated(model, rows, target, None),
            "selected on all rows": validated(model, rows, target, [chosen] * OUTER),
        }
        if inside is not None:
            errors["selected inside the folds"] = validated(model, rows, target, inside)
        if not is_train.all():
            fitted = model.fit(rows[:, chosen], target)
            wrong = fitted.predict(everything[~is_train][:, chosen]) != y[~is_train]
            errors["validation part"] = round(float(wrong.mean()), 4)
        for what, error in errors.items():
            sizes = {"features": [len(at) for at in inside]} if what.endswith("folds") else {}
            record.add("error", model_name, [error], "error", **case, features=what, facts=sizes)


def main() -> None:
    """Measure, and write nips2003.json."""
    parser = options(__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("BLANKETFLOW_DATA"), metavar="FOLDER")
    parser.add_argument("--only", nargs="+", choices=list(PRINTED), default=list(PRINTED))
    parser.add_argument("--limit", type=float, default=60, help="most seconds of a phase on a fold (default: 60)")
    parser.add_argument("--patience", type=float, default=120, help="most seconds of selecting inside the outer folds")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("nips2003", folder=chosen.results)
    with threadpool_limits(1):
        if chosen.tiny:
            rng = np.random.default_rng(0)
            X = rng.normal(size=(80, 12))
            study(record, "tiny", (X, (X[:, 0] > 0).astype(int), np.arange(80) < 60), 5, 60)
            return
        for name in chosen.only:
            folder = Path(chosen.data or ".") / name
            if folder.is_dir():
                study(record, name, read(folder), chosen.limit, 1e9 if chosen.full else chosen.patience)
            else:
                print(f"{folder} is not there: set BLANKETFLOW_DATA for {name}", file=sys.stderr)


if __name__ == "__main__":
    main()
