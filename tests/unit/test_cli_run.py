"""`blanketflow run` before Snakemake starts, and how its events become progress."""

import os
import time
from pathlib import Path

import pytest

from blanketflow.cli import main
from blanketflow.cli.options import check_is_no_config
from blanketflow.cli.progress import Progress, _Lines
from blanketflow.cli.run import _rows, jobs_in_slurm
from blanketflow.cli.snakemake_arguments import asks_for_output, runs_no_jobs, snakemake_arguments
from blanketflow.workflow import packaged_files


def test_without_a_workflow_it_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(packaged_files, "CLONE", tmp_path / "nowhere")
    assert main(["run"]) == 1
    assert "the installed blanketflow has no Snakefile" in capsys.readouterr().err


def test_the_only_config_is_taken_and_said_and_of_several_none(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ours = ("--cores", "all", "--snakefile", packaged_files.workflow_file())
    config = "--configfile={}".format
    (tmp_path / "environment.yaml").write_text("channels: [conda-forge]\n", encoding="utf-8")
    (tmp_path / "mine.yaml").write_text("# by init\ndatasets:\n  a: {path: a.csv}\n", encoding="utf-8")
    assert snakemake_arguments(["results/report.html"]).words == (*ours, config("mine.yaml"), "results/report.html")
    assert capsys.readouterr().err == "The config is mine.yaml.\n"
    there = ("--directory", str(tmp_path))
    assert snakemake_arguments(there).words == (*ours, config(tmp_path / "mine.yaml"), *there)
    assert snakemake_arguments(["--configfile", "other.yaml"]).words == (*ours, "--configfile", "other.yaml")
    (tmp_path / "other.yaml").write_text("datasets: {}\n", encoding="utf-8")
    assert main(["run"]) == 1
    assert "several configs and no config.yaml: mine.yaml, other.yaml. Name one" in capsys.readouterr().err
    (tmp_path / "config.yaml").touch()
    assert snakemake_arguments([]).words == ours
    (tmp_path / "Snakefile").touch()
    assert snakemake_arguments(["-c1"]).words == ("-c1",)


def test_where_the_results_are_is_read_off_configs_settings_and_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study").mkdir()
    (tmp_path / "study/config.yaml").write_text("datasets: {}\noutput: found\n", encoding="utf-8")
    (tmp_path / "a.yaml").write_text("output: of-a\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text("datasets: {}\n", encoding="utf-8")
    for words, folder in (
        (["--directory", "study"], "study/found"),
        (["-d", "study", "--config", "seed=1", "output=mine"], "study/mine"),
        (["--configfile", "a.yaml", "b.yaml"], "of-a"),
        (["--configfile=b.yaml"], "results"),
        (["--snakefile", "of_another_workflow"], "results"),
    ):
        assert snakemake_arguments(words).output_folder() == Path(folder)


def test_a_profile_is_taken_from_here_then_from_the_user_then_from_the_workflow(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "Snakefile").touch()
    ours = packaged_files.workflow_file("profiles/slurm")
    given = ["--profile", "slurm", "my-own", "--cores", "slurm"]
    assert snakemake_arguments(given).words[-5:] == ("--profile", ours, "my-own", "--cores", "slurm")
    assert snakemake_arguments(["--profile=slurm"]).words == (f"--profile={ours}",)
    assert snakemake_arguments(["--profile", "none"]).words == ("--profile", "none")
    (tmp_path / "profiles/slurm").mkdir(parents=True)
    assert snakemake_arguments(["--profile", "slurm"]).words == ("--profile", "profiles/slurm")
    (tmp_path / "home/snakemake/slurm").mkdir(parents=True)
    assert snakemake_arguments(["--profile", "slurm"]).words == ("--profile", "slurm")


def test_without_a_config_it_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run"]) == 1
    assert "Write a config with blanketflow init" in capsys.readouterr().err
    (tmp_path / "mine.yaml").touch()
    assert main(["run", "--configfile", "mien.yaml"]) == 1
    assert "there is no config mien.yaml. Did you mean 'mine.yaml'?" in capsys.readouterr().err


def test_a_slurm_that_does_not_answer_is_named_only_in_a_folder_that_has_used_it(tmp_path, monkeypatch, capsys):
    squeue = tmp_path / "squeue"
    squeue.write_text("#!/bin/sh\necho 'Unable to contact slurm controller' >&2\nexit 1\n", encoding="utf-8")
    squeue.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    log = tmp_path / ".snakemake/log/2026-01-01T000000.snakemake.log"
    log.parent.mkdir(parents=True)
    log.write_text("host: here\n", encoding="utf-8")
    assert jobs_in_slurm() == []
    assert capsys.readouterr().err == ""
    log.write_text("host: here\nSLURM run ID: blanketflow_4f\n", encoding="utf-8")
    assert jobs_in_slurm() == []
    expected = "cannot check whether Slurm has jobs of an earlier run (Unable to contact slurm controller); continuing."
    assert capsys.readouterr().err == f"blanketflow: {expected}\n"


def test_a_config_or_its_folder_in_place_of_an_output_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text("datasets:\n  a: {path: a.csv}\n", encoding="utf-8")
    for word, option in (("mine.yaml", "--configfile"), (".", "--directory"), (str(tmp_path), "--directory")):
        assert main(["run", word, "--cores", "1"]) == 1
        assert f"'{word}' is not an output of the workflow. Write {option} before it." in capsys.readouterr().err
    (tmp_path / "results/figures").mkdir(parents=True)
    (tmp_path / "other.yaml").touch()
    for word in ("results/figures", "results/report.html", "other.yaml", "--until", ""):
        check_is_no_config(word)


@pytest.mark.parametrize("word", ["-n", "-np", "--dry-run", "--quiet", "--lint", "--report", "--unlock", "--logger"])
def test_what_asks_for_snakemakes_own_output(word):
    assert asks_for_output(word)


@pytest.mark.parametrize("word", ["--cores", "4", "-c4", "-j", "--configfile", "my.yaml", "--keep-going", "-k", "-f"])
def test_what_does_not(word):
    assert not asks_for_output(word)


@pytest.mark.parametrize(
    ("word", "is_so"),
    [
        ("-n", True),
        ("-np", True),
        ("--lint", True),
        ("--report", True),
        ("--unlock", True),
        ("--report-after-run", False),
        ("-p", False),
        ("--printshellcmds", False),
        ("--quiet", False),
    ],
)
def test_what_runs_no_jobs_shows_no_blankets(word, is_so):
    assert runs_no_jobs(word) == is_so


def events_of_a_run():
    """The events of a small run, one after the other."""
    stats = {"all": 1, "table": 2, "ci_test_dataset_5": 1, "grow": 1, "total": 5}
    yield {"event": "note", "message": "wine: look at it"}
    yield {"event": "run_info", "stats": stats}
    for number, (rule, ids) in enumerate(
        [
            ("table", {"dataset": "wine"}),
            ("table", {"dataset": "sick"}),
            ("ci_test_dataset_5", {"dataset": "wine", "test": "g2"}),
            ("grow", {"dataset": "wine", "selector": "gs\x1b"}),
        ]
    ):
        yield {"event": "job_info", "jobid": number, "rule_name": rule, "time": 0.0, "wildcards": ids}
        yield {"event": "job_finished", "job_id": number, "time": 1.0}


def test_without_a_terminal_each_stage_has_a_line(capsys):
    progress, lines = Progress(), _Lines(time.monotonic())
    for event in events_of_a_run():
        progress.see(event)
        lines.see(progress)
        lines.see(progress)
    said = capsys.readouterr()
    assert said.out == "" and said.err.splitlines() == [
        "wine: look at it",
        "4 jobs: 2 data, 1 CI tests, 1 selection",
        "[0:00] data: 2 jobs done",
        "[0:00] CI tests: 1 job done",
        "[0:00] selection: 1 job done",
    ]


TESTS_OF_ONE_JOB = (("chi2", "update"), ("ppi", "update, send to storage"))


def test_a_plan_has_a_row_per_stage_and_names_what_its_jobs_differ_in():
    progress = Progress()
    for event in events_of_a_run():
        progress.see(event)
    assert _rows(progress) == [("data", "2", "sick, wine"), ("CI tests", "1", "g2"), ("selection", "1", "gs\\x1b")]
    files = [f"my (own)/ci_test/wine/cv-1/fold-1of2/{test}.parquet ({said})" for test, said in TESTS_OF_ONE_JOB]
    several = {"rule_name": "several_tests_1", "wildcards": {"dataset": "wine"}, "output": files}
    progress.see({"event": "job_info", "jobid": 9, "time": 0.0, **several})
    assert _rows(progress)[1] == ("CI tests", "1", "chi2, g2, ppi")


def test_progress_of_a_run():
    progress = Progress()
    progress.see({"event": "resources_info", "cores": 2})
    stats = {"all": 1, "table": 1, "ci_test_dataset_5": 2, "grow_shrink_5": 2, "report": 1, "total": 7}
    progress.see({"event": "run_info", "stats": stats})
    assert progress.stages() == [("data", 0, 1), ("CI tests", 0, 2), ("selection", 0, 2), ("tables and report", 0, 1)]
    assert progress.seconds_left(0) is None

    def begin(number, rule, time, **wildcards):
        progress.see({"event": "job_info", "jobid": number, "rule_name": rule, "time": time, "wildcards": wildcards})

    begin(1, "table", 0.0, dataset="wine")
    assert [job.name for job in progress.running] == ["table wine"]
    progress.see({"event": "job_finished", "job_id": 1, "time": 4.0})
    assert progress.stages()[0] == ("data", 1, 1) and progress.running == []
    assert progress.seconds_left(4.0) == 5 * 4.0 / 2  # five jobs like the one that ended, two at a time
    begin(2, "grow_shrink_5", 4.0, dataset="wine", selector="gs")
    progress.see({"event": "job_error", "jobid": 2, "rule_name": "grow_shrink_5", "message": "Error in rule"})
    assert list(progress.failed) == [2] and progress.jobs[2].name == "grow_shrink wine gs"
    begin(2, "grow_shrink_5", 5.0, dataset="wine", selector="gs")  # tried again
    progress.see({"event": "job_finished", "job_id": 2, "time": 6.0})
    assert not progress.failed and progress.stages()[2] == ("selection", 1, 2)
