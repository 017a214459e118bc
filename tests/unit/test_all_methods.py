"""The config of every method holds every method."""

import yaml

from blanketflow.core.registry import discover
from workflow_runs import PROJECT


def test_every_method_is_there_once():
    every = yaml.safe_load((PROJECT / "studies/all_methods/all.yaml").read_text("utf-8"))
    asked = [selector["method"] for selector in every["selectors"].values()]
    # The true blanket is known of simulated data alone.
    missing = set(discover("blanketflow.selectors")) - {*asked, "true-blanket"}
    assert not missing, f"studies/all_methods/all.yaml wants a line for each of {missing}"
    assert len(asked) == len(set(asked)) and set(asked) <= set(discover("blanketflow.selectors"))
