"""What `blanketflow diff` says of a run and of copies of it of which parts were made otherwise."""

import json
import shutil

import pytest

from blanketflow.cli import main
from blanketflow.data.artefacts import read_columns, read_json, write_columns, write_json
from blanketflow.reporting.tables import TABLES
from blanketflow.workflow.read_results import Results

pytestmark = pytest.mark.workflow

KINDS = ("config", "data", "blankets", "scores", "software")


@pytest.fixture
def run(finished):
    return finished / "results"


@pytest.fixture
def other(run, tmp_path):
    return shutil.copytree(run, tmp_path / "other")


def said(capsys, *arguments):
    """The exit code of a diff, and what it prints."""
    code = main(["diff", *map(str, arguments)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def rewrite(folder, name, change):
    """Write a result table anew, with its columns changed in place."""
    path = Results(folder).at("result_table", table=name)
    columns, provenance = read_columns(path)
    change(columns)
    write_columns(path, columns, TABLES[name].rows.types(), provenance)


def test_a_run_equals_its_copy(run, other, capsys):
    code, out, _ = said(capsys, run, other)
    assert code == 0 and out == "".join(f"{kind}: equal\n" for kind in KINDS)
    code, out, _ = said(capsys, run, other, "--json")
    assert code == 0 and json.loads(out) == {"equal": True} | {kind: [] for kind in KINDS}


def test_settings_and_selectors_are_told_by_their_path(run, other, capsys):
    provenance = read_json(other / "provenance.json")
    asked = provenance["config"]
    asked["selectors"]["ppfs"]["options"]["alpha"] = 0.01
    asked["selectors"]["new"] = asked["selectors"].pop("mrmr")
    asked["order"]["selectors"] = ["ppfs", "new", "all"]
    asked["models"] = ["tree", "svm"]
    write_json(other / "provenance.json", provenance)
    code, out, _ = said(capsys, run, other)
    assert code == 1
    first, *told = out.splitlines()[:5]
    assert first == "config" and sorted(told) == [
        "  models: [tree] -> [tree, svm]",
        "  selectors.mrmr: gone",
        "  selectors.new: new",
        "  selectors.ppfs.alpha: 0.05 -> 0.01",
    ]


def test_features_roles_and_statuses_of_blankets_are_told(run, other, capsys):
    features = [row[1] for row in Results(run).rows("blankets", "selector", "feature") if row[0] == "mrmr"]

    def change(columns):
        at = [i for i, name in enumerate(columns["selector"]) if name == "mrmr"]
        columns["feature"][at[0]], columns["role"][at[1]] = "hue of the wine", "spouse"

    rewrite(other, "blankets", change)
    rewrite(other, "statuses", lambda columns: columns.update(
        status=["unreliable" if (s, p, t) == ("ppfs", "full", "select") else was for s, p, t, was in zip(
            *(columns[name] for name in ("selector", "split", "stage", "status")), strict=True)]))  # fmt: skip
    code, out, _ = said(capsys, run, other)
    assert code == 1
    words = f"without {features[0]}, with hue of the wine, role of {features[1]} member -> spouse"
    told = [f"  wine mrmr: 3 features, {words}", "  wine ppfs: ok -> unreliable"]
    assert out.splitlines() == [
        "config: equal",
        "data: equal",
        "blankets",
        *told,
        "scores: equal",
        "software: equal",
    ]


def test_scores_are_told_the_largest_change_first_and_all_in_json(run, other, capsys):
    def change(columns):
        columns["mean"][0] += 1e-15  # another order of summation
        columns["mean"][1] += 0.001
        columns["mean"][2] -= 0.25

    rewrite(other, "scores", change)
    code, out, _ = said(capsys, run, other)
    lines = out.splitlines()
    assert code == 1 and len(lines) == 7 and lines[3] == "scores"
    assert lines[4].endswith("(-0.2500)") and lines[5].endswith("(+0.0010)")
    _, out, _ = said(capsys, run, other, "--json")
    found = json.loads(out)
    assert not found["equal"] and [c["after"] - c["before"] for c in found["scores"]] == pytest.approx([-0.25, 0.001])


def test_other_content_of_a_data_set_is_told_with_its_facts(run, other, capsys):
    card = read_json(other / "data/wine/card.json")
    write_json(other / "data/wine/card.json", card | {"content_hash": "0" * 32, "n_rows": 170})
    code, out, _ = said(capsys, run, other)
    assert code == 1
    assert out.splitlines()[1:4] == ["data", "  wine: other content", "  wine n_rows: 178 -> 170"]


def test_versions_are_told_and_decide_nothing(run, other, capsys):
    provenance = read_json(other / "provenance.json")
    now = provenance["packages"]["numpy"]
    write_json(other / "provenance.json", provenance | {"packages": provenance["packages"] | {"numpy": "1.0"}})
    code, out, _ = said(capsys, run, other)
    assert code == 0 and out.endswith(f"software\n  numpy: {now} -> 1.0\n")


def test_what_is_no_run_is_trouble(run, tmp_path, capsys):
    code, out, err = said(capsys, run, tmp_path / "nowhere")
    assert (code, out) == (2, "") and err.startswith("blanketflow: ") and "holds no finished run" in err
