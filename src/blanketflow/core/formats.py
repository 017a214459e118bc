"""The formats of a table's file: how each is recognised and what reads it, in this package and in others."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .errors import ConfigError, did_you_mean
from .registry import import_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The entry points by which a package registers its formats: ``name = "module:FORMAT"``.
GROUP = "blanketflow.formats"


@dataclass(frozen=True)
class Format:
    r"""A format of a table's file: how it is recognised, and what reads it.

    Parameters
    ----------
    read : callable or str
        The reader, or ``"module:function"``, which is imported when the first file is read. It takes one argument with
        the attributes `path` and `spec` (the keys of the data set, a mapping), and returns the whole table as a
        pandas.DataFrame or a pyarrow.Table, the target among its columns. Any error that it raises is shown as one of
        the file.
    called : str
        The format's name in messages, such as ``"Stata"``.
    begins : bytes
        Regular expression of a file's first bytes, after unpacking gzip. Where several formats match, `suffixes`
        decide.
    suffixes : tuple of str
        Ends of file names, in lower case, such as ``".arff"``. They decide where the first bytes do not.
    keys : tuple of str
        Keys of a data set that this format takes and others do not: ``"encoding"``, ``"sheet"``, ``"query"``, ....
    library : str
        The package that the reader imports. If it cannot be imported, the error says to install `install`.
    install : str
        What pip installs for it; by default `library`.
    companions : str
        ``"module:function"`` that takes the path and the spec, and returns further files that the table is read from.
    missing : tuple of str
        Texts that stand for missing cells, besides the usual ones.
    is_unpacked : bool
        Whether the reader takes no gzip files. They are then unpacked for it, as other packed files are for all.

    Examples
    --------
    >>> Format("my_readers:read_gct", called="GCT", begins=rb"#1\.[23]\n").recognises(b"#1.2\n")
    True
    """

    read: Callable[[Any], Any] | str
    called: str = ""
    begins: bytes = b""
    suffixes: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    library: str = ""
    install: str = ""
    companions: str = ""
    missing: tuple[str, ...] = ()
    is_unpacked: bool = False

    def recognises(self, head: bytes) -> bool:
        """Return whether a file's first bytes are those of this format."""
        return bool(self.begins) and re.match(self.begins, head, re.DOTALL) is not None

    def reader(self) -> Callable[[Any], Any]:
        """Return the function that reads a file; raises `ConfigError` if it cannot be imported."""
        return import_name(self.read) if isinstance(self.read, str) else self.read

    @property
    def file(self) -> Path:
        """The file with the reader's code; raises as `reader` does, if it is not in this package."""
        module = self.read.partition(":")[0] if isinstance(self.read, str) else ""
        if module.startswith("blanketflow.") and (spec := find_spec(module)) and spec.origin:
            return Path(spec.origin)  # without importing it
        return Path(inspect.getfile(inspect.unwrap(self.reader())))


def _own(function: str, **more: Any) -> Format:
    return Format(f"blanketflow.data.{function}", **more)


