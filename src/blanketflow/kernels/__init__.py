"""Numba kernels: arrays in, arrays out. Compiled once per machine (`make setup` does it), then loaded from a cache.

A kernel calls compiled functions of its own file only: numba does not see that a function of another file has changed,
and would go on with the old one from its cache.
"""

from __future__ import annotations


def compile_all() -> None:
    """Import every kernel, which compiles it or finds it in the cache."""
    import importlib
    import pkgutil

    for module in pkgutil.iter_modules(__path__, __name__ + "."):
        importlib.import_module(module.name)
