"""Work in a process of its own: real crashes, real signals, and what is left of them."""

import ctypes
import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from blanketflow.core import isolation
from blanketflow.core.errors import DataError
from blanketflow.core.isolation import WorkFailed, ends_after, from_bytes, in_child, in_children
from blanketflow.core.limits import LimitReached

SOURCE = Path(isolation.__file__).parents[2]


class Unspeakable(Exception):
    def __str__(self):
        raise ValueError("no words")


class NotPicklable(Exception):
    def __init__(self):
        super().__init__("it holds a lock")
        self.lock = threading.Lock()


def raising(error):
    def work():
        raise error

    return work


def crash():
    ctypes.string_at(0)


def leave_a_child_behind():
    if os.fork() == 0:
        time.sleep(60)  # it holds the pipe open
    os._exit(5)


def close_everything():
    os.closerange(3, 64)


def stop_by(number):
    return lambda: os.kill(os.getpid(), number)


@pytest.mark.parametrize(
    "answer",
    [None, True, 0.1 + 0.2, -(2**62), "\ud800 é\n", [1, [2.5e-308, "x"]], {"a": {"b": []}}, float("inf")],
)
def test_plain_answers_come_back_as_they_were(answer):
    assert in_child(lambda: answer) == answer


def test_arrays_come_back_to_the_last_bit():
    sent = {"d": np.random.default_rng(0).normal(size=(3, 7)), "i": np.arange(5), "b": np.array([True, False])}
    sent["d"][0, 0], sent["empty"] = np.nan, np.empty((0, 4))
    found = in_child(lambda: sent)
    assert found.keys() == sent.keys()
    for name, array in sent.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()


def test_large_answers_come_back_whole():
    assert in_child(lambda: "x" * 20_000_000) == "x" * 20_000_000


def test_what_is_changed_stays_in_the_process():
    kept = []
    assert in_child(lambda: kept.append(1)) is None
    assert kept == []


@pytest.mark.parametrize(
    ("work", "says"),
    [
        (crash, "the process of the method was ended by signal SIGSEGV"),
        (os.abort, "the process of the method was ended by signal SIGABRT"),
        (stop_by(signal.SIGTERM), "the process of the method was ended by signal SIGTERM"),
        (stop_by(signal.SIGRTMIN + 3), f"the process of the method was ended by signal {signal.SIGRTMIN + 3}"),
        (lambda: os._exit(0), "the method ended its process, with exit code 0, before it gave an answer"),
        (leave_a_child_behind, "the method ended its process, with exit code 5, before it gave an answer"),
        (close_everything, "the method ended its process, with exit code 1, before it gave an answer"),
        (lambda: sys.exit("enough"), "the method ended its process by sys.exit(enough)"),
        (raising(KeyboardInterrupt()), "KeyboardInterrupt"),
        (raising(ZeroDivisionError("by\nzero")), "ZeroDivisionError: by\\nzero"),
        (raising(NotPicklable()), "NotPicklable: it holds a lock"),
        (raising(Unspeakable()), "Unspeakable: an error whose message cannot be shown"),
        (lambda: 1 / len(os.read(0, 1)), "ZeroDivisionError: division by zero"),
        (lambda: object(), "TypeError: an answer holds object, which is neither a number nor a text"),
        (lambda: np.array([object()]), "TypeError: an answer holds ndarray, which is neither a number nor a text"),
    ],
)
def test_whatever_ends_it_is_told_and_the_parent_goes_on(work, says):
    with pytest.raises(WorkFailed) as failed:
        in_child(work)
    assert str(failed.value) == says
    assert in_child(lambda: 1) == 1


def test_errors_of_ours_stay_what_they_are_and_say_where():
    with pytest.raises(DataError, match="column 'x' is odd") as failed:
        in_child(raising(DataError("column 'x' is odd")))
    assert "in work" in failed.value.__notes__[0]
    with pytest.raises(LimitReached, match="spent"):
        in_child(raising(LimitReached("spent")))


def test_too_little_memory_is_no_answer_of_a_method():
    """Such a job is worth another attempt with more memory."""
    with pytest.raises(MemoryError, match="no room"):
        in_child(raising(MemoryError("no room")))
    with pytest.raises(MemoryError, match="killed from outside"):
        in_child(stop_by(signal.SIGKILL))


def run_out_while_working():
    try:
        raise MemoryError("no room")
    except MemoryError:
        raise RuntimeError("the estimator failed") from None


