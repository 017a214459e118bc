"""The configs of every method hold every method, and the small one is a part of the other."""

import yaml
from workflow_runs import PROJECT

from blanketflow.core.registry import discover

EVERY, SMALL = (yaml.safe_load((PROJECT / f"config/{name}.yaml").read_text("utf-8")) for name in ("all", "all-small"))


def test_every_method_is_there_once():
    asked = [selector["method"] for selector in EVERY["selectors"].values()]
    # The true blanket is known of simulated data alone.
    assert sorted(asked) == sorted(set(discover("blanketflow.selectors")) - {"true-blanket"})


def test_the_small_one_differs_in_its_data_sets_alone():
    assert EVERY["datasets"].items() >= SMALL["datasets"].items()
    assert {**EVERY, "datasets": {}, "output": ""} == {**SMALL, "datasets": {}, "output": ""}
