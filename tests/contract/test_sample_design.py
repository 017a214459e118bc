"""Rows with sampling weights and rows of clusters: what every method does with them, in `fit` and in a run."""

import warnings

import numpy as np
import pytest
from test_row_weights import TAKING, with_test
from test_selectors import METHODS, TEST_OF, one_of_each, outcome, table

import blanketflow as bf
from blanketflow.core.errors import DependentRowsWarning, UnsupportedError
from blanketflow.core.registry import discover
from blanketflow.core.table import Column, Design, Table
from blanketflow.core.task import Task
from blanketflow.data.column_roles import RawTable
from blanketflow.data.provenance import Provenance
from blanketflow.data.storage import read_table, write_table
from blanketflow.workflow.plan import make_plan

pytestmark = pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
#: Methods that decide by a test that knows the design, or without looking at rows.
DESIGN_BASED = [name for name in TAKING if not METHODS[name]().reads_rows()]
SAMPLING = {"weights_are": "sampling"}


@pytest.fixture(scope="module")
def rows():
    X, y = table(n=120)
    return X, y, np.random.default_rng(3).uniform(0.2, 5.0, len(X))


@one_of_each(DESIGN_BASED)
def test_only_the_shares_of_sampling_weights_count(rows, name):
    X, y, weights = rows
    found = with_test(name, **SAMPLING).fit(X, y, sample_weight=weights)
    assert outcome(found) == outcome(with_test(name, **SAMPLING).fit(X, y, sample_weight=4 * weights))
    if name in TEST_OF:
        unweighted = with_test(name).fit(X, y)
        assert found.trace_["p_value"].tolist() != unweighted.trace_["p_value"].tolist()


@pytest.mark.parametrize("name", sorted(set(METHODS) - set(DESIGN_BASED)))
def test_what_reads_rows_refuses_sampling_weights(rows, name):
    X, y, weights = rows
    said = "single rows|which knows no sampling weights"
    with pytest.raises(UnsupportedError, match=rf"({said}).*Choose another method or test"):
        with_test(name, **SAMPLING).fit(X, y, sample_weight=weights)


def test_so_do_options_that_read_rows(rows):
    X, y, weights = rows
    for asked in (bf.MRMR(n_features="auto", **SAMPLING), bf.TIEStar(ci_test="g2", criterion="prediction", **SAMPLING)):
        with pytest.raises(UnsupportedError, match="by models of rows, which knows no sampling weights"):
            asked.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("name", ["mim", "jmi", "mrmr", "fcbf"])
def test_rankings_are_by_the_information_of_the_weighted_distribution(rows, name):
    """It is that of the table with its rows repeated, where weights are whole numbers and columns have few values."""
    X, y, weights = rows
    X = X.apply(lambda column: np.digitize(column, column.quantile([0.3, 0.7])))
    counts = np.ceil(weights).astype(int)
    # By chance a sample tells more than as many independent rows, so that adjusted estimates differ.
    options = {"information": "plug-in", **({"alpha": None} if name == "fcbf" else {})}
    sampled = bf.get_selector(name, **options, **SAMPLING).fit(X, y, sample_weight=counts)
    counted = bf.get_selector(name, **options).fit(X, y, sample_weight=counts)
    assert sampled.selected_features_ == counted.selected_features_
    np.testing.assert_allclose(sampled.trace_["statistic"], counted.trace_["statistic"], rtol=1e-9)


def test_rows_of_weight_zero_leave(rows):
    X, y, weights = rows
    kept = np.arange(len(X)) % 3 > 0
    found = bf.GS(ci_test="g2", **SAMPLING).fit(X, y, sample_weight=weights * kept, groups=np.arange(len(X)))
    expected = bf.GS(ci_test="g2", **SAMPLING)
    expected.fit(X[kept], y[kept], sample_weight=weights[kept], groups=np.flatnonzero(kept))
    assert outcome(found) == outcome(expected)


def test_groups_are_clusters_to_a_test_that_knows_them(rows):
    X, y, _ = rows
    copies = np.repeat(np.arange(len(X)), 4)
    once, plain = bf.IAMB(ci_test="chi2").fit(X, y), bf.IAMB(ci_test="chi2").fit(X.iloc[copies], y[copies])
    with warnings.catch_warnings():
        warnings.simplefilter("error", DependentRowsWarning)
        known = bf.IAMB(ci_test="chi2").fit(X.iloc[copies], y[copies], groups=copies)
    assert known.trace_["p_value"].min() > plain.trace_["p_value"].min()
    assert np.log(known.trace_["p_value"].min()) == pytest.approx(np.log(once.trace_["p_value"].min()), rel=0.3)


def test_few_groups_are_warned_of(rows):
    X, y, _ = rows
    with pytest.warns(DependentRowsWarning, match="GS: there are 39 groups, .* from 40 on"):
        bf.GS(ci_test="g2").fit(X, y, groups=np.arange(len(X)) % 39)


