"""Trees that are kept while a set shrinks, against trees grown from nothing by the literal rules."""

import numpy as np
import pytest
from scipy import sparse

import blanketflow as bf
from blanketflow.ci.predictive import tree_risks
from blanketflow.ci.predictive.risk_differences import draw_repeats
from blanketflow.ci.predictive.tree_risks import TreeRisks
from blanketflow.core.convert import as_table
from blanketflow.core.table import Column, Table
from blanketflow.kernels import trees
from blanketflow.moves.backward import BackwardElimination, remove_in_one_pass
from blanketflow.moves.steps import MOST_LISTED, Step
from literal import LiteralCart, LiteralRegression, ppi_risks


def target_column(y):
    if y.dtype.kind == "f":
        return Column("y", "numeric", y)
    return Column("y", "categorical", y, tuple(str(c) for c in range(y.max() + 1)))


def table_of(X, y, is_sparse=False):
    return as_table(sparse.csc_matrix(X) if is_sparse else X).with_column(target_column(y))


def random_table(seed, n_classes=2, n=44):
    """Return columns of every sort, some of them with half or more rows of one value, in random order; 0: numbers."""
    rng = np.random.default_rng((seed, n_classes))
    integer, rare = rng.integers(0, 5, n), rng.integers(0, 3, n) * (rng.random(n) < 0.3)
    columns = [
        integer,
        rng.integers(0, 2, n),
        integer,  # a copy
        4 - integer,  # a mirror
        np.full(n, 3),
        rng.normal(size=n),
        rare,
        -rare,
        np.where(rng.random(n) < 0.6, 0.0, rng.normal(size=n)),  # the most frequent value lies in the middle
        np.where(rng.random(n) < 0.7, 2.0, integer),
        (rng.random(n) < 0.1),
    ]
    X = np.column_stack(columns).astype(float)[:, rng.permutation(len(columns))]
    if n_classes == 0:
        return X, integer + rare + (rng.normal(size=n) if seed % 2 else rng.integers(0, 3, n))
    y = (integer + rare + rng.integers(0, 2, n)) % n_classes if seed % 3 else rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    return X, y


@pytest.mark.parametrize("n_classes", [0, 2, 3, 6])
@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(10, 40), marks=pytest.mark.extended)], ids=str)
def test_trees_of_a_shrinking_set_equal_trees_grown_from_nothing(seeds, n_classes):
    for seed in seeds:
        trees_of_a_shrinking_set_equal_trees_grown_from_nothing(seed, n_classes)


def trees_of_a_shrinking_set_equal_trees_grown_from_nothing(seed, n_classes):
    X, y = random_table(seed, n_classes)
    y = y if n_classes else y.astype(float)
    d = X.shape[1]
    repeats = draw_repeats(len(y), 4, 0.25, seed)
    kept = TreeRisks(table_of(X, y), d, repeats)
    thin = TreeRisks(table_of(X, y, is_sparse=True), d, repeats)
    kept.offer(range(d))
    thin.offer(range(d))
    order, examined = np.random.default_rng(seed).permutation(d), 0
    for step, dropped in enumerate(order[:-1]):
        members = np.sort(order[step:])
        fresh = TreeRisks(table_of(X, y), d, repeats)
        fresh.offer(members)
        examined += fresh.n_examined
        for column in members:
            for found in (fresh.of(column), thin.of(column)) if n_classes else (fresh.of(column),):
                np.testing.assert_array_equal(kept.of(column), found)
            if not n_classes:  # sums around another background differ in their last digits
                np.testing.assert_allclose(thin.of(column), fresh.of(column), rtol=1e-9)
        kept.drop(dropped)
        thin.drop(dropped)
    assert kept.n_examined < examined


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.extended) for seed in (2, 3))])
def test_risks_equal_those_of_the_literal_tree(seed, is_sparse, n_classes):
    X, y = random_table(seed, n_classes, n=40)
    y = y if n_classes else y.astype(float)
    d = X.shape[1]
    repeats = draw_repeats(len(y), 3, 0.25, seed)
    ours = TreeRisks(table_of(X, y, is_sparse), d, repeats)
    literal, task = (LiteralCart, "classification") if n_classes else (LiteralRegression, "regression")
    members = list(range(d))
    ours.offer(members)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        for tested in rng.choice(members, 2, replace=False):
            wanted = ppi_risks(X, y, tested, [m for m in members if m != tested], repeats, literal, task)
            np.testing.assert_allclose(ours.of(tested), wanted, rtol=1e-9)
        for _ in range(2):
            members.remove(dropped := rng.choice(members))
            ours.drop(dropped)


@pytest.mark.parametrize("cells", [1, 100, 2**20])
def test_a_mixed_table_of_sparse_and_dense_columns_is_read_alike_in_blocks_of_any_size(cells, monkeypatch):
    monkeypatch.setattr(tree_risks, "CELLS", cells)
    X, y = random_table(1)
    parts = [as_table(X).columns[j] if j % 2 else as_table(sparse.csc_matrix(X)).columns[j] for j in range(X.shape[1])]
    repeats = draw_repeats(len(y), 4, 0.25, 0)
    mixed = TreeRisks(Table([*parts, target_column(y)]), X.shape[1], repeats)
    plain = TreeRisks(table_of(X, y), X.shape[1], repeats)
    for column in range(X.shape[1]):
        given = [j for j in range(X.shape[1]) if j != column]
        np.testing.assert_array_equal(mixed.conditional(column, given), plain.conditional(column, given))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.extended) for seed in (1, 2))])
