"""Compiled kernels in a folder that may not be written to are copied into the user's own cache, and used from there."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from blanketflow import kernels


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Compiled kernels, and a cache folder in place of the user's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    compiled = tmp_path / "kernels" / "__pycache__"
    compiled.mkdir(parents=True)
    for name in ("a.nbi", "a.1.nbc", "a.pyc"):
        (compiled / name).write_text("first")
    return tmp_path / "kernels"


def forbid_writing(monkeypatch):
    """Nothing is forbidden to root, as whom tests may run."""
    monkeypatch.setattr(os, "access", lambda path, mode: not (mode & os.W_OK))


def own_files(tmp_path):
    return {path.name: path for path in (tmp_path / "own").rglob("*") if path.is_file()}


def test_a_folder_that_can_be_written_is_left_to_numba(tree, tmp_path):
    kernels._copy_to_own_cache(tree)
    assert own_files(tmp_path) == {}


def test_the_compiled_kernels_are_copied_once_and_again_if_newer(tree, tmp_path, monkeypatch):
    forbid_writing(monkeypatch)
    kernels._copy_to_own_cache(tree)
    copies = own_files(tmp_path)
    assert sorted(copies) == ["a.1.nbc", "a.nbi"]
    assert stat.S_IMODE(copies["a.nbi"].parent.stat().st_mode) == 0o700
    copies["a.nbi"].write_text("another processor's, too")
    kernels._copy_to_own_cache(tree)
    assert copies["a.nbi"].read_text() == "another processor's, too"
    (tree / "__pycache__" / "a.nbi").write_text("second")
    os.utime(tree / "__pycache__" / "a.nbi", ns=(2**62, 2**62))
    kernels._copy_to_own_cache(tree)
    assert copies["a.nbi"].read_text() == "second" and sorted(own_files(tmp_path)) == ["a.1.nbc", "a.nbi"]


def test_a_home_that_cannot_be_written_is_left_to_numba(tree, tmp_path, monkeypatch):
    forbid_writing(monkeypatch)
    (tmp_path / "own").write_text("a file")
    kernels._copy_to_own_cache(tree)


@pytest.mark.extended
def test_that_kernels_are_compiled_is_said_once_and_only_then(tmp_path):
    program = "from blanketflow.kernels import chi_square, differences, is_compiled; print(is_compiled())"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert [done.stdout for done in said] == ["False\n", "True\n"]
    assert said[0].stderr.startswith("blanketflow: compiling kernels") and said[0].stderr.count("\n") == 1
    assert said[1].stderr == ""


def test_all_kernels_are_compiled_at_setup_but_those_of_one_method():
    names = {path.stem for path in Path(kernels.__file__).parent.glob("[a-z]*.py")}
    assert names > {*kernels._FIRST, *kernels._RARE} and not {*kernels._FIRST} & {*kernels._RARE}


#: Imports all kernels where their own folder cannot be written; prints how many were compiled and how many loaded.
PROGRAM = """
import os, tempfile
able, make = os.access, tempfile.TemporaryFile
def is_ours(path): return "kernels/__pycache__" in str(path)
def refuse(*args, dir=None, **more):
    if is_ours(dir): raise PermissionError(dir)
    return make(*args, dir=dir, **more)
os.access = lambda path, mode, **more: able(path, mode, **more) and not (mode & os.W_OK and is_ours(path))
tempfile.TemporaryFile = refuse
from blanketflow.kernels import compile_all, contingency
from numba.core.dispatcher import Dispatcher
compile_all()
stats = [one.stats for one in vars(contingency).values() if isinstance(one, Dispatcher) and one.signatures]
print(sum(sum(one.cache_misses.values()) for one in stats), sum(sum(one.cache_hits.values()) for one in stats))
print(stats[0].cache_path)
"""


@pytest.mark.extended
def test_numba_takes_the_copies_and_compiles_nothing(tmp_path):
    kernels.compile_all()
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    counts, path = done.stdout.splitlines()
    n_compiled, n_loaded = map(int, counts.split())
    assert n_compiled == 0 < n_loaded and Path(path).is_relative_to(tmp_path)
