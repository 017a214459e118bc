"""By what the predictions of a panel are judged: what suits the target, or what was asked for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...ci.splines.spline_functions import normal_scores
from ...core.cards import CLASSIFICATION, NUMERIC
from ...core.errors import ParameterError
from ...core.numerics import standardised
from ...core.table import Column
from ...core.task import has_rare_class
from ..learning import task_of

ERROR, LOG_LOSS, R2, NORMAL_SCORES = "error", "log-loss", "r2", "normal-scores"
#: What each is spoken of as: a name in tables, and one in sentences.
SPOKEN: Mapping[str, tuple[str, str]] = {
    ERROR: ("accuracy", "accuracy"),
    LOG_LOSS: ("roc_auc", "ROC AUC"),
    R2: ("r2", "R²"),
    NORMAL_SCORES: ("r2", "R² of the target's normal scores"),
}
#: Those by which a share of what can be gained over no feature may be lost, and no fixed amount.
BY_GAIN = (LOG_LOSS, NORMAL_SCORES)
AUTO = "auto"
CHOICES = (AUTO, *SPOKEN)
#: Tails are heavy if normal scores explain less than this share of a target's variance: 0.82 for an exponential target.
HEAVY = 0.75


def yardstick(target: Column, asked: str = AUTO) -> str:
    """Return by what sets are judged: as asked, or as it suits the target.

    Raises `ParameterError` if what is asked for is not of the target's task.

    Examples
    --------
    >>> from blanketflow.core.table import column_from_array
    >>> yardstick(column_from_array("y", np.repeat(["no", "yes"], [90, 10])))
    'log-loss'
    """
    is_class = task_of(target) == CLASSIFICATION
    suits = (ERROR, LOG_LOSS) if is_class else (R2, NORMAL_SCORES)
    if asked == AUTO:
        numbers = target.numbers()
        is_odd = has_rare_class(np.bincount(numbers.astype(np.int64)).tolist()) if is_class else has_heavy_tails(target)
        return suits[is_odd]
    if asked not in suits:
        raise ParameterError(f"auto: metric is {asked}, but of this target it must be {' or '.join((AUTO, *suits))}.")
    return asked


def has_heavy_tails(target: Column) -> bool:
    """Whether some numbers are so large that squared errors speak of these alone."""
    numbers = target.numbers()
    first, second = standardised(np.stack([numbers, scores_of(numbers)]))
    return bool((first @ second) ** 2 < HEAVY)


def judged_target(target: Column, metric: str) -> Column:
    """Return the target that models learn."""
    return Column(target.name, NUMERIC, scores_of(target.numbers())) if metric == NORMAL_SCORES else target


def scores_of(numbers: np.ndarray) -> np.ndarray:
    """Return the quantiles of a standard Gaussian at the ranks of some numbers, (n,).

    Examples
    --------
    >>> scores_of(np.array([3.0, 1e9, 7.0])).round(3).tolist()
    [-0.967, 0.967, 0.0]
    """
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    return normal_scores(counts)[place]
