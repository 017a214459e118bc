"""Which CI test `auto` takes: by kinds, levels, classes and rows, the same in the library, in a plan and in memory."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine

import blanketflow as bf
from blanketflow.ci import get_ci_test
from blanketflow.ci.choice import AUTO, FEWEST_ROWS, OF_FOLD, Description, choose_test, described, usual_levels
from blanketflow.ci.rates import of_test
from blanketflow.core.convert import as_table
from blanketflow.core.errors import ConfigError, UnsupportedError
from blanketflow.core.registry import discover
from blanketflow.core.task import infer_task, target_column
from blanketflow.data.sources import read_source
from blanketflow.workflow.chosen_tests import smallest_fold
from blanketflow.workflow.in_process import run_plan
from blanketflow.workflow.job_files import JobFiles
from blanketflow.workflow.peek import facts_of, peek
from blanketflow.workflow.plan import make_plan
from studies.calibration import study
from studies.calibration.designs import sample
from studies.calibration.page import rates

STUDY = Path(study.__file__).parent
SCRIPTS = (Path(__file__).parents[2] / "scripts").joinpath
METHODS = discover("blanketflow.selectors")
LABELS, NUMBERS, MIXED = ("categorical",), ("numeric",), ("categorical", "numeric")


def description(kinds, n_classes=None, levels=None, labels=2, most=None, n_features=20, flags=False, bends=""):
    return Description(kinds, n_features, n_classes, most, levels, labels, flags, bends)


@pytest.mark.parametrize(
    ("table", "n_rows", "test_id"),
    [
        # 5 rows for each of 3 * 2^4 cells
        (description(LABELS, 3, levels=2, most=2), 240, "g2-corrected"),
        (description(LABELS, 3, levels=2, most=2), 239, "mi-permutation-5"),
        # 5 rows for each of 2 * 4^4 cells, or of 2 * 2^4
        (description(LABELS, 2, levels=4, labels=4, most=4), 2560, "g2-corrected"),
        (description(LABELS, 2, levels=4, labels=4, most=4), 2559, "mi-permutation-5"),
        (description(("boolean",), 2, levels=2), 160, "g2-corrected"),
        (description(("boolean",), 2, levels=2), 159, "mi-permutation-5"),
        (description(("integer",), 2, levels=2), 159, "mi-permutation-5"),
        # flags among numbers, whatever their type: 10 rows for each of 1 + 4 parameters
        (description(("boolean", "numeric"), 2, flags=True), 50, "lr-mixed-linear"),
        (description(("integer", "numeric"), 2, flags=True), 50, "lr-mixed-linear"),
        (description(NUMBERS, 2, flags=True), 49, "mi-permutation-5"),
        (description(NUMBERS, 7, flags=True), 70, "lr-mixed-linear"),
        (description(("boolean", "numeric"), 7, flags=True), 70, "lr-mixed-linear"),
        (description(NUMBERS, flags=True), 20, "lr-mixed-linear"),
        # relations that bend, too large: the linear test
        (description(NUMBERS, bends="y with x"), 5000, "spline"),
        (description(MIXED, 5, labels=3, most=3, bends="y with x"), 360, "spline"),
        (description(NUMBERS, 5, bends="y with x"), 1250, "spline"),
        (description(NUMBERS, 5, bends="y with x"), 1251, "lr-mixed-linear"),
        (description(NUMBERS, bends="y with x"), 5001, "fisher-z"),
        (description(LABELS, 2, levels=2, most=2, bends="y with x"), 240, "g2-corrected"),
        # but a number can be explained by columns of two levels
        (description(LABELS, most=2, levels=2), 30, "fisher-z"),
        # whole numbers in a small range have levels where there are rows enough, else they are numbers
        (description(("integer",), 2, levels=5), 6250, "g2-corrected"),
        (description(("integer",), 2, levels=5), 6249, "fisher-z"),
        (description(("integer",), 3, levels=5), 72, "lr-mixed-linear"),
        (description(NUMBERS, 2), 72, "fisher-z"),
        (description(NUMBERS), 30, "fisher-z"),
        (description(("boolean", "integer", "numeric"), 2), 30, "fisher-z"),
        # 10 rows for each of 7 classes
        (description(NUMBERS, 7), 70, "lr-mixed-linear"),
        (description(NUMBERS, 7), 69, "mi-permutation-5"),
        # 10 rows for each of 2 - 1 times 1 + 4 * 2 parameters, or of (3 - 1) (1 + 2 + 1)
        (description(MIXED, 2, labels=3, most=3), 90, "spline"),
        (description(MIXED, 2, labels=3, most=3), 89, "mi-permutation-5"),
        (description(MIXED, labels=3, most=3), 80, "spline"),
        (description(MIXED, labels=3, most=3), 79, "mi-permutation-5"),
        (description(MIXED, labels=3, most=3, n_features=700), 80, "lr-mixed-linear"),
        # numbers: splines from 80 rows on, whether they are seen to bend or not
        (description(NUMBERS), 80, "spline"),
        (description(NUMBERS), 79, "fisher-z"),
        (description(NUMBERS, 2, n_features=1001), 100, "fisher-z"),
        (description(MIXED, 2, most=2), 30, "fisher-z"),
        # permutations of 200,000 features take 150 s; given one, g2 needs 5 rows for each of 2 * 3^2 cells
        (description(LABELS, 2, levels=3, labels=3, most=3, n_features=200_000), 809, "g2-corrected"),
        (description(LABELS, 2, levels=3, labels=3, most=3, n_features=200_000), 89, "mi-permutation-5"),
    ],
)
def test_the_choice_by_hand(table, n_rows, test_id):
    choice = choose_test(table, n_rows)
    assert choice.test_id == test_id and choice.reason
    assert choice.configured().card.id == choice.test


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (description(("integer",), 9, levels=3), "48 rows are too few for regressions (90 are needed)"),
        (description(LABELS, 2, levels=3, labels=3), "48 rows are too few for tests given 3 features (810 are needed)"),
    ],
)
def test_the_reason_names_the_fewest_rows_that_would_do(table, reason):
    assert choose_test(table, 48).reason == reason


@pytest.mark.parametrize(
    ("table", "n_rows", "told"),
    [
        (description(NUMBERS), 1000, ""),
        (description(NUMBERS), 999, "of true nulls at alpha 0.05 where numbers follow bent functions of given ones"),
        (description(NUMBERS), 199, "% where numbers are nearly functions of given ones"),
        (description(NUMBERS), 5001, ""),
        (description(NUMBERS, bends="y with x"), 5001, "where numbers follow bent functions"),
        (description(("boolean", "numeric"), 2, flags=True), 79, "where flags depend on given numbers"),
        (description(LABELS, 3, levels=2, most=2), 240, ""),
    ],
)
def test_the_reason_says_where_the_measured_rates_show_the_test_to_be_invalid(table, n_rows, told):
    choice = choose_test(table, n_rows)
    assert told in choice.reason and ("rejects" in choice.reason) == bool(told)
    assert any(rate.verdict == "invalid" for rate in of_test(choice.configured())) or not told


def rates_of_auto():
    """Whether auto is invalid, by each null, rows and given columns of the study."""
    cells, _ = rates(STUDY / "ci-tests.parquet")
    of_auto = cells[cells["is_null"] & (cells["test"] == AUTO)]
    return [(row["design"].replace(" ", "_"), row["n"], row["k"], row["verdict"]) for _, row in of_auto.iterrows()]


def test_auto_takes_no_test_that_is_invalid_without_saying_so():
    """For each cell of the study: what is invalid is said, and what is said is a verdict of the table."""
    silent = []
    for design, n, k, verdict in rates_of_auto():
        choice = study.auto(sample(design, n, k, 0))
        if verdict == "invalid" and "rejects" not in choice.reason:
            silent.append((design, n, k))
    assert silent == []
    assert len([cell for cell in rates_of_auto() if cell[-1] == "invalid"]) > 3


def test_the_fewest_rows_of_splines_are_the_fewest_measured_and_linear_relations_are_calibrated_from_there_on():
    linear = [rate for rate in of_test(get_ci_test("spline")) if rate.family == "linear"]
    assert min(rate.rows for rate in linear) == FEWEST_ROWS
    assert {rate.verdict for rate in linear} == {"calibrated"}


def test_the_reason_names_relations_that_bend_where_the_test_is_linear():
    bent = description(NUMBERS, bends="y with x and 3 more of 20 pairs")
    told = "It takes relations as linear, but some bend (y with x and 3 more of 20 pairs); "
    assert told + "spline follows them, but is slow here" in choose_test(bent, 10_000).reason
    assert told + "no test for groups or weights follows them" in choose_test(bent, 100, has_design=True).reason


def test_levels_are_what_three_features_in_four_have_at_most():
    frame = pd.DataFrame(
        {
            "a": list("pq" * 4),  # 2 labels
            "b": list("pqrs" * 2),  # 4 labels
            "c": [True, False] * 4,
            "d": [-2, 0, 2, 0] * 2,  # a range of 5
        }
    )
    assert usual_levels(as_table(frame)) == (4, 2)  # 2, 2, 4, 5 and 2, 2, 2, 4
    assert usual_levels(as_table(frame[["b", "d"]])) == (5, 4)
    assert usual_levels(as_table(frame.assign(e=np.arange(8) + 0.5))) == (None, 2)
    assert usual_levels(as_table(frame[["d"]] * 3)) == (None, 2)  # -6 .. 6: too many
    for values in (np.eye(4, dtype=int), sp.csr_matrix(np.eye(4, dtype=int)), np.eye(4, dtype=bool)):
        assert usual_levels(as_table(values)) == (2, 2)
    assert usual_levels(as_table(sp.csr_matrix(3 * np.eye(4, dtype=int)))) == (4, 2)  # 0 .. 3, zeros not stored


def columns(n=400, seed=0):
    rng = np.random.default_rng(seed)
    label, number = rng.choice(list("abc"), n), rng.normal(size=n)
    frame = pd.DataFrame(
        {"label": label, "number": number, "whole": rng.integers(0, 3, n), "large": rng.integers(0, 99, n)}
    )
    return frame, np.where((label == "a") ^ (number > 0), "yes", "no")


TABLES = {
    "labels": (["label"], 400),
    "whole": (["whole"], 400),
    "numbers": (["number", "large"], 400),
    "mixed": (["label", "number", "whole"], 400),
    "few": (["label", "number"], 60),
}


@pytest.mark.parametrize("name", TABLES)
def test_library_plan_and_memory_choose_alike(tmp_path, name):
    (names, n), (frame, y) = TABLES[name], columns()
    X, y = frame[names][:n], y[:n]
    path = tmp_path / "study.csv"
    X.assign(y=y).to_csv(path, index=False)
    spec = {"path": str(path), "target": "y"}
    raw = {"datasets": {"d": spec}, "selectors": {"s": {"method": "gs"}}, "folds": 0, "splits": {"evaluation": 0}}
    fitted = bf.GS(max_tests=1000).fit(X, y)
    planned = make_plan(raw, SCRIPTS).config.chosen["d"]
    assert planned.reason == fitted.ci_test_reason_ == choose_test(facts_of(read_source("d", spec, 0)), n).reason
    assert bf.GS(ci_test=None).fit(X, y).ci_test_.options() == fitted.ci_test_.options()
    asked = bf.GS(ci_test=fitted.ci_test_).fit(X, y)
    assert asked.selected_features_ == fitted.selected_features_ and asked.ci_test_reason_ == ""
    if len({dtype.kind for dtype in X.dtypes}) == 1 and X.dtypes.iloc[0].kind in "if":
        np.savez(tmp_path / "study.npz", X=X.to_numpy(), y=np.asarray(y, dtype=str))
        assert choose_test(peek("d", {"path": str(tmp_path / "study.npz")}), n).reason == planned.reason


def test_searches_choose_their_test_and_others_keep_theirs():
    chosen = {name for name, method in METHODS.items() if method.default_test == AUTO}
    causal = {name for name, method in METHODS.items() if method.card.family == "causal"}
    assert chosen == causal - {"ppfs", "sgai", "mixed-mb", "koller-sahami"}  # defined by a test, or by information
    X, y = columns()
    assert bf.PPFS(ci_test="auto", n_repeats=None).fit(X[["number"]], y).ci_test_.card.id == "spline"
    with pytest.raises(UnsupportedError, match="mrmr needs a test that measures mutual-information, and auto"):
        bf.MRMR(ci_test="auto").fit(X, y)
    raw = {"datasets": {"c": {"source": "simulate:clinic"}}}
    with pytest.raises(ConfigError, match="selector 'r': mrmr needs a test"):
        make_plan({**raw, "selectors": {"r": {"method": "mrmr", "ci_test": "auto"}}}, SCRIPTS)
    with pytest.raises(ConfigError, match=r"ci_tests\.auto: ci_test: auto asks for the test that suits"):
        make_plan({**raw, "ci_tests": {"auto": {"type": "g2"}}, "selectors": {"r": {"method": "gs"}}}, SCRIPTS)


FLAGS = {
    "texts": lambda flag: np.where(flag, "yes", "no"),
    "truth": lambda flag: flag,
    "whole": lambda flag: flag.astype(int),
    "floats": lambda flag: flag * 1.0,
}


@pytest.mark.parametrize("target", ["class", "number"])
def test_flags_of_any_type_have_the_same_test(target, tmp_path):
    rng = np.random.default_rng(2)
    age, first, second = rng.normal(size=(3, 300))
    y = np.where(age + second > 1, "ill", "well") if target == "class" else age + second
    few, many, told = 300, 100_000, set()
    for name, kind in FLAGS.items():
        X = pd.DataFrame({"age": age, "smokes": kind(first > 1), "drinks": kind(second > 0.5)})
        fitted, of = bf.IAMB().fit(X, y), as_table(pd.DataFrame({"y": y}))["y"]
        here = described(as_table(X), target_column(of, infer_task(of).name))
        told.add((fitted.ci_test_.card.id, fitted.ci_test_reason_, choose_test(here, many).reason))
        if name != "truth":
            path = tmp_path / f"{name}.csv"
            X.assign(y=y).to_csv(path, index=False)
            facts = peek(name, {"path": str(path), "target": "y"})
            told.add((choose_test(facts, few).test, *(choose_test(facts, n).reason for n in (few, many))))
        of_age = described(as_table(X.drop(columns="drinks")), as_table(X)["age"])
        assert choose_test(of_age, many).test == "fisher-z"
    ((test, reason, of_many),) = told
    assert test == "spline" and reason.startswith("relations of numbers may bend")
    assert of_many.startswith("some columns have two values, and 100,000 rows are enough")


def test_every_column_is_a_target_in_turn():
    X, _ = columns()
    assert choose_test(described(as_table(X[["number", "large"]]), None), 400).test == "spline"
    assert choose_test(described(as_table(X[["number", "large"]]), None), 60_000).test == "fisher-z"
    assert choose_test(described(as_table(X), None), 60_000).test == "lr-mixed"
    assert choose_test(described(as_table(X[["label"]]), None), 5 * 3**5).test == "g2"
    assert choose_test(described(as_table(X[["label"]]), None), 5 * 3**5 - 1).test == "mi-permutation"


CLINIC = {"datasets": {"c": {"source": "simulate:clinic", "rows": 1000}}, "splits": {"evaluation": 4}}


@pytest.mark.parametrize(
    ("selectors", "n_rows"),
    [
        ({"a": {"method": "gs", "folds": 0}}, 750),
        ({"a": {"method": "gs", "folds": 0}, "b": {"method": "iamb", "folds": 5}}, 600),
        ({"a": {"method": "gs"}, "b": {"method": "iamb", "folds": 5, "fold_rows": "part"}}, 150),
        ({"a": {"method": "gs", "folds": 0}, "b": {"method": "iamb", "ci_test": "g2", "folds": 50}}, 750),
    ],
)
def test_one_test_for_a_data_set_by_its_smallest_fold(selectors, n_rows):
    plan = make_plan({**CLINIC, "folds": 2, "selectors": selectors}, SCRIPTS)
    asking = [plan.selector(name) for name, spec in selectors.items() if "ci_test" not in spec]
    assert min(smallest_fold(plan.facts["c"], plan.config, selector) for selector in asking) == n_rows
    assert plan.config.chosen["c"].reason == choose_test(plan.facts["c"], n_rows, OF_FOLD).reason
    assert f"{n_rows} rows of the smallest fold are" in plan.config.chosen["c"].reason


def test_a_search_is_not_repeated_for_another_reason_of_the_same_test():
    def spec_of(selectors):
        return make_plan({**CLINIC, "folds": 0, "selectors": selectors}, SCRIPTS).method_spec("c", "a")

    alone = {"a": {"method": "gs"}}
    assert spec_of(alone) == spec_of({**alone, "b": {"method": "gs", "folds": 2}})  # 375 rows: too few for g2, too
    assert spec_of(alone) != spec_of({**alone, "a": {"method": "gs", "ci_test": "g2"}})


def test_the_id_is_that_of_an_equal_test_and_stands_in_spec_and_path(tmp_path):
    selectors = {"a": {"method": "gs"}, "b": {"method": "iamb"}, "named": {"method": "iamb", "ci_test": "mine"}}

    def plan_of(**options):
        datasets = {"c": {"source": "simulate:clinic", "rows": 2000}}
        tests = {"mine": {"type": "g2", **options}}
        return make_plan({"datasets": datasets, "ci_tests": tests, "selectors": selectors}, SCRIPTS)

    shared, apart = plan_of(small_counts="corrected"), plan_of()
    assert {shared.test_id("c", name) for name in selectors} == {"mine"} and set(shared.config.ci_tests) == {"mine"}
    assert [apart.test_id("c", name) for name in selectors] == ["g2-corrected", "g2-corrected", "mine"]
    assert set(shared.grains.test_ids) == {"mine"} and set(apart.grains.test_ids) == {"g2-corrected", "mine"}
    for name in "ab":
        asked, named = (json.loads(shared.method_spec("c", one)) for one in (name, "named"))
        assert asked["ci_test"] == named["ci_test"] and asked["ci_test"]["type"] == "g2"
        told = json.loads(shared.aggregate_spec("c", name))["ci_test"]
        assert told["id"] == "mine" and told["reason"].startswith(
            "all columns have levels, and 1,280 rows of the smallest fold are enough for tests given 3"
        )
        ids = {"dataset": "c", "selector": name, "split": "full"}
        assert {path.name for path in JobFiles(apart, tmp_path.joinpath).marginals(ids)} == {"g2-corrected.parquet"}
    assert "ci_test" not in json.loads(shared.aggregate_spec("c", "named"))
    named, chosen = apart.notes()
    assert chosen == f"c: g2-corrected was chosen as CI test: {apart.config.chosen['c'].reason}"
    assert named.startswith("c: g2: it rejects")  # without the correction, by the measured rates


def test_two_data_sets_have_two_tests():
    raw = {
        "datasets": {"digits": {"source": "sklearn:digits"}, "wine": {"source": "sklearn:wine"}},
        "selectors": {"s": {"method": "gs"}},
    }
    plan = make_plan(raw, SCRIPTS)
    assert {plan.test_id(name, "s") for name in ("digits", "wine")} == {"lr-mixed-linear", "spline"}
    assert set(plan.grains.folds_of_tests) == {("digits", "lr-mixed-linear"), ("wine", "spline")}


def test_searches_that_splines_do_not_suit_have_another_test():
    searches = {"plain": {"method": "gs"}, "sets": {"method": "gs-m"}, "effects": {"method": "gs", "min_effect": 0.1}}
    raw = {"datasets": {"wine": {"source": "sklearn:wine"}}, "selectors": searches}
    plan, tests = make_plan(raw, SCRIPTS), ["spline", "lr-mixed-linear", "lr-mixed-linear"]
    assert [plan.test_id("wine", name) for name in searches] == tests
    said = [json.loads(plan.aggregate_spec("wine", name))["ci_test"] for name in searches]
    assert [one["id"] for one in said] == tests  # what artefacts say
    assert [one["reason"].startswith("relations bend") for one in said] == [True, False, False]
    assert sum("was chosen as CI test" in note for note in plan.notes()) == 2
    alone = make_plan({**raw, "selectors": {"sets": {"method": "gs-m"}}}, SCRIPTS)
    assert alone.test_id("wine", "sets") == "lr-mixed-linear"
    assert "spline tests no sets of columns" in alone.config.chosen["wine"].reason
    X, y = load_wine(return_X_y=True, as_frame=True)
    fitted = [bf.GS().fit(X, y), bf.GSM(max_tests=2000).fit(X, y), bf.GS(min_effect=0.1).fit(X, y)]
    assert [one.ci_test_.card.id for one in fitted] == ["spline", "lr-mixed", "lr-mixed"]


def test_artefacts_and_report_say_which_test_was_chosen_and_why(tmp_path):
    from blanketflow.data.artefacts import read_provenance

    raw = {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "selectors": {"s": {"method": "gs", "max_k": 1}},
        "splits": {"evaluation": 0},
        "folds": 0,
        "models": [],
    }
    plan = make_plan(raw, SCRIPTS)
    run = run_plan(plan, {"wine": read_source("wine", plan.config.datasets["wine"], 0)}, tmp_path, 1, False)
    reason = plan.config.chosen["wine"].reason
    assert reason.startswith("relations bend: flavanoids with color_intensity")
    select = tmp_path / "select/wine/full/s"
    said = read_provenance(select / "blanket.parquet").extra["ci_test"]
    assert (said["type"], said["reason"]) == ("spline", reason)
    assert (tmp_path / "ci_test/wine/full/fold-0/spline.parquet").is_file()
    from blanketflow.reporting.report import render

    page = render(run)
    assert f"spline was chosen: {reason}" in page
