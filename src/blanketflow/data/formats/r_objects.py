"""R's files of objects, .rds and .RData, read by rdata: a data frame or a matrix. Nothing in them is evaluated."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.cards import NUMERIC
from ...core.errors import ConfigError, DataError, MemberNeeded, did_you_mean, shown
from ...core.table import Column, categorical
from ..columns import number_column
from ..input_file import Unpacking, opened
from .loaded import Loaded, TableFile, columns_of, matrix_columns
from .statistics import labelled

#: What files of several objects begin with.
_OF_OBJECTS = (b"RDX2\n", b"RDX3\n", b"RDA2\n", b"RDA3\n", b"RDB2\n", b"RDB3\n")
_MISSING_WHOLE = np.iinfo(np.int64).min
_NUMBERS = ("LGL", "INT", "REAL")


def read_r(file: TableFile) -> Loaded:
    """Return the columns of a data frame or matrix: the only one of the file, or the object that `member` names.

    Row names are left out. Raises `ConfigError` if there is no such object, or several; `DataError` if none is a table,
    or the file unpacks to too much.
    """
    from rdata import parser

    name, path = file.name, file.path
    unpacking = Unpacking(name, path)
    with opened(name, path) as raw:
        content = raw.read()
    if content.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ")):
        raise ValueError("it is compressed twice")
    sequences = {kind: _bounded(make, unpacking) for kind, make in parser.DEFAULT_ALTREP_MAP.items()}
    suffix = ".rda" if content.startswith(_OF_OBJECTS) else ".rds"
    found = parser.parse_data(content, altrep_constructor_dict=sequences, extension=suffix)
    encoding = found.extra.encoding or "utf-8"
    objects = dict(_pairs(found.object)) if suffix == ".rda" else {"": found.object}
    if suffix == ".rds" and not _is_table(found.object) and found.object.info.type.name == "VEC":  # a list of them
        names = _attributes(found.object).get("names")
        objects = dict(zip(_texts(names, encoding), found.object.value, strict=True)) if names else objects
    chosen = _chosen(file, objects)
    notes: list[str] = []
    columns = _of_frame(file, chosen, encoding, notes) if _is_frame(chosen) else _of_matrix(file, chosen, encoding)
    return Loaded(columns, notes=tuple(notes))


def _bounded(make: Callable[[Any], Any], unpacking: Unpacking) -> Callable[[Any], Any]:
    """Return what expands a sequence that R stores by its length, which may be anything, but not beyond the limit."""

    def bounded(state: Any) -> Any:
        if state.info.type.name in _NUMBERS and len(state.value) == 3:
            unpacking.add(8 * max(int(state.value[0]), 0))
        return make(state)

    return bounded


def _pairs(pairs: Any) -> Iterator[tuple[str, Any]]:
    """Yield names and values of a list of pairs, as a file of objects or the attributes of one are."""
    while pairs is not None and pairs.info.type.name == "LIST":
        symbol = pairs.tag if pairs.tag is None else pairs.tag.referenced_object or pairs.tag
        if symbol is not None:
            yield symbol.value.value.decode(errors="replace"), pairs.value[0]
        pairs = pairs.value[1]


def _attributes(held: Any) -> dict[str, Any]:
    return dict(_pairs(held.attributes))


def _classes(held: Any) -> list[str | None]:
    found = _attributes(held).get("class")
    return _texts(found) if found is not None else []


def _is_frame(held: Any) -> bool:
    return held.info.type.name == "VEC" and "data.frame" in _classes(held)


def _is_table(held: Any) -> bool:
    size = _attributes(held).get("dim")
    is_matrix = held.info.type.name in (*_NUMBERS, "STR") and size is not None and len(size.value) == 2
    return is_matrix or _is_frame(held)


def _called(held: Any) -> str:
    return next(filter(None, _classes(held)), held.info.type.name.lower())


def _texts(held: Any, encoding: str = "utf-8") -> list[str | None]:
    """Return the texts of a vector, each in its encoding."""
    from rdata.parser import CharFlags

    def text(one: Any) -> str | None:
        if one.value is None:
            return None
        of = "latin-1" if one.info.gp & CharFlags.LATIN1 else "utf-8" if one.info.gp & CharFlags.UTF8 else encoding
        return one.value.decode(of)

    return list(map(text, held.value))


def _chosen(file: TableFile, objects: Mapping[str, Any]) -> Any:
    name, path, member = file.name, file.path, file.spec.get("member")
    if member is not None:
        if member not in objects or "" in objects:
            held = [one for one in objects if one]
            raise ConfigError(f"{name}: {path} holds no object {shown(member)}. {did_you_mean(member, held)}")
        objects = {member: objects[member]}
    tables = [one for one, held in objects.items() if _is_table(held)]
    if len(tables) == 1:
        return objects[tables[0]]
    if tables:
        some = ", ".join(map(repr, tables[:6])) + (", ..." if len(tables) > 6 else "")
        raise MemberNeeded(
            f"{name}: {path} holds {len(tables)} tables: {some}. Name one by the key member, such as member: "
            f"{json.dumps(tables[0])}."
        )
    what = ", ".join(
        f"{one} ({_called(held)})" if one else f"an object of type {_called(held)}"
        for one, held in list(objects.items())[:6]
    )
    raise DataError(
        f"{name}: {path} holds no data frame and no matrix, but {what or 'nothing'}. Save the table in R as a data "
        'frame: saveRDS(as.data.frame(...), "table.rds").'
    )


def _of_frame(file: TableFile, frame: Any, encoding: str, notes: list[str]) -> list[Column]:
    """Return the columns of a data frame; labels of values are those of Stata and SPSS, which R's haven reads."""
    import pyarrow as pa

    names, arrays = _texts(_attributes(frame)["names"], encoding), []
    for name, held in zip(names, frame.value, strict=True):
        array = _array(held, encoding)
        if array is None and name not in file.drop:
            raise DataError(
                f"{file.name}: column {name!r} holds {_called(held)} of R, not one number or text a row. Turn it into "
                f"such columns, or leave it out by drop: [{json.dumps(name, ensure_ascii=False)}]."
            )
        arrays.append(pa.nulls(len(arrays[0]) if arrays else _n_rows(frame)) if array is None else array)
    if _names_rows(_attributes(frame).get("row.names")):
        file.dialect.say("names of rows, which are left out")
    columns = columns_of(file, pa.table(arrays, names=names))
    columns = [
        number_column(column.name, column.values) if column.kind == NUMERIC else column for column in columns
    ]  # a number that is typed in R is no integer, though it may be whole
    labels = [_labels(held, encoding) for held in frame.value]
    return [labelled(column, of, notes) if of else column for column, of in zip(columns, labels, strict=True)]


