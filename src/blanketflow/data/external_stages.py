"""Stages that come from outside: plain Parquet by any writer, such as a lab's own shrink by DuckDB or R."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from ..core.errors import ArtefactError
from .artefact_columns import ARTEFACTS, STAND_INS
from .provenance import Provenance, part_digests, schema_texts, whole_digest

#: The columns that a supplied stage must have, and the values of other columns of `ARTEFACTS` that are missing.
NEEDED = {"grow": ("feature",), "shrink": ("feature", "kept")}
_DEFAULTS = {
    "role": "member",
    "statistic": None,
    "p_value": None,
    "importance": None,
    "given": None,
    "group": "",
    "stand_ins": (),
}
#: What Arrow calls the types that a column may have, by the type that it gets.
_FITTING = {
    "string": ("string", "large_string", "string_view"),
    "double": ("double", "float", "int64", "int32", "null"),
    "int64": ("int64", "int32", "double"),
    "bool": ("bool",),
    "list<string>": ("list", "large_list", "null"),
    STAND_INS: ("list", "large_list", "null"),
}


def supplied_content(path: Path) -> str:
    """Return the content digest of a Parquet file of another program; `ArtefactError` if it cannot be read."""
    table = _table(path)
    return whole_digest([schema_texts(table.schema), table.num_rows, part_digests(table)])


def read_supplied(path: Path, stage: str) -> tuple[dict[str, list[Any]], Provenance]:
    """Return the columns of a supplied stage (``grow`` or ``shrink``), and a provenance that names its source.

    Raises `ArtefactError` if it cannot be read, lacks a column, repeats a feature, or has a column of another type.
    """
    table = _table(path)
    lacking = [name for name in NEEDED[stage] if name not in table.column_names]
    if lacking:
        raise ArtefactError(
            f"{path}, supplied as {stage}, has no column {lacking[0]!r}. Write it with {_asked(stage)}."
        )
    rows = ARTEFACTS[stage]
    columns: dict[str, list[Any]] = {}
    for name, kind in rows.types("group" in table.column_names).items():
        if name in table.column_names:
            columns[name] = _column(path, stage, name, kind, table)
        else:
            columns[name] = list(range(table.num_rows)) if kind == "int64" else [_DEFAULTS[name]] * table.num_rows
    if len(set(columns["feature"])) < table.num_rows or None in columns["feature"]:
        raise ArtefactError(
            f"{path}, supplied as {stage}, names a feature twice or not at all. Write one row per feature."
        )
    if None in columns.get("kept", ()):
        raise ArtefactError(f"{path}, supplied as {stage}, has an empty cell in 'kept'. Write true or false.")
    if "importance" not in table.column_names:  # in the order of the rows
        columns["importance"] = [float(table.num_rows - at) for at in range(table.num_rows)]
    columns["role"] = [role or _DEFAULTS["role"] for role in columns["role"]]
    return columns, Provenance(extra={"supplied": True}, content=supplied_content(path))


def check_supplied(
    path: Path,
    stage: str,
    features: Collection[str],
    included: Collection[str] = (),
    excluded: Collection[str] = (),
) -> None:
    """Raise `ArtefactError` unless a supplied stage is readable, names features of the table, and obeys the config.

    A shrink must contain the `included` features, and neither stage an `excluded` one.
    """
    columns, where = read_supplied(path, stage)[0], f"{path}, supplied as {stage},"
    unknown = [name for name in columns["feature"] if name not in features]
    if unknown:
        raise ArtefactError(f"{where} names {unknown[0]!r}, which is not a feature of the table.")
    are_kept = columns.get("kept", [True] * len(columns["feature"]))
    kept = {name for name, is_kept in zip(columns["feature"], are_kept, strict=True) if is_kept}
    if stage == "shrink" and (missing := [name for name in included if name not in kept]):
        raise ArtefactError(f"{where} does not keep {missing[0]!r}, which include names. Keep it, or remove include.")
    if against := [name for name in excluded if name in kept]:
        raise ArtefactError(f"{where} keeps {against[0]!r}, which exclude names. Leave it out, or remove exclude.")


def _column(path: Path, stage: str, name: str, kind: str, table: Any) -> list[Any]:
    found = str(table.schema.field(name).type)
    if not found.startswith(_FITTING[kind]):
        raise ArtefactError(f"{path}, supplied as {stage}: column {name!r} has the type {found}. Write it as {kind}.")
    return table.column(name).to_pylist()


def _table(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            return file.read()
    except (pa.ArrowException, OSError) as error:
        raise ArtefactError(f"{path} is not a readable Parquet file ({error}). Write it again.") from error


def _asked(stage: str) -> str:
    return " and ".join(f"{name} ({ARTEFACTS[stage].columns[name].type})" for name in NEEDED[stage])
