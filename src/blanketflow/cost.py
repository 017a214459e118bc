"""What the ci_test stage costs on one fold, roughly: by this the plan merges jobs, and splits them.

It depends on the test and the table's shape alone, so that a plan is the same on every machine.
"""

from __future__ import annotations

from .ci import CITest
from .core.cards import NUMERIC
from .data.peek import Facts

#: Seconds a cell and repeat of the tree of one column: of numbers, and of columns of few values.
TREE_OF_NUMBERS, TREE_OF_LEVELS = 5e-8, 1e-8
#: Seconds of another model's fit: as such, and a row.
FIT, FIT_ROW = 2e-3, 5e-6
#: Seconds a cell of tests that fit nothing; the rest takes `OTHER`.
PER_CELL = {"mi-permutation": 5e-7, "lr-mixed": 5e-7, "hsic": 5e-6}
OTHER = 5e-9


def marginal_seconds(test: CITest, facts: Facts) -> float:
    """Return about how many CPU seconds testing all features given nothing takes.

    Parameters
    ----------
    test : CITest
        The configured test.
    facts : Facts
        Shape and kinds of the table.
    """
    options = test.options()
    n_fits = options.get("n_repeats") or options.get("n_splits")
    if not n_fits:
        return facts.n_cells * PER_CELL.get(test.card.id, OTHER)
    if test.card.id == "ppi" and options["model"] == "tree":
        return facts.n_cells * n_fits * (TREE_OF_NUMBERS if NUMERIC in facts.kinds else TREE_OF_LEVELS)
    return facts.n_features * n_fits * (FIT + FIT_ROW * facts.n_rows)
