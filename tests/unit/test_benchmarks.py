"""Studies run, write what their pages read, and the pages are what their results say. Nothing here is timed."""

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

REPO = Path(__file__).parents[2]
STUDIES = REPO / "studies"
#: Pages of the studies whose results are such files.
PAGES = {study: f"studies/{study}/README.md" for study in ("speed", "costs", "cluster")}
SCRIPTS = ("ci_packages", "ci_tests", "cores", "filters", "limits", "markov_blankets", "nips2003", "overhead", "page")
SCRIPTS += ("ppfs", "scaling", "workflow")
COMMANDS = ("speed", "costs", "many_rows", *(f"speed.{name}" for name in SCRIPTS))
#: Those whose smallest run takes no longer than a few seconds, and the tables that it fills.
TINY = {"cores": {"cores"}, "limits": {"bandwidth", "distance"}, "nips2003": {"marginal stage", "whole", "error"}}
TINY["ci_packages"] = {"tests"}


def run(script, *arguments):
    asked = [sys.executable, "-m", f"studies.{script}", *map(str, arguments)]
    done = subprocess.run(asked, capture_output=True, text=True, cwd=REPO)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_of_a_study_can_be_imported():
    """Without the packages that studies compare with, which are imported where they are measured."""
    importlib.import_module("studies.tabarena.interface").stand_in()  # of a base class, which is no package's yet
    every = sorted(path.relative_to(REPO).with_suffix("") for path in STUDIES.rglob("*.py"))
    for module in every:
        importlib.import_module(".".join(module.parts).removesuffix(".__init__"))


@pytest.mark.extended
@pytest.mark.parametrize("script", COMMANDS)
def test_every_script_starts_and_says_what_it_takes(script):
    assert "--" in run(script, "--help")


@pytest.mark.extended
@pytest.mark.parametrize("script", TINY)
def test_a_tiny_run_writes_a_result_that_the_page_can_read(script, tmp_path):
    from studies.shared.record import OWN, read

    run(f"speed.{script}", "--tiny", "--results", tmp_path)
    content = read(script, tmp_path)
    assert TINY[script] <= {entry["table"] for entry in content["measurements"]}
    assert {"processor", "cores", "memory_gb", "python", "load", "platform"} == set(content["machine"])
    assert {OWN, "numpy", "numba"} <= set(content["versions"])
    assert all(entry["runs"] for entry in content["measurements"])
    run("speed.page", "--results", tmp_path, "--page", shutil.copy(REPO / PAGES["speed"], tmp_path))


def test_ppfs_is_measured_beside_pyimpetus(tmp_path):
    pytest.importorskip("PyImpetus", reason="PyImpetus is not installed: make setup-bench")
    from studies.shared.record import read

    run("speed.ppfs", "--tiny", "--results", tmp_path)
    ratios = read("ppfs", tmp_path)["ratios"]
    assert {(r["table"], r["package"]) for r in ratios} >= {("warm", "PyImpetus")}
    assert all(r["low"] <= r["median"] <= r["high"] for r in ratios)


def test_a_ratio_is_over_our_time_in_the_same_case():
    from studies.shared.record import ratios

    def entry(package, runs, table="t", **case):
        return {"table": table, "case": case, "package": package, "unit": "CPU s", "runs": runs}

    entries = [
        entry("blanketflow", [1.0, 2.0], n=1),
        entry("peer", [10.0], n=1),
        entry("peer", [10.0], n=2),  # not measured by us
        entry("peer", [10.0], "other", n=1),
    ]
    expected = {"table": "t", "case": {"n": 1}, "package": "peer", "median": 7.5, "low": 5.0, "high": 10.0}
    assert ratios(entries) == [expected]


def test_a_file_that_is_no_result_is_refused(tmp_path):
    from studies.shared.record import read

    (tmp_path / "some.json").write_text(json.dumps({"benchmark": "some"}))
    with pytest.raises(ValueError, match=r"some\.json: has \['benchmark'\]"):
        read("some", tmp_path)


