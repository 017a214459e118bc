"""Survival functions and their logarithms against scipy and, where p underflows, against closed forms."""

import math

import numpy as np
import pytest
from scipy import special, stats

from blanketflow.ci.tails import chi2_tail, normal_two_sided, student_t_greater


def test_chi2_equals_scipy():
    for dof in [1, 2, 3, 10, 100, 5000]:
        statistic = np.array([0.0, 0.01, 0.5, 1.0, 3.0, 10.0]) * dof
        p, log_p = chi2_tail(statistic, np.full(6, float(dof)))
        wanted = stats.chi2.sf(statistic, dof)
        usable = wanted > 1e-290
        np.testing.assert_allclose(p, wanted, rtol=1e-11, atol=1e-300)
        np.testing.assert_allclose(log_p[usable], np.log(wanted[usable]), rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("statistic", [1400.0, 3000.0, 1e5, 1e7])
def test_log_chi2_keeps_counting_where_p_underflows(statistic):
    # Even degrees of freedom have a closed form: Q(k, x) = exp(-x) sum_{i<k} x^i / i!
    for half_dof in [1, 2, 5, 40]:
        x = statistic / 2
        terms = [i * math.log(x) - math.lgamma(i + 1) for i in range(half_dof)]
        wanted = -x + special.logsumexp(terms)
        _, log_p = chi2_tail(np.array([statistic]), np.array([2.0 * half_dof]))
        assert log_p[0] == pytest.approx(wanted, rel=1e-10)
    # One degree of freedom is a squared normal.
    _, log_p = chi2_tail(np.array([statistic]), np.array([1.0]))
    assert log_p[0] == pytest.approx(math.log(2) + special.log_ndtr(-math.sqrt(statistic)), rel=1e-10)


@pytest.mark.parametrize("dof", [3.0, 1000.0, 20000.0])
def test_log_chi2_has_no_step_where_p_begins_to_underflow(dof):
    centre = stats.chi2.isf(1e-290, dof)
    statistic = np.linspace(0.99, 1.01, 201) * centre
    p, log_p = chi2_tail(statistic, np.full(201, dof))
    assert p.max() > 1e-290 > p.min()
    slope = np.diff(log_p)
    assert (slope < 0).all()
    assert (np.abs(np.diff(slope)) < 1e-3 * np.abs(slope[:-1])).all()


def test_no_degrees_of_freedom_give_p_one():
    p, log_p = chi2_tail(np.array([0.0, 5.0]), np.zeros(2))
    assert p.tolist() == [1.0, 1.0]
    assert log_p.tolist() == [0.0, 0.0]


def test_normal_equals_scipy_in_both_tails():
    z = np.array([-50.0, -8.0, -1.0, 0.0, 0.1, 2.0, 38.0, 1e4])
    p, log_p = normal_two_sided(z)
    np.testing.assert_allclose(p, 2 * stats.norm.sf(np.abs(z)), rtol=1e-12)
    np.testing.assert_allclose(log_p, np.minimum(math.log(2) + stats.norm.logsf(np.abs(z)), 0), rtol=1e-12, atol=1e-15)


def test_student_equals_scipy():
    t = np.array([-5.0, -0.5, 0.0, 0.7, 3.0, 40.0])
    for dof in [1, 4, 29]:
        p, log_p = student_t_greater(t, dof)
        np.testing.assert_allclose(p, stats.t.sf(t, dof), rtol=1e-10)
        np.testing.assert_allclose(log_p, np.log(stats.t.sf(t, dof)), rtol=1e-9, atol=1e-15)


def test_student_far_tail_follows_its_power_law():
    # For T with v degrees of freedom P(T >= t) falls as t^-v.
    for dof in [9, 29]:
        t = np.array([1e40, 1e41]) if dof == 9 else np.array([1e14, 1e15])
        p, log_p = student_t_greater(t, dof)
        assert (p < 1e-290).all()
        assert log_p[0] - log_p[1] == pytest.approx(dof * math.log(10), rel=1e-9)
        near, near_log = student_t_greater(np.array([1e3]), dof)
        assert log_p[0] == pytest.approx(near_log[0] - dof * math.log(t[0] / 1e3), rel=1e-4)
        assert near[0] > 1e-290
    infinite, log_infinite = student_t_greater(np.array([np.inf, -np.inf]), 4)
    assert infinite.tolist() == [0.0, 1.0]
    assert log_infinite.tolist() == [-np.inf, 0.0]
