"""Running Snakemake as a child that ends before its parent does, whatever signal comes."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

#: Seconds between two looks at the child.
_TICK = 0.2


class Ended(NamedTuple):
    """How a command ended: its exit code, 128 + n if signal n ended it; and whether it was told to stop."""

    code: int
    stopped: bool


def safe_environment() -> dict[str, str]:
    """Return the environment in which Python imports nothing from the folder where it is started.

    ``python -m``, by which Snakemake starts each job, looks there first: a numpy.py beside the data would be run.
    """
    return os.environ | {"PYTHONSAFEPATH": "1"}


def run_to_end(command: Sequence[str], tick: Callable[[], object] | None = None, **how: Any) -> Ended:
    """Run a command to its end.

    The child is in this process group, so a terminal's Ctrl-C reaches it by itself: Snakemake then ends its jobs and
    releases its lock, which this process waits for. SIGTERM is passed on.

    Parameters
    ----------
    command : sequence of str
    tick : function, optional
        Called several times a second, and once at the end.
    **how
        For `subprocess.Popen`.
    """
    process = subprocess.Popen(command, **how)
    with _signals_for(process) as seen:
        while tick is not None and process.poll() is None:
            tick()
            try:
                process.wait(_TICK)
            except subprocess.TimeoutExpired:
                continue
        code = process.wait()
    if tick is not None:
        tick()
    return Ended(code if code >= 0 else 128 - code, bool(seen))


@contextmanager
def _signals_for(process: subprocess.Popen) -> Iterator[list[int]]:
    """Keep this process while the child ends; yield the list of signals that came."""
    seen: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
        yield seen
        return

    def handle(number: int, _: object) -> None:
        seen.append(number)
        if number == signal.SIGTERM:
            process.terminate()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
