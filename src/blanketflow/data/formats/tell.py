"""Finds the format of a file by its content, then by its name. The key `format` overrides both."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.errors import ConfigError, DataError, did_you_mean
from ...core.formats import FORMATS
from ..arrays import ZIP_MAGIC, target_file
from ..arrow import PARQUET_MAGIC
from ..dialect import is_encoding, marked_encoding
from ..input_file import GZIP_MAGIC, opened
from .nips2003 import labels_file, param_file
from .orange import is_orange

_HDF = b"\x89HDF\r\n\x1a\n"
#: First bytes with their positions.
_MAGIC = (
    (0, ZIP_MAGIC, "npz"),
    (0, PARQUET_MAGIC, "parquet"),
    (0, b"ARROW1", "arrow"),
    (0, b"\xff\xff\xff\xff", "arrow"),  # a stream
    (0, _HDF, "h5ad"),
    (0, b"MATLAB", "matlab"),
    (0, b"SQLite format 3\0", "sqlite"),
    (8, b"DUCK", "duckdb"),
    (0, b"<stata_dta>", "stata"),
    (0, b"$FL2@(#)", "spss"),
    (0, b"$FL3@(#)", "spss"),
    (0, bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011"), "sas"),
    (0, b"HEADER RECORD*******LIB", "xport"),
)
#: Of which byte counts as text, too.
_OLD_STATA = re.compile(rb"[\x66-\x73][\x01\x02]\x01\0").match
_SUFFIXES = {".mat": "matlab", ".arff": "arff", ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight"}
_HEAD_BYTES = 64_000
_PAIRS = r"(\s+\d+:[-+.\deEnaif]+)+\s*(#.*)?"
_SVMLIGHT = re.compile(rf"[-+.\deE,]+(\s+qid:\d+)?{_PAIRS}").fullmatch
_NIPS2003 = re.compile(rf"\d+:[-+.\deE]+({_PAIRS})?\s*").fullmatch


def tell_format(name: str, path: Path, spec: Mapping[str, Any]) -> str:
    """Return which of `core.formats.FORMATS` a file has.

    Raises `ConfigError` if the spec asks for another format, `DataError` if the file is empty or cannot be read.
    """
    asked = spec.get("format")
    if asked and asked not in FORMATS:
        raise ConfigError(f"{name}: format is {asked!r}. {did_you_mean(asked, FORMATS)}")
    with opened(name, path) as raw:
        head = raw.read(_HEAD_BYTES)
    if not head:
        raise DataError(f"{name}: {path} is empty. It needs a header with column names and rows below it.")
    if asked:
        return asked
    for at, magic, found in _MAGIC:
        if head[at:].startswith(magic):
            return found if found != "npz" else _in_a_zip(name, path, head)
    if encoding := spec.get("encoding") or marked_encoding(head):
        head = head.decode(encoding, errors="ignore").encode(errors="ignore") if is_encoding(encoding) else head
    if _OLD_STATA(head):
        return "stata"
    if refused := what_else(head):
        raise DataError(f"{name}: {path} is {refused}.")
    suffix = _plain_suffix(path)
    if spec.get("header") == "none":
        return "csv"
    lines = head.decode("utf-8-sig", errors="replace").splitlines()
    return _by_lines(lines, suffix) or _SUFFIXES.get(suffix) or _by_companions(path, suffix) or "csv"


def _in_a_zip(name: str, path: Path, head: bytes) -> str:
    """Return ``xlsx`` or ``npz`` by what an archive holds; ``npz`` if it is too damaged to tell: reading says so."""
    try:
        with zipfile.ZipFile(path) as archive:
            held = archive.namelist()
    except (zipfile.BadZipFile, OSError, RuntimeError, ValueError):  # a later version of zip is a RuntimeError
        held = ["[Content_Types].xml"] if b"[Content_Types].xml" in head[:2000] else []
    if "xl/workbook.xml" in held:
        return "xlsx"
    if "[Content_Types].xml" in held or "mimetype" in held:
        raise DataError(
            f"{name}: {path} is a workbook or document of an office program. Save the table as .xlsx or CSV."
        )
    if held and not any(member.endswith(".npy") for member in held):
        shown = ", ".join(held[:3]) + (", ..." if len(held) > 3 else "")
        raise DataError(f"{name}: {path} is a zip archive, of {shown}. {UNPACK}.")
    return "npz"


def _by_lines(lines: list[str], suffix: str) -> str | None:
    """Return the format that the first lines show; None if they can belong to a table with a header."""
    said = next((line.strip() for line in lines if line.strip() and not line.startswith("%")), "")
    if said.lower().startswith("@relation"):
        return "arff"
    if is_orange(lines, suffix == ".tab"):
        return "orange"
    said = next((line.strip() for line in lines if line.partition("#")[0].strip()), "")
    said = said[: said.rfind(" ")] if len(lines) == 1 and len(said) > 1000 else said  # a line may be cut
    if _NIPS2003(said):
        return "nips2003"
    return "svmlight" if _SVMLIGHT(said) else None


def _by_companions(path: Path, suffix: str) -> str | None:
    """Return the format of a .data file, by the files beside it."""
    if suffix != ".data":
        return None
    if labels_file(path).is_file() or param_file(path).is_file():
        return "nips2003"
    return "c45" if path.with_suffix(".names").is_file() else None


def _plain_suffix(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def companions(kind: str, path: Path, spec: Mapping[str, Any]) -> list[Path]:
    """Return the further files that a table of some format is read from, as far as they exist."""
    wanted = {
        "npz": [target_file(path, spec)],
        "c45": [path.with_suffix(".names")],
        "nips2003": [labels_file(path), param_file(path)],
    }
    return [file for file in wanted.get(kind, []) if file.is_file()]


UNPACK = "Unpack it; of packed files only gzip is read"
_PICKLE = "a pickle, which can run code and is not read. Save the table as Parquet or CSV"
_PICKLE_SIGNS = (
    b"\x80\x02",
    b"\x80\x03",
    b"\x80\x04",
    b"\x80\x05",
    b"ccopy_reg\n_reconstructor\n",
    b"(dp0\n",
    b"(lp0\n",
)
_SAVE = "Save the table as Parquet or CSV, in pandas by {}(path).to_parquet(...)"
#: First bytes that no text begins with, or none that is a table.
_SIGNS = {
    b"FEA1": "a Feather file of version 1. Write it again as version 2",
    b"Obj\x01": "an Avro file. Write it as Parquet",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "a workbook of an old office program. Save the table as .xlsx or CSV",
    GZIP_MAGIC: "compressed twice. Unpack it once",
    b"BZh": f"a bzip2 file. {UNPACK}",
    b"\xfd7zXZ\0": f"an xz file. {UNPACK}",
    b"7z\xbc\xaf\x27\x1c": f"a 7z archive. {UNPACK}",
    b"\x28\xb5\x2f\xfd": f"a zstd file. {UNPACK}",
    b"\x04\x22\x4d\x18": f"an lz4 file. {UNPACK}",
    b"%PDF": "a PDF document. Export the table as CSV",
    b"\x93NUMPY": "a numpy array alone. Save it with its target by numpy.savez(path, X=..., y=...)",
    _PICKLE_SIGNS: _PICKLE,
    (b"RDX3\n", b"RDX2\n", b"X\n\0\0\0"): "R's own format. Save the table in R by write.csv(..., row.names = FALSE)",
    b"version https://git-lfs": "a pointer of Git LFS and not the file itself. Fetch it by git lfs pull",
}
#: First bytes that text can have too: they count only in what is not text.
_SIGNS_OF_BYTES = (
    (re.compile(rb"ORC.*?\0", re.DOTALL), f"an ORC file. {_SAVE.format('read_orc')}"),
    (re.compile(rb"[\]})]q\0|[\]})]\x94|ccopy_reg\n"), _PICKLE),
    (re.compile(rb"\]\0\0[\0-\xff]"), f"an lzma file. {UNPACK}"),
)
_MARKUP = re.compile(rb"\s*<(!doctype|html|head|body|table|\?xml)\b", re.IGNORECASE).match
_JSON = re.compile(rb'\s*(\{\s*"|\[\s*[\[{])').match


def what_else(head: bytes) -> str | None:
    r"""Say what a file is that is not a table, by its first bytes, and what to do; None if it may be a table.

    Examples
    --------
    >>> what_else(b"Obj\x01..."), what_else(b"ORC,b\n1,2\n")
    ('an Avro file. Write it as Parquet', None)
    """
    for sign, what in _SIGNS.items():
        if head.startswith(sign):
            return what
    if b"ASCII SPSS PORT FILE" in head[:256]:
        return f"an SPSS file. {_SAVE.format('read_spss')}"
    if _MARKUP(head):
        return (
            "a page of HTML or XML, perhaps of an error instead of the file. Fetch it again, or save the table as CSV"
        )
    if _JSON(head):
        return "JSON. Save the table as CSV or Parquet"
    if head[257:262] == b"ustar":
        return f"a tar archive. {UNPACK}"
    if not _is_text(head):
        return _of_bytes(head)
    return None


def _is_text(head: bytes) -> bool:
    """Whether bytes are UTF-8 without NUL; the last character may be cut."""
    try:
        head[: len(head) - 3].decode()
    except UnicodeDecodeError as error:
        return error.end >= len(head) - 3 and b"\0" not in head
    return b"\0" not in head


def _of_bytes(head: bytes) -> str | None:
    for is_sign, what in _SIGNS_OF_BYTES:
        if is_sign.match(head):
            return what
    if head[:1] == b"x":  # of zlib, as joblib compresses by default
        try:
            begins = zlib.decompressobj().decompress(head, 64)
        except zlib.error:
            begins = b""
        if begins:
            return _PICKLE if begins.startswith(_PICKLE_SIGNS) else f"compressed by zlib. {UNPACK}"
    if head.count(b"\0") > len(head) / 4:
        return "not text: many of its bytes are zero, as in UTF-16. Save it as UTF-8, or set encoding"
    return None
