"""A selection on Parquet beyond max_memory: read in blocks where a search needs no rows, with the same answer."""

import numpy as np
import pandas as pd
import pytest

from blanketflow.api import rows_in_blocks, select_command
from blanketflow.api.select_command import select
from blanketflow.ci.contingency.packed_codes import PackedCodes
from blanketflow.core.errors import DataError
from blanketflow.counts.counting import ParquetBlocks
from blanketflow.data.sources import read_source

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


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    """A table whose file states all levels: whole numbers and flags, a copy that is renamed, and one value only."""
    rng = np.random.default_rng(1)
    a, b, c = rng.integers(0, 3, (3, 12_000))
    frame = pd.DataFrame({"copy": 2 - a, "a": a - 1, "b": b, "c": c * 2, "e": b == 1, "one": 7})
    frame["t"] = (a > 1).astype(int) + (b == 2) * (c > 0) + rng.integers(0, 2, 12_000)
    path = tmp_path_factory.mktemp("data") / "labels.parquet"
    frame.astype({"a": "int8", "b": "uint8"}).to_parquet(path, row_group_size=700)
    return path


def by_default(path, selector, ci_test, monkeypatch, **keys):
    spec = {"path": str(path), "target": "t", **keys}
    on_rows = select(spec, selector, ci_test, 1)
    monkeypatch.setattr(rows_in_blocks, "PACKED_ROWS", 0)
    return on_rows, select(spec, selector, ci_test, 1)


@pytest.fixture(scope="module")
def texts(labels, tmp_path_factory):
    """The same as texts, plain and coded: with labels in a group of rows only, unused ones, and marks."""
    frame = pd.read_parquet(labels).astype({"a": str, "b": str, "c": str, "copy": str, "t": str})
    frame["c"] = frame["c"].where(frame.index != 11_990, "-")
    frame["t"] = pd.Categorical("class " + frame["t"], ["class 9", *(f"class {at}" for at in range(4))])
    frame["copy"] = pd.Categorical(frame["copy"], [*"3210"])
    path = tmp_path_factory.mktemp("data") / "texts.parquet"
    frame.to_parquet(path, row_group_size=700)
    return path


@pytest.mark.parametrize(
    ("method", "ci_test"), [("hiton-mb", {"type": "g2"}), ("mrmr", {"type": "g2"}), ("hiton-mb", {})]
)
def test_a_large_table_of_texts_is_packed_with_the_answer_of_the_rows(texts, method, ci_test, monkeypatch):
    on_rows, packed = by_default(texts, {"method": method}, ci_test, monkeypatch)
    assert same(on_rows, packed) and any(row["stand_ins"] for row in packed.blanket)
    assert packed.notes[0].startswith("rows were read in blocks, and packed codes kept: the table has 12,000 rows.")
    assert packed.notes[1:] == on_rows.notes and any("cells that may be missing (c)" in note for note in on_rows.notes)


@pytest.mark.parametrize(
    "texts_of",
    [
        lambda at: f"{at % 12}%",  # numbers
        lambda at: f"id {at}",  # more labels than a file states
        lambda at: ["a", None][at % 2],
    ],
)
@pytest.mark.parametrize("where", ["x", "t"])
def test_texts_that_are_no_labels_are_read_as_rows(labels, tmp_path, texts_of, where, monkeypatch):
    frame = pd.read_parquet(labels)
    frame[where] = [*map(texts_of, range(len(frame)))]
    frame.to_parquet(tmp_path / "texts.parquet", row_group_size=5000)
    ask = {"method": "mrmr", "n_features": 2}, {"type": "g2"}
    try:
        on_rows, read = by_default(tmp_path / "texts.parquet", *ask, monkeypatch)
    except DataError as error:
        with pytest.raises(DataError, match=str(error).partition(":")[0]):
            select({"path": str(tmp_path / "texts.parquet"), "target": "t"}, *ask, 1)
    else:
        assert same(on_rows, read) and not any(IN_BLOCKS in note for note in read.notes)


