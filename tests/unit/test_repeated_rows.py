"""Rows entered twice: no part of a table is judged by the copies of its own rows, in any way in."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import blanketflow as bf
from blanketflow.config.reading import checked_dataset
from blanketflow.core.convert import as_table
from blanketflow.core.errors import UnreliableWarning
from blanketflow.core.rows import repeats
from blanketflow.data.findings import findings
from blanketflow.data.sources import read_source
from blanketflow.data.splits import make_splits


def study(n=150, d=12, seed=0, slope=0.0, times=3):
    """Numbers and a class of `n` cases, each entered several times."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"x{j}" for j in range(d)])
    y = pd.Series(np.where(slope * X["x0"] + rng.normal(size=n) > 0, "ill", "well"), name="dx")
    return pd.concat([X] * times, ignore_index=True), pd.concat([y] * times, ignore_index=True)


def literal(frame):
    """Numbers of rows in the order of their first ones."""
    return frame.groupby(frame.columns.tolist(), sort=False, dropna=False).ngroup().to_numpy()


def frames():
    rng = np.random.default_rng(1)
    numbers = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    snps = pd.DataFrame(rng.integers(0, 3, size=(80, 40)).astype(float)).rename(columns=str)
    mixed = numbers.assign(d=rng.choice(["u", "v"], 60), e=rng.random(60) < 0.5)
    mixed.loc[3, "a"], mixed.loc[4, "a"] = np.nan, -0.0
    for name, frame in {"numbers": numbers, "snps": snps, "mixed": mixed}.items():
        yield pytest.param(frame, id=name)


@pytest.mark.parametrize("frame", frames())
def test_they_are_those_that_are_equal_in_all_columns(frame):
    rng = np.random.default_rng(2)
    again = frame.iloc[np.r_[np.arange(len(frame)), rng.integers(0, len(frame), 30)]].reset_index(drop=True)
    found = repeats(as_table(again).columns, len(again))
    assert found is not None and found.tolist() == literal(again).tolist()
    assert repeats(as_table(frame).columns, len(frame)) is None


@pytest.mark.parametrize(
    ("n_columns", "n_levels", "n_rows"), [(1, 2, 100), (2, 10, 1000), (6, 3, 500), (10, 2, 400), (1, 40, 2000)]
)
def test_rows_of_few_values_are_equal_by_chance(n_columns, n_levels, n_rows):
    codes = np.random.default_rng(3).integers(0, n_levels, size=(n_rows, n_columns)).astype(float)
    assert len(np.unique(codes, axis=0)) < n_rows
    assert repeats(as_table(codes).columns, n_rows) is None


def test_a_slip_of_one_case_is_none():
    X, _ = study(times=1)
    again = pd.concat([X, X[:1]], ignore_index=True)
    assert repeats(as_table(again).columns, len(again)) is None


def test_noise_entered_three_times_does_not_help():
    X, y = study()
    answer = bf.select(X, y)
    assert answer.features == []
    assert answer.scores["all"].max() < 0.65
    assert "300 of 450 rows equal earlier ones" in " ".join(answer.selector.notes_)


def test_rows_in_a_table_are_rows_with_counts():
    X, y = study(slope=2.0)
    in_order = np.arange(len(X)).reshape(3, -1).T.ravel()
    repeated = bf.Auto().fit(X.iloc[in_order], y.iloc[in_order])
    counted = bf.Auto().fit(X[:150], y[:150], sample_weight=np.full(150, 3))
    assert repeated.verdict_ == counted.verdict_
    assert repeated.selected_features_ == counted.selected_features_ != []


EVIDENCE = {
    "hiton-mb": bf.HITONMB(ci_test="spline"),
    "ppfs": bf.PPFS(n_repeats=5),
    "discover": bf.Discover(),
    "permutation-importance": bf.PermutationImportance(),
}
OTHERS = {"mrmr": bf.MRMR(n_features=2), "fcbf": bf.FCBF(), "none": bf.NoFeatures()}


@pytest.mark.parametrize("name", [*EVIDENCE, *OTHERS])
def test_evidence_that_counts_them_again_is_unreliable(name):
    X, y = study()
    found = clone((EVIDENCE | OTHERS)[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)
        found.fit(X, y)
    assert (found.status_ == "unreliable") == (name in EVIDENCE)
    if name in EVIDENCE:
        assert found.reason_.startswith("300 of 450 rows equal earlier ones, and each counts as a further case")
        once = pd.concat([X, y], axis=1).drop_duplicates()
        assert clone(found).fit(once[X.columns], once["dx"]).status_ == "ok"


def test_it_is_so_in_each_way_in_and_counts_are_meant():
    X, y = study()
    assert bf.HITONMB(ci_test="spline").fit(X[:150], y[:150], sample_weight=np.full(150, 3)).status_ == "ok"
    few = np.r_[np.arange(150), np.arange(20)]
    assert bf.HITONMB(ci_test="spline").fit(X.iloc[few], y.iloc[few]).status_ == "ok"
    compared = bf.compare(X, y, selectors={"found": bf.HITONMB(ci_test="spline"), "ranked": bf.MRMR(n_features=2)})
    frame = compared.statuses.query("stage == 'select'")
    assert set(frame[frame["selector"] == "found"]["status"]) == {"unreliable"}
    assert set(frame[frame["selector"] == "ranked"]["status"]) == {"ok"}
    with pytest.warns(UnreliableWarning, match="300 of 450 rows equal earlier ones"):
        of_all = bf.blankets(X, "hiton-mb", ci_test="fisher-z")
    assert {status for status, _ in of_all.statuses.values()} == {"unreliable"}


def test_all_splits_keep_them_together_and_the_card_says_so(tmp_path):
    X, y = study()
    X.assign(dx=y).to_csv(tmp_path / "study.csv", index=False)
    raw = read_source("study", checked_dataset("study", {"path": str(tmp_path / "study.csv"), "target": "dx"}), 0)
    columns = make_splits(raw.target, {"evaluation": 5, "repeats": 2}, [4], 0, "study", raw.groups)
    table = pd.DataFrame(columns).assign(case=columns["row"] % 150)
    assert table.groupby(["split", "case"])[["part", "fold"]].nunique().max().max() == 1
    assert any("300 of 450 rows equal earlier ones and are kept together" in note for note in raw.notes)
    assert [one.kind for one in findings(raw) if one.kind in ("leakage", "equal-rows")] == ["equal-rows"]
    (of_rows,) = [one for one in findings(raw) if one.kind == "equal-rows"]
    assert "kept together" in of_rows.advice


def test_a_leak_among_them_is_still_seen(tmp_path):
    X, y = study()
    X.assign(dx=y, code=np.where(y == "ill", 7.0, 9.0)).to_csv(tmp_path / "study.csv", index=False)
    raw = read_source("study", checked_dataset("study", {"path": str(tmp_path / "study.csv"), "target": "dx"}), 0)
    assert [one.columns for one in findings(raw) if one.kind == "leakage"] == [("code",)]
