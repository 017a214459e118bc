"""Binned trees of the PPI test, against trees and bins by the literal rules."""

import math

import numpy as np
import pytest
from scipy import sparse

import blanketflow as bf
from blanketflow.ci.predictive import binned_tree_risks
from blanketflow.ci.predictive.binned_tree_risks import BinnedTreeRisks, bin_columns
from blanketflow.ci.predictive.risk_differences import draw_repeats
from blanketflow.config.reading import read_config
from blanketflow.core.convert import as_table
from blanketflow.core.errors import ConfigError
from literal import LiteralCart, LiteralRegression, ppi_risks
from test_ci_tree_risks import random_table, table_of


def literal_bins(values):
    """Return each row's bin: a group of equal values closes its bin where a multiple of n / 255 is passed."""
    n, distinct = len(values), sorted(set(values))
    code_of, code, before = {}, 0, 0
    for value in distinct:
        code_of[value] = code
        after = before + list(values).count(value)
        if len(distinct) <= 255 or any(before * 255 < k * n <= after * 255 for k in range(1, 256)):
            code += 1
        before = after
    return [code_of[value] for value in values]


class SmoothedCart(LiteralCart):
    """Shares are (count + 1) / (rows + classes), also of classes that no training row has."""

    n_classes = 2

    def predict_proba(self, X):
        self.classes_ = list(range(self.n_classes))
        leaves = [self.leaf(x) for x in X]
        return np.array([[(t.count(c) + 1) / (len(t) + self.n_classes) for c in self.classes_] for t in leaves])


def literal_tree(n_train, n_classes):
    """Return how to make the literal tree whose leaves have at least the root of the training rows."""
    base = SmoothedCart if n_classes else LiteralRegression
    size = next(k for k in range(1, n_train + 1) if k * k >= n_train)
    return type("Literal", (base,), {"leaf_size": size, "n_classes": n_classes})


@pytest.mark.parametrize(("n", "widths"), [(255, 2**14), (256, 2**14), (700, 2**14), (700, 512), (701, 600)])
def test_bins_equal_the_literal_ones(monkeypatch, n, widths):
    monkeypatch.setattr(binned_tree_risks, "WIDTHS", widths)  # those of more rows are not sorted as a whole
    rng = np.random.default_rng(n)
    columns = [
        rng.normal(size=n),
        rng.permutation(n) % 255,
        rng.permutation(n) - n // 3,
        np.round(rng.normal(size=n), 2) * (rng.random(n) < 0.7),
        rng.normal(size=n) * (rng.random(n) < 0.05),
        np.full(n, -2.0),
        np.zeros(n),
        np.where(rng.random(n) < 0.5, -np.arange(n), -1.0),
        np.append(rng.random(n - 2), [-1e308, 1e308]),
        (rng.permutation(n) + 1) * 1e-320,
    ]
    X = np.column_stack(columns)
    for table in (as_table(X), as_table(sparse.csc_matrix(X))):
        np.testing.assert_array_equal(bin_columns(table, np.arange(len(columns))), [literal_bins(c) for c in columns])


def binned_table(seed, n_classes, n=44):
    """Return columns of every sort as their bins, and a target."""
    X, y = random_table(seed, n_classes, n)
    return np.array([literal_bins(x) for x in X.T]).T.astype(float), y if n_classes else y.astype(float)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.extended) for seed in range(2, 8))])
def test_risks_equal_those_of_the_literal_tree_on_bins(seed, is_sparse, n_classes):
    X, y = binned_table(seed, n_classes)
    d, repeats = X.shape[1], draw_repeats(len(y), 3, 0.25, seed)
    ours, make = BinnedTreeRisks(table_of(X, y, is_sparse), d, repeats), literal_tree(33, n_classes)
    task, members, rng = "classification" if n_classes else "regression", list(range(d)), np.random.default_rng(seed)
    ours.offer(members)
    assert min(len(tree.feature) for tree in ours._trees) > 1
    for _ in range(4):
        for tested in rng.choice(members, 2, replace=False):
            wanted = ppi_risks(X, y, tested, [m for m in members if m != tested], repeats, make, task)
            np.testing.assert_allclose(ours.of(tested), wanted, rtol=1e-9)
        together = tuple(members[:2])
        wanted = ppi_risks(X, y, together, members[2:], repeats, make, task)
        np.testing.assert_allclose(ours.of(together), wanted, rtol=1e-9)
        for _ in range(2):
            members.remove(dropped := rng.choice(members))
            ours.drop(dropped)
    alone = ours.differences(np.arange(d))
    for j in range(d):
        risks, permuted = ppi_risks(X, y, j, [], repeats, make, task)
        np.testing.assert_allclose(alone[j], np.subtract(permuted, risks), atol=2e-12)


