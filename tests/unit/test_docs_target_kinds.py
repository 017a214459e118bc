"""The page on kinds of targets: its tables are those of the declarations, and its configs and claims hold."""

import re
from pathlib import Path

import yaml

from blanketflow.config.reading import read_config
from blanketflow.core.cards import FURTHER_KINDS, TARGET_KINDS, TASKS
from blanketflow.core.metrics import METRICS
from blanketflow.core.registry import discover
from blanketflow.targets.forms import with_own_column
from generate.target_kinds import forms, page_text, parts

PAGE = (Path(__file__).parents[2] / "docs" / "target-kinds.md").read_text(encoding="utf-8")
SEARCH = {"selectors": {"hiton-mb": {"method": "hiton-mb"}}}


def row(text, kind):
    (found,) = re.findall(rf"^\| `{kind}` \|.*$", text, re.MULTILINE)
    return found


def test_the_tables_are_in_step():
    assert page_text(PAGE) == PAGE, "run make docs"


def test_each_kind_has_what_its_cards_and_metrics_declare():
    assert [kind for kind in TARGET_KINDS if discover("blanketflow.targets").get(kind)] == list(FURTHER_KINDS)
    for kind in TARGET_KINDS:
        row(forms(), kind)
        said = row(parts(), kind)
        for folder, package in (("tests", "ci"), ("models", "models")):
            does = {name for name, found in discover(f"blanketflow.{package}").items() if kind in found.card.tasks}
            if folder == "models" or kind not in TASKS:
                assert set(re.findall(rf"\({folder}/([\w-]+)\.md\)", said)) == does
        assert all((f"`{metric.id}`" in said) == (kind in metric.tasks) for metric in METRICS.values())


def test_every_way_to_name_a_kind_in_the_table_is_one():
    for kind in FURTHER_KINDS:
        written = row(forms(), kind).split(" | ")[2]
        for one in written.split("; or "):
            keys = [key for key in re.findall(r"`([^`]+)`", one) if ":" in key]
            spec = {"path": "t.csv"} | yaml.safe_load("\n".join(keys))
            assert with_own_column("study", spec)["target_kind"] == kind


def test_the_configs_are_valid():
    blocks = [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)]
    assert len(blocks) == 2
    for block in blocks:
        read_config(block if "datasets" in block else SEARCH | {"datasets": {"survey": {"path": "t.csv"} | block}})
