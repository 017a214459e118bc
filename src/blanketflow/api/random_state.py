"""The seed that `random_state` of a selector stands for."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ..core.errors import ParameterError


def seed_of(random_state: Any) -> int:
    """Return a whole number as it is, and else a drawn one: by a RandomState, or for None by the system.

    Raises `ParameterError` if it is none of these.

    Examples
    --------
    >>> seed_of(7), seed_of(np.random.RandomState(0)) == seed_of(np.random.RandomState(0))
    (7, True)
    """
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    raise ParameterError(f"random_state is {random_state!r}, but must be a whole number, None or RandomState.")
