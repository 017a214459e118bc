"""Rows with weights and rows of groups: what every method does with them, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier
from test_selectors import KEEPING_TOGETHER, METHODS, TEST_OF, one_of_each, outcome, selector, table

import blanketflow as bf
from blanketflow.ci.predictive.model_losses import held_out_losses
from blanketflow.core.convert import as_table
from blanketflow.core.errors import ConfigError, DataError, DependentRowsWarning, UnsupportedError
from blanketflow.core.rows import balanced_parts
from blanketflow.core.table import column_from_array
from blanketflow.data.sources import read_source
from blanketflow.search.run_fold import fold_seed, run_fold
from blanketflow.selectors.base import members
from blanketflow.workflow.plan import make_plan

TAKING = [name for name in METHODS if not METHODS[name].draws_rows and TEST_OF.get(name) != "ppi"]
pytestmark = pytest.mark.filterwarnings(
    "ignore::blanketflow.core.errors.UnreliableWarning", "ignore::blanketflow.core.errors.DependentRowsWarning"
)


@pytest.fixture(scope="module")
def rows():
    """Features, target, weights, of which some are zero, and the rows that they stand for."""
    X, y = table(n=120)
    weights = np.random.default_rng(3).integers(0, 4, len(X))
    return X, y, weights, np.repeat(np.arange(len(X)), weights)


def with_test(name, **options):
    return selector(name, **({"ci_test": TEST_OF[name]} if name in TEST_OF else {}), **options)


#: Methods that test and hold out: to their tests the groups of `fit` are clusters, which the copies of a row are not.
TESTING_AND_HOLDING_OUT = {"auto", "srs"}


@one_of_each([name for name in TAKING if name not in TESTING_AND_HOLDING_OUT])
def test_counts_are_repeated_rows(rows, name):
    X, y, weights, repeated = rows
    together = {"groups": repeated} if name in KEEPING_TOGETHER else {}
    expected = with_test(name).fit(X.iloc[repeated], y[repeated], **together)
    assert outcome(with_test(name).fit(X, y, sample_weight=weights)) == outcome(expected)


@pytest.mark.extended
@pytest.mark.parametrize("name", sorted(TESTING_AND_HOLDING_OUT))
def test_the_copies_of_a_row_are_held_out_together(rows, name):
    X, y, weights, repeated = rows
    found = with_test(name).fit(X, y, sample_weight=weights)
    target = column_from_array("target", y[repeated])
    expected = run_fold(
        *with_test(name).configured(), as_table(X.iloc[repeated]), target, fold_seed(0, "0"), groups=repeated
    )
    assert found.selected_features_ == [step.feature for step in members(expected.decisions)]
    assert found.trace_["statistic"].tolist() == [step.statistic for step in [*expected.grown, *expected.decisions]]
    assert found.verdict_ == expected.verdict


@pytest.mark.parametrize("name", sorted(set(METHODS) - set(TAKING)))
def test_a_method_or_test_that_draws_rows_refuses_them(rows, name):
    X, y, weights, _ = rows
    with pytest.raises(UnsupportedError, match=r"draws, permutes or compares single rows.*Repeat the rows, or choose"):
        with_test(name).fit(X, y, sample_weight=weights)
    with_test(name).fit(X, y, sample_weight=np.ones(len(X)))  # no row stands for another number of rows


@pytest.mark.parametrize("test", ["mi-permutation", "cpi", "hsic"])
def test_so_does_a_search_with_such_a_test(rows, test):
    with pytest.raises(UnsupportedError, match=test):
        bf.GS(ci_test=test).fit(*rows[:2], sample_weight=rows[2])


def test_auto_never_chooses_such_a_test(rows):
    X, y, *_ = rows
    assert bf.GS().fit(X[:20], y[:20]).ci_test_.card.id == "mi-permutation"
    found = bf.GS().fit(X[:10], y[:10], sample_weight=np.full(10, 2))
    assert found.ci_test_.card.id == "lr-mixed" and "cannot be permuted" in found.ci_test_reason_


def test_copies_stay_in_one_fold(rows):
    X, y, weights, repeated = rows
    mrmr = bf.MRMR(n_features=2, n_folds=3, information="plug-in")
    found = clone(mrmr).fit(X, y, sample_weight=weights)
    expected = clone(mrmr).fit(X.iloc[repeated], y[repeated], groups=repeated)
    of_clusters = ["p_value"]  # groups are clusters to the test, which by chance tell more, and copies are not
    pd.testing.assert_frame_equal(found.trace_.drop(columns=of_clusters), expected.trace_.drop(columns=of_clusters))


def test_rows_of_weight_zero_leave_before_levels_and_classes_are_made():
    X = pd.DataFrame({"site": ["a", "b", "a", "b", "c"] * 10, "dose": np.arange(50.0)})
    y = np.array(["no", "yes", "no", "yes", "maybe"] * 10)
    weights = (X["site"] != "c").to_numpy().astype(int)
    found = bf.GS(ci_test="g2").fit(X, y, sample_weight=weights)
    kept = weights > 0
    assert outcome(found) == outcome(bf.GS(ci_test="g2").fit(X[kept], y[kept]))


def test_sparse_rows_are_repeated(rows):
    X, y, weights, repeated = rows
    cells = np.where(np.random.default_rng(0).random(X.shape) < 0.5, 0.0, X.to_numpy(dtype=float))
    weighted = bf.MIM(n_features=2).fit(sp.csc_matrix(cells), y, sample_weight=weights)
    assert outcome(weighted) == outcome(bf.MIM(n_features=2).fit(sp.csc_matrix(cells[repeated]), y[repeated]))


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0, 2.5, 1, 1], "row 2 has 2.5"),
        ([1, -1, 1, 1], "row 2 has -1"),
        ([1, np.nan, 1, 1], "row 2 has nan"),
        ([0, 0, 0, 0], "zero in every row"),
        ([1, 1, 1], r"have the shape \(3,\), but there are 4 rows"),
        (["a", "b", "c", "d"], "must be numbers"),
        ([10**9, 1, 1, 1], "at most 100,000,000 can be written out"),
    ],
)
def test_what_counts_nothing_is_refused(weights, said):
    with pytest.raises(DataError, match=f"MIM: sample_weight.*{said}"):
        bf.MIM().fit([[0.0], [1], [2], [3]], [0, 1, 0, 1], sample_weight=weights)


def test_groups_stay_together_wherever_rows_are_split():
    rng = np.random.default_rng(0)
    groups, target = rng.integers(0, 40, 300), rng.integers(0, 3, 300)
    parts = balanced_parts(target, 5, rng, groups)
    assert all(len(set(parts[groups == g])) == 1 for g in range(40))
    assert np.bincount(parts, minlength=5).min() > 30


HOLDING_OUT = {
    "auto": {"max_candidates": 5},
    "stepwise": {"model": "tree", "n_splits": 5},
    "permutation-importance": {"model": "tree", "n_permutations": 3, "alpha": 0.5, "importance": "permutation"},
    "srs": {"ci_test": "g2", "lambda_step": 0.05},
    "mim": {"n_features": "auto"},
}


@pytest.mark.parametrize("name", HOLDING_OUT)
def test_fewer_groups_than_parts_are_as_many_parts_and_one_group_is_refused(rows, name):
    X, y, *_ = rows
    held_out = bf.get_selector(name, **HOLDING_OUT[name])
    assert held_out.fit(X, y, groups=np.arange(len(X)) % 3).status_ in ("ok", "unreliable")
    with pytest.raises(DataError, match=r"all are of one group\. Give more groups, or none"):
        held_out.fit(X, y, groups=np.zeros(len(X)))


def test_the_losses_that_tie_star_compares_are_of_groups_held_out(rows):
    X, y, *_ = rows
    known = as_table(X).with_column(column_from_array("y", y))
    model = DecisionTreeClassifier(random_state=0)
    groups = np.arange(len(X)) % 3
    losses = held_out_losses(known, ["signal"], "y", model, 10, 0, groups)
    # By hand: each group predicted by the two others.
    for group in range(3):
        held_out = groups == group
        fitted = clone(model).fit(X.loc[~held_out, ["signal"]], y[~held_out])
        right = fitted.predict(X.loc[held_out, ["signal"]]) == y[held_out]
        np.testing.assert_array_equal(losses[held_out] < 1, right)
    with pytest.raises(DataError, match="all are of one group"):
        held_out_losses(known, ["signal"], "y", model, 10, 0, np.zeros(len(X)))


def test_a_leak_through_groups_is_closed():
    """Each patient has eight equal rows: held out one by one, a row is predicted by its equals, whatever it says."""
    rng = np.random.default_rng(5)
    patients = np.repeat(np.arange(40), 8)
    X = pd.DataFrame(rng.normal(size=(40, 3))[patients] + 0.001 * rng.normal(size=(320, 3)), columns=list("abc"))
    y = np.array(["no", "yes"])[rng.integers(0, 2, 40)][patients]

    def said(**known):
        scores = bf.Auto(max_candidates=10).fit(X, y, **known).verdict_["scores"]
        return max(row["all"] for row in scores if "all" in row)

    assert said() > 0.95
    assert said(groups=patients) < 0.75


def test_the_answer_and_its_model_count_rows():
    X = pd.DataFrame({"a": [0.0, 0, 1, 1] * 15, "b": np.arange(60) % 7})
    y = np.array(["no", "yes", "yes", "no"] * 15)
    weights = np.array([9, 1, 9, 1] * 15)  # of ten rows nine say yes where a is 1
    found = bf.select(X, y, sample_weight=weights, exclude=["b"])
    assert found.features == ["a"]
    assert found.estimator.predict(X[:4]).tolist() == ["no", "no", "yes", "yes"]


def test_a_test_that_ignores_groups_says_so(rows):
    X, y, *_ = rows
    with pytest.warns(DependentRowsWarning, match="GS: rows of one group.*p-values of mi-permutation take all rows"):
        bf.GS(ci_test="mi-permutation").fit(X, y, groups=np.arange(len(X)) // 2)


@pytest.mark.parametrize("groups", [[1, 2], [None] * 120])
def test_groups_that_do_not_fit_are_refused(rows, groups):
    with pytest.raises(DataError, match="groups"):
        bf.MIM().fit(*rows[:2], groups=groups)


def test_a_comparison_keeps_copies_on_one_side_of_every_split(rows):
    X, y, weights, repeated = rows
    ours = [bf.SPFSLAR(n_features=2), bf.JMI(n_features=2), "ppfs"]
    quick = {"models": ["tree"], "evaluation": 2, "folds": 0}
    weighted = bf.compare(X, y, ours, weights=weights, **quick)
    expected = bf.compare(X.iloc[repeated], y[repeated], ours[:2], groups=repeated, **quick)
    for name in ("blankets", "scores"):
        found, wanted = (getattr(one, name).drop(columns="seconds", errors="ignore") for one in (weighted, expected))
        pd.testing.assert_frame_equal(found, wanted)
    assert "ppi draws, permutes or compares single rows" in weighted.skipped["reason"].iloc[0]


def config(folder, **keys):
    return {
        "datasets": {"study": {"path": str(folder / "study.csv"), "target": "y", **keys}},
        "splits": {"evaluation": 0},
        "selectors": {"gs": {"method": "gs", "ci_test": "g2"}, "relief": {"method": "relief"}},
    }


@pytest.fixture
def study(tmp_path, rows):
    X, y, weights, _ = rows
    X.assign(y=y, n=weights).to_csv(tmp_path / "study.csv", index=False)
    return tmp_path


def test_a_plan_counts_the_rows_and_skips_what_draws_them(study, rows):
    plan = make_plan(config(study, weights="n", weights_are="counts"), str)
    assert plan.facts["study"].n_rows == len(rows[3])
    assert ("study", "gs") in plan.pairs and "n" not in plan.facts["study"].feature_names
    (skip,) = [skip for skip in plan.skipped if skip.selector == "relief"]
    assert skip.reason.startswith("relief draws, permutes or compares single rows")


def test_a_file_with_weights_is_the_table_of_repeated_rows(study, rows):
    X, y, _, repeated = rows
    spec = make_plan(config(study, weights="n", weights_are="counts"), str).config.datasets["study"]
    raw = read_source("study", spec, 0)
    X.assign(y=y).iloc[repeated].to_csv(study / "long.csv", index=False)
    long = read_source("study", {"path": str(study / "long.csv"), "target": "y"}, 0)
    for name in X:
        np.testing.assert_array_equal(raw.features[name].values, long.features[name].values)
    np.testing.assert_array_equal(raw.target.values, long.target.values)
    np.testing.assert_array_equal(raw.groups, repeated)
    assert any("count as" in note for note in raw.notes)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"weights": "n"}, "needs both weights and weights_are, or neither"),
        ({"weights_are": "counts"}, "needs both weights and weights_are, or neither"),
        ({"weights": "m", "weights_are": "counts"}, "weights names the column 'm', which is not there"),
        ({"weights": "y", "weights_are": "counts"}, "'y' is weights and cannot also be target"),
        ({"weights": "signal", "weights_are": "counts"}, "must count equal rows"),
    ],
)
def test_weights_that_do_not_fit_a_data_set_are_refused(study, keys, said):
    with pytest.raises((ConfigError, DataError), match=said):
        make_plan(config(study, **keys), str)
