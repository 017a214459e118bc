"""The progress of a run: events of Snakemake as stages, failures and time left, and their display."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.printable import printable
from .snakemake_arguments import SnakemakeArguments
from .terminal import EVERY, clock, complain, console, is_terminal, note, show

if TYPE_CHECKING:
    from rich.table import Table

# --- the state of a run, without output -------------------------------------------------------------------------------

#: Displayed stages with their rules; other rules belong to the last stage.
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
#: Suffix of a rule name for the plan's grain.
_GRAIN = re.compile(r"(_dataset)?(_\d+)?$")
#: Entries that are no jobs: the rule that only requests files, and the sum.
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

    `total` counts the jobs of each rule, `jobs` are the started ones by Snakemake's number, and `failed` has the
    message of each job whose last attempt failed. `errors` and `notes` concern the whole run, `refusals` say why it
    does not start, and `parallel` is the largest number of concurrent jobs.
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
        """Estimate the seconds left from the durations so far; None until a job has ended.

        A rule without an ended job is given the mean duration of all jobs.
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

    >>> rule_name("grow_shrink_dataset_5"), rule_name("ci_test_5"), rule_name("table")
    ('grow_shrink', 'ci_test', 'table')
    """
    return _GRAIN.sub("", rule)


def stage_of(rule: str) -> str:
    """Return the stage that a rule belongs to.

    >>> stage_of("grow_shrink_5"), stage_of("report")
    ('selection', 'tables and report')
    """
    return next((stage for stage, rules in STAGES.items() if rule_name(rule) in rules), list(STAGES)[-1])


# --- Snakemake as a child whose events and output are followed: for a progress display, and for a look at the plan ----

#: Folder of the logger plug-in, for Snakemake's import path.
PLUG_INS = Path(__file__).parent / "events"
#: Prefix of our jobs' own messages among Snakemake's output.
OURS = "blanketflow: "
_Files = tuple[Any, Any]


class Followed:
    """A run of Snakemake with its output so far and the state derived from its events."""

    def __init__(self, command: Sequence[str], outputs: tuple[Path, Path], written: _Files, read: _Files) -> None:
        self.output, self.errors = outputs
        self._command, self._written, self._read = command, written, read
        self._rests, self._progress = ["", ""], Progress()

    def run(self, tick: Callable[[], object] | None = None, hold: Sequence[int] = ()) -> Ended:
        """Run it and call `tick` several times per second; the child inherits the file descriptors `hold`."""
        environment = safe_environment()
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PLUG_INS), environment.get("PYTHONPATH")]))
        out, err = self._written
        return run_to_end(self._command, tick, env=environment, stdout=out, stderr=err, pass_fds=hold)

    def progress(self) -> Progress:
        """Return the state of the run, including the events and job messages since the last call."""
        events, told = (self._whole_lines(at) for at in range(2))
        for line in events:
            self._progress.see(json.loads(line))
        self._progress.notes += [line.removeprefix(OURS) for line in told if line.startswith(OURS)]
        return self._progress

    def show_output(self) -> None:
        """Print why the run does not start, or else Snakemake's output."""
        if refusals := self.progress().refusals:
            for line in refusals:
                complain(line)
            return
        for path, stream in ((self.output, sys.stdout), (self.errors, sys.stderr)):
            with open(path, encoding="utf-8", errors="replace") as text:
                shutil.copyfileobj(text, stream)

    def _whole_lines(self, at: int) -> list[str]:
        *whole, self._rests[at] = (self._rests[at] + self._read[at].read()).split("\n")
        return whole


@contextmanager
def followed(arguments: SnakemakeArguments) -> Iterator[Followed]:
    """Yield a run that has not started; its files are removed at the end."""
    with tempfile.TemporaryDirectory(prefix="blanketflow-") as folder:
        events, output, errors = (Path(folder) / name for name in ("events", "output", "errors"))
        events.touch()
        command = arguments.command("--logger", "blanketflow", "--logger-blanketflow-path", str(events))
        # Files instead of pipes, so that Snakemake survives the death of this process.
        with (
            open(output, "wb") as out,
            open(errors, "wb") as err,
            open(events, encoding="utf-8") as lines,
            open(errors, encoding="utf-8", errors="replace") as told,
        ):
            yield Followed(command, (output, errors), (out, err), (lines, told))


