"""Disks that are full or can only be read, before a run and in its middle: real ones, mounted by root for a test."""

import contextlib
import os
import re
import shutil
import subprocess
import sys

import pytest

from blanketflow.cli import main
from blanketflow.cli.progress import _reason
from blanketflow.core.errors import ConfigError, DataError, StorageError
from blanketflow.data.artefacts import read_arrow, read_json, replacing, write_json, write_rows
from blanketflow.data.download import storing
from blanketflow.data.provenance import Provenance
from blanketflow.workflow.output_folder import check_folder, check_results, check_state
from workflow_runs import PROJECT, assert_equal_results, contents, environment, jobs, snakemake

MINE = "results/select/wine/full/mrmr"
NO_SPACE = r"No space left on device; [\d,]+ bytes are free"


class Disk:
    """A small tmpfs."""

    def __init__(self, folder, size):
        self.folder = folder
        folder.mkdir()
        mount(f"-t tmpfs -o size={size}", "tmpfs", folder)

    def fill(self, left=0):
        """Fill it up to some bytes, which are a number of its blocks."""
        (self.folder / ".filler").write_bytes(bytes(shutil.disk_usage(self.folder).free - left))
        assert shutil.disk_usage(self.folder).free == left

    def make_room(self):
        (self.folder / ".filler").unlink()

    def set(self, option):
        mount(f"-o remount,{option}", self.folder)


def mount(options, *what):
    subprocess.run(["mount", *options.split(), *map(str, what)], check=True, capture_output=True)


@pytest.fixture
def disk(tmp_path):
    """Mount a disk; it is gone after the test."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    with contextlib.ExitStack() as mounted:

        def mounted_at(folder=tmp_path / "disk", size="1m"):
            try:
                made = Disk(folder, size)
            except (OSError, subprocess.CalledProcessError) as error:
                pytest.skip(f"no small disk can be mounted here: {error}")
            mounted.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=True)
            return made

        yield mounted_at


def write_an_artefact(path):
    write_rows(path, [(i, f"feature {i}") for i in range(5_000)], {"n": "int64", "feature": "string"}, Provenance())


@pytest.mark.parametrize("left", [0, 4096, 16384])
def test_what_does_not_fit_is_said_and_leaves_nothing(disk, left):
    disk = disk()
    path = disk.folder / "a.parquet"
    write_an_artefact(path)
    before = path.read_bytes()
    disk.fill(left)
    with pytest.raises(StorageError, match=rf"^{path} cannot be written \({NO_SPACE}\)\. Make room and run again\.$"):
        write_an_artefact(path)
    assert path.read_bytes() == before and {p.name for p in disk.folder.iterdir()} == {"a.parquet", ".filler"}
    with pytest.raises(StorageError, match=NO_SPACE):
        write_json(disk.folder / "a.json", {"key": "text " * 10_000})
    assert {p.name for p in disk.folder.iterdir()} == {"a.parquet", ".filler"}
    disk.make_room()
    write_json(disk.folder / "a.json", {"key": 1})
    assert read_json(disk.folder / "a.json") == {"key": 1}


def test_a_disk_that_becomes_read_only_while_a_file_is_written(disk):
    disk = disk()
    with (
        pytest.raises(StorageError, match=r"a\.txt cannot be written \(Read-only file system\)\. Mend that and run"),
        replacing(disk.folder / "a.txt") as temporary,
    ):
        temporary.write_text("text")
        disk.set("ro")
    assert not (disk.folder / "a.txt").exists()


def test_the_cache_says_which_variable_names_its_folder(disk, monkeypatch):
    disk = disk()
    monkeypatch.setenv("BLANKETFLOW_CACHE", str(disk.folder))
    disk.fill()
    told = rf"^t: .*a\.csv cannot be written \({NO_SPACE}\)\. Make room, or set BLANKETFLOW_CACHE to a folder that can"
    with pytest.raises(DataError, match=told), storing("t", disk.folder / "a.csv") as temporary:
        temporary.write_text("text")


def test_folders_that_cannot_hold_results_are_told_apart(disk):
    disk = disk()
    results, state = disk.folder / "results", disk.folder / ".snakemake"
    check_results(str(results))
    check_state(state)
    assert not list(disk.folder.iterdir())  # they only look
    disk.fill()
    with pytest.raises(StorageError, match=rf"{results} .*{NO_SPACE}\)\. Make room, or name another folder under the"):
        check_results(str(results))
    with pytest.raises(StorageError, match=rf"{state} .*{NO_SPACE}.*--directory"):
        check_state(state)
    disk.make_room()
    state.write_text("")
    with pytest.raises(StorageError, match=r"\.snakemake is a file.*--directory"):
        check_state(state)
    results.mkdir()
    (results / "data").write_text("")
    with pytest.raises(ConfigError, match="data is a file"):
        check_folder(str(results / "data" / "below"))
    disk.set("ro")
    with pytest.raises(StorageError, match=rf"{results} cannot be written \(Read-only file system\)"):
        check_results(str(results))


def test_a_folder_in_the_results_that_is_another_disk_is_looked_at(disk, tmp_path):
    (tmp_path / "results").mkdir()
    disk(tmp_path / "results" / "select").fill()
    with pytest.raises(StorageError, match=rf"results/select cannot be written \({NO_SPACE}\)"):
        check_results(str(tmp_path / "results"))


def test_commands_say_it_in_one_line(disk, capsys, tmp_path, monkeypatch):
    disk = disk()
    table = tmp_path / "t.csv"
    table.write_text("x,z,y\n" + "".join(f"{i % 7},{i % 5},{'ab'[i % 2]}\n" for i in range(60)))
    disk.fill()
    assert main(["init", str(table), "--target", "y", "--output", str(disk.folder / "new.yaml")]) == 1
    said = capsys.readouterr().err
    assert re.fullmatch(rf"blanketflow: .*new\.yaml cannot be written \({NO_SPACE}\).*\n", said), said
    config = tmp_path / "my.yaml"
    config.write_text("datasets: {wine: {source: 'sklearn:wine'}}\nselectors: {all: {method: all}}\n")
    monkeypatch.chdir(PROJECT)
    assert main(["run", "--directory", str(disk.folder), "--configfile", str(config)]) == 1
    said = capsys.readouterr().err
    assert re.fullmatch(rf"blanketflow: .*\.snakemake cannot be written \({NO_SPACE}\).*\n", said), said


JOB = """
import sys
from types import SimpleNamespace
from blanketflow.core.errors import DataError
from blanketflow.workflow.jobs import run_script

