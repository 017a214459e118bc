"""The PPI test against a literal Algorithm 1: any scikit-learn model, and the library's own tree."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import blanketflow as bf
from blanketflow.ci.predictive.risk_differences import draw_repeats
from blanketflow.ci.predictive.tree_risks import TreeRisks
from blanketflow.core.errors import DataError
from blanketflow.core.table import Column, Table
from literal import LiteralCart, LiteralRegression, literal_differences, ppi, ppi_risks, significance_of

SEED, B, TEST_SIZE = 7, 6, 0.25


def target_column(y):
    if y.dtype.kind == "f":
        return Column("y", "numeric", y)
    return Column("y", "categorical", y, tuple(str(c) for c in range(y.max() + 1)))


def bind(X, y, **options):
    columns = [Column(f"x{j}", "numeric", X[:, j]) for j in range(X.shape[1])]
    options = {"n_repeats": B, "test_size": TEST_SIZE, **options}
    return bf.get_ci_test("ppi", **options).bind(Table([*columns, target_column(y)]), seed=SEED)


def smooth_table(n_classes, n=64, seed=0):
    """Return four continuous columns and a target that needs the first two; 0 classes: a number."""
    rng = np.random.default_rng((seed, n_classes))
    X = rng.normal(size=(n, 4))
    signal = X[:, 0] + 0.7 * X[:, 1] + rng.normal(scale=0.5, size=n)
    if n_classes == 0:
        return X, signal
    return X, np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))


def tied_table(seed, n=44, n_classes=2):
    """Return integer, binary, mirrored, duplicated, constant and continuous columns, and classes."""
    rng = np.random.default_rng((seed, n_classes))
    integer, binary = rng.integers(0, 5, n), rng.integers(0, 2, n)
    X = np.column_stack([integer, binary, 1 - binary, integer, np.ones(n), rng.normal(size=n), rng.integers(0, 3, n)])
    y = (integer + binary + rng.integers(0, 3, n)) % n_classes if seed % 2 else rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    return X.astype(float), y


MODELS = {
    "logistic": (LogisticRegression(), 2),
    "logistic-3": (LogisticRegression(), 3),
    "bayes": (GaussianNB(), 2),
    "bayes-3": (GaussianNB(), 3),
    "knn": (KNeighborsClassifier(5), 2),
    "knn-3": (KNeighborsClassifier(5), 3),
    "tree": (DecisionTreeClassifier(random_state=0, max_depth=3), 3),
    "calibrated-svc": (CalibratedClassifierCV(SVC(), ensemble=False), 2),
    "linear": (LinearRegression(), 0),
    "knn-regression": (KNeighborsRegressor(4), 0),
    "tree-regression": (DecisionTreeRegressor(random_state=0), 0),
}


@pytest.mark.parametrize("name", MODELS)
def test_p_equals_algorithm_1_with_any_model(name):
    model, n_classes = MODELS[name]
    X, y = smooth_table(n_classes)
    repeats = draw_repeats(len(y), B, TEST_SIZE, SEED)
    task = "classification" if n_classes else "regression"
    bound = {how: bind(X, y, model=model, significance=how) for how in ("wilcoxon", "corrected-t")}
    for tested, given in [(2, []), (0, [1]), (1, [0, 2, 3])]:
        differences = literal_differences(X, y, tested, given, repeats, lambda: clone(model), task)
        for how, test in bound.items():
            wanted = significance_of(differences, how, repeats.test_share)
            found = test.test(tested, "y", given)
            assert found.p_value == pytest.approx(wanted, rel=1e-9, abs=1e-12)
            assert np.exp(found.log_p) == pytest.approx(wanted, rel=1e-9)
            assert found.statistic == pytest.approx(np.mean(differences), abs=2e-12)


def test_a_model_without_probabilities_is_calibrated():
    X, y = smooth_table(2)
    repeats = draw_repeats(len(y), B, TEST_SIZE, SEED)
    calibrated = ppi(X, y, 0, [1], repeats, lambda: CalibratedClassifierCV(SVC(), ensemble=False), "classification")
    assert bind(X, y, model=SVC()).test(0, "y", [1]).p_value == pytest.approx(calibrated[0], abs=1e-12)


def test_a_class_missing_from_training_parts_costs_the_clipped_loss():
    X, y = smooth_table(2)
    y[0] = 2  # one row: in some test part it is a class that the model has never seen
    repeats = draw_repeats(len(y), 12, TEST_SIZE, SEED)
    assert any(0 in rows for rows in repeats.test_rows.tolist())
    for model, literal in ((GaussianNB(), GaussianNB), ("tree", LiteralCart)):
        wanted, mean = ppi(X, y, 0, [], repeats, literal, "classification")
        found = bind(X, y, model=model, n_repeats=12).test(0, "y")
        assert (found.p_value, found.statistic) == pytest.approx((wanted, mean), abs=1e-11)


def test_a_training_part_of_one_class_predicts_that_class():
    X, y = smooth_table(2, n=16)
    y[:] = 0
    y[3] = 1
    repeats = draw_repeats(len(y), 13, TEST_SIZE, SEED)
    assert any(3 in rows for rows in repeats.test_rows.tolist())
    wanted, _ = ppi(X, y, 0, [1], repeats, GaussianNB, "classification")
    assert bind(X, y, model=GaussianNB(), n_repeats=13).test(0, "y", [1]).p_value == pytest.approx(wanted, abs=1e-12)


def tree_risks(X, y):
    columns = [Column(f"x{j}", "numeric", X[:, j]) for j in range(X.shape[1])]
    repeats = draw_repeats(len(y), B, TEST_SIZE, SEED)
    return TreeRisks(Table([*columns, target_column(y)]), X.shape[1], repeats), repeats


@pytest.mark.parametrize("n_classes", [0, 2, 4])
def test_single_column_trees_equal_scikit_learn_without_ties(n_classes):
    X, y = smooth_table(n_classes, n=60, seed=3)
    ours, repeats = tree_risks(X, y)
    risks, permuted = zip(*(ours.conditional(j, ()) for j in range(4)), strict=True)
    family = DecisionTreeClassifier if n_classes else DecisionTreeRegressor
    task = "classification" if n_classes else "regression"
    for j in range(4):
        wanted = ppi_risks(X, y, j, [], repeats, lambda: family(random_state=0), task)
        np.testing.assert_allclose((risks[j], permuted[j]), wanted, rtol=1e-9)


def test_trees_offered_constant_columns_too_equal_scikit_learn():
    # Two columns that vary always tie somewhere (any node of two rows), and scikit-learn breaks ties at random.
    rng = np.random.default_rng(1)
    n = 40
    order = rng.permutation(n)
    X = np.column_stack([order.astype(float), np.ones(n), np.zeros(n)])
    y = 2.0 ** (order / 4) + rng.normal(size=n)
    ours, repeats = tree_risks(X, y)
    wanted = ppi_risks(X, y, 0, [1, 2], repeats, lambda: DecisionTreeRegressor(random_state=0), "regression")
    np.testing.assert_allclose(ours.conditional(0, [1, 2]), wanted, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_tied_tables_equal_the_literal_tree(seed, n_classes):
    X, y = tied_table(seed, n_classes=n_classes)
    ours, repeats = tree_risks(X, y)
    risks, permuted = zip(*(ours.conditional(j, ()) for j in range(X.shape[1])), strict=True)
    for j in range(X.shape[1]):
        wanted = ppi_risks(X, y, j, [], repeats, LiteralCart, "classification")
        np.testing.assert_allclose((risks[j], permuted[j]), wanted, rtol=1e-12)
    for tested, given in [(0, [1]), (1, [2]), (3, [0, 4]), (5, [0, 6]), (2, [1, 5, 6]), (6, [0, 1, 2, 3, 4, 5])]:
        wanted = ppi_risks(X, y, tested, given, repeats, LiteralCart, "classification")
        np.testing.assert_allclose(ours.conditional(tested, given), wanted, rtol=1e-12)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_tied_regression_tables_equal_the_literal_tree(seed, whole):
    # Mirrored columns cut a node into the same two parts, and any two columns do so in a node of two rows.
    X, y = tied_table(seed, n_classes=5)
    y = y + (0.0 if whole else np.random.default_rng(seed).normal(size=len(y)))
    ours, repeats = tree_risks(X, y.astype(float))
    for tested, given in [(0, [1]), (1, [2]), (3, [0, 4]), (2, [1, 5, 6]), (6, [0, 1, 2, 3, 4, 5])]:
        wanted = ppi_risks(X, y, tested, given, repeats, LiteralRegression, "regression")
        np.testing.assert_allclose(ours.conditional(tested, given), wanted, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [0, 3])
def test_a_column_that_a_tree_does_not_use_can_be_taken_away(n_classes):
    for seed in range(6):
        X, y = tied_table(seed, n_classes=n_classes or 5)
        y = y if n_classes else y + np.random.default_rng(seed).normal(size=len(y))
        ours, repeats = tree_risks(X, y)
        ours.conditional(0, list(range(1, 7)))
        for b, tree in enumerate(ours._trees):
            fresh, _ = tree_risks(X, y)
            first, *rest = tree.used.tolist()
            alone = fresh.conditional(first, rest)[0][b]  # a set of one goes the same way
            assert alone == ours._risks[b], (seed, b, repeats.test_rows[b])


@pytest.mark.parametrize("scale", [1e-160, 1e-9, 1e9])
def test_the_scale_of_a_regression_target_does_not_change_the_cuts(scale):
    X, y = smooth_table(0)
    plain, scaled = tree_risks(X, y)[0], tree_risks(X, y * 2.0 ** np.round(np.log2(scale)))[0]
    plain.conditional(0, [1, 2])
    scaled.conditional(0, [1, 2])
    for one, other in zip(plain._trees, scaled._trees, strict=True):
        assert np.array_equal(one.feature, other.feature) or scale == 1e-160  # squares underflow there
        assert (other.feature >= 0).sum() == (one.feature >= 0).sum() > 40


def test_xor_is_found_by_splitting_at_zero_gain():
    a, b = np.tile([0, 0, 1, 1], 20).astype(float), np.tile([0, 1, 0, 1], 20).astype(float)
    bound = bind(np.column_stack([a, b]), (a != b).astype(int), n_repeats=10)
    assert bound.test(0, "y").p_value > 0.05
    assert bound.test(0, "y", [1]).p_value == 2.0**-10


@pytest.mark.parametrize("n_classes", [0, 3])
def test_columns_that_are_permuted_together_equal_the_literal_tree(n_classes):
    for seed in range(3):
        X, y = tied_table(seed, n_classes=n_classes or 5)
        y = y if n_classes else y + np.random.default_rng(seed).normal(size=len(y))
        ours, repeats = tree_risks(X, y)
        literal = (LiteralCart, "classification") if n_classes else (LiteralRegression, "regression")
        for tested, given in [((0, 1), [5]), ((2, 4), []), ((1, 3, 6), [0, 2, 5]), ((0, 1, 2, 3, 4, 5, 6), [])]:
            wanted = ppi_risks(X, y, tested, given, repeats, *literal)
            np.testing.assert_allclose(ours.conditional(tested, given), wanted, rtol=1e-9)
        # A set is what those of its columns are that a tree uses.
        constant = 4
        np.testing.assert_array_equal(ours.conditional((0, constant), [1]), ours.conditional(0, [1, constant]))
        assert ours.n_fits <= 6 * B


@pytest.mark.parametrize("name", ["logistic-3", "linear"])
def test_columns_are_permuted_together_with_any_model(name):
    model, n_classes = MODELS[name]
    X, y = smooth_table(n_classes)
    repeats = draw_repeats(len(y), B, TEST_SIZE, SEED)
    task = "classification" if n_classes else "regression"
    for tested, given in [((0, 2), []), ((1, 3), [0])]:
        differences = literal_differences(X, y, tested, given, repeats, lambda: clone(model), task)
        found = bind(X, y, model=model).test(tested, "y", given)
        assert found.p_value == pytest.approx(significance_of(differences, "wilcoxon", 0), rel=1e-9)
        assert found.statistic == pytest.approx(np.mean(differences), abs=2e-12)


def test_a_set_tells_what_none_of_its_columns_tells_alone():
    a, b = np.tile([0, 0, 1, 1], 20).astype(float), np.tile([0, 1, 0, 1], 20).astype(float)
    bound = bind(np.column_stack([a, b]), (a != b).astype(int), n_repeats=10)
    assert bound.test((0, 1), "y").p_value == 2.0**-10
    assert min(bound.test(0, "y").p_value, bound.test(1, "y").p_value) > 0.05


def test_a_duplicate_given_first_hides_the_column():
    X, y = tied_table(1)
    result = bind(X, y).test(3, "y", [0])  # column 3 equals column 0, which comes first in the table
    assert (result.p_value, result.statistic) == (1.0, 0.0)


def test_a_column_that_no_tree_uses_has_difference_zero_and_costs_no_fit():
    X, y = tied_table(3)
    ours, _ = tree_risks(X, y)
    risks, permuted = ours.conditional(4, [0, 1, 5])  # constant
    assert (risks == permuted).all()
    fitted = ours.n_fits
    again, _ = ours.conditional(0, [1, 5])  # the same trees without the constant
    assert ours.n_fits == fitted == B
    assert (again == risks).all()


def test_dropping_a_used_column_refits():
    X, y = tied_table(1)
    ours, repeats = tree_risks(X, y)
    ours.conditional(0, [1, 5, 6])
    fitted = ours.n_fits
    wanted = ppi_risks(X, y, 5, [1, 6], repeats, LiteralCart, "classification")
    np.testing.assert_allclose(ours.conditional(5, [1, 6]), wanted, rtol=1e-12)
    assert ours.n_fits > fitted


def test_categorical_columns_are_permuted_as_one_block():
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    repeats = draw_repeats(60, B, TEST_SIZE, SEED)
    table = Table([Column("colour", "categorical", codes, ("a", "b", "c")), target_column(y)])
    test = bf.get_ci_test("ppi", n_repeats=B, test_size=TEST_SIZE, model=LogisticRegression())

    class OneHot(LogisticRegression):
        def fit(self, X, y):
            return super().fit(np.eye(3)[X[:, 0].astype(int)], y)

        def predict_proba(self, X):
            return super().predict_proba(np.eye(3)[X[:, 0].astype(int)])

    wanted, _ = ppi(codes[:, None].astype(float), y, 0, [], repeats, OneHot, "classification")
    assert test.bind(table, seed=SEED).test("colour", "y").p_value == pytest.approx(wanted, abs=1e-12)


# All features at once, and repeats that are added later.


@pytest.mark.parametrize("significance", ["wilcoxon", "corrected-t"])
@pytest.mark.parametrize("model", ["tree", LinearRegression(), GaussianNB()], ids=["tree", "linear", "bayes"])
def test_features_given_nothing_are_judged_by_their_differences(model, significance):
    X, y = smooth_table(0 if isinstance(model, LinearRegression) else 3)
    bound = bind(X, y, model=model, significance=significance)
    features, target = np.array([2, 0, 3]), X.shape[1]
    differences = bound.engine.marginal_differences(features, target)
    repeats = draw_repeats(len(y), B, TEST_SIZE, SEED)
    literal, task = {0: (LinearRegression, "regression"), 3: (GaussianNB, "classification")}[
        0 if y.dtype == float else 3
    ]
    literal = LiteralCart if model == "tree" else literal
    for found, feature in zip(differences, features, strict=True):
        wanted = literal_differences(X, y, feature, [], repeats, literal, task)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=2e-12)
    judged, all_at_once = bound.engine.judge(differences), bound.test_many(features, "y")
    one_by_one = [bound.test_config.bind(bound.table, seed=SEED).test(int(x), "y") for x in features]
    for name in ("statistic", "p_value", "log_p", "dof", "n"):
        np.testing.assert_array_equal(getattr(judged, name), getattr(all_at_once, name))
        np.testing.assert_array_equal(getattr(judged, name), [getattr(result, name) for result in one_by_one])


@pytest.mark.parametrize("model", ["tree", KNeighborsClassifier(5), DecisionTreeClassifier(random_state=0)])
def test_later_repeats_extend_the_first_ones(model):
    X, y = tied_table(2)
    few, many = (bind(X, y, model=model, n_repeats=n).engine for n in (4, 9))
    features, target = np.arange(X.shape[1]), X.shape[1]
    first, later = few.marginal_differences(features, target), many.marginal_differences(features, target, 4)
    np.testing.assert_array_equal(np.hstack([first, later]), many.marginal_differences(features, target))


def test_trees_given_nothing_need_no_part_of_scipy_for_tails():
    program = (
        "import sys, numpy as np, blanketflow as bf\n"
        "X = np.random.default_rng(0).normal(size=(40, 3))\n"
        "bf.get_ci_test('ppi', n_repeats=5).bind(X).test_many(np.arange(2), 'x2')\n"
        "assert not {'scipy.special', 'scipy.stats', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# The repeats.


def test_fewer_repeats_are_the_first_of_more():
    few, many = draw_repeats(50, 10, 0.2, 3), draw_repeats(50, 30, 0.2, 3)
    for part in ("is_train", "test_rows", "permuted_rows"):
        assert np.array_equal(getattr(few, part), getattr(many, part)[:10])


def test_some_repeats_are_a_slice_and_receivers_undo_the_permutation():
    repeats = draw_repeats(50, 6, 0.2, 3)
    some = repeats[2:5]
    assert np.array_equal(some.is_train, repeats.is_train[2:5])
    assert np.array_equal(some.permuted_rows, repeats.permuted_rows[2:5])
    assert some.test_share == repeats.test_share
    for receivers, is_train, test, permuted in zip(
        repeats.receivers(), repeats.is_train, repeats.test_rows, repeats.permuted_rows, strict=True
    ):
        assert np.array_equal(receivers[permuted], test)
        assert np.array_equal(receivers[is_train], np.flatnonzero(is_train))


@pytest.mark.parametrize(("n", "share", "n_test"), [(50, 0.2, 10), (51, 0.2, 11), (10, 0.05, 1)])
def test_test_parts_are_rounded_up(n, share, n_test):
    repeats = draw_repeats(n, 4, share, 0)
    assert repeats.test_rows.shape == (4, n_test)
    assert repeats.test_share == n_test / (n - n_test)


def test_an_empty_training_part_is_refused():
    with pytest.raises(DataError, match=r"7 rows cannot be split with test_size 0.9"):
        draw_repeats(7, 2, 0.9, 0)


def test_splits_part_the_rows_and_permute_only_test_rows():
    repeats = draw_repeats(40, 20, 0.3, 1)
    for is_train, test_rows, permuted in zip(repeats.is_train, repeats.test_rows, repeats.permuted_rows, strict=True):
        assert np.array_equal(np.flatnonzero(~is_train), test_rows)
        assert np.array_equal(np.sort(permuted), test_rows)
        assert not np.array_equal(permuted, test_rows)
    assert len({rows.tobytes() for rows in repeats.test_rows}) == 20


def test_another_seed_draws_other_repeats():
    assert not np.array_equal(draw_repeats(40, 2, 0.3, 1).test_rows, draw_repeats(40, 2, 0.3, 2).test_rows)
