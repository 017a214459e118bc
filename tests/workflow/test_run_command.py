"""`blanketflow run` in a real terminal: progress, failures by name, Ctrl-C; and what comes after: `export`."""

import io
import json
import shutil
import subprocess
import sys

import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from blanketflow.cli import main
from blanketflow.data.text import HEAD_BYTES
from forked import HANGS
from terminal import in_terminal
from workflow_runs import (
    assert_equal_results,
    chosen,
    configure,
    contents,
    environment,
    planned,
)

pytestmark = pytest.mark.workflow
BLANKETFLOW = [sys.executable, "-m", "blanketflow.cli"]
RUN = [*BLANKETFLOW, "run", "--configfile", "my.yaml", "--cores", "2"]
CTRL_C = b"\x03"


@pytest.mark.extended
def test_in_a_terminal_the_progress_is_shown_and_the_results_are_the_same(tmp_path, base_config, finished):
    folder = configure(tmp_path, base_config | {"grain": "dataset"})  # the workflow is found beside the package
    code, shown = in_terminal(RUN, folder, environment())
    assert code == 0, shown[-3000:]
    for stage in ("data", "CI tests", "selection", "evaluation", "tables and report", "all jobs"):
        assert stage in shown
    assert "about 0:00 left" in shown and "now: " in shown and " jobs done in " in shown
    assert "Select jobs to execute" not in shown  # Snakemake's own words
    assert "mrmr (3): " in shown and shown.rstrip().endswith("Report: results/report.html")
    assert_equal_results(contents(folder / "results"), contents(finished / "results"))
    code, shown = in_terminal(RUN, folder, environment())
    assert code == 0 and "Nothing to be done" in shown


@pytest.mark.extended
def test_ctrl_c_ends_snakemake_and_the_run_goes_on_afterwards(tmp_path, base_config, finished):
    folder = configure(tmp_path, base_config | {"grain": "dataset"})

    def when_jobs_run(_):
        return CTRL_C if list((folder / "results").glob("ci_test/**/*.parquet")) else None

    code, shown = in_terminal(RUN, folder, environment(), when_jobs_run)
    assert code == 130 and "stopped. The same command continues where it stopped." in shown
    assert not list((folder / ".snakemake" / "locks").glob("*"))
    assert not (folder / "results/report.html").exists()
    code, shown = in_terminal([*RUN, "--omit-from", "evaluate"], folder, environment())
    assert code == 0 and "an earlier run was killed" not in shown
    undisturbed = contents(finished / "results")
    made = {path: content for path, content in undisturbed.items() if not path.startswith(("evaluate/", "tables/"))}
    assert_equal_results(contents(folder / "results"), made)
    assert planned(folder, "--omit-from", "evaluate") == []


