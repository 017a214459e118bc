"""Lines on stderr that say how far a search is, as `verbose` asks for them."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field

from .printable import printable

#: What `verbose` asks for: nothing, a line per stage, or a line per step too.
QUIET, STAGES, STEPS = 0, 1, 2


@dataclass(frozen=True)
class Teller:
    """Says lines, if `verbose` is at least their level, after `where` and the seconds since it was made.

    Examples
    --------
    >>> Teller().says(STAGES), Teller(1).says(STAGES), Teller(1).says(STEPS)
    (False, True, False)
    """

    verbose: int = QUIET
    where: str = ""
    begin: float = field(default_factory=time.monotonic, repr=False)

    def says(self, level: int) -> bool:
        """Return whether a line of this level is said."""
        return self.verbose >= level

    def __call__(self, line: str, level: int = STAGES) -> None:
        """Say a line of this level."""
        if self.says(level):
            seconds = time.monotonic() - self.begin
            sys.stderr.write(printable(f"[{seconds:.1f} s] {self.where}: {line}") + "\n")
            sys.stderr.flush()

    def of(self, part: str) -> Teller:
        """Return what speaks for a part, such as a fold."""
        return Teller(self.verbose, f"{self.where}, {part}", self.begin)


SILENT = Teller()
