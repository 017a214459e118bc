"""The exported notebook: its cells, run as they stand with the table at hand, find what the run found."""

import json
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

from blanketflow.core.errors import DataError
from blanketflow.data.sources import read_source
from blanketflow.reporting.export import OF_RUN, ExportedRun
from blanketflow.workflow.in_process import run_plan
from blanketflow.workflow.plan import make_plan
from blanketflow.workflow.specs import table_seed

N = 240


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with one table: classes, times to an event, counts, groups, strata, weights and missing cells."""
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, N))
    table = pd.DataFrame({"a": a, "b": b, "c": c, "a 2": a + rng.normal(size=N), "flat": 1.0})
    table["colour"] = np.where(b + rng.normal(size=N) > 0, "red", rng.choice(["blue", "green"], size=N))
    table["state"] = np.where(a - b + rng.normal(size=N) > 0, "ill", "well")
    table["dose"] = a + b + rng.normal(size=N)
    table["days"] = rng.exponential(np.exp(a))
    table["died"] = rng.integers(2, size=N)
    table["ended"] = np.where(rng.random(N) < 0.7, "ill", np.where(rng.random(N) < 0.5, "moved", "0"))
    table["pain"] = np.select([a + rng.normal(size=N) > 0.5, b > 0], ["bad", "mild"], "none")
    table["falls"] = rng.poisson(np.exp(b / 2))
    table["patient"] = np.arange(N) // 2
    table["site"] = rng.choice(["north", "south"], size=N)
    table["times"] = rng.integers(1, 3, size=N)
    table.loc[:3, "c"] = np.nan
    table.loc[5:7, ["state", "dose"]] = np.nan
    folder = tmp_path_factory.mktemp("notebook")
    table.to_csv(folder / "study.csv", index=False)
    return folder


OTHERS = ["state", "dose", "days", "died", "ended", "pain", "falls", "patient", "site", "times"]
GS = {"gs": {"method": "gs"}}
WAYS = {
    "classes": ({"target": "state"}, {"iamb": {"method": "iamb", "ci_test": "g2", "folds": 3, "exclude": ["a 2"]}}),
    "numbers": ({"target": "dose", "missing": "drop"}, {"mrmr": {"method": "mrmr", "n_features": 2}}),
    "groups": ({"target": "state", "groups": "patient", "within": "site"}, {"gs": {"method": "gs", "folds": 2}}),
    "weights": ({"target": "dose", "weights": "times", "weights_are": "counts"}, GS),
    "survival": ({"target": {"time": "days", "event": "died"}}, GS),
    "causes": ({"target": {"time": "days", "event": "ended", "cause": "ill"}}, GS),
    "ordered": ({"target": {"column": "pain", "order": ["mild", "none", "bad"]}, "target_kind": "ordered"}, GS),
    "nothing": ({"target": "site"}, {"gs": {"method": "gs", "alpha": 1e-9}}),
    "counts": ({"target": "falls", "target_kind": "count"}, GS),
    "joint": ({"target": {"joint": ["state", "site"]}}, GS),
    "prior": ({"target": "state", "feature_groups": {"pair": ["a", "a 2"]}, "include": ["flat"]}, GS),
    "imputations": ({"target": "dose", "imputations": 2, "max_rows": 200}, GS),
    "other packages": ({"target": "state"}, {"best": {"method": "sklearn.feature_selection:SelectKBest", "k": 2}}),
    "several": ({"target": ["state", "dose"]}, GS),
}


def finished(folder, spec, selectors, root):
    used = json.dumps(spec)
    table = {"path": str(folder / "study.csv"), "drop": [name for name in OTHERS if f'"{name}"' not in used], **spec}
    asked = {"datasets": {"study": table}, "selectors": selectors, "splits": {"evaluation": 0}, "folds": 0}
    plan = make_plan(asked, Path)
    sources = {
        name: read_source(name, own, table_seed(plan.config, name)) for name, own in plan.config.datasets.items()
    }
    run = run_plan(plan, sources, root, 1, progress=False)
    return ExportedRun(run, [*run.cards], next(iter(selectors)))


def run_cells(text):
    book = nbformat.reads(text, as_version=4)
    nbformat.validate(book)
    names = {}
    for cell in book.cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, cell.id, "exec"), names)  # this is its use
    return names


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
def test_the_cells_find_what_the_run_found(folder, tmp_path, way):
    exported = finished(folder, *WAYS[way], tmp_path)
    names = run_cells(OF_RUN["notebook"](exported))
    blankets = exported.run.tables["blankets"]
    own = blankets[blankets["dataset"] == exported.datasets[-1]]
    chosen = names["outcome"].chosen
    assert [row["feature"] for row in chosen] == names["found"] == [*own["feature"]]
    assert bool(chosen) == (way != "nothing")
    assert [row["importance"] for row in chosen] == [*own["importance"]]
    assert len(names["X"].columns) == exported.run.cards[exported.datasets[-1]]["n_features"]


def test_all_options_are_stated_and_another_answer_stops_the_notebook(folder, tmp_path):
    text = OF_RUN["notebook"](finished(folder, {"target": "dose"}, GS, tmp_path))
    assert "'alpha': 0.05" in text and "'max_k': None" in text and "'seed': " in text
    with pytest.raises(AssertionError, match=r"the run found \['flat', .*, but this search \["):
        run_cells(text.replace("found = [", "found = ['flat', "))


def test_rows_that_a_run_drew_are_not_read_again(folder, tmp_path):
    drawn = {"source": "simulate:clinic", "rows": 200, "path": None, "drop": []}
    with pytest.raises(DataError, match=r"the rows of study are not in a file or database\. Name another data set"):
        OF_RUN["notebook"](finished(folder, drawn, GS, tmp_path))
