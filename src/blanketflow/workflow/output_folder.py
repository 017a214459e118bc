"""The folder of results: write access for the run and Snakemake, times of files, and the lock of a run."""

from __future__ import annotations

import atexit
import errno
import json
import os
import platform
import re
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from ..core.errors import ConfigError, DataError, StorageError, shown
from ..core.folders import check_writable, not_written
from ..data.artefacts import process_space
from .layout import FOLDERS, PATHS, files_like, path_of

#: Folders of tools and of the system, parents of such folders, and this package.
_TOOLS = {".git": "git", ".hg": "Mercurial", ".svn": "Subversion", ".snakemake": "Snakemake"}
_SYSTEM = re.compile("/((bin|boot|dev|etc|lib(32|64)?|proc|sbin|sys|usr|private/etc|System|Library)(/.*)?)?")
_SHARED = re.compile("/(home|media|mnt|opt|private|root|run|srv|(private/|var/)?tmp|var|Users|Volumes)")
_CODE = Path(__file__).resolve().parents[1]
#: Artefacts with common file names, and all others; logs and benchmarks are the first files of a run.
_LIKE_OTHERS = ("result_table", "result_table_csv", "report", "figure", "provenance")
_OURS = files_like(sorted({*PATHS} - {*_LIKE_OTHERS, "figures", "lock", "manifest"}))
_MAYBE_OURS = files_like(_LIKE_OTHERS)
_OF_A_RUN = re.compile(r"(.*/)?(manifest|run-lock(\.[0-9a-f]+)?|logs/.*\.log|benchmarks/.*\.tsv)")
#: Foreign files that are named.
_NAMED = 3


def check_apart(output: str, dataset: str, path: str) -> None:
    """Raise `ConfigError` if a data set's file is one that the run itself makes."""
    inside = os.path.relpath(path, output).split(os.sep)
    if inside[0] in FOLDERS and "://" not in path:
        raise ConfigError(
            f"config: data set {dataset!r} has the path {shown(path)}, which is a result of this very run. "
            "Name another file, or another output."
        )


def check_not_of_sources(output: str, dataset: str, path: str) -> None:
    """Raise `ConfigError` if results would share a folder with a data set's file, which could be deleted with them."""
    if "://" not in path and os.path.realpath(output) == os.path.realpath(os.path.dirname(path)):
        raise ConfigError(
            f"config: output is {shown(output)}, the folder of data set {dataset!r}. Name one of its own, such as "
            "results."
        )


def check_folder(output: str) -> None:
    """Raise `ConfigError` if the folder cannot or should not hold results; see `check_foreign` for its content."""
    said = f"config: output is {shown(output)}"
    try:
        os.stat(f"{output}/{'x' * 100}/{'x' * 100}/{'x' * 100}/{'x' * 100}")  # about the longest name in it
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise ConfigError(f"{said} and cannot be used ({error.strerror}). Choose another name.") from None
    for path in (Path(output), *Path(output).parents):
        if path.is_symlink() and not path.exists():
            raise ConfigError(
                f"{said}, but {path} is a link that leads nowhere. Choose another name, or mend the link."
            )
        if path.exists() and not path.is_dir():
            raise ConfigError(f"{said}, but {path} is a file. Choose another name.")
    real = os.path.realpath(output)
    if real == os.path.realpath("."):
        raise ConfigError(f"{said}, which holds the folder of the run. Name one of its own, such as results.")
    owner = _owner(Path(real))
    if owner:
        raise ConfigError(f"{said}, {owner}. Name one of your own, such as results.")


def _owner(folder: Path) -> str:
    """Return the owner of a folder that is not meant for files of the user."""
    for name, owner in _TOOLS.items():
        if name in folder.parts:
            return f"a folder of {owner}"
    if folder == Path.home().resolve():
        return "your home folder itself"
    if _SYSTEM.fullmatch(str(folder)) or _SHARED.fullmatch(str(folder)):
        return "a folder of the system"
    return "the code of blanketflow" if folder.is_relative_to(_CODE) else ""


def check_foreign(output: str | Path, allowed: bool) -> None:
    """Raise `ConfigError` if a folder of results has files of other origin, unless allowed.

    Hidden files and nested folders of results are ignored.
    """
    foreign = [] if allowed else foreign_files(output)
    if foreign:
        more = [f"{len(foreign) - _NAMED:,} more"] if len(foreign) > _NAMED else []
        raise ConfigError(
            f"config: output is {shown(str(output))}, which holds files that blanketflow did not make: "
            f"{', '.join([*map(shown, foreign[:_NAMED]), *more])}. Name another folder, or allow it by "
            "allow_foreign_files: true in the config, or --config allow_foreign_files=True."
        )


