"""Trees on one column each, all repeats at once, against the literal tree and against the tree of several columns."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from blanketflow.ci.predictive import tree_risks
from blanketflow.ci.predictive.risk_differences import draw_repeats, risk_differences
from blanketflow.ci.predictive.tree_risks import SingleColumnRisks, TreeRisks
from blanketflow.core.convert import as_table
from blanketflow.core.table import Column, SparseValues, Table
from literal import LiteralCart, LiteralRegression, ppi_risks


def target_column(y):
    if y.dtype.kind == "f":
        return Column("y", "numeric", y)
    return Column("y", "categorical", y, tuple(str(c) for c in range(y.max() + 1)))


def differences(X, y, repeats, columns=None):
    table = as_table(X).with_column(target_column(y))
    columns = np.arange(len(table) - 1) if columns is None else columns
    return SingleColumnRisks(table, len(table) - 1, repeats).differences(columns)


def literal(X, y, repeats):
    """Algorithm 1, a tree of its own for every column and repeat."""
    tree, task = (LiteralRegression, "regression") if y.dtype.kind == "f" else (LiteralCart, "classification")
    pairs = [ppi_risks(X, y, j, [], repeats, tree, task) for j in range(X.shape[1])]
    return risk_differences(*(np.array(risks) for risks in zip(*pairs, strict=True)))


def columns_of_every_sort(rng, n):
    """Return numbers, rounded numbers, flags, counts, a constant, and rare values on either side of zero."""
    few = rng.random((n, 3)) < 0.2
    return np.column_stack(
        [
            rng.normal(size=(n, 2)),
            np.round(rng.normal(size=(n, 2)), 1),
            rng.integers(0, 2, n),
            rng.integers(-2, 3, n),
            np.ones(n),
            few * rng.integers(-2, 3, (n, 3)),
            few[:, 0] * rng.normal(size=n),
        ]
    ).astype(float)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(12))
def test_classes_equal_the_literal_tree(seed, n_classes):
    rng = np.random.default_rng((seed, n_classes))
    n = int(rng.integers(8, 60))
    X, y = columns_of_every_sort(rng, n), rng.integers(0, n_classes, n)
    if seed % 3 == 0:
        y = (y > 0) * rng.integers(0, n_classes, n)
    if seed % 4 == 0:
        y[0] = n_classes  # in some training parts there is no such row
    repeats = draw_repeats(n, 5, 0.25, seed)
    np.testing.assert_array_equal(differences(X, y, repeats), literal(X, y, repeats))


@pytest.mark.parametrize("kind", ["numbers", "counts", "far from zero", "mostly zero"])
@pytest.mark.parametrize("seed", range(6))
def test_numbers_equal_the_literal_tree(seed, kind):
    rng = np.random.default_rng((seed, len(kind)))
    n = int(rng.integers(8, 50))
    X, y = columns_of_every_sort(rng, n), rng.normal(size=n)
    if kind == "counts":
        y = rng.integers(0, 4, n).astype(float)
    if kind == "far from zero":
        y += 1e5
    if kind == "mostly zero":
        y *= rng.random(n) < 0.2
    repeats = draw_repeats(n, 4, 0.25, seed)
    wanted = literal(X, y, repeats)
    atol = 1e-9 if kind == "far from zero" else 1.1e-12  # the literal means are rounded to 1e-11 there
    np.testing.assert_allclose(differences(X, y, repeats), wanted, rtol=0, atol=atol)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_small_tables_equal_the_literal_tree(data):
    n, n_classes = data.draw(st.integers(4, 14)), data.draw(st.integers(1, 4))
    cells = st.lists(st.integers(-3, 3), min_size=n, max_size=n)
    X = np.array(data.draw(st.lists(cells, min_size=1, max_size=3))).T / 2
    y = np.array(data.draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)))
    repeats = draw_repeats(n, 3, data.draw(st.sampled_from([0.2, 0.5])), data.draw(st.integers(0, 9)))
    wanted = literal(X, y, repeats)
    np.testing.assert_array_equal(differences(X, y, repeats), wanted)
    np.testing.assert_array_equal(differences(sparse.csc_matrix(X), y, repeats), wanted)
    numbers = y.astype(float)
    np.testing.assert_allclose(differences(X, numbers, repeats), literal(X, numbers, repeats), rtol=0, atol=1.1e-12)


@pytest.mark.parametrize("n_classes", [0, 2, 3, 7])
@pytest.mark.parametrize("n", [30, 300, 1500])
def test_the_tree_of_several_columns_agrees_when_offered_one(n, n_classes):
    rng = np.random.default_rng((n, n_classes))
    X, y = columns_of_every_sort(rng, n), rng.integers(0, n_classes, n) if n_classes else rng.normal(size=n)
    repeats = draw_repeats(n, 4, 0.2, n)
    trees = TreeRisks(as_table(X).with_column(target_column(y)), X.shape[1], repeats)
    wanted = [risk_differences(*trees.conditional(j, ())) for j in range(X.shape[1])]
    np.testing.assert_allclose(differences(X, y, repeats), wanted, rtol=0, atol=1.1e-12)  # sums of another order


def cuts_of(node):
    return [node[1], *cuts_of(node[2]), *cuts_of(node[3])] if isinstance(node, tuple) else []


@pytest.mark.parametrize("n_values", [3, 8, 10_000])
@pytest.mark.parametrize("seed", range(5))
def test_a_tree_on_one_column_cuts_between_all_neighbours_but_those_of_one_class(seed, n_values):
    # What spares the kernels the search: the order of the cuts shows nowhere.
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, n_values, 50).astype(float), rng.integers(0, 3, 50)
    classes = {value: set(y[x == value].tolist()) for value in x.tolist()}
    wanted = [
        (low + high) / 2
        for low, high in itertools.pairwise(sorted(classes))
        if classes[low] != classes[high] or len(classes[low]) > 1
    ]
    assert sorted(cuts_of(LiteralCart().fit(x[:, None], y).tree)) == wanted


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_all_ways_of_holding_a_column_give_the_same_bits(n_classes):
    rng = np.random.default_rng(n_classes)
    n = 120
    X = columns_of_every_sort(rng, n)
    X[:, 0] = rng.permutation(n) - 40.0  # no two rows alike, and one zero: bits where it is dense, counts where not
    X[3, 1] = 0.0
    y = rng.integers(0, n_classes, n) if n_classes else rng.normal(size=n)
    repeats = draw_repeats(n, 6, 0.2, 1)
    wanted = differences(X, y, repeats)
    thin = sparse.csc_matrix(X)
    stored = sparse.csc_matrix(X + 1000.0)  # stored zeros, in no order of values
    stored.data -= 1000.0
    stored.data[np.abs(stored.data) < 1e-9] = 0.0
    shuffled = rng.permutation(X.shape[1])
    singles = [
        Column(f"c{j}", "numeric", SparseValues(np.flatnonzero(X[:, j]), X[X[:, j] != 0, j], n) if j % 2 else X[:, j])
        for j in range(X.shape[1])
    ]
    singles = Table([*singles, target_column(y)])
    for held in (thin, np.asfortranarray(X)):
        np.testing.assert_array_equal(differences(held, y, repeats), wanted)
        np.testing.assert_array_equal(differences(held, y, repeats, shuffled), wanted[shuffled])
    np.testing.assert_array_equal(
        differences(stored, y, repeats), differences(sparse.csc_matrix(stored.toarray()), y, repeats)
    )
    np.testing.assert_array_equal(
        SingleColumnRisks(singles, X.shape[1], repeats).differences(shuffled), wanted[shuffled]
    )
    counts = X[:, [4, 5, 7]]
    for dtype in (np.int8, np.int64, np.float32):
        np.testing.assert_array_equal(differences(counts.astype(dtype), y, repeats), wanted[[4, 5, 7]])
    np.testing.assert_array_equal(differences(X[:, [4]] > 0, y, repeats), wanted[[4]])


@pytest.mark.parametrize("cells", [1, 7, 100, 1000])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_blocks_of_any_size_give_the_same(monkeypatch, cells, is_sparse):
    rng = np.random.default_rng(3)
    X, y = columns_of_every_sort(rng, 40), rng.integers(0, 3, 40)
    X = sparse.csc_matrix(X) if is_sparse else X
    repeats = draw_repeats(40, 5, 0.2, 0)
    wanted = differences(X, y, repeats)
    monkeypatch.setattr(tree_risks, "CELLS", cells)
    monkeypatch.setattr(tree_risks, "COUNTS", cells)
    np.testing.assert_array_equal(differences(X, y, repeats), wanted)


@pytest.mark.parametrize("n_classes", [0, 2])
def test_repeats_do_not_depend_on_how_many_there_are(n_classes):
    rng = np.random.default_rng(4)
    X, y = columns_of_every_sort(rng, 50), rng.integers(0, n_classes, 50) if n_classes else rng.normal(size=50)
    repeats = draw_repeats(50, 150, 0.2, 0)  # more than a word has bits
    wanted = differences(X, y, repeats)
    for part in (slice(0, 1), slice(0, 63), slice(60, 70), slice(100, None)):
        np.testing.assert_array_equal(differences(X, y, repeats[part]), wanted[:, part])


def test_the_order_of_equal_values_does_not_matter():
    rng = np.random.default_rng(5)
    X, y = columns_of_every_sort(rng, 80), rng.integers(0, 3, 80)
    repeats, order = draw_repeats(80, 4, 0.2, 0), rng.permutation(80)
    place = np.argsort(order)
    moved = type(repeats)(repeats.is_train[:, order], place[repeats.test_rows], place[repeats.permuted_rows])
    np.testing.assert_array_equal(differences(X, y, repeats), differences(X[order], y[order], moved))


def test_more_rows_than_half_a_lane_holds():
    rng = np.random.default_rng(6)
    n = 70_000
    X, y = np.column_stack([rng.integers(0, 2, n), rng.integers(0, 50, n), np.ones(n)]), rng.integers(0, 2, n)
    repeats = draw_repeats(n, 2, 0.2, 0)
    trees = TreeRisks(as_table(X).with_column(target_column(y)), 3, repeats)
    wanted = [risk_differences(*trees.conditional(j, ())) for j in range(3)]
    np.testing.assert_allclose(differences(X, y, repeats), wanted, rtol=0, atol=1e-11)


def test_a_value_in_the_middle_goes_with_the_lower_one_and_neighbouring_floats_are_told_apart():
    y = np.array([0, 1, 1, 0])
    repeats = draw_repeats(4, 1, 0.5, 0)
    train, test = np.flatnonzero(repeats.is_train[0]), repeats.test_rows[0]
    for low, high, middle in [(0.0, 2.0, 1.0), (1.0, np.nextafter(1.0, 2.0), 1.0), (-1.7e308, 1.7e308, 0.0)]:
        x = np.empty((4, 1))
        x[train, 0], x[test, 0] = (low, high), (middle, high)
        classes = np.empty(4, dtype=int)
        classes[train], classes[test] = (0, 1), (0, 1)  # right before the permutation
        changed = repeats.permuted_rows[0][0] != test[0]
        found = differences(x, classes, repeats)[0, 0]
        assert found == (round(-np.log(1e-15), 12) if changed else 0.0)
    assert differences(np.ones((4, 1)), y, repeats).tolist() == [[0.0]]


@pytest.mark.parametrize("power", [-1000, -500, -30, 30, 400, 990])
def test_the_unit_of_numbers_does_not_matter(power):
    rng = np.random.default_rng(7)
    X, y = columns_of_every_sort(rng, 60), np.round(rng.normal(size=60) * 2.0**20)
    repeats = draw_repeats(60, 3, 0.2, 0)
    wanted = differences(X, y, repeats)
    assert wanted.any()
    np.testing.assert_array_equal(differences(X, y * 2.0**power, repeats), wanted)