# --- a run of Snakemake with its progress instead of Snakemake's own output: a display, or a line per stage -----------

#: Largest number of named running jobs.
_NAMED = 3


def run_watched(arguments: SnakemakeArguments, hold: Sequence[int] = ()) -> Ended:
    """Run Snakemake, show its progress, and report failures; it inherits the file descriptors `hold`.

    A terminal has a live display; elsewhere each finished stage has a line.
    """
    begin = time.monotonic()
    with followed(arguments) as run:
        if is_terminal() and is_terminal(sys.stderr):
            ended = _drawn_anew(run, hold, begin)
        else:
            lines = _Lines(begin)
            ended = run.run(lambda: lines.see(run.progress()), hold)
            lines.see(run.progress())  # events since the last look
        progress = run.progress()
        if progress.refusals or not progress.total:  # it ran no jobs; its output is the answer
            run.show_output()
            return ended
        said = [line for line in run.errors.read_text("utf-8", "replace").splitlines() if line.startswith(OURS)]
    if not (ended.stopped and ended.code):
        _tell(progress, ended.code, time.monotonic() - begin, [line.removeprefix(OURS) for line in said])
    return ended


def _drawn_anew(run: Followed, hold: Sequence[int], begin: float) -> Ended:
    from rich.live import Live

    with Live(console=console(sys.stderr), refresh_per_second=8, transient=True) as live:
        ended = run.run(lambda: live.update(_drawn(run.progress(), begin)), hold)
        live.update(_drawn(run.progress(), begin), refresh=True)  # events since the last refresh
    return ended


class _Lines:
    """Prints notes, a line for each finished stage, and one every half a minute."""

    def __init__(self, begin: float) -> None:
        self._begin, self._n_notes, self._last = begin, 0, begin
        self._said: set[str] = set()

    def see(self, progress: Progress) -> None:
        """Print what is new."""
        for line in progress.notes[self._n_notes :]:
            note(line)
        self._n_notes = len(progress.notes)
        stages = progress.stages()
        if stages and not self._said:
            self._said.add("")
            note(
                f"{sum(total for _, _, total in stages):,} jobs: {', '.join(f'{n:,} {name}' for name, _, n in stages)}"
            )
        for stage, done, total in stages:
            if done == total and stage not in self._said:
                self._said.add(stage)
                self._say(f"{stage}: {'1 job' if total == 1 else f'{total:,} jobs'} done")
        if time.monotonic() - self._last >= EVERY:
            at_work = [f"{stage} {done} of {total}" for stage, done, total in stages if done < total]
            self._say(f"jobs done: {', '.join(at_work)}" if at_work else "at work")

    def _say(self, line: str) -> None:
        self._last = time.monotonic()
        note(f"[{clock(self._last - self._begin)}] {line}")


