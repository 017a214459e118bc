"""Work in several processes: how many at a time, and the kernels compiled before they start."""

from __future__ import annotations

import numbers
import os
from pathlib import Path
from typing import Any

from ..core.errors import ParameterError

#: As many tasks as there are cores, or more.
MANY = 10**6


def n_workers(where: str, n_jobs: Any, n_tasks: int) -> int:
    """Return the number of tasks that run at a time, at least 1.

    `n_jobs` means what it means to joblib: None is 1, or what ``joblib.parallel_config`` says; -1 is all cores, -2 all
    but one. More than there are cores would only be slower, and a million processes would stop the machine. The cores
    are those of joblib's backend, which may be a cluster.

    Raises `ParameterError`, whose message begins with `where`, if `n_jobs` is 0 or not a whole number.

    Examples
    --------
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


# --- kernels compiled before work begins: no time limit counts it, and processes that start together do not repeat it -

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
