"""Times to an event: Cox regression against literal loops, and what is refused."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from blanketflow.core.column import Column, TargetColumn
from blanketflow.core.errors import DataError
from blanketflow.targets import get_target_kind
from blanketflow.targets.survival import cumulative_hazard

KIND = get_target_kind("survival")


def target_of(time, event, entry=None):
    parts = {"event": Column("died", "boolean", np.asarray(event, dtype=np.int8))}
    if entry is not None:
        parts["entry"] = Column("since", "numeric", np.asarray(entry, dtype=float))
    return KIND.column("cohort", Column("days", "numeric", np.asarray(time, dtype=float)), parts)


def literal_log_likelihood(beta, time, event, entry, X):
    """Efron's partial log likelihood, term by term; X has shape (n, q)."""
    total = 0.0
    for t in np.unique(time[event]):
        risk, dead = (entry < t) & (t <= time), event & (time == t)
        high = np.max(X[risk] @ beta)
        r = np.exp(X @ beta - high, where=risk, out=np.zeros(len(time)))
        d = dead.sum()
        total += np.sum(X[dead] @ beta - high)
        total -= sum(math.log(r[risk].sum() - j / d * r[dead].sum()) for j in range(d))
    return total


def literal_score_residuals(beta, time, event, entry, X):
    """Return d log likelihood / d (linear predictor of a row), by Efron's terms."""
    w, out = np.exp(X @ beta), event.astype(float)
    for t in np.unique(time[event]):
        risk, dead = (entry < t) & (t <= time), event & (time == t)
        d = dead.sum()
        for j in range(d):
            share = np.where(dead, 1 - j / d, 1.0) * risk
            out -= share * w / np.sum(share * w)
    return out


def literal_maximum(time, event, entry, X):
    if not X.shape[1]:
        return literal_log_likelihood(np.zeros(0), time, event, entry, X), np.zeros(0)

    def loss(beta):
        return -literal_log_likelihood(beta, time, event, entry, X)

    def slope(beta):
        return -X.T @ literal_score_residuals(beta, time, event, entry, X)

    found = minimize(loss, np.zeros(X.shape[1]), jac=slope, method="BFGS", options={"gtol": 1e-9})
    return -found.fun, found.x