def _drawn(progress: Progress, begin: float) -> Table:
    """Return the display: a bar per stage, one for all jobs, the time left and the running jobs."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    drawn = Table.grid(padding=(0, 1))
    if not progress.total:
        drawn.add_row(Text("Snakemake is planning the run ..."))
        return drawn
    stages = progress.stages()
    for stage, done, total in stages:
        drawn.add_row(Text(stage), ProgressBar(total=total, completed=done, width=30), Text(f"{done}/{total}"))
    done, total = (sum(stage[i] for stage in stages) for i in (1, 2))
    now = time.monotonic()
    left = progress.seconds_left(now)
    told = f"{clock(now - begin)} so far" + (f", about {clock(left)} left" if left is not None else "")
    bar = ProgressBar(total=total, completed=done, width=30)
    drawn.add_row(Text("all jobs", style="bold"), bar, Text(f"{done}/{total}  {told}"))
    running = progress.running
    names = [printable(job.name) for job in running[:_NAMED]]
    names += [f"and {len(running) - _NAMED} more"] if len(running) > _NAMED else []
    outer = Table.grid()
    for told in progress.notes:
        outer.add_row(Text(told))
    outer.add_row(drawn)
    outer.add_row(Text("now: " + ", ".join(names), style="dim", no_wrap=True, overflow="ellipsis") if names else "")
    for number in progress.failed:
        outer.add_row(Text(f"failed: {printable(progress.jobs[number].name)}", style="red"))
    return outer


def _tell(progress: Progress, code: int, seconds: float, said: Sequence[str]) -> None:
    """Report on stderr how the run ended: each failed job with the reason and its log.

    If the disk was full, the reason is not in the log but in `said`, the messages printed by jobs.
    """
    for number in progress.failed:
        job = progress.jobs[number]
        log = next((path for path in job.log if Path(path).is_file()), None)
        complain(f"{job.name} failed: {_reason(log, said) if log else [progress.failed[number], *said][-1]}")
        if log:
            complain(f"  its log: {log}")
    if code and not progress.failed:
        for error in progress.errors or ["Snakemake failed without giving a reason. Its log is in .snakemake/log."]:
            complain(error)
    elif code:
        complain("fix the cause and run the same command again: it continues where it stopped.")
    done = sum(stage[1] for stage in progress.stages())
    if not code:
        show(f"{done} jobs done in {clock(seconds)}.")


def _reason(log: str, said: Sequence[str]) -> str:
    """Return the last error in a job's log, else its last line, else the last message in `said`."""
    lines = [line.strip() for line in Path(log).read_text(encoding="utf-8", errors="replace").splitlines()]
    lines = [line for line in lines if line]
    errors = [line.removeprefix("ERROR ") for line in lines if line.startswith("ERROR ")]
    return (errors or lines or said or ["its log is empty"])[-1]


# --- Snakemake as a child process, which ends before this one whatever the signal -------------------------------------

#: Seconds between two checks of the child.
_TICK = 0.2


class Ended(NamedTuple):
    """How a command ended: exit code (128 + n after signal n), and the signal that stopped it, or 0."""

    code: int
    stopped: int


def safe_environment() -> dict[str, str]:
    """Return an environment in which Python does not import from the current folder.

    Snakemake starts jobs by ``python -m``, which searches that folder first: a numpy.py in it would be executed.
    """
    return os.environ | {"PYTHONSAFEPATH": "1"}


def run_to_end(command: Sequence[str], tick: Callable[[], object] | None = None, **how: Any) -> Ended:
    """Run a command with arguments of `subprocess.Popen` until it ends; call `tick` several times per second.

    The child shares the process group and receives Ctrl-C in a terminal directly, so that Snakemake ends its jobs and
    releases its lock. Other signals, and SIGINT without a terminal (`docker run`), are forwarded. The exit code is that
    of the signal unless the child succeeded.
    """
    with _signals() as seen:
        process = subprocess.Popen(command, **how)
        # A signal that arrived before the child was started has not reached it.
        passed, is_told = 0, not seen and sys.stdin is not None and os.isatty(0)
        while process.poll() is None:
            for number in seen[passed:]:
                if not (is_told and number == signal.SIGINT):
                    process.send_signal(number)
                passed += 1
            if tick is not None:
                tick()
            try:
                process.wait(_TICK)
            except subprocess.TimeoutExpired:
                continue
        code = process.returncode
    if tick is not None:
        tick()
    if seen and code:
        return Ended(128 + seen[0], seen[0])
    return Ended(code if code >= 0 else 128 - code, seen[0] if seen else 0)


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Keep this process alive until the child has ended; yield the list of received signals."""
    seen: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
        yield seen
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    before = {number: handler for number, handler in before.items() if handler is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, lambda number, _: seen.append(number))
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
