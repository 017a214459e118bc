"""A run on samples of one network, each with test rows of its own: the plan, the splits, the scores and the truth."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from blanketflow.data.simulate import simulated
from blanketflow.data.storage import read_table
from blanketflow.models.encode import design
from workflow_runs import chosen, columns, configure, planned, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

SAMPLE = {"source": "simulate:clinic", "rows": 260, "test_rows": 60}
CONFIG = {
    "datasets": {"clinic-1": SAMPLE, "clinic-2": SAMPLE},
    "splits": {"evaluation": 1, "final": False},
    "folds": 0,
    "selectors": {
        "gs": {"method": "gs", "ci_test": "g2", "folds": 2},
        "truth": {"method": "true-blanket"},
        "true-pc": {"method": "true-blanket", "part": "parents-and-children"},
    },
    "models": ["knn"],
    "metrics": ["accuracy"],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = configure(tmp_path_factory.mktemp("samples"), CONFIG)
    snakemake(folder, "--cores", "2")
    return folder / "results"


def test_there_is_one_split_and_nothing_is_left_to_do(run):
    assert {path.name for path in (run / "select/clinic-1").iterdir()} == {"cv-1"}
    assert not planned(run.parent)


def test_the_last_rows_are_tested_on_and_folds_are_cut_from_the_others(run):
    found = {name: np.array(values) for name, values in columns(run / "data/clinic-1/splits.parquet").items()}
    for folds in (0, 2):
        part = found["part"][found["folds"] == folds]
        assert part.tolist() == ["train"] * 200 + ["test"] * 60
    fold = found["fold"][found["folds"] == 2]
    assert not fold[200:].any() and set(fold[:200]) == {1, 2}


def test_samples_differ_and_the_scores_are_those_of_their_test_rows(run):
    tables = [read_table(run / f"data/clinic-{i}/table.parquet") for i in (1, 2)]
    assert not np.array_equal(*(table.target.values for table in tables))
    for i, table in enumerate(tables, 1):
        X, y = design(table.features).matrix, table.target.values
        model = make_pipeline(StandardScaler(), KNeighborsClassifier(5)).fit(X[:200], y[:200])
        found = columns(run / f"evaluate/clinic-{i}/all.parquet")
        assert found["split"] == ["cv-1"] and found["value"] == pytest.approx([model.score(X[200:], y[200:])])


def test_the_truth_is_counted_by_kind(run):
    known = simulated("clinic").truth()
    relatives = {*known["parents"], *known["children"]}
    assert set(chosen(run, "clinic-1", "cv-1", "truth")) == set(known["blanket"])
    assert set(chosen(run, "clinic-1", "cv-1", "true-pc")) == relatives
    found = columns(run / "tables/truth.parquet")
    rows = {
        (dataset, selector): {name: values[i] for name, values in found.items()}
        for i, (dataset, selector) in enumerate(zip(found["dataset"], found["selector"], strict=True))
    }
    for dataset in CONFIG["datasets"]:
        pc, whole, every = (rows[dataset, selector] for selector in ("true-pc", "truth", "all"))
        assert (pc["precision"], pc["pc_precision"], pc["pc_recall"]) == (1, 1, 1)
        assert (pc["n_pc"], pc["n_spouses"], pc["n_false"]) == (len(relatives), 0, 0)
        assert (whole["recall"], whole["n_spouses"]) == (1, len(known["spouses"]))
        assert every["n_false"] == every["n_chosen"] - len(known["blanket"])
    report = (run / "report.html").read_text(encoding="utf-8")
    assert "mean over the splits" in report and "false positives" in report
