"""Counts fits and checks time and number limits before each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...core.limits import LimitReached, time_is_over

#: Share of a time limit reserved for the work after the last fit: choice, correction, stand-ins.
KEPT_BACK = 0.1


@dataclass
class Pace:
    """Counts fits, and raises `LimitReached` before a fit that would exceed the time or `most_fits`.

    The time of a fit is predicted from the largest of its kind so far, in proportion to its work. `seconds_left`
    returns the seconds left, infinite without a limit. A share of `time_limit`, in seconds, is reserved. `is_free`
    ignores the time limit. `check` raises `LimitReached` if an enclosing search is out of time. The caller subtracts
    fits without a result from `n_fits`.

    >>> pace = Pace(most_fits=1)
    >>> with pace.fit("tree"):
    ...     pass
    >>> pace.begin("tree")
    Traceback (most recent call last):
    ...
    blanketflow.core.limits.LimitReached: the budget of 1 fits (budget) is spent. Raise it.
    """

    seconds_left: Callable[[], float] = lambda: math.inf
    time_limit: float = math.inf
    most_fits: float = math.inf
    is_free: bool = False
    check: Callable[[], None] = lambda: None
    n_fits: int = 0
    seconds: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def has_clock(self) -> bool:
        """Whether the time is limited."""
        return math.isfinite(self.time_limit)

    def left(self) -> float:
        """Return the seconds left for fits."""
        return self.seconds_left() - KEPT_BACK * self.time_limit if self.has_clock else math.inf

    def begin(self, kind: str = "", work: float = 0.0) -> None:
        """Raise `LimitReached` unless a fit may start."""
        if self.n_fits >= self.most_fits:
            raise self.spent()
        if self.is_free:
            return
        self.check()
        known, took = self.seconds.get(kind, (1.0, 0.0))
        if self.has_clock and self.left() < took * max(1.0, work / known):
            raise time_is_over(self.time_limit)

    @contextmanager
    def fit(self, kind: str, work: float = 1.0) -> Iterator[None]:
        """Count the enclosed work as one fit, and record its time."""
        self.begin(kind, work)
        before = self.left()
        yield
        if self.has_clock and work >= self.seconds.get(kind, (0.0, 0.0))[0]:
            self.seconds[kind] = (work, before - self.left())
        self.n_fits += 1

    def check_time(self) -> None:
        """Raise `LimitReached` if the time is over during a fit."""
        if not self.is_free:
            self.check()
            if self.left() < 0:
                raise time_is_over(self.time_limit)

    def spent(self) -> LimitReached:
        """Return the error if no more fits are allowed."""
        return LimitReached(f"the budget of {self.most_fits:,} fits (budget) is spent. Raise it.")
