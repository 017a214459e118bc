"""The PPI test with binned trees beside the literal tree.

`python -m studies.calibration.binned_trees rates` or `growth`.

`rates` prints how often each rejects at alpha 0.05, where X has no effect and where it has one, on the same samples.
`growth` prints CPU seconds and peak memory of PPFS's tests, each size in its own process.
"""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import product

import numpy as np

import blanketflow as bf
from blanketflow.ci.predictive.risk_differences import corrected_t, risk_differences, wilcoxon
from blanketflow.core.table import Column, Table, column_from_array
from blanketflow.moves.backward import remove_in_one_pass
from blanketflow.moves.steps import Step

ALPHA, N_GIVEN, N_TESTED = 0.05, 3, 10
MODELS, SIGNIFICANCES = ("tree", "binned-tree"), ("wilcoxon", "corrected-t")
#: Rows, and the number of samples of so many.
SAMPLES = {100: 200, 1000: 60}
N_COLUMNS, N_CANDIDATES = 100, 26


def sample(seed: int, n_rows: int, effect: float, is_class: bool) -> Table:
    """Return three columns on which the target depends, ten that have an `effect` or none, and the target."""
    rng = np.random.default_rng((seed, n_rows, is_class))
    X = rng.normal(size=(n_rows, N_GIVEN + N_TESTED))
    signal = X[:, :N_GIVEN].sum(axis=1) + effect * X[:, N_GIVEN:].sum(axis=1) + 2 * rng.normal(size=n_rows)
    return _table(X, signal, is_class)


def _table(X: np.ndarray, signal: np.ndarray, is_class: bool) -> Table:
    columns = [column_from_array(f"x{j}", x) for j, x in enumerate(X.T)]
    if is_class:
        return Table([*columns, Column("y", "categorical", (signal > 0).astype(np.int32), ("0", "1"))])
    return Table([*columns, column_from_array("y", signal)])


def rejections(table: Table, model: str, is_given: bool) -> list[float]:
    """Return the share of the ten columns that each significance rejects, given nothing or the three others."""
    engine = bf.get_ci_test("ppi", model=model).bind(table, seed=1, target="y").engine
    tested, target = range(N_GIVEN, N_GIVEN + N_TESTED), N_GIVEN + N_TESTED
    if is_given:
        pairs = np.array([engine.risks(target).conditional(x, range(N_GIVEN)) for x in tested])
        differences = risk_differences(pairs[:, 0], pairs[:, 1])
    else:
        differences = engine.marginal_differences(tested, target)
    p_values = wilcoxon(differences)[0], corrected_t(differences, engine.repeats.test_share)[0]
    return [float(np.mean(p <= ALPHA)) for p in p_values]


def rates(is_class: bool) -> None:
    """Print both models' rates for a kind of target, and the 95 % interval of their difference over samples."""
    print("| target | rows | given | X | tests | significance | tree | binned-tree | difference, 95 % |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for (n_rows, n_samples), is_given, effect in product(SAMPLES.items(), (False, True), (0.0, 0.5)):
        tables = [sample(seed, n_rows, effect, is_class) for seed in range(n_samples)]
        found = np.array([[rejections(table, model, is_given) for model in MODELS] for table in tables])
        for s, significance in enumerate(SIGNIFICANCES):
            difference = found[:, 1, s] - found[:, 0, s]
            middle, half = difference.mean(), 1.96 * difference.std(ddof=1) / n_samples**0.5
            print(
                f"| {'classes' if is_class else 'numbers'} | {n_rows} | {N_GIVEN if is_given else 0} | "
                f"{'effect' if effect else 'null'} | {n_samples * N_TESTED} | {significance} | "
                f"{found[:, 0, s].mean():.3f} | {found[:, 1, s].mean():.3f} | "
                f"{middle - half:+.3f} to {middle + half:+.3f} |",
                flush=True,
            )


def one_size(n_rows: int, model: str, is_class: bool) -> str:
    """Test 100 columns given nothing, and shrink 26 candidates by 30 repeats; return a line of the table."""
    import resource

    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(n_rows, N_COLUMNS)), np.zeros(N_COLUMNS)
    weights[:N_CANDIDATES] = rng.uniform(0.2, 1.0, N_CANDIDATES)
    signal = X @ weights + np.linalg.norm(weights) * rng.normal(size=n_rows)
    table = _table(X, signal, is_class)
    del X
    test = bf.get_ci_test("ppi", model=model)
    small = _table(np.zeros((20, 1)), np.arange(20.0) - 9.5, is_class)
    test.bind(small, seed=0).test("x0", "y")  # loads the kernels
    start = time.process_time()
    bound = test.bind(table, seed=0, target="y")
    bound.test_many(table.names[:-1], "y")
    grown = time.process_time()
    list(remove_in_one_pass(bound, "y", [Step(f"x{j}") for j in range(N_CANDIDATES)], ALPHA))
    stop = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    target = "classes" if is_class else "numbers"
    return f"| {model} | {target} | {n_rows:,} | {grown - start:.1f} | {stop - grown:.1f} | {memory:,.0f} |"


def growth() -> None:
    """Print a line a model, kind of target and number of rows."""
    print("| model | target | rows | growing, CPU s | shrinking, CPU s | peak, MB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for model, sizes in (("tree", (30_000,)), ("binned-tree", (30_000, 100_000, 300_000, 1_000_000))):
        for is_class in ("1", "0"):
            for n_rows in sizes:
                subprocess.run([sys.executable, __file__, "growth", str(n_rows), model, is_class], check=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["rates"]:
        rates(True)
        rates(False)
    elif sys.argv[1:] == ["growth"]:
        growth()
    elif len(sys.argv) == 5:
        print(one_size(int(sys.argv[2]), sys.argv[3], sys.argv[4] == "1"), flush=True)
    else:
        sys.exit(__doc__)
