"""No public name, key or command disappears without one release that warns: GOVERNANCE.md."""

from pathlib import Path

import pytest

from generate.public_names import CHANGELOG as FILE
from generate.public_names import complaints, present, record

REPO = Path(__file__).parents[2]
CHANGELOG = "# Changelog\n\n## 0.4.0, not released yet\n\n## 0.3.0\n\nDeprecated: the key\n`folds`.\n\n## 0.2.0\n"
SEEING = "tests/unit/test_folds.py"
SEEN = {SEEING: 'with pytest.warns(FutureWarning, match="folds"):'}
WAS = {"names": {"config": ["folds", "seed"]}}


def test_no_public_name_of_a_release_is_gone():
    tests = {str(path.relative_to(REPO)): path.read_text("utf-8") for path in (REPO / "tests").rglob("test_*.py")}
    assert complaints(record(), present(), FILE.read_text("utf-8"), tests) == []


@pytest.mark.parametrize(
    ("more", "there", "expected"),
    [
        ({}, {"config": ["folds", "seed"]}, ""),
        ({}, {"config": ["seed"]}, "config folds is gone: deprecate it first"),
        ({}, {}, "config is gone"),
        ({}, {"config": ["folds", "new", "seed"]}, ""),
        ({"removed": {"config folds": {"since": "0.3.0"}}}, {"config": ["seed"]}, ""),
        ({"removed": {"config folds": {"since": "0.3.0"}}}, {"config": ["folds", "seed"]}, "but still there"),
        ({"removed": {"config folds": {"since": "0.2.0"}}}, {"config": ["seed"]}, "not announced as deprecated"),
        ({"removed": {"config folds": {"since": "0.4.0"}}}, {"config": ["seed"]}, "not announced as deprecated"),
        ({"deprecated": {"config folds": {"since": "0.3.0", "test": SEEING}}}, {"config": ["folds", "seed"]}, ""),
        (
            {"deprecated": {"config folds": {"since": "0.3.0", "test": "tests/unit/test_none.py"}}},
            {"config": ["folds", "seed"]},
            "test_none.py does not see its FutureWarning",
        ),
    ],
)
def test_a_name_goes_only_after_a_release_that_warned(more, there, expected):
    found = complaints(WAS | more, there, CHANGELOG, SEEN)
    assert expected in "; ".join(found) if expected else found == []


def test_before_the_first_release_names_may_go():
    assert complaints(WAS, {"config": ["seed"]}, "## 0.2.0, not released yet\n", {}) == []


def test_the_release_that_warns_must_be_out_before_the_name_goes():
    text = CHANGELOG.replace("yet\n", "yet\n\n- Deprecated: `folds`.\n")
    (found,) = complaints(WAS | {"removed": {"config folds": {"since": "0.4.0"}}}, {"config": ["seed"]}, text, SEEN)
    assert found == "config folds is removed, but 0.4.0, which warns of it, is not released"
