"""A table as the page shows it: what each cell says, and what it is sorted by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cell:
    """One cell.

    Parameters
    ----------
    text : str
        What it says.
    detail : str
        A second, quieter line.
    share : float or None
        Length of a bar in front of the text, 0 to 1.
    best : bool
        Marked as the best of its column.
    value : float or None
        What a column of numbers is sorted by; missing values stand last.
    """

    text: str
    detail: str = ""
    share: float | None = None
    best: bool = False
    value: float | None = None

    @property
    def sort_key(self) -> str | None:
        """The value as JavaScript reads it, None where it is missing."""
        missing = self.value is None or self.value != self.value
        return None if missing else f"{float(self.value):.12g}".replace("inf", "Infinity")


@dataclass(frozen=True)
class Table:
    """Headers and rows; the first `n_text` columns hold text, the others numbers. The first cell heads its row."""

    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    n_text: int = 1
    text_columns: Sequence[int] = field(default_factory=tuple)

    def is_text(self, column: int) -> bool:
        """Whether a column holds text, which is set flush left and sorted by its letters."""
        return column < self.n_text or column in self.text_columns


def cells(*texts: str | Cell) -> list[Cell]:
    """Return a row of cells from texts."""
    return [text if isinstance(text, Cell) else Cell(text) for text in texts]
