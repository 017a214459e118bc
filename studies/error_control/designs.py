"""Simulated tables of which the law is known: rows, a target, and the options under which knockoffs know that law.

Where they do, the pair of design and options is valid, and the false discovery rate is proved; elsewhere it is measured
how far the rate drifts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from blanketflow.core.seeds import derive_rng
from blanketflow.data.simulate.network import DiscreteNetwork, node

N_ROWS, N_FEATURES, N_SIGNALS, NEIGHBOURS, EFFECT = 400, 120, 40, 0.5, 0.25
#: Features of the wide designs, which have fewer rows than these.
N_WIDE = 600
N_LEVELS, N_FACTORS, N_BLOCK = 3, 5, 5
PLACES = np.arange(N_FEATURES)
COVARIANCE = NEIGHBOURS ** np.abs(np.subtract.outer(PLACES, PLACES))
WIDE_COVARIANCE = NEIGHBOURS ** np.abs(np.subtract.outer(np.arange(N_WIDE), np.arange(N_WIDE)))
BLOCKS = NEIGHBOURS * np.equal.outer(PLACES // N_BLOCK, PLACES // N_BLOCK) + (1 - NEIGHBOURS) * np.eye(N_FEATURES)


#: Neighbours, two and two, as groups of the columns of an array.
PAIRS = {f"pair {at}": [f"x{2 * at}", f"x{2 * at + 1}"] for at in range(N_FEATURES // 2)}


def _loadings() -> np.ndarray:
    """Return loadings of features on factors, which explain from none to most of a feature's variance of 1."""
    rng = derive_rng("error-control", "loadings")
    directions = rng.standard_normal((N_FEATURES, N_FACTORS))
    lengths = np.sqrt(rng.uniform(0, 0.8, N_FEATURES))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True) * lengths[:, np.newaxis]


LOADINGS = _loadings()
FACTORS = LOADINGS @ LOADINGS.T + np.diag(1 - np.sum(LOADINGS**2, axis=1))


def _network(name: str, parents: list[list[int]]) -> DiscreteNetwork:
    """Return a network whose nodes have three levels, and tables that are random, half of the first parent's level."""
    rng = derive_rng("error-control", name)
    nodes = {}
    for at, given in enumerate(parents):
        table = rng.dirichlet(np.full(N_LEVELS, 2.0), [N_LEVELS] * len(given))
        if given:
            copied = np.eye(N_LEVELS).reshape(N_LEVELS, *[1] * (len(given) - 1), N_LEVELS)
            table = 0.5 * table + 0.5 * copied
        nodes[f"x{at}"] = node([str(k) for k in range(N_LEVELS)], [f"x{p}" for p in given], table=table)
    return DiscreteNetwork(name, nodes)


def _parents() -> list[list[int]]:
    """Return one or two parents of each node among the three before it."""
    rng = derive_rng("error-control", "parents")
    return [
        sorted(rng.choice(np.arange(max(0, at - 3), at), min(at, 1 + at % 2), replace=False).tolist())
        for at in range(N_FEATURES)
    ]


CHAIN = _network("chain", [[at - 1] if at else [] for at in range(N_FEATURES)])
NETWORK = _network("network", _parents())


def gaussian(rng: np.random.Generator) -> np.ndarray:
    """Return rows of a stationary Gaussian chain."""
    return rng.standard_normal((N_ROWS, N_FEATURES)) @ np.linalg.cholesky(COVARIANCE).T


def heavy_tailed(rng: np.random.Generator) -> np.ndarray:
    """Return rows of the multivariate t distribution with 3 degrees of freedom and the same correlations."""
    return gaussian(rng) / np.sqrt(rng.chisquare(3, (N_ROWS, 1)) / 3)


def heavier_tailed(rng: np.random.Generator) -> np.ndarray:
    """Return rows of the multivariate t distribution with 2 degrees of freedom, which have no variance."""
    return gaussian(rng) / np.sqrt(rng.chisquare(2, (N_ROWS, 1)) / 2)


def half_heavy_tailed(rng: np.random.Generator) -> np.ndarray:
    """Return Gaussian rows of which each second column is divided by one factor of the row, as for t of 2 degrees."""
    rows = gaussian(rng)
    rows[:, ::2] /= np.sqrt(rng.chisquare(2, (N_ROWS, 1)) / 2)
    return rows


def heavy_cells(rng: np.random.Generator) -> np.ndarray:
    """Return Gaussian rows in which each cell has a factor of its own, so that each column is from t of 2 degrees."""
    return gaussian(rng) / np.sqrt(rng.chisquare(2, (N_ROWS, N_FEATURES)) / 2)


def wide(rng: np.random.Generator) -> np.ndarray:
    """Return rows of a stationary Gaussian chain of more features than rows."""
    return rng.standard_normal((N_ROWS, N_WIDE)) @ np.linalg.cholesky(WIDE_COVARIANCE).T


