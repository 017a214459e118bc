"""Every path of a run is made and parsed in one place."""

from pathlib import Path

import pytest

from blanketflow.core.errors import ArtefactError
from blanketflow.workflow.layout import FOLDERS, PATHS, parse, path_of

REPO = Path(__file__).parents[2]
IDS = {
    "dataset": "my-study", "split": "cv-12", "fold": "3of5", "folds": "5", "chunk": "2of7", "shard": "3of16",
    "test": "g2-part", "selector": "gs-0", "table": "paper-x-claims", "figure": "my-study-blanket",
}  # fmt: skip


@pytest.mark.parametrize("artefact", PATHS)
def test_a_path_is_parsed_into_what_it_was_made_of(artefact):
    path = path_of(artefact, **IDS)
    place = parse(Path("/home/me/results") / path)
    assert place.artefact == artefact
    assert path_of(place.artefact, **place.ids) == path
    assert place.ids.items() <= IDS.items()
    assert parse(path, [artefact]) == place


def test_ids_that_are_left_out_stay_open():
    assert path_of("splits", dataset="wine") == "data/wine/splits-{folds}.parquet"


@pytest.mark.parametrize("path", ["data/Wine/card.json", "select/wine/cv-x/gs/blanket.parquet", "xdata/wine/card.json"])
def test_other_paths_are_refused(path):
    with pytest.raises(ArtefactError, match=path):
        parse(path)


def test_the_folders_of_a_run_are_those_of_its_paths():
    assert FOLDERS == ("benchmarks", "ci_test", "counts", "data", "evaluate", "figures", "logs", "select", "tables")


def test_no_other_file_of_the_package_or_the_rules_spells_the_path_of_an_artefact():
    files = [*(REPO / "src").rglob("*.py"), *(REPO / "rules").glob("*.smk"), *(REPO / "scripts").glob("*.py")]
    ends = {path.rpartition("/")[2] for path in PATHS.values()} - {"figures", "{figure}.svg", "report.html", "manifest"}
    spelled = [*(f'{end}"' for end in ends), '"<results>/', "parts[-", "/fold-{fold}/grow", "/fold-{fold}/shrink"]
    found = {path.name for path in files for text in spelled if text in path.read_text(encoding="utf-8")}
    assert found == {"layout.py", "common.smk"}  # of these, rules/common.smk spells the folder of results alone