_LAYOUT = (
    "skip_rows",
    "header_row",
    "units_row",
    "duplicate_names",
    "rename",
    "decimal",
    "thousands",
    "missing_values",
)
_TEXT = ("encoding", "sep", "quote", "comment", *_LAYOUT)
_ZIP, _HDF, _OLE = rb"PK\x03\x04", rb"\x89HDF\r\n\x1a\n", rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_STATISTICS: dict[str, Any] = {
    "keys": ("encoding",),
    "library": "pyreadstat",
    "install": "blanketflow[statistics]",
    "is_unpacked": True,
}
_FORMULA_ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")
_BINARY: dict[str, Any] = {"is_unpacked": True}
_WORKBOOK: dict[str, Any] = {
    "keys": ("sheet", *_LAYOUT),
    "missing": _FORMULA_ERRORS,
    "is_unpacked": True,
}
_CALAMINE: dict[str, Any] = {**_WORKBOOK, "library": "python_calamine", "install": "blanketflow[formats]"}
#: The formats of this package, by the names that the key `format` takes.
FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "csv": _own("formats.tables:read_csv", keys=_TEXT),
        "xlsx": _own("formats.workbooks:read_xlsx", **_WORKBOOK),
        "xls": _own("formats.workbooks:read_xls", begins=_OLE, called=".xls", **_CALAMINE),
        "ods": _own("formats.workbooks:read_ods", called=".ods", **_CALAMINE),
        "parquet": _own("formats.tables:read_parquet_file", begins=b"PAR1", **_BINARY),
        "parquet-folder": _own(
            "formats.tables:read_folder", companions="blanketflow.data.formats.tables:files_of_folder"
        ),
        "npz": _own(
            "formats.tables:read_arrays",
            begins=_ZIP,
            keys=("target_path", "missing_values"),
            companions="blanketflow.data.arrays:companions",
            **_BINARY,
        ),
        "arrow": _own("formats.tables:read_arrow_file", begins=rb"ARROW1|\xff\xff\xff\xff", **_BINARY),
        "orc": _own("formats.records:read_orc", called="ORC", begins=rb"ORC.{0,60000}?\0", **_BINARY),
        "avro": _own(
            "formats.records:read_avro",
            called="Avro",
            begins=rb"Obj\x01",
            library="fastavro",
            install="blanketflow[formats]",
            **_BINARY,
        ),
        "json": _own("formats.records:read_json", called="JSON", suffixes=(".jsonl", ".ndjson")),
        "arff": _own("formats.arff:read_arff", suffixes=(".arff",), keys=("missing_values",)),
        "svmlight": _own("formats.svmlight:read_svmlight", suffixes=(".svm", ".svmlight", ".libsvm")),
        "matlab": _own("formats.matlab:read_matlab", begins=b"MATLAB", suffixes=(".mat",), keys=("member",), **_BINARY),
        "r": _own(
            "formats.r_objects:read_r",
            called="R",
            begins=rb"RD[ABX][23]\r?\n|[XB]\n(\x00{3}[\x02\x03]|[\x02\x03]\x00{3})|A\r?\n[23]\r?\n\d{6}\r?\n",
            keys=("member",),
            library="rdata",
            install="blanketflow[formats]",
        ),
        "c45": _own(
            "formats.c45:read_c45", keys=("missing_values",), companions="blanketflow.data.formats.c45:companions"
        ),
        "orange": _own("formats.orange:read_orange", keys=("missing_values",)),
        "nips2003": _own("formats.nips2003:read_nips2003", companions="blanketflow.data.formats.nips2003:companions"),
        "h5ad": _own(
            "formats.anndata:read_h5ad",
            called=".h5ad",
            begins=_HDF,
            suffixes=(".h5ad",),
            keys=("member",),
            library="anndata",
            install="blanketflow[h5ad]",
            **_BINARY,
        ),
        "gct": _own(
            "formats.gct:read_gct",
            called="GCT",
            begins=rb"(\xef\xbb\xbf)?#1\.[23]\s",
            companions="blanketflow.data.formats.gct:companions",
        ),
        "biom": _own(
            "formats.biom:read_biom",
            called="BIOM",
            begins=rb'\s*\{.*"Biological Observation Matrix|\x89HDF\r\n\x1a\n',
            suffixes=(".biom",),
            library="biom",
            install="blanketflow[formats]",
            **_BINARY,
        ),
        "stata": _own(
            "formats.statistics:read_statistics",
            called="Stata",
            begins=rb"<stata_dta>|[\x66-\x73][\x01\x02]\x01\0",
            **_STATISTICS,
        ),
        "spss": _own("formats.statistics:read_statistics", called="SPSS", begins=rb"\$FL[23]@\(#\)", **_STATISTICS),
        "sas": _own(
            "formats.statistics:read_statistics",
            called="SAS",
            begins=rb"\0{12}\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\0\x09\xc7\x31\x8c\x18\x1f\x10\x11",
            **_STATISTICS,
        ),
        "xport": _own(
            "formats.statistics:read_statistics",
            called="SAS transport",
            begins=rb"HEADER RECORD\*{7}LIB",
            **_STATISTICS,
        ),
        "duckdb": _own("sql:read_database", begins=b".{8}DUCK", keys=("query",)),
        "sqlite": _own("sql:read_database", begins=rb"SQLite format 3\0", keys=("query",)),
    }
)


def registered() -> Mapping[str, EntryPoint]:
    """Return the formats that installed packages register, by name; names of this package are not theirs to take."""
    return _registered(tuple(sys.path))


@functools.lru_cache(maxsize=2)
def _registered(path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    """Return them for one search path of modules; the look at all installed packages takes some 10 ms."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP) if point.name not in FORMATS}


def known_formats() -> list[str]:
    """Return the names of all formats, those of installed packages last."""
    return [*FORMATS, *registered()]


def find_format(name: str) -> Format:
    """Return the format of a name, or the one that ``"module:NAME"`` names, installed or beside the config.

    Raises `ConfigError` if there is none of that name, it cannot be imported, or is no `Format`.
    """
    if name in FORMATS:
        return FORMATS[name]
    if ":" in name:
        return _imported(name)
    if name not in (points := registered()):
        raise ConfigError(f"format is {name!r}. {did_you_mean(name, [*FORMATS, *points])}")
    try:
        return _imported(points[name].value)
    except ConfigError as error:
        package = dist.name if (dist := points[name].dist) else points[name].module
        raise ConfigError(
            f"the format {name!r} of the installed package {package!r} cannot be used: {error} Or set format to that "
            "of the file."
        ) from error


def _imported(dotted: str) -> Format:
    found = import_name(dotted)
    if not isinstance(found, Format):
        raise ConfigError(f"{dotted!r} is not a Format of blanketflow.plugins. Name one that is.")
    return found
