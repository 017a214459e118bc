"""The sparse group lasso of SRS beside skglm's: `python -m studies.speed.sparse_group_lasso`.

The same path of 400 pairs of penalties, in rows such as representative sets give: groups of correlated columns. Both
stop where a proximal gradient step moves no coefficient farther than 1e-8. CPU seconds, the least of three, compilation
apart.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

from blanketflow.selectors.causal.res import TOLERANCE, Rows

SHARES = np.arange(0.1, 0.0, -0.005)
#: Rows, groups, columns a group.
SIZES = ((250, 4, 3), (200, 30, 2), (100, 12, 8), (60, 20, 15))


def problem(n: int, n_groups: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return columns of which those of a group are copies with noise, and a target that depends on two groups."""
    rng = np.random.default_rng(0)
    leaders = rng.normal(size=(n, n_groups))
    X = np.repeat(leaders, size, axis=1) + 0.7 * rng.normal(size=(n, n_groups * size))
    return X, leaders[:, :2].sum(axis=1) + rng.normal(size=n)


def theirs(X: np.ndarray, y: np.ndarray, size: int, pairs: list[tuple[float, float]]) -> np.ndarray:
    """Return the coefficients of skglm along the path, each sought from those of the pair before."""
    from skglm.datafits import QuadraticGroup
    from skglm.penalties import WeightedL1GroupL2
    from skglm.solvers import GroupBCD

    n, p = X.shape
    X, y = ((one - one.mean(axis=0)) / one.std(axis=0) for one in (X, y))
    if n > p + 1:  # as ours does
        triangle = np.linalg.qr(np.column_stack([X, y]), mode="r")
        X, y = triangle[:, :p] * np.sqrt(len(triangle) / n), triangle[:, p] * np.sqrt(len(triangle) / n)
    X, starts, columns = np.asfortranarray(X), np.arange(0, p + 1, size, dtype=np.int32), np.arange(p, dtype=np.int32)
    products = np.abs(X.T @ y) / len(X)
    largest1, largest2 = np.sqrt(np.add.reduceat(products**2, starts[:-1]).max()), products.max()
    b, found = np.zeros(p), []
    for share1, share2 in pairs:
        # skglm takes the g-th column's weight for all columns of group g.
        weights = np.full(len(starts) - 1, share1 * largest1), np.full(p, share2 * largest2)
        penalty = WeightedL1GroupL2(1.0, *weights, starts, columns)
        solver = GroupBCD(tol=TOLERANCE, ws_strategy="fixpoint")
        b = solver.solve(X, y, QuadraticGroup(starts, columns), penalty, b.copy(), X @ b)[0]
        found.append(b)
    return np.array(found)


def seconds(run: object) -> tuple[float, np.ndarray]:
    """Return the least CPU seconds of three runs, and what the last one returned."""
    least = np.inf
    for _ in range(3):
        begin = time.process_time()
        found = run()
        least = min(least, time.process_time() - begin)
    return least, found


def main() -> None:
    """Print a row for each size."""
    warnings.simplefilter("ignore")
    pairs = [(a, b) for a in SHARES for b in SHARES]
    begin = time.process_time()
    theirs(*problem(20, 2, 2), 2, pairs[:1])
    print(f"skglm compiles for {time.process_time() - begin:.1f} s in each process")
    print(
        "| rows, groups, columns | ours, s | skglm, s | ratio | largest difference |\n| --- | --- | --- | --- | --- |"
    )
    for n, n_groups, size in SIZES:
        X, y = problem(n, n_groups, size)
        ours, found = seconds(lambda: Rows(X, y[:, np.newaxis], [size] * n_groups).path(0, pairs)[0])  # noqa: B023
        others, wanted = seconds(lambda: theirs(X, y, size, pairs))  # noqa: B023
        apart = np.abs(found - wanted).max()
        print(f"| {n}, {n_groups}, {n_groups * size} | {ours:.2g} | {others:.2g} | {others / ours:.0f} | {apart:.1g} |")


if __name__ == "__main__":
    main()
