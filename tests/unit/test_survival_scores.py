"""Concordances, Brier scores and AUCs: by hand, row by row, and as scikit-survival computed them."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import literal_survival as literal
from blanketflow.models import survival_scores as ours
from blanketflow.models.predictions import Undefined
from blanketflow.models.risk_sets import ProductLimit, ProportionalHazards, RiskSets
from literal_survival import survival

RECORDED = json.loads((Path(__file__).parents[2] / "studies" / "target_peers" / "models_recorded.json").read_text())


def small(seed, n, is_late=False, n_times=6):
    """Return a target of few distinct times, and risks of few distinct values."""
    rng = np.random.default_rng(seed)
    time = rng.integers(1, n_times + 1, size=n).astype(float)
    entry = np.floor(time * rng.random(n)) if is_late else None
    return survival(rng.random(n) < 0.6, time, entry), rng.integers(0, 4, size=n).astype(float)


def test_concordance_by_hand():
    # events at 1 and 3; rows: (event 1, risk 5), (censored 2, risk 6), (event 3, risk 2), (censored 3, risk 2)
    y = survival([True, False, True, False], [1.0, 2.0, 3.0, 3.0])
    # pairs of the event at 1: risk 5 loses to 6, beats 2 and 2; of that at 3: the row censored then, a tie
    assert ours.concordance(y, np.array([5.0, 6.0, 2.0, 2.0])) == pytest.approx(2.5 / 4)


def test_uno_concordance_by_hand():
    y = survival([True, False, True, False], [1.0, 2.0, 3.0, 4.0])
    # not censored up to 3-: of the three at risk at 2 one is censored, so 2/3, and its pair counts 9/4
    assert ours.uno_concordance(y, np.array([1.0, 2.0, 3.0, 0.0]), y) == pytest.approx((1 + 9 / 4) / (3 + 9 / 4))


def test_brier_score_by_hand():
    y = survival([True, False, True, False], [1.0, 2.0, 3.0, 4.0])
    # at 3: events at 1 (weight 1) and 3 (weight 3/2); the row at 4 has weight 3/2; the censored row has none
    found = ours.brier_scores(y, np.array([[0.2], [0.5], [0.4], [0.9]]), np.array([3.0]), y)
    assert found[0] == pytest.approx((0.2**2 + 1.5 * 0.4**2 + 1.5 * 0.1**2) / 4)


@pytest.mark.parametrize("is_late", [False, True])
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 25))
def test_concordance_equals_all_pairs(is_late, seed, n):
    y, risk = small(seed, n, is_late)
    try:
        expected = literal.concordance(y, risk)
    except ZeroDivisionError:
        with pytest.raises(Undefined, match=r"no row of the test part has an event|no pair of test rows is comparable"):
            ours.concordance(y, risk)
        return
    assert ours.concordance(y, risk) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_scores_weighted_by_censoring_equal_their_formulas(seed):
    taught, _ = small(seed, 30)
    taught["time"][0], taught["event"][0] = 7.0, True  # so that some training row outlasts all test rows
    y, risk = small(seed + 1, 20)
    y["event"][:2], y["time"][:2] = True, [1.0, 2.0]

    def squared(row):
        return literal.kaplan_meier(taught, row["time"], of_censoring=True, before=True) ** -2

    assert ours.uno_concordance(y, risk, taught) == pytest.approx(literal.concordance(y, risk, squared))
    times = ours.brier_times(y)
    curves = np.exp(-np.outer(0.1 + risk, times) / 8)
    expected = [literal.brier(y, curves[:, at], time, taught) for at, time in enumerate(times)]
    np.testing.assert_allclose(ours.brier_scores(y, curves, times, taught), expected, atol=1e-12)
    not_censored = ProductLimit(taught, of_censoring=True)
    for time in (1.0, 2.0):
        if (y["time"] > time).any():
            expected = literal.auc(y, risk, time, taught)
            assert ours.auc_at(time, y, risk, not_censored) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("is_late", [False, True])
def test_kaplan_meier_equals_its_product(is_late):
    y, _ = small(3, 40, is_late)
    y["event"][y["time"] == 6] = False  # the curve stays above 0
    for of_censoring in (False, True):
        curve = ProductLimit(y, of_censoring)
        for time in np.arange(0.0, 6.0):
            before = literal.kaplan_meier(y, time, of_censoring, before=True)
            assert curve.at(np.array([time]))[0] == pytest.approx(literal.kaplan_meier(y, time, of_censoring))
            assert curve.before(np.array([time]))[0] == pytest.approx(before)


@pytest.mark.parametrize("is_late", [False, True])
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_derivatives_are_those_of_the_partial_likelihood(is_late, seed):
    y, risk = small(seed, 15, is_late)
    y["event"][0] = True
    y["time"][0] = 6.0
    scores = risk / 3
    first, second = RiskSets(y).derivatives(scores)
    step = 1e-4
    for i in range(len(y)):
        moved = [literal.partial_likelihood(y, scores + step * k * (np.arange(len(y)) == i)) for k in (-1, 0, 1)]
        assert first[i] == pytest.approx(-(moved[2] - moved[0]) / (2 * step), abs=1e-6)
        assert second[i] == pytest.approx(-(moved[2] - 2 * moved[1] + moved[0]) / step**2, abs=1e-4)


@pytest.mark.parametrize("is_late", [False, True])
def test_baseline_hazard_equals_breslows_sum(is_late):
    y, risk = small(8, 30, is_late)
    hazards = ProportionalHazards(y, risk / 3)
    found = -np.log(hazards.survival(np.array([0.5]), np.array([0.0, 2.0, 3.5, 6.0])))
    expected = [np.exp(0.5) * literal.breslow(y, risk / 3, time) for time in (0.0, 2.0, 3.5, 6.0)]
    np.testing.assert_allclose(found[0], expected, atol=1e-12)


def test_scores_equal_those_of_scikit_survival():
    tables, known = RECORDED["tables"], RECORDED["answers"]["scores"]
    y = survival(tables["event"], tables["time"])
    taught, test = y[: RECORDED["n_train"]], y[RECORDED["n_train"] :][np.array(known["kept"])]
    risk, times, curves = (np.array(known[key]) for key in ("risk", "times", "curves"))
    assert ours.concordance(test, risk) == pytest.approx(known["concordance"], abs=1e-9)
    assert ours.uno_concordance(test, risk, taught) == pytest.approx(known["uno"], abs=1e-9)
    np.testing.assert_allclose(ours.brier_times(test), times)
    np.testing.assert_allclose(ours.brier_scores(test, curves, times, taught), known["brier"], atol=1e-9)
    whole = ours.integrated_brier(test, curves, times, taught)
    assert whole == pytest.approx(known["integrated_brier"], abs=1e-9)
    assert ours.time_auc(test, risk, taught) == pytest.approx(np.mean(known["auc"]), abs=1e-9)
    curve = known["kaplan_meier"]
    np.testing.assert_allclose(ProductLimit(taught).at(np.array(curve["times"])), curve["survival"], atol=1e-9)


def test_what_is_undefined_says_why():
    none, one = survival([False, False], [1.0, 2.0]), survival([False, True], [1.0, 2.0])
    late = survival([True, True], [1.0, 2.0], [0.0, 1.0])
    risk = np.zeros(2)
    for scored in (ours.concordance, lambda y, risk: ours.uno_concordance(y, risk, none)):
        with pytest.raises(Undefined, match="no row of the test part has an event"):
            scored(none, risk)
        with pytest.raises(Undefined, match="no pair of test rows is comparable"):
            scored(one, risk)
    with pytest.raises(Undefined, match="no row of the test part has an event"):
        ours.time_auc(none, risk, none)
    with pytest.raises(Undefined, match="is a test row left without an event"):
        ours.time_auc(one, risk, one)
    for scored in (ours.uno_concordance, ours.time_auc):
        with pytest.raises(Undefined, match="enter late"):
            scored(late, risk, late)
    with pytest.raises(Undefined, match="enter late"):
        ours.integrated_brier(late, np.ones((2, 2)), np.array([1.0, 2.0]), late)
    with pytest.raises(Undefined, match="no survival probabilities"):
        ours.integrated_brier(one, None, np.array([1.0, 2.0]), one)
    with pytest.raises(Undefined, match="fewer than two times"):
        ours.integrated_brier(one, np.ones((2, 1)), np.array([1.0]), one)


def test_ten_thousand_rows_take_a_moment_and_agree_with_a_sample_of_pairs():
    rng = np.random.default_rng(0)
    n = 10_000
    risk = rng.normal(size=n)
    y = survival(rng.random(n) < 0.5, rng.exponential(np.exp(-risk)))
    i, j = rng.integers(0, n, size=(2, 400_000))
    pairs = y["event"][i] & (y["time"][i] < y["time"][j])
    assert ours.concordance(y, risk) == pytest.approx(np.mean(risk[i][pairs] > risk[j][pairs]), abs=0.01)


@pytest.mark.parametrize("late", [False, True])
def test_losses_of_rows_have_the_mean_and_the_error_of_the_concordance(late):
    """The error of a difference between two risks is that over many samples."""
    rng, found, errors = np.random.default_rng(4), [], []
    for _ in range(400):
        x, z = rng.normal(size=(2, 100))
        died, left = rng.exponential(np.exp(-x - 0.5 * z)), rng.exponential(2.0, 100)
        time = np.ceil(np.minimum(died, left) * 20) / 20  # with ties
        fields = [("event", bool), ("time", float)] + [("entry", float)] * late
        y = np.zeros(100, dtype=fields)
        y["event"], y["time"] = died <= left, time
        if late:
            y["entry"] = np.where(rng.random(100) < 0.3, time / 2, 0)
        losses = [ours.concordance_losses(y, risk, y) for risk in (x, np.round(x + 0.5 * z, 1))]
        for one, risk in zip(losses, (x, np.round(x + 0.5 * z, 1)), strict=True):
            wanted = ours.concordance(y, risk) if late else ours.uno_concordance(y, risk, y)
            assert 1 - one.mean() == pytest.approx(wanted, abs=1e-12)
        difference = losses[0] - losses[1]
        found.append(difference.mean())
        errors.append(difference.std(ddof=1) / 10)
    assert np.mean(errors) == pytest.approx(np.std(found), rel=0.15)