def test_a_long_chain_of_cuts_on_wide_sparse_data(seed):
    # Each cut takes few rows away, so the larger child is closed up again and again.
    rng = np.random.default_rng(seed)
    X = (rng.random((100, 120)) < 0.04).astype(float) * rng.integers(-2, 3, (100, 120))
    y = rng.integers(0, 3, 100)
    repeats = draw_repeats(100, 2, 0.2, seed)
    thin, dense = (TreeRisks(table_of(X, y, is_sparse), 120, repeats) for is_sparse in (True, False))
    for risks in (thin, dense):
        risks.offer(range(120))
    used = np.flatnonzero(thin._is_used.any(axis=0))
    assert len(used) > 20
    for column in used[:2]:
        wanted = ppi_risks(X, y, column, [j for j in range(120) if j != column], repeats, LiteralCart, "classification")
        np.testing.assert_allclose(thin.of(column), wanted, rtol=1e-9)
    for column in used:
        np.testing.assert_array_equal(thin.of(column), dense.of(column))
        thin.drop(column)
        dense.drop(column)


@pytest.mark.extended  # compiles what is called from Python: ten seconds
@pytest.mark.parametrize("n_classes", [0, 2])
def test_parts_of_a_tree_are_gathered_alike_one_by_one_and_all_at_once(n_classes, monkeypatch):
    X, y = random_table(3, n_classes)
    y, d = y if n_classes else y.astype(float), X.shape[1]
    repeats = draw_repeats(len(y), 2, 0.25, 0)
    at_once, one_by_one = (TreeRisks(table_of(X, y), d, repeats) for _ in range(2))
    one_by_one._grow_tree, n_gathered = trees.grow_tree.py_func, []
    gather = trees._gather
    monkeypatch.setattr(trees, "SLOTS", 1)
    monkeypatch.setattr(trees, "_gather", lambda *args: n_gathered.append(len(args[4])) or gather(*args))
    at_once.offer(range(d))
    one_by_one.offer(range(d))
    for dropped in np.random.default_rng(0).permutation(d)[:-1]:
        at_once.drop(dropped)
        one_by_one.drop(dropped)
        for column in at_once._offered:
            np.testing.assert_array_equal(one_by_one.of(column), at_once.of(column))
    assert set(n_gathered) == {1}
    assert len(n_gathered) > one_by_one.n_fits


def test_only_what_hangs_below_a_dropped_column_is_examined_again():
    X, y = random_table(2, n=300)
    repeats = draw_repeats(300, 5, 0.2, 0)
    ours = TreeRisks(table_of(X, y), X.shape[1], repeats)
    ours.offer(range(X.shape[1]))
    whole, fits = ours.n_examined, ours.n_fits
    constant = next(j for j in range(X.shape[1]) if len(set(X[:, j])) == 1)
    ours.drop(constant)
    assert (ours.n_examined, ours.n_fits) == (whole, fits) == (whole, 5)
    deepest = ours._trees[0].feature[ours._trees[0].feature >= 0][-1]  # nodes are numbered downwards
    if ours._trees[0].feature[0] != deepest:
        n_changed = int(ours._is_used[:, deepest].sum())
        ours.drop(int(ours._sorted.columns[deepest]))
        assert ours.n_fits == 5 + n_changed
        assert ours.n_examined - whole < n_changed * whole / 5


def test_a_breast_cancer_shrink_phase_saves_most_fits():
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    bound = bf.get_ci_test("ppi", n_repeats=30).bind(table_of(X, y), seed=1, target="y")
    least_first = [Step(f"x{j}") for j in np.random.default_rng(0).permutation(30)]
    decisions = list(remove_in_one_pass(bound, "y", least_first, 0.05))
    grown = bound.engine.risks(30)
    literal_fits = 30 * sum(1 for step in decisions if step.given != ())
    assert literal_fits >= 29 * 30
    assert grown.n_fits < literal_fits / 2
    assert grown.n_examined < literal_fits / 6 * grown_alone(X, y, 30) / 30


def grown_alone(X, y, n_repeats):
    """Return the entries examined to grow the trees of all columns once."""
    bound = bf.get_ci_test("ppi", n_repeats=n_repeats).bind(table_of(X, y), seed=1, target="y")
    bound.engine.risks(30).offer(range(30))
    return bound.engine.risks(30).n_examined


@pytest.mark.parametrize("test", ["ppi", "g2"])
def test_elimination_answers_as_tests_given_the_others(test):
    X, y = random_table(4)
    bound, literal = (bf.get_ci_test(test).bind(table_of(X, y), seed=3, target="y") for _ in range(2))
    members = list(range(X.shape[1]))
    elimination = BackwardElimination(bound, members, "y")
    for column in (3, 0, 7, 5):
        for tested in members:
            assert elimination.test(tested) == literal.test(tested, "y", [m for m in members if m != tested])
        elimination.drop(column)
        members.remove(column)
    assert bound.n_tests == literal.n_tests


def test_long_conditioning_sets_are_not_written_down():
    rng = np.random.default_rng(0)
    d = MOST_LISTED + 3
    X, y = rng.integers(0, 2, (40, d)).astype(float), rng.integers(0, 2, 40)
    bound = bf.get_ci_test("ppi", n_repeats=5).bind(table_of(X, y), seed=0, target="y")
    decisions = list(remove_in_one_pass(bound, "y", [Step(f"x{j}") for j in range(d)], 0.05))
    n_standing = d - np.cumsum([0, *(not step.kept for step in decisions[:-1])])
    for decision, n in zip(decisions, n_standing, strict=True):
        assert decision.given is None if n > MOST_LISTED else len(decision.given) in (n - 1, 0)
    assert (n_standing > MOST_LISTED).any() and (n_standing <= MOST_LISTED).any()