def test_texts_that_look_alike_are_refused_at_any_size(labels, tmp_path, monkeypatch):
    frame = pd.read_parquet(labels)
    frame["x"] = ["a", "a\u200b"] * 6000
    frame.to_parquet(tmp_path / "alike.parquet")
    monkeypatch.setattr(rows_in_blocks, "PACKED_ROWS", 0)
    with pytest.raises(DataError, match="look alike"):
        select({"path": str(tmp_path / "alike.parquet"), "target": "t"}, {"method": "gs"}, {"type": "g2"}, 1)


def test_texts_that_are_numbers_are_numbers_beyond_memory(path, tmp_path):
    frame = pd.read_parquet(path)
    frame["x"] = [f"{value:.1f} %" for value in frame["d"] + frame["t"]]
    frame.to_parquet(tmp_path / "dressed.parquet")
    on_rows, in_file = both(tmp_path / "dressed.parquet", {"method": "gs"}, {"type": "g2"}, task="classification")
    assert same(on_rows, in_file) and not any(IN_BLOCKS in note for note in in_file.notes)


@pytest.mark.parametrize("method", ["hiton-mb", "mrmr", "iamb"])
@pytest.mark.parametrize("ci_test", [{"type": "g2"}, {"type": "g2", "bins": 12, "dof": "nominal"}])
def test_a_large_table_of_labels_is_packed_with_the_answer_of_the_rows(labels, method, ci_test, monkeypatch):
    on_rows, packed = by_default(labels, {"method": method}, ci_test, monkeypatch)
    assert same(on_rows, packed) and any(row["stand_ins"] for row in packed.blanket)
    assert packed.notes[0].startswith("rows were read in blocks, and packed codes kept: the table has 12,000 rows.")
    assert [note for note in on_rows.notes if "one" in note] == [note for note in packed.notes[1:] if "one" in note]


def test_a_large_table_of_labels_and_a_number_to_predict_is_packed(labels, monkeypatch):
    on_rows, packed = by_default(labels, {"method": "mrmr"}, {"type": "g2"}, monkeypatch, task="regression")
    assert same(on_rows, packed) and IN_BLOCKS in packed.notes[0]


def test_the_test_chosen_for_a_large_table_is_the_one_for_its_rows(labels, monkeypatch):
    on_rows, packed = by_default(labels, {"method": "gs"}, {}, monkeypatch, drop=["c"])
    assert same(on_rows, packed) and packed.ci_test_reason and IN_BLOCKS in packed.notes[0]
    monkeypatch.undo()
    on_rows, packed = by_default(labels, {"method": "gs"}, {}, monkeypatch)  # some values between 0 and 4 do not occur
    assert same(on_rows, packed) and IN_BLOCKS in packed.notes[0]


@pytest.mark.parametrize(
    ("selector", "ci_test", "table"),
    [
        ({"method": "gs"}, {"type": "g2"}, "path"),  # numbers: the file does not state all levels
        ({"method": "gs"}, {"type": "chi2"}, "labels"),  # stand-ins need a test that measures information
        ({"method": "relief"}, {}, "labels"),
        ({"method": "gs", "folds": 2}, {"type": "g2"}, "labels"),
    ],
)
def test_other_large_tables_are_read_whole(selector, ci_test, table, monkeypatch, request):
    keys = {"task": "classification"}
    on_rows, read = by_default(request.getfixturevalue(table), selector, ci_test, monkeypatch, **keys)
    assert same(on_rows, read) and not any(IN_BLOCKS in note for note in read.notes)


def test_a_file_that_states_too_few_values_is_looked_at(labels, monkeypatch):
    stated = ParquetBlocks.stated_coding

    def wrong(self, name, bins):
        coding = stated(self, name, bins)
        return type(coding)(name, coding.kind, coding.levels[:-1]) if name == "b" else coding

    monkeypatch.setattr(ParquetBlocks, "stated_coding", wrong)
    assert same(*by_default(labels, {"method": "gs"}, {"type": "g2"}, monkeypatch))


