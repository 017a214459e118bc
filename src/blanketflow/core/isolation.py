"""Runs work in a child process, so that foreign code that crashes, hangs or exits does not end the caller.

The child is a fork, so no input is sent; output is plain bytes (`to_bytes`). It ends with its parent, however that
ends. Where forking is unsafe (macOS) or impossible (Windows), work runs in the calling process, and only the limit
checked by the search applies. joblib workers (loky) are no alternative: they outlive a killed parent, report
`os._exit` as a timeout and a crash as a lack of memory, and exchange pickles.
"""

from __future__ import annotations

import base64
import ctypes
import faulthandler
import json
import os
import select
import signal
import struct
import sys
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, NoReturn

import numpy as np

from . import errors
from .errors import BlanketflowError, WrongAnswerError
from .limits import LimitReached, in_seconds
from .messages import as_plain, give_again, with_warnings
from .printable import printable

FORKS = hasattr(os, "fork") and sys.platform != "darwin"
#: Minimum seconds between the time limit and the kill.
GRACE = 5.0
#: Seconds between two checks whether a silent process is still alive.
_PAUSE = 0.05
_LENGTH = struct.Struct("<Q")
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux
#: Maximum length of an error message, in characters.
_MOST = 4000


class WorkFailed(BlanketflowError):
    """Work in a child process failed or ended it; the message says how."""


def reason_of(error: Exception) -> str:
    """Return the reason of a failure in one line.

    >>> reason_of(KeyError("a")), reason_of(WorkFailed("it ended"))
    ("KeyError: 'a'", 'it ended')
    """
    plain = isinstance(error, WorkFailed | WrongAnswerError)
    return str(error) if plain else printable(f"{type(error).__name__}: {error}")


def ends_after(time_limit: float) -> float:
    """Return the seconds after which work that ignores its time limit is killed.

    >>> ends_after(1), ends_after(60)
    (6.0, 90.0)
    """
    return time_limit + max(GRACE, time_limit / 2)


def in_child(work: Callable[[], Any], time_limit: float | None = None, n_stages: int = 1) -> Any:
    """Return the result of `work`, run in a child process; the result must be accepted by `to_bytes`.

    Each of `n_stages` stages should stop after `time_limit` seconds; the process is killed after `ends_after`. Raises
    `LimitReached` then, `MemoryError` if memory ran out (or the system killed the process), the work's own
    `BlanketflowError`, else `WorkFailed`; the notes of the error have the traceback.

    >>> in_child(lambda: 2 + 2)
    4
    >>> in_child(lambda: os._exit(3))
    Traceback (most recent call last):
    ...
    blanketflow.core.isolation.WorkFailed: the method ended its process, with exit code 3, before it gave an answer
    """
    if not FORKS:
        return work()
    pid, reading = _start(work)
    try:
        deadline = None if time_limit is None else time.monotonic() + ends_after(n_stages * time_limit)
        said = _read(reading, pid, deadline)
        if said is None and deadline is not None and time.monotonic() > deadline and not _ended(pid):
            raise LimitReached(
                f"the time limit of {in_seconds(time_limit)} (time_limit) was reached, and the method did not stop by "
                "itself: its process was ended. Raise it."
            )
        if said is None:
            raise _why_silent(pid)
        return _answer(said)
    finally:  # also where the parent is interrupted: nothing that was started here goes on
        os.close(reading)
        _end(pid)


def in_children(works: Iterable[Callable[[], Any]], n: int) -> Iterator[Any]:
    """Yield the results of works in order, `n` at a time, in child processes if `n` > 1; raises as `in_child` does.

    >>> list(in_children([lambda: 1 + 1, lambda: 2 + 2], n=2))
    [2, 4]
    """
    if n == 1 or not FORKS:
        for work in works:
            yield work()
        return
    started: deque[tuple[int, int]] = deque()
    rest = iter(works)
    try:
        while True:
            started.extend(map(_start, islice(rest, n - len(started))))
            if not started:
                return
            pid, reading = started[0]
            said = _read(reading, pid, None)
            if said is None:
                raise _why_silent(pid)
            started.popleft()
            os.close(reading)
            _end(pid)
            yield _answer(said)
    finally:
        for pid, reading in started:
            os.close(reading)
            _end(pid)


def _start(work: Callable[[], Any]) -> tuple[int, int]:
    """Start a child process; return it and the pipe of its result."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # whatever streams these are; what they buffer would be written twice
            stream.flush()
    reading, writing = os.pipe()
    parent = os.getpid()
    with warnings.catch_warnings():
        # Python 3.12 warns wherever there are threads, such as the idle ones of linear algebra.
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        os.close(reading)
        _work(work, writing, parent)
    os.close(writing)
    return pid, reading


def _work(work: Callable[[], Any], writing: int, parent: int) -> NoReturn:
    """Do the work, send the result and exit without the parent's exit handlers."""
    code = 1
    try:
        _settle(parent)
        try:
            answer, warned = with_warnings(work)
            said = to_bytes({"answer": answer, "warnings": as_plain(warned)})
        except BaseException as error:  # SystemExit too
            said = to_bytes({"error": _told(error)})
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        _write(writing, _LENGTH.pack(len(said)) + said)
        code = 0
    finally:
        os._exit(code)


