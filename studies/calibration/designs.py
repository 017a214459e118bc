"""Where samples come from: columns x, t, z1 .. zk, with X independent of T given Z (a null) or not (an alternative)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from blanketflow.core.seeds import derive_rng

Design = Callable[[np.random.Generator, int, int], pd.DataFrame]
#: X or T times this is the size of a linear effect, whose noise has variance 1.
EFFECT = 0.25
LEVELS = np.array(["low", "middle", "high"])
#: How columns bend with Z: each with variance 1 if that of a column of Z is, and it is Gaussian.
BENDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "squares": lambda z: (z**2 - 1) / np.sqrt(2.0),
    "sines": lambda z: np.sqrt(2.0) * np.sin(3 * z),
    "steps": lambda z: np.digitize(z, [-0.5, 1.0]) / 0.7,
    "exponentials": lambda z: (np.exp(z) - np.exp(0.5)) / np.sqrt(np.e**2 - np.e),
}
#: Rare flags: a share of ones, in per cent, and the slope of logistic models.
SHARES, SLOPE = (1, 4, 10, 30), 1.5
#: The noise of a column that is nearly a function of Z, whose variance is 1.
LITTLE_NOISE = 0.07


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


def bent(rng: np.random.Generator, n: int, k: int, bend: Callable[[np.ndarray], np.ndarray]) -> pd.DataFrame:
    """As `gaussian`, but X and T follow the same bent function of each column of Z."""
    z = rng.normal(size=(n, k))
    return _frame(_mean(bend(z)) + rng.normal(size=n), _mean(bend(z)) + rng.normal(size=n), z)


def products(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """X and T follow the product of z1 and z2; needs k >= 2."""
    z = rng.normal(size=(n, k))
    return _frame(z[:, 0] * z[:, 1] + rng.normal(size=n), z[:, 0] * z[:, 1] + rng.normal(size=n), z)


def variances(rng: np.random.Generator, n: int, k: int, slope: float = 0.0) -> pd.DataFrame:
    """Z moves the variances of X and of T, which is all that they depend on."""
    z = rng.normal(size=(n, k))
    scale = np.exp(_mean(z) / 2)
    return _frame(slope * _mean(z) + scale * rng.normal(size=n), slope * _mean(z) + scale * rng.normal(size=n), z)


def near_function(rng: np.random.Generator, n: int, k: int, noise: float = LITTLE_NOISE) -> pd.DataFrame:
    """As `exponentials`, but X is a function of Z, up to little noise."""
    z = rng.normal(size=(n, k))
    shift = _mean(BENDS["exponentials"](z))
    return _frame(shift + noise * rng.normal(size=n), shift + rng.normal(size=n), z)


def functions(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """X and T are functions of Z, by exponentials and by squares."""
    z = rng.normal(size=(n, k))
    return _frame(_mean(BENDS["exponentials"](z)), _mean(BENDS["squares"](z)), z)


def heavy_tails(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """As `gaussian`, but Z and all noise follow Student's t with three degrees of freedom."""
    z = rng.standard_t(3, size=(n, k))
    return _frame(_mean(z) + rng.standard_t(3, n), _mean(z) + rng.standard_t(3, n), z)


def rare(rng: np.random.Generator, n: int, k: int, share: float) -> pd.DataFrame:
    """X is a flag and T a class, each with a share of ones, by logistic models of Z."""
    z = rng.normal(size=(n, k))
    ones = max(1, round(share * n))
    scores = [SLOPE * _mean(z) + rng.logistic(size=n) for _ in range(2)]
    x, t = (score >= np.partition(score, n - ones)[n - ones] for score in scores)
    return _frame(x, np.where(t, "yes", "no"), z)


def linear_weak(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """T rises with X, half as much as elsewhere."""
    z = rng.normal(size=(n, k))
    x = _mean(z) + rng.normal(size=n)
    return _frame(x, _mean(z) + EFFECT / 2 * x + rng.normal(size=n), z)


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


def waves(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """T follows waves of X, three within two standard deviations of its mean."""
    z = rng.normal(size=(n, k))
    x = rng.normal(size=n)
    return _frame(x, 2 * np.sin(5 * x) + _mean(z) + rng.normal(size=n), z)


def xor(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """T is X XOR z1, flipped in three rows of ten; all are coins that are independent in pairs; needs k >= 1."""
    x, z = rng.random(n) < 0.5, rng.random((n, k)) < 0.5
    return _frame(x, x ^ z[:, 0] ^ (rng.random(n) < 0.3), z)


def mixed_types(rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
    """As `mixed`, but X acts on the classes of T."""
    return _classes(rng, n, k, effect=2 * EFFECT)


#: X is independent of T given Z: designs by what is hard about them.
FAMILIES: dict[str, dict[str, Design]] = {
    "linear": {"gaussian": gaussian, "correlated": correlated, "two_classes": two_classes},
    "levels": {"discrete": discrete, "copied": copied, "flags": flags, "mixed": mixed},
    "bends": {name: partial(bent, bend=bend) for name, bend in BENDS.items()} | {"products": products},
    "noise": {
        "variances": variances,
        "variances_and_means": partial(variances, slope=1.0),
        "heavy_tails": heavy_tails,
    },
    "functions": {
        "near_function": near_function,
        "function": partial(near_function, noise=0.0),
        "functions": functions,
    },
    "rare": {f"rare_{share}": partial(rare, share=share / 100) for share in SHARES},
}
NULLS: dict[str, Design] = {name: design for family in FAMILIES.values() for name, design in family.items()}
#: X is dependent on T given Z.
ALTERNATIVES: dict[str, Design] = {
    d.__name__: d for d in (linear_negative, linear_mixed_signs, linear_weak, quadratic, waves, xor, mixed_types)
}
#: The fewest columns given, where a design needs some.
FEWEST_GIVEN = {"products": 2} | dict.fromkeys(
    ("correlated", "copied", "xor", *BENDS, "variances", "variances_and_means", *FAMILIES["functions"]), 1
)


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
