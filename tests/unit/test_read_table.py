"""`bf.read_table`: the readers of the commands and of the workflow, in Python."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.config.reading import checked_dataset
from blanketflow.core.convert import as_table
from blanketflow.core.errors import ConfigError, DataError, ReadingWarning
from blanketflow.data.sources import read_source

RNG = np.random.default_rng(5)
TABLE = pd.DataFrame(
    {
        "id": [f"s{i}" for i in range(60)],
        "a": RNG.normal(size=60).round(3),
        "crp": ["<0.6" if i % 9 == 0 else str(i % 7) for i in range(60)],
        "when": pd.date_range("2020-01-01", periods=60).strftime("%Y-%m-%d"),
        "code": RNG.integers(0, 3, 60),
        "flag": RNG.integers(0, 2, 60).astype(bool),
        "n": [None if i % 8 == 0 else i for i in range(60)],
        "y": ["ill" if i % 3 else "well" for i in range(60)],
    }
)
KEYS = {"below_detection": "half", "dates": "ordinal", "categorical": ["code"], "drop": ["id"]}


@pytest.fixture(autouse=True)
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("t.csv", index=False)
    return "t.csv"


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.ReadingWarning")
def test_the_columns_are_those_of_the_workflow(path):
    X = bf.read_table(path, **KEYS)
    raw = read_source("t", checked_dataset("t", {"path": path, "target": "y", **KEYS}), 0)
    target, found = X.pop("y"), as_table(X)
    assert target.tolist() == [raw.target.levels[code] for code in raw.target.values]
    assert found.names == raw.features.names
    for column in raw.features.columns:
        assert np.array_equal(found[column.name].numbers(), column.numbers(), equal_nan=True), column.name
        assert found[column.name].levels == column.levels and found[column.name].is_discrete == column.is_discrete


def test_what_was_found_out_is_said():
    TABLE[["a", "code", "y"]].to_csv("t.csv", index=False, sep=";", decimal=",")
    with pytest.warns(ReadingWarning, match="decimal commas in a.*set decimal"):
        X = bf.read_table("t.csv")
    assert np.array_equal(X["a"], TABLE["a"])
    assert bf.read_table(Path("t.csv"), decimal=",", sep=";").equals(X)


def test_tables_on_their_side_with_labels_in_another_file():
    genes = pd.DataFrame(RNG.normal(size=(30, 60)).round(3), columns=TABLE["id"]).rename_axis("gene").reset_index()
    genes.assign(gene=[f"g{i}" for i in range(30)]).to_csv("genes.csv", index=False)
    TABLE[["id", "y"]].to_csv("labels.csv", index=False)
    labels = {"path": "labels.csv", "by": "id", "target": "y"}
    X = bf.read_table("genes.csv", orient="features-in-rows", labels=labels)
    assert X.shape == (60, 31) and X["y"].tolist() == TABLE["y"].tolist()
    assert np.array_equal(X.drop(columns="y").to_numpy(), genes.drop(columns="gene").to_numpy().T)


def test_sparse_tables_stay_sparse():
    Path("t.svm").write_text("1 1:2.5 7:1\n0 2:1\n1 7:3\n", encoding="utf-8")
    X = bf.read_table("t.svm")
    assert all(isinstance(kind, pd.SparseDtype) for name, kind in X.dtypes.items() if name != "target")
    assert X["f7"].tolist() == [1, 0, 3]


def test_keys_that_are_wrong_are_refused():
    with pytest.raises(ConfigError, match="Did you mean 'orient'"):
        bf.read_table("t.csv", oreint="features-in-rows")
    with pytest.raises(DataError, match="there is no file"):
        bf.read_table("u.csv")
    with pytest.raises(DataError, match="Set below_detection: half"):
        bf.read_table("t.csv")


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.ReadingWarning")
@pytest.mark.parametrize("given", ["t.csv", Path("t.csv")])
@pytest.mark.parametrize(
    "ask",
    [
        lambda X: bf.select(X, "y"),
        lambda X: bf.compare(X, "y"),
        lambda X: bf.compare({"study": (X, "y")}),
        lambda X: bf.blankets(X),
        lambda X: bf.MIM().fit(X, "y"),
    ],
)
def test_a_path_in_place_of_a_table_is_refused_with_the_way_to_read_it(given, ask):
    with pytest.raises(DataError, match="must be a table") as refused:
        ask(given)
    TABLE[["a", "code", "y"]].to_csv("t.csv", index=False)
    how, pop = re.search(r"X = (bf\.read_table\('t\.csv'\)), .*: y = (X\.pop\(COLUMN\))", str(refused.value)).groups()
    X = eval(how, {"bf": bf})
    y = eval(pop, {"X": X, "COLUMN": "y"})
    assert bf.MIM(n_features=1).fit(X, y).selected_features_
