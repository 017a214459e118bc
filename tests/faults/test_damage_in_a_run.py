"""A damaged file of a run: the job that reads it says so and fails, and deleting it brings the undisturbed results."""

import os
import shutil

import pytest

from blanketflow.cli import main
from blanketflow.core.errors import ArtefactError
from blanketflow.workflow import collect
from blanketflow.workflow.finished_run import finished_run
from blanketflow.workflow.stages.aggregation import aggregate_splits
from blanketflow.workflow.stages.decisions import grow_fold, shrink_fold
from blanketflow.workflow.stages.evaluation import evaluate_blankets
from blanketflow.workflow.stages.fold import Fold
from workflow_runs import assert_equal_results, contents, planned, provenance, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

DATA, FULL = "results/data/wine", "results/select/wine/full/mrmr"
GROW, SHRINK = f"{FULL}/fold-1of2/grow.parquet", f"{FULL}/fold-1of2/shrink.parquet"
MARGINAL = "results/ci_test/wine/full/fold-1of2/g2.parquet"


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


def damage(path):
    """Flip a bit in the middle, as a failing disk does: the file is as old and as long as before."""
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 16
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_job_refuses_a_damaged_file_and_deleting_it_mends_the_run(folder, finished):
    damage(folder / GROW)
    assert planned(folder) == []  # nothing that Snakemake looks at has changed
    blanket = f"{FULL}/blanket.parquet"
    (folder / blanket).unlink()
    failed = snakemake(folder, "--cores", "2", blanket, check=False)
    said = f"blanketflow: {GROW} is not a readable blanketflow artefact"
    assert failed.returncode == 1 and failed.stdout.count(said) == 1, failed.stdout
    assert "Delete it and run again." in failed.stdout
    assert not (folder / blanket).exists()
    (folder / GROW).unlink()
    snakemake(folder, "--cores", "2", blanket)
    assert_equal_results(contents(folder / "results"), contents(finished / "results"))


def fold(folder, artefact):
    table, splits = folder / DATA / "table.parquet", folder / DATA / "splits-2.parquet"
    return Fold(table, splits, "wine", "full", "1of2", provenance(folder / artefact)["spec"])


def grow(folder, to):
    grow_fold(fold(folder, GROW), [folder / MARGINAL], to)


def shrink(folder, to):
    shrink_fold(fold(folder, SHRINK), [folder / MARGINAL], folder / GROW, to)


def aggregate(folder, to):
    spec = provenance(folder / FULL / "blanket.parquet")["spec"]
    stages = ([folder / path] for path in (MARGINAL, GROW, SHRINK))
    aggregate_splits(*stages, [to], [to], [to], ["1of2"], spec)


def evaluate(folder, to):
    blankets = [folder / f"results/select/wine/cv-{i}/mrmr/blanket.parquet" for i in (1, 2)]
    spec = provenance(folder / "results/evaluate/wine/mrmr.parquet")["spec"]
    table, splits = folder / DATA / "table.parquet", folder / DATA / "splits-2.parquet"
    evaluate_blankets(table, splits, blankets, to, "wine", spec)


def report(folder, to):
    tables = collect.tables(sorted((folder / "results/tables").glob("*.parquet")))
    spec = provenance(folder / "results/tables/scores.parquet")["spec"]
    found = ([folder / path] for path in (f"{DATA}/card.json", f"{FULL}/folds.parquet", SHRINK))
    to.write_text(repr(finished_run(spec, tables, *found)))


#: Each stage with the files that it reads.
READ = {
    grow: [f"{DATA}/table.parquet", f"{DATA}/splits-2.parquet", MARGINAL],
    shrink: [MARGINAL, GROW],  # mRMR cuts its ranking without looking at rows
    aggregate: [MARGINAL, GROW, SHRINK],
    evaluate: [
        f"{DATA}/table.parquet",
        f"{DATA}/splits-2.parquet",
        "results/select/wine/cv-1/mrmr/blanket.parquet",
    ],
    report: [
        f"{DATA}/card.json",
        f"{FULL}/folds.parquet",
        SHRINK,
        "results/tables/scores.parquet",
        "results/tables/ranks.parquet",
    ],
}


@pytest.mark.parametrize("stage", READ, ids=lambda stage: stage.__name__)
def test_a_damaged_input_ends_a_stage_and_is_no_result_of_it(folder, stage):
    to = folder / "out"
    stage(folder, to)
    to.unlink()
    refused = []
    for name in READ[stage]:
        path = folder / name
        whole = path.read_bytes()
        for damaged in (whole[:-9] + b"\1" + whole[-8:], whole[: len(whole) // 2], b""):
            path.write_bytes(damaged)
            to.unlink(missing_ok=True)
            try:
                stage(folder, to)
            except ArtefactError as error:
                assert str(path) in str(error) and str(error).endswith("Delete it and run again.")
                assert not to.exists()
                refused.append(name)
        path.write_bytes(whole)
    assert set(refused) == set(READ[stage])


@pytest.mark.parametrize(
    "damaged", ["results/tables/blankets.parquet", "results/provenance.json", f"{DATA}/table.parquet"]
)
def test_commands_that_read_results_refuse_damaged_ones(folder, capsys, damaged):
    results = str(folder / "results")
    assert main(["export", results, "--selector", "mrmr"]) == 0
    capsys.readouterr()
    content = (folder / damaged).read_bytes()
    (folder / damaged).write_bytes(content[: len(content) // 2])
    assert main(["export", results, "--selector", "mrmr"]) == 1
    said = capsys.readouterr()
    assert said.err.count("\n") == 1 and str(folder / damaged) in said.err and "Delete it" in said.err
    assert not said.out
