"""What a result table is: its columns, what it holds in a few words, and how it is made of what a run found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...data.artefact_columns import Rows

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


#: pandas' type for each type name that `blanketflow.data.artefacts.write_columns` accepts.
_DTYPES = {"string": "str", "double": "float64", "int64": "int64", "bool": "bool"}


def typed_frame(rows: Iterable[Mapping[str, Any]], types: Mapping[str, str]) -> pd.DataFrame:
    """Return rows as a frame.

    Parameters
    ----------
    rows : iterable of mappings
        Each has a value for every column; other keys are ignored.
    types : mapping of str to {"string", "double", "int64", "bool"}
        The type of each column, in the order of the columns.

    Examples
    --------
    >>> typed_frame([], {"dataset": "string", "alpha": "double"})["alpha"].dtype
    dtype('float64')
    """
    import pandas as pd

    rows = list(rows)
    return pd.DataFrame(
        {column: pd.Series([row[column] for row in rows], dtype=_DTYPES[kind]) for column, kind in types.items()}
    )
