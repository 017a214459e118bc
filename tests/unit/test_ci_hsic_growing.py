"""HSICs of columns that are added one by one, beside those of the same columns, whatever stands side by side."""

import numpy as np
import pytest

from blanketflow.ci import get_ci_test
from blanketflow.ci.kernel import hsic
from blanketflow.core.errors import UnsupportedError
from blanketflow.core.limits import LimitReached, Limits
from blanketflow.core.table import Column, Table

NAMES = ["a", "b", "one", "c", "d"]


def table(n=60):
    rng = np.random.default_rng(0)
    numbers = [Column(name, "numeric", rng.normal(size=n)) for name in "abtd"]
    levels = Column("c", "categorical", rng.integers(0, 3, n).astype(np.int32), ("u", "v", "w"))
    return Table([*numbers, levels, Column("one", "numeric", np.ones(n))])


@pytest.mark.parametrize("room", [2**26, 60 * 8 * 20, 0], ids=["all", "some", "none"])
@pytest.mark.parametrize("error", [0, 0.01])
@pytest.mark.parametrize("y", ["t", "one"])
def test_are_those_of_single_columns(room, error, y, monkeypatch):
    monkeypatch.setattr(hsic, "BESIDE_BYTES", room)
    test = get_ci_test("hsic", trace_error=error)
    bound, other = test.bind(table()), test.bind(table())
    growing = bound.growing()
    for i, name in enumerate(NAMES):
        assert len(growing) == i
        asked = [x for x in NAMES[:i] if x != y]
        found = dict(zip(NAMES[:i], growing.statistics(y), strict=True))
        np.testing.assert_allclose([found[x] for x in asked], other.statistics(asked, y), rtol=1e-12, atol=1e-18)
        growing.add(name)
    assert bound.n_tests == 0 + 1 + 2 + 3 + 4


def test_of_three_rows_are_zero():
    growing = get_ci_test("hsic").bind(table(3)).growing()
    growing.add("a")
    assert growing.statistics("t").tolist() == [0]


def test_spend_the_allowance():
    bound = get_ci_test("hsic").bind(table())
    bound.allowance = Limits(max_tests=1).start()
    growing = bound.growing()
    growing.add("a")
    growing.statistics("t")
    with pytest.raises(LimitReached):
        growing.statistics("t")


def test_are_not_measured_within_strata():
    with pytest.raises(UnsupportedError, match="not measured within strata"):
        get_ci_test("hsic").bind(table(), within=np.arange(60) % 2).growing()
