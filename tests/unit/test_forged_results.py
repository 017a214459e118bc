"""Files of a results folder that somebody forged, with right digests and wrong content: a message, no traceback."""

import json

import pytest

from blanketflow.cli.run import show_blankets
from blanketflow.core.errors import ArtefactError, BlanketflowError
from blanketflow.data import artefacts
from blanketflow.data.artefacts import read_json, write_json, write_rows
from blanketflow.data.provenance import Provenance
from blanketflow.workflow.output_folder import RunLock
from blanketflow.workflow.read_results import Results, read_blanket
from blanketflow.workflow.up_to_date import _TYPES, Manifest

GOOD = {
    "order": {"datasets": ["wine"], "selectors": ["mrmr"]},
    "skipped": [["wine", "mrmr", "why"]],
    "selectors": {"mrmr": {"method": "mrmr"}},
    "seed": 1,
}
BLANKETS = ("dataset", "selector", "feature", "role", "frequency", "importance", "p_value", "given", "stand_ins")


@pytest.fixture
def folder(tmp_path):
    results = Results(tmp_path)
    results.at("report").write_text("")
    texts = dict.fromkeys(BLANKETS, "string")
    write_rows(results.at("result_table", table="blankets"), [], texts, Provenance())
    names = ("dataset", "warning", "answer", "scores", "evidence")
    write_rows(results.at("result_table", table="answers"), [], dict.fromkeys(names, "string"), Provenance())
    names = ("dataset", "selector", "split", "stage", "status", "reason", "verdict")
    write_rows(results.at("result_table", table="statuses"), [], dict.fromkeys(names, "string"), Provenance())
    return tmp_path


def changed(*keys, to):
    config = json.loads(json.dumps(GOOD))
    place = config
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = to
    return {"config": config}


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"config": 1},
        {"config": []},
        {"config": {}},
        changed("order", to=[]),
        changed("order", "datasets", to="wine"),
        changed("order", "datasets", to=[{}]),
        changed("order", "selectors", to=3),
        changed("skipped", to={"wine": 1}),
        changed("skipped", to=[["wine"]]),
        changed("skipped", to=[[{}, [], 1]]),
        changed("selectors", to=[]),
        changed("selectors", "mrmr", to={"method": {}}),
        changed("selectors", to={}),
        changed("seed", to="one"),
    ],
)
def test_a_provenance_that_does_not_say_what_was_asked_for(folder, said):
    write_json(folder / "provenance.json", said)
    for look in (Results(folder).config, lambda: show_blankets(folder), lambda: read_blanket(folder)):
        with pytest.raises(
            ArtefactError, match=r"provenance\.json does not say what was asked for\. Delete it and run"
        ):
            look()


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "[1]", "3", '"text"', "{", '{"checksum": []}', "[" * 200_000, '{"a":' * 200_000, "\x00", "NaN"],
)
def test_a_provenance_that_is_no_json_of_ours(folder, text):
    (folder / "provenance.json").write_text(text)
    with pytest.raises(ArtefactError, match="is not a readable blanketflow artefact"):
        show_blankets(folder)


def test_a_huge_one_is_not_read(folder, monkeypatch):
    monkeypatch.setattr(artefacts, "MOST_JSON_BYTES", 1000)
    (folder / "provenance.json").write_text(" " * 2000)
    with pytest.raises(ArtefactError, match="it has 2,000 bytes"):
        read_json(folder / "provenance.json")


@pytest.mark.parametrize("beside", [[], 3, {"report.html": 1}, {"/dev/zero": "0"}, {"../secret": "0"}, {"": "0"}])
def test_what_lies_beside_is_files_of_the_same_folder(folder, beside):
    write_json(folder / "provenance.json", {"config": GOOD, "identity": "0", "beside": beside})
    with pytest.raises(ArtefactError, match="is not a readable blanketflow artefact"):
        Manifest(folder).look(folder / "provenance.json")
    write_rows(folder / "a.parquet", [], {"n": "int64"}, Provenance(beside=beside))
    with pytest.raises(ArtefactError, match="is not a readable blanketflow artefact"):
        Manifest(folder).look(folder / "a.parquet")


@pytest.mark.parametrize(
    ("types", "row"),
    [
        ({"other": "string"}, ("x",)),
        (_TYPES, ("provenance.json", 1, 1, "0", "0", "[]")),
        (_TYPES, ("provenance.json", 1, 1, "0", "0", "{")),
        (_TYPES, ("provenance.json", 1, 1, "0", "0", '{"/dev/zero": "0"}')),
        (dict.fromkeys(_TYPES, "string"), ("provenance.json", "x", "x", "0", "0", "{}")),
    ],
)
def test_a_forged_manifest_counts_as_none(folder, types, row):
    write_rows(folder / "manifest", [row], types, Provenance())
    assert Manifest.of(folder).known == {}


@pytest.mark.parametrize(
    "holder",
    [
        [],
        {"machine": "m", "space": "s", "process": "x", "started": 0, "folder": "f", "token": "t"},
        {"machine": "m", "space": "s", "process": -5, "started": "x", "folder": "f", "token": "t"},
        {"machine": [], "space": {}, "process": None, "started": None, "folder": 1, "token": 2},
    ],
)
@pytest.mark.parametrize("is_own_space", [False, True])
def test_a_forged_lock_ends_in_a_message(folder, holder, is_own_space):
    from blanketflow.data.artefacts import process_space

    if is_own_space and isinstance(holder, dict):
        holder = holder | {"space": process_space()}
    (folder / "run-lock").write_text(json.dumps(holder))
    with pytest.raises(BlanketflowError, match="another run is working on"):
        RunLock(folder, print)


def test_a_lock_of_brackets_ends_in_a_message(folder):
    (folder / "run-lock").write_text("[" * 200_000)
    with pytest.raises(BlanketflowError, match="another run is working on"):
        RunLock(folder, print)
