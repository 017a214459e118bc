"""The page docs/error-control.md, to which several measurements write, each between marks of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "error-control.md"


def write(mark: str, table: str, page: Path = PAGE) -> None:
    """Put a table between ``<!-- mark -->`` and ``<!-- /mark -->``; raises `ValueError` if the page lacks these."""
    begin, end = f"<!-- {mark} -->\n", f"<!-- /{mark} -->\n"
    text = page.read_text(encoding="utf-8")
    first, last = text.index(begin) + len(begin), text.index(end)
    page.write_text(f"{text[:first]}\n{table}\n{text[last:]}", encoding="utf-8")


def interval(values: ArrayLike, digits: int) -> str:
    """Return the 95 % interval of the mean of some values that are never negative, in words."""
    values = np.asarray(values, dtype=float)
    margin = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    return f"{max(values.mean() - margin, 0):.{digits}f} to {values.mean() + margin:.{digits}f}"
