"""What stands is compared with what is planned: any history of a folder, then a run, gives what a fresh run gives.

Jobs are stubs that write what they were asked for and the content of their inputs; which of them run is decided as
Snakemake does without its records: what is forced, what depends on it, and what is missing of the files that it is
asked for or that such a job reads. test_histories.py does it with real runs.
`BLANKETFLOW_SEQUENCES=2000` looks through more (`make fuzz`).
"""

import os
import random
import shutil
from pathlib import Path

import pytest

from blanketflow.data.artefacts import read_columns, read_json, write_columns, write_json
from blanketflow.data.provenance import Provenance, identity_of
from blanketflow.workflow.identity import content_of, contents_beside, what_of
from blanketflow.workflow.job_files import JobFiles
from blanketflow.workflow.layout import PATHS, parse
from blanketflow.workflow.plan import make_plan
from blanketflow.workflow.up_to_date import Artefacts, Manifest, check, compare, left_over, note
from folder_damage import disturb

SCRIPTS = Path(__file__).parents[2] / "scripts"
SEQUENCES = int(os.environ.get("BLANKETFLOW_SEQUENCES", "20"))
CONFIG = {
    "datasets": {"d": {"source": "simulate:clinic", "rows": 60}},
    "splits": {"evaluation": 2, "optimistic": True},
    "folds": 2,
    "selectors": {"gs": {"method": "gs", "ci_test": "g2", "alpha": 0.05}, "mim": {"method": "mim", "n_features": 2}},
    "models": ["tree"],
}


def plan_of(output, choices):
    """A plan below a folder; choices are what a user changes in a config."""
    alpha, n_features, folds, has_gs, seed = choices
    selectors = {"mim": {"method": "mim", "n_features": n_features}}
    if has_gs:
        selectors = {"gs": {"method": "gs", "ci_test": "g2", "alpha": alpha}, **selectors}
    config = {**CONFIG, "output": str(output), "folds": folds, "seed": seed, "selectors": selectors}
    return make_plan(config, SCRIPTS.joinpath)


def artefacts(plan):
    return list(Artefacts(JobFiles(plan, Path(plan.config.output).joinpath)))


def made_with(one):
    """The files that a job makes with an artefact, and that the artefact names."""
    beside = {"table": ["card.json"], "provenance": ["report.html", "figures/d-scores.svg"]}
    own = [f"{one.path.stem}.csv"] if one.artefact == "result_table" else beside.get(one.artefact, [])
    return [one.path.parent / name for name in own]


def job_of(one):
    """What is made together: a job's outputs."""
    what = what_of(one.artefact, one.path)
    if one.artefact in ("grow", "shrink"):
        return ("grow_shrink", what["dataset"], what["selector"], what["split"])
    if one.artefact in ("blanket", "folds", "blankets"):
        return ("aggregate", what["dataset"], what["selector"], what["split"])
    return ("tables",) if one.artefact == "result_table" else (one.artefact, one.path)


def make(one):
    """The stub of a job: what it was asked for and what its inputs say."""
    inputs = [*one.digests, *map(content_of, one.inputs)]
    said = {"asked": [one.spec, one.code, *inputs]}
    for path in made_with(one):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".json":
            write_json(path, said)
        else:
            path.write_text(repr(said))
    beside = contents_beside(one.path, made_with(one))
    if one.path.suffix == ".json":
        identity = identity_of(what_of(one.artefact, one.path), one.spec, one.code, inputs)
        write_json(one.path, {**said, "beside": beside, "identity": identity})
        return
    provenance = Provenance(spec=one.spec, code=one.code, what=what_of(one.artefact, one.path), inputs=inputs)
    provenance.beside = beside
    write_columns(one.path, said, {"asked": "string"}, provenance)


def jobs_to_run(planned, forced):
    """The jobs that Snakemake runs. A figure is no file that it knows: the output of that job is their folder."""
    made_by = {path: job_of(one) for one in planned for path in (one.path, *made_with(one)) if path.suffix != ".svg"}
    reads, asked = {job: set() for job in made_by.values()}, {made_by[path] for path in forced}
    for one in planned:
        reads[job_of(one)] |= set(one.inputs)
        if one.artefact in ("provenance", "all_splits", "result_table"):  # of the rule all
            asked |= {job_of(one) for path in (one.path, *made_with(one)) if path in made_by and not path.exists()}
    found = set()
    while asked:
        job = asked.pop()
        found.add(job)
        asked |= {made_by[path] for path in reads[job] if not path.exists()} - found
        asked |= {other for other, paths in reads.items() if any(made_by[path] == job for path in paths)} - found
    return found


def run(plan, stop_after=None):
    """Make what Snakemake would make; stop after some jobs, as a kill does. Returns whether it ends with 0."""
    planned = artefacts(plan)
    found = check(plan, plan.config.output, keep=True)
    if found.foreign:
        return False
    wanted = jobs_to_run(planned, found.forced)
    done = [one for one in planned if job_of(one) in wanted]
    for one in done if stop_after is None else done[:stop_after]:
        make(one)
    if stop_after is None:
        note(plan, plan.config.output)
    return stop_after is None


def results(plan):
    """Everything that a run's files say, by path below the folder of results."""
    output = Path(plan.config.output)
    found = {}
    for one in artefacts(plan):
        said = read_json(one.path) if one.path.suffix == ".json" else read_columns(one.path)[0]
        found[one.path.relative_to(output)] = said["asked"]
        found |= {path.relative_to(output): path.read_text() for path in made_with(one)}
    return found


