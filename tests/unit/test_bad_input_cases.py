"""Bad input, by table: every case of tests/bad_input.yaml ends as it says there."""

import copy
import functools
import sys
from pathlib import Path

import pytest
import yaml

import bad_files
from blanketflow.api.inspection import inspect_table
from blanketflow.config.file import read_config_file
from blanketflow.core.errors import BlanketflowError
from blanketflow.data.sources import read_source
from blanketflow.workflow.output_folder import check_folder
from blanketflow.workflow.plan import make_plan

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C it takes a tenth of the time, of every start of pytest
TABLE = yaml.load((Path(__file__).parents[1] / "bad_input.yaml").read_text(encoding="utf-8"), LOADER)
CASES = [case for section in TABLE["sections"] for case in section["cases"]]
CONFIG = "my.yaml"
OUTCOMES = ("refused", "fails", "warns", "reads", "means")


def configured(case):
    """The good configuration with what is wrong in it."""
    config = copy.deepcopy(TABLE["good"]["config"])
    for keys, value in case.get("config", {}).items():
        place = config
        *path, last = keys.split(" > ")
        for key in path:
            place = place.setdefault(key, {})
        if value == "none":
            del place[last]
        else:
            place[last] = value
    return config


def write_files(case, folder):
    own = {CONFIG: case["yaml"]} if "yaml" in case else {}
    for name, content in (TABLE["good"]["files"] | case.get("files", {}) | own).items():
        path = folder / name
        if isinstance(content, str):
            path.write_bytes(content.encode("utf-8"))
        elif "hex" in content:
            path.write_bytes(bytes.fromhex(content["hex"]))
        elif "text" in content:
            path.write_bytes(content["text"].encode(content["encoding"]))
        else:
            getattr(bad_files, content["made"])(path)


def planned(case):
    """The configuration, and its plan: all that is checked before any job."""
    config = read_config_file(CONFIG) if "yaml" in case else configured(case)
    check_folder(make_plan(config, "scripts/{}".format).config.output)
    return config


def read_study(config):
    return read_source("study", config["datasets"]["study"], seed=0)


@pytest.fixture
def folder(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # for plug-ins
    write_files(case, tmp_path)
    yield
    for name in case.get("files", {}):
        sys.modules.pop(Path(name).stem, None)


def of(outcome):
    cases = [case for case in CASES if outcome in case]
    marks = [pytest.mark.extended if case.get("extended") else () for case in cases]
    listed = [pytest.param(case, marks=own, id=case["case"]) for case, own in zip(cases, marks, strict=True)]
    return pytest.mark.parametrize("case", listed)


def test_every_case_has_a_name_of_its_own_and_one_outcome():
    names = [case["case"] for case in CASES]
    assert len(names) == len(set(names))
    assert [case["case"] for case in CASES if len(set(OUTCOMES) & set(case)) != 1] == []


def assert_says(caught, message):
    assert str(caught.value) == message
    assert message.isprintable()  # one line, and nothing that a terminal would obey


@of("refused")
def test_refused_before_any_job(case, folder):
    with pytest.raises(BlanketflowError) as caught:
        planned(case)
    assert_says(caught, case["refused"])


@of("fails")
def test_refused_when_the_table_is_read(case, folder):
    config = planned(case)
    with pytest.raises(BlanketflowError) as caught:
        read_study(config)
    assert_says(caught, case["fails"])


@of("warns")
def test_found_by_inspect(case, folder):
    config = planned(case)
    found = inspect_table(config["datasets"]["study"]).findings
    assert case["warns"] in [f"{finding.message}. {finding.advice}" for finding in found]


@of("reads")
def test_read_rightly(case, folder):
    config = planned(case)
    raw = read_study(config)
    for name, values in case["reads"].items():
        column = raw.target if name == raw.target.name else raw.features[name]
        labels = (*column.levels, None)  # code -1, a missing cell, finds the last entry
        numbers = [None if value != value else value for value in column.numbers().tolist()]
        read = [labels[code] for code in column.values] if column.levels else numbers
        assert read == values


@of("means")
def test_means_what_it_says(case, folder):
    config = planned(case)
    for keys, value in case["means"].items():
        assert functools.reduce(lambda place, key: place[key], keys.split(" > "), config) == value
