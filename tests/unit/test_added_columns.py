"""The study of added columns: what is added, the network whose first layer is penalised, and the page."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from studies.added_columns import page
from studies.added_columns.first_layer import group_lasso, loss
from studies.added_columns.methods import METHODS, chosen
from studies.added_columns.tables import (
    CORRUPTED,
    RANDOM,
    SECOND_ORDER,
    SETTINGS,
    SHARES,
    Made,
    Task,
    added,
    make,
    tasks,
)
from studies.shared.page import renewed


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("share", SHARES)
def test_added_columns_are_the_share_of_all(setting, share, tmp_path):
    made = make(Task("wine", setting, share), tmp_path)
    assert len(made.original) == 13
    assert made.X.shape[1] == {0.5: 26, 0.75: 52}[share]
    assert list(made.X) == list(made.held_out_X)


def test_a_task_is_the_same_each_time_and_others_differ(tmp_path):
    one, again, other = (make(Task(name, RANDOM, 0.5), tmp_path) for name in ("wine", "wine", "diabetes"))
    pd.testing.assert_frame_equal(one.X, again.X)
    assert one.original == again.original
    assert one.is_class and not other.is_class


def test_the_original_columns_are_named(tmp_path):
    from sklearn.datasets import load_wine

    made = make(Task("wine", SECOND_ORDER, 0.75), tmp_path)
    both = pd.concat([made.X, made.held_out_X])[list(made.original)]
    cells = {tuple(sorted(column)) for column in load_wine().data.T}
    assert {tuple(sorted(both[name])) for name in both} == cells


def test_corrupted_columns_have_the_correlation_of_equal_parts_of_column_and_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 8)) * np.arange(1, 9) + 5
    found = added(X, CORRUPTED, 0.75, rng)
    nearest = np.abs(np.corrcoef(X.T, found.T)[:8, 8:]).max(axis=0)
    assert found.shape == (20_000, 24)
    assert np.abs(nearest - math.sqrt(0.5)).max() < 0.02


def test_second_order_columns_are_products_of_two_columns():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 8))
    products = {(X[:, a] * X[:, b]).tobytes() for a, b in combinations(range(8), 2)}
    found = added(X, SECOND_ORDER, 0.75, rng)
    assert len({column.tobytes() for column in found.T} & products) == 24
    with pytest.raises(ValueError, match="only 0 products differ"):
        added(np.eye(8), SECOND_ORDER, 0.5, rng)


def test_rounds_have_every_set_once_and_all_kinds_in_the_end():
    every = tasks()
    n_sets = len({task.dataset for task in every})
    assert len({task.id for task in every}) == len(every) == n_sets * len(SETTINGS) * len(SHARES)
    assert all(len({t.dataset for t in every[at : at + n_sets]}) == n_sets for at in range(0, len(every), n_sets))


@pytest.mark.parametrize("is_class", [True, False])
def test_the_gradient_is_that_of_differences(is_class):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(12, 5))
    Y = np.eye(3)[rng.integers(3, size=12)] if is_class else rng.normal(size=(12, 1))
    weights = [rng.normal(size=size) for size in ((5, 4), (4,), (4, Y.shape[1]), (Y.shape[1],))]
    _, gradient = loss(weights, X, Y, 0.1, is_class)
    for part, (one, slope) in enumerate(zip(weights, gradient, strict=True)):
        for at in np.ndindex(one.shape):
            values = []
            for step in (1e-5, -1e-5):
                moved = [w.copy() for w in weights]
                moved[part][at] += step
                values.append(loss(moved, X, Y, 0.1, is_class)[0])
            assert (values[0] - values[1]) / 2e-5 == pytest.approx(slope[at], abs=1e-7)


def test_the_first_layer_ranks_what_matters_first():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 12))
    y = np.where(X[:, 3] * X[:, 7] > 0, "yes", "no")  # what no column tells alone
    assert set(np.argsort(-group_lasso(X, y, True, 0))[:2]) == {3, 7}


def test_rankings_keep_the_original_number():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(200, 9)), columns=list("abcdefghi"))
    made = Made(X, (X["a"] + X["b"] + rng.normal(size=200) / 9).to_numpy(), X, X["a"].to_numpy(), ("a", "b"), False)
    for method in ("mrmr", "F test", "lasso", "forest", "boosted trees, gain", "hiton-mb"):
        assert sorted(chosen(method, made, 0).at_number) == ["a", "b"], method


def test_the_page_is_made_of_the_results():
    text = page.PAGE.read_text(encoding="utf-8")
    made = page.blocks(pd.read_parquet(page.FOLDER / "results" / "answers.parquet"))
    assert renewed(text, made, "the page") == text, "run python -m studies.added_columns --page"
    assert all(f"`{method}`" in text or method in text for method in METHODS)


def test_the_tables_of_the_page_by_hand():
    rows = [
        {"task": f"{name} random 0.5", "dataset": name, "setting": RANDOM, "share": 0.5, "method": method}
        | {"is_held_back": False, "n_original": 4, "seconds": 2.0, "n_rows": 9, "status": "ok"}
        | {"at_number_kept": 4.0, "at_number_hits": 4.0, "at_number_boosted": 0.9, "at_number_mlp": 0.7}
        | dict.fromkeys(("own_kept", "own_hits", "own_boosted", "own_mlp"), np.nan)
        for name in ("one", "two")
        for method in METHODS
    ]
    raw = pd.DataFrame([*rows, rows[0] | {"task": "three random 0.5", "dataset": "three"}])  # which not all were asked
    of = (raw["method"] == "auto") & (raw["dataset"] == "two")
    raw.loc[of, ["at_number_hits", "own_kept", "own_hits", "own_boosted", "own_mlp"]] = 2.0, 5.0, 2.0, 0.8, 0.4
    found = page.whole(raw)
    assert set(found["dataset"]) == {"one", "two"}
    precision = page.cells_table(
        found.assign(precision=found["at_number_hits"] / 4, recall=found["at_number_hits"] / 4)
    )
    assert "| auto | 0.75 |  |  |  |  |  | 0.75 | 0.75 |" in precision
    assert "| F test | 1.00 |  |  |  |  |  | 1.00 | 1.00 |" in precision
    assert "| auto | 1 | 125% | 0.40 | 0.50 | 0 | -0.100 | -0.300 | 2 |" in page.own_table(found)
    assert "| two random 0.5 | 9 | 4 | 5 | 2 | -0.100 | -0.300 | -0.200 | hiton-mb | +0.000 |" in page.losses_table(
        found
    )
