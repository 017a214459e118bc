"""`method: auto` in a run: its verdict reaches the tables and the report, and only its spec decides the answer."""

import pyarrow.parquet as pq
import pytest

from blanketflow.cli import main
from workflow_runs import assert_equal_results, configure, contents, provenance, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

CONFIG = {
    "datasets": {"wine": {"source": "sklearn:wine"}},
    "splits": {"evaluation": 2},
    "folds": 2,
    "selectors": {"auto": {"method": "auto", "folds": 0, "max_candidates": 4, "n_parts": 2}, "all": {"method": "all"}},
    "models": ["tree"],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = configure(tmp_path_factory.mktemp("auto"), CONFIG)
    snakemake(folder, "--cores", "2")
    return folder


def test_the_verdict_is_in_the_tables_and_the_report(run, monkeypatch, capsys):
    said = provenance(run / "results/select/wine/full/auto/blanket.parquet")["extra"]["verdict"]
    assert said["sentence"].startswith("Keep ")
    rows = pq.read_table(run / "results/tables/statuses.parquet").to_pylist()
    told = {(row["selector"], row["split"]): row["verdict"] for row in rows if row["stage"] == "select"}
    assert told["auto", "full"] == said["sentence"] and told["auto", "cv-1"] and not told["all", "full"]
    assert said["sentence"][:60] in (run / "results/report.html").read_text(encoding="utf-8")


def test_one_core_gives_the_same(run, tmp_path):
    again = configure(tmp_path, CONFIG | {"grain": "fold"})
    snakemake(again, "--cores", "1", "results/select/wine/cv-1/auto/blanket.parquet")
    found, expected = (contents(folder / "results/select") for folder in (again, run))
    assert_equal_results(found, {path: expected[path] for path in found})


def test_init_begins_with_it_and_its_config_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "sklearn:wine"]) == 0
    text = (tmp_path / "wine.yaml").read_text(encoding="utf-8")
    assert text.index("  auto: {method: auto, folds: 0}") < text.index("  iamb:")
