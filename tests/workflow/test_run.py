"""One run from configuration to report: what is planned, what is written, and that nothing else decides it."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
import yaml

from blanketflow import __version__
from blanketflow.config.reading import read_config
from blanketflow.data.storage import read_table
from blanketflow.search.run_fold import fold_seed, run_fold
from forked import HANGS
from workflow_runs import (
    PROJECT,
    TABLES,
    assert_equal_results,
    columns,
    configure,
    content,
    contents,
    counts,
    environment,
    planned,
    provenance,
    snakemake,
)

pytestmark = pytest.mark.workflow

JOBS = {
    "table": 1,
    "splits": 1,
    "gather_splits": 1,
    "ci_test_2": 2 * 3,
    "grow_shrink_2": 3 * 3,
    "aggregate": 3 * 3,
    "evaluate": 3,
    "tables": 1,
    "report": 1,
}
STEP_COLUMNS = ["feature", "role", "statistic", "p_value", "importance", "given"]
# Columns as the design has them; artefacts may add more behind.
COLUMNS = {
    "data/wine/splits": ["row", "split", "part", "folds", "fold"],
    "ci_test/wine/cv-1/fold-1of2/quick": ["feature", "statistic", "p_value", "log_p", "dof", "n", "reliable"],
    "ci_test/wine/full/fold-2of2/g2": ["feature", "statistic", "p_value", "log_p", "dof", "n", "reliable"],
    "select/wine/cv-2/ppfs/fold-1of2/grow": ["order", *STEP_COLUMNS],
    "select/wine/full/ppfs/fold-2of2/shrink": ["feature", "kept", *STEP_COLUMNS[1:], "step"],
    "select/wine/full/mrmr/blanket": ["feature", "chosen", "frequency", "importance", "role"],
    "select/wine/full/mrmr/folds": ["fold", "size", "z", "chosen", "n_tests", "seconds"],
    "evaluate/wine/ppfs": ["split", "model", "metric", "value", "prior", "n_features", "seconds"],
}


def test_a_dry_run_lists_every_job_and_writes_nothing(tmp_path, base_config):
    folder = configure(tmp_path, base_config)
    assert counts(planned(folder)) == JOBS
    assert not (folder / "results").exists()


@pytest.mark.parametrize("path", COLUMNS)
def test_artefacts_have_the_columns_of_the_design(finished, path):
    found = list(columns(finished / f"results/{path}.parquet"))
    assert found[: len(COLUMNS[path])] == COLUMNS[path]


def test_the_table_holds_the_features_in_order_and_the_target_last(finished):
    names = list(columns(finished / "results/data/wine/table.parquet"))
    assert names[0] == "alcohol" and names[-2:] == ["proline", "target"] and len(names) == 14


def test_every_artefact_says_how_it_came_about(finished):
    paths = sorted((finished / "results").rglob("*.parquet"))
    assert len(paths) == 3 + 3 * 2 * 2 + 9 * (2 * 2 + 3) + 3 + len(TABLES)
    for path in paths:
        said = provenance(path)
        assert json.loads(said["spec"]), path
        assert said["version"] == __version__, path
        assert (said["status"], said["reason"]) == ("ok", ""), path
        assert isinstance(said["seed"], int) and isinstance(said["n_tests"], int) and said["seconds"] >= 0, path


def test_ci_tests_are_counted(finished):
    select, marginal = finished / "results/select/wine/full", finished / "results/ci_test/wine/full"
    assert provenance(marginal / "fold-1of2/quick.parquet")["n_tests"] == 13
    by_fold = columns(select / "ppfs/folds.parquet")
    candidates = [columns(select / f"ppfs/fold-{k}of2/grow.parquet")["feature"] for k in (1, 2)]
    # PPFS tests each feature given nothing, and each of two or more candidates given the rest.
    assert by_fold["n_tests"] == [13 + (len(c) if len(c) > 1 else 0) for c in candidates]
    assert provenance(select / "ppfs/blanket.parquet")["n_tests"] == sum(by_fold["n_tests"])


def test_the_blanket_is_that_of_the_best_fold(finished):
    select = finished / "results/select/wine/full/ppfs"
    blanket, by_fold = columns(select / "blanket.parquet"), columns(select / "folds.parquet")
    best = by_fold["fold"][by_fold["chosen"].index(True)]
    decided = columns(select / f"fold-{best}/shrink.parquet")
    kept = {f for f, k in zip(decided["feature"], decided["kept"], strict=True) if k}
    assert kept
    assert {f for f, c in zip(blanket["feature"], blanket["chosen"], strict=True) if c} == kept


def test_the_run_ends_with_tables_report_figures_and_provenance(finished):
    results = finished / "results"
    for name in TABLES:
        lines = (results / f"tables/{name}.csv").read_text(encoding="utf-8").splitlines()
        found = columns(results / f"tables/{name}.parquet")
        assert lines[0].split(",") == list(found)
        assert len(lines) - 1 == len(next(iter(found.values())))
    assert set(columns(results / "tables/scores.parquet")["selector"]) == {"ppfs", "mrmr", "all", "none"}
    report = (results / "report.html").read_text(encoding="utf-8")
    assert all(word in report for word in ("wine", "ppfs", "mrmr", "proline", 'class="chart"'))
    figures = list((results / "figures").glob("*.svg"))
    assert len(figures) >= 3 and all(path.read_text(encoding="utf-8").startswith("<svg") for path in figures)
    facts = json.loads((results / "provenance.json").read_text(encoding="utf-8"))
    assert facts["seed"] == 2026 and facts["blanketflow"] == __version__ and "numpy" in facts["packages"]


def test_logs_and_benchmarks_mirror_the_rules(finished):
    results = finished / "results"
    for folder, ending in (("logs", ".log"), ("benchmarks", ".tsv")):
        files = [path.relative_to(results / folder) for path in (results / folder).rglob(f"*{ending}")]
        rules = [path.parts[0].removesuffix(ending) for path in files]
        expected = {rule.removesuffix("_2"): n for rule, n in JOBS.items()}
        assert {rule: rules.count(rule) for rule in set(rules)} == expected


def test_no_temporary_file_and_no_pickle_is_left(finished):
    names = [path.name for path in (finished / "results").rglob("*") if path.is_file()]
    assert [name for name in names if name.endswith((".tmp", ".pkl", ".pickle", ".joblib"))] == []


def test_a_second_run_does_nothing(finished, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "copy")
    before = {path: path.stat().st_mtime_ns for path in (folder / "results").rglob("*")}
    assert "Nothing to be done" in snakemake(folder, "--cores", "2").stdout
    assert {path: path.stat().st_mtime_ns for path in (folder / "results").rglob("*")} == before


@pytest.mark.extended
def test_single_targets_run_alone_and_by_fold_give_the_same_content(tmp_path, base_config, finished):
    folder = configure(tmp_path, base_config | {"grain": "fold"})
    targets = [f"results/select/wine/full/{name}/blanket.parquet" for name in ("ppfs", "mrmr")]
    one = counts(planned(folder, targets[0]))
    assert one == {"table": 1, "splits": 1, "ci_test": 2, "grow": 2, "shrink": 2, "aggregate": 1}
    snakemake(folder, "--cores", "2", *targets)
    found, undisturbed = contents(folder / "results"), contents(finished / "results")
    assert {path.split("/")[2] for path in found if path.startswith("select/")} == {"full"}
    assert_equal_results(found, {path: undisturbed[path] for path in found})
    assert not (folder / "results/report.html").exists()


def test_a_job_may_do_a_whole_data_set(tmp_path, base_config):
    """That it writes the same is seen in test_interrupted.py."""
    done = counts(planned(configure(tmp_path, base_config | {"grain": "dataset"})))
    joined = {"ci_test_dataset_2": 2, "grow_shrink_dataset_2": 3, "aggregate_dataset": 3, "evaluate": 3}
    assert {rule: n for rule, n in done.items() if rule in joined} == joined
    assert not {"ci_test", "grow", "shrink", "aggregate"} & set(done)


@pytest.mark.parametrize("split", ["full", "cv-1"])
@pytest.mark.parametrize("selector", ["ppfs", "mrmr"])
def test_a_search_sees_the_training_rows_of_its_fold_and_no_others(finished, selector, split):
    """The library finds the same on those rows alone."""
    config = read_config(yaml.safe_load((finished / "my.yaml").read_text("utf-8")))
    asked = config.selectors[selector]
    table = read_table(finished / "results/data/wine/table.parquet")
    rows = {name: np.array(values) for name, values in columns(finished / "results/data/wine/splits.parquet").items()}
    trained = (rows["split"] == split) & (rows["part"] == "train") & (rows["folds"] == 2)
    for k in (1, 2):
        own = rows["row"][trained & (rows["fold"] != k)]
        seed = fold_seed(config.seed, "wine", split, f"{k}of2")
        test = config.ci_tests[asked.ci_test]
        found = run_fold(asked.method, test, table.features.take(own), table.target.take(own), seed)
        fold = finished / f"results/select/wine/{split}/{selector}/fold-{k}of2"
        for stage, steps in (("grow", found.candidates), ("shrink", found.decisions)):
            written = columns(fold / f"{stage}.parquet")
            for field in ("feature", "statistic", "p_value", "importance"):
                assert written[field] == [getattr(step, field) for step in steps]
        assert columns(fold / "shrink.parquet")["kept"] == [step.kept for step in found.decisions]


WITHOUT = ("sklearn", "lightgbm", "pandas", "scipy.stats")


def test_a_grow_job_imports_only_what_it_needs(finished, tmp_path, selector="ppfs", test="quick"):
    """Those of the other jobs: tests/unit/test_startup.py."""
    results, place = finished / "results", f"select/wine/full/{selector}/fold-1of2/grow.parquet"
    grown, said = tmp_path / place, provenance(results / place)
    spec = said["spec"]
    assert json.loads(spec)["method"] == selector
    marginal = results / f"ci_test/wine/full/fold-1of2/{test}.parquet"
    paths = [results / "data/wine/table.parquet", results / "data/wine/splits-2.parquet", marginal, grown]
    program = """
