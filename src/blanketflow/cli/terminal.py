"""Output of all commands: formatted tables in a terminal, plain text for pipes, JSON for scripts, errors on stderr."""

from __future__ import annotations

import math
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TextIO

from ..core.errors import BlanketflowError
from ..core.messages import SILENT, STAGES, Teller
from ..core.printable import printable, printable_json

if TYPE_CHECKING:
    from rich.console import Console


def show_anything() -> None:
    """Make both streams escape characters that their encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def is_terminal(stream: TextIO | None = None) -> bool:
    """Return whether a stream (default: stdout) is a terminal with more features than printing lines."""
    return (stream or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Return the line length of running text in characters: 100, or less in a narrow terminal."""
    return min(shutil.get_terminal_size().columns, 100) if is_terminal() else 100


def complain(message: str) -> None:
    """Print an error and its remedy on stderr, on one line."""
    print(f"blanketflow: {printable(message.strip())}", file=sys.stderr)


def complain_of(error: BlanketflowError) -> None:
    """Print errors on stderr, one line each."""
    for line in error.lines:
        complain(line)


def note(message: str) -> None:
    """Print a message on stderr that is not a result."""
    print(printable(message), file=sys.stderr)


def show(text: str = "") -> None:
    """Print lines of text. Pass names from data through `printable` first where a line break in them would mislead."""
    print("\n".join(map(printable, text.split("\n"))))


def pour(text: str) -> None:
    """Print text for other programs, without control characters in a terminal."""
    if is_terminal():
        show(text.removesuffix("\n"))
    else:
        print(text, end="")


def heading(text: str) -> None:
    """Print a heading."""
    if is_terminal():
        console().print("\n".join(map(printable, text.split("\n"))), style="bold", markup=False, highlight=False)
    else:
        show(text)


def show_json(value: Any) -> None:
    """Print JSON; NaN and infinities become null."""
    print(printable_json(_finite(value), indent=2))


def show_table(columns: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[int] = ()) -> None:
    """Print a table: with rich in a terminal, else as aligned columns. The columns `right` hold numbers."""
    cells = [[printable(cell) for cell in row] for row in rows]
    if not is_terminal():
        widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
        for row in (columns, *cells):
            padded = (
                f"{c:>{w}}" if i in right else f"{c:{w}}" for i, (c, w) in enumerate(zip(row, widths, strict=True))
            )
            print("  " + "  ".join(padded).rstrip())
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for at, name in enumerate(columns):
        table.add_column(Text(name), justify="right" if at in right else "left", overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))  # as text, so that brackets in names are not read as markup
    console().print(table)


def console(stream: TextIO | None = None) -> Console:
    """Return rich's console on stdout or another stream; it respects NO_COLOR and the terminal's width."""
    from rich.console import Console

    return Console(file=stream or sys.stdout, highlight=False)


def clock(seconds: float) -> str:
    """Return seconds as hours, minutes and seconds.

    >>> clock(75), clock(3700)
    ('1:15', '1:01:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# --- a progress line every half a minute, without a terminal ----------------------------------------------------------

#: Seconds between two lines.
EVERY = 30.0


@contextmanager
def heartbeat(what: str) -> Iterator[Teller]:
    """Print every 30 seconds on stderr, unless in a terminal, that `what` is running, with its last message."""
    if is_terminal(sys.stderr):
        yield SILENT
        return
    told, begin, is_over = _Last(STAGES), time.monotonic(), Event()

    def say() -> None:
        while not is_over.wait(EVERY):
            note(f"[{clock(time.monotonic() - begin)}] {what}: {told.last[-1]}")

    thread = Thread(target=say, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        is_over.set()
        thread.join()


@dataclass(frozen=True)
class _Last(Teller):
    """Stores the last line."""

    last: list[str] = field(default_factory=lambda: ["at work"])

    def __call__(self, line: str, level: int = STAGES) -> None:
        """Take a line."""
        if self.says(level):
            self.last[:] = [line]

    def of(self, part: str) -> Teller:
        """Return itself, for all parts."""
        return self
