"""Artefacts: Parquet files that carry how they came about. Written whole or not at all; never a pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any
from zlib import crc32

from .. import __version__
from ..core.errors import ArtefactError, BlanketflowError
from ..core.folders import not_written
from .seal import DamagedError, SealedFile, seal
from .temporary import temporary_name

#: What a stage can say of itself, the most serious last.
STATUSES = ("ok", "unreliable", "timeout", "error")
#: The key of a JSON file's checksum.
_CHECKSUM = "checksum"


@dataclass
class Provenance:
    """The key-value metadata of an artefact.

    Parameters
    ----------
    spec : str
        Canonical JSON of everything that was asked for.
    seed : int
        The seed that the stage derived its random numbers from.
    status : {"ok", "timeout", "unreliable", "error"}
        ``error`` means that the rows are not a result; so does ``timeout``, unless `extra` says ``anytime``: then they
        are what stood when a limit struck. ``unreliable`` rows are a result to be read with care.
    reason : str
        Why the status is not ``ok``; empty otherwise.
    n_tests : int
        CI tests computed.
    seconds : float
        Wall seconds of the stage. Not part of what "equal results" means.
    extra : dict
        More facts of this artefact, JSON types only.
    """

    spec: str = "{}"
    seed: int = 0
    status: str = "ok"
    reason: str = ""
    n_tests: int = 0
    seconds: float = 0.0
    version: str = __version__
    extra: dict[str, Any] = field(default_factory=dict)

    def to_metadata(self) -> dict[bytes, bytes]:
        """Return the key-value metadata of a Parquet file: one text a key, `extra` as JSON."""
        texts = {**asdict(self), "extra": json.dumps(self.extra, sort_keys=True)}
        return {name.encode(): str(text).encode() for name, text in texts.items()}

    @classmethod
    def from_metadata(cls, metadata: Mapping[bytes, bytes]) -> Provenance:
        """Return the provenance that `to_metadata` wrote; KeyError or ValueError if it is not one."""
        texts = {f.name: metadata[f.name.encode()].decode() for f in fields(cls)}
        numbers = {"seed": int(texts["seed"]), "n_tests": int(texts["n_tests"]), "seconds": float(texts["seconds"])}
        return cls(**{**texts, **numbers, "extra": json.loads(texts["extra"])})

    @property
    def usable(self) -> bool:
        """Whether the rows are a result."""
        return self.status != "error" and (self.status != "timeout" or bool(self.extra.get("anytime")))


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`; on success flush it and rename it to `path`, else remove it.

    Raises `StorageError` if the file cannot be written.
    """
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = temporary_name(path)
        yield temporary
        with open(temporary, "rb") as handle:
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise not_written(path, error) from error
    finally:
        if temporary is not None:
            with suppress(OSError):  # of a disk that can be read only, say
                temporary.unlink(missing_ok=True)


def write_arrow(path: str | Path, table: Any, provenance: Provenance) -> None:
    """Write an Arrow table with its provenance as Parquet."""
    import pyarrow.parquet as pq

    with replacing(path) as temporary:
        pq.write_table(table.replace_schema_metadata(provenance.to_metadata()), temporary, write_page_checksum=True)
        seal(temporary)


def write_columns(
    path: str | Path, columns: Mapping[str, Sequence[Any]], types: Mapping[str, str], provenance: Provenance
) -> None:
    """Write columns as Parquet.

    Parameters
    ----------
    path : path
        Where to.
    columns : mapping of str to sequence
        Equal lengths; ``types`` has the same keys.
    types : mapping of str to str
        Arrow type names, as `arrow_array` takes them. They fix the schema, so that an artefact without rows has the
        same columns as one with rows.
    provenance : Provenance
        What the artefact says of itself.
    """
    import pyarrow as pa

    write_arrow(path, pa.table({name: arrow_array(columns[name], kind) for name, kind in types.items()}), provenance)


def write_rows(
    path: str | Path, rows: Sequence[Sequence[Any]], types: Mapping[str, str], provenance: Provenance
) -> None:
    """Write rows, each with one value a column, as Parquet; see `write_columns`."""
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    write_columns(path, dict(zip(types, columns, strict=True)), types, provenance)


