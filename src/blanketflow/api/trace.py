"""Every admission and removal of a fitted selector, as a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..selectors.run_fold import FoldOutcome

if TYPE_CHECKING:
    import pandas as pd


def trace(folds: Sequence[str], outcomes: Sequence[FoldOutcome]) -> pd.DataFrame:
    """Return one row per admission or removal on each fold, with its test."""
    import pandas as pd

    rows = [
        (fold, stage, i, s.feature, s.kept, s.role, s.statistic, s.p_value, s.importance, s.listed)
        for fold, outcome in zip(folds, outcomes, strict=True)
        for stage, steps in (("grow", outcome.grown), ("shrink", outcome.decisions))
        for i, s in enumerate(steps)
    ]
    names = ["fold", "stage", "step", "feature", "kept", "role", "statistic", "p_value", "importance", "given"]
    return pd.DataFrame(rows, columns=names)
