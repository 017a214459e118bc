"""Aggregation over folds: eq. 6-8 of the PPFS paper by hand, ties, empty folds and every rule."""

import pytest

from blanketflow.core.errors import ParameterError
from blanketflow.moves.steps import Step
from blanketflow.search.aggregate import RULES, aggregate, check_rule


def folds(*sets):
    return [[Step(feature) for feature in members] for members in sets]


def chosen(result):
    return "".join(sorted(f["feature"] for f in result.features if f["chosen"]))


def test_scores_by_hand():
    # Frequencies a 3, b 2, c 1, d 1: z = (3+2)/2, (3+2+1)/3, (3+1)/2.
    result = aggregate(folds("ab", "abc", "ad"))
    assert result.z == [2.5, 2.0, 2.0]
    assert (result.best, chosen(result)) == (0, "ab")
    assert {f["feature"]: f["frequency"] for f in result.features} == {"a": 1, "b": 2 / 3, "c": 1 / 3, "d": 1 / 3}


def test_a_tie_goes_to_the_first_fold():
    assert aggregate(folds("ab", "cd", "cd", "ab")).best == 0
    assert aggregate(folds("x", "cd", "ab", "cd", "ab")).best == 1


def test_empty_folds_score_zero_and_count_in_frequencies():
    result = aggregate(folds("", "a", ""))
    assert (result.z, result.best, chosen(result)) == ([0.0, 1.0, 0.0], 1, "a")
    assert result.features[0]["frequency"] == 1 / 3
    nothing = aggregate(folds("", ""))
    assert (nothing.z, nothing.best, nothing.features) == ([0.0, 0.0], 0, [])


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("union", "abcd"),
        ("intersection", "a"),
        ({"frequency": 0.6}, "ab"),
        ({"frequency": 1}, "a"),
        ({"frequency": 2 / 3}, "ab"),
        ({"frequency": 0.67}, "a"),
        ({"frequency": 0.01}, "abcd"),
        ("best-blanket", "ab"),
    ],
)
def test_every_rule(rule, wanted):
    result = aggregate(folds("ab", "abc", "ad"), rule)
    assert chosen(result) == wanted
    assert (result.best is None) is (rule != "best-blanket")


def test_a_share_of_the_folds_is_exact_in_floats():
    for n in range(2, 40):
        for k in range(1, n + 1):
            sets = folds(*["a"] * k, *[""] * (n - k))
            assert chosen(aggregate(sets, {"frequency": k / n})) == "a"
            assert chosen(aggregate(sets, {"frequency": min((k + 0.5) / n, 1.0)})) == ("a" if k == n else "")


def test_importance_is_the_mean_over_the_folds_that_hold_the_feature_and_orders_them():
    def step(feature, importance):
        return Step(feature, importance=importance)

    sets = [[step("a", 1.0), step("b", 5.0)], [step("b", 1.0), step("c", 9.0)], [step("b", 0.0)]]
    result = aggregate(sets, {"frequency": 0.5})
    assert [(f["feature"], f["importance"]) for f in result.features] == [("b", 2.0), ("c", 9.0), ("a", 1.0)]
    assert [f["feature"] for f in aggregate(sets, "union").features] == ["c", "b", "a"]


def test_the_winning_fold_speaks_first_for_a_role():
    sets = [[Step("a", role="spouse"), Step("b")], [Step("a", role="parent_or_child")], [Step("a")]]
    winner = aggregate(sets)
    assert winner.best == 1
    assert winner.features[0]["role"] == "parent_or_child"
    assert aggregate(sets, "union").features[0]["role"] == "spouse"


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("frequency", "needs its share, as in 'frequency: 0.6'"),
        ("best-blankets", "unknown aggregate 'best-blankets'. Did you mean 'best-blanket'"),
        ("zzz", "Known: best-blanket, frequency, intersection, union"),
        ({"frequency": 0}, "0 < share <= 1"),
        ({"frequency": 1.1}, "0 < share <= 1"),
        ({"frequency": "0.5"}, "0 < share <= 1"),
        ({"frequency": True}, "0 < share <= 1"),
        ({"share": 0.5}, "must be 'frequency: share'"),
        ({}, "must be 'frequency: share'"),
        (None, "unknown aggregate null"),
    ],
)
def test_bad_rules_say_what_is_wrong(rule, message):
    with pytest.raises(ParameterError, match="selector ppfs: ") as error:
        check_rule(rule, "selector ppfs")
    assert message in str(error.value)
    with pytest.raises(ParameterError):
        aggregate(folds("a"), rule)


def test_every_named_rule_is_known():
    for rule in set(RULES) - {"frequency"}:
        check_rule(rule, "here")
