import pytest
from sklearn.feature_selection import SelectKBest

import blanketflow as bf
from blanketflow.api.compare import selectors_and_tests
from blanketflow.config.reading import read_config
from blanketflow.core.errors import ConfigError


def test_ids_come_from_methods_and_classes_and_are_numbered_where_taken():
    asked = ["gs", bf.GS(alpha=0.01), {"gs-2": {"method": "gs"}}, SelectKBest(), "my_package.module:MySelector"]
    assert list(selectors_and_tests(asked, None)[0]) == ["gs", "gs-3", "gs-2", "select-k-best", "my-selector"]


def test_a_selector_of_ours_says_what_a_configuration_would():
    found = bf.HITONMB(alpha=0.01, ci_test="fisher-z", n_folds=4, aggregate="union", max_tests=900)
    specs, tests = selectors_and_tests([found], None)
    raw = {"datasets": {"d": {"source": "sklearn:wine"}}, "selectors": specs, "ci_tests": tests}
    written = {"method": "hiton-mb", "alpha": 0.01, "ci_test": "fisher-z", "folds": 4, "aggregate": "union"}
    written["max_tests"] = 900
    by_hand = read_config({**raw, "selectors": {"hiton-mb": written}})
    assert read_config(raw).selectors == by_hand.selectors


def test_what_a_selector_leaves_at_its_default_is_the_comparisons():
    spec = selectors_and_tests([bf.GS()], None)[0]["gs"]
    assert not {"folds", "fold_rows", "aggregate", "time_limit", "max_tests"} & set(spec)


def test_a_test_with_options_enters_once_for_all_that_have_it():
    test = bf.get_ci_test("g2", bins=3)
    specs, tests = selectors_and_tests({"one": bf.GS(ci_test=test), "two": bf.IAMB(ci_test=test)}, {"mine": test})
    assert specs["one"]["ci_test"] == specs["two"]["ci_test"] == "mine"
    assert list(tests) == ["mine"] and tests["mine"]["type"] == "g2" and tests["mine"]["bins"] == 3
    specs, tests = selectors_and_tests([bf.PPFS(n_repeats=7), "ppfs"], None)
    assert list(specs) == ["ppfs", "ppfs-2"]
    assert tests[specs["ppfs"]["ci_test"]]["n_repeats"] == 7 and "ci_test" not in specs["ppfs-2"]


def test_what_a_comparison_says_of_all_is_refused_of_one():
    for selector in (bf.GS(random_state=1), bf.GS(task="regression"), bf.GS(weights_are="sampling")):
        with pytest.raises(ConfigError, match="of its own"):
            selectors_and_tests([selector], None)
