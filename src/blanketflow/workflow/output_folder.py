"""Whether a run can write: its folder of results, and the folder of Snakemake's state."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from ..core.errors import ConfigError, StorageError, shown
from ..core.folders import check_writable
from .layout import FOLDERS, PATHS, files_like

#: Folders of tools, folders of the system, folders in which others have theirs, and this package.
_TOOLS = {".git": "git", ".hg": "Mercurial", ".svn": "Subversion", ".snakemake": "Snakemake"}
_SYSTEM = re.compile("/((bin|boot|dev|etc|lib(32|64)?|proc|sbin|sys|usr|private/etc|System|Library)(/.*)?)?")
_SHARED = re.compile("/(home|media|mnt|opt|private|root|run|srv|(private/|var/)?tmp|var|Users|Volumes)")
_CODE = Path(__file__).resolve().parents[1]
#: Artefacts that others may have files like, too, and all others; logs and benchmarks are the first files of a run.
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
    """Raise `ConfigError` if results would lie beside a data set's file: who deletes them would delete it, too."""
    if "://" not in path and os.path.realpath(output) == os.path.realpath(os.path.dirname(path)):
        raise ConfigError(
            f"config: output is {shown(output)}, the folder of data set {dataset!r}. Name one of its own, such as "
            "results."
        )


def check_folder(output: str) -> None:
    """Raise `ConfigError` if results cannot be in a folder, or should not: there is a file, or it has another purpose.

    What is in it `check_foreign` looks at.
    """
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
    """Return whose folder it is, if it is not for files of the user."""
    for name, owner in _TOOLS.items():
        if name in folder.parts:
            return f"a folder of {owner}"
    if folder == Path.home().resolve():
        return "your home folder itself"
    if _SYSTEM.fullmatch(str(folder)) or _SHARED.fullmatch(str(folder)):
        return "a folder of the system"
    return "the code of blanketflow" if folder.is_relative_to(_CODE) else ""


def check_foreign(output: str | Path, allowed: bool) -> None:
    """Raise `ConfigError` if a folder of results holds files that no run made, unless that is allowed.

    Hidden files do not count, nor do folders of results in it.
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
    """Return the paths below a folder of results of what no run made there, sorted.

    A report, a table or a figure is ours if anything else in the same folder of results is.
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
    """Raise `StorageError` if results cannot be written: into their folder, or into one that is already in it."""
    folder = Path(output)
    for path in (folder, *(folder / name for name in FOLDERS)):
        if path.is_dir() or path == folder:
            check_writable(path, "Name another folder under the key output.")


def check_state(folder: str | Path = ".snakemake") -> None:
    """Raise `StorageError` if Snakemake cannot keep its state in the folder of the run."""
    way_out = "Run in another folder (--directory): Snakemake keeps its state there."
    if Path(folder).exists() and not Path(folder).is_dir():
        raise StorageError(f"{folder} is a file. {way_out}")
    check_writable(folder, way_out)
