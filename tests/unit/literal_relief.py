"""Relief by loops over instances, straight from the publications, in exact fractions."""

from fractions import Fraction

import numpy as np

from blanketflow.core.table import Column, Table
from blanketflow.search.run_fold import run_fold


def weights_found(method, table, target, seed=0):
    """Return the ranking's names and the weight of each feature."""
    decisions = run_fold(method, None, table, target, seed).decisions
    return [d.feature for d in decisions], {d.feature: d.statistic for d in decisions}


def random_table(seed, task):
    """Return a small table of whole numbers, levels and truth values full of ties, and its target."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 15))
    made = []
    for j in range(int(rng.integers(1, 7))):
        kind = ("integer", "numeric", "categorical", "boolean", "copy", "constant")[int(rng.integers(6))]
        if kind == "copy" and made:
            made.append(Column(f"f{j}", made[0].kind, made[0].values, made[0].levels))
        elif kind == "categorical":
            made.append(Column(f"f{j}", kind, rng.integers(0, 3, n).astype(np.int32), ("a", "b", "c")))
        elif kind == "boolean":
            made.append(Column(f"f{j}", kind, rng.integers(0, 2, n).astype(np.int8)))
        elif kind == "numeric":
            made.append(Column(f"f{j}", kind, rng.integers(-2, 3, n) / 4))
        else:
            made.append(Column(f"f{j}", "integer", rng.integers(3, 4 if kind == "constant" else 7, n)))
    if task == "regression":
        return Table(made), Column("y", "numeric", rng.integers(0, 5, n) / 2)
    levels = ("p", "q", "r")[:task]
    return Table(made), Column("y", "categorical", rng.integers(0, task, n).astype(np.int32), levels)


def literal_weights(table, target, instances, share):
    """Return exact weights of the features.

    `share` gives, from a list of (distance, row) in table order, the neighbours to use as (row, share).
    """
    columns = [[Fraction(float(v)) for v in column.numbers()] for column in table.columns]
    y = [Fraction(float(v)) for v in target.numbers()]
    rows = range(len(y))

    def diff(values, discrete, i, j):
        if discrete:
            return Fraction(values[i] != values[j])
        width = max(values) - min(values)
        return abs(values[i] - values[j]) / width if width else Fraction(0)

    def diffs(i, j):
        return [diff(v, c.is_discrete, i, j) for v, c in zip(columns, table.columns, strict=True)]

    def near(i, others):
        return share([(sum(diffs(i, j)), j) for j in others if j != i])

    m = len(instances)
    if target.kind == "categorical":
        weights = [Fraction(0)] * len(columns)
        for i in instances:
            for label in sorted(set(y)):
                others = [j for j in rows if y[j] == label]
                factor = Fraction(-1)
                if label != y[i]:
                    factor = Fraction(len(others), len(y)) / (1 - Fraction(y.count(y[i]), len(y)))
                for j, part in near(i, others):
                    weights = [w + factor * part * d / m for w, d in zip(weights, diffs(i, j), strict=True)]
        return weights
    n_dc, n_da, n_dcda = Fraction(0), [Fraction(0)] * len(columns), [Fraction(0)] * len(columns)
    for i in instances:
        for j, part in near(i, rows):
            dc = diff(y, False, i, j)
            n_dc += dc * part
            n_da = [a + part * d for a, d in zip(n_da, diffs(i, j), strict=True)]
            n_dcda = [a + part * d * dc for a, d in zip(n_dcda, diffs(i, j), strict=True)]
    return [
        (both / n_dc if n_dc else 0) - ((a - both) / (m - n_dc) if m != n_dc else 0)
        for a, both in zip(n_da, n_dcda, strict=True)
    ]


def ranking(table, weights):
    """Return the names of columns that vary, by exact weights, ties in table order, and the weights as floats."""
    varying = [j for j, column in enumerate(table.columns) if len(set(column.numbers().tolist())) > 1]
    order = sorted(varying, key=lambda j: -weights[j])
    return [table.names[j] for j in order], {table.names[j]: float(weights[j]) for j in order}
