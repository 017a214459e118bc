"""Readers of CSV, Parquet, Arrow and npz files, whose heads the plan reads too, and of folders of Parquet files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.errors import DataError
from ..arrays import read_npz
from ..arrow import cell_bytes, read_ipc, read_parquet, readable_as
from ..bundled import TARGET
from ..column_roles import max_memory, setting
from ..input_file import Unpacking
from ..text import read_text
from .loaded import Loaded, TableFile


def read_csv(file: TableFile) -> Loaded:
    """Return the columns of a table of text."""
    as_text = setting(file.spec, "categorical")
    return Loaded(read_text(file.name, file.path, as_text, file.dialect, file.markers, file.drop))


def read_parquet_file(file: TableFile) -> Loaded:
    """Return the columns of a Parquet file."""
    most = max_memory(file.name, file.spec)
    return Loaded(read_parquet(file.name, file.path, file.drop, file.has_dates, most))


def read_arrow_file(file: TableFile) -> Any:
    """Return the table of an Arrow file or stream."""
    return read_ipc(file.name, file.path)


def read_arrays(file: TableFile) -> Loaded:
    """Return the columns of an npz file."""
    return Loaded(read_npz(file.name, file.path, file.spec, file.markers), TARGET)


# --- folders of Parquet files, one part of the rows in each; names such as ``year=2020`` of folders are a column ------


def files_of_folder(path: Path, spec: Mapping[str, Any]) -> list[Path]:
    """Return the files of a folder: those in it and in its folders, but for hidden ones."""
    inside = sorted(path.rglob("*.parquet"))
    return [file for file in inside if not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)]


def read_folder(file: TableFile) -> Any:
    """Return the Arrow table of all files of a folder, in the order of the files' names.

    Raises `DataError` if a file has other columns than the first, is damaged, or all unpack to too much.
    """
    import pyarrow as pa
    import pyarrow.dataset as ds

    name, path = file.name, file.path
    files = [str(one) for one in files_of_folder(path, file.spec)]
    if not files:
        raise DataError(f"{name}: {path} holds no Parquet files but hidden ones. Name the file with the table.")
    with readable_as("folder of Parquet files", name, path):
        first = ds.dataset(files[0], format="parquet").schema
        texts = [
            field.name for field in first if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        ]
        form = ds.ParquetFileFormat(dictionary_columns=texts)
        held = ds.dataset(files, format=form, partitioning="hive", partition_base_dir=str(path))
        unpacking, widths = Unpacking(name, path), sum(cell_bytes(held.schema))
        for part in held.get_fragments():
            _check_columns(name, Path(part.path), part.physical_schema, first, files[0])
            groups = part.metadata.num_row_groups
            encoded = sum(part.metadata.row_group(at).total_byte_size for at in range(groups))
            unpacking.add(max(encoded, part.metadata.num_rows * widths))
        table = held.to_table().unify_dictionaries()
    file.dialect.say(f"{len(files)} Parquet files of one folder")
    return table


def _check_columns(name: str, path: Path, found: Any, wanted: Any, first: str) -> None:
    """Raise `DataError` if a part lacks columns or has more: they would be missing cells, or left out."""
    for one, other, of, lacking in ((wanted, found, first, path), (found, wanted, path, first)):
        if more := [column for column in one.names if column not in other.names]:
            raise DataError(
                f"{name}: {of} has a column {more[0]!r}, and {lacking} has none. Give all files of the folder the same "
                "columns, or put those of one table into a folder of their own."
            )