def main():
    print("words")
    raise DataError("the reason") if sys.argv[2] == "data" else OSError(28, "No space left on device", "somewhere")

known = dict.fromkeys(["input", "output", "params", "wildcards"], {})
run_script(main, SimpleNamespace(log=[sys.argv[1]], threads=1, **known))
"""


@pytest.mark.extended
@pytest.mark.parametrize("state", ["full", "read-only"])
@pytest.mark.parametrize("error", ["data", "disk"])
def test_a_job_that_cannot_write_its_log_says_its_reason_where_snakemake_runs(disk, state, error):
    disk = disk()
    disk.fill() if state == "full" else disk.set("ro")
    log = disk.folder / "job.log"
    ended = subprocess.run([sys.executable, "-c", JOB, log, error], capture_output=True, text=True, env=environment())
    assert ended.returncode in (1, 120), ended.stderr  # 120: what Python cannot write when it ends
    if state == "full":  # its first words do not fit
        assert re.search(rf"^blanketflow: .* cannot be written \({NO_SPACE}\)", ended.stderr, re.MULTILINE)
    else:
        assert f"blanketflow: {log} cannot be written (Read-only file system)" in ended.stderr
        assert "words\n" in ended.stderr
        assert ("blanketflow: the reason" if error == "data" else "blanketflow: somewhere cannot be") in ended.stderr
    assert "Traceback" not in ended.stderr or state == "read-only"  # else it is in the log


def test_the_progress_display_takes_the_reason_from_where_it_is(tmp_path):
    log = tmp_path / "log"
    log.write_text("")
    assert _reason(str(log), ["no room"]) == "no room"
    log.write_text("INFO x\nERROR its own\n")
    assert _reason(str(log), ["no room"]) == "its own"


@pytest.mark.extended
@pytest.mark.workflow
def test_a_run_on_a_full_disk_does_not_begin_and_one_that_fills_it_goes_on_when_there_is_room(disk, finished, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(finished, folder, ignore=shutil.ignore_patterns("results"))
    small = disk(folder / "results", "6m")
    shutil.copytree(finished / "results", folder / "results", dirs_exist_ok=True)
    shutil.rmtree(folder / MINE)
    for left in (0, 20_480):
        small.fill(left)
        failed = snakemake(folder, "--cores", "1", f"{MINE}/blanket.parquet", check=False)
        assert failed.returncode == 1 and "Traceback" not in failed.stdout
        told = re.findall(
            rf"^(?:blanketflow: )?(\S*) cannot be written \({NO_SPACE}\)\. Make", failed.stdout, re.MULTILINE
        )
        assert len(told) == 1, failed.stdout
        assert (told[0] == "results/run-lock") == (jobs(failed) == []) == (left == 0)
        assert not list(folder.rglob("*.tmp"))
        small.make_room()
    for path in (folder / MINE).rglob("*.parquet"):
        read_arrow(path)
    snakemake(folder, "--cores", "1", f"{MINE}/blanket.parquet")
    assert_equal_results(contents(folder / "results"), contents(finished / "results"))
