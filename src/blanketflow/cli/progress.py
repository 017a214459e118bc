"""The progress of a run: turns Snakemake's events into stages, failures and the time left. Prints nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

#: Stages under the names that users know, each with its rules; all other rules belong to the last stage.
STAGES = {
    "data": ("table", "splits", "gather_splits"),
    "CI tests": ("agree", "count_shard", "merge_shards", "ci_test", "several_tests", "ci_test_chunk", "gather_ci_test"),
    "selection": ("grow", "shrink", "grow_shrink", "aggregate", "several_selectors"),
    "evaluation": (
        "confirm",
        "evaluate",
        "evaluate_optimistic",
        "several_evaluations",
        "several_evaluations_optimistic",
    ),
    "tables and report": (),
}
#: The suffix that the plan's grain adds to the name of a rule.
_GRAIN = re.compile(r"(_dataset)?(_\d+)?$")
#: Entries that are not jobs of ours: the rule that only requests files, and the sum.
_NO_WORK = ("all", "total")


@dataclass
class Job:
    """A job that Snakemake has announced."""

    rule: str
    wildcards: Mapping[str, str]
    log: Sequence[str]
    started: float = 0.0
    is_done: bool = False
    output: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The rule and its ids, separated by spaces."""
        return " ".join([rule_name(self.rule), *self.wildcards.values()])


@dataclass
class Progress:
    """The state of a run.

    `total` counts the jobs of each rule. `jobs` are those that have started, by Snakemake's number, and `failed` has
    the message of each that failed and has not succeeded since. `errors` and `notes` concern the run as a whole, and
    `refusals` say why it does not begin. `parallel` jobs may run at the same time.
    """

    total: dict[str, int] = field(default_factory=dict)
    jobs: dict[int, Job] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    parallel: int = 1
    _seconds: dict[str, list[float]] = field(default_factory=dict)

    def see(self, event: Mapping[str, Any]) -> None:
        """Update the state by one event of Snakemake."""
        kind, number = event["event"], event.get("jobid", event.get("job_id"))
        if kind == "run_info":
            self.total = {rule: n for rule, n in event["stats"].items() if rule not in _NO_WORK}
        elif kind == "resources_info":
            self.parallel = event.get("cores") or event.get("nodes") or self.parallel
        elif kind == "job_info":
            job = Job(event["rule_name"], event.get("wildcards", {}), event.get("log", ()), event["time"])
            self.jobs[number] = replace(job, output=event.get("output", ()))
        elif kind == "job_finished" and number in self.jobs:
            job = self.jobs[number]
            job.is_done = True
            self.failed.pop(number, None)
            self._seconds.setdefault(job.rule, []).append(event["time"] - job.started)
        elif kind == "job_error":
            self.jobs.setdefault(number, Job(event["rule_name"], {}, event.get("log", ())))
            self.failed[number] = event["message"]
        elif kind == "note":
            self.notes.append(event["message"])
        elif kind == "refusal":
            self.refusals.append(event["message"])
        elif kind == "error":
            self.errors.append(event["message"])

    @property
    def running(self) -> list[Job]:
        """The jobs that have started and have not ended."""
        return [job for n, job in self.jobs.items() if not job.is_done and n not in self.failed and self._works(job)]

    def stages(self) -> list[tuple[str, int, int]]:
        """Return (stage, number of jobs done, number of jobs) for each stage that has jobs."""
        done, total = dict.fromkeys(STAGES, 0), dict.fromkeys(STAGES, 0)
        for rule, n in self.total.items():
            total[stage_of(rule)] += n
        for job in self.jobs.values():
            if job.is_done and self._works(job):
                done[stage_of(job.rule)] += 1
        return [(stage, done[stage], total[stage]) for stage in STAGES if total[stage]]

    def seconds_left(self, now: float) -> float | None:
        """Estimate the seconds left from the durations so far; None before any job has ended.

        A rule of which no job has ended is given the mean duration of all jobs.
        """
        seen = [seconds for rule in self._seconds.values() for seconds in rule]
        if not seen:
            return None
        usual = sum(seen) / len(seen)
        means = {rule: sum(seconds) / len(seconds) for rule, seconds in self._seconds.items()}
        left = sum(
            max(n - len(self._seconds.get(rule, ())), 0) * means.get(rule, usual) for rule, n in self.total.items()
        )
        left -= sum(min(now - job.started, means.get(job.rule, usual)) for job in self.running)
        return max(left, 0.0) / max(self.parallel, 1)

    def _works(self, job: Job) -> bool:
        return job.rule not in _NO_WORK


def rule_name(rule: str) -> str:
    """Return a rule's name without the suffix of the plan's grain.

    Examples
    --------
    >>> rule_name("grow_shrink_dataset_5"), rule_name("ci_test_5"), rule_name("table")
    ('grow_shrink', 'ci_test', 'table')
    """
    return _GRAIN.sub("", rule)


def stage_of(rule: str) -> str:
    """Return the stage that a rule belongs to.

    Examples
    --------
    >>> stage_of("grow_shrink_5"), stage_of("report")
    ('selection', 'tables and report')
    """
    return next((stage for stage, rules in STAGES.items() if rule_name(rule) in rules), list(STAGES)[-1])
