"""Tests each selected feature given the others, on rows that the search did not use.

Several random splits are combined by the quantile rule of Meinshausen, Meier and Buehlmann (2009), p-values for
high-dimensional regression, Journal of the American Statistical Association 104(488), 1671-1681,
doi:10.1198/jasa.2009.tm08647. It assumes **screening**: the search of each split selects all features that matter, so
that the others carry no information given those.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from ..ci.clusters import Clusters
from ..ci.multiple_testing import holm
from ..ci.predictive.model_losses import cross_fitted
from ..ci.splines.generalised_covariance import WIDTH, GeneralisedCovariance, generalised_covariance
from ..core.cards import CATEGORICAL
from ..core.column import TargetColumn
from ..core.errors import DataError
from ..core.numerics import orthonormal_basis, standardised
from ..core.prior import NO_GROUPS, group_of
from ..core.rows import balanced_parts
from ..core.seeds import derive_rng, derive_seed
from ..core.table import Column, Design, Table
from ..models.base import class_probabilities
from ..models.encode import design, moderate, moderated
from ..selectors.base import FoldOutcome, worst_status
from ..selectors.judged.portfolio import linear_model
from ..selectors.learning import estimator_for, matrix_of
from ..targets import NullModel, get_target_kind
from ..targets.means import inverse
from .aggregate import aggregate

#: Family-wise error rate of the confirmation.
LEVEL = 0.05


@dataclass(frozen=True)
class Confirmation:
    """The test of one selected feature given the others, on rows that the search did not use.

    `statistic` is that of the generalised covariance measure; `p_value` is not corrected for several features, and
    `confirmed` means that it is at most 0.05 after Holm's correction. `effect` is the correlation of the residuals of
    feature and target, -1 to 1, with the 95 % interval `low` to `high`; Cramér's V of the residuals, 0 to 1, if one has
    more than two levels. Residuals of a survival target are martingale residuals, positive for early events.

    `ratio`, with the 95 % interval `ratio_low` to `ratio_high`, is that of `ratios`: NaN for classes and numbers.
    """

    feature: str
    statistic: float
    p_value: float
    effect: float
    low: float
    high: float
    confirmed: bool
    ratio: float = field(default=math.nan, kw_only=True)
    ratio_low: float = field(default=math.nan, kw_only=True)
    ratio_high: float = field(default=math.nan, kw_only=True)


def confirm_members(
    features: Table,
    target: Column,
    members: Sequence[str],
    seed: int,
    groups: np.ndarray | None = None,
    where: str = "data",
    feature_groups: Mapping[str, Sequence[str]] = NO_GROUPS,
) -> list[Confirmation]:
    """Test each selected feature on held-out rows given the other selected ones; return one `Confirmation` per member.

    `features` has no missing cells, and `target` is categorical for classification. `seed` fixes the parts in which
    regressions are cross-fitted. Rows with equal numbers in `groups`, (n,), are dependent. Features of one of
    `feature_groups` are tested together, given those outside, and share the result. Errors begin with `where`:
    `DataError` if the target has only one value, or there are no more rows than members.
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
    of_members = ratios(features, target, members, groups)
    confirmations = {
        member: Confirmation(
            member,
            one.statistic,
            one.p_value,
            one.effect,
            one.low,
            one.high,
            bool(confirmed),
            **dict(zip(RATIO, of_members[member], strict=True)),
        )
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
    """Test some members together given the others; for other arguments see `confirm_members`."""
    others, own = matrix_of(features, [name for name in members if name not in columns]), derive_seed(seed, *columns)
    of_columns = [cross_fitted_residuals(features[name], others, own, groups) for name in columns]
    return generalised_covariance(np.hstack(of_columns), cross_fitted_residuals(target, others, own, groups), groups)


#: Number of parts for cross-fitting; at most the rows of the smallest class.
N_PARTS = 5
#: Fewest distinct values of a column that is bent, and the quantiles where it bends.
FEWEST_VALUES, QUANTILES = 8, np.linspace(0.1, 0.9, 9)
#: Most columns that are bent, and most columns whose products are regressors.
MOST_BENT, MOST_WITH_PRODUCTS = 30, 10
#: Ridge penalties, chosen by leave-one-out errors.
PENALTIES = np.geomspace(0.1, 1e4, 16)


def cross_fitted_residuals(column: Column, X: np.ndarray, seed: int, groups: np.ndarray | None = None) -> np.ndarray:
    """Return the residuals, (n, k), of a column given columns X, (n, m); k is the number of levels, 1 for two or a
    number.

    Two regressions compete on held-out rows: our linear (or logistic) one, and, up to 30 columns, a ridge regression on
    bent columns and products, which finds curves and interactions. Trees leave more of a smooth relation and cause
    false positives. Rows with equal `groups` numbers are held out together.

    A target of a further kind has the residuals of its own regression, on bent columns if there are enough rows or
    events (Kook and others 2024, doi:10.1080/01621459.2024.2395588); few parameters need no held-out
    rows.
    """
    if isinstance(column, TargetColumn):
        return residuals_of_kind(column, X)
    y = moderated(column)
    levels = np.unique(y) if column.kind == CATEGORICAL else None
    outcomes = y[:, np.newaxis] if levels is None else (y[:, np.newaxis] == levels).astype(np.float64)
    parts = balanced_parts(y, N_PARTS, derive_rng(seed, "confirm", column.name), groups)
    candidates = [_by_linear_model(column, y, levels), _by_bent_columns(outcomes)]
    found = []
    for fitted in candidates if 0 < X.shape[1] <= MOST_BENT else candidates[:1]:
        found.append(cross_fitted(outcomes, parts, partial(fitted, X)))
    best = min(found, key=lambda left: float((left**2).sum()))
    return best[:, 1:] if best.shape[1] == 2 else best


#: Rows or events per regressor of a target of a further kind.
ROWS_PER_REGRESSOR = 15


def residuals_of_kind(target: TargetColumn, X: np.ndarray) -> np.ndarray:
    """Return the score residuals, (n, 1), of a target regressed on columns X, (n, m), by the model of its kind."""
    kind, every = get_target_kind(target.target_kind), np.arange(target.n_rows)
    null = kind.null_model(target, np.empty((0, target.n_rows)))
    if not X.shape[1]:
        return null.residuals()[:, np.newaxis]
    bent = bent_columns(X, every)
    regressors = bent if bent.shape[1] * ROWS_PER_REGRESSOR <= null.size else X
    basis = orthonormal_basis(standardised(np.ascontiguousarray(regressors.T)))
    return kind.null_model(target, np.sqrt(target.n_rows) * basis).residuals()[:, np.newaxis]


#: A ratio with its 95 % interval.
RATIO = ("ratio", "ratio_low", "ratio_high")


def ratios(
    features: Table, target: Column, members: Sequence[str], groups: np.ndarray | None = None
) -> dict[str, tuple[float, float, float]]:
    """Return each member's hazard, rate or odds ratio or ratio of means, with its 95 % interval, for a further kind.

    From one regression of the target's kind on all members, by Wald's method with the dispersion of its tests. Ratios
    are per standard deviation of a number in these rows; of a column of two values for the larger against the smaller.
    NaN for classes and numbers as targets, labels of more levels, combinations of other members, and if there are fewer
    rows or events than parameters. If rows are dependent, with equal numbers in `groups`, (n,), intervals are those of
    `covariance_by_clusters`; without interval if the kind does not know groups.
    """
    found = dict.fromkeys(members, (math.nan,) * 3)
    kind = get_target_kind(target.target_kind) if isinstance(target, TargetColumn) else None
    if kind is None or not kind.card.effect or not members:
        return found
    encoded, scale = design(moderate(features.select(members))), np.sqrt(target.n_rows)
    columns = standardised(np.ascontiguousarray(encoded.matrix.T))
    basis = orthonormal_basis(columns)
    model = kind.null_model(target, scale * basis)
    if model.size <= len(basis) + model.n_own:
        return found
    slopes, covariance = model.slopes()
    if groups is not None and len(np.unique(groups)) < len(groups):
        covariance = (
            covariance_by_clusters(model, groups, len(basis)) if kind.card.design_based else np.nan * covariance
        )
    to_columns = np.linalg.pinv(basis @ columns.T)  # slopes of the basis to those of columns with variance 1
    is_told = np.abs((to_columns.T * (basis @ columns.T)).sum(axis=0) - 1.0) < ROUNDING
    slopes, errors = slopes @ to_columns.T, np.sqrt(np.vecdot(to_columns @ covariance, to_columns))
    for name, block in zip(members, encoded.blocks, strict=True):
        cells = encoded.matrix[:, block.start]
        if block.stop - block.start == 1 and is_told[block.start]:
            is_binary = ((cells == cells.min()) | (cells == cells.max())).all()
            step = (np.ptp(cells) if is_binary else cells.std(ddof=1)) / cells.std()
            slope, width = slopes[block.start], WIDTH * errors[block.start]
            with np.errstate(over="ignore"):  # of a column that separates rows with and without events
                found[name] = tuple(np.exp(step * np.array([slope, slope - width, slope + width])).tolist())
    return found


def covariance_by_clusters(model: NullModel, groups: np.ndarray, n_slopes: int) -> np.ndarray:
    """Return the covariance of the slopes of a regression, (k, k), if rows of equal numbers in `groups` are dependent.

    It comes from the totals of their scores (Liang and Zeger 1986, doi:10.1093/biomet/73.1.13; for survival Lin and Wei
    1989), times C / (C - k) for C groups; NaN without more groups than slopes.
    """
    clusters = Clusters(Design(clusters=groups), len(groups))
    scores, information = model.scores(np.empty((0, len(groups))))
    influence = (inverse(information) @ clusters.totals(scores))[len(information) - n_slopes :]
    rest = clusters.n - n_slopes
    return clusters.n / rest * influence @ influence.T if rest > 0 else np.full((n_slopes, n_slopes), math.nan)


def result_columns(target: Column | None, splits: int = 1) -> list[str]:
    """Return the fields of the results for a target: the ratio of further kinds, what is told of several splits."""
    has_ratio = isinstance(target, TargetColumn) and bool(get_target_kind(target.target_kind).card.effect)
    kind = RepeatedConfirmation if splits > 1 else Confirmation
    return [one.name for one in fields(kind) if has_ratio or one.name not in RATIO]


def _by_linear_model(column: Column, y: np.ndarray, levels: np.ndarray | None) -> Any:
    def predict(X: np.ndarray, train: np.ndarray, out: np.ndarray, part: int) -> np.ndarray:
        fitted = estimator_for(linear_model(column), column, 0, X, train).fit(X[train], y[train])
        if levels is None:
            return fitted.predict(X[out])[:, np.newaxis]
        return class_probabilities(fitted, X[out], levels)

    return predict


def _by_bent_columns(outcomes: np.ndarray) -> Any:
    from sklearn.linear_model import RidgeCV

    def predict(X: np.ndarray, train: np.ndarray, out: np.ndarray, part: int) -> np.ndarray:
        regressors = bent_columns(X, train)
        fitted = RidgeCV(PENALTIES).fit(regressors[train], outcomes[train])
        return fitted.predict(regressors[out]).reshape(len(out), -1)

    return predict


def bent_columns(X: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Return columns, the excess of each over its quantiles, and products of two, standardised on training rows.

    >>> bent_columns(np.array([[0.0, 1], [1, 0], [2, 1], [3, 0]]), np.arange(4)).shape
    (4, 3)
    """
    Z = _standardised(X, train)
    found = [Z]
    for z in Z.T:
        if len(np.unique(z[train])) >= FEWEST_VALUES:
            found.append(np.maximum(z[:, np.newaxis] - np.unique(np.quantile(z[train], QUANTILES)), 0.0))
    if 1 < Z.shape[1] <= MOST_WITH_PRODUCTS:
        one, other = np.triu_indices(Z.shape[1], 1)
        found.append(Z[:, one] * Z[:, other])
    return _standardised(np.concatenate(found, axis=1), train)


def _standardised(columns: np.ndarray, train: np.ndarray) -> np.ndarray:
    deviations = columns[train].std(axis=0)
    centred = columns - columns[train].mean(axis=0)
    return np.divide(centred, deviations, out=np.zeros_like(centred), where=deviations > 1e-12)


#: The smallest share of splits whose p-values may decide, and the cost of choosing the share.
SMALLEST_SHARE = 0.05
PRICE = 1.0 - math.log(SMALLEST_SHARE)
#: Rounding tolerance of shares and distances.
ROUNDING = 1e-9
#: Logarithm of about the largest number.
LARGEST_LOG = 709.0


@dataclass(frozen=True)
class RepeatedConfirmation(Confirmation):
    """The combined result of several splits for one feature.

    `statistic` and `effect` are medians over the `splits` that selected and tested it. `p_value`, by the quantile rule
    from all splits (1 where it was not tested), is not corrected for several features; `confirmed` means that it is at
    most 0.05 after each split's p-value was multiplied by its number of members. `low` to `high` is a 95 % interval:
    the effects not rejected by the quantile rule, on Fisher's scale, NaN if all are rejected. `ratio` is a median too,
    and its interval that of its logarithm. `member` means that it is in the selected set, that of the first split.
    """

    member: bool
    splits: int


def quantile_rule(p: np.ndarray) -> np.ndarray:
    """Return one p-value per feature, (d,), from those of several splits, (n_splits, d), under any dependence.

    The minimum, over shares above 0.05, of the p-values' quantile at the share divided by the share, times 1 - log 0.05
    = 4.0. A feature that few splits select has p = 1 in most of them, so its combined p-value is large.

    >>> quantile_rule(np.array([[0.001, 0.001], [0.002, 1.0], [0.004, 1.0], [0.003, 1.0]])).round(4).tolist()
    [0.016, 0.016]
    """
    n = len(p)
    ranks = _ranks(n)
    of_shares = np.sort(p, axis=0)[ranks - 1] * (n / ranks)[:, np.newaxis]
    return np.minimum(1.0, PRICE * of_shares.min(axis=0))


def are_signed(features: Table, target: Column, feature_groups: Mapping[str, Sequence[str]]) -> dict[str, bool]:
    """Return whether each feature's effect is a correlation: not if it, its group or the target has several columns."""
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
    """Return the combined results of the members, the set of the first split, then of any other feature confirmed.

    `by_split` has each split's results. `is_signed` says whether a feature's effect is a correlation, -1 to 1, or
    Cramér's V, 0 to 1. Features in one of `feature_groups` count as one.
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
            **dict(zip(RATIO, _median_ratio(tested[name], n), strict=True)),
        )
        for name in names
        if name in members or is_confirmed[at[name]]
    ]


def interval(tested: Sequence[Confirmation], n_splits: int, is_signed: bool) -> tuple[float, float]:
    """Return the lowest and highest effect with a quantile-rule p-value above 0.05; NaN if there is none.

    In a split an effect is tested by its distance from the split's own, on Fisher's scale, in standard errors; a split
    that did not test the feature rejects no effect. An effect is rejected if, for some k, k splits reject it at k / n
    times 0.05 / 4.0, so the ends are ends of a split's own interval at such a level.
    """
    lowest = -math.inf if is_signed or any(one.effect < 0 for one in tested) else 0.0
    centres = np.arctanh([one.effect for one in tested])
    low, high = _held(centres, np.arctanh([one.high for one in tested]), n_splits, lowest)
    return math.tanh(low), math.tanh(high)


def _median_ratio(tested: Sequence[Confirmation], n_splits: int) -> tuple[float, float, float]:
    """Return the median ratio of the splits that have one, with the `interval` of its logarithm; NaN if none has."""
    known = np.array([(one.ratio, one.ratio_high) for one in tested if one.ratio > 0]).reshape(-1, 2)
    if not len(known):
        return (math.nan,) * 3
    low, high = _held(*np.log(known.T), n_splits, -math.inf)
    return float(np.median(known[:, 0])), math.exp(low), math.exp(high) if high < LARGEST_LOG else math.inf


def _held(centres: np.ndarray, highest: np.ndarray, n_splits: int, lowest: float) -> tuple[float, float]:
    """Return `interval` on a scale where each split's own is symmetric around its centre, up to `highest`."""
    errors = (highest - centres) / WIDTH
    says_something = (errors > 0) | (centres != 0)  # of a split in which nothing was left of a column it is neither
    centres, errors = centres[says_something], errors[says_something]
    ranks = _ranks(n_splits)
    widths = np.array([-NormalDist().inv_cdf(LEVEL * k / (n_splits * PRICE) / 2) for k in ranks.tolist()])
    ends = (centres + np.multiply.outer([-1.0, 1.0], np.multiply.outer(widths, errors))).ravel()
    candidates = np.concatenate([[lowest, math.inf], ends[ends > lowest]])
    far = np.abs(candidates[:, np.newaxis] - centres) * (1.0 - ROUNDING)  # (candidate, split)
    n_rejecting = (far[:, np.newaxis, :] > np.multiply.outer(widths, errors)).sum(axis=2)  # (candidate, rank)
    held = candidates[(n_rejecting < ranks).all(axis=1)]
    return (float(held.min()), float(held.max())) if len(held) else (math.nan, math.nan)


def _ranks(n: int) -> np.ndarray:
    """Return how many of n splits a share above the smallest can have."""
    ranks = np.arange(1, n + 1)
    return ranks[ranks > SMALLEST_SHARE * n * (1.0 + ROUNDING)]


def selected_again(outcomes: Sequence[FoldOutcome], rule: Any) -> tuple[list[str], str, str]:
    """Return the features selected by the folds of one search by an aggregation rule, with its status and reason."""
    combined = aggregate([outcome.members for outcome in outcomes], rule)
    chosen = [str(feature["feature"]) for feature in combined.features if feature["chosen"]]
    return chosen, *worst_status([(outcome.status, outcome.reason) for outcome in outcomes])
