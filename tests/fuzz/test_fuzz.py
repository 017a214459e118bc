"""The search itself works: each target is searched a while, and every input that it starts from is one that is read."""

import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import oracle
import pytest
from search import TARGETS

from forked import HANGS

HERE = Path(__file__).parent


@pytest.mark.parametrize("target", TARGETS)
def test_seeds_are_read(target, monkeypatch):
    """A seed that is refused would seed nothing."""
    module = importlib.import_module(f"fuzz_{target}")
    monkeypatch.setattr(module, "refused_or", lambda read, *_: read())
    monkeypatch.setenv("BLANKETFLOW_CACHE", "")
    for content in module.seeds().values():
        module.one_input(content)


def test_hangs_and_large_allocations_are_noticed():
    with pytest.raises(oracle.Hang), oracle.bounded(cpu_seconds=0.2):
        while True:
            pass
    with pytest.raises(MemoryError), oracle.bounded(memory_bytes=2**28):
        bytearray(2**29)


@pytest.mark.extended
@pytest.mark.skipif(not importlib.util.find_spec("atheris"), reason="atheris has no wheel here: fuzzing needs it")
@pytest.mark.parametrize("target", TARGETS)
def test_a_short_search_finds_nothing(target, tmp_path):
    # By one seed: what other inputs break is for `make fuzz`, not for whoever changes something else.
    runs = "40" if target == "frames" else "3000"  # a search takes longer than a reader
    command = [sys.executable, HERE / "search.py", "--targets", target, "--runs", runs, "--found", tmp_path]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([*map(str, command)], capture_output=True, text=True, env=environment, timeout=HANGS)
    kinds = "\n".join(line for line in ended.stderr.splitlines() if line.startswith("found "))
    assert ended.returncode == 0, f"{ended.stdout}\n{kinds}\n{ended.stderr[-2000:]}"
    assert "inputs, coverage" in ended.stdout
