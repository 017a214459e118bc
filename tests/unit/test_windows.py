"""On Windows the library and all commands but the workflow's run; it is simulated: what only Unix has is taken away."""

import re
import subprocess
import sys

import pytest

from blanketflow.cli import main
from blanketflow.cli.run import _WINDOWS

#: The packages of others are imported first, since they look at what the system has.
PROGRAM = """
import asyncio, importlib, multiprocessing, os, pkgutil, signal, subprocess, sys, tempfile
import altair, joblib, lightgbm, numba, numpy, openpyxl, pandas, psutil, pyarrow, rich.console, scipy.stats
import sklearn.ensemble, sklearn.linear_model, snakemake.api, snakemake.cli, typer

for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for name in (
    "fork getgid getloadavg getpgid getuid geteuid killpg mkfifo nice posix_fallocate pread pwrite register_at_fork"
    " sched_getaffinity setpgid setsid statvfs sysconf uname waitid O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK WNOHANG"
).split():
    vars(os).pop(name, None)
for name in "SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGQUIT SIGUSR1 SIGUSR2 alarm setitimer pthread_sigmask".split():
    vars(signal).pop(name, None)
sys.platform = "win32"

import blanketflow

for module in pkgutil.walk_packages(blanketflow.__path__, "blanketflow."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)

from sklearn.datasets import load_wine

from blanketflow.core.mapped_file import MappedFile

X, y = load_wine(return_X_y=True, as_frame=True)
assert "proline" in blanketflow.HITONMB(time_limit=60).fit(X, y).selected_features_
assert len(blanketflow.compare(X, y, ["mrmr"], evaluation=2, folds=0, models=["naive-bayes"]).scores)
held = MappedFile(1000)
first, second = (held.keep(numpy.arange(start, start + 50)) for start in (0, 50))
assert (first.tolist(), second.tolist()) == (list(range(50)), list(range(50, 100)))
print("all of it ran")
"""


@pytest.mark.extended
def test_everything_can_be_imported_and_searched_without_what_only_unix_has():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout == "all of it ran\n", done.stderr


@pytest.mark.parametrize("more", [[], ["-n"], ["--profile", "slurm"]])
def test_run_says_what_to_do_instead(tmp_path, monkeypatch, capsys, more):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "platform", "win32")
    assert main(["run", *more]) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("blanketflow: the workflow runs on Linux and macOS, not on Windows")
    assert list(tmp_path.iterdir()) == []


def test_the_command_that_it_names_has_these_options(capsys):
    assert main(["compare", "--help"]) == 0
    has = capsys.readouterr().out
    named = re.findall("--[a-z]+", _WINDOWS)
    assert "blanketflow compare" in _WINDOWS and named and all(option in has for option in named)
