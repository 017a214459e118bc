"""The rows that a selector fits, with their weights and groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from ..ci.base import CITest
from ..core.column_checks import warn_of_row_order
from ..core.convert import as_design, as_table, column_of_objects, labels_as_numbers, weighted_rows
from ..core.errors import DataError
from ..core.rows import repeats
from ..core.table import Column, Design, Table, used_levels, with_used_levels
from ..core.task import asked_task, infer_task, target_column
from ..data.arrow_frames import as_frame
from ..data.columns import first_infinite, gaps, missing_by_column
from ..data.impute import impute
from ..targets.forms import as_target
from ..targets.joint import refuse_among


@dataclass(frozen=True)
class Sample:
    """The rows that a search reads: `features` with their design (sampling weights, clusters, strata), and `target`.

    The target is categorical for classification, else numeric, without missing cells. `groups`, (n,), are numbers of
    rows that are never separated in splits; `are_counted` says whether rows represent several equal ones; `gaps` counts
    missing cells by feature; `notes` are remarks on how the table was read. Of a table of `taken_of` rows only these
    were read; 0 if they are all.
    """

    features: Table
    target: Column
    task: str
    groups: np.ndarray | None = None
    are_counted: bool = False
    gaps: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    taken_of: int = 0

    @property
    def repeats(self) -> np.ndarray | None:
        """The groups if they are rows that were entered more than once."""
        return None if self.groups is None or self.are_counted or self.features.design else self.groups

    def take(self, rows: np.ndarray) -> Sample:
        """Return some of the rows."""
        groups = None if self.groups is None else self.groups[rows]
        return replace(self, features=self.features.take(rows), target=self.target.take(rows), groups=groups)


def rows_at_hand(
    name: str,
    features: Table,
    target: Column,
    weights: Any,
    groups: Any,
    weights_are: str,
    drop: bool = False,
) -> tuple[Table, Column, np.ndarray | None, bool]:
    """Return features and target with rows repeated by their counts, group numbers, and whether any row was repeated.

    Sampling weights and groups are the design of the features. Without them, rows that were entered twice are groups.
    With `drop`, incomplete rows are dropped first. Raises `DataError` unless weights and groups are complete, one per
    row, and weights as declared.
    """
    together = None if groups is None else labels_as_numbers(name, "groups", groups, features.n_rows)
    rows, shares = None, None
    if weights is not None:
        rows, shares = weighted_rows(f"{name}: sample_weight", weights, weights_are, features.n_rows)
    if together is not None or shares is not None:
        within = None if features.design is None else features.design.within
        features = features.with_design(as_design(shares, together, within))
    if drop and len(complete := _complete(name, features)) < features.n_rows:
        place = np.full(features.n_rows, -1)
        place[complete] = np.arange(len(complete))
        features, target = with_used_levels(features.take(complete)), used_levels(target.take(complete))
        together = None if together is None else together[complete]
        rows = None if rows is None else place[rows][place[rows] >= 0]
    if weights is None and groups is None:
        together = repeats(chain(features.columns, [target]), features.n_rows)
    if rows is None or np.array_equal(rows, np.arange(features.n_rows)):
        return features, target, together, False
    if shares is not None:
        together = None if together is None else together[rows]
        return with_used_levels(features.take(rows)), used_levels(target.take(rows)), together, False
    together = rows if together is None else together[rows]
    return with_used_levels(features.take(rows)), used_levels(target.take(rows)), together, True


def as_sample(
    where: str,
    X: Any,
    y: Any,
    missing: str = "error",
    task: str = "auto",
    sample_weight: Any = None,
    weights_are: str = "counts",
    groups: Any = None,
    within: Any = None,
    target_kind: str = "auto",
) -> Sample:
    """Return features, target and design of any type as a `Sample`; `y` is as in `fit` of the selector classes.

    Raises `DataError`, starting with `where`, if they cannot be read, or cells are missing without a rule for them.
    """
    warn_of_row_order(where, X, 4, y=y, sample_weight=sample_weight, groups=groups, within=within)
    name = str(getattr(y, "name", None) or "target")
    features, of_kind = as_table(as_frame(X)), as_target(where, name, y, target_kind)
    refuse_among(where, y, features.names)
    column = column_of_objects(name, np.asarray(y)) if of_kind is None else of_kind
    check_complete(features, missing)
    known = gaps(features)
    read = with_strata(where, features, column, within)
    features, column, *of_rows = rows_at_hand(where, *read, sample_weight, groups, weights_are, missing == "drop")
    task = infer_task(column, asked_task(where, task, target_kind)).name
    return Sample(features, target_column(column, task), task, *of_rows, known)


def with_strata(name: str, features: Table, target: Column, within: Any) -> tuple[Table, Column]:
    """Return features with strata `within`, or None, and the target; raises `DataError` unless each row has a label."""
    if within is None:
        return features, target
    codes = labels_as_numbers(name, "within", within, features.n_rows)
    return features.with_design(replace(features.design or Design(), within=codes)), target


def check_complete(features: Table, missing: str) -> None:
    """Raise `DataError` if a cell is infinite, or is missing without a rule for missing cells."""
    incomplete = features.first_incomplete() if missing == "error" else first_infinite(features.columns)
    if incomplete is not None:
        raise DataError(
            f"Input X contains NaN or infinity in column {incomplete.name!r}. For missing cells set missing to impute "
            "or drop, or impute it first, for example with sklearn.impute.SimpleImputer in a Pipeline."
        )


def filled(features: Table, missing: str, test: CITest | None = None) -> Table:
    """Return a fold's features, with missing cells imputed from the fold's rows if requested and not handled by the CI
    test.
    """
    is_taken = test is not None and test.incomplete is not None
    return impute(features, features) if missing in ("impute", "pairwise") and not is_taken else features


def _complete(name: str, features: Table) -> np.ndarray:
    gaps = [features[at] for at in np.flatnonzero(missing_by_column(features.columns)).tolist()]
    rows = np.flatnonzero(~np.any([column.missing() for column in gaps], axis=0)) if gaps else None
    if rows is None:
        return np.arange(features.n_rows)
    if len(rows) < 2:
        raise DataError(f"{name}: {len(rows)} rows are complete, and at least 2 are needed. Set missing to impute.")
    return rows