def test_slopes_are_exponents():
    from studies.speed.tables import slope

    assert slope([1, 2, 4, 8], [3, 12, 48, 192]) == pytest.approx(2)


def test_committed_results_have_the_form_that_the_page_reads():
    from studies.shared.record import read

    for path in sorted(STUDIES.glob("*/results/*.json")):
        content = read(path.stem, path.parent)
        assert content["benchmark"] == path.stem
        assert str(REPO) not in path.read_text(encoding="utf-8"), "a result names a path of a machine"


@pytest.mark.parametrize("study", PAGES)
def test_a_page_is_what_the_committed_results_say(study, tmp_path):
    page = Path(shutil.copy(REPO / PAGES[study], tmp_path))
    run(f"{study}.page", "--page", page)
    assert page.read_text(encoding="utf-8") == (REPO / PAGES[study]).read_text(encoding="utf-8"), (
        f"{PAGES[study]} is not what the results say: python -m studies.{study}.page"
    )
    for drawn in sorted(tmp_path.glob("*.svg")):
        assert drawn.read_text(encoding="utf-8") == (STUDIES / study / drawn.name).read_text(encoding="utf-8")


def test_cells_of_all_features_are_counted_apart_and_once():
    from studies.papers import page

    both = [
        {"table": "2", "measure": measure, "model": "svm", "selected_on": rows, "method": method, "dataset": "a"}
        | {"said": said}
        for rows in ("training rows", "all rows")
        for measure in ("accuracy", "n-features")
        for method, said in (("all", page.LOWER), ("ppfs", page.HIGHER))
    ]
    *_, scores, sizes, rest = page.counted(pd.DataFrame(both)).splitlines()
    assert scores == "| all scores of methods |  | svm |  | 0 | 0 | 2 | 0 | 0 | 0 |"
    assert sizes == "| all numbers of features |  |  |  | 0 | 0 | 2 | 0 | 0 | 0 |"
    assert rest == "| scores of all features |  |  |  | 0 | 1 | 0 | 0 | 0 | 0 |"


def test_the_page_of_printed_numbers_is_what_the_kept_ones_say():
    from studies.papers import page

    text_of_page, kept = page.PAGE.read_text(encoding="utf-8"), pd.read_parquet(page.CELLS)
    blocks = {run: page.tables(page.judged(c, page.printed_tables(run)), run) for run, c in kept.groupby("run")}
    for name, text in {**blocks, "noise": page.noises(kept)}.items():
        assert f"<!-- {name} -->\n{text}\n<!-- end of {name} -->" in text_of_page, (
            f"{name}: python -m studies.papers.page"
        )


def test_noise_is_by_further_partitions_and_by_further_seeds(tmp_path, monkeypatch):
    from studies.papers import noise
    from studies.papers.printed_tables import PrintedTable

    of = {"run": "r", "dataset": "a", "model": "tree", "metric": "accuracy"}
    values = {"iamb": [0.8, 0.9], "mmpc": [0.5, 0.8], "all": [0.0, 1.0]}
    rows = [{**of, "selector": s, "partition": p, "value": v} for s, two in values.items() for p, v in enumerate(two)]
    pd.DataFrame(rows).to_parquet(tmp_path / "partition_noise.parquet")
    seeds = {"code": "blanketflow", "fold_rows": "train", "table": "2", "dataset": "a", "n_repeats": 5, "n_folds": 0}
    found = [{**seeds, "seed": s, "n_features": 3, "partition": p, "value": s / 10 + p} for s in (0, 1) for p in (0, 1)]
    pd.DataFrame(found).to_parquet(tmp_path / "ppfs_seeds.parquet")
    monkeypatch.setattr(noise, "RESULTS", tmp_path)
    caches = noise.kept, noise.of_partitions
    for one in caches:
        one.cache_clear()
    table = PrintedTable("2", "", "error", "tree", {}, options={"a": {"n_repeats": "5", "n_folds": "0"}})

    def half_width(method, n_partitions=1, selected_on="training rows"):
        cell = {**of, "table": "2", "measure": "error", "method": method, "selected_on": selected_on}
        return noise.half_width(pd.Series(cell | {"n_partitions": n_partitions, "noise": 0.3}), table, 0.05)

    t = 12.706205  # Student's 0.975 with one degree of freedom; a difference of two draws has twice the variance
    try:
        assert half_width("iamb") == pytest.approx(t * 0.1 + 0.05)  # 0.1 / sqrt(2) is its deviation
        pooled = ((0.1**2 + 0.3**2) / 2) ** 0.5  # of the two methods, for one that was not measured
        assert half_width("gs") == pytest.approx(t * pooled + 0.05)
        assert half_width("iamb", n_partitions=10) == pytest.approx(0.3)
        both = ((t * pooled) ** 2 + (t * 0.1) ** 2) ** 0.5  # seeds differ by 0.1 on the same partitions
        assert half_width("ppfs", selected_on="all rows") == pytest.approx(both + 0.05)
    finally:
        for one in caches:
            one.cache_clear()


