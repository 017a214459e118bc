"""A table as the page shows it: the text of each cell, and the value by which it is sorted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cell:
    """One cell: its text, a second, smaller line, a bar, whether it is marked as the best, and its value.

    The bar in front of the text has the length `share`, 0 to 1. The value sorts the column; missing values come last.
    """

    text: str
    detail: str = ""
    share: float | None = None
    best: bool = False
    value: float | None = None

    @property
    def sort_key(self) -> str | None:
        """The value as text for JavaScript, None if it is missing."""
        missing = self.value is None or self.value != self.value
        return None if missing else f"{float(self.value):.12g}".replace("inf", "Infinity")


@dataclass(frozen=True)
class Table:
    """Headers and rows. The first `n_text` columns and `text_columns` hold text, the others numbers."""

    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    n_text: int = 1
    text_columns: Sequence[int] = field(default_factory=tuple)

    def is_text(self, column: int) -> bool:
        """Return whether a column holds text, which is aligned to the left and sorted alphabetically."""
        return column < self.n_text or column in self.text_columns


def cells(*texts: str | Cell) -> list[Cell]:
    """Return a row of cells from texts."""
    return [text if isinstance(text, Cell) else Cell(text) for text in texts]