@pytest.mark.parametrize("n_classes", [0, 2, 5])
def test_trees_on_single_columns_equal_trees_on_sets_of_one_column(n_classes):
    rng = np.random.default_rng(n_classes)
    X = np.column_stack([rng.normal(size=3000), rng.integers(0, 9, 3000), rng.normal(size=3000) ** 3])
    signal = X[:, 0] + rng.normal(size=3000)
    y = (
        (signal > np.quantile(signal, np.arange(1, n_classes) / n_classes)[:, None]).sum(axis=0)
        if n_classes
        else signal
    )
    ours = BinnedTreeRisks(table_of(X, y), 3, draw_repeats(3000, 4, 0.2, 1))
    alone = ours.differences(np.arange(3))
    for j in range(3):
        risks, permuted = ours.conditional(j, ())
        np.testing.assert_array_equal(alone[j], np.round(permuted - risks, 12))
    assert alone.all()


@pytest.mark.parametrize("n_classes", [0, 3])
def test_a_shrinking_set_has_the_trees_of_a_new_one_and_grows_only_those_that_change(n_classes):
    X, y = random_table(5, n_classes, n=400)
    y, d = y if n_classes else y.astype(float), X.shape[1]
    repeats = draw_repeats(400, 4, 0.25, 0)
    kept = BinnedTreeRisks(table_of(X, y), d, repeats)
    kept.offer(range(d))
    constant = next(j for j in range(d) if len(set(X[:, j])) == 1)
    kept.drop(constant)
    assert kept.n_fits == 4
    members = [j for j in range(d) if j != constant]
    while len(members) > 1:
        fresh = BinnedTreeRisks(table_of(X, y), d, repeats)
        fresh.offer(members)
        for column in members:
            np.testing.assert_array_equal(kept.of(column), fresh.of(column))
        kept.drop(members.pop(len(members) // 2))
    assert kept.n_fits < 4 * d


def test_only_the_smaller_side_of_a_cut_is_counted():
    X = np.random.default_rng(0).normal(size=(5000, 4))
    ours = BinnedTreeRisks(table_of(X, X.sum(axis=1)), 4, draw_repeats(5000, 1, 0.2, 0))
    ours.offer(range(4))
    assert 4000 < ours.n_counted <= 4000 * (1 + math.log2(4000 / 64) / 2)


def test_only_nodes_below_a_dropped_column_are_counted_again():
    X = np.random.default_rng(0).normal(size=(5000, 4))
    table, repeats = table_of(X, X @ [8.0, 4.0, 2.0, 1.0]), draw_repeats(5000, 1, 0.2, 0)
    ours, fresh = BinnedTreeRisks(table, 4, repeats), BinnedTreeRisks(table, 4, repeats)
    ours.offer(range(4))
    (tree,), n_before = ours._trees, ours.n_counted
    assert tree.feature[0] == 0 and (tree.feature == 2).any()
    ours.drop(2)
    fresh.offer([0, 1, 3])
    assert 0 < ours.n_counted - n_before < fresh.n_counted / 2


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_huge_and_tiny_numbers_give_the_same_answer(scale):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + rng.normal(size=300)
    test = bf.get_ci_test("ppi", n_repeats=10, model="binned-tree")
    plain, scaled = (test.bind(table_of(X * s, y * s), seed=1, target="y") for s in (1.0, scale))
    for given in ((), ("x1",)):
        assert plain.test("x0", "y", given).p_value == scaled.test("x0", "y", given).p_value <= 0.01


def test_ppfs_takes_binned_trees_on_real_data():
    from sklearn.datasets import load_breast_cancer, load_diabetes

    for load, found in ((load_breast_cancer, "worst"), (load_diabetes, "bmi")):
        X, y = load(return_X_y=True, as_frame=True)
        fitted = bf.PPFS(model="binned-tree", n_repeats=10, random_state=0).fit(X, y)
        assert any(found in name for name in fitted.selected_features_)


def test_a_config_takes_binned_trees_for_ppi_alone():
    def read(test):
        selectors = {"chosen": {"method": "ppfs", "ci_test": "own"}}
        raw = {"datasets": {"wine": {"source": "sklearn:wine"}}, "ci_tests": {"own": test}, "selectors": selectors}
        return read_config(raw).ci_tests["own"]

    assert read({"type": "ppi", "model": "binned-tree"}).model == "binned-tree"
    with pytest.raises(ConfigError, match="unknown model 'binned-tree'"):
        read({"type": "cpi", "model": "binned-tree"})
