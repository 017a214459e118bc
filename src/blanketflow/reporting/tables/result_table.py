"""What a result table is: its columns, what it holds in a few words, and how it is made of what a run found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...data.artefact_columns import Rows
from ..typed_frames import typed_frame

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Found:
    """What a run found, as the functions of the result tables take it.

    Attributes
    ----------
    cards : mapping of str to mapping
        Data-set cards by data set.
    blankets, folds : DataFrame
        The rows of each blanket and folds artefact, with dataset, split and selector.
    evaluations : DataFrame
        The rows of each evaluate artefact, with dataset and selector.
    both_selections : DataFrame
        The same and those of evaluate_optimistic, with `selected_on`.
    ended : DataFrame
        Columns dataset, selector, split, stage, status, reason: how each search and each model ended.
    skipped : sequence of (dataset, selector, reason)
        Pairs that were not run.
    selectors : mapping of str to mapping
        Their specs.
    scores : DataFrame
        The result table of that name, which others are made of.
    """

    cards: Mapping[str, Mapping[str, Any]]
    blankets: pd.DataFrame
    folds: pd.DataFrame
    evaluations: pd.DataFrame
    both_selections: pd.DataFrame
    ended: pd.DataFrame
    skipped: Sequence[Sequence[str]]
    selectors: Mapping[str, Mapping[str, Any]]
    scores: pd.DataFrame


@dataclass(frozen=True)
class ResultTable:
    """A result table.

    Attributes
    ----------
    holds : str
        In a few words, for Snakemake's report.
    rows : Rows
    make : function
        Returns it as a frame.
    """

    holds: str
    rows: Rows
    make: Callable[[Found], pd.DataFrame]


def frame(table: Rows, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as a frame with the columns of a table, also when there are none."""
    return typed_frame(rows, table.types())