def blocks(rng: np.random.Generator) -> np.ndarray:
    """Return Gaussian rows in which the five features of a block correlate."""
    return rng.standard_normal((N_ROWS, N_FEATURES)) @ np.linalg.cholesky(BLOCKS).T


def factors(rng: np.random.Generator) -> np.ndarray:
    """Return rows of Gaussian features that five factors make alike."""
    return rng.standard_normal((N_ROWS, N_FEATURES)) @ np.linalg.cholesky(FACTORS).T


def discrete_chain(rng: np.random.Generator) -> pd.DataFrame:
    """Return rows of a Markov chain of three levels, as whole numbers."""
    return _rows(CHAIN, rng)


def discrete_network(rng: np.random.Generator) -> pd.DataFrame:
    """Return rows of a network of three levels, as whole numbers."""
    return _rows(NETWORK, rng)


def _rows(network: DiscreteNetwork, rng: np.random.Generator) -> pd.DataFrame:
    table = network.sample(N_ROWS, int(rng.integers(2**32)))
    return pd.DataFrame({column.name: column.values.astype(np.int64) for column in table.columns})


def mixed(rng: np.random.Generator) -> pd.DataFrame:
    """Return rows of a Gaussian chain in which each third feature is known as one of three levels only."""
    X = pd.DataFrame(gaussian(rng)).add_prefix("x")
    for name in X.columns[::3]:
        X[name] = np.digitize(X[name], [-0.5, 0.5])
    return X


@dataclass(frozen=True)
class Design:
    """A law of rows, and options of `bf.Knockoffs`; valid if these give the law of the rows.

    With `one_spread` knockoffs are drawn as if all rows had the same spread.
    """

    rows: Callable[[np.random.Generator], Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    is_valid: bool = False
    groups: int = 1
    one_spread: bool = False

    def sample(self, number: int, n_signals: int = N_SIGNALS) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return a table, a target, and the positions of the features that it depends on, the same for one number.

        The target is the sum of 40 features, or `n_signals`, each with an effect of 0.25 or -0.25, and noise of
        variance 1. Features are drawn in groups of `groups` neighbours.
        """
        rng = derive_rng("error-control", self.rows.__name__, number)
        X = self.rows(rng)
        matrix = np.asarray(X, dtype=np.float64)
        n_groups = matrix.shape[1] // self.groups
        chosen = rng.permutation(n_groups)[: n_signals // self.groups]
        true = (chosen[:, np.newaxis] * self.groups + np.arange(self.groups)).ravel()
        y = matrix[:, true] @ rng.choice([-EFFECT, EFFECT], len(true)) + rng.standard_normal(len(matrix))
        return X, y, true


#: Pairs whose law is known, and pairs whose law is estimated or wrong.
DESIGNS = {
    "Gaussian, covariance known": Design(gaussian, {"covariance": COVARIANCE}, True),
    "Gaussian, covariance estimated": Design(gaussian),
    "Gaussian, covariance known, 5 draws": Design(gaussian, {"covariance": COVARIANCE, "draws": 5}, True),
    "t of 3 degrees, covariance estimated": Design(heavy_tailed),
    "t of 2 degrees, covariance estimated": Design(heavier_tailed),
    "t of 2 degrees, as if of one spread": Design(heavier_tailed, one_spread=True),
    "t of 2 degrees in each second column, covariance estimated": Design(half_heavy_tailed),
    "t of 2 degrees cell by cell, covariance estimated": Design(heavy_cells),
    "Gaussian blocks, covariance known": Design(blocks, {"covariance": BLOCKS}, True),
    "Gaussian, more columns than rows, covariance known": Design(wide, {"covariance": WIDE_COVARIANCE}, True),
    "factors, covariance known": Design(factors, {"covariance": FACTORS}, True),
    "discrete chain, network known": Design(discrete_chain, {"law": "network", "network": CHAIN}, True),
    "discrete chain, transitions estimated": Design(discrete_chain, {"law": "markov-chain"}),
    "discrete chain, as Gaussian": Design(discrete_chain),
    "discrete network, network known": Design(discrete_network, {"law": "network", "network": NETWORK}, True),
    "discrete network, tables estimated": Design(discrete_network, {"law": "network", "arcs": NETWORK.dag().arcs}),
    "discrete network, as a chain": Design(discrete_network, {"law": "markov-chain"}),
    "mixed, as Gaussian": Design(mixed),
    "Gaussian, more columns than rows, banded": Design(wide, {"covariance": "banded"}),
    "Gaussian, more columns than rows, estimated": Design(wide),
    "factors, by factors": Design(factors, {"covariance": "factor"}),
    "groups of two Gaussian columns, covariance known": Design(
        gaussian, {"covariance": COVARIANCE, "feature_groups": PAIRS}, True, 2
    ),
}
