"""What PPFS admits of noise, by test and correction.

`python -m studies.calibration.growth_control` (two minutes on one core).

Standard normal features and an independent target of two classes, own tree, alpha 0.05. README.md has what this prints:
what is admitted of noise, and what is lost of features that tell something. All features share target and splits, as
they do on real tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

import blanketflow as bf
from blanketflow.ci.multiple_testing import CORRECTIONS, rejected
from blanketflow.core.table import Column, Table, column_from_array
from blanketflow.selectors import get_method

ALPHA = 0.05
#: Features of a table; ten tables side by side are the wide one.
N_FEATURES, N_TABLES = 10_000, 10
WIDE = N_FEATURES * N_TABLES


def log_p_values(n_rows: int, n_repeats: int, significance: str, features: Iterable[np.ndarray]) -> np.ndarray:
    """Return log p of features, shape (n_tables, n_features), given those of a table as rows."""
    column = Column("y", "categorical", classes(n_rows).astype(np.int32), ("0", "1"))
    test = bf.get_ci_test("ppi", n_repeats=n_repeats, significance=significance)
    found = []
    for rows in features:
        table = Table([*(column_from_array(f"x{j}", values) for j, values in enumerate(rows)), column])
        found.append(test.bind(table, seed=1).test_many(np.arange(len(rows)), "y").log_p)
    return np.array(found)


def classes(n_rows: int) -> np.ndarray:
    """Return the target: two classes of equal size."""
    return np.random.default_rng(n_rows).permutation(np.arange(n_rows) % 2)


def noise(n_rows: int) -> Iterator[np.ndarray]:
    """Yield the features of each table, independent of the target."""
    return (np.random.default_rng((n_rows, i)).normal(size=(N_FEATURES, n_rows)) for i in range(N_TABLES))


def admitted(log_p: np.ndarray, correction: str, significance: str, n_repeats: int) -> tuple[str, str]:
    """Return how many of 10,000 features are admitted (mean of the tables), and how many of all; or who refuses."""
    test = bf.get_ci_test("ppi", n_repeats=n_repeats, significance=significance)
    method = get_method("ppfs", "here", {"alpha": ALPHA, "correction": correction})
    counts = []
    for tables, n_features in ((log_p, N_FEATURES), (log_p.reshape(1, -1), log_p.size)):
        count = np.mean([rejected(table, ALPHA, correction).sum() for table in tables])
        counts.append("refused" if test.why_not(method, n_features) else f"{count:,.1f}".removesuffix(".0"))
    return counts[0], counts[1]


def print_noise() -> None:
    """Print one line a number of rows, significance and number of repeats: features admitted of 10,000 / 100,000."""
    print_row("n", "significance", "n_repeats", "least p", *CORRECTIONS, is_head=True)
    for n_rows in (100, 800):
        for significance in ("wilcoxon", "corrected-t"):
            for n_repeats in (5, 10, 30):
                log_p = log_p_values(n_rows, n_repeats, significance, noise(n_rows))
                cells = [" / ".join(admitted(log_p, c, significance, n_repeats)) for c in CORRECTIONS]
                least = bf.get_ci_test("ppi", n_repeats=n_repeats, significance=significance).smallest_p()
                print_row(n_rows, f"`{significance}`", n_repeats, f"{least:.2g}" if least else "no limit", *cells)


def print_signal() -> None:
    """Print the share of 1,000 features with p <= alpha, and with p <= alpha / 100,000, by distance of class means."""
    distances = (1, 2, 3)
    heads = [f"{d} sd, p <= {level:.2g}" for d in distances for level in (ALPHA, ALPHA / WIDE)]
    print_row("n", "significance", "n_repeats", *heads, is_head=True)
    for n_rows in (100, 800):
        rng = np.random.default_rng(n_rows)
        features = [rng.normal(size=(1000, n_rows)) + distance * classes(n_rows) for distance in distances]
        for significance in ("wilcoxon", "corrected-t"):
            for n_repeats in (30, 100):
                log_p = log_p_values(n_rows, n_repeats, significance, features)
                shares = [np.mean(row <= np.log(level)) for row in log_p for level in (ALPHA, ALPHA / WIDE)]
                print_row(n_rows, f"`{significance}`", n_repeats, *(f"{100 * share:.0f} %" for share in shares))


def print_row(*cells: object, is_head: bool = False) -> None:
    """Print one row of a table in Markdown."""
    print("| " + " | ".join(map(str, cells)) + " |" + ("\n|" + " --- |" * len(cells) if is_head else ""), flush=True)


if __name__ == "__main__":
    print_noise()
    print()
    print_signal()
