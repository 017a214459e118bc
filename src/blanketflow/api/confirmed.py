"""What a fitted selector says of its features on the rows that its search never saw, as a frame."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.confirm import searched_rows, seed_of_split, why_no_splits
from ..core.errors import ParameterError, UnreliableWarning
from ..core.row_sample import sampled
from ..core.table import Column, Table
from ..searches.confirmation import (
    Confirmation,
    RepeatedConfirmation,
    are_signed,
    combined,
    confirm_members,
    selected_again,
)
from ..searches.run_fold import fold_seed
from ..searches.sample import filled
from ..selectors.base import FoldOutcome

if TYPE_CHECKING:
    import pandas as pd

#: Runs the search of a selector with a seed on the rows that are marked, and returns what each fold found.
Search = Callable[[int, np.ndarray], list[FoldOutcome]]


def first_searched(selector: Any, target: Column, seed: int, groups: np.ndarray | None) -> np.ndarray:
    """Return which rows the search of a selector sees, (n,); raises `ParameterError` if its splits have no share."""
    where = type(selector).__name__
    if reason := why_no_splits(selector.confirm, selector.confirm_splits):
        raise ParameterError(f"{where}: {reason}")
    return searched_rows(target.values, selector.confirm, seed, groups, where)


def rows_searched(
    folds: Sequence[tuple[str, np.ndarray]], is_searched: np.ndarray, target: Column, max_rows: int | None, seed: int
) -> list[tuple[str, np.ndarray]]:
    """Return the rows of each fold that a search sees: its own, or beyond `max_rows` a sample of them."""
    own = [(fold, rows[is_searched[rows]]) for fold, rows in folds]
    return [(fold, sampled(rows, target.values, max_rows, fold_seed(seed, fold))) for fold, rows in own]


def confirmed(
    selector: Any, features: Table, target: Column, seed: int, groups: np.ndarray | None, search: Search
) -> pd.DataFrame:
    """Return a row for each selected feature, tested on rows that its search never saw; none without `confirm`."""
    if selector.confirm is None:
        return confirmation_frame([])
    where, of_features, found = type(selector).__name__, selector._prior().feature_groups, []
    for number in range(selector.confirm_splits):
        own = seed_of_split(seed, number)
        is_searched = searched_rows(target.values, selector.confirm, own, groups, where)
        members, left_out = selector.selected_features_, np.flatnonzero(~is_searched)
        if number:
            members, status, reason = selected_again(search(own, is_searched), selector.aggregate)
            if status != "ok":
                said = f"{where}: the search of split {number + 1} of confirm_splits is {status}: {reason}."
                warnings.warn(said, UnreliableWarning, stacklevel=4)
        rows = filled(features.take(left_out), selector.missing), target.take(left_out)
        together = None if groups is None else groups[left_out]
        found.append(confirm_members(*rows, members, own, together, where, of_features))
    if selector.confirm_splits == 1:
        return confirmation_frame(found[0])
    signed = are_signed(features, target, of_features)
    repeated = combined(found, selector.selected_features_, signed, of_features)
    return confirmation_frame(repeated, RepeatedConfirmation)


def confirmation_frame(found: Sequence[Confirmation], kind: type[Confirmation] = Confirmation) -> pd.DataFrame:
    """Return a row for each tested feature, with a column for each field of its kind."""
    import pandas as pd

    return pd.DataFrame(map(asdict, found), columns=[field.name for field in fields(kind)])
