"""Numba kernels: arrays in, arrays out. Compiled once per machine (`make setup` does it), then loaded from a cache."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def compile_all() -> None:
    """Import every kernel, which compiles it or finds it in the cache."""
    import importlib
    import pkgutil

    for module in pkgutil.iter_modules(__path__, __name__ + "."):
        importlib.import_module(module.name)


def _drop_outdated_cache(folder: Path) -> None:
    """Remove compiled kernels that are older than any kernel's source.

    Kernels call each other across files, but numba looks only at a function's own file to see whether its cache holds.
    """
    newest = max(path.stat().st_mtime_ns for path in folder.glob("*.py"))
    for index in (folder / "__pycache__").glob("*.nbi"):
        with contextlib.suppress(OSError):  # another process was first, or the folder is read-only
            if index.stat().st_mtime_ns < newest:
                index.unlink()


def _copy_to_own_cache(folder: Path) -> None:
    """Copy the compiled kernels of a folder that may not be written to, such as that of an image, for this user.

    numba uses no folder that it cannot write to, but the user's own, and would compile anew. The cache holds pickles,
    so nobody else should be able to write there.
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


_drop_outdated_cache(Path(__file__).parent)
_copy_to_own_cache(Path(__file__).parent)