def test_stability_is_of_the_features_and_not_of_their_places_in_an_answer(tmp_path):
    from blanketflow.core.table import Column, Table
    from blanketflow.core.task import Task
    from blanketflow.data.column_roles import RawTable
    from blanketflow.data.provenance import Provenance
    from blanketflow.data.storage import write_table
    from studies.answer import page

    def write(frame, *place):
        path = tmp_path.joinpath(*place)
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(frame).to_parquet(path)

    chosen = {"auto": [["b", "a"], ["a", "b"]], "f-10": [["a", "b"], ["c", "d"]]}  # the most important first
    a, b, c, d, target = (Column(name, "numeric", np.arange(3.0)) for name in ("a", "b", "c", "d", "target"))
    (tmp_path / "data" / "s").mkdir(parents=True)
    raw = RawTable(Table([a, b, c, d]), target, Task("regression", ""))
    write_table(tmp_path / "data" / "s" / "table.parquet", raw, Provenance())
    for selector, of_splits in chosen.items():
        score = {"split": ["cv-1", "cv-2"], "model": "knn", "metric": "accuracy", "value": 0.5}
        write(score, "evaluate", "s", f"{selector}.parquet")
        for split, features in zip(score["split"], of_splits, strict=True):
            write({"feature": features, "chosen": True}, "select", "s", split, selector, "blanket.parquet")
            write({"seconds": [1.0]}, "select", "s", split, selector, "folds.parquet")
    found = page.scores_of(tmp_path).set_index(["selector", "split"])["chosen"]
    assert found.to_dict() == {
        ("auto", "cv-1"): "0 1", ("auto", "cv-2"): "0 1", ("f-10", "cv-1"): "0 1", ("f-10", "cv-2"): "2 3"
    }  # fmt: skip
    assert page.nogueira(found["auto"], 4) == 1
    assert page.nogueira(found["f-10"], 4) == pytest.approx(-1)  # two sets of two of four with nothing in common
    assert page.nogueira(pd.Series(["0 1", "", "0 1", "0 1 2 3"]), 4) == 1  # none and all say nothing of features
    assert np.isnan(page.nogueira(pd.Series(["0 1 2 3", "0 1 2 3"]), 4))


def test_earlier_scores_are_kept_where_a_run_has_not_the_data_set_with_the_selector():
    from studies.answer import page

    def scores(score, *datasets, selectors=("all", "auto")):
        return pd.DataFrame(
            [{"dataset": d, "selector": s, "split": "cv-1", "score": score} for d in datasets for s in selectors]
        )

    joined = page.with_earlier(scores(2, "b"), scores(1, "a", "b", selectors=("all", "auto", "boruta")))
    assert joined[["dataset", "selector", "score"]].values.tolist() == [
        ["a", "all", 1], ["a", "auto", 1], ["a", "boruta", 1], ["b", "all", 2], ["b", "auto", 2], ["b", "boruta", 1]
    ]  # fmt: skip
