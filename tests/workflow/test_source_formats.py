"""Formats with companions, databases and files behind URLs in one run; and what runs again when one of them changes."""

import json
import os
import re
import shutil

import duckdb
import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from blanketflow.core.column import SparseColumns
from blanketflow.data.storage import read_table
from file_server import FileServer, guarded
from workflow_runs import WITHOUT_TABLES, chosen, configure, counts, planned, ran, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

N, WIDE = 200, 600
TABLES = ("plain", "c45", "base", "web")


def rows():
    """Dose and site decide the outcome."""
    rng = np.random.default_rng(5)
    dose, noise, site = rng.normal(size=N).round(4), rng.normal(size=N).round(4), rng.choice(["north", "south"], N)
    outcome = np.where((dose > 0) | (site == "north"), "ill", "well")
    return list(zip(dose, noise, site, outcome, strict=True))


@pytest.fixture(scope="module")
def server():
    with FileServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_PASSWORD", "hunter2")
        yield server


@pytest.fixture(scope="module")
def run(tmp_path_factory, server):
    folder = tmp_path_factory.mktemp("formats")
    data = folder / "data"
    data.mkdir()
    lines = [",".join(map(str, row)) for row in rows()]
    (data / "plain.csv").write_text("dose,noise,site,outcome\n" + "\n".join(lines) + "\n")
    (data / "c45.data").write_text("\n".join(lines) + "\n")
    (data / "c45.names").write_text("ill, well.\ndose: continuous.\nnoise: continuous.\nsite: north, south.\n")
    with duckdb.connect(str(data / "base.duckdb")) as connection:
        connection.execute(f"CREATE TABLE visits AS SELECT * FROM '{data}/plain.csv'")
    rng = np.random.default_rng(6)
    X = rng.integers(1, 5, (N, WIDE)) * (rng.random((N, WIDE)) < 0.05)
    y = rng.integers(0, 2, N)
    X[:, 400] = y
    dump_svmlight_file(X, y, str(data / "wide.svm"), zero_based=False)
    server.files["/plain.csv"] = guarded((data / "plain.csv").read_bytes(), "me", "hunter2")
    config = {
        "datasets": {
            "plain": {"path": "data/plain.csv", "target": "outcome"},
            "c45": {"path": "data/c45.data"},
            "base": {"source": "duckdb:data/base.duckdb", "query": "SELECT * FROM visits", "target": "outcome"},
            "web": {"path": server.url.replace("//", "//me:${LAB_PASSWORD}@") + "/plain.csv", "target": "outcome"},
            "wide": {"path": "data/wide.svm"},
        },
        "splits": {"evaluation": 0},
        "folds": 0,
        "selectors": {"mrmr": {"method": "mrmr", "n_features": 2}},
    }
    configure(folder, config)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BLANKETFLOW_CACHE", str(folder / "cache"))
        snakemake(folder, "--cores", "2", *WITHOUT_TABLES)
        yield folder


def copied(run, tmp_path):
    return shutil.copytree(run, tmp_path / "copy")


def test_the_same_table_gives_the_same_blanket_in_every_format(run):
    for dataset in TABLES:
        assert set(chosen(run / "results", dataset, "full", "mrmr")) == {"dose", "site"}
    cards = [
        json.loads((run / f"results/data/{dataset}/card.json").read_text()) for dataset in ("plain", "base", "web")
    ]
    assert len({card["content_hash"] for card in cards}) == 1  # c45's target has another name


def test_a_wide_sparse_table_stays_sparse(run):
    assert isinstance(read_table(run / "results/data/wide/table.parquet").features.columns, SparseColumns)
    assert "f401" in chosen(run / "results", "wide", "full", "mrmr")


def test_a_file_is_downloaded_once_and_its_password_kept_out(run, server):
    assert planned(run, *WITHOUT_TABLES) == []
    assert server.asked == {"/plain.csv": 1}
    for path in (*(run / "results").rglob("*"), *(run / ".snakemake").rglob("*"), *(run / "cache").rglob("*")):
        assert path.is_dir() or b"hunter2" not in path.read_bytes(), path
    assert any("hunter2" in value for value in os.environ.values())


@pytest.mark.parametrize(
    ("file", "change", "dataset"),
    [
        ("c45.names", lambda path: path.write_text(path.read_text().replace("noise:", "noises:")), "c45"),
        (
            "base.duckdb",
            lambda path: duckdb.connect(str(path)).execute("DELETE FROM visits WHERE dose > 2").close(),
            "base",
        ),
    ],
)
def test_a_changed_companion_or_database_reruns_its_table(run, tmp_path, file, change, dataset):
    folder = copied(run, tmp_path)
    change(folder / "data" / file)
    listed = counts(planned(folder), "dataset")
    assert {found for _, found in listed} == {dataset, None} and listed["table", dataset] == 1
    ran(folder, f"results/data/{dataset}/table.parquet")


def test_what_cannot_be_fetched_ends_before_any_job(run, tmp_path, server):
    folder = copied(run, tmp_path)
    text = (folder / "my.yaml").read_text()
    (folder / "my.yaml").write_text(re.sub(r"(:\d+)/plain.csv", r"\1/plane.csv", text))
    outcome = snakemake(folder, "-n", check=False)
    assert outcome.returncode and "plane.csv cannot be downloaded: the server answers 404" in outcome.stdout
    assert "hunter2" not in outcome.stdout and "Traceback" not in outcome.stdout
