"""The page on series matrices, followed to the letter: its commands run, on small files of the form that it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from workflow_runs import environment

pytestmark = [pytest.mark.workflow, pytest.mark.extended]
REPO = Path(__file__).parents[2]
TEXT = (REPO / "docs" / "series-matrix.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```bash\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]


def test_from_a_series_matrix_and_labels_to_a_report(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(8, 1, size=(20, 40))
    samples = [f"GSM{i}" for i in range(40)]
    lines = ['!Series_title\t"Biopsies of two kinds"', "!series_matrix_table_begin", "\t".join(["ID_REF", *samples])]
    lines += ["\t".join([f"p{j}_at", *(f"{v:.2f}" for v in row)]) for j, row in enumerate(X)]
    (tmp_path / "series.txt").write_text("\n".join([*lines, "!series_matrix_table_end", ""]), encoding="utf-8")
    labels = [f"{sample},{40 + i},{'tumour' if X[4, i] > 8 else 'normal'}" for i, sample in enumerate(samples)]
    (tmp_path / "samples.csv").write_text("\n".join(["accession,age,diagnosis", *labels[::-1], ""]), encoding="utf-8")
    environ = environment(REPO)
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    said = []
    for command in COMMANDS:
        outcome = subprocess.run(command, shell=True, cwd=tmp_path, env=environ, capture_output=True, text=True)
        assert outcome.returncode == 0, outcome.stdout[-2000:] + outcome.stderr[-2000:]
        said.append(outcome.stdout)
    first, turned, selected, _, run = said
    assert "orient: features-in-rows" in " ".join(first.split())
    assert "40 rows, 20 features" in turned and "unless columns of labels lists them: age" in turned
    assert "p4_at" in selected and "Report: results/series/report.html" in run
    assert "p4_at" in (tmp_path / "results" / "series" / "report.html").read_text(encoding="utf-8")
