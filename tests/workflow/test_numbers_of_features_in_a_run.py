"""`n_features` as a number, a list and auto in one real run, and the wrappers, beside what the library finds."""

import json

import pytest

from blanketflow.config.reading import read_config
from blanketflow.data.sources import read_source
from blanketflow.search.run_fold import fold_seed, run_fold
from workflow_runs import (
    WITHOUT_TABLES,
    answers,
    chosen,
    columns,
    configure,
    findings,
    kept,
    provenance,
    snakemake,
    winner,
)

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

LIST = {"method": "mrmr", "n_features": [4, 2]}
AUTO = {"method": "mrmr", "n_features": "auto", "model": {"type": "knn", "n_neighbors": 3}}
SELECTORS = {
    "two": {"method": "mrmr", "n_features": 2},
    "list": LIST,
    "auto": AUTO,
    "list-of-all-rows": {**LIST, "folds": 0},
    "auto-of-all-rows": {**AUTO, "folds": 0},
    "list-union": {**LIST, "aggregate": "union"},
    "list-by-fold": {**LIST, "grain": "fold"},
    "auto-by-fold": {**AUTO, "grain": "fold"},
    "auto-stopped": {**AUTO, "max_tests": 60},
    "stepwise": {"method": "stepwise", "model": "sklearn.naive_bayes:GaussianNB", "folds": 0},
    "stepwise-stopped": {"method": "stepwise", "time_limit": 1e-9},
    "pimp": {"method": "permutation-importance", "model": "tree", "n_permutations": 19, "folds": 0},
}
FOLDS = ("fold-1of2", "fold-2of2")


@pytest.fixture(scope="module")
def select(tmp_path_factory):
    """The selectors' folders after a run; no evaluation."""
    config = {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "splits": {"evaluation": 0},
        "folds": 2,
        "selectors": {name: {"grain": "split", **options} for name, options in SELECTORS.items()},
    }
    folder = configure(tmp_path_factory.mktemp("numbers"), config)
    snakemake(folder, "--cores", "2", *WITHOUT_TABLES)
    return folder / "results/select/wine/full"


@pytest.mark.parametrize("selector", ["list", "list-of-all-rows", "list-by-fold"])
def test_blankets_hold_one_answer_for_each_number(select, selector):
    (four, _), (two, _) = found = answers(select, selector)
    assert {count for _, count in found} == {1}
    assert (len(four), len(two)) == (4, 2) and two == four[:2]
    blanket = columns(select / selector / "blanket.parquet")
    assert sorted(f for f, taken in zip(blanket["feature"], blanket["chosen"], strict=True) if taken) == sorted(four)
    assert four == kept(winner(select, selector))
    said = provenance(winner(select, selector) / "shrink.parquet")["extra"]["answers"]
    assert said == [[1, four], [1, two]]


def test_the_answer_of_a_number_is_that_of_a_run_with_it(select):
    for fold in FOLDS:
        said = provenance(select / "list" / fold / "shrink.parquet")["extra"]["answers"]
        assert said[1][1] == kept(select / "two" / fold)
    assert answers(select, "two") == [(chosen(select.parents[2], "wine", "full", "two"), 1)]


def test_folds_that_are_combined_leave_one_answer(select):
    union = {feature for fold in FOLDS for feature in kept(select / "list-union" / fold)}
    ((answer, _),) = answers(select, "list-union")
    assert set(answer) == union and len(answer) >= 4


@pytest.mark.parametrize("selector", ["auto", "auto-of-all-rows"])
def test_auto_keeps_the_head_of_the_ranking(select, selector):
    ((answer, _),) = answers(select, selector)
    fold = winner(select, selector)
    grown, decided = columns(fold / "grow.parquet"), columns(fold / "shrink.parquet")
    assert len(grown["feature"]) == 13 and decided["feature"] == grown["feature"]
    assert answer == grown["feature"][: len(answer)]
    assert decided["kept"] == [True] * len(answer) + [False] * (13 - len(answer))
    assert "answers" not in provenance(fold / "shrink.parquet")["extra"]
    assert sorted(answer) == sorted(chosen(select.parents[2], "wine", "full", selector))


def test_inner_rankings_count_as_tests(select):
    grow, shrink = (provenance(select / f"auto-of-all-rows/fold-0/{stage}.parquet") for stage in ("grow", "shrink"))
    # mrmr asks d + (d - 1) + ... mutual informations, here of 13 features; the marginal ones are the ci_test stage's.
    assert shrink["n_tests"] == 5 * (13 + grow["n_tests"])
    assert provenance(select / "list/fold-1of2/shrink.parquet")["n_tests"] == 0


@pytest.mark.parametrize("selector", ["list-of-all-rows", "auto-of-all-rows", "stepwise", "pimp"])
def test_the_library_finds_the_same_on_all_rows(select, selector):
    config = read_config(
        {"datasets": {"wine": {"source": "sklearn:wine"}}, "selectors": {selector: SELECTORS[selector]}}
    )
    source, asked = read_source("wine", config.datasets["wine"], 0), config.selectors[selector]
    test = config.ci_tests[asked.ci_test] if asked.ci_test else None
    found = run_fold(asked.method, test, source.features, source.target, fold_seed(2026, "wine", "full", "0"))
    fold = select / selector / "fold-0"
    grown, decided = columns(fold / "grow.parquet"), columns(fold / "shrink.parquet")
    assert grown["feature"] == [step.feature for step in found.candidates]
    for field in ("feature", "kept", "statistic", "p_value", "importance"):
        assert decided[field] == [getattr(step, field) for step in found.decisions]
    expected = [list(answer.features) for answer in found.answers] or [kept(fold)]
    assert [features for features, _ in answers(select, selector)] == expected and expected[0]


def test_limits_strike_in_the_inner_cross_validation(select):
    for fold in FOLDS:
        # Growing asks for 78 mutual informations, more than 60.
        assert provenance(select / "auto-stopped" / fold / "grow.parquet")["status"] == "timeout"
    stopped = provenance(select / "stepwise-stopped/fold-1of2/shrink.parquet")
    assert stopped["status"] == "timeout" and stopped["extra"]["anytime"] is True
    assert stopped["reason"].startswith("grow stopped: the time limit of 0.000000001 s (time_limit)")
    assert columns(select / "stepwise-stopped/blanket.parquet")["feature"] == []


@pytest.mark.parametrize("selector", ["list", "auto"])
def test_a_job_a_fold_and_a_job_a_split_give_the_same_content(select, selector):
    names = sorted(path.relative_to(select / selector) for path in (select / selector).rglob("*.parquet"))
    assert len(names) == 7
    for name in names:
        assert findings(select / selector / name) == findings(select / f"{selector}-by-fold" / name), name


def test_the_spec_holds_the_list(select):
    spec = json.loads(provenance(select / "list/fold-1of2/shrink.parquet")["spec"])
    assert spec["options"] == {"model": "knn", "n_features": [4, 2], "information": "adjusted"}
