"""Python files that lie beside the data, named as packages are: no command imports them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.extended]
PROGRAM = Path(sys.executable).with_name("blanketflow")
PLANTED = ("numpy", "pandas", "yaml", "json", "random", "sklearn", "blanketflow", "snakemake", "site", "sitecustomize")
CONFIG = """
datasets: {study: {path: study.csv, target: outcome}}
selectors: {mine: {method: mrmr, n_features: 1}}
models: [naive-bayes]
"""


@pytest.fixture
def folder(tmp_path):
    """A table, a config, and modules that leave a trace when they are imported."""
    rows = "".join(f"{i},{i * 7 % 12},{'yx'[i % 2]}\n" for i in range(24))
    (tmp_path / "study.csv").write_text(f"a,b,outcome\n{rows}")
    (tmp_path / "my.yaml").write_text(CONFIG)
    for name in PLANTED:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'run-')!r} + {name!r}, 'w')\nraise SystemExit(9)\n")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["inspect", "study.csv", "--target", "outcome"],
        ["init", "study.csv", "--target", "outcome", "--output", "new.yaml"],
        ["select", "study.csv", "--target", "outcome", "--method", "mrmr", "--set", "n_features=1"],
        ["run", "--configfile", "my.yaml", "--cores", "2", "--until", "table"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_nothing_beside_the_data_is_imported(arguments, folder):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    assert sorted(path.name for path in folder.glob("run-*")) == []
    assert done.returncode == 0, done.stdout + done.stderr
    if arguments[0] == "run":
        assert (folder / "results/data/study/table.parquet").is_file()
