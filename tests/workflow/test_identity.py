"""A result is what its metadata says: not where it lies, nor how old it is, nor what Snakemake remembers of it."""

import json
import os
import re
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from blanketflow.workflow.output_folder import Holder
from workflow_runs import (
    WITHOUT_TABLES,
    assert_equal_results,
    blanketflow,
    changed,
    check_says_what_is_missing,
    columns,
    configure,
    contents,
    counts,
    jobs,
    planned,
    provenance,
    ran,
    snakemake,
)

pytestmark = pytest.mark.workflow

SEARCH = "results/select/wine/cv-1/ppfs"
#: What follows one selector's search, if one of its folds is made again; and behind it tables and report.
FOLLOWS = {"grow_shrink_2": 1, "aggregate": 1, "evaluate": 1}
REPORTED = {"tables": 1, "report": 1}


@pytest.fixture
def forgotten(finished, tmp_path):
    """A finished folder without Snakemake's records, as after rsync of the results."""
    folder = shutil.copytree(finished, tmp_path / "run")
    shutil.rmtree(folder / ".snakemake")
    return folder


def said(outcome):
    """The line on what is made again."""
    return [line for line in outcome.stdout.splitlines() if "match what is planned" in line]


def ask_for_another_alpha(config):
    config["selectors"]["ppfs"]["alpha"] = 0.2


@pytest.fixture(scope="module")
def another_alpha(finished, tmp_path_factory):
    """A copied folder without Snakemake's records and with another alpha, and what a run of it said."""
    folder = changed(finished, tmp_path_factory.mktemp("another-alpha") / "run", ask_for_another_alpha)
    shutil.rmtree(folder / ".snakemake")
    return folder, snakemake(folder, "--cores", "2", *WITHOUT_TABLES)


def test_a_copied_folder_and_a_changed_alpha_do_not_pass_off_the_old_blanket(another_alpha, finished):
    folder, outcome = another_alpha
    assert counts(jobs(outcome), "selector") == {
        ("grow_shrink_2", "ppfs"): 3,
        ("aggregate", "ppfs"): 3,
        ("evaluate", "ppfs"): 1,
    }
    (line,) = said(outcome)
    assert line.endswith(": 6 asked for with other settings.")  # grow on 2 folds of 3 splits; the rest depends on it
    grown = "results/select/wine/full/ppfs/fold-1of2/grow.parquet"
    before, after = columns(finished / grown)["feature"], columns(folder / grown)["feature"]
    assert after[: len(before)] == before and '"alpha":0.2' in provenance(folder / grown)["spec"]
    assert counts(planned(folder)) == REPORTED


@pytest.mark.extended
def test_with_snakemakes_records_the_results_are_the_same(another_alpha, finished, tmp_path):
    folder, outcome = another_alpha
    kept = changed(finished, tmp_path / "run", ask_for_another_alpha)
    again = snakemake(kept, "--cores", "2", *WITHOUT_TABLES)
    assert sorted(map(str, jobs(again))) == sorted(map(str, jobs(outcome)))
    assert_equal_results(contents(folder / "results"), contents(kept / "results"))
    assert counts(ran(kept)) == REPORTED
    assert planned(kept) == []


def test_a_copied_folder_as_it_was_runs_nothing(forgotten):
    assert planned(forgotten) == []


@pytest.mark.extended
def test_another_folds_file_is_not_read_as_this_folds(forgotten, finished):
    one, other = (forgotten / SEARCH / f"fold-{k}of2/shrink.parquet" for k in (1, 2))
    shutil.copy2(other, one)
    outcome = snakemake(forgotten, "--cores", "2", *WITHOUT_TABLES)
    assert counts(jobs(outcome)) == FOLLOWS
    assert said(outcome)[0].endswith("1 in the wrong place.")
    assert_equal_results(contents(forgotten / "results"), contents(finished / "results"))


@pytest.mark.extended
def test_a_damaged_file_is_made_again(forgotten, finished):
    path = forgotten / SEARCH / "fold-1of2/grow.parquet"
    content = bytearray(path.read_bytes())
    content[content.index(b'"alpha"') + 1] ^= 16
    state = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns - 1))
    assert counts(planned(forgotten)) == FOLLOWS | REPORTED
    outcome = snakemake(forgotten, "--cores", "2", *WITHOUT_TABLES)
    assert said(outcome)[0].endswith("1 damaged.")
    assert_equal_results(contents(forgotten / "results"), contents(finished / "results"))


