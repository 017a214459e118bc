"""Bad input: one clear message that names what is wrong and the way out, before any job starts."""

import copy

import numpy as np
import pytest
from workflow_runs import configure, snakemake

pytestmark = pytest.mark.workflow

GOOD = {
    "datasets": {"study": {"path": "study.csv", "target": "outcome"}},
    "splits": {"evaluation": 0},
    "folds": 3,
    "ci_tests": {"quick": {"type": "ppi", "n_repeats": 5}},
    "selectors": {"mine": {"method": "ppfs", "ci_test": "quick"}},
}
# What is put where in the good config, and the words that the message must hold.
WRONG = {
    "unknown target": ("datasets study target", "outcom", ["study", "'outcom'", "Did you mean 'outcome'?"]),
    "no target": ("datasets study target", None, ["study", "target", "outcome"]),
    "missing file": ("datasets study path", "studi.csv", ["study", "studi.csv", "Did you mean 'study.csv'?"]),
    "binary garbage": ("datasets study path", "garbage.csv", ["study", "garbage.csv"]),
    "damaged gzip": ("datasets study path", "damaged.csv.gz", ["study", "damaged.csv.gz", "damaged gzip"]),
    "damaged Parquet": ("datasets study path", "damaged.parquet", ["study", "damaged.parquet"]),
    "a folder": ("datasets study path", "folder", ["study", "folder"]),
    "ragged rows": ("datasets study path", "ragged.csv", ["study", "line 3", "Mend that line"]),
    "one class": ("datasets study target", "same", ["study", "'same'", "one class only"]),
    "no features": (
        "datasets study drop",
        ["a", "b", "few", "same", "gaps"],
        ["study", "no features", "'outcome'"],
    ),
    "unknown dropped column": ("datasets study drop", ["aa"], ["study", "drop", "'aa'"]),
    "missing cells": ("datasets study missing", "error", ["study", "'gaps'", "impute"]),
    "unknown source": ("datasets study", {"source": "sklearn:win"}, ["study", "win", "'wine'"]),
    "source and path": ("datasets study source", "sklearn:wine", ["study", "source", "path"]),
    "unknown key of a data set": ("datasets study targets", "outcome", ["study", "'targets'", "Did you mean 'target'"]),
    "id with a slash": ("datasets a/b", {"source": "sklearn:wine"}, ["datasets", "'a/b'", "hyphens"]),
    "class smaller than K": ("datasets study target", "few", ["study", "class 'rare'", "2 rows", "use fewer folds"]),
    "more folds than rows": ("folds", 500, ["study", "folds"]),
    "one fold": ("folds", 1, ["folds is 1", "0"]),
    "unknown method": ("selectors mine method", "ppsf", ["mine", "'ppsf'", "Did you mean 'ppfs'?"]),
    "unknown option": ("selectors mine alfa", 0.1, ["mine", "'alfa'", "Did you mean 'alpha'?"]),
    "alpha out of range": ("selectors mine alpha", 2, ["mine", "alpha is 2", "above 0 and below 1"]),
    "alpha as text": ("selectors mine alpha", "high", ["mine", "alpha is 'high'", "above 0 and below 1"]),
    "unknown CI test": ("selectors mine ci_test", "quik", ["mine", "'quik'", "Did you mean 'quick'?"]),
    "unknown type of a CI test": ("ci_tests quick type", "pip", ["quick", "'pip'", "'ppi'"]),
    "wrong test for the method": ("selectors mine method", "mrmr", ["mine", "mutual-information", "ppi"]),
    "unknown model of a CI test": ("ci_tests quick model", "treee", ["quick", "'treee'", "'tree'"]),
    "plug-in that is not there": (
        "selectors mine",
        {"method": "no_such.module:Mine"},
        ["mine", "no_such", "installed"],
    ),
    "unknown key": ("selector", {}, ["'selector'", "Did you mean 'selectors'?"]),
    "unknown model": ("models", ["tre"], ["models", "'tre'", "'tree'"]),
    "unknown metric": ("metrics", ["acuracy"], ["'acuracy'", "'accuracy'"]),
    "unknown aggregation": ("aggregate", "unionn", ["aggregate", "'unionn'", "union"]),
    "frequency out of range": ("aggregate", {"frequency": 2}, ["frequency", "share <= 1"]),
    "unknown grain": ("grain", "row", ["grain", "'row'", "fold", "split"]),
    "no test rows": ("splits evaluation", 1, ["study", "test_rows", "evaluation: 5"]),
    "test rows without their split": ("datasets study test_rows", 10, ["study", "test_rows", "evaluation is 0"]),
    "nothing to do": ("splits final", False, ["splits", "final: true"]),
    "no selectors": ("selectors", {}, ["selectors", "at least one entry"]),
}


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(3)
    lines = ["a,b,few,same,gaps,outcome"]
    for i in range(40):
        cells = [f"{rng.normal():.3f}", f"{rng.normal():.3f}", "rare" if i < 2 else "common", "yes"]
        lines.append(",".join([*cells, "" if i == 5 else "1.5", "ill" if i % 2 else "well"]))
    (tmp_path / "study.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "ragged.csv").write_text("a,outcome\n1,x\n2,y,z\n3,x\n", encoding="utf-8")
    garbage = rng.integers(0, 256, 4000, dtype=np.uint8).tobytes()
    (tmp_path / "garbage.csv").write_bytes(b"\x80\xff" + garbage)
    (tmp_path / "damaged.csv.gz").write_bytes(b"\x1f\x8b" + garbage)
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1" + garbage)
    (tmp_path / "folder").mkdir()
    return tmp_path


def with_wrong(keys, value):
    config = copy.deepcopy(GOOD)
    place = config
    *path, last = keys.split()
    for key in path:
        place = place[key]
    place[last] = value
    return config


# Whether Snakemake shows the message as it is written is checked on one case of each kind, since a start costs seconds;
# the others go the same way in one process: from YAML to the plan.
IN_SNAKEMAKE = ("unknown target", "binary garbage", "class smaller than K", "unknown option", "unknown key")


@pytest.mark.parametrize("wrong", WRONG)
def test_the_plan_refuses_with_a_message(folder, wrong, monkeypatch):
    from blanketflow.core.errors import BlanketflowError
    from blanketflow.plan import make_plan

    monkeypatch.chdir(folder)
    keys, value, words = WRONG[wrong]
    with pytest.raises(BlanketflowError) as caught:
        make_plan(with_wrong(keys, value), "scripts/{}".format)
    message = str(caught.value)
    assert [word for word in words if word not in message] == [], message
    assert "\n" not in message


@pytest.mark.parametrize("wrong", IN_SNAKEMAKE)
def test_snakemake_ends_with_that_message_and_no_traceback(folder, wrong):
    keys, value, words = WRONG[wrong]
    assert_refused(configure(folder, with_wrong(keys, value)), words)


def assert_refused(folder, words):
    outcome = snakemake(folder, "--cores", "1", check=False)
    assert outcome.returncode != 0
    assert "Traceback" not in outcome.stdout
    assert [word for word in words if word not in outcome.stdout] == [], outcome.stdout
    assert not (folder / "results").exists()


def test_a_config_without_data_sets_is_refused_and_not_filled_from_the_example(folder):
    config = {key: value for key, value in GOOD.items() if key != "datasets"}
    assert_refused(configure(folder, config), ["datasets must name at least one entry"])


def test_a_config_replaces_the_example(folder):
    outcome = snakemake(configure(folder, GOOD), "-n")
    assert "dataset=study" in outcome.stdout
    assert "breast-cancer" not in outcome.stdout and "clinic" not in outcome.stdout


def test_a_file_that_turns_bad_behind_its_head_fails_its_job_with_a_message(folder):
    """What cannot be known before the jobs start: the head of a large file is fine, its end is not."""
    lines = ["a,b,outcome", *(f"{i % 97},{i % 89},{'ill' if i % 2 else 'well'}" for i in range(120_000))]
    (folder / "study.csv").write_text("\n".join([*lines, "1,2"]) + "\n", encoding="utf-8")
    outcome = snakemake(configure(folder, GOOD), "--cores", "1", check=False)
    assert outcome.returncode != 0
    assert not list((folder / "results").rglob("*.parquet"))
    said = outcome.stdout + (folder / "results/logs/table/study.log").read_text(encoding="utf-8")
    assert "study: line 120002 has 2 cells, but the header has 3" in said
    assert "Traceback" not in said
