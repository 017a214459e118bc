"""The configs of every method hold every method, and the small ones are parts of the other."""

import pytest
import yaml

from blanketflow.core.registry import discover
from workflow_runs import PROJECT

NAMES = ("all", "all-small", "all-regression")
EVERY, *PARTS = (yaml.safe_load((PROJECT / f"config/{name}.yaml").read_text("utf-8")) for name in NAMES)


def test_every_method_is_there_once():
    asked = [selector["method"] for selector in EVERY["selectors"].values()]
    # The true blanket is known of simulated data alone.
    missing = set(discover("blanketflow.selectors")) - {*asked, "true-blanket"}
    assert not missing, f"config/all.yaml, all-small.yaml and all-regression.yaml want a line for each of {missing}"
    assert len(asked) == len(set(asked)) and set(asked) <= set(discover("blanketflow.selectors"))


@pytest.mark.parametrize("part", PARTS, ids=NAMES[1:])
def test_a_part_differs_in_its_data_sets_alone(part):
    assert EVERY["datasets"].items() >= part["datasets"].items()
    assert {**part, "datasets": {}, "output": ""} == {**EVERY, "datasets": {}, "output": ""}


def test_the_one_of_numbers_has_all_that_have_a_number_as_target():
    of_numbers = {name for name, spec in EVERY["datasets"].items() if spec.get("task") == "regression"}
    assert set(PARTS[1]["datasets"]) == of_numbers