def arrow_array(values: Sequence[Any], kind: str) -> Any:
    """Return values without nulls as an Arrow array.

    Parameters
    ----------
    values : sequence
        One a row; for ``list<double>`` an array of shape (n, k).
    kind : str
        ``string``, ``double``, ``int64``, ``bool``, ``list<string>`` or ``list<double>``. None and NaN are null in a
        ``double`` array, None in one of ``list<string>``.
    """
    # From buffers, because pa.array imports pandas, which would cost a small job more than its work.
    import numpy as np
    import pyarrow as pa

    n = len(values)
    if kind == "string":
        encoded = [str(value).encode() for value in values]
        buffers = [None, pa.py_buffer(_offsets(encoded)), pa.py_buffer(b"".join(encoded))]
        return pa.Array.from_buffers(pa.string(), n, buffers)
    if kind == "list<string>":
        lists = [() if value is None else value for value in values]
        items = arrow_array([item for value in lists for item in value], "string")
        known = np.packbits(np.array([value is not None for value in values], dtype=bool), bitorder="little")
        buffers = [pa.py_buffer(known), pa.py_buffer(_offsets(lists))]
        return pa.Array.from_buffers(pa.list_(pa.string()), n, buffers, children=[items])
    if kind == "list<double>":
        items = np.ascontiguousarray(values, dtype=np.float64).reshape(n, -1) if n else np.empty((0, 0))
        offsets = np.arange(n + 1, dtype=np.int32) * np.int32(items.shape[1])
        cells = pa.Array.from_buffers(pa.float64(), items.size, [None, pa.py_buffer(items)])
        return pa.Array.from_buffers(pa.list_(pa.float64()), n, [None, pa.py_buffer(offsets)], children=[cells])
    if kind == "bool":
        bits = np.packbits(np.asarray(values, dtype=bool), bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), n, [None, pa.py_buffer(bits)])
    if kind == "int64":
        whole = np.ascontiguousarray(values, dtype=np.int64)
        return pa.Array.from_buffers(pa.int64(), n, [None, pa.py_buffer(whole)])
    if isinstance(values, np.ndarray):
        numbers = np.ascontiguousarray(values, dtype=np.float64)
    else:
        numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    known = np.packbits(~np.isnan(numbers), bitorder="little")
    return pa.Array.from_buffers(pa.float64(), n, [pa.py_buffer(known), pa.py_buffer(numbers)])


def _offsets(parts: Sequence[Any]) -> Any:
    import numpy as np

    offsets = np.zeros(len(parts) + 1, dtype=np.int32)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return offsets


@contextmanager
def opened(path: str | Path, coded: Sequence[str] = ()) -> Iterator[tuple[SealedFile, Provenance]]:
    """Yield an artefact as a `SealedFile`, and its provenance.

    Raises
    ------
    ArtefactError
        If the file is no Parquet, is truncated or corrupted, or was not written by blanketflow.
    """
    import pyarrow as pa

    try:
        # Not pq.read_table: it goes through pyarrow.dataset, which imports pandas.
        with pa.OSFile(str(path)) as source:
            file = SealedFile(source, coded)
            yield file, Provenance.from_metadata(file.schema_arrow.metadata or {})
    except BlanketflowError:
        raise
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str | Path, error: Exception) -> ArtefactError:
    return ArtefactError(f"{path} is not a readable blanketflow artefact ({error}). Delete it and run again.")


def read_arrow(
    path: str | Path, columns: Sequence[str] | None = None, coded: Sequence[str] = ()
) -> tuple[Any, Provenance]:
    """Return the Arrow table, some text columns as codes and levels, and its provenance; raises as `opened` does."""
    with opened(path, coded) as (file, provenance):
        return file.read(columns=columns), provenance


def read_columns(path: str | Path) -> tuple[dict[str, list[Any]], Provenance]:
    """Return the columns as lists, and the provenance."""
    table, provenance = read_arrow(path)
    return table.to_pydict(), provenance


def read_provenance(path: str | Path) -> Provenance:
    """Return an artefact's provenance without its rows; raises as `opened` does."""
    with opened(path) as (_, provenance):
        return provenance


def write_json(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file with sorted keys, and a checksum of its content for `read_json`."""
    plain = json.loads(json.dumps(content))
    sealed = {**plain, _CHECKSUM: _checksum(plain)}
    write_text(path, json.dumps(sealed, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def read_json(path: str | Path) -> dict[str, Any]:
    """Return what `write_json` wrote.

    Raises
    ------
    ArtefactError
        If the file is missing or damaged.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content.pop(_CHECKSUM) != _checksum(content):
            raise DamagedError("its checksum is not that of its content")
    except (OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise _unreadable(path, error) from error
    return content


def _checksum(content: Any) -> str:
    return f"{crc32(json.dumps(content, sort_keys=True).encode()):08x}"


def write_text(path: str | Path, text: str) -> None:
    """Write a UTF-8 text file whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
