"""Numba kernels on arrays, compiled by `make setup` or on first use, and cached.

Kernels copy arrays in loops: ``a[:] = b`` takes numba two seconds to compile, `numpy.partition` four.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Modules imported by others, then the slowest ones: in this order few processes wait, and none repeats another's work.
_FIRST = (
    *("contingency", "sorted_columns", "logistic", "single_column_trees", "trees"),
    *("packed_information", "packed_cells"),
)
#: What `compile_all` leaves to its first use, with its only users: one option does not justify a fifth of the set-up.
# res.py, hsic_filters.py, binned_tree_risks.py, targets/
_RARE = (
    *("sparse_group_lasso", "gaussian_without_each", "binned_trees"),
    *("cox", "generalised_linear", "proportional_odds"),
)


def compile_all(rare: bool = False) -> None:
    """Compile the kernels that are not cached, in several processes; those of a single method only on request."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    is_compiled()  # says that compilation begins
    others = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
    names = [*_FIRST, *(name for name in others if name not in (*_FIRST, *_RARE)), *(_RARE if rare else ())]
    processes = min(os.cpu_count() or 1, len(_FIRST))
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer=_be_silent) as pool:
        list(pool.map(_compile, names))


def is_compiled() -> bool:
    """Return whether kernels have been compiled before; if not, compile the smallest one."""
    return not _load("chi_square").upper_tails.stats.cache_misses


def _be_silent() -> None:
    _silence()


def _load(name: str) -> Any:
    """Import a kernel by name; an import statement would make every kernel's digest depend on it."""
    import importlib

    return importlib.import_module(f"{__name__}.{name}")


def _compile(name: str) -> None:
    _load(name)


def _drop_outdated_cache(folder: Path) -> None:
    """Remove compiled kernels older than any kernel's source, since numba checks only a function's own file."""
    newest = max(path.stat().st_mtime_ns for path in folder.glob("*.py"))
    for index in (folder / "__pycache__").glob("*.nbi"):
        with contextlib.suppress(OSError):  # another process was first, or the folder is read-only
            if index.stat().st_mtime_ns < newest:
                index.unlink()


def _copy_to_own_cache(folder: Path) -> None:
    """Copy the compiled kernels of a read-only folder to the user's cache; otherwise numba would recompile them.

    The cache holds pickles, so only the user may write there.
    """
    compiled = folder / "__pycache__"
    if not compiled.is_dir() or os.access(compiled, os.W_OK):
        return
    import shutil

    from numba.core import caching

    locator = getattr(caching, "UserWideCacheLocator", None) or caching._UserWideCacheLocator
    own = Path(locator(_copy_to_own_cache, str(folder / "kernel.py")).get_cache_path())
    with contextlib.suppress(OSError):  # numba says what it cannot write
        own.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Data before the indexes that name them: jobs that start at the same time copy, too.
        for path in sorted(compiled.glob("*.nb[ci]")):
            copy = own / path.name
            if not copy.exists() or copy.stat().st_mtime_ns < path.stat().st_mtime_ns:
                temporary = own / f"{path.name}.{os.getpid()}"
                shutil.copy2(path, temporary)
                os.replace(temporary, copy)


def _say_when_compiling() -> Callable[[], None]:
    """Make numba announce on stderr, once per process, that it compiles one of our kernels; return what undoes this."""
    from numba.core import event

    class Compiling(event.Listener):
        is_said = False

        def on_start(self, started: Any) -> None:
            if not self.is_said and started.data["dispatcher"].py_func.__module__.startswith(__name__):
                self.silence()
                sys.stderr.write("blanketflow: compiling kernels, once for this installation: a minute of CPU time.\n")

        def on_end(self, ended: Any) -> None:
            pass

        def silence(self) -> None:
            self.is_said = True

    event.register("numba:compile", listener := Compiling())
    return listener.silence


_drop_outdated_cache(Path(__file__).parent)
_copy_to_own_cache(Path(__file__).parent)
_silence = _say_when_compiling()
