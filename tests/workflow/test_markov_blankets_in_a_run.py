"""Markov-blanket methods in one real run: several answers, groups, limits, both job grains, and a test of their own."""

import json

import pyarrow.parquet as pq
import pytest

from workflow_runs import answers, chosen, columns, configure, findings, kept, provenance, snakemake, winner

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

TIE = {"method": "tie-star", "ci_test": "g2", "alpha": 0.01}
KIAMB = {"method": "kiamb", "ci_test": "g2", "k": 0.3, "n_runs": 5}
RES = {"method": "res", "ci_test": "g2", "alpha": 0.001}
HITON = {"method": "hiton-mb", "ci_test": "g2", "max_k": 2}
STOPPED = {"method": "gs", "ci_test": "g2", "max_tests": 1}
SELECTORS = {
    "tie": TIE,
    "kiamb": KIAMB,
    "hiton": HITON,
    "res": RES,
    "srs": {"method": "srs", "ci_test": "g2", "alpha": 0.001, "lambda1": 0.05, "lambda2": 0.05},
    "sgai": {"method": "sgai", "ci_test": "g2", "alpha": 0.001},
    "stopped": STOPPED,
    "stopped-without-answer": {**HITON, "max_tests": 1},
    "mixed": {"method": "mixed-mb"},
    "plain": {"method": "iamb", "ci_test": "lr-mixed"},
}
#: Selectors that run once more with a job a fold and stage, instead of one for both folds and stages.
BY_FOLD = ("tie", "hiton", "sgai", "stopped")
FOLDS = ("fold-1of2", "fold-2of2")


@pytest.fixture(scope="module")
def select(tmp_path_factory):
    """The selectors' folders after a run on one core; no evaluation."""
    config = {
        "datasets": {"clinic": {"source": "simulate:clinic", "rows": 600}},
        "splits": {"evaluation": 0},
        "folds": 2,
        "selectors": {
            **{name: {**options, "grain": "split"} for name, options in SELECTORS.items()},
            **{f"{name}-by-fold": {**SELECTORS[name], "grain": "fold"} for name in BY_FOLD},
        },
    }
    folder = configure(tmp_path_factory.mktemp("blankets"), config)
    snakemake(folder, "--cores", "1")
    return folder / "results/select/clinic/full"


@pytest.mark.parametrize("selector", SELECTORS)
def test_blankets_have_number_feature_rank_and_count(select, selector):
    schema = pq.read_schema(select / selector / "blankets.parquet")
    assert [(field.name, str(field.type)) for field in schema] == [
        ("blanket", "int64"), ("feature", "string"), ("rank", "int64"), ("count", "int64"),
    ]  # fmt: skip


@pytest.mark.parametrize("selector", ["tie", "kiamb"])
def test_all_answers_of_the_winning_fold_are_there(select, selector):
    found = answers(select, selector)
    said = provenance(winner(select, selector) / "shrink.parquet")["extra"]["answers"]
    assert [(features, count) for count, features in said] == found
    assert found[0][0] == kept(winner(select, selector))
    assert set(found[0][0]) == set(chosen(select.parents[2], "clinic", "full", selector))
    if selector == "kiamb":
        assert sum(count for _, count in found) == 5 and len(found) > 1
    else:
        assert {count for _, count in found} == {1}


@pytest.mark.parametrize("selector", ["hiton", "res", "mixed", "plain", "stopped"])
def test_a_method_with_one_answer_gives_that(select, selector):
    ((features, count),) = answers(select, selector)
    blanket = columns(select / selector / "blanket.parquet")
    assert features == [f for f, taken in zip(blanket["feature"], blanket["chosen"], strict=True) if taken]
    assert count == 1
    assert "answers" not in provenance(winner(select, selector) / "shrink.parquet")["extra"]


@pytest.mark.parametrize("selector", SELECTORS)
def test_groups_are_a_column_where_a_method_forms_them(select, selector):
    files = [f"{fold}/{stage}" for fold in FOLDS for stage in ("grow", "shrink")] + ["blanket"]
    for name in files:
        path = select / selector / f"{name}.parquet"
        assert ("group" in pq.read_schema(path).names) == (selector in ("res", "srs", "sgai")), path