def test_where_a_table_is_too_large_to_count_rows_are_read(labels, monkeypatch):
    monkeypatch.setattr("blanketflow.ci.contingency.packed_codes.MOST_CELLS", 40)
    on_rows, read = by_default(labels, {"method": "iamb"}, {"type": "g2"}, monkeypatch)
    assert same(on_rows, read) and not any(IN_BLOCKS in note for note in read.notes)


@pytest.mark.parametrize("n_levels", [2, 3, 9, 200, 300])
def test_packed_codes_are_unpacked_as_they_were(n_levels):
    codes = np.random.default_rng(0).integers(0, n_levels, 20_000)
    packed = PackedCodes(20_000, 1)
    packed.add((0, n_levels))
    packed.put(0, 0, codes)
    assert np.array_equal(packed.codes_of(np.arange(20_000))[0], codes)


@pytest.mark.parametrize(
    ("selector", "ci_test", "table"),
    [
        ({"method": "auto", "budget": {"rows": 250, "fits": 60}}, {}, "path"),
        ({"method": "relief", "n_features": 3}, {}, "path"),
        ({"method": "relief", "n_features": 3}, {}, "texts"),
        ({"method": "gs"}, {"type": "spline"}, "path"),
        ({"method": "relief", "n_features": 3, "target": "d"}, {}, "path"),
    ],
)
def test_of_a_large_table_only_the_sample_is_read(selector, ci_test, table, monkeypatch, request):
    keys = {"max_rows": 400, "target": selector.pop("target", "t")}
    whole = []
    monkeypatch.setattr(select_command, "read_source", lambda *_: whole.append(_) or read_source(*_))
    on_rows, sampled = by_default(request.getfixturevalue(table), selector, ci_test, monkeypatch, **keys)
    assert same(on_rows, sampled) and on_rows.blanket and len(whole) == 1
    told = [note for note in sampled.notes if note.endswith("a sample stratified by the target (max_rows)")]
    assert told == [f"400 of {on_rows.n_rows:,} rows were taken, a sample stratified by the target (max_rows)"]


@pytest.mark.parametrize(("selector", "ci_test"), [({"method": "gs"}, {"type": "g2"}), ({"method": "gs"}, {})])
def test_searches_that_take_all_rows_read_them_with_max_rows(labels, selector, ci_test, monkeypatch):
    on_rows, read = by_default(labels, selector, ci_test, monkeypatch, max_rows=400)
    assert same(on_rows, read) and on_rows.notes == read.notes


def test_a_search_that_could_take_a_sample_says_so_of_many_rows(path, monkeypatch):
    ask = {"path": str(path), "target": "t"}, {"method": "relief", "n_features": 3}, {}, 1
    few = select(*ask)
    monkeypatch.setattr(select_command, "PACKED_ROWS", 2999)
    monkeypatch.setattr(rows_in_blocks, "PACKED_ROWS", 2999)
    said = "all 3,000 rows were read, since relief reads rows. A sample is faster: --data-set max_rows=100000"
    assert [*few.notes, said] == select(*ask).notes


@pytest.mark.parametrize(
    ("selector", "ci_test", "keys", "why"),
    [
        ({}, {"type": "g2"}, {"categorical": ["a"]}, "tables with the key categorical are not read in blocks"),
        ({"folds": 2}, {"type": "g2"}, {}, "folds and confirm read rows"),
        ({}, {"type": "mi-permutation"}, {}, "mi-permutation reads rows. The tests g2, chi2, fisher-z and lr-mixed do"),
        ({}, {"type": "chi2"}, {}, "stand-ins are found by another test than chi2. Take g2"),
        (
            {},
            {"type": "g2"},
            {},
            "the file does not state the few values of 'd'. Set max_memory to less than the table",
        ),
        ({}, {"type": "lr-mixed"}, {"target": "d"}, "'b' is a label, and with directions: both it is regressed"),
        (
            {"method": "auto", "budget": {"rows": 250, "fits": 60}},
            {},
            {},
            "auto judges sets by models of rows. A sample",
        ),
    ],
)
def test_a_note_says_why_all_rows_of_a_large_table_were_read(path, selector, ci_test, keys, why, monkeypatch):
    ask = {"path": str(path), "target": "t", **keys}, {"method": "gs", **selector}, ci_test, 1
    few = select(*ask)
    monkeypatch.setattr(select_command, "PACKED_ROWS", 0)
    monkeypatch.setattr(rows_in_blocks, "PACKED_ROWS", 0)
    (said,) = (note for note in select(*ask).notes if note not in few.notes)
    assert said.startswith(f"all 3,000 rows were read, since {why}")


