"""A kind of target that lies beside the config, in a run; and what runs again when its code changes."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workflow_runs import WITHOUT_TABLES, chosen, configure, counts, planned, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]
PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
MODULES = dict(re.findall(r"^```python\n# (\w+)\.py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))


def test_it_is_searched_and_scored_and_searched_again_after_its_code_changes(tmp_path):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    trials = rng.integers(5, 20, 300)
    germinated = rng.binomial(trials, 1 / (1 + np.exp(-X["a"] + 0.8 * X["b"])))
    X.assign(germinated=germinated, sown=trials).to_csv(tmp_path / "sown.csv", index=False)
    (tmp_path / "my_kinds.py").write_text(MODULES["my_kinds"], encoding="utf-8")
    target = {"target": {"successes": "germinated", "trials": "sown"}, "target_kind": "my_kinds:Successes"}
    selectors = {"iamb": {"method": "iamb", "alpha": 0.001, "ci_test": "lr-mixed"}}
    asked = {"datasets": {"sown": {"path": "sown.csv", **target}}, "selectors": selectors, "models": ["ridge"]}
    configure(tmp_path, {**asked, "splits": {"evaluation": 2}, "folds": 0})
    snakemake(tmp_path, "--cores", "1", *WITHOUT_TABLES)
    assert set(chosen(tmp_path / "results", "sown", "full", "iamb")) == {"a", "b"}
    assert planned(tmp_path, *WITHOUT_TABLES) == []
    (tmp_path / "my_kinds.py").write_text(MODULES["my_kinds"].replace("+ 0.5", "+ 0.25"), encoding="utf-8")
    again = counts(planned(tmp_path, *WITHOUT_TABLES), "dataset")
    assert again["table", "sown"] == 1
