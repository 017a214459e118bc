"""Tables beyond `max_memory` are kept in mapped files, and nothing else changes."""

import errno
import os
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blanketflow.api.select_command import select
from blanketflow.ci import get_ci_test
from blanketflow.ci.contingency import packed_codes
from blanketflow.ci.contingency.packed_codes import PackedTableEngine
from blanketflow.config.reading import checked_dataset
from blanketflow.core.errors import ConfigError, StorageError
from blanketflow.core.mapped_file import MappedFile, any_mapped, is_mapped
from blanketflow.core.parameters import size_in_bytes
from blanketflow.data.arrow import read_parquet
from blanketflow.data.beyond_memory import VARIABLE, file_beyond, limited_memory
from blanketflow.data.impute import impute
from blanketflow.data.sources import read_source
from blanketflow.data.storage import read_table
from blanketflow.workflow.identity import content_of
from blanketflow.workflow.plan import make_plan
from blanketflow.workflow.stages.table import store

N = 400


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, N)
    gaps = [None if i % 9 == 0 else int(v) for i, v in enumerate(rng.integers(0, 5, N))]
    columns = {
        "byte": pa.array(((y + rng.integers(0, 2, N)) % 3).astype(np.int8)),
        "text": pa.array([f"level {one}" for one in (y + rng.integers(0, 2, N)) % 4]),
        "truth": pa.array(rng.random(N) < 0.3 + 0.2 * y),
        "gaps": pa.array(gaps, pa.int16()),
        "labels": pa.array(rng.integers(0, 70, N)),
        "real": pa.array(y + rng.normal(size=N)),
        "half": pa.array(rng.normal(size=N).astype(np.float32)),
        "y": pa.array([None if i % 50 == 0 else f"class {one}" for i, one in enumerate(y)]),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def spec(path, max_memory):
    return {"path": str(path), "target": "y", "categorical": ["labels"], "max_memory": max_memory}


def config(path, max_memory):
    return {"datasets": {"t": spec(path, max_memory)}, "selectors": {"gs": {"method": "gs", "ci_test": "g2"}}}


def assert_equal(ours, theirs):
    assert ours.names == theirs.names
    for one, other in zip(ours.columns, theirs.columns, strict=True):
        assert (one.kind, one.levels, one.values.dtype) == (other.kind, other.levels, other.values.dtype)
        np.testing.assert_array_equal(one.values, other.values)


def test_a_table_in_a_file_stays_there_and_is_equal_to_one_in_memory(path, tmp_path):
    tables = {}
    for most in ("1TB", 1):
        raw = read_source("t", spec(path, most), 0)
        stored = tmp_path / f"table {most}.parquet"
        store(raw, stored, tmp_path / f"card {most}.json", "t", make_plan(config(path, most), str).table_spec("t"))
        with limited_memory(size_in_bytes(most)):  # as a job is told it
            read = read_table(stored).features
        some = read.take(np.arange(1, N // 2))
        tables[most] = [raw.features, read, some, impute(some, some)]
    assert content_of(tmp_path / "table 1.parquet") == content_of(tmp_path / "table 1TB.parquet")
    for ours, theirs in zip(tables[1], tables["1TB"], strict=True):
        assert all(is_mapped(column.values) for column in ours.columns)
        assert not any_mapped(theirs.columns)
        assert_equal(ours, theirs)


@pytest.mark.parametrize("name", ["g2", "chi2", "fisher-z", "lr-mixed", "mi-permutation"])
def test_every_result_of_a_test_is_equal(path, name):
    found = []
    for most in ("1TB", 1):
        features = read_source("t", spec(path, most), 0).features
        numbers = features.select([c for c in features.names if c not in ("text", "labels")])
        table = impute(numbers, numbers) if name == "fisher-z" else impute(features, features)
        bound = get_ci_test(name).bind(table, seed=0)
        if most == 1 and name in ("g2", "chi2"):
            assert isinstance(bound.engine, PackedTableEngine)
        queries = [([1, 2], 0, ()), ([2, 3], 1, (0,)), ([len(table) - 1], 2, (0, 1))]
        found.append([bound.test_many(*query) for query in queries])
    for ours, theirs in zip(*found, strict=True):
        for field in ("statistic", "p_value", "log_p", "dof", "reliable"):
            np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field))


@pytest.mark.parametrize("name", ["g2", "chi2"])
def test_tables_of_too_many_cells_are_counted_from_the_rows(path, name, monkeypatch):
    monkeypatch.setattr(packed_codes, "MOST_CELLS", 8)
    engines = []
    for most in (1, "1TB"):
        features = read_source("t", spec(path, most), 0).features
        engines.append(get_ci_test(name).bind(impute(features, features), seed=0).engine)
    ours, theirs = engines
    assert isinstance(ours, PackedTableEngine) and not isinstance(theirs, PackedTableEngine)
    for columns, given in [([1, 2], ()), ([3], (1,)), ([1, 3], (2, 4))]:
        for one, other in zip(ours.evaluate(columns, 0, given), theirs.evaluate(columns, 0, given), strict=True):
            assert one == other
    assert [*ours.evaluate_sets([(1, 2), (2, 3)], 0, ())] == [*theirs.evaluate_sets([(1, 2), (2, 3)], 0, ())]
    asked = np.array([1, 3])
    assert np.array_equal(ours.entropy(asked, (0,)), theirs.entropy(asked, (0,)))


@pytest.mark.parametrize(("method", "test"), [("hiton-mb", {"type": "g2"}), ("mrmr", {}), ("iamb", {"type": "chi2"})])
def test_what_is_selected_is_equal(path, method, test):
    ours, theirs = (select(spec(path, most), {"method": method, "folds": 3}, test, 0) for most in (1, "1TB"))
    assert ours.blankets == theirs.blankets
    assert (ours.blanket, ours.n_tests, ours.notes) == (theirs.blanket, theirs.n_tests, theirs.notes)
    assert ours.blanket


def test_the_limit_counts_the_cells_and_their_row_lists(path):
    widths = [1, 8]
    assert file_beyond(100, widths, 100 * (1 + 4 + 8 + 4)) is None
    assert file_beyond(100, widths, 100 * (1 + 4 + 8 + 4) - 1) is not None
    assert not any_mapped(read_parquet("t", path))  # by default half of what is free


def test_files_have_no_name_and_go_with_their_last_array(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    held = [MappedFile(1000).keep(np.arange(10)), MappedFile(1000).keep(np.arange(10, dtype=np.int16))]
    assert not list(tmp_path.iterdir())
    assert [one.tolist() for one in held] == [list(range(10))] * 2
    del held
    if before:
        assert len(os.listdir("/proc/self/fd")) == before


def test_a_full_disk_and_a_missing_folder_are_errors_that_say_the_way_out(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(StorageError, match=r"gone cannot be written.*TMPDIR.*max_memory"):
        MappedFile(10)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    file = MappedFile(100)

    def full(*_):
        raise OSError(errno.ENOSPC, "no space")

    for call in ("pwrite", "posix_fallocate"):
        monkeypatch.setattr(os, call, full, raising=False)
    with pytest.raises(StorageError, match=r"bytes are free.*TMPDIR"):
        file.keep(np.arange(3))
    with pytest.raises(StorageError, match=r"bytes are free.*TMPDIR"):
        file.claim(file.empty(3, np.int8))


@pytest.mark.parametrize("said", ["much", "2 apples", 0, -1, 0.5, True, ""])
def test_what_is_no_size_is_refused(path, said):
    with pytest.raises(ConfigError, match=r"max_memory is .*must be a size such as 2GB"):
        checked_dataset("t", spec(path, said))
    with pytest.raises(ConfigError, match=r"max_memory is .*must be a size such as 2GB"):
        read_source("t", spec(path, said), 0)


def test_it_is_no_part_of_a_spec_and_each_job_is_told_it_beside(path):
    plain, told = make_plan(config(path, None), str), make_plan(config(path, "2GB"), str)
    assert told.table_spec("t") == plain.table_spec("t") and told.report_spec() == plain.report_spec()
    assert told.method_spec("t", "gs") == plain.method_spec("t", "gs")
    ids = {"dataset": "t", "test": "g2", "split": "full", "fold": "1of5"}
    asked = [plan.estimates.resources("ci_test", ids).max_memory for plan in (plain, told)]
    assert asked == [0, 2 * 10**9] and told.estimates.resources("tables", {}).max_memory == 0


def test_a_process_keeps_to_the_limit_that_it_was_told_and_only_meanwhile(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    with limited_memory(500):
        assert file_beyond(100, [1], None) is None and file_beyond(101, [1], None) is not None
        assert file_beyond(101, [1], 10**6) is None  # what a spec says comes first
    assert VARIABLE not in os.environ and file_beyond(101, [1], None) is None
    monkeypatch.setenv(VARIABLE, "2 apples")
    with pytest.raises(ConfigError, match=f"{VARIABLE} is '2 apples', but must be a size"):
        file_beyond(1, [1], None)


def test_a_spec_without_the_key_is_what_it_was(path):
    assert "max_memory" not in checked_dataset("t", {"path": str(path), "target": "y"})
    assert checked_dataset("t", spec(path, "2GB"))["max_memory"] == "2GB"
