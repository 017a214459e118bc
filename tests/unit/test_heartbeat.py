"""Where no display is seen, a line says every half a minute that a command is at work, and how far it is."""

import io
import time

import pytest

from blanketflow.cli import progress as display
from blanketflow.cli import terminal
from blanketflow.cli.progress import Progress


class Screen(io.StringIO):
    """A stream that says whether it is a terminal."""

    def __init__(self, is_terminal):
        super().__init__()
        self.isatty = lambda: is_terminal


@pytest.mark.parametrize("is_terminal", [False, True])
def test_a_line_comes_with_the_last_that_was_told(monkeypatch, is_terminal):
    monkeypatch.setattr(terminal, "EVERY", 0.02)
    monkeypatch.setattr("sys.stderr", stderr := Screen(is_terminal))
    monkeypatch.setenv("TERM", "xterm")
    end = time.monotonic() + 20
    with terminal.heartbeat("select") as tell:
        while not is_terminal and "at work" not in stderr.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
        tell("round 2 of 5")
        tell("admits x", 2)
        while not is_terminal and "round 2" not in stderr.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    lines = stderr.getvalue().splitlines()
    if is_terminal:
        assert lines == []
    else:
        assert lines[0] == "[0:00] select: at work" and lines[-1].endswith("] select: round 2 of 5")
        assert not any("admits" in line for line in lines)


def test_a_run_says_how_many_jobs_are_done(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    lines, progress = display._Lines(0.0), Progress()
    progress.see({"event": "run_info", "stats": {"ci_test": 2, "grow": 3}})
    for job, rule in enumerate(["ci_test", "ci_test", "grow"]):
        progress.see({"event": "job_info", "jobid": job, "rule_name": rule, "time": 0.0})
        progress.see({"event": "job_finished", "jobid": job, "time": 1.0})
    for now[0] in (1.0, 20.0, 31.5, 40.0, 61.0, 62.0):
        lines.see(progress)
    assert capsys.readouterr().err.splitlines() == [
        "5 jobs: 2 CI tests, 3 selection",
        "[0:01] CI tests: 2 jobs done",
        "[0:32] jobs done: selection 1 of 3",
        "[1:02] jobs done: selection 1 of 3",
    ]