def test_a_note_says_that_other_formats_are_read_whole(path, tmp_path, monkeypatch):
    pd.read_parquet(path).to_csv(tmp_path / "table.csv", index=False)
    monkeypatch.setattr(select_command, "PACKED_ROWS", 0)
    notes = select({"path": str(tmp_path / "table.csv"), "target": "t"}, {"method": "gs"}, {"type": "g2"}, 1).notes
    assert "all 3,000 rows were read, since only Parquet is read in blocks. Store large tables as Parquet" in notes


def test_no_sample_hides_cells_that_must_be_settled(path, tmp_path, monkeypatch):
    frame = pd.read_parquet(path)
    frame.loc[17, "d"] = np.inf
    frame.to_parquet(tmp_path / "endless.parquet", row_group_size=700)
    frame.loc[17, "d"] = None
    frame.to_parquet(tmp_path / "gap.parquet", row_group_size=700)
    on_rows, read = by_default(
        tmp_path / "gap.parquet", {"method": "relief", "n_features": 3}, {}, monkeypatch, max_rows=20
    )
    assert same(on_rows, read) and on_rows.notes == read.notes
    with pytest.raises(DataError, match="'d'"):
        spec = {"path": str(tmp_path / "endless.parquet"), "target": "t", "max_rows": 20}
        select(spec, {"method": "relief", "n_features": 3}, {}, 1)


@pytest.mark.parametrize(
    ("method", "test", "target"),
    [("hiton-mb", "fisher-z", "t"), ("iamb", "fisher-z", "class"), ("hiton-mb", "lr-mixed", "t")],
)
def test_a_large_table_of_numbers_is_summed_with_the_answer_of_the_rows(tmp_path, method, test, target, monkeypatch):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(6, 12_000))
    x[3] += 0.5 * x[2]
    frame = pd.DataFrame({**{f"x{at}": one for at, one in enumerate(x)}, "copy": 1.8 * x[0] + 32, "one": 7.0})
    frame["near"] = x[1] + 0.2 * rng.normal(size=12_000)
    frame["t"] = x[0] + x[1] + x[2] + rng.normal(size=12_000)
    frame["class"] = np.where(frame["t"] > 0, "high", "low")
    frame.astype({"x3": "float32"}).to_parquet(tmp_path / "numbers.parquet", row_group_size=5000)
    keys = {"target": target, "drop": [{"t": "class", "class": "t"}[target]]}
    on_rows, summed = by_default(tmp_path / "numbers.parquet", {"method": method}, {"type": test}, monkeypatch, **keys)
    assert summed.notes[0].startswith("rows were read in blocks, and products kept: the table has 12,000 rows.")
    assert summed.notes[1:] == on_rows.notes and summed.n_tests == on_rows.n_tests
    assert [row["feature"] for row in summed.blanket] == [row["feature"] for row in on_rows.blanket] != []
    for ours, theirs in zip(summed.blanket, on_rows.blanket, strict=True):
        assert np.isclose(ours["importance"], theirs["importance"], rtol=1e-9) and ours["given"] == theirs["given"]
        assert [other["feature"] for other in ours["stand_ins"]] == [other["feature"] for other in theirs["stand_ins"]]
    assert any(row["stand_ins"] for row in summed.blanket)


@pytest.mark.parametrize("method", ["iamb", "hiton-mb"])
def test_a_large_table_of_numbers_and_labels_has_the_answer_of_the_rows(path, method, monkeypatch):
    linear = {"type": "lr-mixed", "directions": "linear"}
    on_rows, found = by_default(path, {"method": method}, linear, monkeypatch, target="d")
    assert found.n_tests == on_rows.n_tests
    for ours, theirs in zip(found.blanket, on_rows.blanket, strict=True):
        assert ours["feature"] == theirs["feature"] and ours["given"] == theirs["given"]
        assert [other["feature"] for other in ours["stand_ins"]] == [other["feature"] for other in theirs["stand_ins"]]


