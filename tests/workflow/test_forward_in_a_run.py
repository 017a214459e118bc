"""A run with forward splits: its table of drift is that of `compare`, and what a change of the periods reruns."""

import numpy as np
import pandas as pd
import pytest

from blanketflow.api.compare import compare_config
from blanketflow.cli import main
from blanketflow.data.artefacts import read_provenance
from workflow_runs import configure, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

CONFIG = {
    "splits": {"evaluation": "forward", "parts": 3, "time": "month", "gap": 1, "optimistic": True},
    "folds": 2,
    "selectors": {"mrmr": {"method": "mrmr", "n_features": 2}},
    "models": ["naive-bayes"],
}


def test_a_run_tells_the_drift(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    month = rng.integers(1, 25, 240)
    x = rng.normal(size=(240, 4))
    frame = pd.DataFrame(x, columns=list("abcd")).assign(a=x[:, 0] + 2 * (month > 16), month=month)
    frame["outcome"] = np.where(x[:, 0] - x[:, 1] + rng.normal(size=240) > 0, "bad", "good")
    frame.to_csv(tmp_path / "loans.csv", index=False)
    config = CONFIG | {"datasets": {"loans": {"path": "loans.csv", "target": "outcome"}}}
    snakemake(configure(tmp_path, config), "--cores", "2")
    results = tmp_path / "results"
    drift = pd.read_parquet(results / "tables/drift.parquet")
    monkeypatch.chdir(tmp_path)
    pd.testing.assert_frame_equal(drift, compare_config(config).drift)
    assert len(pd.read_csv(results / "tables/drift.csv")) == len(drift)
    large = drift.query("selector == 'mrmr' and psi > 0.25 and psi > by_chance")
    assert large[["feature", "period"]].values.tolist() == [["a", 3]]
    assert "a drifted: PSI" in (results / "report.html").read_text(encoding="utf-8")
    periods = read_provenance(results / "data/loans/splits-2.parquet").extra["periods"]
    assert [period["n_rows"] for period in periods] == drift.drop_duplicates("period")["n_rows"].tolist()
    assert main(["check", "--configfile", "my.yaml"]) == 0
    asked = config | {"splits": CONFIG["splits"] | {"gap": 2}}
    output = snakemake(configure(tmp_path, asked), "--cores", "2", "--dry-run").stdout
    assert "rule splits" in output and "rule table:" not in output and "rule card" not in output
