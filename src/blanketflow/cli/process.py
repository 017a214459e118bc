"""Runs Snakemake as a child process that ends before its parent, whatever signal arrives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

#: Seconds between two checks of the child.
_TICK = 0.2


class Ended(NamedTuple):
    """How a command ended: the exit code (128 + n after signal n), and the signal that stopped it, 0 for none."""

    code: int
    stopped: int


def safe_environment() -> dict[str, str]:
    """Return an environment in which Python does not import from the current folder.

    Snakemake starts each job by ``python -m``, which searches that folder first: a numpy.py in it would run.
    """
    return os.environ | {"PYTHONSAFEPATH": "1"}


def run_to_end(command: Sequence[str], tick: Callable[[], object] | None = None, **how: Any) -> Ended:
    """Run a command with arguments of `subprocess.Popen` and wait until it ends; call `tick` several times per second.

    The child is in this process group, so Ctrl-C in a terminal reaches it directly: Snakemake then ends its jobs and
    releases its lock, while this process waits. Other signals are passed on, and so is SIGINT where no terminal sends
    it (as `docker run` does). The exit code reports a signal whatever the child made of it, unless the child had
    already finished with success.
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
    """Keep this process alive until the child has ended; yield the list of signals that arrived."""
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
