"""The design of a sample: which rows were drawn together, and how much of the population each row stands for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: What weights are, as a configuration says it: numbers of equal rows, or how much of a population each row stands for.
COUNTS, SAMPLING = WEIGHTS_ARE = ("counts", "sampling")
#: With fewer clusters than this the p-values of tests that know the design may be too small; see docs/sample-design.md.
ENOUGH_CLUSTERS = 40


@dataclass(frozen=True)
class Design:
    """Sampling weights and clusters of the rows of a table.

    Parameters
    ----------
    weights : ndarray of shape (n,), or None
        Positive numbers in proportion to how many members of the population a row stands for; None if all are equal.
    clusters : ndarray of int of shape (n,), or None
        Rows with equal numbers were drawn together, such as those of one patient; None if each row was drawn by itself.
    within : ndarray of int of shape (n,), or None
        Strata within which CI tests are made, such as sites, as numbers; None for none.

    Examples
    --------
    >>> design = Design(np.array([1.0, 3.0, 2.0]), np.array([7, 7, 4]))
    >>> design.shares(), design.numbers()
    (array([0.5, 1.5, 1. ]), array([1, 1, 0]))
    >>> design.take(np.array([0, 1])).n_clusters
    1
    """

    weights: np.ndarray | None = None
    clusters: np.ndarray | None = None
    within: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> Design:
        """Return the design of some of the rows."""
        parts = (self.weights, self.clusters, self.within)
        return Design(*(None if part is None else part[rows] for part in parts))

    @property
    def n_clusters(self) -> int | None:
        """How many clusters there are; None if each row was drawn by itself."""
        return None if self.clusters is None else len(np.unique(self.clusters))

    def shares(self) -> np.ndarray | None:
        """Return the weights in units of their mean, shape (n,); None if all are equal."""
        return None if self.weights is None else self.weights / self.weights.mean()

    def numbers(self) -> np.ndarray | None:
        """Return the clusters as numbers from 0 on without gaps, shape (n,); None if each row was drawn by itself.

        None also if all rows are of one cluster, such as the only site of a fold: what they have in common cannot be
        told, and given that they are independent.
        """
        if self.clusters is None:
            return None
        kinds, numbers = np.unique(self.clusters, return_inverse=True)
        return numbers if len(kinds) > 1 else None


def effective_rows(weights: np.ndarray) -> float:
    """Return of how many equal rows a mean by these weights is as certain, if they have nothing to do with it (Kish).

    Kish (1965) Survey sampling, Wiley.

    Examples
    --------
    >>> effective_rows(np.array([1.0, 1.0, 1.0])), effective_rows(np.array([3.0, 1.0]))
    (3.0, 1.6)
    """
    return float(weights.sum() ** 2 / np.sum(weights**2))


def is_complex(design: Design | None) -> bool:
    """Whether rows are clustered, or have sampling weights: then p-values are not those of independent, equal rows.

    Examples
    --------
    >>> is_complex(Design(weights=np.array([1.0, 2.0]))), is_complex(Design(within=np.array([0, 1]))), is_complex(None)
    (True, False, False)
    """
    return design is not None and (design.weights is not None or design.numbers() is not None)
