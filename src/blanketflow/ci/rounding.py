"""What tests that centre columns say of those whose variation rounding has destroyed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.printable import listed
from ..core.results import CIResults
from ..core.spread import is_rounded_away
from ..core.table import Table


def rounded_away(table: Table, target: str, results: CIResults) -> list[str]:
    """Return the columns that made marginal results on all other columns unreliable because they are rounded away."""
    suspects = np.flatnonzero(~results.reliable & (results.statistic == 0))
    if not len(suspects):
        return []
    if is_rounded_away(table[target]):
        return [target]
    features = [name for name in table.names if name != target]
    return [features[j] for j in suspects if is_rounded_away(table[features[j]])]


def reason(names: Sequence[str]) -> str:
    """Return in words why tests of some columns say nothing; empty for no columns."""
    if not names:
        return ""
    return (
        f"rounding has destroyed {listed(map(repr, names))}: the spread is below 90 times the distance between floats "
        "of that size, so every test says p = 1. Subtract the offset before the numbers are written, or drop the "
        "column."
    )
