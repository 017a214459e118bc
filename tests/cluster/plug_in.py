"""Methods that make a job slow the first time, or large each time: what the fault tests do to jobs is real."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from blanketflow.core.cards import Card
from blanketflow.moves.steps import Step
from blanketflow.selectors.base import Method

#: MB that `Large` takes for some seconds, in which Slurm looks several times.
MEGABYTES = 1200


def card(name):
    return Card(id=name, name=name, family="filter", summary="Keeps the first feature.", reference="none")


class First(Method):
    """Keeps the first feature."""

    default_test: ClassVar[None] = None

    def grow(self, problem):
        return [Step(problem.features[0])]

    def shrink(self, problem, candidates):
        return candidates


@dataclass
class Slow(First):
    """Five minutes where it works for the first time, which it tells by a file beside this one; then none."""

    card: ClassVar[Card] = card("slow")

    def grow(self, problem):
        been_here = Path(__file__).with_name("been-here")
        if not been_here.exists():
            been_here.touch()
            time.sleep(300)
        return super().grow(problem)


@dataclass
class Large(First):
    card: ClassVar[Card] = card("large")

    def grow(self, problem):
        held = bytearray(MEGABYTES * 10**6)
        held[::4096] = b"1" * len(held[::4096])  # pages count once they are written to
        time.sleep(4)
        return super().grow(problem)
