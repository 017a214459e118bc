"""No answer depends on the order of the columns: ties go by names."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from test_selectors import METHODS, every_quick_method, outcome, selector

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.table import Table
from blanketflow.models.evaluation import evaluate_split
from blanketflow.search.run_fold import not_bound, run_fold, run_problem
from blanketflow.selectors import get_method
from blanketflow.selectors.base import Problem

N_ROWS, N_COLUMNS = 120, 7
#: As made, turned round, and four others.
ORDERS = [
    np.arange(N_COLUMNS),
    np.arange(N_COLUMNS)[::-1],
    *(np.random.default_rng(5).permutation(N_COLUMNS) for _ in range(4)),
]


def tied(seed=0):
    """Return numbers, labels and truth values of which several say the same of three classes, and the classes."""
    rng = np.random.default_rng(seed)
    a, b, junk = rng.normal(size=(3, N_ROWS)).round(2)
    y = np.digitize(a + b + 0.7 * rng.normal(size=N_ROWS), [-0.7, 0.7])
    X = pd.DataFrame({"b": b, "a": a, "turned": -a, "junk": junk, "flag": a > 0})
    colour = np.where(rng.random(N_ROWS) < 0.7, y, 0)
    X["farbe"], X["colour"] = (np.array(labels)[colour] for labels in (["rot", "gelb", "blau"], ["red", "hay", "sky"]))
    return X, np.array(["low", "middle", "high"])[y]


def learnt(fitted):
    return outcome(fitted), fitted.importances_, fitted.frequencies_, fitted.status_, fitted.reason_, fitted.verdict_


def fits(name, X, y, orders=ORDERS, **options):
    options |= {"blanket": ["a", "b"]} if name == "true-blanket" else {}
    return [learnt(selector(name, **options).fit(X.iloc[:, order], y)) for order in orders]


@every_quick_method
def test_every_method_gives_the_same_for_six_orders(name):
    first, *others = fits(name, *tied())
    for other in others:
        assert other == first


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in ("iamb", "knockoffs", "stepwise") else pytest.mark.extended) for n in METHODS],
)
def test_so_does_every_method_on_folds(name):
    first, other = fits(name, *tied(), orders=ORDERS[1:3], n_folds=2)
    assert other == first


def test_ties_go_by_the_value_of_numbers_in_names():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    X = pd.DataFrame(dict.fromkeys(("x10", "x9", "x2"), x))
    assert bf.MIM(n_features=3).fit(X, x).selected_features_ == ["x2", "x9", "x10"]
    assert bf.MIM(n_features=12).fit(np.tile(x[:, None], 12), x).selected_features_ == [f"x{j}" for j in range(12)]


def numbers():
    """Return numbers of which some are copies, and a target, as a frame that is held as one matrix."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, N_COLUMNS)).round(1) * (rng.random((150, N_COLUMNS)) < 0.6)
    X[:, 4] = X[:, 1]
    return pd.DataFrame(X, columns=list("gbadcfe")), X[:, 0] + X[:, 1] + rng.normal(size=150)


@pytest.mark.parametrize("name", ["knockoffs", "permutation-importance", "stability-selection", "mrmr", "ppfs", "iamb"])
def test_columns_that_are_held_together_are_put_in_order_together(name):
    X, y = numbers()
    wanted = learnt(selector(name).fit(X[sorted(X)], y))
    for order in ORDERS[1:]:
        assert learnt(selector(name).fit(X.iloc[:, order], y)) == wanted


@pytest.mark.parametrize("name", ["mrmr", "iamb", "stability-selection"])
def test_so_are_sparse_ones(name):
    X, y = numbers()
    found = []
    for order in ORDERS:
        names = X.columns[order].tolist()
        table = as_table(sp.csc_matrix(X.iloc[:, order].to_numpy()), names)
        found.append(learnt(selector(name).fit(table, y)))
    assert found[1:] == found[:-1]


def test_a_scikit_learn_selector_sees_one_order():
    X, y = numbers()
    target = as_table(np.where(y > 0, "p", "q")[:, None], ["y"])[0]
    method = get_method("sklearn.feature_selection:SelectKBest", "table", {"k": 2})
    found = [run_fold(method, None, as_table(X.iloc[:, order]), target, 0).members for order in ORDERS]
    assert found[0] and found[1:] == found[:-1]


def test_all_blankets_and_the_answer_of_select():
    X, y = tied()
    blankets = [bf.blankets(X.iloc[:, o].assign(y=y), "hiton-mb", "g2", symmetry="none") for o in ORDERS[:3]]
    for found in blankets[1:]:
        assert {name: found[name] for name in [*X, "y"]} == {name: blankets[0][name] for name in [*X, "y"]}
    chosen = [bf.select(X.iloc[:, o], y, time_limit=60) for o in ORDERS[1:3]]
    assert chosen[0].features == chosen[1].features
    assert chosen[0].verdict == chosen[1].verdict


def test_a_comparison_scores_the_same_sets_with_the_same_models():
    X, y = tied()
    quick = {"method": "permutation-importance", "model": "tree", "n_permutations": 19}
    asked = {"selectors": {name: {"method": name} for name in ("mrmr", "iamb")} | {"by-permutation": quick}}
    asked |= {"models": ["tree", "forest"], "evaluation": 2}
    scores = [bf.compare(X.iloc[:, o], y, folds=0, **asked).scores for o in ORDERS[1:3]]
    kept = [name for name in scores[0] if "second" not in name]
    pd.testing.assert_frame_equal(scores[0][kept], scores[1][kept])


@pytest.mark.parametrize("model", ["tree", "forest", "lightgbm", "svm", "naive-bayes", "knn"])
def test_a_model_sees_one_order(model):
    X, y = numbers()
    target = as_table(np.where(y > 0, "p", "q")[:, None], ["y"])[0]
    train, test = np.arange(100), np.arange(100, 150)
    values = []
    for order in ORDERS:
        table = as_table(X.iloc[:, order])
        parts = table.take(train), target.take(train), table.take(test), target.take(test)
        values.append([row["value"] for row in evaluate_split(*parts, [model], "auto", "classification", (0,))])
    assert values[1:] == values[:-1]


@pytest.mark.parametrize(
    "options", [{"law": "markov-chain"}, {"covariance": "banded"}, {"covariance": (np.eye(12) + 0.1).tolist()}]
)
def test_what_follows_the_order_of_the_table_is_given_it(options):
    rng = np.random.default_rng(3)
    X = pd.DataFrame((rng.normal(size=(400, 12)) > 0).astype(int), columns=list("lkjihgfedcba"))
    y = X.sum(axis=1) + 0.1 * rng.normal(size=400)
    table, target = as_table(X), as_table(y.to_numpy()[:, None], ["y"])[0]
    method = get_method("knockoffs", "table", {"q": 0.2, **options})
    whole = table.with_column(target)
    literal = run_problem(method, Problem(list(X), "y", None, 0, lambda: whole, not_bound))
    found = run_fold(method, None, table, target, 0)
    assert [(s.feature, s.statistic, s.importance) for s in found.candidates] == [
        (s.feature, s.statistic, s.importance) for s in literal.candidates
    ]
    assert found.members
    in_order = run_fold(method, None, Table([table[name] for name in sorted(X)]), target, 0)
    assert [s.importance for s in in_order.candidates] != [s.importance for s in found.candidates]