def foreign_files(output: str | Path) -> list[str]:
    """Return the sorted paths of files that no run made below a folder of results.

    A report, table or figure counts as made by a run if another file in the same folder of results does.
    """
    foreign, maybe, of_runs = [], [], set()
    for folder, folders, names in os.walk(output):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (os.path.join(folder, name) for name in names if not name.startswith(".")):
            path = os.path.relpath(path, output)
            if found := _OURS.fullmatch(path):
                of_runs.add(found["output"])
            elif found := _MAYBE_OURS.fullmatch(path):
                maybe.append((found["output"], path))
            elif not _OF_A_RUN.fullmatch(path):
                foreign.append(path)
    return sorted([*foreign, *(path for place, path in maybe if place not in of_runs)])


def check_results(output: str) -> None:
    """Raise `StorageError` if results cannot be written, to their folder or to one that it already has."""
    folder = Path(output)
    for path in (folder, *(folder / name for name in FOLDERS)):
        if path.is_dir() or path == folder:
            check_writable(path, "Name another folder under the key output.")


def check_state(folder: str | Path = ".snakemake") -> None:
    """Raise `StorageError` if Snakemake cannot store its state in the folder of the run."""
    way_out = "Run in another folder (--directory): Snakemake keeps its state there."
    if Path(folder).exists() and not Path(folder).is_dir():
        raise StorageError(f"{folder} is a file. {way_out}")
    check_writable(folder, way_out)


# --- times of files, by which Snakemake decides what to recompute, after the clock was wrong --------------------------

#: Seconds by which clocks of machines may differ.
_TOLERANCE = 60


def check_times(dataset: str, paths: Sequence[str | Path]) -> None:
    """Raise `DataError` if a data set's file has a future time: no result would count as newer."""
    for path in paths:
        written = Path(path).stat().st_mtime
        if written > time.time() + _TOLERANCE:
            when = datetime.fromtimestamp(written).strftime("%Y-%m-%d %H:%M:%S")
            raise DataError(
                f"{dataset}: {path} is from the future ({when}): what is made of it would count as older. Set the "
                f"clock of this machine, or touch the file."
            )


def bring_back(output: str | Path) -> int:
    """Give results with future times past times in the same order, and return their number.

    After a clock was set back, new results would be older than their inputs, and dependants would not be recomputed.
    """
    now = time.time_ns()
    late = {path: at for path, at in _times(Path(output)) if at > now}
    passed = {at: now - rank * 1_000 for rank, at in enumerate(sorted(set(late.values()), reverse=True), 1)}
    for path, at in late.items():
        os.utime(path, ns=(passed[at], passed[at]))
    return len(late)


def _times(output: Path) -> Iterator[tuple[Path, int]]:
    for name in FOLDERS:
        for folder, folders, files in os.walk(output / name):
            for path in (Path(folder) / entry for entry in (*folders, *files)):
                yield path, path.lstat().st_mtime_ns
    for path in output.glob("*"):
        yield path, path.lstat().st_mtime_ns


# --- the lock: one run at a time writes, from any working directory and machine ---------------------------------------

#: Seconds between two heartbeats, and seconds without one after which a run on another machine counts as dead.
BEAT, EXPIRES = 10.0, 300.0
_MOST_BYTES = 100_000


@dataclass(frozen=True)
class Holder:
    """The run that holds a lock.

    `space` is the scope of the process id (this boot of the machine and the process namespace), `started` the start of
    the process in seconds since 1970, and `token` a random id.
    """

    machine: str
    space: str
    process: int
    started: float
    folder: str
    token: str

    @classmethod
    def of_this_process(cls) -> Holder:
        """Return the holder for this process."""
        import psutil

        own = psutil.Process()
        return cls(platform.node(), process_space(), own.pid, own.create_time(), os.getcwd(), secrets.token_hex(8))

    def lives(self, seconds_since_beat: float) -> bool:
        """Whether the run still works: by its process if visible, else by its last heartbeat."""
        import psutil

        if self.space != process_space():
            return seconds_since_beat < EXPIRES
        try:
            return abs(psutil.Process(self.process).create_time() - self.started) < 1
        except psutil.NoSuchProcess:
            return False


class RunLock:
    """The lock of a folder of results, held until this process ends.

    `say` is called if a dead run held it or another takes it over. Raises `StorageError` if it is held or not writable.
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
        """Release the lock, unless another run has taken it over."""
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
        """Move the lock of a dead run away; raise `StorageError` if the run is alive."""
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
        """Write heartbeats; stop the run if another has taken the lock, as while a laptop slept."""
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
