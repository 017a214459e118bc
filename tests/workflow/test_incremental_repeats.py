"""More repeats of a test extend those of an earlier run, also of one that was killed."""

import shutil

import psutil
import pytest

from workflow_runs import (
    WITHOUT_TABLES,
    assert_equal_results,
    changed,
    columns,
    configure,
    contents,
    counts,
    kill,
    planned,
    ran,
    snakemake,
    start,
    wait_until,
)

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

ARTEFACT = "results/ci_test/wine/full/fold-0/quick.parquet"
LOG = "results/logs/ci_test/wine/full/fold-0/quick.log"


def config(n_repeats, **options):
    return {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "splits": {"evaluation": 0},
        "folds": 0,
        "grain": "fold",
        "ci_tests": {"quick": {"type": "ppi", "n_repeats": n_repeats, **options}},
        "selectors": {"ppfs": {"method": "ppfs", "ci_test": "quick"}},
        "models": ["tree"],
    }


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """Runs with 10 and with 30 repeats, each from scratch."""
    folders = {}
    for n_repeats in (10, 30):
        folders[n_repeats] = configure(tmp_path_factory.mktemp(f"repeats-{n_repeats}"), config(n_repeats))
        snakemake(folders[n_repeats], "--cores", "1", *WITHOUT_TABLES)
    return folders


def set_repeats(n_repeats):
    def change(config):
        config["ci_tests"]["quick"]["n_repeats"] = n_repeats

    return change


@pytest.mark.parametrize(("before", "after", "computed"), [(10, 30, 20), (30, 10, 0)])
def test_only_new_repeats_are_computed_and_the_results_are_those_from_scratch(
    tmp_path, scratch, before, after, computed
):
    folder = changed(scratch[before], tmp_path / "run", set_repeats(after))
    listed = counts(ran(folder, *WITHOUT_TABLES))
    assert listed["ci_test"] == 1 and "table" not in listed
    assert f"{computed} repeats computed, {after - computed} taken from an earlier run" in (folder / LOG).read_text()
    assert_equal_results(contents(folder / "results"), contents(scratch[after] / "results"))
    assert planned(folder, *WITHOUT_TABLES) == []


def test_other_data_under_the_same_names_take_nothing_over(tmp_path, scratch):
    folder = changed(scratch[10], tmp_path / "run", lambda config: config["datasets"]["wine"].update(drop=["ash"]))
    ran(folder, *WITHOUT_TABLES)
    assert "10 repeats computed, 0 taken" in (folder / LOG).read_text()


def has_worked(process):
    """Whether the job of a run has used so much of a processor that it is amid its repeats."""
    started = psutil.Process(process.pid).children(recursive=True)
    return any(one.cpu_times().user > 2 for one in started if ".snakemake/scripts" in " ".join(one.cmdline()))


def test_a_killed_extension_leaves_the_known_repeats(tmp_path, scratch):
    folder = changed(scratch[10], tmp_path / "run", set_repeats(100_000))
    known = columns(folder / ARTEFACT)["risk_differences"]
    (folder / LOG).unlink()
    process = start(folder, "1", (folder / LOG).exists)
    wait_until(lambda: has_worked(process), process)
    kill(process)
    assert columns(folder / ARTEFACT)["risk_differences"] == known
    shutil.copy(scratch[30] / "my.yaml", folder / "my.yaml")
    snakemake(folder, "--unlock")
    ran(folder, *WITHOUT_TABLES)
    assert "20 repeats computed, 10 taken" in (folder / LOG).read_text()
    assert_equal_results(contents(folder / "results"), contents(scratch[30] / "results"))
