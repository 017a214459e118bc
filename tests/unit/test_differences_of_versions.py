"""What `make test-versions` counts as a difference between two fingerprints."""

import copy
import runpy
from pathlib import Path

FOUND = runpy.run_path(str(Path(__file__).resolve().parents[1] / "versions" / "differences.py"))
differences, beyond_rounding = FOUND["differences"], FOUND["beyond_rounding"]
WANTED = {
    "tests": {"g2: a, b given []": [3.25, -2.5]},
    "methods": {"iamb, regression": [[["a"], ["a", "b"]], [0.5]]},
    "methods with copies": {"srs, regression": [[["a"]], [0.5]]},
    "models": {"tree, regression, r2": 0.9, "svm, regression, r2": 0.9},
}


def changed(section, key, value):
    found = copy.deepcopy(WANTED)
    found[section][key] = value
    return list(differences(WANTED, found)), list(beyond_rounding(WANTED, found))


def test_equal_fingerprints_and_rounding_are_no_difference():
    assert changed("tests", "g2: a, b given []", [3.25, -2.5]) == ([], [])
    assert changed("tests", "g2: a, b given []", [3.25, -2.5 * (1 + 1e-9)]) == ([], [])


def test_numbers_choices_and_missing_entries_are_differences():
    for section, key, value in [
        ("tests", "g2: a, b given []", [3.25, -2.5001]),
        ("tests", "g2: a, b given []", [3.25]),
        ("methods", "iamb, regression", [[["a"], ["b", "a"]], [0.5]]),
        ("methods", "pcmb, regression", [[["a"]], [0.5]]),
        ("methods with copies", "srs, regression", [[["a again"]], [0.5]]),
        ("methods with copies", "srs, regression", [[["a"]], [0.50001]]),
        ("models", "svm, regression, r2", 0.9001),
        ("models", "svm, regression, r2", None),
        ("models", "tree, regression, r2", 0.8),
    ]:
        lines, _ = changed(section, key, value)
        assert len(lines) == 1
        assert lines[0].startswith(f"{section}: {key}: ")


def test_what_is_stated_of_the_trees_of_scikit_learn_is_shown_but_no_difference():
    lines, stated = changed("models", "tree, regression, r2", 0.901)
    assert lines == []
    assert stated == ["models: tree, regression, r2: 0.9  ->  0.901"]


def test_weights_of_srs_may_differ_by_what_it_stops_at():
    wanted = {**WANTED, "methods with copies": {"srs, regression": [[["a"]], [0.002]]}}
    found = {**WANTED, "methods with copies": {"srs, regression": [[["a"]], [0.00200003]]}}
    assert list(differences(wanted, found)) == []
    assert len(list(beyond_rounding(wanted, found))) == 1