def _settle(parent: int) -> None:
    """Make this process a group without input that ends with the parent and prints where the parent does."""
    os.setpgid(0, 0)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before that
        os._exit(1)
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        with suppress(Exception):  # a notebook's streams are not files
            if stream.fileno() != number:  # the log of a job: what C code prints belongs there, too
                os.dup2(stream.fileno(), number)
    with suppress(Exception):
        faulthandler.enable(sys.stderr)  # where a crash came from
    if "threadpoolctl" in sys.modules:  # the parent's OpenMP threads are not here, and GNU's OpenMP would wait for them
        sys.modules["threadpoolctl"].threadpool_limits(1, "openmp")


def _told(error: BaseException) -> dict[str, Any]:
    try:
        message = str(error)[:_MOST]
    except Exception:
        message = "an error whose message cannot be shown"
    kind = type(error)
    if _is_of_memory(error):
        return {"kind": MemoryError.__name__, "message": message}
    if isinstance(error, OSError) and error.errno is not None:  # a full disk is not the method's fault
        return {"kind": OSError.__name__, "message": message.partition("] ")[2], "number": error.errno}
    ours = _PASSED_ON.get(kind.__name__) is kind
    if isinstance(error, SystemExit):
        message = f"the method ended its process by sys.exit({message})"
    elif not ours:
        message = f"{kind.__name__}: {message}" if message else kind.__name__
    lines = "".join(traceback.format_exception(error))[-_MOST:]
    return {"kind": kind.__name__ if ours else WorkFailed.__name__, "message": message, "traceback": lines}


def _is_of_memory(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, MemoryError):
        error = error.__cause__ or error.__context__
    return error is not None


def _write(writing: int, said: bytes) -> None:
    view = memoryview(said)
    while view:
        view = view[os.write(writing, view) :]


def _read(reading: int, pid: int, deadline: float | None) -> bytes | None:
    """Return the whole result; None if the process ended before it, or at the time limit."""
    found, open_end = bytearray(), True
    while True:
        ended = _ended(pid)  # checked first: everything that it wrote before is then there to read
        while open_end and select.select([reading], [], [], 0 if ended else _PAUSE)[0]:
            some = os.read(reading, 1 << 20)
            found += some
            open_end = bool(some)
            if len(found) >= _LENGTH.size and len(found) - _LENGTH.size >= _LENGTH.unpack_from(found)[0]:
                return bytes(found[_LENGTH.size :])
            if deadline is not None and time.monotonic() > deadline:
                return None
        if ended or (deadline is not None and time.monotonic() > deadline):
            return None
        if not open_end:
            time.sleep(_PAUSE / 50)  # it closed its end: it is about to end


def _ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def _why_silent(pid: int) -> BaseException:
    """Return the error for a process that ended without a result."""
    found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    if found.si_code == os.CLD_EXITED:
        return WorkFailed(f"the method ended its process, with exit code {found.si_status}, before it gave an answer")
    if found.si_status == signal.SIGKILL:
        return MemoryError("the process of the method was killed from outside, as the system does when memory runs out")
    with suppress(ValueError):
        return WorkFailed(f"the process of the method was ended by signal {signal.Signals(found.si_status).name}")
    return WorkFailed(f"the process of the method was ended by signal {found.si_status}")


def _answer(said: bytes) -> Any:
    try:
        told = from_bytes(said)
    except ValueError as error:
        raise WorkFailed(f"the process of the method gave an answer that cannot be read ({error})") from error
    if "error" not in told:
        give_again(told["warnings"])
        return told["answer"]
    failed = told["error"]
    if failed["kind"] == MemoryError.__name__:
        raise MemoryError(failed["message"])
    if failed["kind"] == OSError.__name__:
        raise OSError(failed["number"], failed["message"])
    error = _PASSED_ON[failed["kind"]](failed["message"])
    error.add_note(failed["traceback"])
    raise error


def _end(pid: int) -> None:
    """Kill a process and its group. Its id is not reused until it is waited for."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)  # it may not have its group yet
    os.waitpid(pid, 0)


#: Errors that keep their type.
_PASSED_ON: dict[str, type[BlanketflowError]] = {
    kind.__name__: kind
    for kind in (*vars(errors).values(), LimitReached, WorkFailed)
    if isinstance(kind, type) and issubclass(kind, BlanketflowError)
}


_ARRAY = "__array__"


def to_bytes(answer: Any) -> bytes:
    """Return numbers, texts, lists, mappings, None and numeric arrays as bytes; else raises TypeError or ValueError.

    >>> from_bytes(to_bytes({"a": [1, 0.1, None], "b": np.arange(3) > 1}))
    {'a': [1, 0.1, None], 'b': array([False, False,  True])}
    """
    return json.dumps(answer, default=_plain).encode()


def from_bytes(written: bytes) -> Any:
    """Return what `to_bytes` encoded, floats exactly; ValueError for invalid bytes. Does not execute code."""
    return json.loads(written, object_hook=_array)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        cells = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {_ARRAY: [value.dtype.str, list(value.shape), cells]}
    raise TypeError(f"an answer holds {type(value).__name__}, which is neither a number nor a text")


def _array(found: dict[str, Any]) -> Any:
    if found.keys() != {_ARRAY}:
        return found
    dtype, shape, cells = found[_ARRAY]
    return np.frombuffer(base64.b64decode(cells), dtype=np.dtype(dtype)).reshape(shape).copy()
