"""One search that threads share finds what one thread finds, to the last bit."""

import numpy as np
import pytest

import blanketflow as bf
from blanketflow.ci import contingency
from blanketflow.core.convert import as_table
from blanketflow.core.threads import in_threads, shares
from blanketflow.selectors import get_method
from blanketflow.selectors.run_fold import run_fold


@pytest.mark.parametrize(("method", "options"), [("hiton-mb", {}), ("mrmr", {"n_features": 5})])
def test_threads_change_no_search(method, options, monkeypatch):
    monkeypatch.setattr(contingency, "WORTH_A_THREAD", 1)
    # As narrow as most tables, and with enough columns to be packed from the first query on.
    for width in (9, contingency.MANY + 7):
        codes = np.random.default_rng(width).integers(0, 3, (150, width))
        codes[:, 0] = (codes[:, 1:4].sum(axis=1) + codes[:, 0]) % 3
        table = as_table(codes)
        asked = (get_method(method, "test", options), bf.get_ci_test("g2"), table.select(table.names[1:]), table[0], 0)
        alone, shared = (run_fold(*asked, n_jobs=n) for n in (1, 3))
        assert shared.decisions == alone.decisions and shared.n_tests == alone.n_tests
        for name, values in alone.marginal.columns().items():
            np.testing.assert_array_equal(shared.marginal.columns()[name], values)


def test_tables_of_too_many_cells_are_counted_by_sorting_with_threads_too(monkeypatch):
    monkeypatch.setattr(contingency, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(contingency, "MOST_CELLS", 20)
    monkeypatch.setattr(contingency, "CELLS_PER_ROW", 0)
    codes = np.random.default_rng(0).integers(0, [2, 2, 6, 6, 2], (80, 5))
    found = []
    for n_threads in (1, 2):
        bound = bf.get_ci_test("g2").bind(codes)
        bound.engine.n_threads = n_threads
        found.append(bound.test_many([0, 1, 2, 3], 4, given=[]))
    assert list(found[0]) == list(found[1])


def test_work_comes_back_in_order_and_its_errors_are_raised():
    assert in_threads(lambda i: i * i, range(20), 4) == [i * i for i in range(20)]
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda i: 1 // i, [1, 0], 2)


@pytest.mark.parametrize(("n", "k"), [(0, 3), (1, 1), (7, 3), (3, 7)])
def test_shares_hold_every_item_once(n, k):
    assert [i for part in shares(n, k) for i in range(n)[part]] == list(range(n))
