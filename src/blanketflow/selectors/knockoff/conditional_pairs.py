"""Knockoffs of discrete columns of a known law, by sequential conditional independent pairs.

Each feature in turn gets a knockoff that is drawn from the law of the feature given all other features and all
knockoffs so far, by itself given these: so the two may be exchanged, and this stays so for all that follows (Candes,
Fan, Janson and Lv 2018, doi:10.1111/rssb.12265, algorithm 1). For a Markov chain that is the algorithm of Sesia,
Sabatti and Candes (2019), doi:10.1093/biomet/asy033. For a graph of small treewidth, tables over the neighbours that
are still to come say all that matters of the features and knockoffs so far (Bates, Candes, Janson and Wang 2021,
doi:10.1080/01621459.2020.1729163).

Drawing each feature given all others, and not the knockoffs so far, would not do: the pairs could not be exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...core.errors import DataError
from .discrete_law import DiscreteLaw
from .table_factors import Factor, elimination_order

#: Chooses one combination of levels for each row, shape (n,), by its probabilities, shape (n, combinations).
Choose = Callable[[tuple[int, ...], np.ndarray], np.ndarray]
#: Cells of the tables of all rows of a block.
BLOCK_CELLS = 2**22


def conditional_pairs(
    law: DiscreteLaw, groups: Sequence[tuple[int, ...]], codes: np.ndarray, choose: Choose
) -> np.ndarray:
    """Return knockoffs of rows of codes, both of shape (n, features); features of one group get theirs together.

    Parameters
    ----------
    law : DiscreteLaw
        The known law.
    groups : sequence of tuple of int
        Features that can be exchanged together only: each is in one group, mostly by itself.
    codes : ndarray of int, shape (n, features)
        Positions of the levels.
    choose : callable
        Draws the knockoffs of a group.

    Raises `DataError` if a row has the probability 0.
    """
    factors, sizes, knockoffs = law.whole(), law.sizes, np.empty_like(codes)
    for members in elimination_order(factors, groups)[0]:
        product, others = factors.pop(members)
        of_members = [sizes[v] for v in members]
        own = np.ravel_multi_index(tuple(codes[:, list(members)].T), of_members)
        # The law of the members given what is held: the other features at their values.
        flat = product.reshape(*product.shape[:2], -1)
        at = np.ravel_multi_index(tuple(codes[:, list(others)].T), [sizes[v] for v in others]) if others else 0 * own
        held = flat[np.arange(len(own)) if len(flat) > 1 else 0, :, at]
        if not (held[np.arange(len(own)), own] > 0).all():
            raise DataError(
                f"knockoffs: a row has a level of {law.names[members[0]]!r} whose probability under the law is 0, "
                "given its other levels. Correct the network, or the rows."
            )
        drawn = choose(members, held / held.sum(axis=1, keepdims=True))
        knockoffs[:, list(members)] = np.stack(np.unravel_index(drawn, of_members), axis=1)
        # What a pair says of the others is the same when it is exchanged; the sum is the knockoff's denominator.
        both, total = _picked(product, own) * _picked(product, drawn), product.sum(axis=1)
        message = np.divide(both, total, out=np.zeros(both.shape), where=total > 0)
        if others:
            largest = message.reshape(len(message), -1).max(axis=1)
            factors.add(Factor(others, message / largest.reshape(-1, *[1] * len(others))))
    return knockoffs


def _picked(product: np.ndarray, combination: np.ndarray) -> np.ndarray:
    """Return each row's table at a combination of the members."""
    return product[np.arange(len(combination)) if len(product) > 1 else 0, combination]


def drawn_pairs(
    law: DiscreteLaw, groups: Sequence[tuple[int, ...]], codes: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return random knockoffs of rows, a block of rows at a time; parameters and errors as for `conditional_pairs`."""

    def choose(members: tuple[int, ...], probabilities: np.ndarray) -> np.ndarray:
        passed = rng.random((len(probabilities), 1)) * probabilities.sum(axis=1, keepdims=True)
        # Rounding may leave the last sum below the number drawn: then it is the last combination that is possible.
        last = probabilities.shape[1] - 1 - np.argmax(probabilities[:, ::-1] > 0, axis=1)
        return np.minimum((np.cumsum(probabilities, axis=1) <= passed).sum(axis=1), last)

    n_rows = max(1, BLOCK_CELLS // elimination_order(law.whole(), groups)[1])
    blocks = [codes[start : start + n_rows] for start in range(0, len(codes), n_rows)]
    return np.concatenate([conditional_pairs(law, groups, block, choose) for block in blocks])
