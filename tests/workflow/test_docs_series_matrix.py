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


def test_from_a_series_matrix_to_a_report(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(8, 1, size=(20, 40))
    samples = [f"GSM{i}" for i in range(40)]
    states = ["tumor" if value > 8 else "normal" for value in X[4]]
    lines = [
        ["!Series_title", "Biopsies of two kinds"],
        ["!Sample_title", *(f"biopsy {i}" for i in range(40))],
        ["!Sample_geo_accession", *samples],
        ["!Sample_characteristics_ch1", *(f"disease state: {state}" for state in states)],
        ["!Sample_characteristics_ch1", *(f"age: {40 + i % 9}" for i in range(40))],
        ["!series_matrix_table_begin"],
        ["ID_REF", *samples],
        *([f"p{j}_at", *(f"{v:.2f}" for v in row)] for j, row in enumerate(X)),
        ["!series_matrix_table_end", ""],
    ]
    (tmp_path / "series.txt").write_text("\n".join(map("\t".join, lines)), encoding="utf-8")
    labels = [f"{sample},{40 + i},{states[i]}" for i, sample in enumerate(samples)]
    (tmp_path / "samples.csv").write_text("\n".join(["accession,age,diagnosis", *labels[::-1], ""]), encoding="utf-8")
    environ = environment(REPO)
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    said = []
    for command in COMMANDS:
        if command.startswith("blanketflow run"):  # quick, as the page says
            config = tmp_path / "series.yaml"
            text = config.read_text(encoding="utf-8")
            assert text.count("\n  auto: ") == 1
            config.write_text(re.sub(r"\n  auto: .*", "", text), encoding="utf-8")
        outcome = subprocess.run(command, shell=True, cwd=tmp_path, env=environ, capture_output=True, text=True)
        assert outcome.returncode == 0, outcome.stdout[-2000:] + outcome.stderr[-2000:]
        said.append(" ".join(outcome.stdout.split()))
    first, turned, joined, selected, _, run = said
    assert "orient: features-in-rows" in first and "say of samples: title, disease state, age" in first
    assert "40 rows, 20 features; disease state has 2 classes" in turned
    assert "40 rows, 20 features" in joined and "unless columns of labels lists them: age" in joined
    assert "p4_at" in selected and "Report: results/series/report.html" in run
    report = (tmp_path / "results" / "series" / "report.html").read_text(encoding="utf-8")
    assert "p4_at" in report and "disease state" in report
