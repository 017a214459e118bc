"""Tables of every kind, by path, through selection in one run; and what runs again when a file changes."""

import gzip
import json
import os
import shutil

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from workflow_runs import WITHOUT_TABLES, chosen, columns, configure, counts, planned, provenance, ran, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

N = 240
DATASETS = ("mixed", "cost", "stored", "dense", "sparse")
#: Which data sets each selector runs on.
SELECTORS = {
    "ppfs": ["cost", "dense", "sparse"],
    "gs": ["mixed", "stored", "dense", "sparse"],
    "mrmr": ["mixed", "cost"],
}
#: Five rows per cell of the first of the smallest tests that gs could not make; columns have five bins or their levels.
ROWS_NEEDED = {"mixed": 5 * 2 * 3 * 3 * 5, "stored": 5 * 5 * 5 * 4, "dense": 5 * 3 * 5 * 5}


def mixed_frame(rng):
    """Text, boolean, integer and real columns with gaps; the outcome depends on the site and the dose."""
    site = rng.choice(["north", "south", "east"], N)
    dose = rng.normal(size=N)
    frame = pd.DataFrame(
        {
            "patient": np.arange(N),
            "site": site,
            "smoker": rng.random(N) < 0.4,
            "visits": rng.integers(1, 7, N),
            "dose": np.where(rng.random(N) < 0.05, np.nan, dose.round(4)),
            "code": rng.choice([10, 20, 30], N),
            "unit": "mg",
        }
    )
    frame["outcome"] = np.where((site == "north") ^ (dose > 0.7), "ill", "well")
    return frame


def cost_frame(rng):
    """A regression: cost depends on size and age."""
    frame = pd.DataFrame(rng.normal(size=(N, 4)).round(5), columns=["size", "age", "noise", "weight"])
    frame["cost"] = (3 * frame["size"] - 2 * frame["age"] + rng.normal(scale=0.1, size=N)).round(5)
    return frame


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("sources"), np.random.default_rng(7)
    data = folder / "data"
    data.mkdir()
    mixed_frame(rng).to_csv(data / "mixed.csv", index=False)
    cost = cost_frame(rng)
    with gzip.open(data / "cost.csv.gz", "wt", encoding="utf-8") as file:
        cost.to_csv(file, index=False, sep=";")
    stored = cost.assign(group=pd.Categorical(np.where(cost["size"] > 0, "large", "small")), even=cost["age"] > 0)
    stored.drop(columns=["size", "age"]).to_parquet(data / "stored.parquet", index=False)
    y = rng.integers(0, 3, N)
    X = rng.normal(size=(N, 5))
    X[:, 2] += 3 * y
    np.savez(data / "dense.npz", X=X)
    counted = sparse.random(N, 8, density=0.2, random_state=1, data_rvs=lambda k: np.ones(k)).tolil()
    counted[:, 4] = (y == 1).astype(float)[:, None]
    sparse.save_npz(data / "sparse.npz", counted.tocsr())
    for name in ("dense", "sparse"):
        (data / f"{name}.y.csv").write_text("target\n" + "\n".join(f"class-{label}" for label in y) + "\n")
    config = {
        "datasets": {
            "mixed": {"path": "data/mixed.csv", "target": "outcome", "drop": ["patient"], "categorical": ["code"]},
            "cost": {"path": "data/cost.csv.gz", "target": "cost"},
            "stored": {"path": "data/stored.parquet", "target": "cost"},
            "dense": {"path": "data/dense.npz"},
            "sparse": {"path": "data/sparse.npz"},
        },
        "splits": {"evaluation": 0},
        "folds": 0,
        "ci_tests": {"quick": {"type": "ppi", "n_repeats": 5}},
        "selectors": {
            "ppfs": {"method": "ppfs", "ci_test": "quick", "datasets": SELECTORS["ppfs"]},
            "gs": {"method": "gs", "ci_test": "g2", "datasets": SELECTORS["gs"]},
            "mrmr": {"method": "mrmr", "n_features": 2, "datasets": SELECTORS["mrmr"]},
        },
    }
    configure(folder, config)
    snakemake(folder, "--cores", "2", *WITHOUT_TABLES)
    return folder


def card(run, dataset):
    return json.loads((run / f"results/data/{dataset}/card.json").read_text(encoding="utf-8"))


