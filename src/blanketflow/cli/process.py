"""Running Snakemake as a child that ends before its parent does, whatever signal comes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

#: Seconds between two looks at the child.
_TICK = 0.2


class Ended(NamedTuple):
    """How a command ended: its exit code, 128 + n if signal n ended it or us; and the signal that told it to stop."""

    code: int
    stopped: int


def safe_environment() -> dict[str, str]:
    """Return the environment in which Python imports nothing from the folder where it is started.

    ``python -m``, by which Snakemake starts each job, looks there first: a numpy.py beside the data would be run.
    """
    return os.environ | {"PYTHONSAFEPATH": "1"}


def run_to_end(command: Sequence[str], tick: Callable[[], object] | None = None, **how: Any) -> Ended:
    """Run a command to its end.

    The child is in this process group, so a terminal's Ctrl-C reaches it by itself: Snakemake then ends its jobs and
    releases its lock, which this process waits for. Other signals are passed on, and Ctrl-C too where no terminal
    sends it, as `docker run` does. Whatever the child makes of a signal, the exit code tells of it, unless the child
    had already done its work.

    Parameters
    ----------
    command : sequence of str
    tick : function, optional
        Called several times a second, and once at the end.
    **how
        For `subprocess.Popen`.
    """
    with _signals() as seen:
        process = subprocess.Popen(command, **how)
        # What came before there was a child has not reached it.
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
    """Keep this process while a child ends; yield the list of signals that came."""
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
