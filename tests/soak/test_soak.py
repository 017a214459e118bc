"""The soak in short: `make soak` does it for 200 runs and 5,000 jobs."""

import pytest

import soak

pytestmark = pytest.mark.workflow


@pytest.mark.extended
def test_two_small_runs_one_after_the_other(tmp_path):
    assert soak.small_runs(tmp_path, 2) == []


def test_what_is_left_is_named(tmp_path):
    for name in ("tmp/a", "results/.b.parquet.host-1.tmp", ".snakemake/locks/0.input.lock", ".snakemake/scripts/c.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert {name.removeprefix(f"{tmp_path}/").split("/")[0] for name in soak.left(tmp_path)} == {
        "tmp",
        "results",
        ".snakemake",
    }


@pytest.mark.parametrize(
    ("what", "late"), [("memory", {"mb": 106.0}), ("open files", {"files": 31}), ("threads", {"threads": 30})]
)
def test_growth_is_found(what, late):
    early = {"mb": 100.0, "files": 10, "threads": 9, "jobs": 0}
    assert soak.growth("a run", early, early | {"jobs": 1000}, 20) == []
    (found,) = soak.growth("a run", early, early | late, 20)
    assert what in found
