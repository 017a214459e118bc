"""What every job shares: its arguments and log, and a failure that becomes a status instead of an end of the run."""

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
    """An input of this stage carries no result; its status and reason are passed on."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@contextlib.contextmanager
def recorded(provenance: Provenance) -> Iterator[None]:
    """Time a stage; a failure of the method becomes the artefact's status and reason, so that the run goes on."""
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
    """Whether an error, or one that led to it, says that memory ran out.

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
    """Take over the most serious status of some inputs; raise `EarlierFailure` if one of them is no result."""
    for one in earlier:
        require(one)
    worst = max(earlier, key=lambda one: STATUSES.index(one.status))
    provenance.status, provenance.reason = worst.status, worst.reason
    if worst.status == "timeout":
        provenance.extra["anytime"] = True


def run_script(main: Callable[..., None], job: Any) -> None:
    """Call a script's `main` with what Snakemake knows: inputs, outputs, params and wildcards, by name.

    Log records, and what libraries print, go to the job's log file. Ctrl-C ends the process at once: as an exception it
    could be caught by a library in the middle of its work, which would then pass for done.
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
        # What a person did wrong needs no traceback.
        _end_job(str(error))
    except Exception as error:
        if is_of_memory(error):
            logger.exception("memory ran out")
            first = printable(str(error).partition("\n")[0])
            _end_job(
                f"memory ran out{f' ({first})' if first else ''}. Give the job more (mem_mb in docs/cluster.md), or "
                "run fewer jobs at a time (--cores); the same command goes on from where it was."
            )
        if not isinstance(error, OSError):
            raise
        logger.exception("the job failed")  # such as a full disk, on which the log cannot say it
        if error.errno in OF_THE_DISK:
            _end_job(str(not_written(error.filename or "a file", error)))
        _end_job(printable(f"{type(error).__name__}: {error}"))


def say(line: str, level: int = logging.WARNING) -> None:
    """Say something in one line, in the job's log and where Snakemake runs."""
    logger.log(level, line)
    print(f"blanketflow: {line}", file=sys.__stderr__)


def _end_job(why: str) -> NoReturn:
    """Say in one line why a job fails, and end it."""
    say(why, logging.ERROR)
    sys.exit(1)


def _opened_log(path: str) -> Any:
    """Return the job's log, open for writing; if it cannot be, what would stand there is shown where Snakemake runs."""
    try:
        return open(path, "a", encoding="utf-8", errors="backslashreplace", buffering=1)
    except OSError as error:
        print(f"blanketflow: {not_written(path, error)}", file=sys.__stderr__)
        return sys.__stderr__


def limit_threads(threads: int) -> None:
    """Let numba use the job's threads. Those of BLAS, OpenMP and MKL Snakemake sets by their environment variables.

    Where numba is loaded already it has read its variable: with another value it would then refuse to compile.
    """
    if "numba" in sys.modules:
        import numba

        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    else:
        os.environ["NUMBA_NUM_THREADS"] = str(threads)


@contextlib.contextmanager
def fewer_collections() -> Iterator[None]:
    """Collect garbage more rarely: what imports make stays, and looking through it is a tenth of what they cost."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _as_path(value: Any) -> Any:
    return Path(value) if isinstance(value, str) else [Path(v) for v in value]
