"""How often the marginal PPI test rejects a true null at alpha 0.05.

`python -m studies.calibration.ppi_false_positives`.

1,000 standard normal columns and an independent binary target, own tree: the rates that docstring and report state.
"""

from __future__ import annotations

import numpy as np

import blanketflow as bf
from blanketflow.core.table import Column, Table, column_from_array

N_COLUMNS = 1000


def main() -> None:
    """Print one line a number of rows and repeats."""
    for n_rows in (100, 200):
        rng = np.random.default_rng(n_rows)
        noise = [column_from_array(f"x{j}", rng.normal(size=n_rows)) for j in range(N_COLUMNS)]
        target = Column("y", "categorical", rng.permutation(np.arange(n_rows) % 2).astype(np.int32), ("0", "1"))
        table = Table([*noise, target])
        for n_repeats in (5, 10, 30, 100):
            rates = []
            for significance in ("wilcoxon", "corrected-t"):
                test = bf.get_ci_test("ppi", n_repeats=n_repeats, significance=significance).bind(table, seed=1)
                p_values = test.test_many(table.names[:-1], "y").p_value
                rates.append(f"{significance} {np.mean(p_values <= 0.05):.3f}")
            print(f"n = {n_rows}, n_repeats = {n_repeats}: {', '.join(rates)}")


if __name__ == "__main__":
    main()
