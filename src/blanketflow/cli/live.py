"""A run of Snakemake with its progress instead of Snakemake's own output: a display, or a line per stage."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.printable import printable
from .followed import OURS, Followed, followed
from .heartbeat import EVERY
from .process import Ended
from .progress import Progress
from .terminal import clock, complain, console, is_terminal, note, show

if TYPE_CHECKING:
    from rich.table import Table

#: How many running jobs are named.
_NAMED = 3


def run_watched(snakemake: Sequence[str], arguments: Sequence[str], hold: Sequence[int] = ()) -> Ended:
    """Run Snakemake, show its progress, and report what failed and why; it inherits the file descriptors `hold`.

    In a terminal the display is drawn anew all the time; elsewhere each stage has a line when it is done.
    """
    begin = time.monotonic()
    with followed(snakemake, arguments) as run:
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
    """Prints notes, a line for each stage when its last job is done, and one every half a minute."""

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
    """Return the display: one bar per stage, one for all jobs, the time left and the running jobs."""
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

    If the disk was full, the reason is not in the log but in `said`, the messages that jobs printed.
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
