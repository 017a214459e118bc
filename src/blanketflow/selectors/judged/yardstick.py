"""The deciding metric, as requested or as suits the target, and the probabilities for it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...core.cards import CLASSIFICATION, COUNT, NUMERIC, ORDERED, POSITIVE, SHARE, SURVIVAL
from ...core.column import TargetColumn
from ...core.errors import ParameterError
from ...core.numerics import standardised
from ...core.table import Column
from ...core.task import has_rare_class
from ...models.metrics import SMALLEST_PROBABILITY
from ...models.risk_sets import ENTRY
from ...targets import as_numbers
from ...targets.normal_scores import scores_of
from ..learning import task_of

ERROR, LOG_LOSS, R2, NORMAL_SCORES, RESIDUALS = "error", "log-loss", "r2", "normal-scores", "residuals"
#: Metrics of further kinds of targets, from `losses_of_kinds`.
UNO, HARRELL, DEVIANCE, RANKED = "uno-concordance", "concordance", "deviance", "ranked-probability"
#: Names of each metric, in tables and in sentences.
SPOKEN: Mapping[str, tuple[str, str]] = {
    ERROR: ("accuracy", "accuracy"),
    LOG_LOSS: ("roc_auc", "ROC AUC"),
    R2: ("r2", "R²"),
    NORMAL_SCORES: ("r2", "R² of the target's normal scores"),
    RESIDUALS: ("r2", "R² of the target's residuals"),
    UNO: ("uno_concordance", "Uno's concordance"),
    HARRELL: ("concordance", "Harrell's concordance"),
    DEVIANCE: ("explained_deviance", "explained deviance"),
    RANKED: ("ranked_probability_skill", "ranked probability skill"),
}
#: Metrics of each kind; `HARRELL` instead if rows enter late, and `RESIDUALS` of kinds of other packages.
OF_KINDS = {SURVIVAL: UNO, COUNT: DEVIANCE, ORDERED: RANKED, SHARE: DEVIANCE, POSITIVE: DEVIANCE}
#: Metrics with a relative tolerance: a share of the possible gain over no feature.
BY_GAIN = (LOG_LOSS, NORMAL_SCORES, RESIDUALS, UNO, HARRELL, DEVIANCE, RANKED)
AUTO = "auto"
CHOICES = (AUTO, ERROR, LOG_LOSS, R2, NORMAL_SCORES)
#: Tails are heavy if normal scores explain less than this share of a target's variance: 0.82 for an exponential target.
HEAVY = 0.75


def yardstick(target: Column, asked: str = AUTO) -> str:
    """Return the requested metric or the one that suits the target; `ParameterError` if it does not fit the task.

    >>> from blanketflow.core.table import column_from_array
    >>> yardstick(column_from_array("y", np.repeat(["no", "yes"], [90, 10])))
    'log-loss'
    """
    if isinstance(target, TargetColumn):
        if asked != AUTO:
            raise ParameterError(f"auto: metric is {asked}, but of a {target.target_kind} target it must be {AUTO}.")
        return HARRELL if ENTRY in target.parts else OF_KINDS.get(target.target_kind, RESIDUALS)
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
    """Whether squared errors would be dominated by a few large numbers."""
    numbers = target.numbers()
    first, second = standardised(np.stack([numbers, scores_of(numbers)]))
    return bool((first @ second) ** 2 < HEAVY)


def judged_target(target: Column, metric: str) -> Column:
    """Return the target that models learn."""
    if metric == RESIDUALS:
        return as_numbers(target)
    return Column(target.name, NUMERIC, scores_of(target.numbers())) if metric == NORMAL_SCORES else target


def ranked_target(target: Column) -> Column:
    """Return a target that models learn as rankings and the gate read it: a further kind as a number."""
    return as_numbers(target) if isinstance(target, TargetColumn) else target


#: Steps of Newton's method; most need eight.
MOST_STEPS, SMALL_STEP, LARGEST_STEP = 50, 1e-8, 2.0


def smoothed(shares: np.ndarray, n_votes: int, taught: np.ndarray) -> np.ndarray:
    """Return vote shares with an additional vote, distributed as the training classes, so that none is 0 or 1.

    >>> smoothed(np.array([[1.0, 0.0]]), 4, np.array([0, 0, 0, 1])).round(3).tolist()
    [[0.94, 0.06]]
    """
    counts = np.bincount(taught.astype(np.int64), minlength=shares.shape[1]) + 0.5
    return (n_votes * shares + counts / counts.sum()) / (n_votes + 1)


def calibrated(said: np.ndarray, truth: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Return probabilities calibrated on the rows of other `parts`, (n,), class by class (Platt 1999).

    `said`, (n_judges, n_classes, n), are held-out probabilities, none of them 0 or 1; `truth`, (n,), are classes.
    """
    found = np.empty_like(said)
    for label in range(said.shape[1]):
        if said.shape[1] == 2 and label:
            found[:, 1] = 1 - found[:, 0]
            continue
        scores, is_it = np.log(said[:, label]) - np.log1p(-said[:, label]), truth == label
        for part in range(parts.max() + 1):
            others, own = parts != part, parts == part
            slope, base = _platt(scores[:, others], is_it[others])
            found[:, label, own] = 1 / (1 + np.exp(-(slope[:, None] * scores[:, own] + base[:, None])))
    return found / found.sum(axis=1, keepdims=True)


