"""What stands is compared with what is planned: any history of a folder, then a run, gives what a fresh run gives.

Jobs are stubs that write what they were asked for and the content of their inputs; which of them run is decided as
Snakemake does without its records: what is missing or forced, and what depends on it. test_histories.py does it
with real runs.
`BLANKETFLOW_SEQUENCES=2000` looks through more (`make fuzz`).
"""

import os
import random
import shutil
from pathlib import Path

import pytest

from blanketflow.data.artefacts import read_columns, read_json, write_columns, write_json
from blanketflow.data.provenance import Provenance, identity_of
from blanketflow.workflow.identity import content_of, what_of
from blanketflow.workflow.job_files import JobFiles
from blanketflow.workflow.manifest import Manifest
from blanketflow.workflow.plan import make_plan
from blanketflow.workflow.planned import Artefacts
from blanketflow.workflow.standing import check, compare, left_over, note
from folder_damage import disturb

SCRIPTS = Path(__file__).parents[2] / "scripts"
SEQUENCES = int(os.environ.get("BLANKETFLOW_SEQUENCES", "20"))
CONFIG = {
    "datasets": {"d": {"source": "simulate:clinic", "rows": 60}},
    "splits": {"evaluation": 2},
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


def card_of(one):
    return one.path.with_name("card.json")


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
    if one.path.suffix == ".json":
        report = one.path.with_name("report.html")
        report.write_text(repr(said))
        beside = {report.name: content_of(report)}
        write_json(
            one.path,
            {
                **said,
                "beside": beside,
                "identity": identity_of(what_of(one.artefact, one.path), one.spec, one.code, inputs),
            },
        )
        return
    provenance = Provenance(spec=one.spec, code=one.code, what=what_of(one.artefact, one.path), inputs=inputs)
    if one.artefact == "table":
        write_json(card_of(one), said)
        provenance.beside = {"card.json": content_of(card_of(one))}
    write_columns(one.path, said, {"asked": "string"}, provenance)


def run(plan, stop_after=None):
    """Make what Snakemake would make; stop after some jobs, as a kill does. Returns whether it ends with 0."""
    planned = artefacts(plan)
    found = check(plan, plan.config.output, keep=True)
    if found.foreign:
        return False
    job, together = {}, {}
    for one in planned:
        job[one.path] = job_of(one)
        together.setdefault(job[one.path], set()).add(one.path)
    makes, made_jobs = set(), set()
    for one in planned:
        is_missing = not one.path.exists() or (one.artefact == "table" and not card_of(one).exists())
        if is_missing or one.path in found.again or not makes.isdisjoint(one.inputs):
            made_jobs.add(job[one.path])
            makes |= together[job[one.path]] | ({card_of(one)} if one.artefact == "table" else set())
    done = [one for one in planned if job[one.path] in made_jobs]
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
    return found | {Path("report.html"): (output / "report.html").read_text()}


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


def test_nothing_is_read_again_that_has_not_changed(tmp_path, monkeypatch):
    plan = plan_of(tmp_path / "results", (0.05, 2, 2, True, 1))
    run(plan)
    monkeypatch.setattr("blanketflow.workflow.manifest._read", None)  # reading a file would fail
    assert check(plan, plan.config.output, keep=True).n_standing == len(artefacts(plan))


def test_what_removed_selectors_left_is_listed(tmp_path):
    run(plan_of(tmp_path / "results", (0.05, 2, 2, True, 1)))
    left = left_over(plan_of(tmp_path / "results", (0.05, 2, 2, False, 1)), tmp_path / "results")
    assert left and all("gs" in path.parts for path in left if path.parent.name != "d")
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
