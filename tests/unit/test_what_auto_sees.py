"""The measure of what can be seen of a rare class, in studies/answer/rare_outcomes.py."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from studies.answer.rare_outcomes import (
    CELLS,
    LEVEL,
    N_PERMUTATIONS,
    NOISE,
    SIGNAL,
    is_seen_by_the_largest_auc,
    simulated,
    table_of,
)


def literal(X, y, rng):
    """Whether at most 9 of 199 permutations have a column with an AUC as far from a half."""

    def largest(classes):
        return max(abs(roc_auc_score(classes, column) - 0.5) for column in X.T)

    own = largest(y == "yes")
    as_large = sum(largest(rng.permutation(y) == "yes") >= own - 1e-9 for _ in range(N_PERMUTATIONS))
    return (as_large + 1) / (N_PERMUTATIONS + 1) <= LEVEL


@pytest.mark.parametrize(("slope", "seed"), [(0.0, 0), (0.3, 1), (1.0, 2)])
def test_it_is_a_permutation_test_of_the_largest_auc(slope, seed):
    X, y = simulated(np.random.default_rng(seed), 0.1, 300, 4, slope)
    assert (y == "yes").sum() == 30
    found = is_seen_by_the_largest_auc(np.round(X, 1), y, np.random.default_rng(5))
    assert found == literal(np.round(X, 1), y, np.random.default_rng(5))


def test_only_tables_of_which_the_test_sees_most_count():
    """Effects from 1 to 20 in each cell: the test sees those above 10, and auto one table less of each cell."""
    rows = []
    for share, n, d in CELLS:
        for effect in range(1, 21):
            cell = {"share": share, "n": n, "d": d, "errors": float(effect), "can_be_seen": effect > 10}
            rows.append({"kind": SIGNAL, **cell, "seen": effect > 11})
        rows += [{"kind": NOISE, "share": share, "n": n, "d": d, "seen": number == 0} for number in range(4)]
    last = table_of(pd.DataFrame(rows)).splitlines()[-1]
    assert last == "| all | 200 to 8,000 | 420 | 10.0 % | 168 | 25.0 % |"
    assert len(CELLS) == 42
