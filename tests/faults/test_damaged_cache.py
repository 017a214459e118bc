"""Damage in the cache folder: copies of downloads, answers of databases, and what is known of tables."""

import re
import sqlite3

import pytest

from blanketflow.core.errors import DataError
from blanketflow.data.download import cached_file
from blanketflow.data.sources import read_source
from blanketflow.workflow.peek import peek
from file_server import FileServer

CSV = b"x,y\n1,u\n2,v\n3,u\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BLANKETFLOW_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def change(path, old, new):
    content = path.read_bytes()
    assert old in content and len(old) == len(new)
    path.write_bytes(content.replace(old, new))


def test_a_damaged_copy_of_a_download_is_refused(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with FileServer() as server:
        server.files["/t.csv"] = CSV
        url = f"{server.url}/t.csv"
        spec = {"path": url, "target": "y"}
        assert read_source("t", spec, 0).features["x"].values.tolist() == [1, 2, 3]
        copy = cached_file(url)
        change(copy, b"3", b"7")
        with pytest.raises(DataError, match=rf"{copy}, downloaded from .*, is damaged. Delete it and run again"):
            read_source("t", spec, 0)
        record = copy.with_name("t.csv.json")
        whole = record.read_bytes()
        for damaged in (whole.replace(b'"bytes"', b'"bytee"'), whole[:-20], b""):
            record.write_bytes(damaged)
            with pytest.raises(DataError, match=f"{record} .*Delete it and run again"):
                read_source("t", spec, 0)
        copy.unlink()
        record.write_bytes(whole)
        assert read_source("t", spec, 0).features["x"].values.tolist() == [1, 2, 3]


def test_a_damaged_answer_of_a_database_is_refused(tmp_path, cache):
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE t (x INTEGER, y TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, "u"), (2, "v"), (3, "u")])
    spec = {"source": f"sqlite+pysqlite:///{tmp_path}/t.db", "query": "SELECT * FROM t", "target": "y"}
    whole = read_source("t", spec, 0).features["x"].values.tolist()
    (answer,) = cache.glob("queries/*.parquet")
    content = answer.read_bytes()
    refused = 0
    for at in range(4, len(content), 7):
        answer.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        try:
            assert read_source("t", spec, 0).features["x"].values.tolist() == whole  # where no value stands
        except DataError as error:
            refused += 1
            assert re.search(rf"^t: the answer of .* is damaged: {answer} .*Delete it and run again", str(error)), error
    assert refused > len(content) / 14
    answer.unlink()
    assert read_source("t", spec, 0).features["x"].values.tolist() == whole == [1, 2, 3]


def test_damaged_facts_of_a_table_are_found_again(tmp_path, cache):
    (tmp_path / "t.libsvm").write_text("1 1:0.5 2:1\n0 1:0.25\n1 2:3\n")
    spec = {"path": str(tmp_path / "t.libsvm")}
    facts = peek("t", spec)
    (known,) = cache.glob("facts/*.json")
    content = known.read_bytes()
    for damaged in (content.replace(b'"n_rows": 3', b'"n_rows": 7'), content[:-9], b"[]", b""):
        known.write_bytes(damaged)
        assert damaged != content and peek("t", spec) == facts
        assert known.read_bytes() == content
