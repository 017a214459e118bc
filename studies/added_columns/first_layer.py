"""A group lasso on the first layer of a small neural network, in NumPy."""

from __future__ import annotations

import numpy as np

#: Units of the one hidden layer, steps of Adam for each penalty, rows of a step, and its rate.
N_UNITS, N_STEPS, N_ROWS, RATE = 32, 1000, 64, 5e-3
#: Penalties, each begun from scratch; the one with the least loss on a held-out quarter is taken.
PENALTIES = (0.003, 0.01, 0.03, 0.1)
#: Keeps the norm of a column's weights smooth at zero.
SMOOTH = 1e-6
Weights = list[np.ndarray]


def loss(weights: Weights, X: np.ndarray, Y: np.ndarray, penalty: float, is_class: bool) -> tuple[float, Weights]:
    """Return the mean loss plus the penalty, and the gradient.

    The loss is the cross-entropy of classes, of which `Y` has indicators, or half the squared error. The penalty is
    the sum of the norms of what leaves each column.
    """
    W, b, V, c = weights
    hidden = np.tanh(X @ W + b)
    out = hidden @ V + c
    if is_class:
        shifted = out - out.max(axis=1, keepdims=True)
        logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        value, back = -(Y * logs).sum() / len(X), (np.exp(logs) - Y) / len(X)
    else:
        value, back = ((out - Y) ** 2).sum() / (2 * len(X)), (out - Y) / len(X)
    norms = np.sqrt((W**2).sum(axis=1, keepdims=True) + SMOOTH)
    through = (back @ V.T) * (1 - hidden**2)
    gradient = [X.T @ through + penalty * W / norms, through.sum(axis=0), hidden.T @ back, back.sum(axis=0)]
    return float(value + penalty * norms.sum()), gradient


def fitted(X: np.ndarray, Y: np.ndarray, penalty: float, is_class: bool, seed: int) -> Weights:
    """Return the weights after `N_STEPS` steps of Adam on random rows."""
    rng = np.random.default_rng(seed)
    sizes = ((X.shape[1], N_UNITS), (N_UNITS,), (N_UNITS, Y.shape[1]), (Y.shape[1],))
    weights = [rng.normal(size=s) / np.sqrt(s[0]) if len(s) == 2 else np.zeros(s) for s in sizes]
    mean, square = ([np.zeros(s) for s in sizes] for _ in range(2))
    for step in range(1, N_STEPS + 1):
        rows = rng.integers(len(X), size=N_ROWS)
        _, gradient = loss(weights, X[rows], Y[rows], penalty, is_class)
        rate = RATE * (1 - step / (N_STEPS + 1))
        for w, g, m, s in zip(weights, gradient, mean, square, strict=True):
            m += 0.1 * (g - m)
            s += 0.001 * (g**2 - s)
            w -= rate * (m / (1 - 0.9**step)) / (np.sqrt(s / (1 - 0.999**step)) + 1e-8)
    return weights


def group_lasso(X: np.ndarray, y: np.ndarray, is_class: bool, seed: int) -> np.ndarray:
    """Return the norm of the first-layer weights of each standardised column, (d,)."""
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    Y = (y[:, np.newaxis] == np.unique(y)).astype(float) if is_class else ((y - y.mean()) / y.std())[:, np.newaxis]
    asked = np.random.default_rng(seed).permutation(len(X)) < len(X) / 4

    def lost(penalty: float) -> float:
        weights = fitted(X[~asked], Y[~asked], penalty, is_class, seed)
        return loss(weights, X[asked], Y[asked], 0.0, is_class)[0]

    best = min(PENALTIES, key=lost)
    return np.linalg.norm(fitted(X, Y, best, is_class, seed)[0], axis=1)
