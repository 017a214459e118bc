"""The ci_test stage: repeats that are known are taken over, in parts or at once, and nothing else is."""

import json
import logging

import numpy as np
import pytest

from blanketflow.core.table import Column, Table, categorical
from blanketflow.core.task import Task
from blanketflow.data.artefact_columns import ARTEFACTS
from blanketflow.data.artefacts import (
    read_arrow,
    read_columns,
    read_provenance,
    write_arrow,
    write_columns,
)
from blanketflow.data.column_roles import RawTable
from blanketflow.data.provenance import Provenance
from blanketflow.data.splits import make_splits
from blanketflow.data.storage import write_table
from blanketflow.workflow.stages.fold import Fold
from blanketflow.workflow.stages.marginal import ci_test_fold, gather_parts, read_marginal

PPI = {"type": "ppi", "options": {"n_repeats": 10, "model": "tree", "test_size": 0.2, "significance": "wilcoxon"}}
TESTS = {
    "ppi": PPI,
    "g2": {"type": "g2", "options": {"bins": 5}},
    "fisher-z": {"type": "fisher-z", "options": {}},
    "mi-permutation": {"type": "mi-permutation", "options": {"n_permutations": 50}},
    "lr-mixed": {"type": "lr-mixed", "options": {}},
    "hsic": {"type": "hsic", "options": {}},
}
N_ROWS, N_FEATURES = 80, 23


def spec(test=PPI, **options):
    return json.dumps({**test, "options": test["options"] | options, "fold_rows": "train", "seed": 7})


@pytest.fixture
def fold(tmp_path):
    """Makes folds of one data set; `shift` changes its content, `rows` which of them a fold has."""

    def make(asked, shift=0.0, rows="full", content="same", code="code"):
        rng = np.random.default_rng(0)
        target = rng.integers(0, 2, N_ROWS)
        columns = [
            Column(f"x{j}", "numeric", rng.normal(size=N_ROWS) + target * (j < 4) + shift) for j in range(N_FEATURES)
        ]
        labels = categorical("y", target.astype(str).astype(object))
        raw = RawTable(Table(columns), labels, Task("classification", ""))
        write_table(tmp_path / "table.parquet", raw, Provenance(extra={"content_hash": content}))
        asked_splits = {"evaluation": 2, "repeats": 1, "final": True, "stratify": True}
        splits = make_splits(labels, asked_splits, [0], 1, "d")
        write_columns(tmp_path / "splits.parquet", splits, ARTEFACTS["splits"].types(), Provenance())
        return Fold(tmp_path / "table.parquet", tmp_path / "splits.parquet", "d", rows, "0", asked, code)

    return make


def mark_repeats(path):
    """Put a value that no repeat finds into what an artefact says of its repeats."""
    table, provenance = read_arrow(path)
    marked = [[-0.125] * len(known) for known in table.column("risk_differences").to_pylist()]
    import pyarrow as pa

    at = table.column_names.index("risk_differences")
    write_arrow(path, table.set_column(at, "risk_differences", pa.array(marked)), provenance)


def repeats(path):
    return np.array(read_columns(path)[0]["risk_differences"])


def test_more_repeats_equal_those_from_scratch_and_only_they_are_computed(fold, tmp_path, caplog):
    caplog.set_level(logging.INFO)
    path, fresh = tmp_path / "m.parquet", tmp_path / "fresh.parquet"
    ci_test_fold(fold(spec()), path, path)
    ci_test_fold(fold(spec(n_repeats=30)), path, path)
    assert caplog.messages[-1] == "20 repeats computed, 10 taken from an earlier run"
    ci_test_fold(fold(spec(n_repeats=30)), fresh, fresh)
    assert caplog.messages[-1] == "30 repeats computed, 0 taken from an earlier run"
    assert read_columns(path)[0] == read_columns(fresh)[0]
    left_out = {"seconds": 0}
    assert vars(read_provenance(path)) | left_out == vars(read_provenance(fresh)) | left_out
    mark_repeats(path)
    ci_test_fold(fold(spec(n_repeats=40)), path, path)
    assert (repeats(path)[:, :30] == -0.125).all() and not (repeats(path)[:, 30:] == -0.125).any()


