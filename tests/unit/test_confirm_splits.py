"""`confirm_splits`: the quantile rule literally, what several splits confirm, and the same in a run."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.config.reading import read_config
from blanketflow.core.errors import ConfigError, ParameterError
from blanketflow.core.rows import searched_rows, seed_of_split
from blanketflow.reporting.report.dataset import blankets, headline
from blanketflow.reporting.tables.blankets import confirmed_in_words
from blanketflow.search.confirmation import Confirmation, combined, interval, quantile_rule
from blanketflow.workflow.plan import make_plan


def literal_rule(p_values, smallest=0.05):
    """Meinshausen, Meier and Buehlmann (2009), equations 2.2 and 2.3, with the infimum over many shares gamma."""
    n = len(p_values)
    shares = np.concatenate([np.linspace(smallest, 1, 101)[1:], np.arange(1, n + 1) / n])
    found = []
    for gamma in shares[shares > smallest + 1e-12]:
        divided = sorted(p / gamma for p in p_values)
        found.append(min(1.0, divided[math.ceil(gamma * n - 1e-9) - 1]))  # the empirical quantile
    return min(1.0, (1 - math.log(smallest)) * min(found))


@pytest.mark.parametrize("n", [1, 2, 5, 20, 50])
def test_the_rule_is_the_literal_one(n):
    rng = np.random.default_rng(n)
    p = np.where(rng.random((n, 6)) < 0.3, 1.0, rng.random((n, 6)) ** 6)
    assert quantile_rule(p) == pytest.approx([literal_rule(column) for column in p.T])


def test_the_rule_worked_by_hand():
    # Half of four splits at 0.01 at most: 0.01 / 0.5, times 1 - log 0.05 = 3.9957.
    assert quantile_rule(np.array([[0.01], [0.01], [1.0], [1.0]])) == pytest.approx(0.02 * 3.995732)
    # Of 20 splits a single one is no share above 0.05: it decides nothing, however small.
    assert quantile_rule(np.array([[0.0]] + [[1.0]] * 19)) == 1.0


def test_the_rule_keeps_its_level_where_nothing_holds():
    # p-values of equal splits, the worst dependence, and of independent ones.
    rng = np.random.default_rng(0)
    same, apart = np.repeat(rng.random((1, 4000)), 20, axis=0), rng.random((20, 4000))
    assert (quantile_rule(same) <= 0.05).mean() < 0.05 and (quantile_rule(apart) <= 0.05).mean() < 0.05


def of(feature, effect, error, p=0.5):
    ends = np.tanh(np.arctanh(effect) + 1.959963984540054 * error * np.array([-1, 1]))
    return Confirmation(feature, effect / error, p, effect, *ends.tolist(), False)


@pytest.mark.parametrize("n_tested", [20, 12, 3])
def test_the_interval_holds_what_the_rule_does_not_reject(n_tested):
    rng = np.random.default_rng(n_tested)
    tested = [of("a", float(effect), 0.1) for effect in np.tanh(0.4 + 0.1 * rng.normal(size=n_tested))]
    grid = np.linspace(-0.99, 0.99, 199)
    distances = np.abs(np.arctanh(grid)[:, None] - np.arctanh([one.effect for one in tested])) / 0.1
    p = np.array([[math.erfc(z / math.sqrt(2)) for z in row] + [1.0] * (20 - n_tested) for row in distances])
    held = grid[[literal_rule(row) > 0.05 for row in p]]
    assert interval(tested, 20, True) == pytest.approx((held.min(), held.max()), abs=0.0101)


def test_intervals_at_the_ends():
    assert interval([of("a", 0.5, 0.1)], 40, True) == (-1, 1)  # one of 40 splits decides nothing
    assert interval([of("a", 0.5, 0.1)], 40, False) == (0, 1)
    assert all(map(math.isnan, interval([of("a", 0.0, 0.01)] * 2 + [of("a", 0.9, 0.01)] * 2, 4, True)))
    assert interval([Confirmation("a", 0.0, 1.0, 0.0, 0.0, 0.0, False)] * 3, 3, True) == (-1, 1)  # nothing was left


def test_members_come_first_and_others_only_if_confirmed():
    strong, weak = of("b", 0.6, 0.05, 1e-9), of("c", 0.1, 0.1, 0.3)
    found = combined([[of("a", 0.0, 0.1, 0.9)], *([strong, weak],) * 5], ["a"], dict.fromkeys("abc", True))
    assert [(one.feature, one.confirmed, one.member, one.splits) for one in found] == [
        ("a", False, True, 1),
        ("b", True, False, 5),
    ]
    # Each p-value counts times the two members of its split; five of six splits have it.
    assert found[1].p_value == pytest.approx(1e-9 * 6 / 5 * 3.995732)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(160, 4)), columns=list("abcd"))
    return X, X["a"] - 0.8 * X["b"] + 0.5 * rng.normal(size=160)


def test_each_split_is_the_selector_on_its_rows(table):
    X, y = table
    several = bf.IAMB(ci_test="fisher-z", confirm=0.5, confirm_splits=3).fit(X, y)
    one = bf.IAMB(ci_test="fisher-z", confirm=0.5).fit(X, y)
    assert several.selected_features_ == one.selected_features_
    pd.testing.assert_frame_equal(several.trace_, one.trace_)
    splits = []
    for number in range(3):
        rows = searched_rows(y.to_numpy(), 0.5, seed_of_split(0, number))
        splits.append(set(bf.IAMB(ci_test="fisher-z").fit(X[rows], y[rows]).selected_features_))
    found = several.confirmed_.set_index("feature")
    assert found["splits"].to_dict() == {name: sum(name in split for split in splits) for name in found.index}
    assert set(found.index[found["confirmed"]]) == {"a", "b"}
    assert -1 < found.loc["b", "low"] < found.loc["b", "effect"] < found.loc["b", "high"] < 0


@pytest.fixture(scope="module")
def compared(table):
    asked = {"method": "iamb", "ci_test": "fisher-z", "folds": 0, "confirm": 0.5}
    selectors = {"three": {**asked, "confirm_splits": 3}, "one": asked, "all": {"method": "all"}}
    return bf.compare(*table, selectors, models=["tree"], evaluation=2)


def test_a_run_repeats_the_search_and_says_so(compared):
    found = compared.confirmed.set_index(["selector", "feature"])
    assert set(found.index[found["confirmed"]]) == {(name, f) for name in ("three", "one") for f in "ab"}
    assert found.loc[("three", "a"), "splits"] == 3 and found.loc[("one", "a"), "splits"] == 1
    assert found["member"].dtype == bool and found["splits"].dtype == np.int64
    n = int((compared.confirmed["selector"] == "three").sum())
    assert confirmed_in_words(compared.run.confirmed("table", "three")) == (
        f"2 of these {n} are confirmed by several random splits, each on rows that its search never saw."
    )
    assert headline(compared.run, "table").confirmed.startswith("2 of these ")
    three = next(one for one in blankets(compared.run, "table") if one.selector == "three")
    assert three.table.headers[-2:] == ["splits", "confirmed"] and three.table.rows[0][-2].text == "3 of 3"


def test_splits_without_confirm_are_refused(table):
    with pytest.raises(ParameterError, match="confirm_splits is 5, but confirm leaves no rows out"):
        bf.MIM(confirm_splits=5).fit(*table)
    selectors = {"gs": {"method": "gs", "confirm_splits": 5}}
    with pytest.raises(ConfigError, match="'gs': confirm_splits is 5"):
        read_config({"datasets": {"wine": {"source": "sklearn:wine"}}, "selectors": selectors})


def test_specs_of_one_split_are_as_before():
    def specs(**keys):
        gs = {"method": "gs", "ci_test": "g2", "confirm": 0.5, **keys}
        raw = {"datasets": {"wine": {"source": "sklearn:wine"}}, "selectors": {"gs": gs}, "seed": 5}
        plan = make_plan(raw, (Path(__file__).parents[2] / "scripts").joinpath)
        code = plan.code("confirm", dataset="wine", selector="gs")
        return plan.method_spec("wine", "gs"), json.loads(plan.confirm_spec("wine", "gs")), code

    without, several = specs(), specs(confirm_splits=4)
    assert without[1] == {"confirm": 0.5, "seed": 5} and specs(confirm_splits=1) == without
    assert several[0] == without[0] and several[1]["confirm_splits"] == 4
    assert several[1]["search"] == json.loads(several[0]) and several[2] != without[2]
