"""Methods on tables from structural equations: `python -m studies.scm`.

Each stage of a method has 60 CPU seconds for each task; `--seconds 600` gives more. Results in `results/scm`, and
those in the study's Parquet file, are not recomputed; `--again` recomputes the methods that `--methods` names. `--part
2/8` runs every eighth task from the second; Slurm runs the parts as an array. `--minutes 30` begins no task later.
`--page` writes the page from all results.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import multiprocessing
import resource
import signal
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from studies.scm.equations import Drawn, Task, draw, tasks
from studies.scm.methods import METHODS, coded_columns, selected
from studies.shared.in_parts import count_cpu_time, own_seconds

RESULTS = Path(__file__).parents[2] / "results" / "scm"
#: Results of which the page was made.
RAW = Path(__file__).with_name("scm.parquet")
KEY = ["limit", "task", "method"]
#: Stages that may use all of their time, and CPU seconds beyond these, for a search to end by itself.
STAGES, GRACE = 2, 30


def main() -> None:
    """Run what is missing, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default="1/1", help="which part of the tasks, such as 2/8")
    parser.add_argument(
        "--tasks", nargs="+", metavar="TEXT", default=[""], help="tasks whose id has one of these texts"
    )
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", category=ConvergenceWarning)  # one for each penalty of the lasso
    if asked.page:
        from studies.scm.page import write_page

        write_page(collected())
        return
    known = set() if asked.again or not RAW.exists() else {*pd.read_parquet(RAW, columns=KEY).itertuples(index=False)}
    begin, (part, parts) = time.monotonic(), map(int, asked.part.split("/"))
    for task in tasks()[part - 1 :: parts]:
        if any(text in task.id for text in asked.tasks) and time.monotonic() - begin < 60 * asked.minutes:
            missing = [m for m in asked.methods if (asked.seconds, task.id, m) not in known]
            run(task, missing, asked.seconds)


def run(task: Task, methods: list[str], seconds: float) -> None:
    """Run methods on one task, each in a process of its own, score what they keep, and write a file for each."""
    folder = RESULTS / f"{seconds:g}" / task.id
    folder.mkdir(parents=True, exist_ok=True)
    missing = [method for method in methods if not (folder / f"{method}.json").exists()]
    if not missing:
        return
    drawn = draw(task)
    for method in missing:
        found = answered(method, drawn, task, seconds)
        if "features" in found:
            found["scores"] = scores(drawn, found["features"])
        path = folder / f"{method}.json"
        path.with_suffix(".new").write_text(json.dumps(found), encoding="utf-8")
        path.with_suffix(".new").rename(path)
        print(task.id, method, json.dumps(found)[:200], flush=True)


def answered(method: str, drawn: Drawn, task: Task, seconds: float) -> dict[str, Any]:
    """Return what a method answers in a process of its own, which ends a little after its time."""
    ours, childs = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_answer, args=(childs, method, drawn, task.id, seconds))
    child.start()
    childs.close()
    try:
        found = ours.recv()
    except EOFError:
        found = {}
    child.join()
    if "missing" in found:
        raise SystemExit(f"{method!r} cannot run here: {found['missing']}. Install what it needs.")
    return found or {"status": "no answer in time" if child.exitcode == -signal.SIGXCPU else f"exit {child.exitcode}"}


def _answer(sent: Any, method: str, drawn: Drawn, task: str, seconds: float) -> None:
    count_cpu_time()
    limit = STAGES * int(seconds) + GRACE
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    begin = own_seconds()
    try:
        kept, status, n_tests = selected(method, drawn, task, seconds)
    except ImportError as error:  # says nothing of the method
        sent.send({"missing": str(error)})
        return
    except Exception as error:  # of any package; the page counts them
        sent.send({"status": f"{type(error).__name__}: {error}"})
        return
    spent = round(own_seconds() - begin, 3)
    sent.send({"status": status, "seconds": spent, "tests": n_tests, "features": kept})


def collected() -> pd.DataFrame:
    """Return one row per limit, task and method: those run here, and those of the study's file."""
    rows = []
    for task in tasks():
        for path in sorted(RESULTS.glob(f"*/{task.id}/*.json")):
            found = json.loads(path.read_text(encoding="utf-8"))
            kept, blanket = set(found.pop("features", [])), set(blanket_of_task(task))
            hits = len(kept & blanket)
            rows.append(
                {
                    "limit": float(path.parent.parent.name),
                    "method": path.stem,
                    "task": task.id,
                    "is_held_back": task.is_held_back,
                    **{name: getattr(task, name) for name in ("family", "noise", "graph", "n_columns", "n_rows")},
                    "n_blanket": len(blanket),
                    "n_kept": len(kept),
                    "precision": hits / len(kept) if kept else float(not blanket),
                    "recall": hits / len(blanket),
                    **found.pop("scores", {}),
                    **found,
                }
            )
    before = [pd.read_parquet(RAW)] if RAW.exists() else []
    return pd.concat([*before, pd.DataFrame(rows)]).drop_duplicates(KEY, keep="last").sort_values(KEY)


@functools.cache
def blanket_of_task(task: Task) -> tuple[str, ...]:
    """Return the true blanket of a task."""
    return draw(task).blanket


def scores(drawn: Drawn, kept: list[str]) -> dict[str, float]:
    """Return R² on fresh rows of four models of some features."""
    from lightgbm import LGBMRegressor
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    y, fresh_y = drawn.y.to_numpy(), drawn.fresh_y.to_numpy()
    if not kept:
        constant = 1 - ((fresh_y - y.mean()) ** 2).mean() / fresh_y.var()
        return dict.fromkeys(("ridge", "boosted", "forest", "neighbours"), float(constant))
    X, fresh = coded_columns(drawn.X[kept])[0], coded_columns(drawn.fresh_X[kept])[0]
    models = {
        "ridge": make_pipeline(StandardScaler(), RidgeCV(np.logspace(-1, 5, 13))),
        "boosted": LGBMRegressor(n_jobs=1, verbose=-1, random_state=0),
        "forest": RandomForestRegressor(100, max_features=1 / 3, min_samples_leaf=3, random_state=0, n_jobs=1),
        "neighbours": make_pipeline(StandardScaler(), KNeighborsRegressor(10)),
    }
    return {name: round(float(model.fit(X, y).score(fresh, fresh_y)), 5) for name, model in models.items()}


if __name__ == "__main__":
    main()
