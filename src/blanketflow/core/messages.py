"""Progress lines on stderr, and warnings of other packages, counted and shown once."""

from __future__ import annotations

import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from .printable import printable

_Found = TypeVar("_Found")
#: Number of warnings by category and text.
Counts = Counter[tuple[type[Warning], str]]
#: Text of `say_once` for a repeated warning.
_SAID_ONCE = re.compile(r"[^:]*: ([\d,]+) times: (.*)", re.DOTALL)
_NUMBER = re.compile(r"\d[\d.]*(e[-+]?\d+)?")


@contextmanager
def counted_warnings() -> Iterator[Counts]:
    """Collect warnings instead of showing them; counts are complete on exit.

    Each `UserWarning` counts, also repeated ones. Other categories pass the active filters.

    >>> with counted_warnings() as counts:
    ...     for n in (10, 20):
    ...         warnings.warn(f"no convergence after {n} steps", UserWarning)
    >>> counts.total()
    2
    """
    counts: Counts = Counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield counts
        finally:
            counts.update((one.category, str(one.message)) for one in caught)


@contextmanager
def warnings_told(say: Callable[[str], None]) -> Iterator[None]:
    """Show on exit the number of warnings per package and the first of each; with ``-W``, all as they occur.

    >>> with warnings_told(print):
    ...     for n in (10, 20):
    ...         warnings.warn(f"no convergence after {n} steps", UserWarning)
    2 warnings: no convergence after 10 steps
    """
    if sys.warnoptions:
        yield
        return
    told: dict[str, tuple[int, str]] = {}
    try:
        with warnings.catch_warnings(record=True) as caught:
            for category in (UserWarning, RuntimeWarning):
                warnings.simplefilter("always", category)
            yield
    finally:  # commands end by SystemExit
        for one in caught:
            package, text = _package(one), str(one.message)
            said_once = _SAID_ONCE.fullmatch(text)
            n, text = (int(said_once[1].replace(",", "")), said_once[2]) if said_once else (1, text)
            before, first = told.get(package, (0, text))
            told[package] = before + n, first
        for package, (n, text) in told.items():
            say(f"{n:,} warning{'s' if n > 1 else ''}{package and f' of {package}'}: {text}")


def _package(warned: warnings.WarningMessage) -> str:
    """Return the package that defines a warning's category, or else that issued it; empty if unknown.

    Warnings of other processes are re-issued here.
    """
    kind, path = warned.category.__module__.partition(".")[0], Path(warned.filename).parts
    if kind != "builtins":
        return kind
    return path[path.index("site-packages") + 1].removesuffix(".py") if "site-packages" in path[:-1] else ""


def with_warnings(work: Callable[..., _Found], *arguments: Any) -> tuple[_Found, Counts]:
    """Return the result of some work and its warnings, for work in another process."""
    try:
        with counted_warnings() as counts:
            found = work(*arguments)
    except BaseException:  # which would take them along
        say_once("before it failed", counts)
        raise
    return found, counts


def say_once(where: str, *several: Mapping[tuple[type[Warning], str], int], stacklevel: int = 2) -> None:
    """Issue each kind of warning once, with its count; texts that differ only in numbers are one kind.

    `where` starts the text of those counted more than once. `stacklevel` is as in `warnings.warn`.
    """
    kinds: dict[tuple[type[Warning], str], tuple[str, int]] = {}
    for counts in several:
        for (category, text), n in counts.items():
            kind = category, _NUMBER.sub("", text)
            first, before = kinds.get(kind, (text, 0))
            kinds[kind] = first, before + n
    for (category, _), (text, n) in kinds.items():
        warnings.warn(text if n == 1 else f"{where}: {n:,} times: {text}", category, stacklevel=stacklevel + 1)


def as_plain(counts: Counts) -> list[list[Any]]:
    """Return counts with plain types, for a process without the modules of the categories."""
    return [[category.__module__, category.__name__, text, n] for (category, text), n in counts.items()]


def give_again(plain: list[list[Any]]) -> None:
    """Re-issue warnings of another process, as often; unknown categories become `UserWarning`."""
    for module, name, text, n in plain:
        found = getattr(sys.modules.get(module), name, None)
        category = found if isinstance(found, type) and issubclass(found, Warning) else UserWarning
        for _ in range(n):
            warnings.warn(text, category, stacklevel=3)


#: Levels of `verbose`: no line, a line per stage, a line per step.
QUIET, STAGES, STEPS = 0, 1, 2


@dataclass(frozen=True)
class Teller:
    """Prints lines with `where` and the elapsed seconds, if `verbose` is at least their level.

    Examples
    --------
    >>> Teller().says(STAGES), Teller(1).says(STAGES), Teller(1).says(STEPS)
    (False, True, False)
    """

    verbose: int = QUIET
    where: str = ""
    begin: float = field(default_factory=time.monotonic, repr=False)

    def says(self, level: int) -> bool:
        """Return whether lines of this level are printed."""
        return self.verbose >= level

    def __call__(self, line: str, level: int = STAGES) -> None:
        """Print a line of this level."""
        if self.says(level):
            seconds = time.monotonic() - self.begin
            sys.stderr.write(printable(f"[{seconds:.1f} s] {self.where}: {line}") + "\n")
            sys.stderr.flush()

    def of(self, part: str) -> Teller:
        """Return the teller of a part, such as a fold."""
        return Teller(self.verbose, f"{self.where}, {part}", self.begin)


SILENT = Teller()