def columns_of(kind):
    """Columns of which the rows that are drawn show too little, or all, of what a choice of the test asks."""
    rng, n = np.random.default_rng(3), 12_000
    x = rng.normal(size=(4, n))
    frame = pd.DataFrame({f"x{at}": one for at, one in enumerate(x)})
    rare = (np.arange(n) % 3000 == 7).astype(float)  # not in the rows that are drawn
    more = {
        "numbers": {},
        "bent": {"x2": x[0] ** 2 + 0.1 * x[2]},
        "one flag": {"flag": (x[2] > 0).astype(float)},
        "two flags": {"flag": (x[2] > 0).astype(float), "rare": rare},
        "integers": {"few": rng.integers(0, 2, n) * 2, "many": rng.integers(-40, 40, n), "one": 7},
        "few": {"few": rng.integers(0, 4, n), "rare": 100 * rare.astype(int)},
        "labels": {"label": rng.choice([*"abc"], n), "unused": pd.Categorical(rng.choice([*"uv"], n), [*"tuvw"])},
    }[kind]
    frame = frame.assign(**more)
    frame["t"] = x[0] + 0.5 * x[1] + (more.get("flag", 0) + rng.normal(size=n))
    frame["class"] = np.where(frame["t"] > 0, "high", "low")
    frame["three"] = np.digitize(frame["t"], [-1, 1])
    return frame


@pytest.mark.parametrize("target", ["t", "class", "three"])
@pytest.mark.parametrize("kind", ["numbers", "bent", "one flag", "two flags", "integers", "few", "labels"])
def test_auto_chooses_what_it_chooses_for_all_rows(tmp_path, kind, target, monkeypatch):
    frame = columns_of(kind)
    frame.to_parquet(tmp_path / "table.parquet", row_group_size=5000)
    monkeypatch.setattr("blanketflow.ci.choice.MOST_CELLS", 1000)  # as for tables that are so large
    drop = [name for name in ("t", "class", "three") if name != target]
    keys = {"target": target, "drop": drop}
    on_rows, found = by_default(tmp_path / "table.parquet", {"method": "iamb"}, {}, monkeypatch, **keys)
    assert (found.ci_test, found.ci_test_reason) == (on_rows.ci_test, on_rows.ci_test_reason)
    assert [row["feature"] for row in found.blanket] == [row["feature"] for row in on_rows.blanket] != []
    assert found.n_tests == on_rows.n_tests
    for ours, theirs in zip(found.blanket, on_rows.blanket, strict=True):
        assert np.isclose(ours["importance"], theirs["importance"], rtol=1e-9) and ours["given"] == theirs["given"]
        assert [other["feature"] for other in ours["stand_ins"]] == [other["feature"] for other in theirs["stand_ins"]]
    assert any(IN_BLOCKS in note for note in found.notes) == (target == "t" or found.ci_test == "fisher-z")
    assert kind != "bent" or "some bend" in found.ci_test_reason


@pytest.mark.parametrize("cell", [None, np.inf])
@pytest.mark.parametrize("ci_test", [{}, {"type": "fisher-z"}])
def test_sums_that_meet_a_gap_are_left_for_the_rows(tmp_path, cell, ci_test, monkeypatch):
    frame = columns_of("numbers").drop(columns=["class", "three"])
    frame.loc[11_990, "x2"] = cell
    frame.to_parquet(tmp_path / "gap.parquet", row_group_size=5000)
    ask = tmp_path / "gap.parquet", {"method": "iamb"}, ci_test, monkeypatch
    if cell is None:
        on_rows, read = by_default(*ask)
        assert same(on_rows, read) and not any(IN_BLOCKS in note for note in read.notes)
        return
    monkeypatch.setattr(rows_in_blocks, "PACKED_ROWS", 0)
    with pytest.raises(DataError, match="x2"):
        by_default(*ask)
