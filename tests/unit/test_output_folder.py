"""Folders of results that are refused because they have another purpose; those of tests/bad_input.yaml are there."""

from pathlib import Path

import pytest

from blanketflow.core.errors import ConfigError
from blanketflow.workflow import output_folder
from blanketflow.workflow.layout import PATHS, path_of
from blanketflow.workflow.output_folder import (
    _MAYBE_OURS,
    _OF_A_RUN,
    _OURS,
    check_folder,
    check_foreign,
    foreign_files,
)


def test_the_home_folder_itself_is_refused_and_a_folder_in_it_is_not(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=r"your home folder itself\. Name one of your own, such as results\.$"):
        check_folder(str(tmp_path))
    check_folder(str(tmp_path / "results"))


def test_the_code_of_the_package_is_refused():
    with pytest.raises(ConfigError, match="the code of blanketflow"):
        check_folder(str(Path(output_folder.__file__).parent / "results"))


@pytest.mark.parametrize(
    "folder",
    ["/", "/etc", "/etc/study", "/usr/local/results", "/proc/self", "/dev", "/var", "/tmp", "/home", "/mnt", "/lib/x"],
)
def test_folders_of_the_system_are_refused(folder):
    with pytest.raises(ConfigError, match="a folder of the system"):
        check_folder(folder)


@pytest.mark.parametrize(
    "folder", ["/tmp/x", "/home/me/results", "/mnt/disk/results", "/results", "/scratch", "/var/x"]
)
def test_ordinary_folders_are_not(folder):
    check_folder(folder)


def touched(folder, *paths):
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("")
    return folder


#: What a run leaves that ended early, and what others leave that is not looked at.
OURS = {
    "no folder": [],
    "hidden files": [".DS_Store", "data/.DS_Store", ".git/config", "figures/.snakemake_timestamp"],
    "a run whose first job failed": ["logs/table/wine.log", "benchmarks/table/wine.tsv", "run-lock", "manifest"],
    "a run that was killed while it wrote": ["data/wine/table.parquet", "data/wine/.card.json.0a1b-7-2c.tmp"],
    "an older run with another selector": ["select/wine/full/old/blanket.parquet", "tables/old.csv", "report.html"],
    "a run whose data were removed": ["ci_test/wine/cv-1/fold-1of2/g2.parquet", "figures/a.svg", "provenance.json"],
    "a folder of results in it": ["mine/data/wine/card.json", "mine/report.html", "mine/logs/tables.log"],
}


@pytest.mark.parametrize("paths", OURS.values(), ids=OURS)
def test_what_runs_leave_is_not_foreign(tmp_path, paths):
    touched(tmp_path / "results", *paths)
    assert foreign_files(tmp_path / "results") == []
    check_foreign(tmp_path / "results", allowed=False)


@pytest.mark.parametrize(
    "path",
    [
        "notes.txt",
        "report.html",
        "data/mine.csv",
        "data/wine.parquet",
        "tables/scores.csv",
        "figures/a.svg",
        "logs/notes.txt",
        "select/full/blanket.parquet",
        "my/report.html",
    ],
)
def test_a_file_that_no_run_made_is_foreign(tmp_path, path):
    assert foreign_files(touched(tmp_path / "results", path)) == [path]
    if path not in ("tables/scores.csv", "figures/a.svg", "report.html"):  # where a run stands, these are its own
        touched(tmp_path / "results", "data/wine/card.json")
        assert foreign_files(tmp_path / "results") == [path]


def test_it_is_refused_with_a_way_out_that_works(tmp_path):
    output = touched(tmp_path / "results", "d.txt", "a.txt", "c.txt", "b\n.txt", "e/f.txt")
    with pytest.raises(ConfigError) as caught:
        check_foreign(output, allowed=False)
    assert "'a.txt', 'b\\n.txt', 'c.txt', 2 more. Name another folder, or allow it by" in str(caught.value)
    assert "allow_foreign_files: true in the config, or --config allow_foreign_files=True." in str(caught.value)
    check_foreign(output, allowed=True)


def test_every_path_of_a_run_is_known():
    ids = {"dataset": "d", "selector": "s", "test": "t", "split": "cv-1", "folds": "2", "fold": "1of2", "table": "x"}
    ids |= {"chunk": "1of2", "shard": "1of2", "figure": "f", "paper": "p"}
    for artefact in sorted({*PATHS} - {"figures"}):
        path = path_of(artefact, **ids)
        assert sum(bool(kind.fullmatch(path)) for kind in (_OURS, _MAYBE_OURS, _OF_A_RUN)) == 1, path
