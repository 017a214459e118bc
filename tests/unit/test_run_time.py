"""What a run says that it will cost, before it starts."""

import re
from pathlib import Path

import pytest
import yaml

from blanketflow.workflow.plan import cost_of, make_plan, pair_seconds, run_seconds

PROJECT = Path(__file__).parents[2]


def plan_of(**changes):
    config = yaml.safe_load((PROJECT / "config/minimal.yaml").read_text("utf-8"))
    return make_plan({**config, **changes}, Path)


def test_a_run_costs_at_least_what_its_searches_do_and_more_splits_cost_more():
    plan = plan_of(splits={"evaluation": 2})
    assert run_seconds(plan) > sum(pair_seconds(plan, *pair) for pair in plan.pairs) > 0
    assert run_seconds(plan_of(splits={"evaluation": 4})) > run_seconds(plan)


def test_it_is_said_in_one_line_for_the_cores_at_hand():
    plan = plan_of(splits={"evaluation": 2})
    said = re.fullmatch(
        r"(\d+) searches of 3 splits each: about (\d+) s of CPU time from nothing, (\d+) s on 2 cores", cost_of(plan, 2)
    )
    assert int(said[1]) == len(plan.pairs) and cost_of(plan, 1) == said[0].rpartition(",")[0]
    assert float(said[3]) == pytest.approx(float(said[2]) / 2, abs=10)  # in tens of seconds
