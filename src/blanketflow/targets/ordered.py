"""Ordered classes, such as grades and stages. Null model: proportional odds regression."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL, ORDERED, Card
from ..core.column import Column, TargetColumn
from ..core.column_checks import tokens
from ..core.errors import DataError
from ..core.in_yaml import in_yaml
from ..core.printable import listed
from ..models.proportional_odds import LogLikelihood
from .base import NullModel, TargetKind
from .checks import finite_numbers, refuse_missing, refuse_where, rejected
from .means import inverse

#: Most classes of whole numbers.
MOST_CLASSES = 20
#: Rows of a class for the test of proportional odds: rarer classes are joined with others.
FEWEST_OF_CLASS = 20
#: Scales, each in order, of words with the same place: labels in another order are refused, since tables sort them.
SCALES = (
    (
        ("none", "no", "minimal"),
        ("mild", "minor", "low", "light", "small"),
        ("moderate", "medium", "middle", "intermediate", "average", "normal"),
        ("severe", "major", "high", "heavy", "large", "strong"),
        ("extreme", "critical", "very high"),
    ),
    (("never",), ("rarely", "seldom"), ("sometimes", "occasionally"), ("often", "frequently"), ("always",)),
    (("poor", "bad"), ("fair", "acceptable"), ("good",), ("very good",), ("excellent",)),
)
#: Words in the names of whole numbers that are ordered classes.
NAMES = {"grade", "stage", "rating", "quality", "severity", "satisfaction", "likert", "level", "stars"}


class ProportionalOddsModel:
    """Proportional odds regression on given predictors. See `NullModel`."""

    def __init__(self, target: TargetColumn, predictors: np.ndarray) -> None:
        self.classes, counts = present_classes(target)
        n = len(self.classes)
        self.size = size_of_classes(counts)
        self.n_own = len(counts) - 1
        up_to = np.cumsum(counts)[:-1]
        start = np.concatenate([np.log(up_to / (n - up_to)), np.zeros(len(predictors))])
        self._design = np.ascontiguousarray(predictors, dtype=np.float64)
        self._loss, self.coefficients, self._scores = self._fitted(self._design, start)

    def _fitted(self, design: np.ndarray, start: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        from ..kernels.proportional_odds import fit_proportional_odds  # numba takes half a second to import

        scores = np.empty(design.shape[1])
        return fit_proportional_odds(np.ascontiguousarray(design), self.classes, start, scores), start, scores

    def likelihood_ratio(self, added: np.ndarray) -> float:
        """Return twice the log likelihood gained by predictors `added`, (q, n)."""
        start = np.concatenate([self.coefficients, np.zeros(len(added))])
        return max(2.0 * (self._loss - self._fitted(np.vstack([self._design, added]), start)[0]), 0.0)

    def scores(self, added: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of rows by all coefficients, of predictors `added` last, and their information."""
        likelihood = LogLikelihood(np.vstack([self._design, added]).T, self.classes, self.n_own)
        at = np.concatenate([self.coefficients, np.zeros(len(added))])
        return likelihood.of_rows(at).T, likelihood(at).curvature

    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients of the predictors, (k,), and their covariance, (k, k)."""
        likelihood = LogLikelihood(self._design.T, self.classes, self.n_own)
        covariance = inverse(likelihood(self.coefficients).curvature)
        return self.coefficients[self.n_own :], covariance[self.n_own :, self.n_own :]

    def residuals(self) -> np.ndarray:
        """Return the probability of lower classes minus that of higher ones, (n,) (Li and Shepherd 2012).

        They are probability-scale residuals, doi:10.1093/biomet/asr073.
        """
        return self._scores


def present_classes(target: Column) -> tuple[np.ndarray, np.ndarray]:
    """Return codes 0 .. r - 1 of the classes that have rows, in order, int64 (n,), and how many rows, (r,)."""
    _, codes, counts = np.unique(target.numbers(), return_inverse=True, return_counts=True)
    return codes.astype(np.int64), counts


def size_of_classes(counts: np.ndarray) -> float:
    """Return how many rows classes with these counts are worth: fewer if most rows have one class."""
    n = float(counts.sum())
    return n - float((counts.astype(np.float64) ** 3).sum()) / n**2


def without_rare(target: TargetColumn, fewest: int) -> TargetColumn:
    """Return ordered classes of at least `fewest` rows each: rarer ones are joined with the next, which keeps the odds.

    >>> codes = np.repeat([0, 1, 2, 3], [9, 2, 8, 3])
    >>> np.bincount(without_rare(TargetColumn("y", "categorical", codes, tuple("abcd"), "ordered"), 5).values).tolist()
    [9, 13]
    """
    codes, counts = present_classes(target)
    joined, place, held = np.zeros(len(counts), dtype=np.int32), 0, 0
    for code, count in enumerate(counts.tolist()):
        joined[code], held = place, held + count
        if held >= fewest:
            place, held = place + 1, 0
    if held:  # too few at the top
        joined = np.minimum(joined, max(place - 1, 0))
    return replace(target, values=joined[codes], levels=tuple(map(str, range(int(joined.max()) + 1))))


def proportional_odds(
    target: TargetColumn, predictors: np.ndarray, tested: Mapping[str, np.ndarray]
) -> dict[str, tuple[float, int]]:
    """Return by feature the score test of equal slopes at all thresholds: chi-square and degrees of freedom.

    The alternative of each feature has other slopes at each threshold (Peterson and Harrell 1990, doi:10.2307/2347760).
    `tested` has the feature's rows of `predictors`, (k, n). It rejects too often where classes are rare: see
    `without_rare`.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(1, 300))
    >>> grades = np.searchsorted([-1.0, 1.0], x[0] + rng.logistic(size=300))
    >>> target = TargetColumn("grade", "categorical", grades, ("a", "b", "c"), "ordered")
    >>> statistic, dof = proportional_odds(target, x, {"x": [0]})["x"]
    >>> statistic < 3.8, dof
    (True, 1)
    """
    from scipy.special import expit

    model = ProportionalOddsModel(target, predictors)
    n_thresholds, (n_columns, n) = model.n_own, predictors.shape
    logits = model.coefficients[:n_thresholds, np.newaxis] - model.coefficients[n_thresholds:] @ predictors
    up_to = np.vstack([np.zeros(n), expit(logits), np.ones(n)])
    shares = np.maximum(np.diff(up_to, axis=0), 1e-300)
    slopes = up_to[1:-1] * (1.0 - up_to[1:-1])
    own = model.classes == np.arange(n_thresholds + 1)[:, np.newaxis]
    scores = slopes * (own[:-1] / shares[:-1] - own[1:] / shares[1:])
    design = np.vstack([np.ones(n), predictors])
    width = 1 + n_columns
    information = np.zeros((n_thresholds * width, n_thresholds * width))
    for j in range(n_thresholds):
        at = slice(j * width, (j + 1) * width)
        weights = slopes[j] ** 2 * (1.0 / shares[j] + 1.0 / shares[j + 1])
        information[at, at] = (weights * design) @ design.T
        if j:
            before = slice((j - 1) * width, j * width)
            across = -(slopes[j - 1] * slopes[j] / shares[j] * design) @ design.T
            information[at, before] = information[before, at] = across
    score = (scores @ design.T).ravel()
    each = np.eye(n_thresholds * width).reshape(n_thresholds, width, -1)
    same = np.vstack([each[:, 0], each[:, 1:].sum(axis=0)])  # the thresholds, and slopes that all of them share
    found = {}
    for name, rows in tested.items():
        other = each[1:, 1 + np.asarray(rows)].reshape(-1, n_thresholds * width)
        directions = np.vstack([same, other])
        u, own_information = directions @ score, directions @ information @ directions.T
        found[name] = float(u @ np.linalg.lstsq(own_information, u, rcond=1e-12)[0]), len(other)
    return found


@dataclass
class Ordered(TargetKind):
    """Classes with an order."""

    card: ClassVar[Card] = Card(
        id="ordered",
        name="ordered class",
        family="target",
        summary="Classes with an order, such as grades; likelihood ratios of proportional odds regressions.",
        reference="McCullagh (1980), J. R. Statist. Soc. B 42, 109-142, doi:10.1111/j.2517-6161.1980.tb01109.x",
        tasks=(ORDERED,),
        effect="odds ratio",
        design_based=True,
    )
    models: ClassVar[tuple[str, ...]] = ("proportional-odds", "lightgbm")
    regression: ClassVar[Callable[[TargetColumn, np.ndarray], NullModel]] = ProportionalOddsModel
    counted: ClassVar[str] = "rows that tell its classes apart"

    def column(self, where: str, column: Column, parts: Mapping[str, Column]) -> TargetColumn:
        """Return the classes, checked, as codes in their order; labels are a `TargetColumn` if theirs is declared."""
        start = f"{where}: column {column.name!r}"
        if column.kind == CATEGORICAL:
            refuse_missing(where, column)
            levels, codes = column.levels, column.cells()
        elif column.kind == BOOLEAN:
            raise DataError(f"{start} holds truth values, which have no order between them. {_AS_CLASSES}")
        else:
            numbers = finite_numbers(where, column, "ordered classes")
            how = "Choose target_kind: regression, or bin the numbers first."
            refuse_where(where, column, numbers != np.round(numbers), "decimals", how)
            found, codes = np.unique(numbers, return_inverse=True)
            if len(found) > MOST_CLASSES:
                raise DataError(f"{start} holds {len(found)} values, more than {MOST_CLASSES} ordered classes. {how}")
            levels = tuple(str(int(value)) for value in found)
        n_present = len(np.unique(codes))
        if n_present < 3:
            held = "one class" if n_present == 1 else "two classes"
            raise DataError(f"{start} holds {held}, and an order needs three. {_AS_CLASSES}")
        if column.levels and not isinstance(column, TargetColumn):
            key = in_yaml({"column": column.name, "order": in_scale(levels) or list(levels)})
            raise DataError(
                f"{start} holds labels without a declared order. Declare it, the lowest first: target: {key}, or in "
                "Python an ordered categorical type."
            )
        return TargetColumn(column.name, CATEGORICAL, codes.astype(np.int32), levels, ORDERED)

    def size(self, target: TargetColumn) -> float:
        """Return the number of rows, fewer if most of them have one class."""
        return size_of_classes(present_classes(target)[1])

    def covariates(self, target: TargetColumn) -> list[Column]:
        """Return the classes as a categorical column."""
        return [Column(target.name, CATEGORICAL, np.asarray(target.values), target.levels)]

    def doubts(self, target: TargetColumn, predictors: np.ndarray, tested: Mapping[str, np.ndarray]) -> list[str]:
        """Return the features whose odds are not proportional."""
        joined = without_rare(target, FEWEST_OF_CLASS)
        failing = rejected(proportional_odds(joined, predictors, tested)) if len(joined.levels) > 2 else []
        if not failing:
            return []
        return [
            f"{listed(failing)} {'has' if len(failing) == 1 else 'have'} other effects at some thresholds of "
            f"{target.name!r} than at others, but regressions take the odds as proportional: an effect on the middle "
            "classes alone may be missed. ci_test: gcm does not assume it, nor does target_kind: classification"
        ]

    def why_likely(self, column: Column) -> str:
        """Return a reason for labels of a known scale, and for consecutive whole numbers named as a grade is."""
        if column.kind == CATEGORICAL:
            if len(column.levels) > 2 and ranks_in_scale(column.levels) is not None:
                return f"the classes of {column.name!r} have an order: {listed(in_scale(column.levels))}"
            return ""
        if column.kind == BOOLEAN or not tokens(column.name) & NAMES:
            return ""
        values = np.unique(column.numbers())
        if not 3 <= len(values) <= 10 or not (np.diff(values) == 1).all() or values[0] not in (0, 1):
            return ""
        return f"{column.name!r} is named as ordered classes are, and holds whole numbers from {values[0]:g}"


_AS_CLASSES = "Choose target_kind: classification."


def ranks_in_scale(levels: tuple[str, ...]) -> list[int] | None:
    """Return each label's place in a known scale; None unless all labels are of one and in different places.

    >>> ranks_in_scale(("high", "low", "medium")), ranks_in_scale(("red", "blue", "green"))
    ([3, 1, 2], None)
    """
    words = [level.strip().lower() for level in levels]
    for scale in SCALES:
        places = [next((at for at, same in enumerate(scale) if word in same), -1) for word in words]
        if min(places, default=-1) >= 0 and len(set(places)) == len(places):
            return places
    return None


def in_scale(levels: tuple[str, ...]) -> list[str]:
    """Return labels of a known scale in its order."""
    places = ranks_in_scale(levels) or []
    return [level for _, level in sorted(zip(places, levels, strict=True))]
