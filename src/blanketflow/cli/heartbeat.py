"""A line every half a minute, for those who see no display: that a command is at work, and how far it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread

from ..core.progress_lines import SILENT, STAGES, Teller
from .terminal import clock, is_terminal, note

#: Seconds between two lines.
EVERY = 30.0


@contextmanager
def heartbeat(what: str) -> Iterator[Teller]:
    """Say every 30 seconds on stderr that `what` is at work, with the last that it told, unless that is a terminal."""
    if is_terminal(sys.stderr):
        yield SILENT
        return
    told, begin, is_over = _Last(STAGES), time.monotonic(), Event()

    def say() -> None:
        while not is_over.wait(EVERY):
            note(f"[{clock(time.monotonic() - begin)}] {what}: {told.last[-1]}")

    thread = Thread(target=say, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        is_over.set()
        thread.join()


@dataclass(frozen=True)
class _Last(Teller):
    """Remembers the last line that it is told."""

    last: list[str] = field(default_factory=lambda: ["at work"])

    def __call__(self, line: str, level: int = STAGES) -> None:
        """Take a line."""
        if self.says(level):
            self.last[:] = [line]
