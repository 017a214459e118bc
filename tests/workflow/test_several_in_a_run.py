"""One job does several tests, searches or evaluations of a small data set, under Snakemake."""

import shutil

import pytest

from workflow_runs import assert_equal_results, configure, contents, counts, planned, provenance, ran, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

TOGETHER = {"several_tests_1": 1, "several_selectors_1": 1, "several_evaluations_1": 1}
TARGETS = [f"results/evaluate/wine/{name}.parquet" for name in ("ppfs", "mrmr", "all")]


@pytest.fixture(scope="module")
def run(tmp_path_factory, base_config):
    """A finished run of `base_config` by `grain: auto`."""
    folder = tmp_path_factory.mktemp("several")
    configure(folder, base_config | {"grain": "auto"})
    done = counts(ran(folder))
    assert {rule: n for rule, n in done.items() if rule in TOGETHER} == TOGETHER
    assert not {"ci_test", "grow_shrink_2", "aggregate", "evaluate"} & set(done)
    return folder


def seconds(folder, selector):
    """How long a search took: another number says that it was made again."""
    found = sorted((folder / "results/select/wine").glob(f"*/{selector}/fold-*/shrink.parquet"))
    return [provenance(path)["seconds"] for path in found]


def test_results_are_those_of_a_job_for_each(run, finished):
    assert_equal_results(contents(run / "results"), contents(finished / "results"))


def test_a_changed_selector_repeats_its_own_work_alone(run, tmp_path):
    folder = shutil.copytree(run, tmp_path / "copy")
    path = folder / "my.yaml"
    path.write_text(path.read_text("utf-8").replace("n_features: 3", "n_features: 2"), encoding="utf-8")
    ppfs, mrmr = seconds(folder, "ppfs"), seconds(folder, "mrmr")
    done = counts(ran(folder, *TARGETS))
    assert done["several_selectors_1"] == done["several_evaluations_1"] == 1 and "several_tests_1" not in done
    assert seconds(folder, "ppfs") == ppfs and not set(seconds(folder, "mrmr")) & set(mrmr)
    assert planned(folder, *TARGETS) == []


@pytest.mark.parametrize("asked", [("--forcerun", "several_selectors_1"), ("--forceall",)])
def test_a_forced_job_makes_all_again_and_is_done_then(run, tmp_path, asked):
    folder = shutil.copytree(run, tmp_path / "copy")
    before = seconds(folder, "ppfs") + seconds(folder, "mrmr")
    snakemake(folder, "--cores", "2", *asked, "--until", "several_selectors_1")
    assert not set(seconds(folder, "ppfs") + seconds(folder, "mrmr")) & set(before)
    snakemake(folder, "--cores", "2", *TARGETS)
    assert planned(folder, *TARGETS) == []