def test_fewer_repeats_are_the_first_ones_and_another_significance_takes_them_over(fold, tmp_path, caplog):
    caplog.set_level(logging.INFO)
    path, fresh = tmp_path / "m.parquet", tmp_path / "fresh.parquet"
    ci_test_fold(fold(spec()), path, path)
    for options in ({"n_repeats": 10}, {"n_repeats": 6}, {"n_repeats": 6, "significance": "corrected-t"}):
        ci_test_fold(fold(spec(**options)), path, path)
        assert caplog.messages[-1] == f"0 repeats computed, {options['n_repeats']} taken from an earlier run"
        ci_test_fold(fold(spec(**options)), fresh, tmp_path / "none")
        assert read_columns(path)[0] == read_columns(fresh)[0]


@pytest.mark.parametrize(
    "other",
    [
        {"code": "other code"},
        {"content": "other content"},
        {"rows": "cv-1"},
        {"options": {"test_size": 0.3}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_nothing_is_taken_over_from_other_work(fold, tmp_path, other):
    path = tmp_path / "m.parquet"
    ci_test_fold(fold(spec()), path, path)
    mark_repeats(path)
    where = {key: other[key] for key in ("rows", "content", "code") if key in other}
    ci_test_fold(fold(spec(**other.get("options", {})), **where), path, path)
    assert not (repeats(path) == -0.125).any()


def test_a_damaged_or_failed_artefact_gives_nothing(fold, tmp_path, caplog):
    caplog.set_level(logging.INFO)
    path = tmp_path / "m.parquet"
    ci_test_fold(fold(spec()), path, path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    ci_test_fold(fold(spec()), path, path)
    assert caplog.messages[-1] == "10 repeats computed, 0 taken from an earlier run"
    assert any("nothing is taken" in message for message in caplog.messages)
    assert read_provenance(path).usable
    ci_test_fold(fold(spec(test_size=0.999)), path, path)
    assert read_provenance(path).status == "error" and "test_size" in read_provenance(path).reason
    ci_test_fold(fold(spec()), path, path)
    assert caplog.messages[-1] == "10 repeats computed, 0 taken from an earlier run"


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("n_parts", [1, 2, 5])
def test_parts_gathered_equal_all_features_at_once(fold, tmp_path, name, n_parts):
    own = fold(spec(TESTS[name]))
    whole, gathered = tmp_path / "whole.parquet", tmp_path / "gathered.parquet"
    ci_test_fold(own, whole, whole)
    paths = [tmp_path / f"{at}.parquet" for at in range(1, n_parts + 1)]
    for at, path in enumerate(paths, 1):
        ci_test_fold(own, path, whole if name != "ppi" else gathered, (at, n_parts))
    gather_parts(own, paths, gathered)
    assert read_columns(gathered)[0] == read_columns(whole)[0]
    said, expected = (vars(read_provenance(path)) | {"seconds": 0} for path in (gathered, whole))
    assert said == expected and said["n_tests"] == N_FEATURES
    assert read_marginal(gathered)[0] == [f"x{j}" for j in range(N_FEATURES)]


def test_parts_take_over_the_repeats_of_what_was_gathered_before(fold, tmp_path):
    gathered, part, fresh = (tmp_path / f"{name}.parquet" for name in ("gathered", "part", "fresh"))
    ci_test_fold(fold(spec()), gathered, gathered)
    ci_test_fold(fold(spec(n_repeats=30)), fresh, fresh)
    ci_test_fold(fold(spec(n_repeats=30)), part, gathered, (2, 3))
    assert repeats(part).tolist() == repeats(fresh)[7:15].tolist()
    mark_repeats(gathered)
    ci_test_fold(fold(spec(n_repeats=30)), part, gathered, (2, 3))
    assert (repeats(part)[:, :10] == -0.125).all() and repeats(part)[:, 10:].tolist() == repeats(fresh)[
        7:15, 10:
    ].tolist()


def test_one_failed_part_fails_the_whole_with_its_reason(fold, tmp_path):
    own = fold(spec())
    paths = [tmp_path / f"{at}.parquet" for at in (1, 2)]
    ci_test_fold(own, paths[0], paths[0], (1, 2))
    ci_test_fold(fold(spec(test_size=0.999)), paths[1], paths[1], (2, 2))
    whole = tmp_path / "all.parquet"
    gather_parts(own, paths, whole)
    said = read_provenance(tmp_path / "all.parquet")
    assert said.status == "error" and "test_size" in said.reason
    assert read_columns(tmp_path / "all.parquet")[0]["feature"] == []
