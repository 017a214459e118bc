"""Simulated tables of twelve shapes: rows, features, and which of them the target depends on given all others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from blanketflow.core.seeds import derive_rng

#: Effects are so many standard errors of a mean of the rows, so that designs of all sizes are about equally hard.
STRENGTH = 4.5


def chain(rng: np.random.Generator, n: int, d: int) -> pd.DataFrame:
    """Return Gaussian rows whose neighbours correlate by 0.5."""
    rows = rng.standard_normal((n, d))
    for at in range(1, d):
        rows[:, at] = 0.5 * rows[:, at - 1] + np.sqrt(0.75) * rows[:, at]
    return pd.DataFrame(rows).add_prefix("x")


def blocks(rng: np.random.Generator, n: int, d: int) -> pd.DataFrame:
    """Return Gaussian rows in which the five features of a block correlate by 0.7."""
    shared = np.repeat(rng.standard_normal((n, d // 5)), 5, axis=1)
    return pd.DataFrame(np.sqrt(0.7) * shared + np.sqrt(0.3) * rng.standard_normal((n, d))).add_prefix("x")


def heavy_tailed(rng: np.random.Generator, n: int, d: int) -> pd.DataFrame:
    """Return rows of the multivariate t distribution with 3 degrees of freedom."""
    return chain(rng, n, d).div(np.sqrt(rng.chisquare(3, n) / 3), axis=0)


def flags(rng: np.random.Generator, n: int, d: int) -> pd.DataFrame:
    """Return flags that are set in a fifth of the rows."""
    return (chain(rng, n, d) > 0.84).astype(float)


def mixed(rng: np.random.Generator, n: int, d: int) -> pd.DataFrame:
    """Return a chain in which each third feature is known as one of three labels only."""
    X = chain(rng, n, d)
    for name in X.columns[::3]:
        X[name] = pd.cut(X[name], [-np.inf, -0.5, 0.5, np.inf], labels=["low", "middle", "high"])
    return X


def number(rng: np.random.Generator, effects: np.ndarray) -> Any:
    """Return the sum of the effects and noise of variance 1."""
    return effects + rng.standard_normal(len(effects))


def outcome(rng: np.random.Generator, effects: np.ndarray) -> Any:
    """Return one of two classes, whose log odds are twice the sum."""
    return np.where(rng.random(len(effects)) < 1 / (1 + np.exp(-2 * effects)), "yes", "no")


def survival(rng: np.random.Generator, effects: np.ndarray) -> Any:
    """Return times to an event with proportional hazards, of which a third is censored."""
    times, ends = rng.exponential(np.exp(-1.5 * effects)), rng.exponential(3.0, len(effects))
    return pd.DataFrame({"time": np.minimum(times, ends), "event": times <= ends})


@dataclass(frozen=True)
class Design:
    """A law of `n_rows` rows and `n_features`, of which `n_relevant` have effects, and the target that they give."""

    n_rows: int
    n_features: int
    n_relevant: int
    rows: Callable[[np.random.Generator, int, int], pd.DataFrame] = chain
    target: Callable[[np.random.Generator, np.ndarray], Any] = number
    bent: bool = False

    def sample(self, name: str, number: int) -> tuple[pd.DataFrame, Any, set[str]]:
        """Return a table, a target, and the names of the relevant features, the same for one name and number."""
        rng = derive_rng("discover", name, number)
        X = self.rows(rng, self.n_rows, self.n_features)
        relevant = sorted(rng.permutation(self.n_features)[: self.n_relevant].tolist())
        codes = {name: X[name].cat.codes if X[name].dtype == "category" else X[name] for name in X.columns[relevant]}
        matrix = pd.DataFrame(codes).to_numpy(dtype=float)
        matrix = (matrix - matrix.mean(axis=0)) / matrix.std(axis=0)
        matrix = (matrix**2 - 1) / np.sqrt(2) if self.bent else matrix
        effects = matrix @ rng.choice([-1.0, 1.0], self.n_relevant) * STRENGTH / np.sqrt(self.n_rows)
        return X, self.target(rng, effects), set(X.columns[relevant])


DESIGNS = {
    "60 rows of 50": Design(60, 50, 5),
    "200 rows of 50, few relevant": Design(200, 50, 5),
    "200 rows of 50, many relevant": Design(200, 50, 20),
    "blocks": Design(300, 100, 10, blocks),
    "heavy tails": Design(300, 100, 10, heavy_tailed),
    "flags": Design(1000, 50, 10, flags),
    "numbers and labels": Design(300, 100, 10, mixed),
    "outcome of two classes": Design(300, 100, 10, target=outcome),
    "times to an event": Design(300, 60, 8, target=survival),
    "effects that bend": Design(500, 40, 8, bent=True),
    "200 rows of 500": Design(200, 500, 10),
    "200 rows of 1,000, many relevant": Design(200, 1000, 20),
}