def log_loss(probabilities: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return each row's loss, from probabilities of shape (..., n_classes, n), as (..., n)."""
    own = np.moveaxis(probabilities, -2, -1)[..., np.arange(len(truth)), truth.astype(np.int64)]
    return -np.log(np.maximum(own, SMALLEST_PROBABILITY))


def roc_auc(said: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the mean over classes of the ROC AUC of one against rest, from (..., n_classes, n), as (...).

    >>> float(roc_auc(np.array([[0.9, 0.2, 0.5], [0.1, 0.8, 0.5]]), np.array([0, 1, 1])))
    1.0
    """
    from scipy.stats import rankdata

    counts, n = np.bincount(truth.astype(np.int64), minlength=said.shape[-2]), len(truth)
    present = np.flatnonzero((counts > 0) & (counts < n))
    found = []
    for label in present[: 1 if said.shape[-2] == 2 else None]:
        own = rankdata(np.round(said[..., label, :], 12), axis=-1)[..., truth == label].sum(axis=-1)
        n_own = counts[label]
        found.append((own - n_own * (n_own + 1) / 2) / (n_own * (n - n_own)))
    return np.mean(found, axis=0) if found else np.full(said.shape[:-2], 0.5)


def _platt(scores: np.ndarray, is_it: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return slopes and constants of the logistic calibration of scores, (n_judges, n).

    Negative slopes become 0. As in Platt, rows count a little as the other class, so that the fit is finite if scores
    separate the classes.
    """
    n, n_is = len(is_it), int(is_it.sum())
    wanted = np.where(is_it, (n_is + 1) / (n_is + 2), 1 / (n - n_is + 2))
    share = wanted.mean()
    centre, spread = scores.mean(axis=1), scores.std(axis=1)
    x = (scores - centre[:, None]) / np.where(spread > 1e-9, spread, np.inf)[:, None]
    slope, base = np.zeros(len(x)), np.full(len(x), np.log(share / (1 - share)))
    for _ in range(MOST_STEPS):
        p = 1 / (1 + np.exp(-np.clip(slope[:, None] * x + base[:, None], -30, 30)))
        error, weight = wanted - p, p * (1 - p) + 1e-12
        of_base, of_both, of_slope = weight.sum(axis=1), (weight * x).sum(axis=1), (weight * x**2).sum(axis=1)
        determinant = np.maximum(of_base * of_slope - of_both**2, 1e-12 * of_base)
        up, along = error.sum(axis=1), (error * x).sum(axis=1)
        steps = np.stack([of_base * along - of_both * up, of_slope * up - of_both * along]) / determinant
        steps = np.clip(np.where(spread > 1e-9, steps, 0.0), -LARGEST_STEP, LARGEST_STEP)
        slope, base = slope + steps[0], base + steps[1]
        if np.abs(steps).max() < SMALL_STEP:
            break
    says_nothing = slope <= 0
    slope = np.where(says_nothing, 0.0, slope) / np.where(spread > 1e-9, spread, np.inf)
    return slope, np.where(says_nothing, np.log(share / (1 - share)), base - slope * centre)
