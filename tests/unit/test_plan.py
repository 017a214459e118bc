"""The plan: which pairs run, which are skipped and why, and what is known before any job starts."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from blanketflow.core.errors import BlanketflowError, ConfigError, DataError
from blanketflow.data.sources import read_source
from blanketflow.selectors import Problem, get_method
from blanketflow.workflow import specs
from blanketflow.workflow.cost import grow_shrink_seconds, marginal_seconds
from blanketflow.workflow.plan import make_plan
from blanketflow.workflow.resources import LEAST_MINUTES, MARGIN

SCRIPTS = (Path(__file__).parents[2] / "scripts").joinpath


FISHER_Z_TAKES_NONE = "fisher-z takes no categorical features of more than 2 levels; set ci_test to lr-mixed or g2"


def table(folder, levels):
    rows = [f"{levels[i % len(levels)]},{i % 7},{'yn'[i % 2]}" for i in range(40)]
    path = folder / "study.csv"
    path.write_text("site,age,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return {"path": str(path), "target": "y"}


def plan_of(dataset, **selectors):
    raw = {"datasets": {"study": dataset}, "selectors": selectors, "folds": 2, "splits": {"evaluation": 2}}
    return make_plan(raw, SCRIPTS)


@pytest.mark.parametrize(
    ("levels", "reasons"),
    [(("a", "b"), []), (("a", "b", "c"), [FISHER_Z_TAKES_NONE])],
)
def test_a_test_that_cannot_take_the_features_is_skipped_with_its_reason(tmp_path, levels, reasons):
    plan = plan_of(table(tmp_path, levels), z={"method": "gs", "ci_test": "fisher-z"}, g={"method": "gs"})
    assert [skip.reason for skip in plan.skipped] == reasons
    assert ("study", "g") in plan.pairs


def test_the_true_blanket_is_skipped_where_it_is_not_known(tmp_path):
    plan = plan_of(table(tmp_path, "ab"), t={"method": "true-blanket"}, g={"method": "gs"})
    assert [(skip.selector, skip.reason) for skip in plan.skipped] == [("t", "the true Markov blanket is not known")]


TEST_ROWS = {"splits": {"evaluation": 1}, "folds": 0, "selectors": {"g": {"method": "gs"}}}


def test_samples_of_one_network_differ_by_the_id_of_the_data_set():
    source = {"source": "simulate:clinic", "rows": 100, "test_rows": 30}
    plan = make_plan({"datasets": {"a": source, "b": source}, **TEST_ROWS}, SCRIPTS)
    assert plan.evaluation_splits("a") == ["cv-1"] and plan.splits("a") == ["full", "cv-1"]
    drawn = {name: read_source(name, source, json.loads(plan.table_spec(name))["seed"]) for name in "ab"}
    assert [raw.n_test for raw in drawn.values()] == [30, 30]
    values = [raw.features["smoking"].numbers() for raw in drawn.values()]
    assert not np.array_equal(*values)
    for name, raw in drawn.items():
        before = np.bincount(raw.target.values[:70], minlength=len(raw.target.levels)).tolist()
        assert list(plan.facts[name].class_counts.values()) == before
    renamed = make_plan({"datasets": {"a": source}, **TEST_ROWS}, SCRIPTS)
    assert renamed.table_spec("a") == plan.table_spec("a")


@pytest.mark.parametrize(
    ("dataset", "change", "message"),
    [
        ({}, {}, "'d' has no test_rows, which splits.evaluation: 1 tests on. Set them, or evaluation: 5"),
        ({"test_rows": 5}, {"splits": {"evaluation": 5}}, "has test_rows, but splits.evaluation is 5. Set it to 1"),
        ({"test_rows": 5}, {"splits": {"evaluation": 0}}, "has test_rows, but splits.evaluation is 0"),
        ({"test_rows": 5}, {"splits": {"evaluation": 1, "repeats": 3}}, "Remove splits.repeats"),
        ({"test_rows": 5, "groups": "smoking"}, {}, "'d' has test_rows, which may cut through its groups"),
        ({"test_rows": 100}, {}, "d: of 100 rows the last 100 are test rows"),
        ({"test_rows": 98}, {"folds": 5}, "d, training rows of split cv-1: 2 rows, fewer than the 5 folds"),
        ({"test_rows": -1}, {}, "test_rows is -1, but must be a whole number at least 0"),
    ],
)
def test_test_rows_that_do_not_go_with_the_splits_are_refused(dataset, change, message):
    raw = {"datasets": {"d": {"source": "simulate:clinic", "rows": 100, **dataset}}, **TEST_ROWS, **change}
    with pytest.raises(BlanketflowError, match=re.escape(message)):
        make_plan(raw, SCRIPTS)


def test_test_rows_are_the_last_rows_of_the_file_also_when_some_are_dropped(tmp_path):
    path = tmp_path / "study.csv"
    rows = [f"{i},{'' if i in (3, 17) else 'yn'[i % 2]}" for i in range(20)]
    path.write_text("x,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    dataset = {"path": str(path), "target": "y", "test_rows": 5}
    plan = make_plan({"datasets": {"study": dataset}, **TEST_ROWS}, SCRIPTS)
    assert (plan.facts["study"].n_rows, plan.facts["study"].n_test) == (18, 4)  # rows 15, 16, 18 and 19
    raw = read_source("study", dataset, 0)
    assert raw.features["x"].numbers()[-raw.n_test :].tolist() == [15, 16, 18, 19]


@pytest.mark.parametrize("source", ["sklearn:wine", "npz"])
def test_test_rows_of_other_sources_are_foreseen_too(tmp_path, source):
    dataset = {"source": source, "test_rows": 40}
    if source == "npz":
        rng = np.random.default_rng(0)
        np.savez(tmp_path / "X.npz", X=rng.normal(size=(90, 3)))
        labels = rng.choice(["a", "b"], 90)
        (tmp_path / "X.y.csv").write_text("target\n" + "\n".join(labels) + "\n", encoding="utf-8")
        dataset = {"path": str(tmp_path / "X.npz"), "test_rows": 40}
    facts = make_plan({"datasets": {"d": dataset}, **TEST_ROWS}, SCRIPTS).facts["d"]
    raw = read_source("d", dataset, 0)
    assert facts.n_test == raw.n_test == 40 and facts.n_rows == raw.features.n_rows
    first = np.bincount(raw.target.values[:-40], minlength=len(raw.target.levels)).tolist()
    assert list(facts.class_counts.values()) == first


def test_the_true_blanket_can_be_asked_for_its_parents_and_children_alone():
    selectors = {"mb": {"method": "true-blanket"}, "pc": {"method": "true-blanket", "part": "parents-and-children"}}
    plan = make_plan({"datasets": {"c": {"source": "simulate:clinic"}}, "selectors": selectors}, SCRIPTS)
    for name, expected in (("mb", {"parent_or_child", "spouse"}), ("pc", {"parent_or_child"})):
        options = json.loads(plan.method_spec("c", name))["options"]
        method = get_method("true-blanket", "here", options)
        features = list(plan.facts["c"].feature_names)
        problem = Problem(features, "pneumonia", None, 0, lambda: None, lambda table: None)
        assert {step.role for step in method.grow(problem)} == expected
    stated = json.loads(plan.report_spec())["selectors"]
    assert stated["pc"]["options"] == {"part": "parents-and-children"}
    nameless = get_method("true-blanket", "here", {"blanket": ["xray"], "part": "parents-and-children"})
    with pytest.raises(DataError, match="does not say who they are"):
        nameless.grow(problem)


def test_knockoffs_have_the_network_behind_simulated_data(tmp_path):
    coin = tmp_path / "coin.bif"
    coin.write_text("network n { } variable c { type discrete [2] { a, b }; } probability ( c ) { table 0.5, 0.5; }")
    selectors = {
        "net": {"method": "knockoffs", "law": "network"},
        "own": {"method": "knockoffs", "law": "network", "network": f"network:{coin}"},
        "chain": {"method": "knockoffs", "law": "markov-chain"},
        "plain": {"method": "knockoffs"},
    }
    sources = {"c": {"source": "simulate:clinic"}, "w": {"source": "sklearn:wine"}}
    plan = make_plan({"datasets": sources, "selectors": selectors}, SCRIPTS)
    specs = {name: json.loads(plan.method_spec("c", name)) for name in selectors}
    assert specs["net"]["options"]["network"] == "simulate:clinic"
    assert specs["plain"]["options"]["network"] is None
    coin.write_text(coin.read_text().replace("0.5, 0.5", "0.4, 0.6"))
    again = json.loads(make_plan({"datasets": sources, "selectors": selectors}, SCRIPTS).method_spec("c", "own"))
    assert again["options"] == specs["own"]["options"] and again["network_file"] != specs["own"]["network_file"]
    why = {(skip.dataset, skip.selector): skip.reason for skip in plan.skipped}
    assert "the network behind the data, or arcs" in why["w", "net"]
    assert "law: markov-chain takes no numeric features" in why["w", "chain"] and len(why) == 3


def test_a_run_says_where_folds_void_what_is_proved():
    searches = {
        "knockoffs": {"method": "knockoffs"},
        "stable": {"method": "stability-selection", "folds": 0},
        "corrected": {"method": "mmpc", "ci_test": "fisher-z", "correction": "by"},
        "plain": {"method": "mmpc", "ci_test": "fisher-z"},
        "stepwise": {"method": "iamb", "ci_test": "fisher-z", "correction": "bh"},
    }
    config = {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "ci_tests": {"fisher-z": {"type": "fisher-z"}},
        "selectors": searches,
        "models": ["tree"],
        "folds": 3,
    }
    told = [line for line in make_plan(config, SCRIPTS).notes() if "what is proved" in line]
    # Nothing is proved of iamb with a correction, with folds or without.
    assert [line.partition(":")[0] for line in told] == ["knockoffs", "corrected"]
    assert all("3 folds" in line and "folds: 0" in line for line in told)


def test_a_run_says_which_searches_read_rows_though_there_are_shards():
    searches = {
        "iamb": {"method": "iamb", "ci_test": "fisher-z"},
        "half": {"method": "iamb", "ci_test": "fisher-z", "confirm": 0.5},
        "relief": {"method": "relief"},
        "mixed": {"method": "mixed-mb"},
    }
    config = {"selectors": searches, "models": ["tree"], "folds": 0}
    plain = make_plan({**config, "datasets": {"sugar": {"source": "sklearn:diabetes"}}}, SCRIPTS)
    plan = make_plan({**config, "datasets": {"sugar": {"source": "sklearn:diabetes", "shards": 4}}}, SCRIPTS)
    assert [line for line in plan.notes() if "shards" in line] == [
        "sugar: shards are not counted for half (confirm reads rows), relief (it has no CI test), "
        "mixed (lr-mixed reads rows)"
    ]
    for name, is_counted in (("iamb", True), ("half", False), ("relief", False), ("mixed", False)):
        assert (plan.method_spec("sugar", name) != plain.method_spec("sugar", name)) == is_counted
        assert plan.grains.of_selector("sugar", name) == "fold"


def test_a_baseline_of_all_features_is_added_to_every_evaluation(tmp_path):
    assert ("study", "all") in plan_of(table(tmp_path, "ab"), g={"method": "gs"}).pairs


def grains(rows=400, **more):
    raw = {
        "datasets": {"c": {"source": "simulate:clinic", "rows": rows}},
        "selectors": {"g": {"method": "gs", "ci_test": "g2"}},
    }
    return make_plan({**raw, **more}, SCRIPTS).grains


def test_grain_follows_the_size_of_the_table():
    large = grains(rows=4_000_000, job_seconds=1e9)
    assert large.of_selector("c", "g") == large.of_test("c", "g2") == "fold"
    for grain in ("fold", "split", "dataset"):
        asked = grains(grain=grain)
        assert asked.of_selector("c", "g") == asked.of_test("c", "g2") == grain


@pytest.mark.parametrize("stage", ["selector", "test"])
def test_auto_joins_the_most_work_that_takes_at_most_job_seconds(stage):
    def of(**more):
        found = grains(rows=4_000, **more)
        return found.of_selector("c", "g") if stage == "selector" else found.of_test("c", "g2")

    facts, config = grains(rows=4_000).facts["c"], grains(rows=4_000).config
    test = config.ci_tests["g2"]
    one = grow_shrink_seconds(config.selectors["g"].method, test, facts)
    one = one if stage == "selector" else marginal_seconds(test, facts)
    # 5 folds; the full split and 2 to evaluate on
    expected = {1.1 * 15: "dataset", 0.9 * 15: "split", 1.1 * 5: "split", 0.9 * 5: "fold"}
    for times, grain in expected.items():
        assert of(job_seconds=times * one, splits={"evaluation": 2}) == grain
    assert of(job_seconds=1.1 * one, folds=0, splits={"evaluation": 0}) == "dataset"


def test_a_job_asks_for_what_its_work_takes_and_for_more_at_each_attempt():
    raw = {
        "datasets": {
            name: {"source": "simulate:clinic", "rows": rows} for name, rows in (("a", 500), ("b", 2_000_000))
        },
        "selectors": {"g": {"method": "gs"}, "p": {"method": "ppfs", "time_limit": 60}},
    }
    estimates = make_plan(raw, SCRIPTS).estimates
    few, many = ({"dataset": name, "test": "ppi", "split": "full", "fold": "1of5"} for name in "ab")
    for attempt in (1, 2, 3):
        asked = estimates.resources("ci_test", few, attempt=attempt)
        assert asked.runtime == LEAST_MINUTES * 2 ** (attempt - 1)
    first, second = (estimates.resources("ci_test", many, attempt=attempt) for attempt in (1, 2))
    assert (second.mem_mb, second.runtime) == (2 * first.mem_mb, 2 * first.runtime)
    assert first.mem_mb > estimates.resources("ci_test", few).mem_mb
    assert first.runtime * 60 >= MARGIN * estimates.seconds("ci_test", many)
    assert estimates.work_seconds("ci_test", many, 5) == 5 * estimates.work_seconds("ci_test", many)
    # a limit of a selector is one of its time too: 60 seconds of growing and of shrinking
    assert estimates.work_seconds("grow_shrink", {"dataset": "b", "selector": "p"}, 5) < 2.1 * 60 * 5
    limited = estimates.resources("grow_shrink", {"dataset": "b", "selector": "p"}, 5)
    assert limited.runtime * 60 < 2.1 * 60 * 5 + MARGIN * 60  # which no margin multiplies
    everything = estimates.resources("tables", {})
    assert everything.mem_mb >= estimates.resources("splits", {"dataset": "a"}).mem_mb


@pytest.mark.parametrize("grain", ["split", "dataset"])
def test_chunks_do_not_go_with_a_grain_that_joins(grain):
    with pytest.raises(ConfigError, match=f"chunks .* grain: {grain} joins"):
        grains(chunks=2, grain=grain)


def test_a_number_of_chunks_can_be_asked_for():
    found = grains(rows=4_000, chunks=3)
    assert found.of_test("c", "g2") == "chunk" and found.chunks("c", "g2") == ["1of3", "2of3", "3of3"]
    assert grains(rows=4_000, chunks=10**6).n_chunks("c", "g2") == found.facts["c"].n_features
    chunk = {"dataset": "c", "test": "g2", "split": "full", "fold": "1of5", "chunk": "1of3"}
    estimates = make_plan(
        {
            "datasets": {"c": {"source": "simulate:clinic"}},
            "selectors": {"g": {"method": "gs", "ci_test": "g2"}},
            "chunks": 3,
        },
        SCRIPTS,
    ).estimates
    whole = {key: value for key, value in chunk.items() if key != "chunk"}
    assert 3 * estimates.work_seconds("ci_test_chunk", chunk) == pytest.approx(estimates.work_seconds("ci_test", whole))
    assert estimates.memory_mb("ci_test_chunk", chunk) <= estimates.memory_mb("ci_test", whole)


def test_wide_tables_are_tested_in_chunks_by_their_shape_and_the_test_alone(tmp_path):
    np.savez(tmp_path / "wide.npz", X=np.zeros((50, 4_000)), y=np.arange(50) % 2)
    raw = {
        "datasets": {"wide": {"path": str(tmp_path / "wide.npz")}},
        "ci_tests": {"forest": {"type": "ppi", "n_repeats": 100, "model": "forest"}, "tree": {"type": "ppi"}},
        "selectors": {"slow": {"method": "ppfs", "ci_test": "forest"}, "quick": {"method": "ppfs", "ci_test": "tree"}},
    }
    plan = make_plan(raw, SCRIPTS)
    assert plan.grains.of_test("wide", "tree") != "chunk" and plan.grains.n_chunks("wide", "tree") == 1
    assert plan.grains.of_test("wide", "forest") == "chunk" and 1 < plan.grains.n_chunks("wide", "forest") < 4_000
    assert len(plan.grains.chunks("wide", "forest")) == plan.grains.n_chunks("wide", "forest")
    path = "wide/full/fold-1of5/{}.chunk-1of2.parquet"
    chunked = re.compile(plan.grains.test_pattern("chunk"))
    assert chunked.match(path.format("forest")) and not chunked.match(path.format("tree"))
    assert make_plan({**raw, "grain": "split"}, SCRIPTS).grains.of_test("wide", "forest") == "split"


def test_equal_configs_give_equal_specs_and_an_alpha_changes_one_selector_only():
    def specs(alpha):
        raw = {
            "datasets": {"c": {"source": "simulate:clinic"}},
            "selectors": {"p": {"method": "ppfs", "alpha": alpha}, "g": {"method": "gs"}},
        }
        plan = make_plan(raw, SCRIPTS)
        return plan.method_spec("c", "p"), plan.method_spec("c", "g"), plan.test_spec("c", "ppi")

    assert specs(0.05) == specs(0.05)
    (p, g, test), (p_changed, g_changed, test_changed) = specs(0.05), specs(0.01)
    assert p != p_changed and (g, test) == (g_changed, test_changed)


def test_tests_that_know_the_truth_are_given_the_network_behind_the_data():
    raw = {
        "datasets": {"c": {"source": "simulate:clinic"}, "wine": {"source": "sklearn:wine"}},
        "ci_tests": {"oracle": {"type": "oracle"}, "mine": {"type": "oracle", "arcs": [["a", "b"]]}},
        "selectors": {"o": {"method": "gs", "ci_test": "oracle"}, "m": {"method": "gs", "ci_test": "mine"}},
    }
    plan = make_plan(raw, SCRIPTS)
    assert '"network":"simulate:clinic"' in plan.test_spec("c", "oracle")
    assert '"network":null' in plan.test_spec("c", "mine")
    assert ("wine", "m") in plan.pairs
    assert [(s.dataset, s.selector) for s in plan.skipped] == [("wine", "o")]
    assert "known for simulated data only" in plan.skipped[0].reason


def test_code_is_that_of_the_models_that_methods_and_tests_name():
    def code(model):
        raw = {
            "datasets": {"c": {"source": "simulate:clinic"}},
            "ci_tests": {"t": {"type": "cpi", "model": model}},
            "selectors": {"s": {"method": "stepwise", "model": model}, "g": {"method": "gs", "ci_test": "t"}},
        }
        plan = make_plan(raw, SCRIPTS)
        return plan.code("grow", selector="s"), plan.code("ci_test", test="t"), plan.code("grow", selector="g")

    knn, tree = code("knn"), code("tree")
    assert knn == code({"type": "knn", "n_neighbors": 3})
    assert all(one != other for one, other in zip(knn, tree, strict=True))
    assert code("sklearn.naive_bayes:GaussianNB") != knn


def test_a_changed_page_of_the_report_is_changed_code(tmp_path, monkeypatch):
    scripts = Path(__file__).parents[2] / "scripts"
    made = make_plan(
        {"datasets": {"d": {"source": "simulate:clinic"}}, "selectors": {"gs": {"method": "gs"}}}, scripts.joinpath
    )
    before = {name: made.code(name) for name in ("report", "tables")}
    page = shutil.copytree(specs.PAGE, tmp_path / "page")
    (page / "style.css").write_text("body { color: red }")
    monkeypatch.setattr(specs, "PAGE", page)
    assert made.code("report") != before["report"] and made.code("tables") == before["tables"]


def test_an_unknown_model_of_any_ci_test_is_refused():
    raw = {"datasets": {"c": {"source": "simulate:clinic"}}, "selectors": {"g": {"method": "gs"}}}
    for test in ("ppi", "cpi"):
        with pytest.raises(ConfigError, match=r"^config: ci_tests.t: unknown model 'tre'. Did you mean 'tree'"):
            make_plan({**raw, "ci_tests": {"t": {"type": test, "model": "tre"}}}, SCRIPTS)


def test_a_test_too_coarse_for_its_selector_is_skipped_before_any_job(tmp_path):
    def plan(**selector):
        raw = {
            "datasets": {"study": table(tmp_path, "abc")},
            "ci_tests": {"few": {"type": "ppi", "n_repeats": 4}, "five": {"type": "ppi", "n_repeats": 5}},
            "selectors": {"p": {"method": "ppfs", **selector}},
            "splits": {"evaluation": 0},
        }
        return make_plan(raw, SCRIPTS)

    assert ("study", "p") in plan(ci_test="five").pairs
    assert ("study", "p") in plan(ci_test="few", alpha=0.1).pairs
    assert ("study", "p") in plan(ci_test="five", correction="bh").pairs
    with pytest.raises(ConfigError) as refused:
        plan(ci_test="few")
    assert str(refused.value) == (
        "config: no selector can run on data set 'study' (p: ppi gives no p-value below 0.062, so ppfs at alpha "
        "0.05 admits no feature, which needs 0.05 or less. Set n_repeats to at least 5 (it is 4), or significance: "
        "corrected-t)."
    )
    with pytest.raises(ConfigError, match=r"admits none of 2 features, which needs 0.025 or less. .* at least 6 \(it"):
        plan(ci_test="five", correction="bonferroni")


def test_a_skipped_selector_leaves_the_others(tmp_path):
    raw = {
        "datasets": {"study": table(tmp_path, "abc")},
        "ci_tests": {"few": {"type": "ppi", "n_repeats": 4}},
        "selectors": {"h": {"method": "hiton-mb", "ci_test": "few"}, "g": {"method": "gs"}},
    }
    plan = make_plan(raw, SCRIPTS)
    assert ("study", "g") in plan.pairs
    assert [skip.selector for skip in plan.skipped] == ["h"] and "hiton-mb at alpha" in plan.skipped[0].reason
    assert "few" not in plan.grains.test_ids
    assert "hiton-mb at alpha 0.05 admits no feature" in plan.report_spec()
