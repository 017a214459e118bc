"""Stages in processes of their own: what the first one had to load, the next one has."""

import subprocess
import sys

import pytest

from blanketflow.core.isolation import FORKS
from blanketflow.search.isolated import _load

SCRIPT = """
import sys
from blanketflow.ci import get_ci_test
from blanketflow.core.limits import Limits
from blanketflow.core.table import Column, Table
import numpy as np
from blanketflow.selectors import get_method
from blanketflow.selectors.base import Problem
from blanketflow.search.stages import run_grow

X = np.random.default_rng(0).integers(0, 2, (100, 3)).astype(float)
table = Table([Column(name, "numeric", X[:, j]) for j, name in enumerate("abt")])
test = get_ci_test("g2")
problem = Problem(["a", "b"], "t", None, 0, lambda: table, lambda t: test.bind(t), Limits(time_limit=60))
method = get_method("gs", "test", {})

def grow(problem):
    import blanketflow.kernels.contingency, colorsys
    return []

method.grow = grow
assert "numba" not in sys.modules and "colorsys" not in sys.modules
run_grow(method, problem, True)
print("numba" in sys.modules, "blanketflow.kernels.contingency" in sys.modules, "colorsys" in sys.modules)
"""


@pytest.mark.skipif(not FORKS, reason="stages share a process where forking is not safe")
def test_what_a_stage_loads_of_the_heavy_packages_the_next_one_has():
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["True", "True", "False"]


def test_nothing_else_is_loaded_whatever_a_process_says(tmp_path, monkeypatch):
    (tmp_path / "scipyx.py").write_text("raise SystemExit")
    (tmp_path / "planted.py").write_text("raise SystemExit")
    monkeypatch.syspath_prepend(str(tmp_path))
    _load(["planted", "scipyx", "scipy.nowhere", ""])
    assert not {"planted", "scipyx"} & set(sys.modules)
