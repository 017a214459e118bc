"""Flipped bits and files cut short: what is damaged is refused, or reads as if it were whole; never as other data.

The bits of each kind of file are flipped one at a time, a seeded sample of them; with BLANKETFLOW_FLIPS=all every one.
"""

import os
import random
import struct
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from blanketflow.core.column import MatrixColumns
from blanketflow.core.errors import DataError
from blanketflow.core.table import Table, categorical
from blanketflow.core.task import Task
from blanketflow.data.artefacts import read_arrow, read_json, read_provenance, write_json, write_rows
from blanketflow.data.column_roles import RawTable
from blanketflow.data.provenance import Provenance
from blanketflow.data.storage import feature_names, read_features, read_table, write_table, write_wide
from blanketflow.workflow import collect

SAMPLE = 1_500
SAID = Provenance(spec='{"alpha":0.05}', seed=7, reason="é", n_tests=3, seconds=0.25, extra={"k": [1]})
TARGET = categorical("y", np.array(["no", "yes", "no", "yes"], dtype=object))


def matrix():
    return MatrixColumns([f"x{i}" for i in range(6)], np.arange(24).reshape(4, 6) / 7)


def write_stage(path):
    types = {"feature": "string", "p_value": "double", "given": "list<string>", "kept": "bool", "order": "int64"}
    rows = [("a", 0.5, ["b"], True, 1), ("b", None, None, False, 2), ("c", 1e-9, [], True, 3)]
    write_rows(path, rows, types, SAID)


def write_narrow(path):
    features = Table(list(matrix()))
    write_table(path, RawTable(features, TARGET, Task("classification", "as asked")), SAID)


def write_matrix(path):
    extra = {"target": "y", "task": "classification", "groups": None}
    write_wide(path, matrix(), [TARGET], Provenance(spec=SAID.spec, extra=extra))


def stored(table):
    cells = [(c.name, c.kind, c.levels, c.numbers().tolist()) for c in [*table.features.columns, table.target]]
    return repr((cells, table.extra))


def without_seconds(provenance):
    """What the digests cover; how long it took is for information."""
    return replace(provenance, seconds=0)


def read_rows(path):
    table, provenance = read_arrow(path)
    assert read_provenance(path) == provenance
    return repr((table.to_pydict(), table.schema, without_seconds(provenance)))


def read_in_parts(path):
    return repr([feature_names(path), *(stored(read_features(path, part)) for part in ((1, 2), (2, 2)))])


def write_card(path):
    write_json(path, {"rows": 4, "share": 0.1, "text": "é", "classes": {"no": 2, "yes": 2}, "none": None})


#: Each kind of file: how it is written, and how it is read.
KINDS = {
    "a stage": (write_stage, read_rows),
    "a table": (write_narrow, lambda path: stored(read_table(path))),
    "a table by columns": (write_narrow, lambda path: stored(read_table(path, ["x4", "x0"]))),
    "a wide table": (write_matrix, lambda path: stored(read_table(path))),
    "a wide table in parts": (write_matrix, read_in_parts),
    "provenance": (write_stage, lambda path: repr(without_seconds(read_provenance(path)))),
    "json": (write_card, lambda path: repr(read_json(path))),
}


def outcome(read, path):
    """What a file reads as; None if it is refused, with its name and what to do."""
    try:
        return read(path)
    except DataError as error:
        assert str(path) in str(error) and "Delete it and run again" in str(error), error
        return None


def flipped(content, bit):
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.extended
@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_is_refused_or_changes_nothing(tmp_path, kind):
    write, read = KINDS[kind]
    path = tmp_path / "artefact"
    write(path)
    content, whole = path.read_bytes(), read(path)
    bits = range(8 * len(content))
    if os.environ.get("BLANKETFLOW_FLIPS") != "all":
        bits = random.Random(f"{kind} 1").sample(bits, min(SAMPLE, len(bits)))
    refused = 0
    for bit in bits:
        path.write_bytes(flipped(content, bit))
        found = outcome(read, path)
        assert found in (None, whole), bit
        refused += found is None
    print(f"{kind}: {len(content)} bytes, {len(bits)} bits flipped, {refused} refused, {len(bits) - refused} equal")
    assert refused


@pytest.mark.extended
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_cut_short_is_refused(tmp_path, kind):
    write, read = KINDS[kind]
    path = tmp_path / "artefact"
    write(path)
    content, whole = path.read_bytes(), read(path)
    is_sample = os.environ.get("BLANKETFLOW_FLIPS") != "all"
    lengths = random.Random(f"{kind} 2").sample(range(len(content)), min(300, len(content)))
    for length in {0, 1, *lengths, len(content) - 1} if is_sample else range(len(content)):
        path.write_bytes(content[:length])
        found = outcome(read, path)
        assert found is None or (kind == "json" and found == whole and content[length:].isspace()), length


def test_zeros_in_place_of_a_block_are_refused(tmp_path):
    path = tmp_path / "artefact"
    write_narrow(path)
    content = path.read_bytes()
    for start in range(4, len(content), 100):
        size = min(100, len(content) - start)
        path.write_bytes(content[:start] + bytes(size) + content[start + size :])
        assert outcome(lambda path: stored(read_table(path)), path) is None


def test_lengths_that_promise_gigabytes_are_refused(tmp_path):
    """Nothing is allocated for a number that the file cannot hold."""
    path = tmp_path / "artefact"
    write_stage(path)
    content = path.read_bytes()
    length = struct.unpack("<I", content[-8:-4])[0]
    for at in (len(content) - 8, len(content) - 16 - length):  # of the footer, and how many checksums there are
        for number in (0, 2**31 - 1, 2**32 - 1):
            path.write_bytes(content[:at] + struct.pack("<I", number) + content[at + 4 :])
            assert outcome(read_rows, path) is None


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1PAR1", b"\0" * 64, b"PAR1" + b"\0" * 8 + b"PAR1"])
def test_what_is_no_artefact_is_refused(tmp_path, content):
    path = tmp_path / "artefact"
    path.write_bytes(content)
    assert outcome(read_rows, path) is None and outcome(read_json, path) is None


def test_other_files_and_folders_are_refused(tmp_path):
    import pyarrow as pa

    pq.write_table(pa.table({"feature": ["a"]}), tmp_path / "other.parquet")
    for path in (tmp_path / "other.parquet", tmp_path / "none.parquet", tmp_path):
        assert outcome(read_rows, path) is None and outcome(read_provenance, path) is None


def test_other_readers_of_parquet_see_the_same(tmp_path):
    import duckdb
    import pandas as pd

    path = tmp_path / "tables" / "scores.parquet"
    frame = pd.DataFrame({"selector": ["a", "b"], "value": [0.5, None], "n": [1, 2]})
    collect.write_table(path, frame, SAID)
    assert pd.read_parquet(path).equals(frame)
    assert pq.read_table(path).to_pydict()["n"] == [1, 2]
    assert pq.read_schema(path).metadata[b"seed"] == b"7"
    assert duckdb.sql(f"select selector, n from '{path}'").fetchall() == [("a", 1), ("b", 2)]
    assert collect.tables([path])["scores"].equals(frame)
