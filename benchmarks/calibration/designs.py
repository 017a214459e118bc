"""Where samples come from: columns x, t, z1 .. zk, with X independent of T given Z (a null) or not (an alternative)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from blanketflow.core.seeds import derive_rng

Design = Callable[[np.random.Generator, int, int], pd.DataFrame]
#: X or T times this is the size of a linear effect, whose noise has variance 1.
EFFECT = 0.25
LEVELS = np.array(["low", "middle", "high"])


def sample(design: str, n: int, k: int, number: int) -> pd.DataFrame:
    """Return a sample by its identity: the same for every test, whatever else is drawn."""
    return {**NULLS, **ALTERNATIVES}[design](derive_rng("calibration", design, n, k, number), n, k)


def gaussian(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """Z explains half of the variance of X and of T."""
    z = rng.normal(size=(n, k))
    return _frame(_mean(z) + rng.normal(size=n), _mean(z) + rng.normal(size=n), z)


def correlated(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """The same with X almost a function of Z (correlation 0.97); needs k >= 1."""
    z = rng.normal(size=(n, k))
    return _frame(_mean(z) + 0.25 * rng.normal(size=n), _mean(z) + rng.normal(size=n), z)


def discrete(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """Three levels each; Z shifts X and T."""
    z = rng.integers(0, 3, size=(n, k))
    return _frame(_levels(rng, z), _levels(rng, z), LEVELS[z])


def copied(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """The same with X a copy of z1 in nine rows of ten; needs k >= 1."""
    z = rng.integers(0, 3, size=(n, k))
    x = np.where(rng.random(n) < 0.9, LEVELS[z[:, 0]], LEVELS[rng.integers(0, 3, n)])
    return _frame(x, _levels(rng, z), LEVELS[z])


def mixed(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """T has three classes, by a logistic model of Z; X is a number; Z a number, a column of levels and a boolean."""
    return _classes(rng, n, k, effect=0.0)


def two_classes(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """X and Z are numbers; T has two classes, by a logistic model of Z."""
    z = rng.normal(size=(n, k))
    return _frame(_mean(z) + rng.normal(size=n), np.where(2 * _mean(z) + rng.logistic(size=n) > 0, "yes", "no"), z)


def flags(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """All columns are yes or no; Z shifts X and T."""
    z = rng.random((n, k)) < 0.5
    x, t = (_mean(2.0 * z - 1.0) + rng.normal(size=n) > 0 for _ in range(2))
    return _frame(x, t, z)


def linear_negative(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """T falls with X."""
    z = rng.normal(size=(n, k))
    x = _mean(z) + rng.normal(size=n)
    return _frame(x, _mean(z) - EFFECT * x + rng.normal(size=n), z)


def linear_mixed_signs(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """T rises with X; Z acts on it with alternating signs."""
    z = rng.normal(size=(n, k))
    signs = (-1.0) ** np.arange(1, k + 1)
    x = 0.5 * z.sum(axis=1) + rng.normal(size=n)
    return _frame(x, EFFECT * x + 0.5 * (z @ signs) + rng.normal(size=n), z)


def quadratic(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """T follows the square of X, so that they are not correlated."""
    z = rng.normal(size=(n, k))
    x = rng.normal(size=n)
    return _frame(x, EFFECT * x**2 + _mean(z) + rng.normal(size=n), z)


def xor(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """T is X XOR z1, flipped in three rows of ten; all are coins that are independent in pairs; needs k >= 1."""
    x, z = rng.random(n) < 0.5, rng.random((n, k)) < 0.5
    return _frame(x, x ^ z[:, 0] ^ (rng.random(n) < 0.3), z)


def mixed_types(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """As `mixed`, but X acts on the classes of T."""
    return _classes(rng, n, k, effect=2 * EFFECT)


#: X is independent of T given Z.
NULLS: dict[str, Design] = {d.__name__: d for d in (gaussian, correlated, two_classes, discrete, copied, flags, mixed)}
#: X is dependent on T given Z.
ALTERNATIVES: dict[str, Design] = {
    d.__name__: d for d in (linear_negative, linear_mixed_signs, quadratic, xor, mixed_types)
}
#: Designs that condition on something.
NEED_GIVEN = ("correlated", "copied", "xor")


def _frame(x: np.ndarray, t: np.ndarray, z: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"x": x, "t": t, **{f"z{j + 1}": column for j, column in enumerate(z.T)}})


def _mean(z: np.ndarray) -> np.ndarray:
    """Return the sum of Z scaled to the variance of one of its columns; 0 without any."""
    return z.sum(axis=1) / np.sqrt(max(z.shape[1], 1))


def _levels(rng: np.random.Generator, z: np.ndarray) -> np.ndarray:
    return LEVELS[np.digitize(_mean(z - 1.0) + rng.normal(size=len(z)), [-0.5, 0.5])]


def _classes(rng: np.random.Generator, n: int, k: int, effect: float) -> pd.DataFrame:
    number, level, flag = rng.normal(size=n), rng.integers(0, 3, n), rng.random(n) < 0.5
    shift = _mean(np.column_stack([number, level - 1.0, 2.0 * flag - 1.0])[:, :k])
    x = shift + rng.normal(size=n)
    # The largest of linear scores with Gumbel noise follows the multinomial logistic model.
    scores = np.outer(shift + effect * x, [-1.0, 0.0, 1.0]) + rng.gumbel(size=(n, 3))
    columns = {"x": x, "t": LEVELS[scores.argmax(axis=1)], "z1": number, "z2": LEVELS[level], "z3": flag}
    return pd.DataFrame(columns).iloc[:, : 2 + k]