@pytest.mark.extended
@pytest.mark.parametrize(
    ("path", "again"),
    [
        ("report.html", {"report"}),
        ("figures/wine-stability.svg", {"report"}),
        ("provenance.json", {"report"}),
        ("tables/scores.csv", {"tables", "report"}),
        ("data/wine/card.json", {"table"}),
    ],
)
@pytest.mark.parametrize("how", ["empty", "cut", "gone"])
def test_an_incomplete_file_for_people_is_made_again(forgotten, path, again, how):
    file = forgotten / "results" / path
    if not file.exists():  # figures have the names of their charts
        file = sorted(file.parent.iterdir())[0]
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(b"" if how == "empty" else file.read_bytes()[:-9])
    assert again <= set(counts(planned(forgotten)))


@pytest.mark.extended
def test_a_missing_stage_is_made_again_though_what_follows_is_there(forgotten, finished):
    (forgotten / SEARCH / "fold-1of2/shrink.parquet").unlink()
    assert counts(ran(forgotten)) == FOLLOWS | REPORTED
    assert_equal_results(contents(forgotten / "results"), contents(finished / "results"))


#: The job that makes each kind of file of this run.
MADE_BY = {
    **dict.fromkeys(("table", "card"), "table"),
    "splits": "splits",
    "all_splits": "gather_splits",
    "ci_test": "ci_test_2",
    **dict.fromkeys(("grow", "shrink"), "grow_shrink_2"),
    **dict.fromkeys(("blanket", "folds", "blankets"), "aggregate"),
    "evaluate": "evaluate",
    "result_table": "tables",
    "result_table_csv": "tables",
    **dict.fromkeys(("report", "figure", "provenance"), "report"),
}


@pytest.mark.extended
def test_each_kind_of_file_that_is_missing_is_named_and_made_again(forgotten, finished):
    kinds = check_says_what_is_missing(forgotten)
    assert kinds.keys() == MADE_BY.keys()
    for kind, path in kinds.items():
        path.rename(forgotten / "aside")
        assert MADE_BY[kind] in counts(planned(forgotten))
        (forgotten / "aside").rename(path)
    for path in kinds.values():
        path.unlink()
    snakemake(forgotten, "--cores", "2")
    assert_equal_results(contents(forgotten / "results"), contents(finished / "results"))
    assert all(path.exists() for path in kinds.values()) and planned(forgotten) == []


@pytest.mark.extended
def test_the_splits_for_people_are_made_again_alone(forgotten):
    (forgotten / "results/data/wine/splits.parquet").unlink()
    assert counts(planned(forgotten)) == {"gather_splits": 1}


@pytest.mark.extended
def test_written_again_by_pyarrow_an_artefact_is_accepted_and_without_its_metadata_refused(forgotten):
    path = forgotten / SEARCH / "fold-1of2/grow.parquet"
    times = path.stat()
    table = pq.ParquetFile(path).read()
    pq.write_table(table, path, compression="zstd")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert planned(forgotten) == []
    pq.write_table(table.replace_schema_metadata(None), path)
    before = path.read_bytes()
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # so that Snakemake by itself would do nothing
    failed = snakemake(forgotten, "--cores", "2", check=False)
    assert failed.returncode == 1 and "was not written by blanketflow" in failed.stdout
    assert "supplied: {selector: ..., stage: ...}" in failed.stdout and jobs(failed) == []
    assert path.read_bytes() == before


@pytest.mark.extended
def test_results_of_the_first_version_are_made_again_with_a_line_that_says_so(forgotten):
    for path in (forgotten / "results").rglob("*.parquet"):
        table = pq.ParquetFile(path).read()
        ours = {key: table.schema.metadata[key] for key in (b"spec", b"seed", b"status", b"version", b"extra")}
        pq.write_table(table.replace_schema_metadata(ours), path)
    outcome = snakemake(forgotten, "-n")
    assert "by blanketflow 0.1.0" in said(outcome)[0]
    assert {"table", "splits", "ci_test_2", "grow_shrink_2", "evaluate", "report"} <= set(counts(jobs(outcome)))


@pytest.mark.extended
def test_a_source_that_has_moved_leaves_every_search_as_it_is(tmp_path):
    rows = "\n".join(f"{i % 7},{i % 3},{i % 2}" for i in range(80))
    config = {
        "datasets": {"t": {"path": "one.csv", "target": "y"}},
        "splits": {"evaluation": 2},
        "folds": 0,
        "selectors": {"mim": {"method": "mim", "n_features": 1}},
        "models": ["tree"],
    }
    folder = configure(tmp_path / "run", config)
    (folder / "one.csv").write_text(f"a,b,y\n{rows}\n")
    snakemake(folder, "--cores", "2")
    before = contents(folder / "results/select")
    (folder / "elsewhere").mkdir()
    (folder / "one.csv").rename(folder / "elsewhere/two.csv")
    config["datasets"]["t"]["path"] = "elsewhere/two.csv"
    moved = configure(folder, config)
    shutil.rmtree(folder / ".snakemake")
    assert set(counts(planned(moved))) == {"tables", "report"}  # which state the path
    assert contents(folder / "results/select") == before


