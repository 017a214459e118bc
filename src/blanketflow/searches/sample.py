"""The rows that a selector fits: each as often as its weight says, and which of them belong together."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ..ci.base import CITest
from ..core.design import Design
from ..core.design_arguments import as_design, labels_as_numbers, weighted_rows
from ..core.errors import DataError, DependentRowsWarning, ParameterError, UnsupportedError
from ..core.levels import used_levels, with_used_levels
from ..core.row_sample import sampled
from ..core.table import Column, Table
from ..data.columns import first_infinite, missing_by_column
from ..data.impute import impute
from ..selectors.base import Method
from ..selectors.compatibility import why_groups_are_ignored, why_no_sampling_weights, why_no_strata, why_no_weights


def rows_at_hand(
    name: str,
    features: Table,
    target: Column,
    weights: Any,
    groups: Any,
    weights_are: str,
    drop: bool = False,
) -> tuple[Table, Column, np.ndarray | None, bool]:
    """Return features and target with each row as often as it counts, and numbers of rows that belong together.

    The last is whether rows count several times. Weights that are all one change nothing, with any method. Sampling
    weights and groups are the design of the features. With `drop` rows with missing cells leave first.

    Raises
    ------
    DataError
        If weights or groups do not have one entry per row, weights are not what they are said to be, or entries are
        missing.
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
    if rows is None or np.array_equal(rows, np.arange(features.n_rows)):
        return features, target, together, False
    if shares is not None:
        together = None if together is None else together[rows]
        return with_used_levels(features.take(rows)), used_levels(target.take(rows)), together, False
    together = rows if together is None else together[rows]
    return with_used_levels(features.take(rows)), used_levels(target.take(rows)), together, True


def with_strata(name: str, features: Table, target: Column, within: Any) -> tuple[Table, Column]:
    """Return features within whose strata CI tests are made, and the target; `within` is None for no strata.

    Raises `DataError` if there is not one label per row.
    """
    if within is None:
        return features, target
    codes = labels_as_numbers(name, "within", within, features.n_rows)
    return features.with_design(replace(features.design or Design(), within=codes)), target


def check_rows(
    name: str,
    method: Method,
    test: CITest | None,
    are_weighted: bool,
    design: Design | None,
    confirm: bool,
    max_rows: int | None,
) -> None:
    """Raise `UnsupportedError` if anything refuses the rows; warn if groups make p-values doubtful.

    A sample of at most `max_rows` is refused with weights, and by `ParameterError` where the search takes all rows. The
    test decides it, or the method if it has none. (Of a data set in a config a sample may be asked, since some searches
    on it take one and others do not.)
    """
    if are_weighted and (reason := why_no_weights(method, test, confirm)):
        raise UnsupportedError(f"{name}: {reason}. Repeat the rows, or choose another method or test.")
    n_groups = None if design is None else design.n_clusters
    if test is not None and test.knows_clusters and n_groups is None:
        raise UnsupportedError(f"{name}: permute of {test.card.id} needs groups. Give fit groups, or remove permute.")
    has_weights = design is not None and design.weights is not None
    if has_weights and (reason := why_no_sampling_weights(method, test, confirm)):
        raise UnsupportedError(f"{name}: {reason}. Choose another method or test.")
    if design is not None and design.within is not None and (reason := why_no_strata(method, test, confirm)):
        raise UnsupportedError(f"{name}: {reason}. Remove within, or choose another method.")
    if n_groups and test is not None and (reason := why_groups_are_ignored(test, n_groups)):
        warnings.warn(f"{name}: {reason}.", DependentRowsWarning, stacklevel=3)
    if max_rows is not None and are_weighted:
        raise UnsupportedError(f"{name}: rows that count several times are not sampled. Remove max_rows.")
    if max_rows is not None and not (test or method).card.takes_max_rows:
        of = method.card.id if test is None else f"{method.card.id} with {test.card.id}"
        raise ParameterError(f"{name}: {of} takes all rows, and never a sample of them. Remove max_rows.")


def check_complete(features: Table, missing: str) -> None:
    """Raise `DataError` if a cell is infinite, or is missing and nothing is to become of it."""
    incomplete = features.first_incomplete() if missing == "error" else first_infinite(features.columns)
    if incomplete is not None:
        raise DataError(
            f"Input X contains NaN or infinity in column {incomplete.name!r}. For missing cells set missing to impute "
            "or drop, or impute it first, for example with sklearn.impute.SimpleImputer in a Pipeline."
        )


def filled(features: Table, missing: str, test: CITest | None = None) -> Table:
    """Return a fold's features, with missing cells imputed from the rows of the fold if that is asked for.

    They stay if the CI test that will see them takes them.
    """
    is_taken = test is not None and test.incomplete is not None
    return impute(features, features) if missing in ("impute", "pairwise") and not is_taken else features


def sample_of_table(table: Table, max_rows: int | None, seed: int) -> tuple[Table, str]:
    """Return a table, or beyond `max_rows` a sample of it that no target stratifies, and in words that it is one."""
    if max_rows is None or table.n_rows <= max_rows:
        return table, ""
    rows = sampled(np.arange(table.n_rows), np.zeros(table.n_rows), max_rows, seed)
    return with_used_levels(table.take(rows)), f"{max_rows:,} of {table.n_rows:,} rows were taken (max_rows)"


def _complete(name: str, features: Table) -> np.ndarray:
    gaps = [features[at] for at in np.flatnonzero(missing_by_column(features.columns)).tolist()]
    rows = np.flatnonzero(~np.any([column.missing() for column in gaps], axis=0)) if gaps else None
    if rows is None:
        return np.arange(features.n_rows)
    if len(rows) < 2:
        raise DataError(f"{name}: {len(rows)} rows are complete, and at least 2 are needed. Set missing to impute.")
    return rows
