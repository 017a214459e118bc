"""Tests the features that a search selected on rows that it never saw: each given all the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...ci.generalised_covariance import GeneralisedCovariance, generalised_covariance
from ...core.errors import DataError
from ...core.holm import holm
from ...core.prior import NO_GROUPS, group_of
from ...core.seeds import derive_seed
from ...core.table import Column, Table
from ..learning import matrix_of
from .residuals import cross_fitted_residuals

#: The chance that any feature that says nothing given the others is called confirmed.
LEVEL = 0.05


@dataclass(frozen=True)
class Confirmation:
    """What the rows that the search never saw say of one selected feature.

    Attributes
    ----------
    feature : str
    statistic : float
        Of the generalised covariance measure.
    p_value : float
        Of independence from the target given the other selected features; not corrected for several features.
    effect, low, high : float
        Correlation of what the others leave of the feature and of the target, -1 to 1, with its 95 % interval. Where
        one of them has more than two levels, Cramér's V of what is left, 0 to 1.
    confirmed : bool
        Whether p is at most 0.05 after Holm's correction for all selected features.
    """

    feature: str
    statistic: float
    p_value: float
    effect: float
    low: float
    high: float
    confirmed: bool


def confirm_members(
    features: Table,
    target: Column,
    members: Sequence[str],
    seed: int,
    groups: np.ndarray | None = None,
    where: str = "data",
    feature_groups: Mapping[str, Sequence[str]] = NO_GROUPS,
) -> list[Confirmation]:
    """Test each selected feature on held-out rows given the other selected ones.

    Parameters
    ----------
    features : Table
        The rows that the search never saw, with no missing cells.
    target : Column
        Their target: numeric, or categorical for classification.
    members : sequence of str
        The features that the search selected.
    seed : int
        Decides the parts in which regressions are cross-fitted.
    groups : ndarray of shape (n,), optional
        Numbers of rows that belong together; then groups are taken as independent, not rows.
    where : str
        What the message of an error begins with.
    feature_groups : mapping of str to sequence of str
        Features that stay together: they are tested together, given those outside, and have the same result.

    Returns
    -------
    list of Confirmation
        One for each member, in their order.

    Raises
    ------
    DataError
        If the target has one value only, or there are no more rows than members.
    """
    if target.is_constant():
        raise DataError(f"{where}: {target.name!r} has one value in the rows to confirm on. Remove confirm.")
    if len(members) >= target.n_rows:
        raise DataError(
            f"{where}: {len(members)} features cannot be confirmed on {target.n_rows} rows, which must be more. Select "
            "fewer, give more rows, or remove confirm."
        )
    variables: dict[str, list[str]] = {}
    for member in members:
        variables.setdefault(group_of(member, feature_groups) or member, []).append(member)
    found = [given_the_others(features, target, columns, members, seed, groups) for columns in variables.values()]
    is_confirmed = np.array(holm([one.p_value for one in found])) <= LEVEL
    confirmations = {
        member: Confirmation(member, one.statistic, one.p_value, one.effect, one.low, one.high, bool(confirmed))
        for columns, one, confirmed in zip(variables.values(), found, is_confirmed, strict=True)
        for member in columns
    }
    return [confirmations[member] for member in members]


def given_the_others(
    features: Table,
    target: Column,
    columns: Sequence[str],
    members: Sequence[str],
    seed: int,
    groups: np.ndarray | None = None,
) -> GeneralisedCovariance:
    """Test some members together given the others; the rest is as for `confirm_members`."""
    others, own = matrix_of(features, [name for name in members if name not in columns]), derive_seed(seed, *columns)
    of_columns = [cross_fitted_residuals(features[name], others, own, groups) for name in columns]
    return generalised_covariance(np.hstack(of_columns), cross_fitted_residuals(target, others, own, groups), groups)