@pytest.mark.extended
@pytest.mark.parametrize("grain", ["fold", "split", "dataset"])
def test_a_supplied_stage_is_used_and_said_at_every_grain(finished, tmp_path, grain):
    duckdb = pytest.importorskip("duckdb")

    def supply(config):
        config.update(grain=grain, supplied={"selector": "mrmr", "stage": "shrink"})

    folder = changed(finished, tmp_path / "run", supply)
    for path in (folder / "results/select/wine").glob("*/mrmr/fold-*/shrink.parquet"):
        path.unlink()
        duckdb.sql(f"copy (select unnest(['proline', 'hue']) as feature, unnest([true, false]) as kept) to '{path}'")
    supplied = sorted((folder / "results/select/wine").glob("*/mrmr/fold-*/shrink.parquet"))
    before = {path: path.read_bytes() for path in supplied}
    found = folder / "results/select/wine/full/mrmr/blanket.parquet"
    asked = [] if grain == "split" else [found.relative_to(folder)]  # once to the end, else as far as the blanket
    snakemake(folder, "--cores", "2", *asked)
    assert {path: path.read_bytes() for path in before} == before
    blanket = pq.read_table(found).to_pydict()
    assert blanket["feature"] == ["proline"] and blanket["chosen"] == [True]
    assert json.loads(provenance(found)["spec"])["supplied"] == "shrink"
    assert asked or "supplied" in (folder / "results/report.html").read_text()
    assert planned(folder, *asked) == []
    changed_one = next(path for path in before if ("full" if asked else "cv-1") in path.parts)
    duckdb.sql(f"copy (select 'hue' as feature, true as kept) to '{changed_one}'")
    behind = {} if asked else {"evaluate": 1} | REPORTED
    assert counts(planned(folder, *asked)) == {"aggregate": 1} | behind


@pytest.mark.extended
@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ({"feature": ["proline"]}, "has no column 'kept'"),
        ({"feature": ["proline"], "kept": ["yes"]}, "column 'kept' has the type string. Write it as bool"),
        ({"feature": ["proline", "proline"], "kept": [True, False]}, "names a feature twice"),
        ({"feature": ["age"], "kept": [True]}, "names 'age', which is not a feature of the table"),
        (None, "which the config declares as supplied"),
    ],
)
def test_a_supplied_stage_that_cannot_be_used_is_refused(finished, tmp_path, rows, told):
    folder = changed(finished, tmp_path / "run", lambda c: c.update(supplied={"selector": "mrmr", "stage": "shrink"}))
    for path in (folder / "results/select/wine").glob("*/mrmr/fold-*/shrink.parquet"):
        path.unlink()
        if rows is not None:
            pq.write_table(pa.table(rows), path)
    failed = snakemake(folder, "-n", check=False)
    assert failed.returncode == 1 and told in failed.stdout, failed.stdout


@pytest.mark.extended
def test_check_lists_and_removes_what_is_not_as_asked(forgotten):
    check = ("check", "--configfile", "my.yaml")
    whole = blanketflow(forgotten, *check, "--deep")
    assert whole.returncode == 0 and "101 results, all as my.yaml asks" in whole.stderr, whole.stderr
    damaged = forgotten / SEARCH / "fold-1of2/grow.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-5])
    left = forgotten / "results/select/wine/full/old/blanket.parquet"
    left.parent.mkdir()
    shutil.copy(forgotten / "results/select/wine/full/all/blanket.parquet", left)
    found = blanketflow(forgotten, *check)
    listed = [f"{damaged.relative_to(forgotten)}: damaged", f"{left.relative_to(forgotten)}: left over"]
    assert found.returncode == 1 and found.stdout.splitlines() == listed
    removed = blanketflow(forgotten, *check, "--remove")
    assert removed.returncode == 0 and not damaged.exists() and not left.exists()


