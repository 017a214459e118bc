"""Run a config of this folder's studies in parts: `python -m studies.shared.in_parts CONFIG [DATA SET ...]`.

One process does all, one data set after the other. Seconds and time limits count CPU time, of this process and of those
that it starts, so that other work on the machine changes nothing. A selector that reached its limit without an answer
on one split of a data set is not tried on the others. What stands in results/CONFIG-in-parts is not made again; the
script of the study's page takes it up. The tables of a data set are those of its last run.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import psutil
import yaml

from blanketflow.core import isolation, limits
from blanketflow.core.limits import LimitReached
from blanketflow.core.registry import RunResults
from blanketflow.data.sources import read_source
from blanketflow.search import isolated
from blanketflow.workflow import collect, in_process, jobs
from blanketflow.workflow.job_files import JobFiles
from blanketflow.workflow.plan import make_plan
from blanketflow.workflow.specs import Plan

ROOT = Path(__file__).parents[2]


def folder_of(config: str) -> Path:
    """Return where the artefacts of a config's parts are, and the tables of each data set, in the folder `tables`."""
    return ROOT / "results" / f"{Path(config).stem}-in-parts"


def cpu_seconds() -> float:
    """Return the CPU seconds of this process, of those that it started, and of theirs, ended or not."""
    spent, me = 0.0, psutil.Process()
    for process in (me, *me.children(recursive=True)):
        try:
            spent += sum(process.cpu_times()[:4])  # user, system, and those of ended children
        except psutil.Error:  # it ended since
            continue
    return spent


def own_seconds() -> float:
    """Return the CPU seconds of this process and of those it started that ended."""
    return sum(os.times()[:4])


class CoarseClock:
    """The CPU seconds of this process as they were at most 50 ms ago: what may be asked before each test."""

    def __init__(self) -> None:
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._asked, self._seconds = -math.inf, 0.0

    def seconds(self) -> float:
        """Return the seconds."""
        now = time.monotonic()
        if now > self._asked + 0.05:
            self._asked, self._seconds = now, own_seconds()
        return self._seconds


def count_cpu_time() -> None:
    """Let the limits of searches, the ending of their processes and the seconds of stages count CPU time."""
    for module, seconds in ((limits, CoarseClock().seconds), (jobs, own_seconds), (isolation, cpu_seconds)):
        vars(module)["time"] = SimpleNamespace(monotonic=seconds, perf_counter=seconds, sleep=time.sleep)
    isolation.ends_after = lambda seconds: seconds + isolation.GRACE
    vars(isolation)["_PAUSE"] = 1.0  # looking at all processes takes CPU time itself


def try_no_second_time() -> None:
    """Let one split without an answer within the limit stand for all splits of that selector and data set."""
    select, in_child, now, ended = in_process._select, isolated.in_child, [("", "")], set()

    def selected(files: Any, dataset: str, selector: str, split: str) -> None:
        now[0] = (dataset, selector)
        select(files, dataset, selector, split)

    def tried_once(work: Callable[[], Any], *limits: Any) -> Any:
        if now[0] in ended:
            raise LimitReached("the time limit (time_limit) was reached on another split")
        try:
            return in_child(work, *limits)
        except LimitReached:
            ended.add(now[0])
            raise

    in_process._select, isolated.in_child = selected, tried_once


def selectors_of(dataset: str, specs: dict[str, Any], names: list[str] | None) -> dict[str, Any]:
    """Return the specs of those selectors, all or by name, that the config has for a data set."""
    asked = {name: specs[name] for name in names or specs if dataset in specs[name].get("datasets", [dataset])}
    return {name: {**spec, **({"datasets": [dataset]} if "datasets" in spec else {})} for name, spec in asked.items()}


def further_tables(plan: Plan, folder: Path, tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the tables that the config names, such as those that set a run beside printed results."""
    files = JobFiles(plan, folder.joinpath)
    scores = collect.both_selections(files.scores("evaluate"), files.scores("evaluate_optimistic"))
    run = RunResults(scores, tables, plan.config.splits["evaluation"])
    return {name: further.make(run) for name, further in plan.further.items()}


def main() -> None:
    """Run selectors on data sets, one after the other, and write the tables of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("datasets", nargs="*", metavar="DATA SET", help="all by default")
    parser.add_argument("--selectors", nargs="+", metavar="NAME", help="all by default")
    asked = parser.parse_args()
    config, folder = yaml.safe_load(asked.config.read_text(encoding="utf-8")), folder_of(asked.config.name)
    count_cpu_time()
    try_no_second_time()
    for dataset in asked.datasets or config["datasets"]:
        begin = cpu_seconds()
        some = {"datasets": {dataset: config["datasets"][dataset]}, "output": str(folder.relative_to(ROOT))}
        some["selectors"] = selectors_of(dataset, config["selectors"], asked.selectors)
        plan = make_plan({**config, **some}, (ROOT / "scripts").joinpath)
        raw = read_source(dataset, plan.config.datasets[dataset], plan.config.seed)
        run = in_process.run_plan(plan, {dataset: raw}, folder, 1, progress=False)
        (folder / "tables" / dataset).mkdir(parents=True, exist_ok=True)
        for name, table in (run.tables | further_tables(plan, folder, run.tables)).items():
            table.to_parquet(folder / "tables" / dataset / f"{name}.parquet", index=False)
        print(f"{dataset}: {cpu_seconds() - begin:.0f} CPU s", *plan.skipped, flush=True)


if __name__ == "__main__":
    main()
