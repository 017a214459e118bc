"""`snakemake --report`: the page, its figures and tables with captions and labels, beside its own view of the run.

Snakemake carries what its page shows in its own package, so this needs no network.
"""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from workflow_runs import PROJECT, TABLES, planned, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]
CAPTIONS = PROJECT / "rules/captions"


@pytest.fixture(scope="module")
def folder(finished, tmp_path_factory):
    to = tmp_path_factory.mktemp("reported") / "run"
    shutil.copytree(finished, to)
    return to


@pytest.fixture(scope="module")
def archive(folder):
    snakemake(folder, "--report", "out.zip")
    with zipfile.ZipFile(folder / "out.zip") as archive:
        yield archive


@pytest.fixture(scope="module")
def shown(archive):
    """What Snakemake's page says of each result, by path."""
    page = archive.read("out/report.html").decode()
    return json.JSONDecoder().raw_decode(page.split('<script id="results">')[1].split(" = ", 1)[1])[0]


def test_the_page_figures_and_tables_are_in_it(shown, folder):
    figures = {
        f"results/figures/{path.name}" for path in (folder / "results/figures").iterdir() if path.suffix == ".svg"
    }
    tables = {f"results/tables/{name}.csv" for name in TABLES}
    assert figures and set(shown) == figures | tables | {"results/report.html", "results/provenance.json"}


def test_each_has_its_labels(shown):
    assert shown["results/report.html"]["labels"] == {"result": "the whole report"}
    assert {path: result["labels"]["figure"] for path, result in shown.items() if path.endswith(".svg")} == {
        path: Path(path).stem for path in shown if path.endswith(".svg")
    }
    tables = {path: result["labels"] for path, result in shown.items() if path.endswith(".csv")}
    assert {path: labels["table"] for path, labels in tables.items()} == {path: Path(path).stem for path in tables}
    assert len({labels["holds"] for labels in tables.values()}) == len(TABLES)


@pytest.mark.parametrize(
    ("caption", "path"),
    [("report", "report.html"), ("provenance", "provenance.json"), ("table", "tables/scores.csv")],
)
def test_each_has_its_caption(shown, caption, path):
    words = (CAPTIONS / f"{caption}.rst").read_text("utf-8").split()
    assert " ".join(words) in " ".join(shown[f"results/{path}"]["caption"].split())


def test_a_figures_caption_names_it(shown):
    assert all(Path(path).stem in shown[path]["caption"] for path in shown if path.endswith(".svg"))


def test_the_page_itself_is_unchanged_in_it(shown, archive, folder):
    kept = archive.read("out/" + shown["results/report.html"]["data_uri"])
    assert kept == (folder / "results/report.html").read_bytes()


def test_one_html_file_holds_it_too_and_nothing_runs_again(folder):
    snakemake(folder, "--report", "out.html")
    assert "the whole report" in (folder / "out.html").read_text("utf-8")
    assert planned(folder) == []
