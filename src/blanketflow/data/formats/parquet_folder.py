"""Folders of Parquet files, one part of the rows in each; names such as ``year=2020`` of folders are a column."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.errors import DataError
from ..arrow import cell_bytes, columns_from_arrow
from ..column_roles import setting
from ..input_file import Unpacking
from .loaded import Loaded, TableFile


def companions(path: Path, spec: Mapping[str, Any]) -> list[Path]:
    """Return the files of a folder: those in it and in its folders, but for hidden ones."""
    inside = sorted(path.rglob("*.parquet"))
    return [file for file in inside if not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)]


def read_folder(file: TableFile) -> Loaded:
    """Return the columns of all files of a folder, in the order of the files' names.

    Raises `DataError` if a file has other columns than the first, is damaged, or all unpack to too much.
    """
    import pyarrow as pa
    import pyarrow.dataset as ds

    name, path = file.name, file.path
    files = [str(one) for one in companions(path, file.spec)]
    if not files:
        raise DataError(f"{name}: {path} holds no Parquet files but hidden ones. Name the file with the table.")
    try:
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
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        said = str(error).partition("\n")[0].partition(". ")[0].rstrip(".")
        raise DataError(
            f"{name}: {path} is not a readable folder of Parquet files ({said}). Fetch or write it again."
        ) from error
    file.dialect.say(f"{len(files)} Parquet files of one folder")
    return Loaded(columns_from_arrow(name, table, setting(file.spec, "drop"), file.has_dates))


def _check_columns(name: str, path: Path, found: Any, wanted: Any, first: str) -> None:
    """Raise `DataError` if a part lacks columns or has more: they would be missing cells, or left out."""
    for one, other, of, lacking in ((wanted, found, first, path), (found, wanted, path, first)):
        if more := [column for column in one.names if column not in other.names]:
            raise DataError(
                f"{name}: {of} has a column {more[0]!r}, and {lacking} has none. Give all files of the folder the same "
                "columns, or put those of one table into a folder of their own."
            )
