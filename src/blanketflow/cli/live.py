"""A run of Snakemake with a progress display instead of Snakemake's own output."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.printable import printable
from .process import Ended, run_to_end, safe_environment
from .progress import Progress
from .terminal import complain, console, show

if TYPE_CHECKING:
    from rich.table import Table

#: Folder of the logger plug-in, which is added to Snakemake's import path.
PLUG_INS = Path(__file__).parent / "events"
#: Prefix of our jobs' own messages among Snakemake's output.
_OURS = "blanketflow: "
#: How many running jobs are named.
_NAMED = 3


def run_watched(snakemake: Sequence[str], arguments: Sequence[str], hold: Sequence[int] = ()) -> Ended:
    """Run Snakemake, show its progress, and report what failed and why; it inherits the file descriptors `hold`."""
    from rich.live import Live

    environment = safe_environment()
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PLUG_INS), environment.get("PYTHONPATH")]))
    progress, begin = Progress(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="blanketflow-") as folder:
        events, output, errors = (Path(folder) / name for name in ("events", "output", "errors"))
        events.touch()
        # A file instead of a pipe: if this process dies, Snakemake is not disturbed.
        command = [*snakemake, "--logger", "blanketflow", "--logger-blanketflow-path", str(events), *arguments]
        with (
            open(output, "wb") as out,
            open(errors, "wb") as err,
            open(events, encoding="utf-8") as lines,
            open(errors, encoding="utf-8", errors="replace") as told,
        ):
            follow = _Follow(lines, told, progress)
            with Live(console=console(sys.stderr), refresh_per_second=8, transient=True) as live:
                ended = run_to_end(
                    command,
                    lambda: live.update(_drawn(follow(), begin)),
                    env=environment,
                    stdout=out,
                    stderr=err,
                    pass_fds=hold,
                )
                live.update(_drawn(follow(), begin), refresh=True)  # events since the last refresh
        if not progress.total:  # it ran no jobs; its output is the answer
            for path, stream in ((output, sys.stdout), (errors, sys.stderr)):
                with open(path, encoding="utf-8", errors="replace") as text:
                    shutil.copyfileobj(text, stream)
            return ended
        said = [line for line in errors.read_text("utf-8", "replace").splitlines() if line.startswith(_OURS)]
    if not (ended.stopped and ended.code):
        _tell(progress, ended.code, time.monotonic() - begin, [line.removeprefix(_OURS) for line in said])
    return ended


class _Follow:
    """Reads the events, and the messages of our jobs, written since the last call."""

    def __init__(self, events: Any, told: Any, progress: Progress) -> None:
        self._files, self._rests, self._progress = (events, told), ["", ""], progress

    def __call__(self) -> Progress:
        events, told = (self._whole_lines(at) for at in range(2))
        for line in events:
            self._progress.see(json.loads(line))
        self._progress.notes += [line.removeprefix(_OURS) for line in told if line.startswith(_OURS)]
        return self._progress

    def _whole_lines(self, at: int) -> list[str]:
        *whole, self._rests[at] = (self._rests[at] + self._files[at].read()).split("\n")
        return whole


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
    told = f"{_clock(now - begin)} so far" + (f", about {_clock(left)} left" if left is not None else "")
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
        show(f"{done} jobs done in {_clock(seconds)}.")


def _reason(log: str, said: Sequence[str]) -> str:
    """Return the last error in a job's log, else its last line, else the last message in `said`."""
    lines = [line.strip() for line in Path(log).read_text(encoding="utf-8", errors="replace").splitlines()]
    lines = [line for line in lines if line]
    errors = [line.removeprefix("ERROR ") for line in lines if line.startswith("ERROR ")]
    return (errors or lines or said or ["its log is empty"])[-1]


def _clock(seconds: float) -> str:
    """Return seconds as hours, minutes and seconds.

    Examples
    --------
    >>> _clock(75), _clock(3700)
    ('1:15', '1:01:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
