"""Queries of databases: DuckDB and SQLite files, and servers by SQLAlchemy's URLs. Nothing is ever written there."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.errors import ArtefactError, ConfigError, DataError
from ..core.printable import redacted
from .artefacts import read_arrow, write_arrow
from .download import cache_folder, storing
from .formats.loaded import TableFile
from .provenance import Provenance
from .secrets import check_no_secret, expanded, scrubbed

_READS = re.compile(r"[\s(]*(select|with|values|table)\b", re.IGNORECASE).match
_URL = re.compile(r"(\w+)(\+\w+)?://")
_FILES = {"duckdb": re.compile(r"duckdb:(?:///)?(.+)"), "sqlite": re.compile(r"sqlite:(?:///)?(.+)")}


def database_file(source: str) -> tuple[str, Path] | None:
    """Return kind and path of the database file that a source names, or None.

    >>> database_file("duckdb:data/my.duckdb"), database_file("sqlite:////srv/my.db"), database_file("openml:61")
    (('duckdb', PosixPath('data/my.duckdb')), ('sqlite', PosixPath('/srv/my.db')), None)
    """
    for kind, wanted in _FILES.items():
        if found := wanted.fullmatch(source):
            return kind, Path(found[1])
    return None


def is_database_url(source: str) -> bool:
    """Return whether a source is the URL of a database server."""
    return bool(_URL.match(source))


def read_database(file: TableFile) -> Any:
    """Return the Arrow table of a query's result from a database file.

    Raises `ConfigError` if the query or a package is missing; `DataError` if the file is no database or the query
    fails.
    """
    ask = _duckdb if file.kind == "duckdb" else _sqlite
    return ask(file.name, file.path, _query(file.name, str(file.path), file.spec))


def queried_file(name: str, url: str, spec: Mapping[str, Any]) -> Path:
    """Return the cached Parquet file with a server's answer to a query, which is asked if it is not there.

    Raises as `read_database` does.
    """
    check_no_secret(name, url)
    query = _query(name, redacted(url), spec)
    key = hashlib.blake2b(f"{url}\0{query}".encode(), digest_size=12).hexdigest()
    path = cache_folder() / "queries" / f"{key}.parquet"
    if not path.is_file():
        table = _by_sqlalchemy(name, url, expanded(name, url), query)
        with storing(name, path) as temporary:
            write_arrow(temporary, table, Provenance())
    try:
        read_arrow(path)
    except ArtefactError as error:
        raise DataError(f"{name}: the answer of {redacted(url)} is damaged: {error}") from error
    return path


def _query(name: str, where: str, spec: Mapping[str, Any]) -> str:
    if not spec.get("query"):
        raise ConfigError(f"{name}: {where} is a database. Set query to the SQL whose rows are the table.")
    return spec["query"]


def _duckdb(name: str, path: Path, query: str) -> Any:
    try:
        import duckdb
    except ImportError as error:
        raise _missing(name, "duckdb") from error
    try:
        # Without access to other files: nobody would see that the table depends on them.
        with duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"}) as connection:
            found = connection.sql(query)
            table = found.to_arrow_table() if found is not None else None
    except duckdb.Error as error:
        raise _failed(name, path, error) from error
    if table is None:
        raise _failed(name, path, "it gives no rows")
    return table


def _sqlite(name: str, path: Path, query: str) -> Any:
    from urllib.parse import quote

    url = f"sqlite:///file:{quote(str(path.absolute()))}?mode=ro&uri=true"
    return _by_sqlalchemy(name, str(path), url, query)


def _by_sqlalchemy(name: str, shown: str, url: str, query: str) -> Any:
    try:
        import sqlalchemy as sa
        from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError
    except ImportError as error:
        raise _missing(name, "sqlalchemy") from error
    import pyarrow as pa

    if not _READS(query):  # writes are rolled back, but some databases do not roll back everything
        raise ConfigError(
            f"{name}: {query.split()[0]!r} of the query is refused: the query must begin with SELECT or WITH."
        )
    where = redacted(shown) if is_database_url(shown) else shown
    try:
        engine = sa.create_engine(url)
    except NoSuchModuleError as error:
        raise ConfigError(f"{name}: {where} is of a kind that sqlalchemy does not know ({error}).") from error
    except ImportError as error:
        raise ConfigError(f"{name}: {where} needs the package {error.name!r}: pip install {error.name}") from error
    except (SQLAlchemyError, ValueError) as error:  # such as a port that is not a number
        raise _failed(name, where, scrubbed(error, shown)) from None
    try:
        with engine.connect() as connection:  # which rolls back when it closes
            result = connection.execution_options(stream_results=True).exec_driver_sql(query)
            names, rows = list(result.keys()), result.fetchall()
    except SQLAlchemyError as error:
        raise _failed(name, where, scrubbed(error, shown)) from None
    finally:
        engine.dispose()
    arrays = []
    for at, column in enumerate(names):
        try:
            arrays.append(pa.array([row[at] for row in rows]))
        except pa.ArrowException as error:
            raise DataError(
                f"{name}: column {column!r} of the query holds values of several kinds ({error})."
            ) from error
    return pa.Table.from_arrays(arrays, names=names)


def _failed(name: str, where: str | Path, error: object) -> DataError:
    said = " ".join(str(error).split("\n[SQL:")[0].split("(Background on")[0].split())
    return DataError(f"{name}: the query of {where} failed: {said}. Check query and source.")


def _missing(name: str, package: str) -> ConfigError:
    return ConfigError(f'{name}: the query needs {package}, which is not installed. pip install "blanketflow[sql]"')
