"""A selection on Parquet beyond max_memory: read in blocks where a search needs no rows, with the same answer."""

import numpy as np
import pandas as pd
import pytest

from blanketflow.api.select_command import select
from blanketflow.core.errors import DataError

IN_BLOCKS = "rows were read in blocks"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 3, (3, 3000))
    frame = pd.DataFrame({"a": a, "b": b.astype(str), "c": c, "d": rng.normal(size=3000) + c, "e": a == 1})
    frame["t"] = (a > 0) + (b == 2) * (c > 0) + rng.integers(0, 2, 3000)
    path = tmp_path_factory.mktemp("data") / "table.parquet"
    frame.astype({"t": "int8"}).to_parquet(path, row_group_size=700)
    return path


def both(path, selector, ci_test, **keys):
    spec = {"path": str(path), "target": "t", **keys}
    return select(spec, selector, ci_test, 1), select({**spec, "max_memory": 1}, selector, ci_test, 1)


def same(one, other):
    def plain(found):
        return {**found.as_dict(), "seconds": 0, "notes": []}

    return plain(one) == plain(other)


@pytest.mark.parametrize("method", ["hiton-mb", "mrmr", "gs"])
def test_packed_codes_give_the_answer_of_the_rows(path, method):
    options = {"n_features": 2} if method == "mrmr" else {}
    on_rows, in_blocks = both(path, {"method": method, **options}, {"type": "g2"}, exclude=["e"], task="classification")
    assert same(on_rows, in_blocks) and len(on_rows.blanket) >= 2
    assert IN_BLOCKS in in_blocks.notes[0] and not any(IN_BLOCKS in note for note in on_rows.notes)


def test_products_give_the_answer_of_the_rows(path):
    keys = {"drop": ["b", "e"], "task": "regression"}
    on_rows, in_blocks = both(path, {"method": "iamb"}, {"type": "fisher-z"}, **keys)
    assert [row["feature"] for row in in_blocks.blanket] == [row["feature"] for row in on_rows.blanket] != []
    assert np.isclose(in_blocks.blanket[0]["importance"], on_rows.blanket[0]["importance"], rtol=1e-9)
    assert in_blocks.notes[0].startswith("rows were read in blocks, and products kept")


@pytest.mark.parametrize("method", ["iamb", "mixed-mb", "fast-iamb"])
def test_products_of_labels_give_the_answer_of_the_rows(path, method):
    linear = {"type": "lr-mixed", "directions": "linear"}
    on_rows, in_blocks = both(path, {"method": method}, linear, target="d")
    assert [row["feature"] for row in in_blocks.blanket] == [row["feature"] for row in on_rows.blanket] != []
    assert np.isclose(in_blocks.blanket[0]["importance"], on_rows.blanket[0]["importance"], rtol=1e-9)
    assert in_blocks.notes[0].startswith("rows were read in blocks, and products kept")
    assert in_blocks.n_tests == on_rows.n_tests


@pytest.mark.parametrize("limits", [{}, {"time_limit": 60}])
@pytest.mark.parametrize(
    ("method", "directions", "target"),
    [("iamb", "both", "d"), ("iamb", "linear", "b"), ("iamb", "target", "e"), ("hiton-mb", "linear", "d")],
)
def test_with_regressions_of_labels_rows_are_read(tmp_path, path, method, directions, target, limits):
    frame = pd.read_parquet(path)
    frame["f"] = np.where(np.random.default_rng(1).random(len(frame)) < 0.8, frame["b"], "0")  # a label of another
    frame["d"] += 1.0 * (frame["b"] == "1") + 2.0 * (frame["f"] == "2")
    frame[["b", "d", "e", "f"]].to_parquet(tmp_path / "labels.parquet")
    test = {"type": "lr-mixed", "directions": directions}
    on_rows, in_file = both(tmp_path / "labels.parquet", {"method": method, **limits}, test, target=target)
    assert same(on_rows, in_file) and not any(IN_BLOCKS in note for note in in_file.notes)


def test_the_test_that_auto_chooses_is_the_one_for_the_rows(path):
    on_rows, in_blocks = both(path, {"method": "gs", "ci_test": "auto"}, {}, drop=["d"])
    assert on_rows.ci_test == "g2-corrected" and same(on_rows, in_blocks) and IN_BLOCKS in in_blocks.notes[0]


def test_what_rows_unpack_to_is_no_limit_where_they_never_are_in_memory(path, monkeypatch):
    monkeypatch.setenv("BLANKETFLOW_MAX_GB", "0.00001")
    spec = {"path": str(path), "target": "t", "task": "classification"}
    with pytest.raises(DataError, match="BLANKETFLOW_MAX_GB"):
        select(spec, {"method": "gs"}, {"type": "g2"}, 1)
    assert IN_BLOCKS in select({**spec, "max_memory": 1}, {"method": "gs"}, {"type": "g2"}, 1).notes[0]


@pytest.mark.parametrize(
    ("selector", "ci_test", "keys"),
    [
        ({"method": "relief"}, {}, {}),
        ({"method": "gs", "folds": 2}, {"type": "g2"}, {}),
        ({"method": "gs"}, {"type": "mi-permutation"}, {}),
        ({"method": "gs"}, {"type": "g2", "binning": "mdlp"}, {}),
        ({"method": "gs"}, {"type": "g2"}, {"categorical": ["a"]}),
    ],
)
def test_what_needs_rows_reads_them(path, selector, ci_test, keys):
    on_rows, in_file = both(path, selector, ci_test, task="classification", **keys)
    assert same(on_rows, in_file) and not any(IN_BLOCKS in note for note in in_file.notes)


@pytest.mark.parametrize("where", ["d", "t"])
def test_with_missing_cells_rows_are_read(path, tmp_path, where):
    frame = pd.read_parquet(path).astype({"t": str})
    frame.loc[5, where] = None
    frame.to_parquet(tmp_path / "gaps.parquet")
    on_rows, in_file = both(tmp_path / "gaps.parquet", {"method": "gs"}, {"type": "g2"}, task="classification")
    assert same(on_rows, in_file) and not any(IN_BLOCKS in note for note in in_file.notes)
