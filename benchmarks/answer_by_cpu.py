"""Run config/answer.yaml on a busy machine: `python benchmarks/answer_by_cpu.py [DATA SET ...] [--selectors NAME ...]`.

One process does all, one data set after the other. Seconds and time limits count CPU time, of this process and of those
that it starts. A selector that reached its limit without an answer on one split of a data set is not tried on the
others. What stands in results/answer-by-cpu is not made again, and `python benchmarks/answer.py` takes it up.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import psutil
import yaml
from answer import CONFIG, ROOT, RUN_BY_CPU

from blanketflow.core import isolation, limits
from blanketflow.core.limits import LimitReached
from blanketflow.data.sources import read_source
from blanketflow.selectors import apart
from blanketflow.workflow import in_process, jobs
from blanketflow.workflow.plan import make_plan


def cpu_seconds() -> float:
    """Return the CPU seconds of this process, of those that it started, and of theirs, ended or not."""
    spent, me = 0.0, psutil.Process()
    for process in (me, *me.children(recursive=True)):
        try:
            spent += sum(process.cpu_times()[:4])  # user, system, and those of ended children
        except psutil.Error:  # it ended since
            continue
    return spent


def count_cpu_time() -> None:
    """Let the limits of searches, the ending of their processes and the seconds of stages count CPU time."""
    clock = SimpleNamespace(monotonic=cpu_seconds, perf_counter=cpu_seconds, sleep=time.sleep)
    for module in (limits, isolation, jobs):
        vars(module)["time"] = clock
    vars(isolation)["_PAUSE"] = 1.0  # looking at all processes takes CPU time itself


def try_no_second_time() -> None:
    """Let one split without an answer within the limit stand for all splits of that selector and data set."""
    select, in_child, now, ended = in_process._select, apart.in_child, [("", "")], set()

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

    in_process._select, apart.in_child = selected, tried_once
    isolation.ends_after = lambda seconds: seconds + isolation.GRACE


def main() -> None:
    """Run selectors on data sets, one after the other."""
    config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", metavar="DATA SET", default=list(config["datasets"]))
    parser.add_argument("--selectors", nargs="+", metavar="NAME", default=list(config["selectors"]))
    asked = parser.parse_args()
    count_cpu_time()
    try_no_second_time()
    for dataset in asked.datasets:
        begin = cpu_seconds()
        some = {"datasets": {dataset: config["datasets"][dataset]}, "output": str(RUN_BY_CPU.relative_to(ROOT))}
        some |= {"selectors": {name: config["selectors"][name] for name in asked.selectors}}
        plan = make_plan({**config, **some}, (ROOT / "scripts").joinpath)
        raw = read_source(dataset, plan.config.datasets[dataset], plan.config.seed)
        in_process.run_plan(plan, {dataset: raw}, RUN_BY_CPU, 1, progress=False)
        print(f"{dataset}: {cpu_seconds() - begin:.0f} CPU s", *plan.skipped, flush=True)


if __name__ == "__main__":
    main()
