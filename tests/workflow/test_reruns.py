"""What runs again after a change: all that depends on it, and nothing else."""

import ast
import contextlib
import os
import shutil

import pytest

from workflow_runs import PROJECT, changed, chosen, columns, counts, planned, ran, snakemake

pytestmark = pytest.mark.workflow

REPORTED = {"tables": 1, "report": 1}


def copied(finished, tmp_path, change):
    return changed(finished, tmp_path / "copy", change)


def after_selection(selector, splits=3):
    """The jobs behind one selector whose grow and shrink run again."""
    return {
        ("grow_shrink_2", selector): splits,
        ("aggregate", selector): splits,
        ("evaluate", selector): 1,
        ("tables", None): 1,
        ("report", None): 1,
    }


def test_a_changed_alpha_reruns_that_selector_without_ci_tests(finished, tmp_path):
    """That it does is seen in test_identity.py."""
    folder = copied(finished, tmp_path, lambda c: c["selectors"]["ppfs"].update(alpha=0.2))
    assert counts(planned(folder), "selector") == after_selection("ppfs")


def test_a_changed_n_repeats_reruns_the_ci_tests_of_that_test_and_its_selectors(finished, tmp_path):
    folder = copied(finished, tmp_path, lambda c: c["ci_tests"]["quick"].update(n_repeats=6))
    expected = {("ci_test_2", "quick", None): 3} | {(r, None, s): n for (r, s), n in after_selection("ppfs").items()}
    assert counts(planned(folder), "test", "selector") == expected


def test_equal_values_written_otherwise_rerun_nothing(finished, tmp_path):
    def rewrite(config):
        config["selectors"]["ppfs"]["alpha"] = 0.050  # the default, spelled out
        config["ci_tests"]["quick"] = {"n_repeats": 5, "model": "tree", "type": "ppi"}
        config["ci_tests"]["unused"] = {"type": "fisher-z"}

    listed = counts(planned(copied(finished, tmp_path, rewrite)))
    assert set(listed) <= set(REPORTED)  # the report may list a configured test, but nothing is computed again


def test_another_aggregation_reruns_aggregation_and_what_follows(finished, tmp_path):
    folder = copied(finished, tmp_path, lambda c: c["selectors"]["ppfs"].update(aggregate="union"))
    expected = after_selection("ppfs")
    del expected["grow_shrink_2", "ppfs"]
    assert counts(planned(folder), "selector") == expected


def test_another_model_reruns_the_evaluation_only(finished, tmp_path):
    folder = copied(finished, tmp_path, lambda c: c.update(models=["tree", "knn"]))
    assert counts(planned(folder)) == {"evaluate": 3, **REPORTED}


def test_a_changed_seed_reruns_whatever_draws_by_it(finished, tmp_path):
    folder = copied(finished, tmp_path, lambda c: c.update(seed=1))
    listed = counts(planned(folder))
    assert {rule: listed[rule] for rule in ("splits", "ci_test_2", "grow_shrink_2")} == {
        "splits": 1,
        "ci_test_2": 6,
        "grow_shrink_2": 9,
    }


@pytest.mark.extended
def test_a_selector_with_another_number_of_folds_leaves_the_others_alone(finished, tmp_path):
    def add(config):
        config["selectors"]["mrmr-by-three"] = {"method": "mrmr", "n_features": 3, "folds": 3}

    folder = copied(finished, tmp_path, add)
    mine = counts(planned(folder), "test", "selector")
    name = "mrmr-by-three"
    assert mine == {
        ("splits", None, None): 1,
        ("gather_splits", None, None): 1,
        ("ci_test_3", "g2", None): 3,
        ("grow_shrink_3", None, name): 3,
        ("aggregate", None, name): 3,
        ("evaluate", None, name): 1,
        ("tables", None, None): 1,
        ("report", None, None): 1,
    }
    snakemake(folder, "--cores", "2", f"results/select/wine/full/{name}/blanket.parquet")
    assert len(chosen(folder / "results", "wine", "full", name)) == 3
    # The splits are new now, and still nobody else's work is asked for.
    left = counts(planned(folder), "selector")
    assert {selector for _, selector in left} == {None, name} and ("splits", None) not in left


@pytest.mark.extended
def test_a_removed_selector_reruns_tables_and_report_only(finished, tmp_path):
    folder = copied(finished, tmp_path, lambda c: c["selectors"].pop("mrmr"))
    assert counts(planned(folder)) == REPORTED
    assert counts(ran(folder)) == REPORTED
    assert (folder / "results/evaluate/wine/mrmr.parquet").exists()
    assert set(columns(folder / "results/tables/scores.parquet")["selector"]) == {"ppfs", "all", "none"}
    assert "mrmr" not in (folder / "results/tables/blankets.csv").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project whose sources a test may change."""
    copy = tmp_path_factory.mktemp("project")
    for name in ("src", "scripts", "rules", "profiles", "envs"):
        shutil.copytree(PROJECT / name, copy / name)
    for name in ("Snakefile", "config.yaml"):
        shutil.copy2(PROJECT / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def run(finished, tmp_path_factory):
    """A finished run that is only looked at."""
    return shutil.copytree(finished, tmp_path_factory.mktemp("finished") / "run")


@contextlib.contextmanager
def rewritten(path, change):
    """A file with another content for a while."""
    original = path.read_bytes()
    path.write_bytes(change(original))
    try:
        yield
    finally:
        path.write_bytes(original)


def with_more_code(source):
    return source + b"\nCHANGED = True\n"


def reworded(source):
    docstring = ast.get_docstring(ast.parse(source), clean=False).encode()
    return source.replace(docstring, b"Reworded.") + b"\n# changed\n"


def test_a_changed_source_file_reruns_what_uses_it_and_another_wording_nothing(project, run):
    source = project / "src/blanketflow"
    everywhere = source / "core/errors.py"  # every job imports it
    with rewritten(everywhere, reworded), rewritten(source / "ci/predictive/risk_differences.py", with_more_code):
        listed = counts(planned(run, project=project), "test", "selector")
    expected = {(rule, None, selector): n for (rule, selector), n in after_selection("ppfs").items()}
    assert listed == {("ci_test_2", "quick", None): 3} | expected


@pytest.mark.extended
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("selectors/causal/ppfs.py", after_selection("ppfs")),
        ("moves/backward.py", after_selection("ppfs")),
        ("selectors/causal/gs.py", {}),
    ],
)
def test_a_changed_source_file_reruns_what_uses_it(project, run, source, expected):
    with rewritten(project / "src/blanketflow" / source, with_more_code):
        assert counts(planned(run, project=project), "selector") == expected


@pytest.mark.extended
def test_touched_source_files_rerun_nothing(project, run):
    for path in [*project.rglob("*.py"), *project.rglob("*.smk"), project / "Snakefile"]:
        os.utime(path)
    assert planned(run, project=project) == []


@pytest.mark.extended
def test_a_changed_script_reruns_its_rule(project, run):
    with rewritten(project / "scripts/tables.py", with_more_code):
        assert counts(planned(run, project=project)) == REPORTED
