"""The lock of a folder of results: one run at a time writes there, from whatever folder and machine it was started."""

from __future__ import annotations

import atexit
import json
import os
import platform
import secrets
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ..core.errors import StorageError
from ..core.folders import not_written
from ..data.temporary import process_space
from .layout import path_of

#: Seconds between two signs of life, and after how many without one a run on another machine counts as dead.
BEAT, EXPIRES = 10.0, 300.0
_MOST_BYTES = 100_000


@dataclass(frozen=True)
class Holder:
    """The run that holds a lock.

    Attributes
    ----------
    machine : str
        Host name, for people.
    space : str
        Where its process id means anything: this boot of the machine, and the namespace of processes.
    process, started : int, float
        Process id, and when that process began, in seconds since 1970.
    folder : str
        Where it was started.
    token : str
        Random; no other run has it.
    """

    machine: str
    space: str
    process: int
    started: float
    folder: str
    token: str

    @classmethod
    def of_this_process(cls) -> Holder:
        """Return the holder that this process would be."""
        import psutil

        own = psutil.Process()
        return cls(platform.node(), process_space(), own.pid, own.create_time(), os.getcwd(), secrets.token_hex(8))

    def lives(self, seconds_since_beat: float) -> bool:
        """Whether the run works still: by its process where that can be seen, else by its last sign of life."""
        import psutil

        if self.space != process_space():
            return seconds_since_beat < EXPIRES
        try:
            return abs(psutil.Process(self.process).create_time() - self.started) < 1
        except psutil.NoSuchProcess:
            return False


class RunLock:
    """The lock of a folder of results, held until this process ends.

    Parameters
    ----------
    output : path
        The folder of results.
    say : function
        Is told, in a sentence, of a dead run that held the lock, and of one that takes it over.

    Raises
    ------
    StorageError
        If another run holds it, or if it cannot be written.
    """

    def __init__(self, output: str | Path, say: Callable[[str], object]) -> None:
        self._say, self._path = say, Path(output) / path_of("lock")
        self._own = Holder.of_this_process()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            while not self._created():
                self._remove_dead()
        except OSError as error:
            raise not_written(self._path, error) from error
        self._ended = threading.Event()
        atexit.register(self.release)
        threading.Thread(target=self._beat, daemon=True).start()

    def release(self) -> None:
        """Give the lock back, unless another run has taken it over."""
        self._ended.set()
        if os.getpid() == self._own.process and self._holder() == self._own:
            self._path.unlink(missing_ok=True)

    def _created(self) -> bool:
        try:
            place = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError:
            return False
        try:
            with os.fdopen(place, "w", encoding="utf-8") as file:
                json.dump(asdict(self._own), file)
        except OSError:  # a full disk: an empty lock would say that another run is just starting
            self._path.unlink()
            raise
        return True

    def _remove_dead(self) -> None:
        """Move the lock of a dead run away; raise `StorageError` if the run lives."""
        holder = self._holder()
        try:
            silent = time.time() - self._path.stat().st_mtime
        except FileNotFoundError:  # it has just been given back
            return
        if silent < EXPIRES if holder is None else holder.lives(silent):
            raise _refusal(self._path, holder)
        moved = self._path.with_name(f"{self._path.name}.{self._own.token}")
        try:
            os.rename(self._path, moved)
        except FileNotFoundError:
            return
        if _read(moved) != holder:  # another run has taken it over since it was read
            with suppress(FileExistsError):
                os.link(moved, self._path)
            moved.unlink()
            raise _refusal(self._path, self._holder())
        moved.unlink()
        if holder is not None:
            where = f"process {holder.process} on {holder.machine}, started in {holder.folder}"
            self._say(f"a run that no longer works ({where}) held {self._path.parent}; this one takes over.")

    def _beat(self) -> None:
        """Give signs of life; stop the run if another has taken the lock, as while a laptop slept."""
        while not self._ended.wait(BEAT):
            if self._holder() != self._own:
                self._say(f"another run has taken over {self._path.parent}; this one stops.")
                ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
                os.kill(os.getpid(), signal.SIGTERM if ignored else signal.SIGINT)  # by SIGINT jobs end at once, too
                return
            with suppress(OSError):
                os.utime(self._path)

    def _holder(self) -> Holder | None:
        return _read(self._path)


def _read(path: Path) -> Holder | None:
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None
        holder = Holder(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, TypeError, ValueError, RecursionError):  # it is gone, or just being written
        return None
    texts = (holder.machine, holder.space, holder.folder, holder.token)
    is_process = type(holder.process) is int and 0 < holder.process < 2**31 and type(holder.started) in (int, float)
    return holder if is_process and all(isinstance(text, str) for text in texts) else None


def _refusal(path: Path, holder: Holder | None) -> StorageError:
    who = f" (process {holder.process} on {holder.machine}, started in {holder.folder})" if holder else ""
    return StorageError(f"another run is working on {path.parent}{who}. Wait for it, or name another output.")
