"""What several random splits say of a feature together: the quantile rule for p-values, and an interval that suits it.

Meinshausen, Meier and Buehlmann (2009), p-values for high-dimensional regression, Journal of the American Statistical
Association 104(488), 1671-1681, doi:10.1198/jasa.2009.tm08647. It assumes **screening**: the search of each split keeps
all features that matter, so that the others say nothing given those that were kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from ...ci.splines.generalised_covariance import WIDTH
from ...core.prior import NO_GROUPS, group_of
from ...core.table import Column, Table
from ...search.aggregate import aggregate
from ..base import FoldOutcome, worst_status
from .members import LEVEL, Confirmation

#: The smallest share of the splits whose p-values may decide, and what choosing the share costs.
SMALLEST_SHARE = 0.05
PRICE = 1.0 - math.log(SMALLEST_SHARE)
#: Shares, and distances, are compared up to this rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class RepeatedConfirmation(Confirmation):
    """What several splits say of one feature together, each on rows that its own search never saw.

    Attributes
    ----------
    feature : str
    statistic, effect : float
        Medians over the splits that tested it.
    p_value : float
        By the quantile rule, of the p-values of all splits, 1 where it was not tested; not corrected for several
        features.
    low, high : float
        95 % interval: the effects that the quantile rule does not reject, on Fisher's scale. NaN if it rejects all.
    confirmed : bool
        Whether the rule's p-value is at most 0.05 after each split's was multiplied by the number of its members.
    member : bool
        Whether it is in the set that is shown, the one of the first split.
    splits : int
        How many splits selected it, and so tested it.
    """

    member: bool
    splits: int


def quantile_rule(p: np.ndarray) -> np.ndarray:
    """Return one p-value for each feature, shape (d,), of those of several splits, (n_splits, d), however dependent.

    The smallest, over shares above 0.05, of the quantile of the p-values at the share, divided by it; times 1 - log
    0.05, which is 4.0. A feature that few splits select is large in most of them, and so in all.

    Examples
    --------
    >>> quantile_rule(np.array([[0.001, 0.001], [0.002, 1.0], [0.004, 1.0], [0.003, 1.0]])).round(4).tolist()
    [0.016, 0.016]
    """
    n = len(p)
    ranks = _ranks(n)
    of_shares = np.sort(p, axis=0)[ranks - 1] * (n / ranks)[:, np.newaxis]
    return np.minimum(1.0, PRICE * of_shares.min(axis=0))


def are_signed(features: Table, target: Column, feature_groups: Mapping[str, Sequence[str]]) -> dict[str, bool]:
    """Return of each feature whether its effect is a correlation: not where it, its group or the target is wider."""
    groups = [group_of(name, feature_groups) or name for name in features.names]
    return {
        column.name: groups.count(group) == 1 and max(len(column.levels), len(target.levels)) <= 2
        for column, group in zip(features.columns, groups, strict=True)
    }


def combined(
    by_split: Sequence[Sequence[Confirmation]],
    members: Sequence[str],
    is_signed: Mapping[str, bool],
    feature_groups: Mapping[str, Sequence[str]] = NO_GROUPS,
) -> list[RepeatedConfirmation]:
    """Return what the splits say together of the members, and then of any other feature that they confirm.

    Parameters
    ----------
    by_split : sequence of sequences of Confirmation
        Of each split, the features that its search selected, tested on the rows that it never saw.
    members : sequence of str
        The features that are shown: those of the first split.
    is_signed : mapping of str to bool
        Whether a feature's effect is a correlation, -1 to 1, and not Cramér's V, 0 to 1.
    feature_groups : mapping of str to sequence of str
        Features that stay together, and count as one.
    """
    n, names = len(by_split), list(dict.fromkeys([*members, *(one.feature for found in by_split for one in found)]))
    if not names:
        return []
    at = {name: column for column, name in enumerate(names)}
    p, corrected = np.ones((n, len(names))), np.ones((n, len(names)))
    tested: dict[str, list[Confirmation]] = {name: [] for name in names}
    for split, found in enumerate(by_split):
        n_variables = len({group_of(one.feature, feature_groups) or one.feature for one in found})
        for one in found:
            p[split, at[one.feature]] = one.p_value
            corrected[split, at[one.feature]] = min(1.0, n_variables * one.p_value)
            tested[one.feature].append(one)
    p_values, is_confirmed = quantile_rule(p), quantile_rule(corrected) <= LEVEL
    return [
        RepeatedConfirmation(
            name,
            float(np.median([one.statistic for one in tested[name]])),
            float(p_values[at[name]]),
            float(np.median([one.effect for one in tested[name]])),
            *interval(tested[name], n, is_signed[name]),
            bool(is_confirmed[at[name]]),
            name in members,
            len(tested[name]),
        )
        for name in names
        if name in members or is_confirmed[at[name]]
    ]


def interval(tested: Sequence[Confirmation], n_splits: int, is_signed: bool) -> tuple[float, float]:
    """Return the lowest and the highest effect whose p-values the quantile rule puts above 0.05; NaN if none is.

    In a split the p-value of an effect is that of its distance from the split's own, on Fisher's scale, in standard
    errors; a split that did not test the feature rejects no effect. An effect is rejected if, for some k, k splits
    reject it at k / n times 0.05 / 4.0. So the ends are ends of a split's own interval at such a level.
    """
    lowest = -math.inf if is_signed or any(one.effect < 0 for one in tested) else 0.0
    centres = np.arctanh([one.effect for one in tested])
    errors = (np.arctanh([one.high for one in tested]) - centres) / WIDTH
    says_something = (errors > 0) | (centres != 0)  # of a split in which nothing was left of a column it is neither
    centres, errors = centres[says_something], errors[says_something]
    ranks = _ranks(n_splits)
    widths = np.array([-NormalDist().inv_cdf(LEVEL * k / (n_splits * PRICE) / 2) for k in ranks.tolist()])
    ends = (centres + np.multiply.outer([-1.0, 1.0], np.multiply.outer(widths, errors))).ravel()
    candidates = np.concatenate([[lowest, math.inf], ends[ends > lowest]])
    far = np.abs(candidates[:, np.newaxis] - centres) * (1.0 - ROUNDING)  # (candidate, split)
    n_rejecting = (far[:, np.newaxis, :] > np.multiply.outer(widths, errors)).sum(axis=2)  # (candidate, rank)
    held = candidates[(n_rejecting < ranks).all(axis=1)]
    return (math.tanh(held.min()), math.tanh(held.max())) if len(held) else (math.nan, math.nan)


def _ranks(n: int) -> np.ndarray:
    """Return how many of n splits a share above the smallest may hold."""
    ranks = np.arange(1, n + 1)
    return ranks[ranks > SMALLEST_SHARE * n * (1.0 + ROUNDING)]


def selected_again(outcomes: Sequence[FoldOutcome], rule: Any) -> tuple[list[str], str, str]:
    """Return the features that the folds of one search select by an aggregation rule, with its status and reason."""
    combined = aggregate([outcome.members for outcome in outcomes], rule)
    chosen = [str(feature["feature"]) for feature in combined.features if feature["chosen"]]
    return chosen, *worst_status([(outcome.status, outcome.reason) for outcome in outcomes])
