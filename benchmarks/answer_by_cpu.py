"""Run config/answer.yaml on a busy machine: `python benchmarks/answer_by_cpu.py [DATA SET ...] [--selectors NAME ...]`.

One process does all, one data set after the other. Seconds and time limits count CPU time, of this process and of those
that it starts. What stands in results/answer-by-cpu is not made again, and `python benchmarks/answer.py` takes it up.
"""

from __future__ import annotations

import argparse
import time
from types import SimpleNamespace

import psutil
import yaml
from answer import CONFIG, ROOT, RUN_BY_CPU

from blanketflow.core import isolation, limits
from blanketflow.data.sources import read_source
from blanketflow.workflow import jobs
from blanketflow.workflow.in_process import run_plan
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


def main() -> None:
    """Run selectors on data sets, one after the other."""
    config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", metavar="DATA SET", default=list(config["datasets"]))
    parser.add_argument("--selectors", nargs="+", metavar="NAME", default=list(config["selectors"]))
    asked = parser.parse_args()
    count_cpu_time()
    for dataset in asked.datasets:
        begin = cpu_seconds()
        some = {"datasets": {dataset: config["datasets"][dataset]}, "output": str(RUN_BY_CPU.relative_to(ROOT))}
        some |= {"selectors": {name: config["selectors"][name] for name in asked.selectors}}
        plan = make_plan({**config, **some}, (ROOT / "scripts").joinpath)
        raw = read_source(dataset, plan.config.datasets[dataset], plan.config.seed)
        run_plan(plan, {dataset: raw}, RUN_BY_CPU, 1, progress=False)
        print(f"{dataset}: {cpu_seconds() - begin:.0f} CPU s", *plan.skipped, flush=True)


if __name__ == "__main__":
    main()
