"""blanketflow as a module of another workflow: the example of docs/module.md, and what it promises."""

import re
import shutil
import subprocess

import numpy as np
import pytest
import yaml

from forked import run_snakemake
from workflow_runs import (
    PROJECT,
    WITHOUT_REPORT,
    assert_equal_results,
    configure,
    contents,
    environment,
    jobs,
    snakemake,
)

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

SMALL = {"splits": {"evaluation": 0}, "folds": 0}
WITHOUT_FOLDS = {**SMALL, "datasets": {"cohort": {"path": "cohort.csv", "target": "outcome"}}}
CONFIGS = {
    "one": {**WITHOUT_FOLDS, "output": "one", "selectors": {"gs": {"method": "gs", "ci_test": "g2"}}},
    "two": {**WITHOUT_FOLDS, "selectors": {"mim": {"method": "mim", "n_features": 2, "folds": 2, "grain": "fold"}}},
}
TWO_MODULES = f"""
configfile: "config.yaml"

rule all:
    input: "both.txt"

module one:
    snakefile: "{PROJECT}/Snakefile"
    config: config["one"]

use rule * from one as one_*

module two:
    snakefile: "{PROJECT}/Snakefile"
    config: config["two"]
    prefix: "inner"

use rule * from two as two_*

rule both:
    input: rules.one_all.input, rules.two_all.input
    output: "both.txt"
    shell: "wc -l one/tables/blankets.csv inner/results/tables/blankets.csv > {{output}}"
"""


def run(folder, *arguments, check=True, **variables):
    """Run the outer workflow of a folder as a person would."""
    outcome = run_snakemake(arguments, folder, environment() | variables)
    assert not check or outcome.returncode == 0, outcome.stdout
    return outcome


def names(outcome):
    """The distinct rules that a run lists."""
    return {rule for rule, _ in jobs(outcome)}


def write_cohort(path, seed=0):
    rng = np.random.default_rng(seed)
    outcome = rng.integers(0, 2, 150)
    rows = [f"{'high' if y else 'low'},{rng.normal(y):.3f},{rng.normal():.3f},{y}" for y in outcome]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("dose,age,noise,outcome\n" + "\n".join(rows) + "\nwithdrawn,0,0,0\n", encoding="utf-8")


def write_workflow(folder, snakefile, config):
    shutil.copytree(PROJECT / "profiles/default", folder / "profiles/default")
    (folder / "Snakefile").write_text(snakefile, encoding="utf-8")
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return folder


def direct(folder, config, table):
    """The results of a configuration that is run by itself, on a copy of a table."""
    path = folder / config["datasets"]["cohort"]["path"]
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(table, path)
    snakemake(configure(folder, config), "--cores", "2", *WITHOUT_REPORT)
    return contents(folder / config.get("output", "results"))


def example():
    """The workflow and the configuration that docs/module.md shows, the latter with less work."""
    text = (PROJECT / "docs/module.md").read_text(encoding="utf-8")
    blocks = {name: re.search(rf"```{name}\n(.*?)```", text, re.DOTALL)[1] for name in ("yaml", "python")}
    config = yaml.safe_load(blocks["yaml"])
    config["blanketflow"].update(SMALL)
    return blocks["python"], config


@pytest.fixture(scope="module")
def outer(tmp_path_factory):
    """The example's folder after its two calls, and what they ran."""
    folder = write_workflow(tmp_path_factory.mktemp("outer"), *example())
    write_cohort(folder / "raw/cohort.csv")
    (folder / "blanketflow").symlink_to(PROJECT)
    return folder, [names(run(folder, "--cores", "2")) for _ in range(2)]


def test_the_first_call_makes_the_table_and_the_second_selects(outer):
    folder, (first, second) = outer
    assert first == {"cohort"}
    selection = {"bf_ci_test_dataset_0", "bf_grow_shrink_dataset_0", "bf_aggregate_dataset"}
    assert {"bf_table", "bf_tables", "blankets"} | selection <= second
    assert all(name.startswith("bf_") for name in second - {"blankets"}) and "cohort" not in second
    assert "dose" in (folder / "results/blankets.txt").read_text(encoding="utf-8")