def test_a_folder_with_files_of_others_is_refused_unless_that_is_allowed(forgotten):
    mine = forgotten / "results/figures/mine.txt"
    mine.write_text("mine")
    (forgotten / "results/data/wine/splits.parquet").unlink()
    refusal = "config: output is 'results', which holds files that blanketflow did not make: 'figures/mine.txt'. Name"
    for asked in (["--cores", "1"], ["-n"]):
        refused = snakemake(forgotten, *asked, check=False)
        assert refused.returncode == 1 and jobs(refused) == []
        assert refused.stdout.splitlines()[-1].startswith(refusal)
    ours = blanketflow(forgotten, "run", "--configfile", "my.yaml", "--cores", "1")
    assert ours.returncode == 1 and ours.stderr.startswith(f"blanketflow: {refusal}") and ours.stderr.count("\n") == 1
    assert not (forgotten / "results/run-lock").exists()
    (option,) = re.findall(r"--config (\S+=\w+)", ours.stderr)
    assert counts(ran(forgotten, "--config", option)) == {"gather_splits": 1} and mine.read_text() == "mine"
    quoted = snakemake(forgotten, "-n", "--config", option.lower(), check=False)
    assert quoted.stdout.splitlines()[-1].endswith("Write true without quotes, and behind --config True.")
    config = yaml.safe_load((forgotten / "my.yaml").read_text(encoding="utf-8"))
    assert planned(configure(forgotten, config | {"allow_foreign_files": True})) == []


@pytest.mark.extended
def test_check_names_files_of_others_and_removes_none(forgotten):
    (forgotten / "results/notes.txt").touch()
    theirs = forgotten / "results/select/wine/full/theirs/blanket.parquet"
    theirs.parent.mkdir()
    pq.write_table(pa.table({"feature": ["x"]}), theirs)
    (forgotten / "results/data/theirs.parquet").write_bytes(b"")
    found = blanketflow(forgotten, "check", "--configfile", "my.yaml", "--remove")
    named = [f"results/{name}: not made by blanketflow" for name in ("data/theirs.parquet", "notes.txt")]
    assert found.returncode == 1 and found.stdout.splitlines() == named
    assert theirs.exists()


# --- one run at a time writes into a folder of results ----------------------------------------------------------------


def held_by(run, **other):
    """Have another run hold the lock of a run's results: one that lives, unless something else is said of it."""
    lock = run / "results/run-lock"
    lock.write_text(json.dumps({**vars(Holder.of_this_process()), **other}))
    return lock


def test_a_run_from_another_folder_into_the_same_results_is_refused(forgotten, tmp_path):
    held_by(forgotten, folder="/srv/study")
    elsewhere = changed(forgotten, tmp_path / "elsewhere", lambda c: c.update(output=str(forgotten / "results")))
    before = contents(forgotten / "results")
    (forgotten / "results/report.html").unlink()
    failed = snakemake(elsewhere, "--cores", "2", check=False)
    assert failed.returncode == 1 and jobs(failed) == []
    refusal = f"another run is working on {forgotten}/results (process {os.getpid()} on"
    assert failed.stdout.splitlines()[-1].startswith(refusal)
    ours = blanketflow(elsewhere, "run", "--configfile", "my.yaml", "--cores", "1")
    assert ours.returncode == 1 and ours.stdout == "" and ours.stderr.startswith(f"blanketflow: {refusal}")
    assert ours.stderr.count("\n") == 1 and "\\n" not in ours.stderr
    assert contents(forgotten / "results") == before
    assert not list((elsewhere / ".snakemake/locks").glob("*"))
    assert set(counts(planned(elsewhere))) == {"report"}  # to look, no lock is needed


@pytest.mark.extended
@pytest.mark.parametrize("dead", [{"process": 2**22 - 1}, {"started": 1.0}, {"space": "another machine"}])
def test_the_lock_of_a_dead_run_is_taken_over_and_that_is_said(forgotten, dead):
    lock = held_by(forgotten, **dead)
    os.utime(lock, (0, 0))  # its last sign of life
    again = "results/select/wine/full/all/blanket.parquet"
    (forgotten / again).unlink()
    outcome = snakemake(forgotten, "--cores", "2", again)
    assert "a run that no longer works (process" in outcome.stdout and "this one takes over" in outcome.stdout
    assert not lock.exists()


@pytest.mark.extended
def test_a_run_of_another_machine_that_gave_a_sign_of_life_is_left_alone(forgotten):
    lock = held_by(forgotten, space="another machine", machine="node7")
    (forgotten / "results/report.html").unlink()
    failed = snakemake(forgotten, "--cores", "2", check=False)
    assert failed.returncode == 1 and "on node7" in failed.stdout and lock.exists()


@pytest.mark.extended
def test_a_run_whose_lock_was_taken_over_stops(tmp_path):
    """As after a laptop slept for longer than a silent run counts as alive."""
    program = """
import signal, sys, threading
from blanketflow.workflow import output_folder
output_folder.BEAT = 0.05
lock = output_folder.RunLock(sys.argv[1], print)
with open(lock._path, "w") as file:
    file.write("{}")
threading.Event().wait(600)
"""
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert "another run has taken over" in ended.stdout and "KeyboardInterrupt" in ended.stderr
