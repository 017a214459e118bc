"""A clock that goes back: files of the future, and tables changed under an older time. Times are set by os.utime."""

import os
import time

import pytest

from blanketflow.core.errors import DataError
from blanketflow.workflow.identity import source_digests
from blanketflow.workflow.output_folder import bring_back, check_times
from workflow_runs import changed, configure, counts, jobs, planned, snakemake

DAY = 86_400 * 10**9
SHRINK = "results/select/wine/full/mrmr/fold-1of2/shrink.parquet"
BLANKET = "results/select/wine/full/mrmr/blanket.parquet"


def shift(path, by):
    found = path.lstat()
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns + by))


def order_of(folder):
    return sorted(folder.rglob("*"), key=lambda path: (path.stat().st_mtime_ns, path))


def test_results_from_the_future_get_times_that_have_passed_in_the_same_order(tmp_path):
    (tmp_path / "data").mkdir()
    names = ["report.html", "data/c", "data/a", "data/b", "data/old"]
    for at, name in enumerate(names):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, ns=(0, time.time_ns() + (DAY + at if name != "data/old" else -DAY)))
    old = (tmp_path / "data/old").stat().st_mtime_ns
    os.utime(tmp_path / "data/b", ns=(0, (tmp_path / "data/a").stat().st_mtime_ns))  # of one time
    before = order_of(tmp_path)
    assert bring_back(tmp_path) == 4
    found = {path.name: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert max(found.values()) < time.time_ns() and found["old"] == old and found["a"] == found["b"]
    assert [path for path in order_of(tmp_path) if path.is_file()] == [path for path in before if path.is_file()]
    assert bring_back(tmp_path) == 0 and bring_back(tmp_path / "none") == 0


def test_a_table_from_the_future_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,2\n")
    check_times("t", [path])
    shift(path, DAY)
    with pytest.raises(DataError, match=rf"^t: {path} is from the future \(\d{{4}}-.*\): .* or touch the file\.$"):
        check_times("t", [path])


def test_what_a_file_holds_is_told_by_its_content(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,2\n")
    before = source_digests([path])
    shift(path, DAY)
    assert source_digests([path]) == before
    path.write_text("x,y\n1,3\n")
    shift(path, -DAY)
    assert source_digests([path]) != before
    monkeypatch.setattr("blanketflow.workflow.identity.MOST_BYTES", 4)  # larger ones are not read
    before = source_digests([path])
    shift(path, DAY)
    assert source_digests([path]) != before


@pytest.mark.extended
@pytest.mark.workflow
def test_after_the_clock_went_back_a_run_goes_on_and_nothing_stale_stays(finished, tmp_path):
    """A setting was changed, and the run stopped half-way: what it made is older by the clock than what depends on it.

    Snakemake alone takes the blanket for newer than the decisions that it is to be made of.
    """
    folder = changed(finished, tmp_path / "run", lambda c: c["selectors"]["mrmr"].update(n_features=2))
    for path in (folder / "results").rglob("*"):
        shift(path, DAY)
    half = snakemake(folder, "--cores", "2", SHRINK)
    assert counts(jobs(half)) == {"grow_shrink_2": 1}
    assert all(path.lstat().st_mtime_ns < time.time_ns() for path in (folder / "results").rglob("*"))
    assert counts(planned(folder, BLANKET)) == {"aggregate": 1}


@pytest.mark.extended
@pytest.mark.workflow
def test_a_table_changed_under_an_older_time_is_read_again(tmp_path):
    config = {"datasets": {"t": {"path": "t.csv", "target": "y"}}, "selectors": {"all": {"method": "all"}}}
    folder, table = configure(tmp_path, config), "results/data/t/table.parquet"
    csv = folder / "t.csv"
    csv.write_text("x,y\n" + "".join(f"{i % 7},{'ab'[i % 2]}\n" for i in range(60)))
    snakemake(folder, "--cores", "1", table)
    csv.write_text("x,y\n" + "".join(f"{i % 5},{'ab'[i % 2]}\n" for i in range(60)))
    shift(csv, -DAY)  # as a copy that keeps the time of an older file has it
    assert counts(planned(folder, table)) == {"table": 1}
    shift(csv, 2 * DAY)
    refused = snakemake(folder, "--cores", "1", table, check=False)
    assert refused.returncode == 1 and "t.csv is from the future" in refused.stdout