import json, runpy, sys
from pathlib import Path
script, table, splits, marginal, grow, spec, code = sys.argv[1:]
main = runpy.run_path(script)["main"]
of_fold = {"dataset": "wine", "split": "full", "fold": "1of2", "spec": spec, "code": code}
main(table=Path(table), splits=Path(splits), marginal=[Path(marginal)], grow=Path(grow), **of_fold)
print(json.dumps(sorted(sys.modules)))
"""
    loaded = json.loads(python(program, PROJECT / "scripts/grow.py", *paths, spec, said["code"]))
    assert content(grown) == content(results / place)
    assert "numpy" in loaded and [name for name in WITHOUT if name in loaded] == []


def test_the_plan_imports_numpy_at_most():
    program = """
import json, sys, yaml
from blanketflow.workflow.plan import make_plan
plan = make_plan(yaml.safe_load(open("config.yaml")), "scripts/{}".format)
for dataset, selector in plan.pairs:
    plan.method_spec(dataset, selector), plan.source_files(dataset)
    plan.code("grow", dataset=dataset, selector=selector)
assert len(plan.pairs) > 5
print(json.dumps(sorted(sys.modules)))
"""
    loaded = json.loads(python(program))
    heavy = ("scipy", "sklearn", "pandas", "numba", "lightgbm", "pyarrow", "altair", "jinja2")
    assert [name for name in heavy if name in loaded] == []


def test_the_package_itself_imports_nothing():
    loaded = json.loads(python("import json, sys, blanketflow; print(json.dumps(sorted(sys.modules)))"))
    assert "blanketflow" in loaded and "numpy" not in loaded


def python(program, *arguments):
    call = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(call, cwd=PROJECT, env=environment(), capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, done.stderr
    return done.stdout
