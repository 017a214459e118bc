"""The config that `init` writes: its suggestions can be uncommented in any combination, and names stand as they are."""

import itertools
import re

import pytest
import yaml

from blanketflow.api.inspection import inspect_table
from blanketflow.api.starting_config import in_yaml, starting_config
from blanketflow.config.reading import read_config
from blanketflow.workflow.plan import make_plan

#: A comment that becomes a key or an entry of a list without its mark.
SUGGESTION = re.compile(r"^( +)# (?=- |drop:|categorical:|groups:)", re.MULTILINE)


@pytest.fixture(scope="module", params=["numbered", "not numbered"])
def written(request, tmp_path_factory):
    """A table with a suspected identifier or none, a leak, a code, and groups."""
    path = tmp_path_factory.mktemp("init") / "study.csv"
    numbered = request.param == "numbered"
    rows = ["größe,stage,site,leak,Diagnose" + (",nummer_id" if numbered else "")]
    for i in range(160):
        ill = i * 7 % 11 < 5
        cells = [f"{i * 37 % 101 / 7:.2f}", i * 5 % 4, f"s{i // 16}", 1.5 if ill else 0.5, "bösartig" if ill else "gut"]
        rows.append(",".join(map(str, [*cells, *([1000 + i] if numbered else [])])))
    path.write_text("\n".join(rows), encoding="utf-8")
    spec = {"path": str(path), "target": "Diagnose"}
    return starting_config(spec, inspect_table(spec)).text, numbered


def test_suggestions_can_be_uncommented_one_by_one_and_together(written):
    text, numbered = written
    found = list(SUGGESTION.finditer(text))
    assert len(found) == 3
    for n in range(1, len(found) + 1):
        for chosen in itertools.combinations(found, n):
            taken = text
            for one in reversed(chosen):
                taken = taken[: one.start()] + one[1] + taken[one.end() :]
            keys = re.findall(r"^    (\w+):", taken, re.MULTILINE)
            assert len(keys) == len(set(keys))
            spec = read_config(yaml.safe_load(taken)).datasets["study"]
            has = [text[one.end() :].startswith(("- ", "drop")) for one in chosen]
            assert spec["drop"] == ["nummer_id"] * numbered + ["leak"] * any(has)
    everything = yaml.safe_load(SUGGESTION.sub(r"\1", text))
    assert everything["datasets"]["study"]["groups"] == "site"
    assert everything["datasets"]["study"]["categorical"] == ["stage"]
    assert ("study", "auto") in make_plan(everything, lambda name: name).pairs


def test_names_stand_as_they_are(written):
    assert "Diagnose is 2 classes" in written[0] and "\\u" not in written[0]


@pytest.mark.parametrize(
    "name", ["Größe", "体重", "😀", "a\u2028b", "\u202ex", "\x85", "\U000e0041", 'q"\\', "yes", "\ufeff"]
)
def test_yaml_gives_back_every_name(name):
    written = in_yaml({"drop": [name]})
    assert yaml.safe_load(written) == {"drop": [name]}
    assert written.isprintable()
    assert name in written or not name.isprintable() or name in ('q"\\',)


def test_groups_that_are_fewer_than_the_folds_are_told_but_not_suggested(tmp_path):
    path = tmp_path / "few.csv"
    rows = [f"{i * 37 % 101 / 7:.2f},s{i // 40},{'ab'[i * 7 % 11 < 5]}" for i in range(160)]
    path.write_text("\n".join(["x,site,y", *rows]), encoding="utf-8")
    spec = {"path": str(path), "target": "y"}
    text = starting_config(spec, inspect_table(spec)).text
    assert "# groups:" not in text and "site may say which rows belong together, but has only 4 values" in text


def test_a_follow_up_time_is_left_out(tmp_path):
    rows = [f"{i % 13},{(i * 37) % 101 + 1},{int((i * 37) % 101 + 60 * (i % 2) < 80)}" for i in range(150)]
    (tmp_path / "study.csv").write_text("\n".join(["age,followup_days,died", *rows]))
    spec = {"path": str(tmp_path / "study.csv"), "target": "died"}
    text = starting_config(spec, inspect_table(spec)).text
    assert yaml.safe_load(text)["datasets"]["study"]["drop"] == ["followup_days"]
