"""A run as a Workflow Run RO-Crate: what its profiles demand, digests of all files, and no row of a table."""

import dataclasses
import hashlib
import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

import blanketflow as bf
from blanketflow.core.errors import DataError
from blanketflow.reporting.export import OF_RUN
from test_export_methods import compared

REPO = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    made = {name: folder / name.replace("/", "-") for name in ("provenance.json", "report.html", "tables/scores.csv")}
    for name, path in made.items():
        path.write_text(f"what {name} says", encoding="utf-8")
    selectors = {"gs": bf.GS(ci_test="fisher-z"), "all": bf.All()}
    files = {"workflow/Snakefile": REPO / "Snakefile", **made}
    return dataclasses.replace(compared(selectors, evaluation=2, folds=0), files=files)


@pytest.fixture(scope="module")
def files(exported):
    return OF_RUN["crate"](exported)


@pytest.fixture(scope="module")
def entities(files):
    return {one["@id"]: one for one in json.loads(files["ro-crate-metadata.json"])["@graph"]}


def ids(links):
    return [link["@id"] for link in (links if isinstance(links, list) else [links])]


def test_what_ro_crate_demands(entities):
    descriptor, root = entities["ro-crate-metadata.json"], entities["./"]
    assert descriptor["@type"] == "CreativeWork" and ids(descriptor["about"]) == ["./"]
    assert "https://w3id.org/ro/crate/1.1" in ids(descriptor["conformsTo"])
    assert root["@type"] == "Dataset" and root["name"] and root["description"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", root["datePublished"])
    assert entities[ids(root["license"])[0]]["@type"] == "CreativeWork"


def test_what_the_profiles_of_runs_demand(entities):
    root = entities["./"]
    for profile in ("ro/wfrun/process/0.5", "ro/wfrun/workflow/0.5", "workflowhub/workflow-ro-crate/1.0"):
        assert f"https://w3id.org/{profile}" in ids(root["conformsTo"])
        assert entities[f"https://w3id.org/{profile}"]["@type"] == "CreativeWork"
    workflow = entities[ids(root["mainEntity"])[0]]
    assert set(workflow["@type"]) == {"File", "SoftwareSourceCode", "ComputationalWorkflow"}
    assert entities[ids(workflow["programmingLanguage"])[0]]["@type"] == "ComputerLanguage"
    action = entities[ids(root["mentions"])[0]]
    assert action["@type"] == "CreateAction" and ids(action["instrument"]) == [workflow["@id"]]
    assert action["endTime"] == root["datePublished"]


def test_every_link_leads_somewhere(entities):
    for one in entities.values():
        for value in one.values():
            links = value if isinstance(value, list) else [value]
            named = [link["@id"] for link in links if isinstance(link, dict)]
            assert all(name in entities or name == "https://w3id.org/ro/crate/1.1" for name in named), one


def test_every_file_has_its_digest_and_is_a_part(files, entities):
    parts = {unquote(name) for name in ids(entities["./"]["hasPart"])}
    assert parts == set(files) - {"ro-crate-metadata.json"}
    for name in parts:
        one = next(entity for key, entity in entities.items() if unquote(key) == name)
        assert one["sha256"] == hashlib.sha256(files[name]).hexdigest() and one["contentSize"] == str(len(files[name]))


def test_the_search_is_in_it_and_can_be_repeated(files, exported, tmp_path):
    (name,) = [name for name in files if name.endswith("/gs.json")]
    (tmp_path / "gs.json").write_bytes(files[name])
    assert bf.read_search(tmp_path / "gs.json").test_id == "fisher-z"


def test_digests_of_tables_and_versions(entities, exported):
    ((name, card),) = exported.run.cards.items()
    assert entities[f"#table-{name}"]["identifier"] == f"blake2b:{card['content_hash']}"
    versions = exported.run.provenance["packages"]
    assert {name: entities[f"#{name}"]["softwareVersion"] for name in versions} == dict(versions)
    assert entities["#blanketflow"]["softwareVersion"] == bf.__version__
    assert entities["#seed"]["value"] == "3"


def test_a_part_of_a_run_is_refused(exported):
    with pytest.raises(DataError, match="packs a whole run"):
        OF_RUN["crate"](dataclasses.replace(exported, selector="gs"))
