"""Shared parts of all jobs: arguments, log, and failures that become a status so that the run continues."""

from __future__ import annotations

import contextlib
import gc
import inspect
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from errno import ENOMEM
from pathlib import Path
from typing import Any, NoReturn

from ..core.errors import ArtefactError, BlanketflowError, StorageError
from ..core.folders import OF_THE_DISK, not_written
from ..core.isolation import reason_of
from ..core.limits import LimitReached
from ..core.printable import printable
from ..data.beyond_memory import limited_memory
from ..data.provenance import STATUSES, Provenance

logger = logging.getLogger("blanketflow")


class EarlierFailure(Exception):
    """An input of this stage has no result; its status and reason are passed on."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@contextlib.contextmanager
def recorded(provenance: Provenance) -> Iterator[None]:
    """Time a stage and record a failure of the method as status and reason, so that the run continues."""
    begin = time.perf_counter()
    try:
        yield
    except EarlierFailure as error:
        provenance.status, provenance.reason = error.status, str(error)
    except LimitReached as limit:
        provenance.status, provenance.reason = "timeout", str(limit)
    except (ArtefactError, StorageError):
        raise  # no failure of the method: what it was given is damaged
    except Exception as error:
        if is_of_memory(error):
            raise  # more of it, and the same stage succeeds: what comes of it is no result of the method
        if isinstance(error, OSError) and error.errno in OF_THE_DISK:
            raise
        logger.exception("the stage failed")
        provenance.status, provenance.reason = "error", reason_of(error)
    finally:
        provenance.seconds = time.perf_counter() - begin


def is_of_memory(error: BaseException | None) -> bool:
    """Whether an error, or one of its causes, is lack of memory.

    >>> is_of_memory(MemoryError()), is_of_memory(RuntimeError("std::bad_alloc")), is_of_memory(ValueError("x"))
    (True, True, False)
    """
    while error is not None:
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == ENOMEM or "bad_alloc" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def require(provenance: Provenance) -> None:
    """Raise `EarlierFailure` unless an input is a result."""
    if not provenance.usable:
        raise EarlierFailure(provenance.status, provenance.reason)


def passed_on(provenance: Provenance, earlier: Sequence[Provenance]) -> None:
    """Adopt the most serious status of some inputs; raise `EarlierFailure` if one of them is no result."""
    for one in earlier:
        require(one)
    worst = max(earlier, key=lambda one: STATUSES.index(one.status))
    provenance.status, provenance.reason = worst.status, worst.reason
    if worst.status == "timeout":
        provenance.extra["anytime"] = True


def run_script(main: Callable[..., None], job: Any) -> None:
    """Call a script's `main` with Snakemake's inputs, outputs, params and wildcards by name.

    All output goes to the job's log. Ctrl-C ends the process at once: a library might catch it and return partial work.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it is not ignored, as it is after nohup
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    log = _opened_log(job.log[0])
    logging.basicConfig(stream=log, level=logging.INFO, format="%(levelname)s %(message)s")
    sys.stdout = sys.stderr = log
    known: dict[str, Any] = {}
    for group, as_path in ((job.input, True), (job.output, True), (job.params, False), (job.wildcards, False)):
        for name, value in group.items():
            known[name] = _as_path(value) if as_path else value
    known["threads"] = job.threads
    limit_threads(job.threads)
    resources = getattr(job, "resources", {})
    wanted = inspect.signature(main).parameters
    try:
        if resources.get("forced"):  # what stands is to be made again, which Snakemake kept for this job
            for path in job.output:
                Path(path).unlink(missing_ok=True)
        with fewer_collections(), limited_memory(resources.get("max_memory")):
            main(**{name: known[name] for name in wanted if name in known})
        gc.freeze()  # the process ends: looking through all that was loaded would cost a quarter of its start
    except BlanketflowError as error:
        # Errors of the user need no traceback.
        _end_job(str(error))
    except Exception as error:
        if is_of_memory(error):
            logger.exception("memory ran out")
            first = printable(str(error).partition("\n")[0])
            _end_job(
                f"memory ran out{f' ({first})' if first else ''}. Give the job more (mem_mb: blanketflow explain "
                "docs/cluster.md), or run fewer jobs at a time (--cores); the same command goes on from where it was."
            )
        if not isinstance(error, OSError):
            raise
        logger.exception("the job failed")  # such as a full disk, on which the log cannot say it
        if error.errno in OF_THE_DISK:
            _end_job(str(not_written(error.filename or "a file", error)))
        _end_job(printable(f"{type(error).__name__}: {error}"))


def say(line: str, level: int = logging.WARNING) -> None:
    """Print one line to the job's log and to the output of Snakemake."""
    logger.log(level, line)
    print(f"blanketflow: {line}", file=sys.__stderr__)


def _end_job(why: str) -> NoReturn:
    """Print in one line why a job fails, and end it."""
    say(why, logging.ERROR)
    sys.exit(1)


def _opened_log(path: str) -> Any:
    """Return the job's log, open for writing; if that fails, log messages go to Snakemake's output."""
    try:
        return open(path, "a", encoding="utf-8", errors="backslashreplace", buffering=1)
    except OSError as error:
        print(f"blanketflow: {not_written(path, error)}", file=sys.__stderr__)
        return sys.__stderr__


def limit_threads(threads: int) -> None:
    """Limit numba to the job's threads; for BLAS, OpenMP and MKL Snakemake sets environment variables.

    A numba that is already loaded has read its variable and would refuse to compile with another value.
    """
    if "numba" in sys.modules:
        import numba

        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    else:
        os.environ["NUMBA_NUM_THREADS"] = str(threads)


@contextlib.contextmanager
def fewer_collections() -> Iterator[None]:
    """Collect garbage less often: objects of imports persist, and checking them takes a tenth of the import time."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _as_path(value: Any) -> Any:
    return Path(value) if isinstance(value, str) else [Path(v) for v in value]
