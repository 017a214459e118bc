"""The size of an effect beside its p-value, against hand-worked tables and literal renderings."""

import math

import numpy as np
import pytest

import blanketflow as bf
from blanketflow.api.select_command import select
from blanketflow.core.errors import ConfigError, ParameterError
from blanketflow.workflow.plan import make_plan

RNG = np.random.default_rng(0)
#: 100 rows a cell where the values agree, 60 where they do not.
COUNTS = np.array([[100, 60], [60, 100]])
PAIRS = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], COUNTS.ravel(), axis=0)


def bound(test, X, min_effect):
    found = bf.get_ci_test(test).bind(X)
    found.require(min_effect)
    return found


@pytest.mark.parametrize("test", ["g2", "mi-permutation", "lr-mixed"])
def test_nats_of_a_table_worked_by_hand(test):
    # p(agree) = 200 / 320 in two equal margins: log 2 minus the entropy of (5/8, 3/8).
    by_hand = math.log(2) + 5 / 8 * math.log(5 / 8) + 3 / 8 * math.log(3 / 8)
    X = PAIRS.astype(bool)
    below, above = (bound(test, X, by_hand * share).test(0, 1) for share in (0.999, 1.001))
    assert below == bf.get_ci_test(test).bind(X).test(0, 1)
    assert below.p_value < 0.01
    assert (above.p_value, above.log_p, above.statistic) == (1.0, 0.0, below.statistic)


def test_chi2_of_the_same_table():
    by_hand = 4 * 20**2 / 80 / (2 * 320)  # each cell is 20 rows away from 80
    assert bound("chi2", PAIRS, by_hand * 0.999).test(0, 1).p_value < 0.01
    assert bound("chi2", PAIRS, by_hand * 1.001).test(0, 1).p_value == 1.0


def test_partial_correlations_by_regression():
    Z = RNG.normal(size=(300, 2))
    X = np.column_stack([Z[:, 0] + RNG.normal(size=300), Z[:, 0] + RNG.normal(size=300), RNG.normal(size=300), Z])
    X[:, 1] += 0.4 * X[:, 0] + 0.3 * X[:, 2]

    def residuals(columns):
        given = np.column_stack([np.ones(300), Z])
        return columns - given @ np.linalg.lstsq(given, columns, rcond=None)[0]

    one = abs(np.corrcoef(residuals(X[:, 0]), residuals(X[:, 1]))[0, 1])
    two, y = residuals(X[:, [0, 2]]), residuals(X[:, 1])
    both = math.sqrt(1 - ((y - two @ np.linalg.lstsq(two, y, rcond=None)[0]) ** 2).sum() / (y**2).sum())
    for x, by_hand in ((0, one), ([0, 2], both)):
        below, above = (bound("fisher-z", X, by_hand * share).test(x, 1, [3, 4]) for share in (0.999, 1.001))
        assert below.p_value < 1e-4
        assert above.p_value == 1.0


def test_a_changed_limit_is_not_answered_from_memory():
    found = bf.get_ci_test("g2").bind(PAIRS)
    before = found.test(0, 1)
    found.require(1.0)
    assert found.test(0, 1).p_value == 1.0
    found.require(0.0)
    assert found.test(0, 1) == before


def config(**options):
    gs = {"method": "gs", "ci_test": "fisher-z", **options}
    return {
        "datasets": {"diabetes": {"source": "sklearn:diabetes"}},
        "splits": {"evaluation": 0},
        "selectors": {"gs": gs},
    }


def test_only_the_search_depends_on_it_and_only_where_it_is_set():
    plain, zero, told = (make_plan(config(**o), str) for o in ({}, {"min_effect": 0}, {"min_effect": 0.1}))
    assert "min_effect" not in plain.method_spec("diabetes", "gs")
    assert zero.method_spec("diabetes", "gs") == plain.method_spec("diabetes", "gs")
    assert zero.report_spec() == plain.report_spec()
    assert '"min_effect":0.1' in told.method_spec("diabetes", "gs")
    assert told.test_spec("diabetes", "fisher-z") == plain.test_spec("diabetes", "fisher-z")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ci_test": "hsic"}, "hsic knows no size of an effect.*set ci_test to auto or one of chi2, fisher-z, g2"),
        ({"method": "mrmr", "ci_test": "g2"}, "mrmr decides by no p-values of a CI test"),
        ({"min_effect": -1}, "min_effect is -1, but must be a number at least 0 or null"),
    ],
)
def test_a_plan_is_refused_before_any_job_starts(options, said):
    with pytest.raises(ConfigError, match=f"selector 'gs': .*{said}"):
        make_plan(config(**{"min_effect": 0.1, **options}), str)


def test_fit_refuses_a_test_without_effects():
    with pytest.raises(ParameterError, match="GS: hsic knows no size of an effect"):
        bf.GS(ci_test="hsic", min_effect=0.1).fit(RNG.normal(size=(30, 2)), RNG.normal(size=30))


@pytest.mark.parametrize(("n", "says"), [(12_000, True), (9_000, False)])
def test_select_says_when_p_values_no_longer_select(tmp_path, n, says):
    y = RNG.normal(size=n)
    columns = np.column_stack([y, *(y + 2 * RNG.normal(size=n) for _ in range(10))])
    path = tmp_path / "table.csv"
    np.savetxt(path, columns, delimiter=",", header=",".join(["y", *(f"x{i}" for i in range(10))]), comments="")
    asked = {"method": "mmpc", "ci_test": "fisher-z", "max_k": 1}
    found, told = (
        select({"path": str(path), "target": "y"}, {**asked, **more}, {}, 0) for more in ({}, {"min_effect": 0.1})
    )
    assert any("10 of 10 features have p <= 0.05 given nothing" in note for note in found.notes) == says
    assert not any("min_effect" in note for note in told.notes)
