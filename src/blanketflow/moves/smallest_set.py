"""The smallest of some feature sets whose held-out loss is not worse than the best, given its uncertainty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

#: A set loses nothing if its mean loss exceeds the least by at most this share of the difference's standard error, and
#: by at most this amount.
SHARE_OF_ERROR, MOST_LOST = 0.5, 0.01
#: This share of the gain over no feature replaces the fixed amount, if the losses without features are given.
SHARE_OF_GAIN = 0.05
#: Smaller losses and errors count as 0.
ROUNDING = 1e-12
#: Standard errors within which a difference may be chance.
CHANCE = 2.0
#: Bootstrap samples for correcting the scores of the choice.
N_SAMPLES = 400


def shares(
    losses: np.ndarray,
    sizes: np.ndarray,
    n_parts: int,
    weights: np.ndarray | None = None,
    nothing: np.ndarray | None = None,
) -> np.ndarray:
    """Return the weight of each set in the answer, shape (n_sets,), from `sizes` and held-out `losses`; the sum is 1.

    `losses`, (n_sets, n_losses, n_rows), are on a scale on which `MOST_LOST` is little. The probability that a set
    loses nothing is that of a Gaussian with the standard error of its difference to the best set, the smallest over the
    losses. If each set loses by one, since they disagree about the best set, the last loss decides alone: a proper
    score, such as Brier's, since of many uninformative sets one has fewer errors by chance, but worse probabilities
    than no feature. With `nothing`, (n_losses, n_rows), the losses without features, `SHARE_OF_GAIN` of the best set's
    gain replaces `MOST_LOST`.

    From the smallest size on, each size is taken with the mean probability of its sets, otherwise the next one. A set's
    weight is the probability of its size, shared within a size in proportion to the sets' probabilities. Features
    common to most of the weight vary less between samples than the smallest set below a threshold.

    Training rows of the K = `n_parts` parts overlap, so the variance of a mean difference over n rows is about 1 + K /
    (K - 1) times that of independent rows (Nadeau and Bengio, 2003, doi:10.1023/A:1024068626366). `weights`, (n_rows,),
    are multiplicities.

    >>> errors = np.array([[[0, 1, 0, 1]], [[0, 0, 0, 0]], [[0, 0, 0, 0]]])
    >>> shares(errors, np.array([0, 1, 2]), n_parts=2).round(2).tolist()
    [0.13, 0.87, 0.0]
    """
    from scipy.special import ndtr

    w = np.ones(losses.shape[2]) if weights is None else weights
    lost, error = _lost(losses, sizes, n_parts, w)
    most: Any = MOST_LOST
    if nothing is not None:
        most = SHARE_OF_GAIN * np.maximum(nothing @ w / w.sum() - (losses @ w / w.sum()).min(axis=0), 0.0)
    may, is_sure = np.minimum(SHARE_OF_ERROR * error, most), error <= ROUNDING
    if not (lost <= may + ROUNDING).all(axis=1).any():
        proper = None if nothing is None else nothing[-1:]
        return shares(losses[:, -1:], sizes, n_parts, weights, proper)
    chance = np.where(is_sure, lost <= ROUNDING, ndtr((may - lost) / np.where(is_sure, 1.0, error))).min(axis=1)
    _, at, n_of_size = np.unique(sizes, return_inverse=True, return_counts=True)
    of_set = chance / n_of_size[at]  # to be taken if its size is reached
    found = of_set * np.cumprod(np.append(1.0, 1 - np.bincount(at, of_set)[:-1]))[at]
    return np.asarray(found / found.sum())


def smallest_set(
    losses: np.ndarray,
    sizes: np.ndarray,
    n_parts: int,
    weights: np.ndarray | None = None,
    nothing: np.ndarray | None = None,
) -> int:
    """Return the position of the set with the largest weight among those of the median size by `shares`, for its
    arguments.

    >>> errors = np.array([[[0, 1, 0, 1]], [[0, 0, 0, 0]], [[0, 0, 0, 0]]])
    >>> smallest_set(errors, np.array([0, 1, 2]), n_parts=2)
    1
    """
    w = np.ones(losses.shape[2]) if weights is None else weights
    counts = np.round(shares(losses, sizes, n_parts, weights, nothing), 12)
    distinct, at = np.unique(sizes, return_inverse=True)
    up_to = np.cumsum(np.bincount(at, counts))
    median = np.flatnonzero(up_to >= up_to[-1] / 2)[0]
    total = np.round((losses @ w / w.sum()).sum(axis=1), 12)
    return int(np.lexsort((total, -counts, sizes != distinct[median]))[0])


def undecided_size(losses: np.ndarray, sizes: np.ndarray, n_parts: int) -> int:
    """Return the size of the smallest set whose loss is not distinguishable from the least, for the arguments of
    `shares`.

    >>> errors = np.array([[[1, 1, 1, 1]], [[0, 0, 0, 1]], [[0, 0, 0, 0]]])
    >>> undecided_size(errors, np.array([0, 1, 2]), n_parts=2)
    1
    """
    lost, error = _lost(losses, sizes, n_parts, np.ones(losses.shape[2]))
    return int(sizes[(lost <= CHANCE * error + 1e-12).all(axis=1)].min(initial=sizes.max()))


def _lost(losses: np.ndarray, sizes: np.ndarray, n_parts: int, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each set's excess over the best by each loss, (n_sets, n_losses), and its standard error."""
    means = losses @ w / w.sum()
    lost, error = np.zeros(means.shape), np.zeros(means.shape)
    for kind in range(losses.shape[1]):
        best = np.lexsort((sizes, np.round(means[:, kind], 12)))[0]
        difference = losses[:, kind] - losses[best, kind]
        lost[:, kind] = means[:, kind] - means[best, kind]
        variance = np.maximum((difference**2) @ w / w.sum() - lost[:, kind] ** 2, 0.0)
        error[:, kind] = np.sqrt(variance / losses.shape[2] * (1 + n_parts / (n_parts - 1)))
    return lost, error


@dataclass(frozen=True)
class Corrected:
    """Scores of the chosen set and of the reference, and their difference with its 95 % interval."""

    chosen: float
    reference: float
    difference: float
    low: float
    high: float


def corrected_score(
    losses: np.ndarray,
    sizes: np.ndarray,
    n_parts: int,
    score: Callable[[int | None, np.ndarray], float],
    rng: np.random.Generator,
    nothing: np.ndarray | None = None,
) -> Corrected:
    """Return the score of the choice of `smallest_set`, corrected for selection.

    Bootstrap bias-corrected cross-validation (Tsamardinos, Greasidou and Borboudakis, 2018,
    doi:10.1007/s10994-018-5714-4): the choice is repeated on bootstrap samples and scored on the rows outside, without
    refitting. `score` takes a set, or None for the reference, and each row's count, (n_rows,); larger is better.
    Returns means, and the 2.5th to 97.5th percentile of the differences.
    """
    n_rows, found = losses.shape[2], []
    for _ in range(N_SAMPLES):
        weights = np.bincount(rng.integers(n_rows, size=n_rows), minlength=n_rows).astype(float)
        if weights.all():
            continue
        chosen = smallest_set(losses, sizes, n_parts, weights=weights, nothing=nothing)
        found.append((score(chosen, weights), score(None, weights)))
    pairs = np.array(found)
    differences = pairs[:, 0] - pairs[:, 1]
    low, high = np.percentile(differences, [2.5, 97.5])
    return Corrected(*map(float, (*pairs.mean(axis=0), differences.mean(), low, high)))
