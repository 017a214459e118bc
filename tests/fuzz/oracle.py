"""What every reader owes to any input: an object or one readable line, in bounded time and memory."""

import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from blanketflow.core.errors import BlanketflowError

#: What one input of some kilobytes may cost: seconds of CPU (not of the clock: machines are busy), and memory.
CPU_SECONDS = 20
MEMORY_BYTES = 2**31


class Hang(BaseException):
    """An input took more CPU than any small input should; no `except Exception` on the way may stop it."""


def refused_or(read: Callable[[], object], *names: str) -> object | None:
    """Return what `read` returns, or None if it refused the input by printable lines that hold all `names`."""
    try:
        return read()
    except BlanketflowError as error:
        message = str(error)
        lines = error.lines
        assert lines and all(line.isprintable() and line.strip() for line in lines), f"not printable lines: {lines!r}"
        assert all(name in message for name in names), f"does not name {names}: {message}"
        return None


@contextmanager
def bounded(cpu_seconds: float = CPU_SECONDS, memory_bytes: int = MEMORY_BYTES) -> Iterator[None]:
    """Raise `Hang` or `MemoryError` within, if more CPU or memory than this is used."""

    def stop(*_: object) -> None:
        raise Hang(f"more than {cpu_seconds} s of CPU")

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGVTALRM, stop)
    resource.setrlimit(resource.RLIMIT_AS, (used + memory_bytes, hard))
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGVTALRM, before)
