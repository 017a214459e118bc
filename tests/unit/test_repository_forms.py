"""Forms of issues use labels that exist, and have what GitHub requires of a form."""

from pathlib import Path

import pytest
import yaml

GITHUB = Path(__file__).parents[2] / ".github"
LABELS = yaml.safe_load((GITHUB / "labels.yml").read_text("utf-8"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_is_whole(path):
    form = yaml.safe_load(path.read_text("utf-8"))
    assert {"name", "description", "labels", "body"} == set(form)
    assert set(form["labels"]) <= {label["name"] for label in LABELS}
    ids = [element["id"] for element in form["body"] if element["type"] != "markdown"]
    assert ids and len(ids) == len(set(ids))
    for element in form["body"]:
        assert element["attributes"]["value" if element["type"] == "markdown" else "label"]


def test_labels_are_those_that_github_takes():
    assert [*LABELS[0]] == ["name", "color", "description"]
    for label in LABELS:
        assert len(label["color"]) == 6 and int(label["color"], 16) >= 0
        assert len(label["description"]) <= 100  # GitHub's limit
