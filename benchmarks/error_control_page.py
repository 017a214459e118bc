"""The page docs/error-control.md, to which several measurements write, each a block of its own."""

from __future__ import annotations

import numpy as np
import page
from numpy.typing import ArrayLike

DOCS = page.ROOT / "docs"


def write(block: str, table: str) -> None:
    """Renew a block of the page."""
    page.write(DOCS / "error-control.md", {block: table.rstrip()})


def interval(values: ArrayLike, digits: int) -> str:
    """Return the 95 % interval of the mean of some values that are never negative, in words."""
    values = np.asarray(values, dtype=float)
    margin = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    return f"{max(values.mean() - margin, 0):.{digits}f} to {values.mean() + margin:.{digits}f}"
