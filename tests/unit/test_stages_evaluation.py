"""The evaluate stage beside scikit-learn: models and medians come from the training rows, scores from the test rows."""

import json

import numpy as np
import pytest
from sklearn.metrics import mean_squared_error
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from blanketflow.core.seeds import seed_32
from blanketflow.data.artefact_columns import ARTEFACTS
from blanketflow.data.artefacts import read_columns, write_columns
from blanketflow.data.provenance import Provenance
from blanketflow.data.sources import read_source
from blanketflow.data.splits import make_splits, test_rows, train_rows
from blanketflow.data.storage import read_table, write_table
from blanketflow.workflow.stages.evaluation import evaluate_blankets
from blanketflow.workflow.stages.fold import Fold

SEED, SPLITS = 5, ("cv-1", "cv-2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table whose gaps lie in both parts of every split, its splits, and a blanket of two of three features."""
    folder, rng = tmp_path_factory.mktemp("evaluation"), np.random.default_rng(0)
    n = 80
    X = rng.normal(size=(n, 3)) + np.linspace(0, 3, n)[:, None]
    y = X[:, 0] - X[:, 2] + rng.normal(size=n)
    X[rng.random((n, 3)) < 0.2] = np.nan
    np.savetxt(folder / "t.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="", fmt="%.6g")
    text = (folder / "t.csv").read_text(encoding="utf-8").replace("nan", "")
    (folder / "t.csv").write_text(text, encoding="utf-8")
    raw = read_source("t", {"path": str(folder / "t.csv"), "target": "y"}, 0)
    write_table(folder / "table.parquet", raw, Provenance(extra={"content_hash": "of t"}))
    asked = {"evaluation": 2, "repeats": 1, "final": True, "stratify": True}
    columns = make_splits(raw.target, asked, [0], 1, "t", None, 0)
    write_columns(folder / "splits.parquet", columns, ARTEFACTS["splits"].types(), Provenance())
    blanket = {"feature": ["a", "c"], "chosen": [True, True], "frequency": [1.0, 1.0], "importance": [2.0, 1.0]}
    blanket |= {"role": ["member", "member"], "stand_ins": [[], []]}
    write_columns(folder / "blanket.parquet", blanket, ARTEFACTS["blanket"].types(), Provenance())
    return folder


def parts_of(folder, split):
    """The rows of a split's parts."""
    drawn = {name: np.array(values) for name, values in read_columns(folder / "splits.parquet")[0].items()}
    return train_rows(drawn, split), test_rows(drawn, split)


def medians(part):
    """The lower median of each column's known cells."""
    return np.array([np.sort(column[~np.isnan(column)])[(np.sum(~np.isnan(column)) - 1) // 2] for column in part.T])


def test_scores_are_those_of_models_and_medians_of_the_training_rows(folder):
    spec = {"models": ["tree", "knn"], "metrics": ["mse"], "splits": SPLITS, "seed": SEED}
    blankets, scores = [folder / "blanket.parquet"] * 2, folder / "evaluate" / "mine.parquet"
    evaluate_blankets(folder / "table.parquet", folder / "splits.parquet", blankets, scores, "t", json.dumps(spec))
    found, provenance = read_columns(scores)
    assert provenance.status == "ok"
    table = read_table(folder / "table.parquet")
    X = np.column_stack([table.features[name].numbers() for name in ("a", "c")])
    y = np.asarray(table.target.values)
    wanted = []
    for split in SPLITS:
        train, test = parts_of(folder, split)
        assert len(train) == len(test) == 40 and np.isnan(X[train]).any() and np.isnan(X[test]).any()
        assert (medians(X[train]) != medians(X)).any()
        filled = np.where(np.isnan(X), medians(X[train]), X)
        tree = DecisionTreeRegressor(random_state=seed_32(SEED, "t", split, "evaluate", "tree"))
        for model in (tree, make_pipeline(StandardScaler(), KNeighborsRegressor(5))):
            wanted.append(mean_squared_error(y[test], model.fit(filled[train], y[train]).predict(filled[test])))
    assert found["split"] == ["cv-1", "cv-1", "cv-2", "cv-2"] and found["model"] == ["tree", "knn"] * 2
    assert found["value"] == pytest.approx(wanted)
    assert min(wanted) > 0.1  # a model that has seen the test rows would know them


def test_a_search_fills_gaps_from_its_own_rows(folder):
    train, _ = parts_of(folder, "cv-1")
    spec = json.dumps({"fold_rows": "train"})
    rows = Fold(folder / "table.parquet", folder / "splits.parquet", "t", "cv-1", "0", spec, "").read()
    known = read_table(folder / "table.parquet").features.take(train)
    cells = np.column_stack([known[name].numbers() for name in ("a", "b", "c")])
    for name, values in zip("abc", np.where(np.isnan(cells), medians(cells), cells).T, strict=True):
        assert rows[name].values.tolist() == values.tolist()
