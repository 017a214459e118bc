"""Compiled kernels before work begins: no time limit counts it, and processes that start together do not repeat it."""

from __future__ import annotations

import os
from pathlib import Path

#: Where numba keeps what it has compiled, unless its own setting names another folder.
_CACHE = Path(__file__).parents[1] / "kernels" / "__pycache__"


def compile_kernels() -> None:
    """Compile the kernels if that was never done in this installation; it is said on stderr."""
    if "NUMBA_CACHE_DIR" not in os.environ and any(_CACHE.glob("*.nbi")):
        return  # without loading numba, which takes half a second
    from ..kernels import compile_all, is_compiled

    if not is_compiled():
        compile_all()


def load_kernels() -> None:
    """Load what most searches use, and compile it if need be, in this process: a script may have no main guard."""
    from ..kernels import contingency, packed_information  # noqa: F401
