"""Splits and folds: partitions, stratified, grouped, deterministic; and errors that the plan can foresee."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold, StratifiedKFold

from blanketflow.core.column import TargetColumn
from blanketflow.core.errors import DataError
from blanketflow.core.table import Column, categorical
from blanketflow.data import splits as sp
from blanketflow.data.artefacts import read_columns, write_columns
from blanketflow.data.provenance import Provenance

SPEC = {"evaluation": 4, "repeats": 2, "final": True, "stratify": True}


def classes(*counts):
    labels = np.repeat(list("abcdefgh")[: len(counts)], counts).astype(object)
    return categorical("y", np.random.default_rng(0).permutation(labels))


def numbers(n):
    return Column("y", "numeric", np.random.default_rng(0).normal(size=n))


def test_folds_are_an_even_stratified_partition():
    y = classes(40, 22, 10)
    fold = sp.fold_of_rows(y, 5, seed=1)
    for code, count in enumerate((40, 22, 10)):
        sizes = np.bincount(fold[y.values == code], minlength=6)[1:]
        assert sizes.sum() == count and sizes.max() - sizes.min() <= 1
    assert np.array_equal(fold, sp.fold_of_rows(y, 5, seed=1))
    assert not np.array_equal(fold, sp.fold_of_rows(y, 5, seed=2))
    assert sp.fold_of_rows(y, 5, seed=2**62 + 1).max() == 5


@pytest.mark.parametrize("y", [numbers(23), classes(20, 2, 1)], ids=["numeric", "rare classes, stratify off"])
def test_folds_without_strata(y):
    sizes = np.bincount(sp.fold_of_rows(y, 5, seed=1, stratify=False))[1:]
    assert sorted(sizes.tolist()) == [4, 4, 5, 5, 5]


@settings(deadline=None)
@given(
    codes=st.lists(st.integers(0, 5), min_size=8, max_size=120), n_folds=st.integers(2, 8), seed=st.integers(0, 2**40)
)
def test_folds_are_those_of_scikit_learn(codes, n_folds, seed):
    y = Column("y", "categorical", np.array(codes), tuple("abcdef"))
    for stratify, splitter in ((False, KFold), (True, StratifiedKFold)):
        if stratify and min(np.unique(codes, return_counts=True)[1]) < n_folds:
            continue
        parts = splitter(n_folds, shuffle=True, random_state=seed & 0x7FFFFFFF).split(np.zeros(len(codes)), codes)
        found = sp.fold_of_rows(y, n_folds, seed, stratify=stratify)
        for k, (_, rows) in enumerate(parts, 1):
            assert np.array_equal(np.flatnonzero(found == k), rows)


@pytest.mark.parametrize("y", [numbers(60), classes(36, 24)], ids=["numeric", "classes"])
def test_groups_stay_together(y):
    groups = np.random.default_rng(1).integers(0, 12, size=60)
    fold = sp.fold_of_rows(y, 4, seed=3, groups=groups)
    assert set(fold) == {1, 2, 3, 4}
    assert all(len(set(fold[groups == g])) == 1 for g in set(groups))
    assert not np.array_equal(fold, sp.fold_of_rows(y, 4, seed=4, groups=groups))


@pytest.mark.parametrize(
    ("y", "n_folds", "groups", "message"),
    [
        (
            classes(30, 2),
            5,
            None,
            "ecoli: class 'b' has 2 rows, fewer than the 5 folds: use fewer folds, drop or merge",
        ),
        (classes(30, 1), 2, None, "ecoli: class 'b' has 1 row, fewer"),
        (numbers(4), 5, None, "ecoli: 4 rows, fewer than the 5 folds"),
        (numbers(9), 3, np.arange(9) % 2, "ecoli: 2 groups, fewer than the 3 folds"),
        (numbers(9), 1, None, "ecoli: 1 folds are asked for"),
    ],
)
def test_too_few(y, n_folds, groups, message):
    with pytest.raises(DataError, match=message):
        sp.fold_of_rows(y, n_folds, 0, groups, where="ecoli")


def test_outer_splits_and_inner_folds(tmp_path):
    y, n = classes(30, 20), 50
    columns = sp.make_splits(y, SPEC, [0, 3, 2], 7, "demo")
    assert len(columns["row"]) == 9 * 3 * n
    types = {"row": "int64", "split": "string", "part": "string", "folds": "int64", "fold": "int64"}
    write_columns(tmp_path / "splits.parquet", columns, types, Provenance())
    columns, _ = read_columns(tmp_path / "splits.parquet")
    assert list(dict.fromkeys(columns["split"])) == sp.split_ids(SPEC)
    assert len(sp.train_rows(columns, "full")) == n and not len(sp.test_rows(columns, "full"))
    for repeat in range(2):
        tests = [sp.test_rows(columns, f"cv-{4 * repeat + k}") for k in range(1, 5)]
        assert sorted(np.concatenate(tests)) == list(range(n))
    assert not np.array_equal(sp.test_rows(columns, "cv-1"), sp.test_rows(columns, "cv-5"))
    for split in sp.split_ids(SPEC):
        train, test = sp.train_rows(columns, split), sp.test_rows(columns, split)
        assert sorted([*train, *test]) == list(range(n))
        assert np.array_equal(sp.fold_rows(columns, split, "0"), train)
        parts = [sp.fold_rows(columns, split, f"{k}of3", "part") for k in (1, 2, 3)]
        assert sorted(np.concatenate(parts)) == list(train)
        for k, part in enumerate(parts, 1):
            assert np.array_equal(sp.fold_rows(columns, split, f"{k}of3"), np.setdiff1d(train, part))


def test_inner_folds_do_not_depend_on_what_else_is_asked():
    y = classes(30, 20)
    one = sp.make_splits(y, SPEC, [3], 7, "demo")
    all_of_them = sp.make_splits(y, SPEC, [0, 2, 3], 7, "demo")
    assert np.array_equal(sp.fold_rows(one, "cv-3", "2of3"), sp.fold_rows(all_of_them, "cv-3", "2of3"))
    other = sp.make_splits(y, SPEC, [3], 7, "other")
    assert not np.array_equal(sp.test_rows(one, "cv-1"), sp.test_rows(other, "cv-1"))


def test_grouped_splits():
    groups = np.random.default_rng(1).integers(0, 15, size=60)
    columns = sp.make_splits(classes(36, 24), SPEC, [3], 7, "demo", groups)
    for split in sp.split_ids(SPEC)[1:]:
        assert not set(groups[sp.train_rows(columns, split)]) & set(groups[sp.test_rows(columns, split)])
        inside, outside = (sp.fold_rows(columns, split, "1of3", how) for how in ("train", "part"))
        assert not set(groups[inside]) & set(groups[outside])


def test_each_group_is_held_out_once():
    groups, spec = np.array([2, 0, 2, 1, 0, 1] * 5), SPEC | {"evaluation": "leave-group-out", "repeats": 1}
    columns = sp.make_splits(classes(15, 15), spec, [2], 7, "demo", groups)
    assert list(dict.fromkeys(columns["split"])) == sp.split_ids(spec, 3) == ["full", "cv-1", "cv-2", "cv-3"]
    for group, split in enumerate(sp.split_ids(spec, 3)[1:]):
        assert sp.test_rows(columns, split).tolist() == np.flatnonzero(groups == group).tolist()
        inside, outside = (set(groups[sp.fold_rows(columns, split, "1of2", how)]) for how in ("train", "part"))
        assert inside | outside == {0, 1, 2} - {group} and not inside & outside


@pytest.mark.parametrize(
    ("n_groups", "message"),
    [(1, "at least 2 groups, but there is 1 group"), (101, "101 groups.*at most 100.*coarser column")],
)
def test_groups_that_cannot_be_held_out_one_by_one(n_groups, message):
    y, groups = classes(120, 120), np.arange(240) % n_groups
    spec = {"evaluation": "leave-group-out", "repeats": 1, "final": True}
    for attempt in (
        lambda: sp.make_splits(y, spec, [0], 7, "demo", groups),
        lambda: sp.check_folds(facts(y, groups), spec, [0], "demo"),
    ):
        with pytest.raises(DataError, match=message):
            attempt()


@pytest.mark.parametrize(
    ("split", "fold", "how", "message"),
    [
        ("cv-9", "0", "train", "no split 'cv-9'. Did you mean"),
        ("cv-1", "4of3", "train", "no fold '4of3'"),
        ("cv-1", "1of5", "train", "no fold '1of5'; numbers of folds there: 3"),
        ("cv-1", "x", "train", "no fold 'x'"),
        ("cv-1", "1of3", "trian", "Did you mean 'train'"),
    ],
)
def test_unknown_splits_and_folds(split, fold, how, message):
    columns = sp.make_splits(classes(30, 20), SPEC, [3], 7, "demo")
    with pytest.raises(DataError, match=message):
        sp.fold_rows(columns, split, fold, how)


def test_nothing_asked_for():
    with pytest.raises(DataError, match="demo: no splits"):
        sp.make_splits(classes(9, 9), SPEC | {"evaluation": 0, "final": False}, [0], 7, "demo")


def facts(y, groups=None):
    counts = dict(zip(y.levels, np.bincount(y.values, minlength=len(y.levels)).tolist(), strict=True))
    n_groups = None if groups is None else len(set(groups.tolist()))
    n = len(y.values)
    return SimpleNamespace(task="classification", class_counts=counts, n_rows=n, n_groups=n_groups, n_test=0)


@pytest.mark.parametrize("smallest", range(1, 9))
def test_the_plan_foresees_what_splitting_would_raise(smallest):
    y = classes(25, smallest)
    for parts in (0, 2, 3, 5):
        for inner in (0, 2, 3, 5):
            spec = {"evaluation": parts, "repeats": 1, "final": parts == 0, "stratify": True}
            outcomes = []
            for attempt in (
                lambda: sp.make_splits(y, spec, [inner], 1, "demo"),  # noqa: B023
                lambda: sp.check_folds(facts(y), spec, [inner], "demo"),  # noqa: B023
            ):
                try:
                    attempt()
                    outcomes.append("fine")
                except DataError as error:
                    outcomes.append(str(error).split("has")[0].split("class")[1])
            assert outcomes[0] == outcomes[1], (parts, inner)


@pytest.mark.parametrize("events", range(1, 8))
def test_the_plan_foresees_that_folds_have_too_few_events(events):
    rng = np.random.default_rng(events)
    parts = {"event": (np.arange(30) < events).astype(np.int8)}
    y = TargetColumn("days", "numeric", rng.exponential(size=30), (), "survival", parts)
    foreseen = SimpleNamespace(task="survival", class_counts=sp.counts_for_folds(y), n_rows=30, n_groups=None, n_test=0)
    for evaluation in (0, 2, 5):
        for inner in (0, 2, 3):
            spec = {"evaluation": evaluation, "repeats": 1, "final": evaluation == 0, "stratify": True}
            outcomes = []
            for attempt in (
                lambda: sp.make_splits(y, spec, [inner], 1, "demo"),  # noqa: B023
                lambda: sp.check_folds(foreseen, spec, [inner], "demo"),  # noqa: B023
            ):
                try:
                    attempt()
                    outcomes.append("fine")
                except DataError as error:
                    outcomes.append(str(error).split(", fewer")[1])
                    assert "fewer folds, name a more frequent event, or set stratify: false" in str(error)
            assert outcomes[0] == outcomes[1], (evaluation, inner)


def test_rows_without_event_need_not_be_in_every_fold():
    event = {"event": np.array([1] * 29 + [0], dtype=np.int8)}
    y = TargetColumn("days", "numeric", np.arange(1.0, 31.0), (), "survival", event)
    assert sp.counts_for_folds(y) == {"event": 29}
    assert sorted(np.bincount(sp.fold_of_rows(y, 5, 1))[1:]) == [6] * 5


def test_the_rows_before_the_test_rows_have_an_event():
    event = {"event": np.array([0] * 20 + [1] * 10, dtype=np.int8)}
    y = TargetColumn("days", "numeric", np.arange(1.0, 31.0), (), "survival", event)
    foreseen = SimpleNamespace(
        task="survival", class_counts=sp.counts_for_folds(y.take(np.arange(20))), n_rows=30, n_groups=None, n_test=10
    )
    with pytest.raises(DataError, match="the rows to learn from have no event: all are among the test_rows"):
        sp.check_folds(foreseen, TEST_ROWS, [0], "demo")


TEST_ROWS = {"evaluation": 1, "repeats": 1, "final": False, "stratify": True}


def test_the_last_rows_are_the_test_part_and_folds_are_cut_from_the_others():
    columns = sp.make_splits(classes(30, 20), TEST_ROWS | {"final": True}, [0, 3], 7, "demo", n_test=12)
    assert list(dict.fromkeys(columns["split"])) == ["full", "cv-1"]
    assert sp.test_rows(columns, "cv-1").tolist() == list(range(38, 50))
    assert sp.train_rows(columns, "cv-1").tolist() == list(range(38))
    parts = [sp.fold_rows(columns, "cv-1", f"{k}of3", "part") for k in (1, 2, 3)]
    assert sorted(np.concatenate(parts)) == list(range(38))
    assert len(sp.train_rows(columns, "full")) == 50


@pytest.mark.parametrize("n_test", [0, 50, 60])
def test_some_rows_are_there_to_test_on_and_some_to_learn_from(n_test):
    y = classes(30, 20)
    foreseen = SimpleNamespace(**vars(facts(y)) | {"n_test": n_test})
    for attempt in (
        lambda: sp.make_splits(y, TEST_ROWS, [0], 1, "demo", n_test=n_test),
        lambda: sp.check_folds(foreseen, TEST_ROWS, [0], "demo"),
    ):
        with pytest.raises(DataError, match=f"demo: of 50 rows the last {n_test} are test rows"):
            attempt()


def test_the_plan_foresees_folds_that_the_rows_before_the_test_rows_cannot_fill():
    y = Column("y", "categorical", np.array([0, 1, 1, 0, 0, 0, 2, 1]), ("a", "b", "c"))
    first_six = SimpleNamespace(
        task="classification", class_counts={"a": 4, "b": 2, "c": 0}, n_rows=8, n_groups=None, n_test=2
    )
    sp.make_splits(y, TEST_ROWS, [2], 1, "demo", n_test=2)
    sp.check_folds(first_six, TEST_ROWS, [2], "demo")
    for attempt in (
        lambda: sp.make_splits(y, TEST_ROWS, [3], 1, "demo", n_test=2),
        lambda: sp.check_folds(first_six, TEST_ROWS, [3], "demo"),
    ):
        with pytest.raises(DataError, match="demo, training rows of split cv-1: class 'b' has 2 rows"):
            attempt()


def test_the_plan_does_not_check_what_it_does_not_know():
    unknown = SimpleNamespace(task="classification", class_counts=None, n_rows=1000, n_groups=None)
    sp.check_folds(unknown, SPEC, [5], "demo")
    regression = SimpleNamespace(task="regression", class_counts=None, n_rows=8, n_groups=2)
    with pytest.raises(DataError, match="demo: 2 groups, fewer than the 4 folds"):
        sp.check_folds(regression, SPEC, [], "demo")
    sp.check_folds(facts(classes(20, 2)), SPEC | {"stratify": False}, [5], "demo")
