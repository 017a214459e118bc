"""Numba kernels: arrays in, arrays out. Compiled once per machine (`make setup` does it), then loaded from a cache."""

from __future__ import annotations

import contextlib
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


_drop_outdated_cache(Path(__file__).parent)