@pytest.mark.parametrize("selector", ["res", "srs", "sgai"])
def test_a_group_is_named_after_a_member_of_it(select, selector):
    for fold in FOLDS:
        grown, decided = (columns(select / selector / f"{fold}/{stage}.parquet") for stage in ("grow", "shrink"))
        group_of = dict(zip(grown["feature"], grown["group"], strict=True))
        assert all(group_of[group] == group for group in group_of.values())
        assert 1 < len(set(group_of.values())) < len(group_of)
        assert dict(zip(decided["feature"], decided["group"], strict=True)) == group_of
    group_of = dict(
        zip(*(columns(winner(select, selector) / "grow.parquet")[c] for c in ("feature", "group")), strict=True)
    )
    blanket = columns(select / selector / "blanket.parquet")
    rows = zip(*(blanket[c] for c in ("feature", "group", "chosen")), strict=True)
    assert all(group == group_of[feature] for feature, group, taken in rows if taken)


def test_a_search_that_a_limit_stopped_leaves_what_stood(select):
    folder = select / "stopped"
    for name in [
        "blanket",
        "folds",
        "blankets",
        *(f"{fold}/{stage}" for fold in FOLDS for stage in ("grow", "shrink")),
    ]:
        said = provenance(folder / f"{name}.parquet")
        assert said["status"] == "timeout" and said["extra"]["anytime"] is True
        assert said["reason"].startswith("grow stopped: the test budget of 1 (max_tests) is spent: 1 done")
    for fold in FOLDS:
        assert provenance(folder / fold / "grow.parquet")["n_tests"] <= 1
        assert provenance(folder / fold / "shrink.parquet")["n_tests"] <= 1
        assert set(kept(folder / fold)) <= set(columns(folder / fold / "grow.parquet")["feature"])
    assert chosen(select.parents[2], "clinic", "full", "stopped") == kept(winner(select, "stopped")) != []


def test_a_search_without_an_answer_leaves_no_rows_and_the_run_completes(select):
    folder = select / "stopped-without-answer"
    for name in [
        "blanket",
        "folds",
        "blankets",
        *(f"{fold}/{stage}" for fold in FOLDS for stage in ("grow", "shrink")),
    ]:
        said = provenance(folder / f"{name}.parquet")
        assert said["status"] == "timeout" and not said["extra"].get("anytime")
        assert said["reason"].startswith("the test budget of 1 (max_tests) is spent")
        assert not next(iter(columns(folder / f"{name}.parquet").values()))


def test_tables_and_report_list_what_was_stopped(select):
    results = select.parents[2]
    listed = set(columns(results / "tables/blankets.parquet")["selector"])
    assert "stopped" in listed and "stopped-without-answer" not in listed
    report = (results / "report.html").read_text(encoding="utf-8")
    assert "grow stopped: the test budget of 1 (max_tests) is spent" in report
    assert report.count("timeout") >= 3  # one row a selector that was stopped


@pytest.mark.parametrize("selector", BY_FOLD)
def test_a_job_a_fold_and_a_job_a_split_give_the_same_content(select, selector):
    names = sorted(path.relative_to(select / selector) for path in (select / selector).rglob("*.parquet"))
    assert len(names) == 7
    for name in names:
        assert findings(select / selector / name) == findings(select / f"{selector}-by-fold" / name), name


def test_a_method_brings_its_own_test_and_others_use_the_plain_one(select):
    tests = {}
    for selector in ("mixed", "plain"):
        spec = json.loads(provenance(select / selector / "fold-1of2/grow.parquet")["spec"])["ci_test"]
        tests[selector] = spec["type"], spec["options"]["directions"]
    assert tests == {"mixed": ("lr-mixed", "target"), "plain": ("lr-mixed", "both")}
    folder = select.parents[2] / "ci_test/clinic/full/fold-1of2"
    assert sorted(path.stem for path in folder.iterdir()) == ["g2", "lr-mixed", "lr-mixed-target"]
    both, target = (columns(folder / f"{name}.parquet") for name in ("lr-mixed", "lr-mixed-target"))
    assert both["feature"] == target["feature"] and both["p_value"] != target["p_value"]
    assert {"infection", "xray", "fever"} <= set(chosen(select.parents[2], "clinic", "full", "mixed"))
