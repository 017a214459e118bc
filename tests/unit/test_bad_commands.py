"""Wrong commands: one line on stderr that says what to do, nothing on stdout, and the exit code."""

import os
import subprocess
import sys

import pytest

import bad_files
from blanketflow.cli import FAILED, WRONG_USAGE, main

STUDY = ["study.csv", "--target", "outcome"]
OUT_OF_RANGE = "config: selector 'selector': alpha is 2, but must be a number above 0 and below 1."
# What is typed, and the words that are said.
FAIL = {
    "no such file": (["select", "studi.csv", "--target", "outcome"], "Did you mean 'study.csv'?"),
    "no such column": (["inspect", "study.csv", "--target", "outcom"], "Did you mean 'outcome'?"),
    "no target": (["select", "study.csv"], "set target to the column to predict. The last column is 'outcome'"),
    "no such source": (["inspect", "sklearn:win"], "Did you mean 'wine'?"),
    "no such method": (["select", *STUDY, "--method", "ppsf"], "unknown method 'ppsf'. Did you mean 'ppfs'?"),
    "no such CI test": (
        ["select", *STUDY, "--method", "gs", "--ci-test", "fisher"],
        "unknown CI test 'fisher'. Did you mean 'fisher-z'?",
    ),
    "an option out of range": (["select", *STUDY, "--method", "gs", "--set", "alpha=2"], OUT_OF_RANGE),
    "an option out of range, in JSON": (
        ["select", *STUDY, "--json", "--method", "gs", "--set", "alpha=2"],
        OUT_OF_RANGE,
    ),
    "no setting": (["select", *STUDY, "--set", "alpha"], "'alpha' is not a setting: write key=value"),
    "a setting that is no YAML": (["select", *STUDY, "--set", "alpha=[1"], "'alpha=[1': the value is not YAML"),
    "a setting with a tag": (["select", *STUDY, "--set", "a=!!python/name:os.system"], "the value is not YAML"),
    "a list in a list": (
        ["select", *STUDY, "--data-set", "drop=[[a]]"],
        "drop is [['a']], but must be a list of names",
    ),
    "no such key": (
        ["inspect", *STUDY, "--data-set", "targt=a"],
        "unknown key 'targt'. Did you mean 'target' or 'target_path'?",
    ),
    "no test for a plug-in": (
        ["select", *STUDY, "--method", "collections:OrderedDict", "--test-set", "bins=3"],
        "has no fit or no get_support",
    ),
    "no such form": (
        ["select", *STUDY, "--export", "xml"],
        "--export is 'xml', but must be one of csv, json, pipeline",
    ),
    "a method twice": (
        ["compare", *STUDY, "--methods", "gs", "gs"],
        "--methods names a method twice. Remove one of them.",
    ),
    "a table twice": (["compare", "study.csv", *STUDY], "several tables have the same name (study). Rename a file."),
    "no cores": (["compare", *STUDY, "--cores", "0"], "--cores is 0, but must be 1 or more"),
    "no folder for the report": (
        ["compare", *STUDY, "--report", "no/r.html"],
        "must name a file in a folder that exists",
    ),
    "no test rows": (["compare", *STUDY, "--methods", "gs/g2", "--evaluation", "1"], "has no test_rows"),
    "no folder for the config": (["init", *STUDY, "-o", "no/my.yaml"], "there is no folder no to write my.yaml into"),
    "a config that exists": (["init", *STUDY, "-o", "study.csv"], "study.csv already exists"),
    "no run to export": (["export", "nowhere"], "nowhere holds no finished run"),
    "no such form of an export": (["export", "--to", "xml"], "--to is 'xml', but must be one of csv, json, pipeline"),
    "a form of runs": (
        ["select", *STUDY, "--export", "latex"],
        "That form needs a finished run: use init, run and export",
    ),
    "no folder for files": (["export", "--to", "figures"], "writes several files. Name a folder for them, such as -o"),
    "a file for files": (["export", "--to", "figures", "-o", "study.csv", "--force"], "but study.csv is a file"),
    "nothing of that name": (
        ["explain", "grow-shrink", "--json"],
        "there is no method, CI test or model 'grow-shrink'",
    ),
    "no such family": (["list", "--family", "causale"], "unknown family 'causale'. Did you mean 'causal'?"),
    "no such task": (
        ["list", "--task", "ranking"],
        "unknown task 'ranking'. Known: classification, count, ordered, positive, regression, share",
    ),
    "no such config": (["run", "--configfile", "mien.yaml"], "there is no config mien.yaml"),
}
WRONG = {
    "no such command": ["selct"],
    "no table": ["select"],
    "no id": ["explain"],
    "no such option": ["select", *STUDY, "--methdo", "gs"],
    "no value": ["select", *STUDY, "--method"],
    "a seed in words": ["select", *STUDY, "--seed", "ten"],
    "a negative seed": ["select", *STUDY, "--seed", "-1"],
    "a negative number of folds": ["compare", *STUDY, "--folds", "-1"],
    "a time limit of 0": ["compare", *STUDY, "--time-limit", "0"],
    "two names of one result": ["export", "results", "results"],
}


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    bad_files.study(tmp_path / "study.csv")

    def run(arguments):
        code = main(arguments)
        shown = capsys.readouterr()
        assert shown.out == "" and "Traceback" not in shown.err
        assert [path.name for path in tmp_path.iterdir()] == ["study.csv"]
        return code, shown.err

    return run


@pytest.mark.parametrize("wrong", FAIL)
def test_what_fails_says_why(said, wrong):
    arguments, words = FAIL[wrong]
    code, err = said(arguments)
    assert code == FAILED
    last = err.splitlines()[-1]
    assert last.startswith("blanketflow: ") and words in last


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_usage_is_told_apart(said, wrong):
    code, err = said(WRONG[wrong])
    assert code == WRONG_USAGE
    assert "Error: " in err or "Usage: " in err


@pytest.mark.parametrize("command", [["list", "--json"], ["explain", "gs"]])
def test_a_reader_that_goes_away_is_no_error(command):
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run(
        [sys.executable, "-m", "blanketflow.cli", *command],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert "Traceback" not in ended.stderr and "Exception ignored" not in ended.stderr
    assert ended.returncode in (0, 1, 141)