def test_another_call_has_nothing_to_do(outer):
    assert "Nothing to be done" in run(outer[0], "-n").stdout


def test_its_target_makes_what_a_run_by_itself_makes(outer, tmp_path):
    folder, _ = outer
    done = names(run(folder, "--cores", "2", "bf_all"))
    assert {"bf_report", "bf_gather_splits"} <= done <= {"bf_report", "bf_gather_splits", "bf_all"}
    found = contents(folder / "results/blanketflow")
    assert_equal_results(found, direct(tmp_path, example()[1]["blanketflow"], folder / "results/cohort.csv"))


def test_a_changed_raw_table_remakes_all_in_one_call(outer, tmp_path):
    folder = shutil.copytree(outer[0], tmp_path / "copy", symlinks=True)
    write_cohort(folder / "raw/cohort.csv", seed=1)
    done = names(run(folder, "--cores", "2"))
    assert {"cohort", "bf_table", "bf_grow_shrink_dataset_0", "bf_tables"} <= done
    assert "Nothing to be done" in run(folder, "-n").stdout


def test_a_table_that_is_not_there_yet_is_refused_with_the_way_out(outer, tmp_path):
    snakefile, config = example()
    folder = write_workflow(tmp_path, snakefile.replace("exists(TABLE)", "True"), config)
    (folder / "blanketflow").symlink_to(PROJECT)
    write_cohort(folder / "raw/cohort.csv")
    outcome = run(folder, "-n", check=False)
    assert outcome.returncode != 0 and "Traceback" not in outcome.stdout
    assert "cohort: there is no file results/cohort.csv" in outcome.stdout
    assert "must be made first (blanketflow explain docs/module.md)" in outcome.stdout


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A workflow with two modules, run; its results and those of runs without modules."""
    folder = write_workflow(tmp_path_factory.mktemp("both"), TWO_MODULES, CONFIGS)
    write_cohort(folder / "cohort.csv")
    run(folder, "--cores", "2")
    expected = {
        name: direct(tmp_path_factory.mktemp(name), config, folder / "cohort.csv") for name, config in CONFIGS.items()
    }
    return folder, expected


def test_two_modules_do_what_each_does_alone(both):
    folder, expected = both
    assert_equal_results(contents(folder / "one"), expected["one"])
    assert_equal_results(contents(folder / "inner/results"), expected["two"])
    assert "Nothing to be done" in run(folder, "-n").stdout


def test_a_changed_setting_of_one_module_leaves_the_other_alone(both, tmp_path):
    folder = shutil.copytree(both[0], tmp_path / "copy")
    changed = {**CONFIGS, "two": {**CONFIGS["two"], "selectors": {"mim": {"method": "mim", "n_features": 1}}}}
    (folder / "config.yaml").write_text(yaml.safe_dump(changed), encoding="utf-8")
    found = names(run(folder, "-n"))
    assert found and not [name for name in found if name.startswith("one_")]


def test_a_module_from_a_repository_is_the_same_module(both, tmp_path):
    """github() clones over the network; here git is told to take a repository of this machine instead."""
    repository = tmp_path / "repositories/lab/blanketflow"
    for part in ("rules", "scripts", "envs"):
        shutil.copytree(PROJECT / part, repository / part)
    shutil.copy2(PROJECT / "Snakefile", repository)
    person = ["-c", "user.name=Lab", "-c", "user.email=lab@example.org"]
    for command in (["init", "-q"], ["add", "."], [*person, "commit", "-qm", "all"], ["tag", "v1"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    folder = shutil.copytree(both[0], tmp_path / "copy")
    fetched = TWO_MODULES.replace(f'"{PROJECT}/Snakefile"', 'github("lab/blanketflow", path="Snakefile", tag="v1")')
    (folder / "Snakefile").write_text(fetched, encoding="utf-8")
    instead = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{tmp_path}/repositories/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    assert "Nothing to be done" in run(folder, "-n", **instead).stdout
    shutil.rmtree(folder / "one")
    assert {"one_table", "one_report"} <= names(run(folder, "--cores", "2", "one_all", **instead))
    assert_equal_results(contents(folder / "one"), both[1]["one"])
