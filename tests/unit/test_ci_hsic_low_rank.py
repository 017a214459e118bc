"""HSIC by incomplete Cholesky decompositions: their error, beside the exact test, and in the methods that use it."""

import numpy as np
import pytest

import blanketflow as bf
from blanketflow.ci import get_ci_test
from blanketflow.ci.kernel.kernel_features import JointKernel, low_rank_features
from blanketflow.core.errors import ParameterError
from blanketflow.core.table import Column


def literally(kernel, error):
    """Return the approximation of a kernel matrix by Schur complements: eliminate the largest diagonal entry left."""
    left = kernel.copy()
    while np.trace(left) > error * len(kernel):
        pivot = np.argmax(np.diag(left))
        left -= np.outer(left[:, pivot], left[pivot]) / left[pivot, pivot]
    return kernel - left


def columns(n=150):
    rng = np.random.default_rng(0)
    numbers = [Column(name, "numeric", rng.normal(size=n)) for name in "ab"]
    return [*numbers, Column("c", "categorical", rng.integers(0, 3, n).astype(np.int32), ("u", "v", "w"))]


@pytest.mark.parametrize("error", [0.2, 0.01, 1e-6])
@pytest.mark.parametrize("which", [slice(1), slice(2), slice(3), slice(2, 3)], ids=["one", "two", "mixed", "levels"])
def test_features_leave_out_no_more_than_was_allowed(which, error):
    asked = columns()[which]
    n, every = 150, slice(None)
    kernel = JointKernel(asked)(every, every)
    wanted, centre = literally(kernel, error), np.eye(n) - 1 / n
    assert np.trace(kernel - wanted) <= error * n
    found = low_rank_features(asked, error, n)
    np.testing.assert_allclose(found @ found.T, centre @ wanted @ centre, atol=1e-8)


def table(n=300):
    rng = np.random.default_rng(1)
    z = rng.normal(size=(n, 3))
    x = z[:, 0] + rng.normal(size=n)
    return np.column_stack([z, x, z[:, 1] + 0.7 * x**2 + rng.normal(size=n), z[:, 0] * z[:, 1] + rng.normal(size=n)])


def test_approaches_the_exact_test():
    X = table()
    exact, near = get_ci_test("hsic").bind(X), get_ci_test("hsic", trace_error=1e-7).bind(X)
    for given in ([], [0], [0, 1, 2]):
        wanted, found = exact.test(3, 4, given), near.test(3, 4, given)
        assert found.statistic == pytest.approx(wanted.statistic, rel=1e-3)
        assert found.log_p == pytest.approx(wanted.log_p, rel=0.1)
    rough = get_ci_test("hsic", trace_error=0.01).bind(X)
    assert rough.test(3, 4, [0, 1, 2]).p_value < 0.001 and rough.test(3, 5, [0, 1]).p_value > 0.05
    assert rough.test(3, 4, [0]) == get_ci_test("hsic", trace_error=0.01).bind(X).test(4, 3, [0])
    np.testing.assert_allclose(
        near.statistics([["x0", "x3"], ["x1", "x2", "x5"]], "x4"),
        exact.statistics([["x0", "x3"], ["x1", "x2", "x5"]], "x4"),
        rtol=1e-3,
    )


def test_constants_copies_and_more_rows_than_landmarks():
    X = table()
    X = np.column_stack([X, np.ones(len(X)), X[:, 3]])
    bound = get_ci_test("hsic", trace_error=0.01, n_landmarks=10).bind(X)
    assert bound.test(3, 6).p_value == 1 and bound.test(6, 3, [0]).p_value == 1
    assert bound.test(3, 7).p_value < 1e-20
    assert bound.test(3, 4, [0]) == get_ci_test("hsic", trace_error=0.01).bind(X).test(3, 4, [0])


def test_hsmb_selects_what_it_selects_exactly():
    X = table()
    found = [bf.HSMB(ci_test=bf.get_ci_test("hsic", trace_error=error)).fit(X[:, :4], X[:, 4]) for error in (0, 1e-5)]
    assert found[0].selected_features_ == found[1].selected_features_


def test_is_below_one():
    with pytest.raises(ParameterError, match="trace_error"):
        get_ci_test("hsic", trace_error=1.0)


@pytest.mark.parametrize("which", [slice(1), slice(2), slice(3), slice(2, 3)], ids=["one", "two", "mixed", "levels"])
def test_a_column_of_a_kernel_is_that_of_a_call(which):
    kernel = JointKernel(columns()[which])
    assert (kernel.column(7) == kernel(slice(None), slice(7, 8))[:, 0]).all()
