"""Estimates of time and memory: of everything there is, on any table, and in the right direction."""

import dataclasses
import math

import pytest

from blanketflow.ci import get_ci_test
from blanketflow.core.cards import CATEGORICAL, CLASSIFICATION, NUMERIC
from blanketflow.core.registry import discover
from blanketflow.selectors import get_method
from blanketflow.workflow import cost
from blanketflow.workflow.peek import Facts
from blanketflow.workflow.resources import memory_mb

METHODS = sorted(discover("blanketflow.selectors"))
TESTS = sorted(discover("blanketflow.ci"))
MODELS = sorted(discover("blanketflow.models"))
STAGES = ["table", "splits", "gather_splits", "ci_test", "ci_test_chunk", "gather_ci_test", "grow", "shrink"]
STAGES += ["grow_shrink", "aggregate", "evaluate", "tables", "report"]


def facts(n_rows, n_features, kinds=(NUMERIC,), n_stored=None):
    return Facts(
        n_rows=n_rows,
        n_features=n_features,
        exact=True,
        kinds=kinds,
        task=CLASSIFICATION,
        task_reason="",
        class_counts=None,
        n_classes=2,
        n_missing=0,
        n_groups=None,
        truth=None,
        feature_names=None,
        n_stored=n_stored,
    )


TINY = facts(1, 1)
SMALL = facts(200, 30)
LEVELS = facts(500, 100, (CATEGORICAL,))
EXPRESSION = facts(100, 12_000)
#: As large as Webb Spam.
SPAM = facts(350_000, 16_000_000, n_stored=1_300_000_000)
ALL = [TINY, SMALL, LEVELS, EXPRESSION, SPAM, facts(0, 0)]


def method(name):
    return get_method(name, "test", {})


def default_test(name):
    chosen = method(name)
    test = {"auto": "g2"}.get(chosen.default_test, chosen.default_test)
    return get_ci_test(test, **chosen.default_test_options) if test else None


def is_estimate(number):
    return math.isfinite(number) and number >= 0


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_an_estimate_of_every_table(name):
    for table in ALL:
        assert is_estimate(cost.grow_shrink_seconds(method(name), default_test(name), table))
    small, spam = (cost.grow_shrink_seconds(method(name), default_test(name), table) for table in (SMALL, SPAM))
    assert 0 <= small <= spam


@pytest.mark.parametrize("name", METHODS)
def test_a_method_says_only_what_is_known_of_its_work(name):
    work = method(name).card.work
    assert not work or work in cost.WORK


@pytest.mark.parametrize("name", TESTS)
def test_every_test_has_an_estimate_of_every_table(name):
    test = discover("blanketflow.ci")[name]()
    for table in ALL:
        assert is_estimate(cost.marginal_seconds(test, table))
        assert is_estimate(cost.grow_shrink_seconds(method("iamb"), test, table))


def test_estimates_grow_with_rows_columns_and_repeats():
    few, many = (get_ci_test("ppi", n_repeats=b) for b in (10, 100))
    for estimate in (
        lambda table, test: cost.marginal_seconds(test, table),
        lambda table, test: cost.grow_shrink_seconds(method("ppfs"), test, table),
        lambda table, test: cost.grow_shrink_seconds(method("hiton-mb"), test, table),
    ):
        base = estimate(facts(500, 500), few)
        assert base < estimate(facts(5_000, 500), few)
        assert base < estimate(facts(500, 5_000), few)
        assert base < estimate(facts(500, 500), many)


def test_a_number_of_features_that_is_sought_takes_models_and_rankings():
    for name in ("mim", "mrmr", "relief", "bahsic"):
        ten, sought = (get_method(name, "test", {"n_features": n}) for n in (10, "auto"))
        seconds = [cost.grow_shrink_seconds(one, default_test(name), SMALL) for one in (ten, sought)]
        assert seconds[1] > 4 * seconds[0]  # rankings on the parts
        options = {"n_features": "auto", "model": "tree"}
        by_trees = cost.grow_shrink_seconds(get_method(name, "test", options), default_test(name), SMALL)
        assert by_trees > seconds[1] + 5 * 20 * cost.MODELS["tree"][0]


def test_permuting_columns_takes_predictions_of_each_by_models_that_say_nothing_of_them():
    def seconds(model, table, importance="auto"):
        options = {"model": model, "importance": importance, "n_permutations": 99}
        return cost.grow_shrink_seconds(get_method("permutation-importance", "test", options), None, table)

    wide = facts(200, 300)
    assert seconds("svm", wide) > 50 * seconds("svm", facts(200, 3))
    assert seconds("tree", wide) < 20 * seconds("tree", facts(200, 3))
    assert seconds("tree", wide, "permutation") > 5 * seconds("tree", wide)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_an_estimate_of_every_table(name):
    for table in ALL:
        assert is_estimate(cost.evaluate_seconds([name], table))
    assert cost.evaluate_seconds([name], SMALL) < cost.evaluate_seconds([name], facts(20_000, 30))


def test_models_add_up_and_others_have_an_estimate_too():
    one, two = cost.evaluate_seconds(["tree"], SMALL), cost.evaluate_seconds(["tree", "some.module:Model"], SMALL)
    assert 0 < one < two


def test_a_selector_from_elsewhere_has_the_estimate_of_its_family():
    selector = get_method("sklearn.feature_selection:SelectKBest", "test", {"k": 3})
    assert 0 < cost.grow_shrink_seconds(selector, None, SMALL) < cost.grow_shrink_seconds(selector, None, SPAM)
    card = dataclasses.replace(selector.card, family="unheard-of")
    selector.card = card
    assert cost.grow_shrink_seconds(selector, None, SMALL) > 0


def test_a_time_limit_caps_the_estimate():
    free = cost.grow_shrink_seconds(method("hiton-mb"), get_ci_test("g2"), SPAM)
    assert cost.grow_shrink_seconds(method("hiton-mb"), get_ci_test("g2"), SPAM, time_limit=60) < free


def test_a_table_takes_longer_the_larger_it_is():
    assert 0 < cost.table_seconds(TINY) < cost.table_seconds(SMALL) < cost.table_seconds(SPAM)


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_has_its_memory(stage):
    found = [memory_mb(stage, table) for table in (TINY, SMALL, EXPRESSION, SPAM)]
    assert all(isinstance(mb, int) and mb > 0 for mb in found)
    assert found == sorted(found)
    assert memory_mb(stage, facts(0, 0)) > 0


def test_a_chunk_holds_less_and_a_sparse_table_less_than_the_same_dense():
    whole, chunk = (memory_mb("ci_test_chunk", SPAM, n_chunks) for n_chunks in (1, 1_000))
    assert chunk < whole / 10
    dense, sparse = facts(1_000, 100_000), facts(1_000, 100_000, n_stored=1_000_000)
    assert memory_mb("ci_test", sparse) < memory_mb("ci_test", dense)


def test_all_pairs_are_held_by_what_keeps_them():
    d = EXPRESSION.n_features
    held = {stage: memory_mb(stage, EXPRESSION, work="pairs") - memory_mb(stage, EXPRESSION) for stage in STAGES}
    assert held["grow_shrink"] == held["shrink"] == pytest.approx(8 * d * d / 1e6, abs=1)
    assert held["aggregate"] == held["evaluate"] == 0


def test_reading_text_holds_more_than_reading_arrays_and_all_features_more_than_some():
    assert memory_mb("table", EXPRESSION, is_text=False) < memory_mb("table", EXPRESSION)
    some, everything = (memory_mb("evaluate", EXPRESSION, n_chosen=n) for n in (100, 12_000))
    assert some < everything
