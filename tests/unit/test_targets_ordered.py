"""Ordered classes: proportional odds against the literal likelihood, and what is refused."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from blanketflow.core.column import Column, TargetColumn
from blanketflow.core.errors import DataError
from blanketflow.kernels.logistic import fit_logistic
from blanketflow.targets import get_target_kind
from blanketflow.targets.ordered import proportional_odds, without_rare

KIND = get_target_kind("ordered")


def target_of(codes):
    labels = tuple(f"grade {c}" for c in range(int(np.max(codes)) + 1))
    codes = np.asarray(codes, dtype=np.int32)
    return KIND.column("study", TargetColumn("y", "categorical", codes, labels, "ordered"), {})  # declared


def graded(seed, r, n=90):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3, n))
    X = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
    return np.searchsorted(np.linspace(-1.5, 1.5, r - 1), 0.7 * X[0] + rng.logistic(size=n)), X


def shares_of(parameters, r, X):
    thresholds = np.cumsum(np.concatenate([parameters[:1], np.exp(parameters[1 : r - 1])]))
    up_to = expit(thresholds[:, np.newaxis] - parameters[r - 1 :] @ X)
    return np.diff(np.vstack([np.zeros(X.shape[1]), up_to, np.ones(X.shape[1])]), axis=0)


def literal(y, X):
    """Maximise the sum of log P(class of the row); return it and the probabilities."""
    r = int(y.max()) + 1

    def loss(parameters):
        return -np.sum(np.log(shares_of(parameters, r, X)[y, np.arange(len(y))]))

    best = np.zeros(r - 1 + len(X))
    for _ in range(3):
        best = minimize(loss, best, method="BFGS", jac="3-point", options={"gtol": 1e-9}).x
    return -loss(best), shares_of(best, r, X)


@pytest.mark.parametrize("given", [0, 1, 2])
@pytest.mark.parametrize("r", [3, 4, 7])
def test_equals_the_literal_likelihood(r, given):
    for seed in range(2):
        y, X = graded(seed, r)
        model = KIND.null_model(target_of(y), X[:given])
        (null, shares), (larger, _) = literal(y, X[:given]), literal(y, X)
        assert model.likelihood_ratio(X[given:]) == pytest.approx(2 * (larger - null), rel=1e-8, abs=1e-8)
        lower = np.array([shares[:c, i].sum() for i, c in enumerate(y)])
        higher = np.array([shares[c + 1 :, i].sum() for i, c in enumerate(y)])
        assert model.residuals() == pytest.approx(lower - higher, abs=1e-6)
        assert model.residuals().sum() == pytest.approx(0, abs=1e-6)
        counts = np.bincount(y)
        assert model.size == pytest.approx(90 - np.sum(counts**3) / 90**2)
        assert model.n_own == r - 1


def test_two_classes_with_rows_are_logistic_regression():
    """The kernel on two classes; the kind itself wants three."""
    from blanketflow.kernels.proportional_odds import fit_proportional_odds

    y, X = graded(1, 3)
    y = np.minimum(y, 1).astype(np.int64)
    found = fit_proportional_odds(X, y, np.zeros(4), np.empty(90))
    design = np.vstack([np.ones(90), X])
    assert 2 * found == pytest.approx(fit_logistic(design, y, np.zeros((1, 4)), np.ones(90)), rel=1e-10)


def test_separated_classes_end_at_the_limit():
    x = np.linspace(-1, 1, 90)
    y = np.searchsorted([-0.4, 0.3], x)
    model = KIND.null_model(target_of(y), np.zeros((0, 90)))
    counts = np.bincount(y)
    assert model.likelihood_ratio(x[np.newaxis]) == pytest.approx(-2 * np.sum(counts * np.log(counts / 90)), abs=1e-8)


def test_a_group_of_the_lowest_class_ends_at_the_limit():
    y, _ = graded(2, 4)
    group = np.arange(90) % 3 == 0
    y[group] = 0
    none = np.zeros((0, 90))
    rest = literal(y[~group], none[:, ~group])[0]
    model = KIND.null_model(target_of(y), none)
    wanted = 2 * (rest - literal(y, none)[0])
    assert model.likelihood_ratio(group[np.newaxis].astype(float)) == pytest.approx(wanted, abs=1e-8)


def test_classes_without_rows_change_nothing_and_reversing_the_order_neither():
    y, X = graded(3, 4)
    wanted = KIND.null_model(target_of(y), X[:1]).likelihood_ratio(X[1:])
    assert KIND.null_model(target_of(y + 2 * (y > 1)), X[:1]).likelihood_ratio(X[1:]) == wanted
    assert KIND.null_model(target_of(3 - y), X[:1]).likelihood_ratio(X[1:]) == pytest.approx(wanted, rel=1e-9)


def literal_score_test(y, X):
    """Score and expected information of one slope per threshold, by differences of the probabilities of each row."""
    r, n = int(y.max()) + 1, len(y)
    design = np.vstack([np.ones(n), X])
    _, shares = literal(y, X)
    thresholds = np.log(np.cumsum(shares, axis=0)[:-1] / (1 - np.cumsum(shares, axis=0)[:-1]))
    size = (r - 1) * len(design)
    score, information, step = np.zeros(size), np.zeros((size, size)), 1e-5
    for i in range(n):

        def classes(change, i=i):
            moved = thresholds[:, i] + change.reshape(r - 1, -1) @ design[:, i]
            return np.diff(np.concatenate([[0.0], expit(moved), [1.0]]))

        slopes = np.array([(classes(step * e) - classes(-step * e)) / (2 * step) for e in np.eye(size)])
        score += slopes[:, y[i]] / classes(np.zeros(size))[y[i]]
        information += slopes @ np.diag(1 / classes(np.zeros(size))) @ slopes.T
    return score, information


@pytest.mark.parametrize("r", [3, 5])
def test_the_score_test_of_proportional_odds(r):
    """Of all slopes against the literal score; of one feature, the slopes of the other are taken as equal."""
    y, X = graded(4, r)
    score, information = literal_score_test(y, X[:2])
    found = proportional_odds(target_of(y), X[:2], {"both": np.arange(2), "second": np.array([1])})
    assert found["both"] == (pytest.approx(score @ np.linalg.solve(information, score), rel=1e-5), 2 * (r - 2))
    own = np.kron(np.eye(r - 1), np.eye(3))  # by threshold: its intercept and two slopes
    is_second = np.arange(3 * (r - 1)) % 3 == 2
    shared = np.tile(np.eye(3), r - 1)[1:2]
    kept = np.vstack([own[np.arange(3 * (r - 1)) % 3 == 0], shared, own[is_second]])
    u = kept @ score
    wanted = u @ np.linalg.solve(kept @ information @ kept.T, u)
    assert found["second"] == (pytest.approx(wanted, rel=1e-4), r - 2)


def test_rare_classes_are_joined_with_the_next():
    joined = without_rare(target_of(np.repeat([0, 1, 2, 3, 4], [30, 5, 40, 25, 3])), 20)
    assert np.bincount(joined.values).tolist() == [30, 45, 28]
    assert without_rare(target_of(np.repeat([0, 1, 2], [5, 5, 5])), 20).levels == ("0",)


def test_covariates_and_whole_numbers():
    numbers = Column("stars", "integer", np.array([5, 1, 3, 3, 1]))
    target = KIND.column("study", numbers, {})
    assert (target.kind, target.values.tolist(), target.levels) == ("categorical", [2, 0, 1, 1, 0], ("1", "3", "5"))
    (column,) = KIND.covariates(target)
    assert (type(column), column.kind, column.values.tolist()) == (Column, "categorical", [2, 0, 1, 1, 0])


def refused(values, kind="integer", levels=()):
    with pytest.raises(DataError) as caught:
        KIND.column("study", Column("y", kind, np.asarray(values), levels), {})
    assert str(caught.value).startswith("study: column 'y' ")
    return str(caught.value)


def test_bad_classes_are_refused():
    assert "holds two classes, and an order needs three. Choose target_kind: classification." in refused([1, 2, 2])
    assert "holds one class" in refused([1, 1])
    assert "holds two classes" in refused([0, 2, 2], "categorical", ("a", "b", "c"))
    assert "holds truth values" in refused([0, 1], "boolean")
    assert "holds decimals in 1 row, first 2.5 in row 2" in refused([1, 2.5, 3], "numeric")
    assert "holds 21 values, more than 20 ordered classes" in refused(range(21))
    assert "is missing in 1 row" in refused([0, -1, 1, 2], "categorical", ("a", "b", "c"))
    text = refused([0, 1, 2], "categorical", ("high", "low", "medium"))
    assert "holds labels without a declared order. Declare it, the lowest first: target: " in text
    assert '{column: "y", order: [low, medium, high]}' in text


def test_likely_orders():
    def labels(*levels):
        return Column("pain", "categorical", np.arange(30) % len(levels), levels)

    def numbers(name, low, high):
        return Column(name, "integer", np.arange(low, high + 1))

    assert KIND.why_likely(labels("mild", "moderate", "severe"))
    assert KIND.why_likely(labels("Never", "rarely", "sometimes", "often"))
    assert "order: low, medium, high" in KIND.why_likely(labels("high", "low", "medium"))
    assert KIND.why_likely(labels("red", "blue", "green")) == KIND.why_likely(labels("low", "high")) == ""
    assert KIND.why_likely(numbers("tumour_grade", 1, 4))
    assert KIND.why_likely(numbers("size", 1, 4)) == KIND.why_likely(numbers("grade", 1, 50)) == ""
