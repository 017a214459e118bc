"""Knockoffs of one column given others: copies with the column's relation to Z and no relation to anything else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.cards import NUMERIC
from ..core.table import Column
from .least_squares import COLLINEAR, orthonormal_basis, standardised


def knockoff(column: Column, Z: np.ndarray, rng: np.random.Generator) -> Column:
    """Return a knockoff of a column given Z, a matrix of shape (n, q).

    If Z has no columns, it is a permutation of the column; else it is a Gaussian knockoff, or sampled levels of a
    discrete column.
    """
    if not Z.shape[1]:
        return column.take(rng.permutation(len(Z)))
    if column.is_discrete:
        n_levels = max(len(column.levels), 2)
        return replace(column, values=sampled_levels(column.numbers().astype(np.int64), n_levels, Z, rng))
    return replace(column, kind=NUMERIC, values=gaussian_knockoff(column.numbers(), Z, rng))


def gaussian_knockoff(x: np.ndarray, Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a second-order Gaussian knockoff of numbers, shape (n,) (Candes et al. 2018, 10.1111/rssb.12265).

    It has the mean, the variance and the covariance with Z of x. With E[x|Z] and lambda = Var(x|Z) from least squares,
    and s = min(Var(x), 2 lambda), the largest possible s, it is

        x - (s / lambda) (x - E[x|Z]) + sqrt(2 s - s^2 / lambda) noise,     where Cov(x, knockoff) = Var(x) - s.

    If x is a linear function of Z, the knockoff is x itself.
    """
    noise = rng.normal(size=len(x))
    expected, rank = regression(x, Z)
    residual = x - expected
    total = np.var(x, ddof=1)
    left = residual @ residual / max(len(x) - rank, 1)
    if left <= COLLINEAR * total:
        return x.copy()
    s = min(total, 2.0 * left)
    return x - (s / left) * residual + np.sqrt(s * (2.0 - s / left)) * noise


def sampled_levels(codes: np.ndarray, n_levels: int, Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return levels drawn from P(level | Z), for codes 0 .. n_levels - 1 of shape (n,).

    P is the least-squares regression of each level's indicator on Z, with negative values set to 0, then normalised.
    The copy depends only on Z and chance, so it is independent of the column given Z.
    """
    draws = rng.random(len(codes))
    probability = np.maximum(regression(np.eye(n_levels)[codes], Z)[0], 0.0)
    cumulative = np.cumsum(probability, axis=1)
    return np.sum(draws[:, None] * cumulative[:, -1:] >= cumulative[:, :-1], axis=1)


def regression(y: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the least-squares fit of y (one or more columns) on Z with an intercept, and its rank."""
    basis = orthonormal_basis(standardised(Z.T))
    mean = y.mean(axis=0)
    return mean + basis.T @ (basis @ (y - mean)), len(basis) + 1
