"""What tests that centre columns say of those whose variation rounding has destroyed."""

from __future__ import annotations

import numpy as np

from ...core.printable import listed
from ...core.results import CIResults
from ...core.spread import is_rounded_away
from ...core.table import Table


def rounded_away(table: Table, target: str, results: CIResults) -> str:
    """Return in words which columns made marginal results unreliable because they are rounded away; empty for none."""
    names = [target]
    suspects = np.flatnonzero(~results.reliable & (results.statistic == 0))
    if len(suspects) and not is_rounded_away(table[target]):
        features = [name for name in table.names if name != target]
        names = [features[j] for j in suspects if is_rounded_away(table[features[j]])]
    if not len(suspects) or not names:
        return ""
    return (
        f"rounding has destroyed {listed(map(repr, names))}: the spread is below 90 times the distance between floats "
        "of that size, so every test says p = 1. Subtract the offset before the numbers are written, or drop the "
        "column."
    )