def test_too_little_memory_is_told_behind_another_error():
    with pytest.raises(MemoryError, match="the estimator failed"):
        in_child(run_out_while_working)


def test_a_full_disk_is_told_as_one():
    with pytest.raises(OSError, match="No space left") as failed:
        in_child(raising(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "log")))
    assert failed.value.errno == errno.ENOSPC
    assert str(failed.value) == "[Errno 28] No space left on device: 'log'"


def sleep_in_c():
    libc = ctypes.PyDLL(None)  # holds the interpreter's lock, as a loop of C code does
    libc.sleep(3600)


def never_stop():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        try:
            time.sleep(1)
        except BaseException:
            continue


@pytest.mark.parametrize("work", [sleep_in_c, never_stop])
def test_what_does_not_stop_is_ended(monkeypatch, work):
    monkeypatch.setattr(isolation, "GRACE", 0.3)
    with pytest.raises(LimitReached, match=r"the time limit of 0.1 s \(time_limit\) was reached, and the method did"):
        in_child(work, 0.1, n_stages=2)


def test_a_limit_that_is_not_met_changes_nothing():
    assert in_child(lambda: 3, 100) == 3
    with pytest.raises(WorkFailed, match="SIGSEGV"):
        in_child(crash, 100)
    assert ends_after(0.1) > 5


def test_what_it_started_ends_with_it(monkeypatch, tmp_path):
    monkeypatch.setattr(isolation, "GRACE", 0.3)
    told = tmp_path / "pid"

    def start_another():
        other = subprocess.Popen(["sleep", "3600"])
        told.write_text(str(other.pid))
        time.sleep(3600)

    for seconds in (1, 10, 100):  # as many as it takes to tell
        with pytest.raises(LimitReached):
            in_child(start_another, seconds)
        if told.exists() and told.read_text():
            break
    assert_gone(int(told.read_text()))


def test_it_ends_with_its_parent(tmp_path):
    """Also where the parent is killed, and can do nothing about it."""
    told = tmp_path / "pid"
    code = f"""
import os, pathlib, time
from blanketflow.core.isolation import in_child
def work():
    pathlib.Path({str(told)!r}).write_text(str(os.getpid()))
    time.sleep(3600)
in_child(work)
"""
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        told.unlink(missing_ok=True)
        environment = os.environ | {"PYTHONPATH": str(SOURCE)}
        parent = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 600
        while not (told.exists() and told.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        parent.send_signal(number)
        assert parent.wait() != 0
        assert_gone(int(told.read_text()))


def assert_gone(pid):
    """Ended, or a zombie that nobody in this container waits for."""
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except (FileNotFoundError, ProcessLookupError):
            return
        time.sleep(0.02)
    raise AssertionError(f"process {pid} lives")


def test_it_prints_where_its_parent_does(capfd):
    def work():
        print("from Python")
        os.write(1, b"from C\n")

    print("before")
    in_child(work)
    print("after")
    assert sorted(capfd.readouterr().out.split("\n")) == ["", "after", "before", "from C", "from Python"]


def test_no_file_and_no_process_is_left_open():
    in_child(lambda: 1)
    before, children = sorted(os.listdir("/proc/self/fd")), set(psutil.Process().children())
    for _ in range(5):
        in_child(lambda: 1)
        with pytest.raises(WorkFailed):
            in_child(crash)
    assert sorted(os.listdir("/proc/self/fd")) == before
    assert set(psutil.Process().children()) == children


def test_several_are_done_at_a_time_and_come_back_in_order():
    """The first waits for what the second makes, so that they cannot be done one after the other."""
    reading, writing = os.pipe()
    works = [lambda: os.read(reading, 1).decode(), lambda: os.write(writing, b"x"), lambda: os.getpid()]
    first, second, pid = in_children(works, n=2)
    assert (first, second) == ("x", 1) and pid != os.getpid()


def test_where_one_fails_the_others_end():
    before = set(psutil.Process().children())
    works = [lambda: 1, lambda: os._exit(3), lambda: time.sleep(3600), lambda: 4]
    found = in_children(works, n=3)
    assert next(found) == 1
    with pytest.raises(WorkFailed, match="exit code 3"):
        next(found)
    assert set(psutil.Process().children()) == before


def test_nested_work_comes_back():
    assert in_child(lambda: in_child(lambda: 7)) == 7


@pytest.mark.parametrize("broken", [b"", b"{", b"\xff", b'{"__array__": [1]}'])
def test_bytes_that_are_no_answer_are_refused(broken):
    with pytest.raises(ValueError, match=r"."):
        from_bytes(broken)
