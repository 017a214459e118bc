"""Jobs that run out of memory, or are killed: the run says so, and later ends with an undisturbed one's results."""

import os
import signal
import subprocess
import sys

import pytest

from blanketflow.data.provenance import Provenance
from blanketflow.workflow.jobs import recorded
from forked import HANGS
from workflow_runs import (
    PROJECT,
    WITHOUT_TABLES,
    assert_equal_results,
    command,
    configure,
    contents,
    environment,
    snakemake,
    wait_until,
)

#: Asks for 6 GB that it never touches; where told to, says who it is and waits for its end.
PLUG_IN = """
import os, time
import numpy as np
from pathlib import Path
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

class Large(SelectorMixin, BaseEstimator):
    def fit(self, X, y):
        large = np.zeros(6 * 2**27)
        if Path("wait").exists():
            Path("working").write_text(f"{os.getppid()} {os.getpid()}")
            time.sleep(600)
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self):
        return np.arange(self.n_features_in_) < 2
"""
#: A job whose library takes every exception for the end of its work.
CATCHES = """
import sys, time
from pathlib import Path
from types import SimpleNamespace
from blanketflow.workflow.jobs import run_script

def main():
    Path("working").write_text("now")
    try:
        time.sleep(600)
    except BaseException:
        pass
    Path("result").touch()

none = {name: {} for name in ("input", "output", "params", "wildcards")}
run_script(main, SimpleNamespace(**none, log=["log"], threads=1))
"""


def wait_for(path, process):
    """Wait until a job has written that it works."""
    wait_until(lambda: path.exists() and path.read_text(), process)


@pytest.mark.extended
@pytest.mark.workflow
def test_memory_that_runs_out_and_killed_workers_fail_the_job_and_leave_no_result(tmp_path):
    config = {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "splits": {"evaluation": 0, "final": True},
        "folds": 0,
        "grain": "dataset",
        "selectors": {"large": {"method": "plug_in:Large"}, "mrmr": {"method": "mrmr", "n_features": 3}},
        "models": ["tree"],
    }
    (tmp_path / "plug").mkdir()
    (tmp_path / "plug/plug_in.py").write_text(PLUG_IN, encoding="utf-8")
    plug_ins = [tmp_path / "plug"]
    undisturbed = configure(tmp_path / "undisturbed", config)
    snakemake(undisturbed, "--cores", "2", *WITHOUT_TABLES, plug_ins=plug_ins)
    folder = configure(tmp_path / "disturbed", config)

    def run(*before):
        call = [*before, *command(folder, "--cores", "2", *WITHOUT_TABLES)]
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(call, cwd=folder, env=environment(PROJECT, *plug_ins), **how)

    # 6 GB for the process: the method's 6 GB and Python do not fit.
    said = run("bash", "-c", 'ulimit -v 6291456; exec "$@"', "bash").communicate(timeout=HANGS)[0]
    assert "blanketflow: memory ran out" in said and "Error in rule grow_shrink_dataset_0" in said, said
    found = contents(folder / "results")
    assert not [name for name in found if "/large/" in name]
    assert [name for name in found if "/mrmr/" in name]  # the others went on

    (folder / "wait").touch()
    for which in (0, 1):  # the job, and the method's own process, as the system does when memory runs out
        (folder / "working").unlink(missing_ok=True)
        process = run()
        wait_for(folder / "working", process)
        os.kill(int((folder / "working").read_text().split()[which]), signal.SIGKILL)
        said = process.communicate(timeout=HANGS)[0]
        assert process.returncode == 1 and "Error in rule grow_shrink_dataset_0" in said, said
        assert ("memory ran out" in said) == (which == 1), said
        assert not list(folder.glob("results/select/**/large/**/*.parquet"))

    (folder / "wait").unlink()
    snakemake(folder, "--cores", "2", *WITHOUT_TABLES, plug_ins=plug_ins)
    assert_equal_results(contents(folder / "results"), contents(undisturbed / "results"))


def test_ctrl_c_cannot_be_caught_in_the_middle_of_a_job(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", CATCHES], cwd=tmp_path, env=environment())
    wait_for(tmp_path / "working", process)
    process.send_signal(signal.SIGINT)
    assert process.wait(HANGS) == -signal.SIGINT
    assert not (tmp_path / "result").exists()


@pytest.mark.parametrize(
    "error", [MemoryError(), OSError(12, "Cannot allocate memory"), RuntimeError("std::bad_alloc")]
)
def test_memory_that_runs_out_is_no_result(error):
    provenance = Provenance()
    with pytest.raises(type(error)), recorded(provenance):
        raise error
    assert provenance.status == "ok"
    with recorded(provenance):
        raise ValueError("the method failed")
    assert provenance.status == "error"