def test_the_card_of_a_mixed_table(run):
    found = card(run, "mixed")
    frame = pd.read_csv(run / "data/mixed.csv")
    assert (found["n_rows"], found["n_features"]) == (N, 6)
    assert found["kinds"] == {"boolean": 1, "categorical": 3, "integer": 1, "numeric": 1}
    assert found["task"] == "classification" and "outcome" in found["task_reason"]
    assert found["target"] == {"name": "outcome", "classes": frame["outcome"].value_counts().sort_index().to_dict()}
    assert found["missing"]["by_column"] == {"dose": int(frame["dose"].isna().sum())} and frame["dose"].isna().any()
    assert found["constant"] == ["unit"]


def test_the_card_of_a_regression(run):
    found, frame = card(run, "cost"), pd.read_csv(run / "data/cost.csv.gz", sep=";")
    assert found["task"] == "regression" and found["kinds"] == {"numeric": 4}
    assert found["target"]["mean"] == pytest.approx(frame["cost"].mean())
    assert found["target"]["sd"] == pytest.approx(frame["cost"].std())


def test_the_cards_of_parquet_and_npz(run):
    assert card(run, "stored")["kinds"] == {"boolean": 1, "categorical": 1, "numeric": 2}
    assert card(run, "stored")["task"] == "regression"
    for name, shape in (("dense", (N, 5)), ("sparse", (N, 8))):
        found = card(run, name)
        assert (found["n_rows"], found["n_features"]) == shape
        assert found["task"] == "classification" and len(found["target"]["classes"]) == 3
    assert len({card(run, name)["content_hash"] for name in DATASETS}) == len(DATASETS)


@pytest.mark.parametrize("selector", SELECTORS)
def test_every_selector_ends_well(run, selector):
    for dataset in SELECTORS[selector]:
        said = provenance(run / f"results/select/{dataset}/full/{selector}/blanket.parquet")
        if selector == "gs" and dataset in ROWS_NEEDED:
            assert said["status"] == "unreliable"
            assert f"at least {ROWS_NEEDED[dataset]} are needed, there are {N})" in said["reason"]
        else:
            assert (said["status"], said["reason"]) == ("ok", "")
        if selector == "mrmr":
            assert len(chosen(run / "results", dataset, "full", selector)) == 2


@pytest.mark.parametrize(
    ("dataset", "selector", "expected"),
    [
        ("mixed", "gs", {"site", "dose"}),
        ("mixed", "mrmr", {"site", "dose"}),
        ("cost", "ppfs", {"size"}),
        ("cost", "mrmr", {"size", "age"}),
        ("stored", "gs", {"group", "even"}),
        ("dense", "ppfs", {"x2"}),
        ("dense", "gs", {"x2"}),
        ("sparse", "ppfs", {"x4"}),
        ("sparse", "gs", {"x4"}),
    ],
)
def test_what_the_target_depends_on_is_found(run, dataset, selector, expected):
    assert expected <= set(chosen(run / "results", dataset, "full", selector))


def copied(run, tmp_path):
    return shutil.copytree(run, tmp_path / "copy")


def test_touched_files_of_equal_content_rerun_nothing(run, tmp_path):
    folder = copied(run, tmp_path)
    for path in [*(folder / "data").iterdir(), folder / "my.yaml"]:
        os.utime(path)
    assert planned(folder, *WITHOUT_TABLES) == []


def test_a_changed_file_reruns_what_depends_on_it_and_no_other_data_set(run, tmp_path):
    folder = copied(run, tmp_path)
    path = folder / "data/mixed.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("north", "arctic"), encoding="utf-8")
    expected = {
        ("table", "mixed"): 1,
        ("splits", "mixed"): 1,
        ("gather_splits", "mixed"): 1,
        ("ci_test_dataset_0", "mixed"): 1,
    }
    expected |= {
        ("several_selectors_1", "mixed"): 1,
        ("tables", None): 1,
        ("report", None): 1,
    }
    assert counts(planned(folder), "dataset") == expected
    done = counts(ran(folder, "results/select/mixed/full/gs/blanket.parquet"), "dataset")
    assert {dataset for _, dataset in done} == {"mixed"} and done["several_selectors_1", "mixed"] == 1
    assert "arctic" in columns(folder / "results/data/mixed/table.parquet")["site"]
    assert card(folder, "mixed")["content_hash"] != card(run, "mixed")["content_hash"]


def test_a_changed_companion_of_an_npz_reruns_its_table(run, tmp_path):
    folder = copied(run, tmp_path)
    path = folder / "data/dense.y.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("class-0", "class-1", 1), encoding="utf-8")
    listed = counts(planned(folder), "dataset")
    assert {dataset for _, dataset in listed} == {"dense", None} and listed["table", "dense"] == 1
