"""Rows on which what a screen found is confirmed: all of them, or a sample."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...core.seeds import derive_rng
from .spline_functions import functions_of
from .spline_screen import SplineScreen, in_order, keep

#: Rows of the samples that are asked first, if there are twice as many.
SAMPLES = (2_000, 12_000)
#: What a sample rejects at this level is rejected. All rows are asked about the rest, so that the level is right but
#: for this, and no power is lost.
CLEAR = 1e-9


class Rows(Protocol):
    """Functions of columns on some rows, each with mean 0 and a length of about 1 there.

    Attributes
    ----------
    n_rows : int
        How many rows.
    """

    n_rows: int

    def functions(self, column: int, size: int) -> np.ndarray:
        """Return the first functions of a column, (size, n)."""
        ...

    def finest(self, column: int) -> np.ndarray:
        """Return all functions of a column."""
        ...

    def order(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows in the order of a number, and which of them have a larger number than the one before."""
        ...


class SampledRows:
    """Some rows of a screen's columns, drawn at random, the first ones of the same order for any number of rows."""

    def __init__(self, screen: SplineScreen, n_rows: int) -> None:
        self._screen, self.n_rows = screen, n_rows
        self._rows = np.sort(derive_rng(0, "spline").permutation(screen.n_rows)[:n_rows])
        self._functions: dict[int, np.ndarray] = {}
        self._finest: dict[int, np.ndarray] = {}

    def functions(self, column: int, size: int) -> np.ndarray:
        """Return the first functions of a column, (size, n)."""
        if column not in self._functions:
            found = self._picked(self._screen.functions(column, int(self._screen.n_functions[column])))
            keep(self._functions, column, found, found.size)
        return self._functions[column][:size]

    def finest(self, column: int) -> np.ndarray:
        """Return all functions of a column."""
        if column not in self._finest:
            found = self._picked(functions_of(self._screen.table[column]))
            keep(self._finest, column, found, found.size)
        return self._finest[column]

    def _picked(self, functions: np.ndarray) -> np.ndarray:
        picked = functions[:, self._rows]
        return (picked - picked.mean(axis=1, keepdims=True)) * np.sqrt(self._screen.n_rows / self.n_rows)

    def order(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows in the order of a number, and which of them have a larger number than the one before."""
        return in_order(self._screen.table[column].numbers()[self._rows])


def rows_that_confirm(screen: SplineScreen) -> list[Rows]:
    """Return the rows on which to confirm: some, and more of them where these do not say enough."""
    sizes = [size for size in SAMPLES if 2 * size <= screen.n_rows]
    return [*(SampledRows(screen, size) for size in sizes), screen]
