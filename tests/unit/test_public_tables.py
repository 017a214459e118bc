"""The study of public tables: its labels, how findings are judged by them, and that its page has its results."""

import pandas as pd
import pytest
import yaml

from blanketflow.core.table import Column
from studies.public_tables import __main__ as study
from studies.shared.page import renewed

LABELS = yaml.safe_load(study.LABELS.read_text("utf-8"))


def test_each_table_has_a_package_a_target_and_known_kinds():
    assert len(LABELS["files"]) == 60
    for file in LABELS["files"]:
        assert file["package"] in LABELS["packages"]
        assert file["target"]
        for kinds in [*file.get("right", {}).values(), *file.get("may", {}).values()]:
            assert set(kinds.split(" or ")) <= set(study.GUESSES), file["path"]


def test_findings_are_judged_by_labels():
    file = {"right": {"id": "identifier or group", "days": "follow-up"}, "may": {"/x\\d/": "leakage"}}
    found = {("id", "group"), ("x1", "leakage"), ("x2", "date")}
    assert list(study.judged(file, ["id", "days", "x1", "x2"], found)) == [
        ("id", "group or identifier", "found"),
        ("days", "follow-up", "missed"),
        ("x1", "leakage", "may"),
        ("x2", "date", "false"),
    ]


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({"x": [1.0, None, 3.0], "y": ["a", "b", "a"]}, []),
        ({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]}, ["x: 1 cells missing in one only"]),
        ({"x": [1.0, None, 4.0], "y": ["a", "a", "a"]}, ["x: 1 cells differ", "y: 1 cells differ"]),
        ({"z": [1.0, None, 3.0], "y": [1, 2, 1]}, ["other names: x", "y: labels here, numbers there"]),
        ({"x": [1.0]}, ["2 columns here, 1 there"]),
    ],
)
def test_differences_from_pandas_are_named(cells, told):
    x = Column("x", "numeric", pd.Series([1.0, None, 3.0]).to_numpy())
    y = Column("y", "categorical", pd.Series([0, 1, 0]).to_numpy(), ("a", "b"))
    assert study.differences([x, y], pd.DataFrame(cells)) == told


def test_without_packages_the_command_says_what_to_get(tmp_path):
    with pytest.raises(SystemExit, match=r"pip download --no-deps --dest .* lifelines==0\.30\.3"):
        study.check_packages(tmp_path, LABELS["packages"])
    (tmp_path / LABELS["packages"]["lifelines"]["file"]).write_text("another file")
    with pytest.raises(SystemExit, match=r"lifelines.* is not the file that was read"):
        study.check_packages(tmp_path, LABELS["packages"])


def test_the_page_has_the_results():
    page = study.PAGE.read_text("utf-8")
    assert renewed(page, study.blocks(LABELS), "page") == page
