"""Queries of databases: real DuckDB and SQLite files, never written; and packages that are not there."""

import sys

import duckdb
import pytest
import sqlalchemy

from blanketflow.core.errors import ConfigError, DataError
from blanketflow.data.sources import read_source, source_files
from blanketflow.workflow.peek import peek
from test_data_sources import assert_agree

TABLE = "CREATE TABLE patients (id INTEGER, dose DOUBLE, cost DECIMAL(8, 2), site VARCHAR, y VARCHAR)"
ROWS = (
    "INSERT INTO patients VALUES (1, 0.5, 10.25, 'north', 'ill'), (2, NULL, 3, NULL, 'well'), (3, 2.5, 1, 'a', 'ill')"
)
QUERY = "SELECT dose, cost, site, y FROM patients WHERE id < 3 ORDER BY id"


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BLANKETFLOW_CACHE", str(tmp_path / "cache"))


@pytest.fixture(params=["duckdb", "sqlite", "url"])
def source(request, tmp_path):
    """A database by each way in; the last is that of servers, on a file."""
    if request.param == "duckdb":
        with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
            connection.execute(TABLE)
            connection.execute(ROWS)
        return f"duckdb:{tmp_path}/t.duckdb"
    scheme = "sqlite" if request.param == "sqlite" else "sqlite+pysqlite"
    engine = sqlalchemy.create_engine(f"{scheme}:///{tmp_path}/t.db")
    with engine.begin() as connection:
        connection.exec_driver_sql(TABLE)
        connection.exec_driver_sql(ROWS)
    engine.dispose()
    return f"{scheme}:///{tmp_path}/t.db"


def test_a_query_gives_the_table(source):
    spec = {"source": source, "query": QUERY, "target": "y"}
    raw, _ = assert_agree("t", spec)
    assert raw.features.names == ["dose", "cost", "site"] and raw.features.n_rows == 2
    assert raw.features["cost"].values.tolist() == [10.25, 3] and raw.features["dose"].n_missing() == 1
    (file,) = source_files("t", spec)
    assert file.endswith(".parquet" if "pysqlite" in source else source[-6:].rpartition("/")[2])


def test_nothing_is_written(source, tmp_path):
    file = next(path for path in tmp_path.iterdir() if path.is_file())
    before = file.read_bytes()
    for query in ("DELETE FROM patients", "DROP TABLE patients", "INSERT INTO patients VALUES (9, 1, 1, 'a', 'ill')"):
        with pytest.raises((DataError, ConfigError), match=r"^t: .*the query .*(failed|must begin with)"):
            read_source("t", {"source": source, "query": query, "target": "y"}, 0)
    assert file.read_bytes() == before


def test_a_failing_query_is_said(source):
    for query, message in [
        ("SELECT * FROM patience", "failed: .*patience"),
        ("SELECT 1 1", "failed: .*syntax"),
        ("SELECT * FROM patients WHERE id > 99", "has no rows"),
        (None, "Set query to the SQL"),
    ]:
        with pytest.raises((DataError, ConfigError), match=f"^t: .*{message}"):
            peek("t", {"source": source, "query": query, "target": "y"})
    with pytest.raises(DataError, match="'y' occurs more than once"):
        peek("t", {"source": source, "query": "SELECT id, y, y FROM patients", "target": "y"})


def test_a_changed_database_is_asked_again(tmp_path):
    spec = {"source": f"duckdb:{tmp_path}/t.duckdb", "query": "SELECT * FROM patients", "target": "y"}
    for n_rows in (3, 6):
        with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
            connection.execute(TABLE.replace("TABLE", "TABLE IF NOT EXISTS"))
            connection.execute(ROWS)
        assert peek("t", spec).n_rows == n_rows == read_source("t", spec, 0).features.n_rows


def test_duckdb_reads_no_other_file(tmp_path):
    duckdb.connect(str(tmp_path / "t.duckdb")).close()
    (tmp_path / "other.csv").write_text("x,y\n1,u\n2,v\n")
    query = f"SELECT * FROM '{tmp_path}/other.csv'"
    with pytest.raises(DataError, match=r"failed: .*(?i:permission|disabled)"):
        peek("t", {"source": f"duckdb:{tmp_path}/t.duckdb", "query": query, "target": "y"})


def test_a_file_that_is_not_there_or_no_database(tmp_path):
    for source in (f"duckdb:{tmp_path}/t.db", f"sqlite:///{tmp_path}/t.db"):
        with pytest.raises(DataError, match=r"^t: there is no file .*t.db. Check the key source"):
            peek("t", {"source": source, "query": "SELECT 1"})
        assert not (tmp_path / "t.db").exists()
        (tmp_path / "t.db").write_text("no database at all, but long enough to be looked at")
        with pytest.raises(DataError, match=r"the query of .* failed"):
            peek("t", {"source": source, "query": "SELECT * FROM t", "target": "y"})
        (tmp_path / "t.db").unlink()


@pytest.mark.parametrize(
    ("package", "spec", "extra"),
    [
        ("duckdb", {"source": "duckdb:{}/t.db", "query": "SELECT 1"}, "sql"),
        ("sqlalchemy", {"source": "sqlite:///{}/t.db", "query": "SELECT 1"}, "sql"),
        ("anndata", {"path": "{}/t.h5ad", "target": "y"}, "h5ad"),
    ],
)
def test_a_missing_package_is_said_with_its_extra(tmp_path, monkeypatch, package, spec, extra):
    (tmp_path / "t.db").write_bytes(b"?")
    (tmp_path / "t.h5ad").write_bytes(b"\x89HDF\r\n\x1a\n")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigError, match=rf'is not installed. pip install "blanketflow\[{extra}\]"'):
        read_source("t", {key: value.format(tmp_path) for key, value in spec.items()}, 0)


def test_a_server_without_its_driver_or_of_an_unknown_kind(monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    spec = {"source": "postgresql+pg8000://me:${PGPASSWORD}@127.0.0.1:1/db", "query": "SELECT 1", "target": "y"}
    with pytest.raises(ConfigError, match=r"^t: postgresql\+pg8000://me:\$\{PGPASSWORD\}@.* pip install pg8000"):
        peek("t", spec)
    with pytest.raises(ConfigError, match="is of a kind that sqlalchemy does not know"):
        peek("t", spec | {"source": "nosuch://127.0.0.1/db"})
