"""The number of worker processes, and the compilation of kernels before they start."""

from __future__ import annotations

import numbers
import os
from pathlib import Path
from typing import Any

from ..core.errors import ParameterError

#: As many tasks as cores, or more.
MANY = 10**6


def n_workers(where: str, n_jobs: Any, n_tasks: int) -> int:
    """Return the number of parallel tasks, at least 1 and at most the cores of joblib's backend, which may be a
    cluster.

    `n_jobs` is as in joblib: None is 1 or the value of ``joblib.parallel_config``; -1 is all cores, -2 all but one.
    Raises `ParameterError`, starting with `where`, if it is 0 or not a whole number.

    >>> n_workers("fit", 10**6, 1), n_workers("fit", None, 5)
    (1, 1)
    """
    is_whole = isinstance(n_jobs, numbers.Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not is_whole or n_jobs == 0):
        raise ParameterError(
            f"{where}: n_jobs is {n_jobs!r}, but must be a whole number, -1 for all cores, or None for one at a time."
        )
    from joblib import effective_n_jobs

    return max(1, min(effective_n_jobs(n_jobs), n_tasks, effective_n_jobs(-1)))


# --- kernels compiled before work begins: no time limit counts it, and parallel processes do not repeat it ------------

#: Numba's cache folder, unless its own setting names another.
_CACHE = Path(__file__).parents[1] / "kernels" / "__pycache__"


def compile_kernels() -> None:
    """Compile the kernels, with a message on stderr, if this installation has none."""
    if "NUMBA_CACHE_DIR" not in os.environ and any(_CACHE.glob("*.nbi")):
        return  # without loading numba, which takes half a second
    from ..kernels import compile_all, is_compiled

    if not is_compiled():
        compile_all()


def load_kernels() -> None:
    """Load the most common kernels, or compile them, in this process: a script may have no main guard."""
    from ..kernels import contingency, packed_information  # noqa: F401