@pytest.mark.extended
def test_a_job_that_fails_is_named_with_its_reason_and_log(tmp_path, base_config):
    folder = configure(tmp_path, base_config | {"datasets": {"mine": {"path": "mine.csv", "target": "y"}}})
    row = "0." + "1" * 1000  # the plan looks at the head only, which the first rows fill
    rows = [f"{row},{i % 3},{'ab'[i % 2]}" for i in range(HEAD_BYTES // 1000)]
    (folder / "mine.csv").write_text("\n".join(["x,z,y", *rows, "1,2"]), encoding="utf-8")
    code, shown = in_terminal(RUN, folder, environment())
    assert code == 1
    assert "table mine failed: mine: line 1002 has 2 cells, but the header has 3. Mend that line." in shown
    assert "results/logs/table/mine.log" in shown and "run the same command" in shown


@pytest.mark.extended
@pytest.mark.parametrize("more", [["--plain"], ["-n"], ["--quiet", "rules"]])
def test_snakemakes_own_output_where_it_is_asked_for(finished, tmp_path, more):
    folder = shutil.copytree(finished, tmp_path / "copy")
    code, shown = in_terminal([*RUN, *more], folder, environment())
    assert code == 0 and "Nothing to be done" in shown and "all jobs" not in shown
    assert ("of CPU time from nothing" in shown) == (more == ["-n"])  # for there is nothing to start
    assert ("Report: " in shown) == (more != ["-n"])  # a look prints no blankets of an earlier run as its own


@pytest.mark.extended
def test_where_nobody_looks_on_the_plan_is_a_table_and_each_stage_a_line(finished, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "copy")
    (folder / "results/report.html").unlink()
    how = {"cwd": folder, "env": environment(), "capture_output": True, "text": True, "timeout": HANGS}
    looked = subprocess.run([*RUN, "-n"], **how)
    assert looked.returncode == 0 and not (folder / "results/report.html").exists()
    assert looked.stdout.startswith("1 job would run:\n") and "tables and report     1" in looked.stdout
    assert "of CPU time from nothing" in looked.stdout and "results/report.html" in looked.stdout
    assert "mrmr (3): " not in looked.stdout  # of the run before
    done = subprocess.run(RUN, **how)
    assert done.returncode == 0 and "tables and report: 1 job done" in done.stderr
    assert "mrmr (3): " in done.stdout and "Select jobs to execute" not in done.stdout + done.stderr


@pytest.mark.extended
def test_snakemakes_exit_code_and_error_pass_through(tmp_path, base_config):
    folder = configure(tmp_path, base_config | {"models": ["tre"]})
    code, shown = in_terminal(RUN, folder, environment())
    assert code == 1 and "Did you mean 'tree'?" in shown and "Traceback" not in shown
    piped = subprocess.run(RUN, cwd=folder, env=environment(), capture_output=True, text=True, timeout=HANGS)
    assert piped.returncode == 1 and "Did you mean 'tree'?" in piped.stdout + piped.stderr


@pytest.mark.extended
def test_what_init_writes_is_planned_by_the_workflow(tmp_path):
    load_wine(as_frame=True).frame.to_csv(tmp_path / "wine.csv", index=False)
    call = [*BLANKETFLOW, "init", "wine.csv", "--target", "target"]
    said = subprocess.run(call, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True).stdout
    next_step = next(line.split() for line in said.splitlines() if "blanketflow run" in line)
    assert next_step == ["blanketflow", "run", "--configfile", "wine.yaml"]
    dry = [*BLANKETFLOW, *next_step[1:], "-n"]
    done = subprocess.run(dry, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0 and "results/wine/report.html" in done.stdout, done.stderr


def test_a_blanket_is_exported(finished, tmp_path, capsys):
    results = finished / "results"
    arguments = ["export", str(results), "--dataset", "wine", "--selector", "mrmr"]
    names = set(chosen(results, "wine", "full", "mrmr"))
    assert main(arguments) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert set(table["feature"]) == names and table["importance"].is_monotonic_decreasing
    assert main([*arguments, "--to", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["feature"] for row in found["features"]} == names
    assert (found["target"], found["task"], found["method"]) == ("target", "classification", "mrmr")
    assert main([*arguments, "--to", "pipeline", "-o", str(tmp_path / "mrmr_wine.py")]) == 0
    source = {}
    exec((tmp_path / "mrmr_wine.py").read_text(encoding="utf-8"), source)
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.rename(columns=dict(zip(X.columns, source["NUMBERS"], strict=False))) if not names <= set(X.columns) else X
    model = make_pipeline(StandardScaler(), LogisticRegression())
    assert source["blanket_pipeline"](model).fit(X, y).score(X, y) > 0.8
    assert main([*arguments, "--to", "pipeline", "-o", str(tmp_path / "mrmr_wine.py")]) == 1
    assert "--force" in capsys.readouterr().err


def test_a_run_is_exported_for_papers(finished, tmp_path, capsys):
    results = str(finished / "results")
    expected = {
        "latex": "\\begin{tabular}",
        "html": "<table",
        "methods": "Selector ppfs is ",
        "bibtex": "@misc{hassan2021ppfs,",
        "notebook": "bf.read_table(\\n    'sklearn:wine',",
    }
    for to, words in expected.items():
        assert main(["export", results, "--to", to]) == 0
        assert words in capsys.readouterr().out
    for to, name in {"figures": "wine-blanket-mrmr.pdf", "crate": "ro-crate-metadata.json"}.items():
        assert main(["export", results, "--to", to, "-o", str(tmp_path / to)]) == 0
        assert (tmp_path / to / name).is_file()
    assert (tmp_path / "crate/report.html").read_bytes() == (finished / "results/report.html").read_bytes()


def test_a_crate_of_a_changed_report_is_refused(finished, tmp_path, capsys):
    results = shutil.copytree(finished / "results", tmp_path / "results")
    with open(results / "report.html", "a", encoding="utf-8") as page:
        page.write("<p>")
    assert main(["export", str(results), "--to", "crate", "-o", str(tmp_path / "crate")]) == 1
    assert "report.html is not as the run wrote it. Run again" in capsys.readouterr().err
    assert not (tmp_path / "crate").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere holds no finished run"),
        (["results"], "more than one selector: add --selector with one of ppfs, mrmr, all"),
        (["results", "--selector", "mrm"], "Did you mean 'mrmr'?"),
        (["results", "--dataset", "wein"], "Did you mean 'wine'?"),
        (["results", "--selector", "mrmr", "--to", "pickle"], "must be one of csv, json, pipeline"),
    ],
)
def test_mistakes_of_an_export_end_in_one_message(finished, arguments, message, monkeypatch, capsys):
    monkeypatch.chdir(finished)
    assert main(["export", *arguments]) == 1
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1
