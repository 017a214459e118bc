"""A column as a few orthonormal functions: a number and its smoothest nonlinear functions, or a label's levels."""

from __future__ import annotations

import numpy as np

from ..core.numerics import standardised
from ..core.table import Column
from ..targets.normal_scores import normal_scores
from .linear.regressions import present_levels

#: Knots of the natural splines, one more than functions without the constant; each set contains the one before.
KNOTS = (9, 17)
#: A function is dropped if others leave at most this share of it.
DEPENDENT = 1e-4
#: If a number leaves more than this share of its normal scores, as with heavy tails, these are a function too.
OTHER_SHAPE = 0.1
#: A number that shares less with its normal scores is bent along these instead of itself.
ANY_SHAPE = 0.5


def functions_of(column: Column, most: int = KNOTS[-1] - 1) -> np.ndarray:
    """Return orthonormal functions of a column with mean 0, (q, n), the roughest last; none of a constant.

    Of a number there are at most `most`: itself, then natural cubic splines with equidistant knots on its normal
    scores, each the smoothest that is orthogonal to those before it (Demmler and Reinsch 1975, doi:10.1007/BF01437407).
    So a few suffice for few rows, and more can be added. A number of two values has one, like a label of two levels.

    >>> rows = np.arange(100.0)
    >>> [len(functions_of(Column("a", "numeric", values))) for values in (rows, rows % 2, rows % 4, 0 * rows)]
    [16, 1, 3, 0]
    >>> found = functions_of(Column("a", "numeric", rows))
    >>> bool(np.allclose(found @ found.T, np.eye(16)))
    True
    """
    if column.is_discrete:
        codes, n_levels = present_levels(column)
        levels = standardised((codes == np.arange(1, n_levels)[:, np.newaxis]).astype(np.float64))
        return _in_order(list(np.eye(len(levels))), levels @ levels.T, len(levels)) @ levels
    values = column.numbers()
    itself = standardised(values[np.newaxis])
    if not itself.any():
        return itself[:0]
    distinct, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(distinct) == 2:
        return itself
    first = np.zeros(len(distinct))
    first[places] = itself[0]
    return _bends(first, counts, most)[:, places]


def _bends(itself: np.ndarray, counts: np.ndarray, most: int) -> np.ndarray:
    """Return a number's functions at its distinct values, (q, m), from its standardised values and their counts."""
    scores = normal_scores(counts)
    shared = (itself * counts) @ scores
    shared = shared * shared / ((scores * counts) @ scores)
    along = itself if shared > ANY_SHAPE and np.diff(itself).min() > 0 else scores
    parts, bends, levels = [itself[np.newaxis], scores[np.newaxis]], [], KNOTS[: 1 + (len(scores) > KNOTS[0])]
    for n_knots in levels:
        knots = scores if len(scores) <= n_knots else np.linspace(scores[0], scores[-1], n_knots)
        splines, _ = natural_splines(along, np.interp(knots, scores, along))
        found = _smoothest((splines.T * counts) @ splines, natural_splines(knots, knots)[1])
        bends += [np.concatenate([np.zeros(sum(map(len, parts))), bend]) for bend in found]
        parts.append(splines.T)
        # From here on functions are coefficients of these parts.
        values = np.vstack(parts)
        number, shape, *order = (np.append(c, np.zeros(len(values) - len(c))) for c in ([1.0], [0.0, 1.0], *bends))
        if 1.0 - shared > OTHER_SHAPE:
            order = [number, shape, *order]
        else:
            order = [number, *order] if n_knots < levels[-1] else [number, *order, shape]
        if len(order) < most and n_knots < levels[-1]:
            continue
        means = values @ counts / counts.sum()
        found = _in_order(order, (values * counts) @ values.T - counts.sum() * np.outer(means, means), most)
        if len(found) == most:
            break
    return found @ (values - means[:, np.newaxis])


def _smoothest(products: np.ndarray, roughness: np.ndarray) -> np.ndarray:
    """Return orthogonal combinations of nonlinear splines, (q, K), the smoothest first."""
    lengths = np.sqrt(np.diagonal(products))
    lengths = np.where(lengths > 0, lengths, np.inf)  # there may be knots without rows
    variances, axes = np.linalg.eigh(products / np.outer(lengths, lengths))
    kept = variances > DEPENDENT**2
    axes = axes[:, kept] / np.sqrt(variances[kept]) / lengths[:, np.newaxis]
    return (axes @ np.linalg.eigh(axes.T @ roughness @ axes)[1][:, 2:]).T  # the first two are straight


def _in_order(combinations: list[np.ndarray], products: np.ndarray, most: int) -> np.ndarray:
    """Return orthonormal combinations of parts with these products, each minus the projection on those before it."""
    found, of_parts, n_found = np.empty((most, len(products))), np.empty((most, len(products))), 0
    for combination in combinations:
        length = combination @ products @ combination
        rest = combination / np.sqrt(length) if length > 0 else combination
        for _ in range(2):  # repeated because of rounding
            rest = rest - (of_parts[:n_found] @ rest) @ found[:n_found]
        of_rest = products @ rest
        left = rest @ of_rest
        if left > DEPENDENT:
            found[n_found], of_parts[n_found] = rest / np.sqrt(left), of_rest / np.sqrt(left)
            n_found += 1
        if n_found == most:
            break
    return found[:n_found]


def natural_splines(at: np.ndarray, knots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the natural cubic splines that are 1 at one knot and 0 at the others, (m, K), and their roughness, (K, K).

    The roughness of a spline with knot values g, the integral of its squared second derivative, is g' K g. Green and
    Silverman (1994) Nonparametric Regression and Generalized Linear Models, Chapman and Hall, section 2.1.

    >>> found, roughness = natural_splines(np.array([0.0, 0.5, 2.0]), np.array([0.0, 1.0, 2.0]))
    >>> found.round(3)
    array([[ 1.   ,  0.   ,  0.   ],
           [ 0.406,  0.688, -0.094],
           [ 0.   ,  0.   ,  1.   ]])
    """
    gaps, n_knots = np.diff(knots), len(knots)
    inner = np.arange(n_knots - 2)
    slopes = np.zeros((n_knots, n_knots - 2))
    slopes[inner, inner], slopes[inner + 2, inner] = 1.0 / gaps[:-1], 1.0 / gaps[1:]
    slopes[inner + 1, inner] = -1.0 / gaps[:-1] - 1.0 / gaps[1:]
    bands = np.diag((gaps[:-1] + gaps[1:]) / 3.0)
    bands[inner[1:], inner[:-1]] = bands[inner[:-1], inner[1:]] = gaps[1:-1] / 6.0
    curvatures = np.zeros((n_knots, n_knots))
    curvatures[1:-1] = np.linalg.solve(bands, slopes.T)
    left = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, n_knots - 2)
    gap, after, before = gaps[left], at - knots[left], knots[left + 1] - at
    rows, values, bent = np.arange(len(at)), np.zeros((len(at), n_knots)), np.zeros((len(at), n_knots))
    values[rows, left], values[rows, left + 1] = before / gap, after / gap
    bent[rows, left], bent[rows, left + 1] = (1.0 + before / gap), (1.0 + after / gap)
    bent *= (-after * before / 6.0)[:, np.newaxis]
    return values + bent @ curvatures, slopes @ curvatures[1:-1]
