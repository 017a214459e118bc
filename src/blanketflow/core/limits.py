"""Time limits and test budgets of a search."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from .errors import BlanketflowError


class LimitReached(BlanketflowError):
    """A search reached its time limit or its test budget; the message says which, with a remedy."""


def time_is_over(time_limit: float, after: str = "") -> LimitReached:
    """Return the error for a time limit."""
    return LimitReached(f"the time limit of {in_seconds(time_limit)} (time_limit) was reached{after}. Raise it.")


def in_seconds(seconds: float) -> str:
    """Return a time in seconds as text, with three significant digits or all digits before the point.

    >>> [in_seconds(seconds) for seconds in (0.01234, 1.0, 67.63, 123.4, 86400)]
    ['0.0123 s', '1 s', '67.6 s', '123 s', '86,400 s']
    """
    digits = max(0, 2 - math.floor(math.log10(seconds))) if seconds else 0
    text = f"{seconds:,.{digits}f}"
    return (text.rstrip("0").rstrip(".") if digits else text) + " s"


@dataclass(frozen=True)
class Limits:
    """Limits of one stage (grow or shrink) of one fold.

    `time_limit` is wall seconds; `max_tests` counts computed CI tests, without the ci_test stage and cached results.
    `check_time` raises `LimitReached` if an enclosing stage is out of time.
    """

    time_limit: float | None = None
    max_tests: int | None = None
    check_time: Callable[[], None] | None = None

    def start(self) -> Allowance | None:
        """Return an allowance that starts now; None without limits."""
        return None if self == NO_LIMITS else Allowance(self)


class Allowance:
    """The remaining time and tests.

    Examples
    --------
    >>> allowance = Limits(max_tests=5).start()
    >>> allowance.spend(4)
    >>> allowance.spend(2)
    Traceback (most recent call last):
    ...
    blanketflow.core.limits.LimitReached: the test budget of 5 (max_tests) is spent: 4 done, 2 more wanted. Raise it.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits, self._n_spent = limits, 0
        self._deadline = None if limits.time_limit is None else time.monotonic() + limits.time_limit

    def spend(self, n_tests: int) -> None:
        """Subtract tests before they are computed; raises `LimitReached`, subtracting none, if they exceed a limit."""
        limits = self._limits
        if limits.check_time is not None:
            limits.check_time()
        if self._deadline is not None and time.monotonic() > self._deadline:
            after = f" after {self._n_spent} tests" if self._n_spent else ""  # many methods make none
            raise time_is_over(limits.time_limit or 0.0, after)
        if limits.max_tests is not None and self._n_spent + n_tests > limits.max_tests:
            raise LimitReached(
                f"the test budget of {limits.max_tests} (max_tests) is spent: {self._n_spent} done, {n_tests} more "
                "wanted. Raise it."
            )
        self._n_spent += n_tests

    def seconds_left(self) -> float:
        """Return the seconds left, infinite without a time limit."""
        return math.inf if self._deadline is None else self._deadline - time.monotonic()


NO_LIMITS = Limits()
