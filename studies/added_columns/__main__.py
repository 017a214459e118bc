"""Which columns are kept when others are added: `python -m studies.added_columns`.

Noise, corrupted copies and products are added to tables of the folder that the environment variable BLANKETFLOW_DATA
names, and to two that scikit-learn ships. Tasks come in rounds, each with every table once. What stands in results/ is
not made again; `--minutes 40` begins nothing later. `--page` writes the page and its chart from what is there.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from blanketflow.core.errors import BlanketflowError
from blanketflow.core.isolation import in_child
from blanketflow.core.limits import LimitReached
from studies.added_columns.methods import METHODS, MOST_SECONDS, Chosen, chosen, seed_of
from studies.added_columns.page import write_page
from studies.added_columns.tables import Made, Task, held_back, make, tasks
from studies.shared.in_parts import count_cpu_time, own_seconds

RAW = Path(__file__).parent / "results" / "answers.parquet"
JUDGES = ("boosted", "mlp")


def main() -> None:
    """Run what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=float("inf"), metavar="M", help="begin nothing later")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--page", action="store_true", help="write the page only")
    asked = parser.parse_args()
    if not asked.page:
        folder = os.environ.get("BLANKETFLOW_DATA", "")
        if not (Path(folder) / "catalogue.json").is_file():
            sys.exit("Set BLANKETFLOW_DATA to the folder of data sets, which has catalogue.json.")
        warnings.simplefilter("ignore")  # unreliable tests and networks that have not converged are what is compared
        count_cpu_time()
        run(Path(folder), asked.methods, time.monotonic() + 60 * asked.minutes)
    write_page(pd.read_parquet(RAW))


def run(folder: Path, methods: list[str], deadline: float) -> None:
    """Run methods on all tasks in turn, and write the results after each task."""
    RAW.parent.mkdir(exist_ok=True)
    warm_up(methods)
    found = pd.read_parquet(RAW).to_dict("records") if RAW.exists() else []
    done = {(row["task"], row["method"]) for row in found}
    for task in tasks():
        missing = [method for method in methods if (task.id, method) not in done]
        if not missing:
            continue
        if time.monotonic() > deadline:
            break
        made, known = make(task, folder), {}
        found += [answered(task, made, method, known) for method in missing]
        new = RAW.with_suffix(".new")
        pd.DataFrame(found).to_parquet(new, index=False)
        new.rename(RAW)
        print(task.id, *(f"{row['method']} {row['seconds']:.1f}" for row in found[-len(missing) :]), flush=True)


def warm_up(methods: list[str]) -> None:
    """Ask each method once, so that no process of a method loads packages and compiled code in its seconds."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 8)), columns=list("abcdefgh"))
    made = Made(X, np.where(X["a"] > 0, "yes", "no"), X, np.array([]), ("a", "b"), is_class=True)
    for method in methods:
        chosen(method, made, 0)


def answered(task: Task, made: Made, method: str, known: dict[frozenset[str], dict[str, float]]) -> dict[str, Any]:
    """Return a row of results: what a method keeps, and the scores; `known` has those of other methods' sets."""
    row: dict[str, Any] = {
        "task": task.id,
        "dataset": task.dataset,
        "setting": task.setting,
        "share": task.share,
        "is_held_back": task.dataset in held_back(),
        "is_class": made.is_class,
        "n_rows": len(made.X),
        "n_original": len(made.original),
        "n_columns": made.X.shape[1],
        "method": method,
    }
    try:
        said = in_child(partial(_timed, method, made, seed_of(task.id, method)), MOST_SECONDS)
    except (LimitReached, BlanketflowError) as error:  # of any package; the page counts them
        return row | {"status": f"{type(error).__name__}: {error}", "seconds": np.nan}
    row |= {"status": said["status"], "seconds": said["seconds"]}
    for place in ("at_number", "own"):
        kept = said[place]
        if kept is None:
            continue
        key = frozenset(kept)
        if key not in known:
            known[key] = scores(made, sorted(kept), seed_of(task.id, "judges"))
        row |= {f"{place}_kept": len(kept), f"{place}_hits": len(key & set(made.original))}
        row |= {f"{place}_{judge}": score for judge, score in known[key].items()}
    return row


def _timed(method: str, made: Made, seed: int) -> dict[str, Any]:
    begin = own_seconds()  # with those of the processes that a method starts
    found: Chosen = chosen(method, made, seed)
    return {**found._asdict(), "seconds": round(own_seconds() - begin, 3)}


def scores(made: Made, kept: list[str], seed: int) -> dict[str, float]:
    """Return the accuracy or R² of boosted trees and a network on held-out rows; without columns, of a constant."""
    from lightgbm import LGBMClassifier, LGBMRegressor
    from sklearn.dummy import DummyClassifier, DummyRegressor

    from blanketflow.core.cards import CLASSIFICATION, REGRESSION
    from studies.answer.judges import MLP

    constant = (DummyClassifier if made.is_class else DummyRegressor)()
    boosted = (LGBMClassifier if made.is_class else LGBMRegressor)(n_jobs=1, verbose=-1, random_state=seed)
    network = MLP().assemble(CLASSIFICATION if made.is_class else REGRESSION, seed, 1)
    found = {}
    taught, asked = (made.X[kept].to_numpy(), made.held_out_X[kept].to_numpy())
    if not kept:
        taught, asked = np.zeros((len(taught), 1)), np.zeros((len(asked), 1))
    for judge, model in zip(JUDGES, (boosted, network) if kept else (constant, constant), strict=True):
        found[judge] = max(-1.0, round(float(model.fit(taught, made.y).score(asked, made.held_out_y)), 5))
    return found


if __name__ == "__main__":
    main()
