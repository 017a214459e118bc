"""`confirm`: the search sees only its rows, and what is true of the rest of the rows is found there."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import blanketflow as bf
from blanketflow.api.select_command import select
from blanketflow.ci.multiple_testing import holm
from blanketflow.config.identifiers import TestOnRows as OnRows
from blanketflow.config.reading import read_config
from blanketflow.core.convert import as_table
from blanketflow.core.errors import BlanketflowError, ConfigError, DataError, ParameterError
from blanketflow.core.rows import searched_rows
from blanketflow.core.table import Column, Table
from blanketflow.reporting.report.dataset import blankets, headline
from blanketflow.reporting.report.render import render
from blanketflow.search.confirmation import cross_fitted_residuals, given_the_others
from blanketflow.workflow.plan import make_plan


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(240, 5)), columns=list("abcde"))
    X["group"] = rng.choice(["low", "mid", "high"], size=240)
    y = X["a"] + 0.6 * X["b"] + (X["group"] == "high") + rng.normal(size=240)
    return X, y


def test_classes_keep_their_shares_and_each_seed_has_its_rows():
    target = np.repeat([0, 1, 2], [100, 40, 10])
    drawn = searched_rows(target, 0.4, seed=1)
    assert np.bincount(target[drawn]).tolist() == [60, 24, 6]
    assert (drawn == searched_rows(target, 0.4, seed=1)).all()
    assert (drawn != searched_rows(target, 0.4, seed=2)).any()
    assert searched_rows(target, None, seed=1).all()


def test_groups_stay_together():
    groups, target = np.repeat(np.arange(50), 4), np.repeat(np.arange(50) % 2, 4)
    drawn = searched_rows(target, 0.5, seed=0, groups=groups).reshape(50, 4)
    assert (drawn.all(axis=1) | ~drawn.any(axis=1)).all()
    assert drawn.all(axis=1).sum() == 25


def test_few_rows_are_refused_with_the_way_out():
    with pytest.raises(DataError, match=r"wine: confirm: 0.9 divides 30 rows into 3 to search on and 27 to confirm on"):
        searched_rows(np.arange(30.0), 0.9, seed=0, where="wine")


def test_the_search_is_that_of_its_own_rows_alone(table):
    X, y = table
    whole = bf.IAMB(confirm=0.5, ci_test="lr-mixed").fit(X, y)
    rows = searched_rows(y.to_numpy(), 0.5, 0)
    alone = bf.IAMB(ci_test="lr-mixed").fit(X[rows], y[rows])
    assert whole.selected_features_ == alone.selected_features_
    pd.testing.assert_frame_equal(whole.trace_, alone.trace_)
    # What the other rows hold changes nothing of what is selected, and all of what is confirmed.
    mixed = X.copy()
    mixed[~rows] = X[~rows].sample(frac=1, random_state=0).to_numpy()
    other = bf.IAMB(confirm=0.5, ci_test="lr-mixed").fit(mixed, y)
    pd.testing.assert_frame_equal(whole.trace_, other.trace_)
    assert whole.confirmed_["confirmed"].all() and not other.confirmed_["confirmed"].any()


def test_true_members_are_confirmed_and_a_false_one_is_not(table):
    X, y = table
    found = bf.All(confirm=0.5).fit(X, y).confirmed_.set_index("feature")
    assert list(found.columns) == ["statistic", "p_value", "effect", "low", "high", "confirmed"]
    assert set(found.index[found["confirmed"]]) == {"a", "b", "group"}
    assert (found["confirmed"] == (np.array(holm(found["p_value"].tolist())) <= 0.05)).all()
    assert found.loc["a", "low"] > 0.4 and (found["low"] <= found["effect"]).all()


def test_without_confirm_nothing_is_confirmed(table):
    assert bf.MIM(n_features=2).fit(*table).confirmed_.empty


@pytest.mark.parametrize("share", [0.0, 1.0, 0.05, "half", True])
def test_shares_out_of_range_are_refused(table, share):
    with pytest.raises(ParameterError, match="confirm is"):
        bf.MIM(confirm=share).fit(*table)


def test_weights_are_refused(table):
    with pytest.raises(BlanketflowError, match="confirm leaves single rows out"):
        bf.GS(ci_test="g2", confirm=0.5).fit(*table, sample_weight=np.full(240, 2))


def test_names_that_are_numbers_stay_numbers(table):
    X, y = table
    frame = X[["a", "b", "c"]].set_axis([7, 8, 9], axis=1)
    assert bf.MIM(n_features=2, confirm=0.5).fit(frame, y).confirmed_["feature"].tolist() == [7, 8]


def test_residuals_of_two_levels_are_signed_and_held_out_rows_are_not_fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    codes = (X[:, 0] + rng.normal(size=120) > 0).astype(np.int64)
    left = cross_fitted_residuals(Column("y", "categorical", codes, ("no", "yes")), X, seed=0)
    assert left.shape == (120, 1)
    assert (left[codes == 1] > 0).all() and (left[codes == 0] < 0).all()
    noise = rng.normal(size=(120, 1))
    # In-sample residuals on 60 columns of noise would lose half of the variance, held-out ones lose none.
    left = cross_fitted_residuals(Column("y", "numeric", noise.ravel()), rng.normal(size=(120, 60)), seed=0)
    assert left.var() > 0.9 * noise.var()


def test_curves_and_products_are_known_to_the_regressions():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3))
    for known in (X[:, 0] ** 2, X[:, 1] * X[:, 2]):
        column = Column("y", "numeric", 3 * known + rng.normal(size=400))
        assert cross_fitted_residuals(column, X, seed=0).var() < 1.6


@pytest.fixture(scope="module")
def compared(table):
    asked = {"method": "iamb", "ci_test": "lr-mixed", "folds": 0, "confirm": 0.5}
    return bf.compare(*table, {"half": asked, "all": {"method": "all"}}, models=["tree"], evaluation=2)


def test_a_run_confirms_the_members_of_the_final_blanket(compared):
    found, blankets = compared.confirmed, compared.blankets
    members = blankets.loc[blankets["selector"] == "half", "feature"]
    assert found["selector"].unique().tolist() == ["half"]
    assert found["feature"].tolist() == members.tolist()
    assert set(found.loc[found["confirmed"], "feature"]) == {"a", "b", "group"}


def test_the_report_says_how_many_are_confirmed(compared):
    said = headline(compared.run, "table")
    assert (said.selector, said.confirmed[:9]) == ("half", "3 of thes")
    (shown,) = blankets(compared.run, "table")
    assert shown.table.headers[-2:] == ["effect on rows left out", "confirmed"]
    assert [row[-1].text for row in shown.table.rows].count("yes") == 3


@pytest.mark.extended
def test_the_page_has_the_sentence(compared):
    page = render(compared.run, charts={})
    n = len(compared.confirmed)
    assert f"3 of these {n} are confirmed on rows that the search never saw." in page
    assert "effect on rows left out" in page


def test_a_group_of_features_is_tested_together_given_the_others(table):
    X, y = table
    asked = {"feature_groups": {"both": ["a", "c"], "rest": ["d", "e"]}}
    found = bf.All(confirm=0.5, **asked).fit(X, y).confirmed_.set_index("feature")
    assert (found.loc["a"] == found.loc["c"]).all() and (found.loc["d"] == found.loc["e"]).all()
    assert set(found.index[found["confirmed"]]) == {"a", "b", "c", "group"}
    rows = ~searched_rows(y.to_numpy(), 0.5, 0)
    features, target = as_table(X[rows].reset_index(drop=True)), Column("y", "numeric", y[rows].to_numpy())
    alone = given_the_others(features, target, ["a", "c"], list(found.index), 0)
    assert alone.p_value == found.loc["a", "p_value"] and alone.effect > 0.3
    compared = bf.compare(X, y, {"joint": {"method": "all", "confirm": 0.5, **asked}}, models=["tree"], evaluation=2)
    assert compared.confirmed.set_index("feature").loc["c", "confirmed"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"splits": {"final": False}}, "confirm tests the final blanket"),
        ({"supplied": {"selector": "gs", "stage": "grow"}}, "grow comes from outside"),
        ({"ci_tests": {"g2-confirm-0-5": {"type": "g2"}}}, "do not end in"),
    ],
)
def test_configurations_that_could_not_confirm_are_refused(more, said):
    raw = {"datasets": {"wine": {"source": "sklearn:wine"}}, "selectors": {"gs": {"method": "gs", "confirm": 0.5}}}
    read_config(raw)
    with pytest.raises(ConfigError, match=said):
        read_config(raw | more)


def test_the_command_confirms_as_the_class_does():
    X, y = load_wine(return_X_y=True, as_frame=True)
    found = select({"source": "sklearn:wine"}, {"method": "gs", "confirm": 0.5}, {}, seed=0)
    fitted = bf.GS(confirm=0.5).fit(X, y)
    assert found.confirmed == fitted.confirmed_.to_dict("records") and len(found.confirmed) > 1
    assert "confirmed (p = " in found.text()


def test_a_class_of_which_one_side_has_no_row_is_refused():
    target = np.repeat([0, 1], [60, 1])
    said = {str(seed): "" for seed in range(8)}
    for seed in said:
        with pytest.raises(
            DataError, match=r"wine: confirm: 0.5 leaves rows of one class, .* to (search|confirm) on"
        ) as error:
            searched_rows(target, 0.5, int(seed), where="wine")
        said[seed] = str(error.value).partition(" to ")[2][:6]
    assert set(said.values()) == {"search", "confir"}
    assert searched_rows(np.repeat([0, 1, 2], [50, 50, 1]), 0.5, 0).sum() == 51  # two classes on each side will do


def test_specs_are_as_before_without_confirm():
    def specs(**keys):
        raw = {
            "datasets": {"wine": {"source": "sklearn:wine"}},
            "selectors": {"gs": {"method": "gs", "ci_test": "g2", **keys}},
        }
        plan = make_plan(raw, Path)
        test = plan.test_id("wine", "gs")
        return test, plan.test_spec("wine", test), plan.method_spec("wine", "gs"), plan.report_spec()

    without, with_half = specs(), specs(confirm=0.5)
    assert without[0] == "g2" and not any("confirm" in text for text in without)
    assert with_half[0] == "g2-confirm-0-5" and all("confirm" in text for text in with_half)


def test_ids_of_tests_on_fewer_rows():
    for asked in (OnRows("g2"), OnRows("g2-3", True), OnRows("my-test", False, 0.125)):
        assert OnRows.of(asked.id) == asked


@pytest.mark.extended
def test_level_where_a_curve_of_another_explains_both():
    rejected = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=200)
        x, y = (Column(name, "numeric", z**2 + rng.normal(size=200)) for name in "xy")
        found = given_the_others(Table([x, Column("z", "numeric", z)]), y, ["x"], ["x", "z"], seed)
        rejected += found.p_value <= 0.05
    assert rejected <= 14  # of 100 at level 0.05, more than 13 have the probability 0.0005
