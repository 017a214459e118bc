"""Any history of a folder of real runs, then a run that ends with 0: the results of a fresh run.

`BLANKETFLOW_REAL_SEQUENCES=20` looks through more; tests/unit/test_up_to_date.py looks through thousands without jobs.
"""

import contextlib
import os
import random
import shutil

import pytest

from folder_damage import disturb
from workflow_runs import (
    WITHOUT_REPORT,
    assert_equal_results,
    configure,
    content,
    contents,
    kill,
    planned,
    snakemake,
    start,
)

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

SEQUENCES = int(os.environ.get("BLANKETFLOW_REAL_SEQUENCES", "1"))


def config_of(choices):
    alpha, n_features, folds, has_gs = choices
    selectors = {"mim": {"method": "mim", "n_features": n_features}}
    if has_gs:
        selectors["gs"] = {"method": "gs", "ci_test": "g2", "alpha": alpha}
    return {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "splits": {"evaluation": 2},
        "folds": folds,
        "selectors": selectors,
        "models": ["tree"],
    }


def changed(rng, choices):
    place = rng.randrange(len(choices))
    options = [(0.05, 0.01), (2, 3), (2, 0), (True, False)][place]
    return (*choices[:place], rng.choice(options), *choices[place + 1 :])


def kill_somewhere(rng, folder):
    """Start a run and kill it when it has made some files, or has ended."""
    most = len(list(folder.rglob("results/**/*.parquet"))) + rng.randrange(1, 12)
    with contextlib.suppress(AssertionError):  # it ended before, as little was to be done
        kill(start(folder, "2", lambda: len(list(folder.rglob("results/**/*.parquet"))) >= most))
    snakemake(folder, "--unlock")


@pytest.mark.parametrize("number", range(SEQUENCES))
def test_any_history_of_runs_then_a_run_gives_what_a_fresh_run_gives(tmp_path, number):
    rng = random.Random(f"real history {number}")
    folder, choices = tmp_path / "run", (0.05, 2, 2, True)
    snakemake(configure(folder, config_of(choices)), "--cores", "2", *WITHOUT_REPORT)
    for step in rng.sample(["change", "disturb", "kill", "move", "forget"], 5):
        if step == "change":
            choices = changed(rng, choices)
            configure(folder, config_of(choices))
        elif step == "disturb":
            step = [disturb(rng, folder / "results") for _ in range(rng.randrange(1, 4))]
        elif step == "kill":
            kill_somewhere(rng, folder)
        elif step == "move":
            elsewhere = tmp_path / "elsewhere"
            (shutil.copytree if rng.random() < 0.5 else shutil.move)(folder, elsewhere)
            folder = elsewhere
        elif step == "forget":
            shutil.rmtree(folder / ".snakemake", ignore_errors=True)
        print(step)
    snakemake(folder, "--cores", "2", *WITHOUT_REPORT)
    fresh = configure(tmp_path / "fresh", config_of(choices))
    snakemake(fresh, "--cores", "2", *WITHOUT_REPORT)
    expected = contents(fresh / "results")
    found = {path: content(folder / "results" / path) for path in expected}  # what else stands is left over
    assert_equal_results(found, expected)
    assert planned(folder, *WITHOUT_REPORT) == []