def _names_rows(names: Any) -> bool:
    return names is not None and names.info.type.name == "STR"


def _n_rows(frame: Any) -> int:
    """Return the number of rows, which R states as (missing, -n) where rows have no names."""
    names = _attributes(frame)["row.names"].value
    return abs(int(names[1])) if len(names) == 2 and names[0] is np.ma.masked else len(names)


def _labels(held: Any, encoding: str) -> dict[Any, str]:
    of = _attributes(held).get("labels")
    if of is None or of.info.type.name not in _NUMBERS or (names := _attributes(of).get("names")) is None:
        return {}
    return {
        float(value): text or ""
        for value, text in zip(of.value.tolist(), _texts(names, encoding), strict=True)
        if value is not None
    }


def _array(held: Any, encoding: str) -> Any:
    """Return a vector as an Arrow array; None if it is another object."""
    import pyarrow as pa

    kind, classes, attributes = held.info.type.name, _classes(held), _attributes(held)
    if "dim" in attributes:
        return None
    if kind == "STR":
        return pa.array(_texts(held, encoding), pa.string())
    if kind not in _NUMBERS:
        return None
    values, gaps = np.ma.getdata(held.value), np.ma.getmaskarray(held.value)
    if "factor" in classes:
        levels = _texts(attributes["levels"], encoding)
        return pa.DictionaryArray.from_arrays(
            pa.array(values.astype(np.int32) - 1, mask=gaps), pa.array(levels, pa.string())
        )
    if "integer64" in classes and kind == "REAL":
        values = values.view(np.int64)
        return pa.array(values, mask=values == _MISSING_WHOLE)
    gaps = gaps | np.isnan(values) if kind == "REAL" else gaps
    if "Date" in classes or "POSIXct" in classes:
        unit, per_unit, of = ("D", 1, pa.date32()) if "Date" in classes else ("us", 1_000_000, pa.timestamp("us"))
        whole = np.floor(np.where(gaps, 0, values) * per_unit).astype(np.int64)
        return pa.array(whole.astype(f"datetime64[{unit}]"), of, mask=gaps)
    return pa.array(values, mask=gaps)


def _of_matrix(file: TableFile, matrix: Any, encoding: str) -> Sequence[Column]:
    """Return the columns of a matrix, called by its names, or x0, x1, ..."""
    attributes = _attributes(matrix)
    shape = tuple(int(n) for n in attributes["dim"].value)
    of_rows, of_columns = attributes["dimnames"].value if "dimnames" in attributes else (None, None)
    if _names_rows(of_rows):
        file.dialect.say("names of rows, which are left out")
    names = _texts(of_columns, encoding) if _names_rows(of_columns) else [f"x{j}" for j in range(shape[1])]
    if matrix.info.type.name == "STR":
        cells = np.array([*_texts(matrix, encoding), None], dtype=object)[:-1].reshape(shape, order="F")
        return [categorical(name, cells[:, j]) for j, name in enumerate(names)]
    values = np.ma.filled(matrix.value.astype(np.float64), np.nan) if np.ma.is_masked(matrix.value) else matrix.value
    return matrix_columns(np.ma.getdata(values).reshape(shape, order="F"), names, [])
