"""PPFS beside PyImpetus, the authors' implementation: `python -m studies.speed.ppfs`.

Trees, p 0.05, one process, one thread, CPU seconds. Warm: both are loaded, and have run once on a small table. From the
shell: a command each, with the start of Python and all imports. Our repetitions stand before and after theirs.
PyImpetus takes minutes for some cells, which come with `--full`, or are answered by nobody.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes
from threadpoolctl import threadpool_limits

import blanketflow as bf
from studies.shared.clock import command, cpu_seconds, options
from studies.shared.record import Record

Data = tuple[pd.DataFrame, np.ndarray]
Fit = Callable[[pd.DataFrame, np.ndarray, int, int], list]

ALPHA, SEED = 0.05, 0
#: Data, B, K, and whether PyImpetus takes more than a minute.
CELLS = [
    ("breast_cancer", 5, 0, False),
    ("breast_cancer", 30, 0, False),
    ("breast_cancer", 5, 5, False),
    ("breast_cancer", 30, 5, True),
    ("500 x 200", 5, 0, False),
    ("500 x 200", 30, 0, True),
    ("500 x 200", 5, 5, True),
    ("500 x 1000", 5, 0, True),
    ("diabetes", 5, 0, False),
    ("diabetes", 30, 0, False),
    ("diabetes", 30, 5, True),
]
#: Minutes of PyImpetus that a run without --full accepts all the same: these are what README.md quotes first.
ALWAYS = [("breast_cancer", 30, 5), ("500 x 200", 30, 0), ("500 x 1000", 5, 0)]
#: Our repetitions before theirs, and after.
OURS = 10
TINY = [("tiny", 5, 0, False), ("tiny", 5, 2, False)]

OF_PYIMPETUS = """
import sys
import pandas as pd
from PyImpetus import PPIMBC
from sklearn.tree import DecisionTreeClassifier
frame = pd.read_csv(sys.argv[1])
tree = DecisionTreeClassifier(random_state=0)
repeats, folds = int(sys.argv[2]), int(sys.argv[3])
selector = PPIMBC(tree, p_val_thresh=0.05, num_simul=repeats, cv=folds, random_state=0, n_jobs=1, verbose=0)
selector.fit(frame.drop(columns="y"), frame["y"].to_numpy())
print(selector.MB)
"""


def data(name: str) -> Data:
    """Return a table with names, and its target."""
    if name == "breast_cancer":
        return load_breast_cancer(return_X_y=True, as_frame=True)[0], load_breast_cancer().target
    if name == "diabetes":
        return load_diabetes(return_X_y=True, as_frame=True)[0], load_diabetes().target
    rows, columns = (60, 4) if name == "tiny" else map(int, name.split(" x "))
    rng = np.random.default_rng(columns)
    X = rng.normal(size=(rows, columns))
    y = (X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(size=rows) > 0).astype(int)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)]), y


def ours(X: pd.DataFrame, y: np.ndarray, n_repeats: int, n_folds: int) -> list[str]:
    """Select with blanketflow."""
    selector = bf.PPFS(alpha=ALPHA, n_repeats=n_repeats, n_folds=n_folds, random_state=SEED)
    return selector.fit(X, y).selected_features_


def pyimpetus() -> Fit | None:
    """Return PyImpetus' selection, if it is there."""
    try:
        from PyImpetus import PPIMBC, PPIMBR
    except ImportError:
        print("PyImpetus is not installed: make setup-bench", file=sys.stderr)
        return None
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    def fit(X: pd.DataFrame, y: np.ndarray, n_repeats: int, n_folds: int) -> list[str]:
        of_classes = y.dtype.kind == "i"
        selector, tree = (PPIMBC, DecisionTreeClassifier) if of_classes else (PPIMBR, DecisionTreeRegressor)
        asked = {"p_val_thresh": ALPHA, "num_simul": n_repeats, "cv": n_folds, "n_jobs": 1, "verbose": 0}
        found = selector(tree(random_state=SEED), random_state=SEED, **asked)
        found.fit(X, y)
        return found.MB

    return fit


def warm(record: Record, cells: list[tuple[str, int, int, bool]], theirs: Fit | None, full: bool) -> None:
    """Measure both in this process."""
    for fit in filter(None, (ours, theirs)):
        fit(*data("tiny"), 5, 0)
    for name, n_repeats, n_folds, is_long in cells:
        X, y = data(name)
        case = {"data": name if " x " in name else f"{name} {len(X)} x {X.shape[1]}", "B": n_repeats, "K": n_folds}
        chosen = ours(X, y, n_repeats, n_folds)
        runs = cpu_seconds(lambda: ours(X, y, n_repeats, n_folds), OURS)  # noqa: B023
        if theirs and (full or not is_long or (name, n_repeats, n_folds) in ALWAYS):
            most = 1 if is_long else 3
            found: list = []
            taken = cpu_seconds(lambda: found.append(theirs(X, y, n_repeats, n_folds)), most, 30)  # noqa: B023
            runs += cpu_seconds(lambda: ours(X, y, n_repeats, n_folds), OURS)  # noqa: B023
            record.add("warm", "PyImpetus", taken, **case, facts={"features": len(found[0])})
        record.add("warm", "blanketflow", runs, **case, facts={"features": len(chosen)})


def from_the_shell(record: Record, cells: list[tuple[str, int, int]], has_peer: bool) -> None:
    """Measure a command each: the table is a CSV file."""
    program = Path(sys.executable).with_name("blanketflow")
    with tempfile.TemporaryDirectory() as folder:
        for name, n_repeats, n_folds in cells:
            X, y = data(name)
            path = Path(folder) / "table.csv"
            X.assign(y=y).to_csv(path, index=False)
            case = {"data": f"{name} {len(X)} x {X.shape[1]}", "B": n_repeats, "K": n_folds}
            asked = ["--test-set", f"n_repeats={n_repeats}", *(["--set", f"folds={n_folds}"] if n_folds else [])]
            own = [program, "select", path, "--target", "y", "--method", "ppfs", *asked]
            try:
                runs = [command(own) for _ in range(3)]
            except subprocess.CalledProcessError as error:
                print(f"B = {n_repeats}, K = {n_folds} is left out: {error.stderr}", file=sys.stderr)
                continue
            if has_peer:
                taken = command([sys.executable, "-W", "ignore", "-c", OF_PYIMPETUS, path, n_repeats, n_folds])
                runs += [command(own) for _ in range(3)]
                record.add("shell", "PyImpetus", [taken.cpu], **case, facts={"wall_s": round(taken.wall, 2)})
            walls = [round(run.wall, 2) for run in runs]
            record.add("shell", "blanketflow", [run.cpu for run in runs], **case, facts={"wall_s": min(walls)})


def main() -> None:
    """Measure, and write ppfs.json."""
    chosen = options(__doc__).parse_args()
    warnings.simplefilter("ignore")  # PyImpetus's calls of scikit-learn and scipy warn by the thousand
    record = Record("ppfs", ["PyImpetus"], chosen.results)
    theirs = pyimpetus()
    with threadpool_limits(1):
        warm(record, TINY if chosen.tiny else CELLS, theirs, chosen.full)
    shell = [("tiny", 5, 0)] if chosen.tiny else [("breast_cancer", 30, 0), ("breast_cancer", 30, 5)]
    from_the_shell(record, shell, theirs is not None)


if __name__ == "__main__":
    main()