def changed(rng, choices):
    place = rng.randrange(len(choices))
    options = [(0.05, 0.01), (2, 3), (2, 0), (True, False), (1, 2)][place]
    return (*choices[:place], rng.choice(options), *choices[place + 1 :])


@pytest.mark.parametrize(
    "number", [*range(4), *(pytest.param(number, marks=pytest.mark.extended) for number in range(4, SEQUENCES))]
)
def test_any_history_then_a_run_gives_what_a_fresh_run_gives(tmp_path, number):
    rng = random.Random(f"history {number}")
    output, choices = tmp_path / "results", (0.05, 2, 2, True, 1)
    for _ in range(rng.randrange(1, 6)):
        step = rng.choice(["change", "disturb", "disturb", "run", "kill", "move"])
        if step == "change":
            choices = changed(rng, choices)
        elif step == "disturb" and output.exists():
            for _ in range(rng.randrange(1, 4)):
                disturb(rng, output)
        elif step == "move" and output.exists():
            moved = tmp_path / f"elsewhere-{rng.randrange(10**9)}"
            (shutil.copytree if rng.random() < 0.5 else shutil.move)(output, moved)
            output = moved
        elif step in ("run", "kill"):
            run(plan_of(output, choices), rng.randrange(40) if step == "kill" else None)
    plan = plan_of(output, choices)
    assert run(plan)
    fresh = plan_of(tmp_path / "fresh", choices)
    assert run(fresh)
    assert results(plan) == results(fresh)
    assert compare(artefacts(plan), Manifest(output)).n_standing == len(artefacts(plan))


def kind_of(path):
    """What a file is: its artefact, or what is made with one."""
    return path.name if path.suffix == ".html" else parse(path).artefact


def test_each_kind_of_file_that_is_deleted_is_named_and_made_again(tmp_path):
    plan = plan_of(tmp_path / "results", (0.05, 2, 2, True, 1))
    assert run(plan)
    whole, kinds = results(plan), {}
    for path in whole:
        kinds.setdefault(kind_of(path), tmp_path / "results" / path)
    temporary = {"ci_test_chunk", "count_shard"}
    elsewhere = {"agreement", "counts", "confirm", "figures", "lock", "manifest", "report"}
    assert kinds.keys() == PATHS.keys() - temporary - elsewhere | {"report.html"}
    for path in kinds.values():
        path.unlink()
        found = check(plan, plan.config.output, keep=False)
        assert (list(found.missing), found.again) == ([path], {})
        assert run(plan) and results(plan) == whole
        assert check(plan, plan.config.output, keep=False).n_standing == len(artefacts(plan))


def test_what_nothing_else_reads_is_made_again_alone(tmp_path):
    plan = plan_of(tmp_path / "results", (0.05, 2, 2, True, 1))
    run(plan)
    (tmp_path / "results/data/d/splits.parquet").unlink()
    found = check(plan, plan.config.output, keep=False)
    assert jobs_to_run(artefacts(plan), found.forced) == {("all_splits", tmp_path / "results/data/d/splits.parquet")}


def test_where_nothing_stands_nothing_is_forced(tmp_path):
    plan = plan_of(tmp_path / "results", (0.05, 2, 2, True, 1))
    found = check(plan, plan.config.output, keep=False)
    assert len(found.missing) == len(artefacts(plan)) and not found.forced and not found.line()


def test_nothing_is_read_again_that_has_not_changed(tmp_path, monkeypatch):
    plan = plan_of(tmp_path / "results", (0.05, 2, 2, True, 1))
    run(plan)
    monkeypatch.setattr("blanketflow.workflow.up_to_date._read", None)  # reading a file would fail
    assert check(plan, plan.config.output, keep=True).n_standing == len(artefacts(plan))


def test_what_removed_selectors_left_is_listed(tmp_path):
    run(plan_of(tmp_path / "results", (0.05, 2, 2, True, 1)))
    left = left_over(plan_of(tmp_path / "results", (0.05, 2, 2, False, 1)), tmp_path / "results")
    assert left and all("gs" in (*path.parts, path.stem) for path in left)
    assert left_over(plan_of(tmp_path / "results", (0.05, 2, 2, True, 1)), tmp_path / "results") == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda path, other: shutil.copy2(other, path), "place"),
        (lambda path, other: path.write_bytes(path.read_bytes()[:-20]), "damaged"),
    ],
)
def test_the_reason_is_said(tmp_path, change, reason):
    plan = plan_of(tmp_path / "results", (0.05, 2, 2, True, 1))
    run(plan)
    first, second = [one.path for one in artefacts(plan) if one.artefact == "shrink"][:2]
    change(first, second)
    found = check(plan, plan.config.output, keep=False)
    assert found.again == {first: reason}
    assert found.line().startswith("1 result does not match what is planned, and is made again")


def test_a_file_of_another_program_is_refused_and_not_touched(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    plan = plan_of(tmp_path / "results", (0.05, 2, 2, True, 1))
    run(plan)
    path = next(one.path for one in artefacts(plan) if one.artefact == "shrink")
    pq.write_table(pa.table({"feature": ["x"], "kept": [True]}), path)
    before = path.read_bytes()
    assert check(plan, plan.config.output, keep=False).foreign == [path]
    assert not run(plan) and path.read_bytes() == before
