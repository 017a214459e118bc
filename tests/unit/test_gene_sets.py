"""Gene sets of a .gmt file as feature groups: in a config, on the command line and in Python."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import blanketflow as bf
from blanketflow.cli import main
from blanketflow.core.errors import ConfigError, DataError, ParameterError, ReadingWarning
from blanketflow.workflow.plan import make_plan

RNG = np.random.default_rng(6)
X = pd.DataFrame(RNG.normal(size=(80, 6)).round(3), columns=["CDK1", "CCNB1", "BAX", "BCL2", "TP53", "EGFR"])
Y = np.where(X["CDK1"] + X["CCNB1"] > 0, "tumor", "normal")
SETS = "CYCLE\tabout it\tCDK1\tCCNB1\tNOT1\nDEATH\t\tBAX\tBCL2\tNOT2\nNONE\tna\tNOT1\tNOT3\n"
GROUPS = {"CYCLE": ["CDK1", "CCNB1"], "DEATH": ["BAX", "BCL2"]}
TOLD = (
    "genes of sets.gmt that are no features, left out (3 of 7): NOT1, NOT2, NOT3; sets without features, left out "
    "(1 of 3): NONE"
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X.assign(state=Y).to_csv("t.csv", index=False)
    Path("sets.gmt").write_text(SETS, encoding="utf-8")


def planned(feature_groups):
    return make_plan(
        {
            "datasets": {"t": {"path": "t.csv", "target": "state", "feature_groups": feature_groups}},
            "selectors": {"a": {"method": "hiton-mb", "ci_test": "lr-mixed"}},
            "ci_tests": {"lr-mixed": {"type": "lr-mixed"}},
            "splits": {"evaluation": 0},
            "folds": 0,
        },
        Path,
    )


@pytest.mark.parametrize("asked", ["sets.gmt", {"gmt": "sets.gmt", "sets": ["CYCLE", "DEATH", "NONE"]}])
def test_a_config_names_the_file(asked):
    plan = planned(asked)
    assert dict(plan.config.prior("t", "a").feature_groups) == {name: tuple(own) for name, own in GROUPS.items()}
    assert TOLD in plan.facts["t"].told


def test_a_changed_file_changes_the_search_and_nothing_else():
    before = planned("sets.gmt")
    Path("sets.gmt").write_text(SETS.replace("BCL2", "TP53"), encoding="utf-8")
    after = planned("sets.gmt")
    assert before.table_spec("t") == after.table_spec("t")
    assert before.config.prior("t", "a") != after.config.prior("t", "a")
    assert before.config.prior("t", "a") == planned(GROUPS).config.prior("t", "a")


def test_the_command_line_takes_the_file_and_says_what_is_left_out(capsys):
    asked = ["--data-set", "feature_groups=sets.gmt", "--method", "hiton-mb", "--ci-test", "lr-mixed"]
    assert main(["select", "t.csv", "--target", "state", *asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    chosen = {row["feature"] for row in found["blanket"]}
    assert {"CDK1", "CCNB1"} <= chosen and TOLD in found["notes"]
    assert main(["select", "t.csv", "--target", "state", "--set", "feature_groups=sets.gmt"]) == 1
    (way,) = re.findall(r"--data-set (\S+=sets\.gmt)", capsys.readouterr().err)
    assert main(["select", "t.csv", "--target", "state", "--data-set", way, *asked[2:]]) == 0


def test_python_reads_the_file():
    with pytest.warns(ReadingWarning, match=re.escape(TOLD)):
        groups = bf.read_gmt("sets.gmt", X.columns)
    assert groups == GROUPS
    assert bf.HITONMB(ci_test="lr-mixed", feature_groups=groups).fit(X, Y).feature_groups_["CYCLE"] == ["CCNB1", "CDK1"]
    with pytest.raises(ParameterError, match=r"bf\.read_gmt\(PATH, X\.columns\)"):
        bf.HITONMB(feature_groups="sets.gmt").fit(X, Y)


def test_python_compares_with_the_file():
    found = bf.compare(
        X, Y, [bf.HITONMB(ci_test="lr-mixed")], feature_groups="sets.gmt", models=[], evaluation=0, folds=0
    )
    assert {"CDK1", "CCNB1"} <= set(found.blanket("hiton-mb"))


def test_sets_that_overlap_are_refused_with_a_way_out_that_works():
    Path("sets.gmt").write_text(SETS + "BOTH\tna\tCDK1\tTP53\nMORE\tna\tTP53\tEGFR\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"'CDK1' is in the gene sets 'CYCLE' and 'BOTH' of sets\.gmt") as refused:
        planned("sets.gmt")
    way = yaml.safe_load(re.search(r"feature_groups: (\{.*?\]\})", str(refused.value))[1])
    more = {**GROUPS, "MORE": ["TP53", "EGFR"]}
    assert dict(planned(way).config.prior("t", "a").feature_groups) == {name: tuple(own) for name, own in more.items()}
    with pytest.raises(DataError) as refused:
        bf.read_gmt("sets.gmt", X.columns)
    sets = eval(re.search(r"sets=(\[.*?\])", str(refused.value))[1])
    with pytest.warns(ReadingWarning):
        assert bf.read_gmt("sets.gmt", X.columns, sets) == more


@pytest.mark.parametrize(
    ("text", "asked", "told"),
    [
        (SETS, {"gmt": "sets.gmt", "sets": ["CYCLES"]}, "has no gene set 'CYCLES'. Did you mean 'CYCLE'"),
        (SETS, {"gmt": "set.gmt"}, "there is no file set.gmt"),
        (SETS, {"gmt": "sets.gmt", "set": ["CYCLE"]}, "must be a mapping of names to lists of names, a .gmt file"),
        ("CYCLE\tCDK1\n", "sets.gmt", "line 1 of sets.gmt is no gene set"),
        ("A\tna\tCDK1\nA\tna\tBAX\n", "sets.gmt", "line 2 of sets.gmt has the gene set 'A' again"),
        ("A\tna\t1017\n", "sets.gmt", "no gene of sets.gmt, such as '1017', is a feature, such as 'CDK1'"),
        ("\n", "sets.gmt", "has no gene sets"),
    ],
)
def test_what_is_wrong_is_said(text, asked, told):
    Path("sets.gmt").write_text(text, encoding="utf-8")
    with pytest.raises((ConfigError, DataError), match=re.escape(told)):
        planned(asked)
