"""Snakemake as a child whose events and output are followed: for a progress display, and for a look at the plan."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .process import Ended, run_to_end, safe_environment
from .progress import Progress
from .terminal import complain

#: Folder of the logger plug-in, which is added to Snakemake's import path.
PLUG_INS = Path(__file__).parent / "events"
#: Prefix of our jobs' own messages among Snakemake's output.
OURS = "blanketflow: "
_Files = tuple[Any, Any]


class Followed:
    """One run of Snakemake: what it wrote so far, and the state of the run that its events tell."""

    def __init__(self, command: Sequence[str], outputs: tuple[Path, Path], written: _Files, read: _Files) -> None:
        self.output, self.errors = outputs
        self._command, self._written, self._read = command, written, read
        self._rests, self._progress = ["", ""], Progress()

    def run(self, tick: Callable[[], object] | None = None, hold: Sequence[int] = ()) -> Ended:
        """Run it to its end and call `tick` several times per second; it inherits the file descriptors `hold`."""
        environment = safe_environment()
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PLUG_INS), environment.get("PYTHONPATH")]))
        out, err = self._written
        return run_to_end(self._command, tick, env=environment, stdout=out, stderr=err, pass_fds=hold)

    def progress(self) -> Progress:
        """Return the state of the run, after the events and messages of our jobs that were written since."""
        events, told = (self._whole_lines(at) for at in range(2))
        for line in events:
            self._progress.see(json.loads(line))
        self._progress.notes += [line.removeprefix(OURS) for line in told if line.startswith(OURS)]
        return self._progress

    def show_output(self) -> None:
        """Print why the run does not begin, or else what Snakemake printed, where it would have."""
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
def followed(snakemake: Sequence[str], arguments: Sequence[str]) -> Iterator[Followed]:
    """Yield a run that has not begun; its files are removed at the end."""
    with tempfile.TemporaryDirectory(prefix="blanketflow-") as folder:
        events, output, errors = (Path(folder) / name for name in ("events", "output", "errors"))
        events.touch()
        command = [*snakemake, "--logger", "blanketflow", "--logger-blanketflow-path", str(events), *arguments]
        # Files instead of pipes: if this process dies, Snakemake is not disturbed.
        with (
            open(output, "wb") as out,
            open(errors, "wb") as err,
            open(events, encoding="utf-8") as lines,
            open(errors, encoding="utf-8", errors="replace") as told,
        ):
            yield Followed(command, (output, errors), (out, err), (lines, told))