@pytest.mark.parametrize("known", [{"groups": np.arange(20) // 2}, {"sample_weight": np.arange(1, 21)}])
@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.DependentRowsWarning")
def test_auto_chooses_a_test_that_knows_the_design(rows, known):
    X, y, _ = rows
    assert bf.GS().fit(X[:20], y[:20]).ci_test_.card.id == "mi-permutation"
    found = bf.GS(**SAMPLING).fit(X[:20], y[:20], **known)
    assert found.ci_test_.card.design_based and "permutations take rows as equal" in found.ci_test_reason_


def test_each_test_that_knows_a_design_says_so():
    known = {name for name, test in discover("blanketflow.ci").items() if test.card.design_based}
    assert known == {"fisher-z", "g2", "chi2", "lr-mixed"}


@pytest.fixture
def study(tmp_path, rows):
    X, y, weights = rows
    X.assign(y=y, w=weights, g=np.arange(len(X)) // 2).to_csv(tmp_path / "study.csv", index=False)
    return {"path": str(tmp_path / "study.csv"), "target": "y"}


def plan_on(study, **selectors):
    return make_plan({"datasets": {"study": study}, "splits": {"evaluation": 0}, "selectors": selectors}, str)


def test_a_plan_skips_what_knows_no_sampling_weights(study):
    own = {
        "gs": {"method": "gs", "ci_test": "g2"},
        "hsic": {"method": "gs", "ci_test": "hsic"},
        "auto": {"method": "auto"},
    }
    plan = plan_on(study | {"drop": ["g"], "weights": "w", "weights_are": "sampling"}, **own)
    assert ("study", "gs") in plan.pairs and plan.facts["study"].n_rows == 120
    reasons = {skip.selector: skip.reason for skip in plan.skipped}
    assert reasons["auto"] == "auto judges sets by models of rows, which knows no sampling weights"
    assert reasons["hsic"].startswith("hsic draws, permutes or compares single rows")


def test_a_plan_says_which_p_values_ignore_groups(study):
    own = {name: {"method": "gs", "ci_test": name} for name in ("g2", "mi-permutation")}
    plan = plan_on(study | {"drop": ["w"], "groups": "g"}, **own)
    (said,) = [note for note in plan.notes() if "group" in note]
    assert said.startswith("study: rows of one group stay together, but p-values of mi-permutation take all rows")
    assert plan.doubted_p_values.keys() == {"study"} and said in [
        f"study: {one}" for one in plan.doubted_p_values["study"]
    ]
    for known in ({"drop": ["w", "g"]}, {"drop": ["w"], "groups": "g", "within": "g"}):
        assert "group" not in str(plan_on(study | known, **own).doubted_p_values)


def test_a_run_finds_what_fit_finds(rows):
    """Through files and splits: the final answer of a comparison is that of the class."""
    X, y, weights = rows
    groups = np.arange(len(X)) // 2
    asked = {"groups": groups, "weights": weights, "weights_are": "sampling", "evaluation": 0, "folds": 0}
    run = bf.compare(X, y, [bf.IAMB(ci_test="g2")], models=["tree"], **asked)
    fitted = bf.IAMB(ci_test="g2", **SAMPLING).fit(X, y, sample_weight=weights, groups=groups)
    assert run.blanket("iamb") == fitted.selected_features_
    rows_of_run = run.blankets.set_index("feature")["importance"]
    np.testing.assert_allclose(
        [rows_of_run[name] for name in fitted.selected_features_], [*fitted.importances_.values()], rtol=1e-12
    )


@pytest.mark.parametrize("n_features", [3, 2_100])  # stored with a column, and with a row, for each feature
@pytest.mark.parametrize(
    "design",
    [
        Design(np.array([0.5, 2, 3])),
        Design(None, np.array([1, 0, 1])),
        Design(np.array([0.5, 2, 3]), np.array([1, 0, 1]), np.array([0, 0, 1])),
    ],
)
def test_a_design_is_stored_with_the_table(tmp_path, n_features, design):
    features = Table([Column(f"x{i}", "numeric", np.arange(3.0) + i) for i in range(n_features)]).with_design(design)
    raw = RawTable(features, Column("y", "numeric", np.arange(3.0)), Task("regression", ""), groups=design.clusters)
    write_table(tmp_path / "t.parquet", raw, Provenance())
    found = read_table(tmp_path / "t.parquet").features
    assert found.names == features.names
    for part in ("weights", "clusters", "within"):
        np.testing.assert_array_equal(getattr(found.design, part), getattr(design, part))
    kept = found.take(np.array([0, 2])).select(["x1"]).design
    assert kept.n_clusters == (None if design.clusters is None else 1)


def test_a_config_without_a_design_stores_none(tmp_path, rows):
    raw = RawTable(
        Table([Column("x", "numeric", np.arange(3.0))]), Column("y", "numeric", np.arange(3.0)), Task("", "")
    )
    write_table(tmp_path / "t.parquet", raw, Provenance())
    stored = read_table(tmp_path / "t.parquet")
    assert stored.features.design is None and not {"weights", "clusters"} & set(stored.extra)
