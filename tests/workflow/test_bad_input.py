"""Bad input in real runs: Snakemake shows the message as it is written, and nothing is made.

What is said in each case is checked without Snakemake, in tests/unit/test_bad_input_cases.py.
"""

import subprocess
import sys

import pytest

from forked import HANGS
from test_bad_input_cases import CASES, CONFIG, configured, write_files
from workflow_runs import blanketflow, configure, environment, snakemake

pytestmark = pytest.mark.workflow
GOOD = configured({})
MARKED = [case for case in CASES if "snakemake" in case]


def these(cases):
    return pytest.mark.parametrize("case", cases, ids=[case["case"] for case in cases])


def write_case(case, folder):
    write_files(case, folder)
    if "yaml" not in case:
        configure(folder, configured(case))
    return folder


def assert_refused(outcome, folder, message):
    assert outcome.returncode != 0
    assert message in outcome.stdout
    assert "Traceback" not in outcome.stdout
    assert not (folder / "results").exists()


@these(MARKED)
def test_snakemake_ends_with_the_message(tmp_path, case):
    folder = write_case(case, tmp_path)
    outcome = snakemake(folder, "--cores", "1", plug_ins=[folder], check=False)
    assert_refused(outcome, folder, case["refused"] if case["snakemake"] is True else case["snakemake"])


@these([next(case for case in MARKED if key in case) for key in ("config", "yaml")])
@pytest.mark.extended
def test_blanketflow_run_ends_with_the_message(tmp_path, case):
    folder = write_case(case, tmp_path)
    assert_refused(blanketflow_run(folder), folder, case["refused"])


@these([case for case in CASES if case["case"] in ("a config in UTF-16", "a tab as indentation", "a template")])
@pytest.mark.extended
def test_blanketflow_run_says_what_snakemake_would_not(tmp_path, case):
    folder = write_case(case, tmp_path)
    assert_refused(blanketflow_run(folder), folder, f"blanketflow: {case['refused']}")


def blanketflow_run(folder):
    """`blanketflow run` where nobody looks on, with the workflow beside the package."""
    return subprocess.run(
        [sys.executable, "-m", "blanketflow.cli", "run", "--configfile", CONFIG, "--cores", "1"],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=HANGS,
    )


def test_a_config_replaces_the_example(tmp_path):
    write_files({}, tmp_path)
    outcome = snakemake(configure(tmp_path, GOOD), "-n")
    assert "dataset=study" in outcome.stdout
    assert "breast-cancer" not in outcome.stdout and "clinic" not in outcome.stdout


def test_configs_that_are_merged_and_keys_of_the_command_line_are_checked_too(tmp_path):
    write_files({}, tmp_path)
    (tmp_path / "more.yaml").write_text("folds: 2\n", encoding="utf-8")
    folder = configure(tmp_path, GOOD)
    outcome = snakemake(folder, "more.yaml", "--config", "seed=high", "--cores", "1", check=False)
    assert_refused(outcome, folder, "config: seed is 'high', but must be a whole number")
    (tmp_path / "more.yaml").write_text("folds: 2\nfolds: 3\n", encoding="utf-8")
    outcome = snakemake(folder, "more.yaml", "--cores", "1", check=False)
    assert_refused(outcome, folder, "more.yaml, line 2: the key 'folds' is there twice")


def test_a_file_that_turns_bad_behind_its_head_fails_its_job_with_a_message(tmp_path):
    """What cannot be known before the jobs start: the head of a large file is fine, its end is not."""
    lines = ["a,b,outcome", *(f"{i % 97},{i % 89},{'ill' if i % 2 else 'well'}" for i in range(120_000))]
    (tmp_path / "study.csv").write_text("\n".join([*lines, "1,2"]) + "\n", encoding="utf-8")
    outcome = snakemake(configure(tmp_path, GOOD), "--cores", "1", check=False)
    assert outcome.returncode != 0
    assert not list((tmp_path / "results").rglob("*.parquet"))
    said = outcome.stdout + (tmp_path / "results/logs/table/study.log").read_text(encoding="utf-8")
    assert "study: line 120002 has 2 cells, but the header has 3" in said
    assert "Traceback" not in said


def test_each_fault_is_a_line_of_its_own_however_the_run_is_asked_for(tmp_path):
    write_files({}, tmp_path)
    folder = configure(tmp_path, GOOD | {"fold": 2, "seed": "x", "datasets": {"study": {"path": "studi.csv"}}})
    expected = [
        "config: unknown key 'fold'. Did you mean 'folds' or 'fold_rows'?",
        "config: seed is 'x', but must be a whole number at least 0 and at most 9223372036854775807.",
        "study: there is no file studi.csv. Check the key path; a file that a rule makes must be made first "
        "(blanketflow explain docs/module.md). Did you mean 'study.csv'?",
    ]
    by_snakemake = [snakemake(folder, *asked, check=False) for asked in (["--cores", "1"], ["-n"])]
    ours = [blanketflow(folder, "run", "--configfile", "my.yaml", *asked) for asked in (["--cores", "1"], ["-n"])]
    ours.append(blanketflow(folder, "check", "--configfile", "my.yaml"))
    for outcome in by_snakemake:  # which names its profile first
        assert outcome.returncode == 1 and outcome.stdout.splitlines()[-3:] == expected, outcome.stdout
        assert "Error" not in outcome.stdout
    for outcome in ours:
        assert outcome.returncode == 1 and outcome.stdout == ""
        assert outcome.stderr.splitlines() == [f"blanketflow: {line}" for line in expected]
    assert not (folder / "results").exists()
