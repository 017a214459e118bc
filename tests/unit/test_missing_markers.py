"""Texts that stand for missing cells: when one may be a class, and who says which were met."""

import json

import pytest

from blanketflow.api.compare import compare_config
from blanketflow.cli import main
from blanketflow.config.reading import read_config
from blanketflow.core.errors import DataError
from blanketflow.data.card import make_card
from blanketflow.data.missing_markers import MissingMarkers, check_classes, texts_found
from blanketflow.data.sources import read_source
from blanketflow.workflow.peek import peek
from blanketflow.workflow.plan import make_plan

SAID = (
    "texts were read as missing cells: 'NA' 3 times in a, b. "
    'If one of them is a value, set missing_values to the others, [] if there are none; ["NA"] is as now.'
)
#: The column a counts the rows.
FOUND = "look at the table first: suspected identifiers (a): set drop: [a]. blanketflow inspect says why"
FOUND_BY_SELECT = FOUND.replace("set drop: [a]", "--data-set 'drop=[a]'")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "study.csv"
    rows = [f"{'NA' if i < 2 else i},{'NA' if i == 5 else i % 3},{'xy'[i % 2]},NA" for i in range(20)]
    path.write_text("\n".join(["a,b,outcome,unused", *rows]) + "\n", encoding="utf-8")
    return path


def spec(table, **more):
    return {"path": str(table), "target": "outcome", "drop": ["unused"], **more}


@pytest.mark.parametrize(
    ("n", "sizes", "is_refused"),
    [
        (2, [2, 2], False),  # too few to tell anything
        (3, [2, 2], True),
        (50, [475, 475], False),  # fewer than half of the smallest class
        (250, [500, 500], True),
        (49, [10, 941], False),  # less than 5 % of the rows
        (50, [10, 940], True),
        (60, [60], True),  # one class is left
    ],
)
def test_a_text_in_the_target_may_be_a_class_if_it_is_as_frequent_as_one(n, sizes, is_refused):
    found = {"y": {"None": n}}
    if not is_refused:
        check_classes("study", "y", sizes, found)
        return
    with pytest.raises(DataError, match="missing_values"):
        check_classes("study", "y", sizes, found)


def test_many_columns_are_counted_and_few_named():
    found = {f"g{j}": {"NA": 10 - j} for j in range(8)}
    assert (
        texts_found(found) == "texts were read as missing cells: 'NA' 52 times in g0, g1, g2, g3, g4 and 3 more columns"
    )


def test_what_is_asked_for_is_not_noted():
    markers = MissingMarkers(["NA"])
    markers.note("a", {"NA": 3})
    assert markers.found == {}


def test_the_plan_and_the_card_say_what_was_read_as_missing(table):
    assert peek("study", spec(table)).markers == SAID
    assert make_card("study", read_source("study", spec(table), 0), spec(table))["missing"]["markers"] == SAID
    config = {"datasets": {"study": spec(table)}, "selectors": {"gs": {"method": "gs", "ci_test": "g2"}}, "folds": 0}
    markers, named = make_plan(config | {"splits": {"evaluation": 0}}, str).notes()
    assert markers == f"study: {SAID}" and named.startswith("study: g2: it rejects")


@pytest.mark.parametrize("asked", [["NA"], []])
def test_nothing_is_said_where_the_key_is_set(table, asked):
    own = spec(table, missing_values=asked)
    assert peek("study", own).markers is None
    assert make_card("study", read_source("study", own, 0), own)["missing"]["markers"] is None


def test_the_key_changes_the_spec_of_the_table(table):
    def table_spec(**more):
        config = {
            "datasets": {"study": spec(table, **more)},
            "selectors": {"gs": {"method": "gs", "ci_test": "g2"}},
            "folds": 0,
        }
        return make_plan(config | {"splits": {"evaluation": 0}}, str).table_spec("study")

    assert len({table_spec(), table_spec(missing_values=[]), table_spec(missing_values=["NA"])}) == 3


def test_select_says_it_on_stderr_and_in_json(table, capsys):
    arguments = ["select", str(table), "--target", "outcome", "--method", "mrmr", "--data-set", "drop=[unused]"]
    main([*arguments, "--json"])
    said = capsys.readouterr()
    assert SAID in said.err
    assert json.loads(said.out)["notes"] == [SAID, FOUND_BY_SELECT]
    main([*arguments, "missing_values=[NA]"])
    found, following = capsys.readouterr().err.splitlines()
    assert found == FOUND_BY_SELECT and following.startswith("Next, ")


def test_a_comparison_says_it(table):
    found = compare_config(
        {
            "datasets": {"study": spec(table)},
            "selectors": {"mrmr": {"method": "mrmr"}},
            "splits": {"evaluation": 0},
            "folds": 0,
            "models": [],
        }
    )
    assert found.notes() == [f"study: {SAID}", f"study: {FOUND}"]


def test_a_starting_config_keeps_an_empty_list_and_says_what_was_read_as_missing(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["init", "study.csv", "--target", "outcome", "--data-set", "drop=[unused]"]
    main([*arguments, "missing_values=[]", "-o", "none.yaml"])
    assert "    missing_values: []\n" in (tmp_path / "none.yaml").read_text()
    main([*arguments, "-o", "usual.yaml"])
    assert "    # texts were read as missing cells: 'NA' " in (tmp_path / "usual.yaml").read_text()


def test_the_default_is_the_usual_list():
    config = read_config({"datasets": {"wine": {"source": "sklearn:wine"}}, "selectors": {"gs": {"method": "gs"}}})
    assert config.datasets["wine"]["missing_values"] is None