def cohort(seed, n=60, decimals=1, late=False, scale=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X = (X - X.mean(0)) / X.std(0)
    time = np.ceil(10**decimals * rng.exponential(1 / np.exp(0.6 * X[:, 0]))) / 10**decimals
    end = np.ceil(10**decimals * rng.exponential(1.5, size=n)) / 10**decimals
    event, time = time <= end, scale * np.minimum(time, end)
    entry = np.full(n, -np.inf) if not late else time * rng.integers(0, 4, n) / 4 - 1e-9 * (rng.random(n) < 0.5)
    return time, event, entry, X


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("decimals", [0, 1, 5])
@pytest.mark.parametrize("given", [0, 1, 2])
def test_equals_loops_over_risk_sets(late, decimals, given):
    for seed in range(3):
        time, event, entry, X = cohort(seed, decimals=decimals, late=late)
        model = KIND.null_model(target_of(time, event, entry if late else None), X[:, :given].T)
        null, beta = literal_maximum(time, event, entry, X[:, :given])
        larger, _ = literal_maximum(time, event, entry, X)
        assert model.likelihood_ratio(X[:, given:].T) == pytest.approx(2 * (larger - null), rel=1e-8, abs=1e-8)
        wanted = literal_score_residuals(beta, time, event, entry, X[:, :given])
        assert model.residuals() == pytest.approx(wanted, abs=1e-6)
        assert model.residuals().sum() == pytest.approx(0, abs=1e-9)
        assert (model.size, model.n_own) == (event.sum(), 0)


def test_late_entry_before_the_first_event_changes_nothing():
    time, event, _, X = cohort(5)
    plain = KIND.null_model(target_of(time, event), X[:, :1].T)
    late = KIND.null_model(target_of(time, event, np.full(len(time), 1e-9)), X[:, :1].T)
    assert late.likelihood_ratio(X[:, 1:].T) == plain.likelihood_ratio(X[:, 1:].T)


@pytest.mark.parametrize("decimals", [0, 5])
def test_the_tree_of_late_entry_equals_the_pass_without_it(decimals):
    """A row that sees no event makes entry late and changes nothing else."""
    time, event, _, X = cohort(5, n=200, decimals=decimals)
    plain = KIND.null_model(target_of(time, event), X[:, :1].T)
    late = target_of(np.append(time, 99.0), np.append(event, False), np.append(0 * time, 98.0))
    X = np.vstack([X, [9.0, 9.0, 9.0]])
    model = KIND.null_model(late, X[:, :1].T)
    assert model.likelihood_ratio(X[:, 1:].T) == pytest.approx(plain.likelihood_ratio(X[:-1, 1:].T), rel=1e-10)
    assert model.residuals()[:-1] == pytest.approx(plain.residuals(), abs=1e-10)


def test_a_row_without_events_in_its_interval_changes_nothing():
    time, event, entry, X = cohort(6, late=True)
    wanted = KIND.null_model(target_of(time, event, entry), X[:, :1].T).likelihood_ratio(X[:, 1:].T)
    last = time[event].max()
    time, event = np.append(time, [last + 2, 1e-6]), np.append(event, [False, False])
    entry = np.append(entry, [last + 1, 1e-7])
    X = np.vstack([X, [[50.0, 3.0, -7.0], [60.0, 0.0, 1.0]]])
    model = KIND.null_model(target_of(time, event, entry), X[:, :1].T)
    assert model.likelihood_ratio(X[:, 1:].T) == pytest.approx(wanted, rel=1e-9)
    assert model.residuals()[-2:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("gap", [1.0, 1e-2, 1e-4, 1e-6])
def test_a_monotone_likelihood_ends_at_its_limit(late, gap):
    """Every death is that of the row with the largest x at risk: the limit of the partial likelihood is 1."""
    n = 40
    time = np.arange(1.0, n + 1)
    event = np.arange(n) < 30
    x = -np.arange(float(n))
    x[20:] -= 5.0
    x[20] = x[19] - gap  # the closest call
    entry = np.where(np.arange(n) % 3 == 0, time / 2, 0.0) if late else np.full(n, -np.inf)
    model = KIND.null_model(target_of(time, event, entry if late else None), np.zeros((0, n)))
    null = literal_log_likelihood(np.zeros(0), time, event, entry, np.zeros((n, 0)))
    x = (x - x.mean()) / x.std()
    assert model.likelihood_ratio(x[np.newaxis]) == pytest.approx(-2 * null, abs=1e-8)


def test_a_monotone_likelihood_keeps_the_part_that_is_finite():
    """Nobody of a group has the event: the limit leaves its rows out of the risk sets."""
    time, event, entry, X = cohort(7, n=80)
    group = np.arange(80) % 4 == 0
    event[group] = False
    model = KIND.null_model(target_of(time, event), X[:, :1].T)
    null, _ = literal_maximum(time, event, entry, X[:, :1])
    larger, _ = literal_maximum(time[~group], event[~group], entry[~group], X[~group, :1])
    assert model.likelihood_ratio(group[np.newaxis].astype(float)) == pytest.approx(2 * (larger - null), abs=1e-8)
    after = KIND.null_model(target_of(time, event), np.vstack([X[:, 0], group]))
    assert after.residuals()[group] == pytest.approx(0, abs=1e-8)


def test_collinear_and_constant_predictors_add_nothing():
    time, event, _, X = cohort(8)
    model = KIND.null_model(target_of(time, event), X[:, :1].T)
    assert model.likelihood_ratio(np.vstack([X[:, 0], np.ones(len(X))])) == pytest.approx(0, abs=1e-9)


def test_order_and_scale_of_time_do_not_matter():
    time, event, entry, X = cohort(9, late=True)
    wanted = KIND.null_model(target_of(time, event, entry), X[:, :1].T).likelihood_ratio(X[:, 1:].T)
    order = np.random.default_rng(0).permutation(len(time))
    target = target_of(7 * time[order], event[order], 7 * entry[order])
    assert KIND.null_model(target, X[order, :1].T).likelihood_ratio(X[order, 1:].T) == pytest.approx(wanted, rel=1e-9)


def test_covariates_are_the_event_and_the_nelson_aalen_hazard():
    time, event, entry, _ = cohort(10, late=True, decimals=0)
    target = target_of(time, event, entry)
    wanted = np.zeros(len(time))
    for t in np.unique(time[event]):
        risk = (entry < t) & (t <= time)
        wanted += risk * np.sum(event & (time == t)) / risk.sum()
    assert cumulative_hazard(target) == pytest.approx(wanted, rel=1e-12)
    flag, hazard = KIND.covariates(target)
    assert (flag.kind, flag.values.tolist()) == ("boolean", event.astype(int).tolist())
    assert hazard.values == pytest.approx(wanted)
    assert flag.name != hazard.name
    assert [c.kind for c in KIND.covariates(target_of(time, np.ones(len(time))))] == ["numeric"]


def refused(time=(1.0, 2.0, 3.0), event=(0, 1, 1), entry=None, levels=(), kind="numeric", event_kind="integer"):
    parts = {"event": Column("status", event_kind, np.asarray(event), levels)}
    if entry is not None:
        parts["entry"] = Column("since", "numeric", np.asarray(entry, dtype=float))
    with pytest.raises(DataError) as caught:
        KIND.column("cohort", Column("days", kind, np.asarray(time)), parts)
    return str(caught.value)


def test_bad_times_are_refused():
    assert "'days' is missing in 1 row." in refused((1.0, np.nan, 2.0))
    assert "'days' is infinite in 2 rows." in refused((np.inf, 1.0, np.inf))
    assert "'days' holds negative times in 1 row, first -2 in row 2." in refused((1.0, -2.0, 3.0))
    zero = refused((1.0, 0.0, 3.0))
    assert "'days' holds times of 0 in 1 row, first 0 in row 2." in zero
    assert "half of the smallest time step" in zero
    assert "'days' holds truth values" in refused((0, 1, 1), kind="boolean")


def test_bad_entries_are_refused():
    text = refused(entry=(0.0, 2.0, 3.0))
    assert "in row 2 the entry, 2 in column 'since', is not before the time, 2 in column 'days'; so in 2 of 3" in text
    assert "'since' is missing in 1 row" in refused(entry=(0.0, np.nan, 0.0))


def test_events_that_could_mean_either_are_refused():
    text = refused(event=(1, 2, 2))
    assert "'status' holds 1 and 2, and tables differ" in text
    assert "subtract 1 if 2 is the event, or take 2 minus the column" in text
    text = refused(event=(0, 1, 1), event_kind="categorical", levels=("alive", "dead"))
    assert "'status' holds 'alive' and 'dead', which does not say where the event was observed." in text
    assert "Write 1 (or true) where the event was observed and 0 (or false)" in text
    text = refused(event=(0, 1, 2))
    assert "holds 0, 1, 2" in text
    assert "of several causes choose one as the event" in text
    assert "holds 3" in refused(event=(3, 3, 3))
    assert "'status' is missing in 1 row" in refused(event=(0, 1, np.nan), event_kind="numeric")


def test_too_few_events_are_refused():
    assert "'status' holds no event in 3 rows, and at least 2 are needed." in refused(event=(0, 0, 0))
    assert "'status' holds only 1 event in 3 rows" in refused(event=(0, 0, 1))


@pytest.mark.parametrize("levels", [("False", "True"), ("0", "1"), ("true", "false")])
def test_truth_values_and_only_events_are_accepted(levels):
    event = Column("status", "categorical", np.array([1, 0, 1, 0]), levels)
    target = KIND.column("cohort", Column("days", "integer", np.array([3, 1, 2, 4])), {"event": event})
    wanted = [levels[code].lower() in ("true", "1") for code in event.values]
    assert isinstance(target, TargetColumn)
    assert (target.target_kind, target.kind, target.parts["event"].tolist()) == ("survival", "integer", wanted)
    assert target_of([1, 2], [1, 1]).parts["event"].all()


def test_names_and_cells_of_likely_times():
    days = np.arange(1.0, 41)
    for name in ("time", "days", "months", "futime", "SurvivalTime", "survival_months", "Days"):
        assert KIND.why_likely(Column(name, "numeric", days)), name
    for name, values in (("income", days), ("days", days - 1), ("daytime", days), ("time", np.arange(1.0, 40) % 2 + 1)):
        assert KIND.why_likely(Column(name, "numeric", values)) == "", name
    assert KIND.why_likely(Column("days", "categorical", np.arange(40), tuple(map(str, days)))) == ""
