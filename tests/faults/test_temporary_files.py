"""Writers that are killed, or that write one file at the same time, on one machine or on two."""

import os
import signal
import subprocess
import sys
import time

import pytest

from blanketflow.data.artefacts import read_columns, replacing, write_columns, write_text
from blanketflow.data.provenance import Provenance
from workflow_runs import environment

TYPES = {"n": "int64"}
#: Writes half of a file, says so, and waits for a line.
WRITER = """
import sys
from blanketflow.data.artefacts import replacing
with replacing(sys.argv[1]) as temporary:
    temporary.write_text("half")
    print(temporary, flush=True)
    sys.stdin.readline()
"""
#: Writes columns of a number 300 times.
TWIN = """
import sys
from blanketflow.data.artefacts import write_columns
from blanketflow.data.provenance import Provenance
for _ in range(300):
    write_columns(sys.argv[1], {"n": [int(sys.argv[2])] * 20_000}, {"n": "int64"}, Provenance())
"""


@pytest.fixture
def writer(tmp_path):
    """Start a writer of a file; yield a function that returns it and its temporary file."""
    started = []

    def start(name):
        call = [sys.executable, "-c", WRITER, tmp_path / name]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        started.append(subprocess.Popen(call, env=environment(), text=True, **pipes))
        return started[-1], started[-1].stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_what_a_killed_writer_left_is_removed_when_the_file_is_next_written(tmp_path, writer):
    killed, left = writer("grow.parquet")
    others, of_another_file = writer("shrink.parquet")
    for process in (killed, others):
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert os.path.exists(left) and not (tmp_path / "grow.parquet").exists()
    write_columns(tmp_path / "grow.parquet", {"n": [1]}, TYPES, Provenance())
    assert not os.path.exists(left)
    assert os.path.exists(of_another_file)
    assert read_columns(tmp_path / "grow.parquet")[0] == {"n": [1]}


def test_a_living_writer_keeps_its_file_and_ends_its_work(tmp_path, writer):
    living, its_file = writer("a.txt")
    write_text(tmp_path / "a.txt", "whole")
    assert os.path.exists(its_file)
    living.communicate("\n")
    assert (tmp_path / "a.txt").read_text() == "half"  # it ended last
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_writer_on_another_machine_is_left_alone_for_a_day(tmp_path):
    with replacing(tmp_path / "a.txt") as temporary:
        temporary.touch()
        machine, process, _ = temporary.name.split(".")[-2].split("-")
    assert process == str(os.getpid())
    elsewhere = "00000000" if machine != "00000000" else "00000001"
    # Of its own machine this process is no writer's; the same number elsewhere may be one.
    recent, old = (tmp_path / f".a.txt.{elsewhere}-999999999-{i}2345678.tmp" for i in (0, 1))
    for path in (recent, old):
        path.touch()
    os.utime(old, (time.time() - 2 * 86_400,) * 2)
    write_text(tmp_path / "a.txt", "whole")
    assert recent.exists() and not old.exists()


def test_the_longest_name_can_be_written(tmp_path):
    name = "ü" * 125 + ".txt"  # 254 bytes; a name may have 255
    write_text(tmp_path / name, "whole")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.extended
def test_two_writers_of_one_file_never_show_half_of_it(tmp_path):
    path = tmp_path / "twins.parquet"
    write_columns(path, {"n": [0] * 20_000}, TYPES, Provenance())
    twins = [subprocess.Popen([sys.executable, "-c", TWIN, path, str(i)], env=environment()) for i in (1, 2, 3)]
    seen = set()
    while any(twin.poll() is None for twin in twins):
        found = read_columns(path)[0]["n"]
        assert len(found) == 20_000 and len({*found}) == 1
        seen.add(found[0])
    assert [twin.returncode for twin in twins] == [0, 0, 0]
    assert seen <= {0, 1, 2, 3} and read_columns(path)[0]["n"][0] > 0
    assert [one.name for one in tmp_path.iterdir()] == ["twins.parquet"]
