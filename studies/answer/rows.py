"""Make what the recorded answers lack, on several cores: `python -m studies.answer.rows --workers 16`.

answer.parquet has one row per data set, selector and split. This takes the features that a row
records and fits on them the judges whose score it lacks. Where a row has an answer, but not its features, or there is
no row, the selector searches, with seconds and limits of CPU time, and all judges follow. The score of the nearest
neighbours is always made again: where it is not the recorded one, the features or the rows are others, and the whole
row is made anew. What is done is written line by line to --to, from which the same command goes on, and which
`python -m studies.answer.page` takes up. Needs scikit-learn and this package, but no Snakemake; selectors and judges
whose package is not there are left out and named.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from blanketflow.search.workers import compile_kernels

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "studies" / "answer" / "answer.yaml"
RAW = ROOT / "studies" / "answer" / "answer.parquet"
FOLDER = ROOT / "results" / "answer-rows"
ROWS = FOLDER / "rows.jsonl"
KEY = ["dataset", "selector", "split"]
#: The judges of the recorded scores, whose mean is `score`, and those that no part of `auto` asks, by column.
PANEL = ("logistic", "ridge", "knn", "lightgbm", "svm")
OUTSIDE = {"forest": "forest", "mlp": "studies.answer.judges:MLP"}
JUDGES = {**dict.fromkeys(PANEL), **OUTSIDE}
ONLY = {"accuracy": "ridge", "r2": "logistic"}  # the judge that the other kind of target has
#: What is not among the requirements of the package, or is left out on some machines.
PACKAGES = {
    "auto": "lightgbm",
    "lightgbm": "lightgbm",
    "shap": "lightgbm",
    "boruta": "boruta",
    "mrmr-selection": "mrmr",
}
#: Splits are parts of partitions into so many.
PARTS = 3
SAME = 1e-9


@dataclass(frozen=True)
class Unit:
    """A data set, a selector and a split, with the positions of the features, None for a search, and the judges.

    `knn` is the score of the nearest neighbours that is recorded with these features; NaN if none is.
    """

    dataset: str
    selector: str
    split: str
    chosen: str | None
    judges: tuple[str, ...]
    knn: float
    seconds: float
    cost: float


def taken_up(raw: pd.DataFrame, lines: pd.DataFrame) -> pd.DataFrame:
    """Return rows with what later lines say of them: a line of a search replaces its row, others add scores."""
    if lines.empty:
        return raw
    for _, some in lines.groupby(lines.groupby(KEY).cumcount()):
        searched = some["searched"].to_numpy(dtype=bool)
        now, before = some.drop(columns="searched").set_index(KEY), raw.set_index(KEY)
        before = before.drop(index=now.index[searched], errors="ignore")
        raw = now.combine_first(before).reset_index()
    panel = raw[list(PANEL)]
    is_whole = panel.notna().sum(axis=1) == len(PANEL) - 1  # one of the two linear models is of the other task
    raw["score"] = raw["score"].fillna(panel.mean(axis=1).where(is_whole))
    return raw.sort_values(KEY, ignore_index=True)


def lines_of(path: Path) -> pd.DataFrame:
    """Return what was done; a last line that was not written to its end is left out."""
    said = path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []
    return pd.DataFrame([json.loads(line) for line in said])


def units(raw: pd.DataFrame, lines: pd.DataFrame, asked: argparse.Namespace) -> Iterator[Unit]:
    """Yield what is to be done."""
    known = taken_up(raw, lines).set_index(KEY)
    anew = {tuple(row) for row in lines.loc[lines["searched"], KEY].to_numpy()} if len(lines) else set()
    shapes = raw.groupby("dataset")[["metric", "n", "d"]].first()
    judges = [name for name in asked.judges if is_there(name)]
    config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    for dataset in asked.datasets or [name for name in config["datasets"] if name in shapes.index]:
        metric, n, d = shapes.loc[dataset] if dataset in shapes.index else ("", 0, 0)
        if asked.most_cells and (not d or n * d > asked.most_cells):
            continue
        for selector in asked.selectors or config["selectors"]:
            for split in (f"cv-{k}" for k in range(asked.first_split, asked.splits + 1)):
                row = known.loc[(dataset, selector, split)] if (dataset, selector, split) in known.index else None
                renewed = asked.anew and (dataset, selector, split) not in anew
                if row is not None and pd.isna(row["n_features"]) and not renewed:
                    continue  # it had no answer
                lacks = tuple(j for j in judges if row is None or (pd.isna(row.get(j)) and j != ONLY.get(metric)))
                chosen = None if renewed or row is None or pd.isna(row["chosen"]) else row["chosen"]
                if lacks or chosen is None:
                    k = d if row is None or pd.isna(row["n_features"]) else row["n_features"]
                    spent = 60.0 if row is None or pd.isna(row["seconds"]) else row["seconds"]
                    cost = n * k * 1e-5 + (spent if chosen is None else 0.0)
                    knn = math.nan if renewed or row is None else row["knn"]
                    yield Unit(dataset, selector, split, chosen, lacks or tuple(judges), knn, spent, cost)


@cache
def is_there(name: str) -> bool:
    """Whether the package of a selector or judge is installed and loads: its failure would pass for no answer."""
    try:
        return name not in PACKAGES or bool(import_module(PACKAGES[name]))
    except (ImportError, OSError):  # such as a library of the system that it needs
        return False


@cache
def files_of(dataset: str, splits: int) -> Any:
    """Return where the artefacts of a data set are; its table and splits are stored."""
    from blanketflow.workflow.job_files import JobFiles
    from blanketflow.workflow.plan import make_plan

    config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    absent = {name: {"method": "all"} for name in config["selectors"] if not is_there(name)}  # never asked for
    config["selectors"] |= absent
    some = {"datasets": {dataset: config["datasets"][dataset]}, "output": f"results/{FOLDER.name}"}
    some["splits"] = config["splits"] | {"repeats": math.ceil(splits / PARTS)}
    return JobFiles(make_plan({**config, **some}, (ROOT / "scripts").joinpath), FOLDER.joinpath)


def prepare(dataset: str, splits: int) -> str:
    """Store a data set and its splits; make its file first where that is not there."""
    from blanketflow.data.sources import read_source
    from blanketflow.workflow import in_process

    spec = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["datasets"][dataset]
    if "path" in spec and not (ROOT / spec["path"]).exists():
        from studies.shared import paper_data

        recipes = yaml.safe_load(paper_data.RECIPES.read_text(encoding="utf-8"))
        name = Path(spec["path"]).stem
        (ROOT / "data").mkdir(exist_ok=True)
        paper_data.make(name, recipes[name], Path(os.environ["BLANKETFLOW_DATA"]), ROOT / "data")
    files = files_of(dataset, splits)
    config = files.plan.config
    in_process._store(files, dataset, read_source(dataset, config.datasets[dataset], config.seed))
    return dataset


def found(files: Any, unit: Unit) -> tuple[list[str] | None, float]:
    """Search; return the features, None without an answer, and the CPU seconds."""
    from blanketflow.data.artefacts import read_columns
    from blanketflow.workflow import in_process

    ids = {"dataset": unit.dataset, "selector": unit.selector, "split": unit.split}
    blanket, folds = files.at("blanket", **ids), files.at("folds", **ids)
    shutil.rmtree(blanket.parent, ignore_errors=True)  # made by other code perhaps
    if test := files.plan.test_id(unit.dataset, unit.selector):
        in_process._test(files, unit.dataset, test, 0, unit.split)
    in_process._select(files, *ids.values())
    columns, provenance = read_columns(blanket)
    chosen = [f for f, c in zip(columns["feature"], columns["chosen"], strict=True) if c]
    seconds = float(np.sum(read_columns(folds)[0]["seconds"]))
    if provenance.usable:
        return chosen, seconds
    if provenance.status == "error":  # the row stays as it is: a failure of this machine would pass for no answer
        raise RuntimeError(provenance.reason)
    return None, seconds


def done(unit: Unit, splits: int) -> dict[str, Any]:
    """Return what a row says anew."""
    from blanketflow.data.storage import feature_names, read_table
    from blanketflow.workflow.stages.fold import read_splits

    files = files_of(unit.dataset, splits)
    seed = files.plan.config.seed
    table = files.at("table", dataset=unit.dataset)
    features, stored = feature_names(table), read_table(table, [])
    metric = "accuracy" if stored.extra["task"] == "classification" else "r2"
    says: dict[str, Any] = {**dict(zip(KEY, (unit.dataset, unit.selector, unit.split), strict=True))}
    says |= {"metric": metric, "n": stored.target.n_rows, "d": len(features)}
    if unit.chosen is None:
        chosen, seconds = found(files, unit)
        says |= {"searched": True, "seconds": seconds, "n_features": None, "chosen": None}
        if chosen is None:
            return says
        positions = sorted(map(features.index, chosen))
        says |= {"n_features": len(positions), "chosen": " ".join(map(str, positions))}
    else:
        positions = [int(at) for at in unit.chosen.split()]
        says |= {"searched": False}
    drawn = read_splits(files.at("splits", dataset=unit.dataset, folds="0"))
    kept = read_table(table, [features[at] for at in positions])
    own = judged(kept, drawn, seed, unit, metric, ("knn",))
    all_of_them = [name for name in JUDGES if name != ONLY[metric] and is_there(name)]
    same = abs(own["knn"] - unit.knn) < SAME
    lacks = unit.judges if same and unit.chosen is not None else all_of_them
    own |= judged(kept, drawn, seed, unit, metric, [name for name in lacks if name != "knn"])
    if unit.chosen is not None and not same:
        says |= {"searched": True, "n_features": len(positions), "chosen": unit.chosen, "seconds": unit.seconds}
    return says | own


def judged(kept: Any, drawn: Any, seed: int, unit: Unit, metric: str, judges: Any) -> dict[str, float]:
    """Return the score of each judge that is fitted on the features on the training rows of the split."""
    from blanketflow.data.impute import impute
    from blanketflow.data.splits import test_rows, train_rows
    from blanketflow.models.evaluation import evaluate_split

    train, test = train_rows(drawn, unit.split), test_rows(drawn, unit.split)
    known, held_out = kept.features.take(train), kept.features.take(test)
    asked = {JUDGES[name] or name: name for name in judges}
    rows = evaluate_split(
        impute(known, known), kept.target.take(train), impute(known, held_out), kept.target.take(test),
        list(asked), [metric], kept.extra["task"], (seed, unit.dataset, unit.split, "evaluate"),
    )  # fmt: skip
    if failed := [one["reason"] for one in rows if one["status"] == "error"]:
        raise RuntimeError(failed[0])
    return {asked[one["model"]]: max(-1.0, one["value"]) for one in rows}


def begin() -> None:
    """Prepare a process for work: CPU time counts, and a network that has not converged needs no warning."""
    from studies.shared.in_parts import count_cpu_time

    warnings.filterwarnings("ignore")
    count_cpu_time()


def main() -> None:
    """Do what is lacking until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes (1)")
    parser.add_argument("--budget-minutes", type=float, default=math.inf, metavar="M", help="begin nothing later")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="all that are recorded by default")
    parser.add_argument("--selectors", nargs="+", metavar="NAME", help="all by default")
    parser.add_argument("--judges", nargs="+", choices=list(JUDGES), default=list(JUDGES), help="all by default")
    parser.add_argument("--splits", type=int, default=3, metavar="N", help="splits of each data set (3)")
    parser.add_argument("--first-split", type=int, default=1, metavar="K", help="the first of them that is made (1)")
    parser.add_argument("--most-cells", type=float, metavar="N", help="leave out data sets with more cells")
    parser.add_argument("--anew", action="store_true", help="search once more where an answer is recorded")
    parser.add_argument("--recorded", action="store_true", help="judge recorded features only; search nothing")
    parser.add_argument("--to", type=Path, default=ROWS, metavar="FILE", help="where what is done is written")
    asked = parser.parse_args()
    deadline = time.monotonic() + 60 * asked.budget_minutes
    os.chdir(ROOT)
    raw, lines = pd.read_parquet(RAW), lines_of(asked.to)
    todo = [unit for unit in units(raw, lines, asked) if not asked.recorded or unit.chosen is not None]
    absent = sorted({unit.selector for unit in todo if unit.chosen is None and not is_there(unit.selector)})
    todo = [unit for unit in todo if unit.chosen is not None or is_there(unit.selector)]
    absent += [name for name in asked.judges if not is_there(name)]
    print(f"{len(todo)} rows to make", *([f"without {', '.join(absent)}"] if absent else []), flush=True)
    asked.to.parent.mkdir(parents=True, exist_ok=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    compile_kernels()
    with ProcessPoolExecutor(asked.workers, get_context("spawn"), begin) as pool, open(asked.to, "a") as out:
        sets = sorted({unit.dataset for unit in todo}, key=lambda name: -sum(u.cost for u in todo if u.dataset == name))
        for name in pool.map(prepare, sets, [asked.splits] * len(sets)):
            print("stored", name, flush=True)
        running: dict[Future[dict[str, Any]], Unit] = {}
        for unit in sorted(todo, key=lambda unit: -unit.cost):
            if time.monotonic() > deadline:
                break
            running[pool.submit(done, unit, asked.splits)] = unit
            if len(running) > asked.workers:
                take(running, out, FIRST_COMPLETED)
        while running:
            take(running, out, FIRST_COMPLETED)
    print("left:", len(list(units(raw, lines_of(asked.to), asked))), flush=True)


def take(running: dict[Future[dict[str, Any]], Unit], out: Any, when: str) -> None:
    """Write down what has ended; a failure is told, and its row stays as it is."""
    for future in wait(running, return_when=when).done:
        unit = running.pop(future)
        if error := future.exception():
            print(f"{unit.dataset} {unit.selector} {unit.split}: {error!r}", file=sys.stderr, flush=True)
            continue
        says = future.result()
        if says["searched"] and unit.knn == unit.knn and abs(says.get("knn", math.nan) - unit.knn) >= SAME:
            print(f"{unit.dataset} {unit.selector} {unit.split}: another answer", flush=True)
        out.write(json.dumps(says) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
