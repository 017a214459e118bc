"""Finds the format of a file by its content, then by its name. The key `format` overrides both."""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.errors import ConfigError, DataError
from ...core.formats import FORMATS, find_format, known_formats
from ...core.registry import import_name
from ..dialect import is_encoding, marked_encoding
from ..input_file import GZIP_MAGIC, opened
from .nips2003 import labels_file, param_file
from .orange import is_orange

_HEAD_BYTES = 64_000
_PAIRS = r"(\s+\d+:[-+.\deEnaif]+)+\s*(#.*)?"
_SVMLIGHT = re.compile(rf"[-+.\deE,]+(\s+qid:\d+)?{_PAIRS}").fullmatch
_NIPS2003 = re.compile(rf"\d+:[-+.\deE]+({_PAIRS})?\s*").fullmatch


def tell_format(name: str, path: Path, unpacked: Path, spec: Mapping[str, Any]) -> str:
    """Return the name of a file's format, one of `core.formats.known_formats` or ``"module:NAME"``.

    `unpacked` is its path if it were unpacked in place, which its companions lie beside.

    Raises `ConfigError` if the spec asks for an unknown format, `DataError` if the file is empty or cannot be read.
    """
    asked = spec.get("format")
    try:
        formats = {one: find_format(one) for one in ([asked] if asked else known_formats())}
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from error
    if path.is_dir():
        return asked or "parquet-folder"
    with opened(name, path) as raw:
        head = raw.read(_HEAD_BYTES)
    if not head:
        raise DataError(f"{name}: {path} is empty. It needs a header with column names and rows below it.")
    if asked:
        return asked
    suffix = unpacked.suffix.lower()
    if begun := [one for one, form in formats.items() if form.recognises(head)]:
        found = next((one for one in begun if suffix in formats[one].suffixes), begun[0])
        return found if found != "npz" else _in_a_zip(name, path, head)
    if encoding := spec.get("encoding") or marked_encoding(head):
        head = head.decode(encoding, errors="ignore").encode(errors="ignore") if is_encoding(encoding) else head
    if is_json(head):
        return "json"
    if refused := what_else(head):
        raise DataError(f"{name}: {path} is {refused}.")
    if spec.get("header") == "none":
        return "csv"
    lines = head.decode("utf-8-sig", errors="replace").splitlines()
    by_name = next((one for one, form in formats.items() if suffix in form.suffixes), None)
    return _by_lines(lines, suffix) or by_name or _by_companions(unpacked, suffix) or "csv"


def _in_a_zip(name: str, path: Path, head: bytes) -> str:
    """Return ``xlsx`` or ``npz`` by an archive's files; ``npz`` if it is damaged, which reading reports."""
    try:
        with zipfile.ZipFile(path) as archive:
            held = archive.namelist()
    except (zipfile.BadZipFile, OSError, RuntimeError, ValueError):  # a later version of zip is a RuntimeError
        held = ["[Content_Types].xml"] if b"[Content_Types].xml" in head[:2000] else []
    if "xl/workbook.xml" in held:
        return "xlsx"
    if "mimetype" in held and "content.xml" in held and _OF_SHEETS in head[:200]:
        return "ods"
    if "[Content_Types].xml" in held or "mimetype" in held:
        raise DataError(
            f"{name}: {path} is a binary workbook or a document of an office program. Save the table as .xlsx or CSV."
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


def companions(kind: str, path: Path, spec: Mapping[str, Any]) -> list[Path]:
    """Return the further files that a table of some format is read from, as far as they exist."""
    function = find_format(kind).companions
    return [file for file in import_name(function)(path, spec) if file.is_file()] if function else []


def possible_companions(path: Path, spec: Mapping[str, Any]) -> list[Path]:
    """Return the further files that a table may have, whatever its format."""
    functions = [form.companions for form in FORMATS.values() if form.companions]
    return [file for function in functions for file in import_name(function)(path, spec)]


UNPACK = "Unpack it; of packed files gzip, bzip2, xz, zstd and zip are read"
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
    (GZIP_MAGIC, b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"): "compressed twice. Unpack it once",
    b"7z\xbc\xaf\x27\x1c": f"a 7z archive. {UNPACK}",
    b"\x04\x22\x4d\x18": f"an lz4 file. {UNPACK}",
    b"%PDF": "a PDF document. Export the table as CSV",
    b"\x93NUMPY": "a numpy array alone. Save it with its target by numpy.savez(path, X=..., y=...)",
    _PICKLE_SIGNS: _PICKLE,
    b"version https://git-lfs": "a pointer of Git LFS and not the file itself. Fetch it by git lfs pull",
}
#: First bytes that text can have too: they count only in what is not text.
_SIGNS_OF_BYTES = (
    (re.compile(rb"[\]})]q\0|[\]})]\x94|ccopy_reg\n"), _PICKLE),
    (re.compile(rb"\]\0\0[\0-\xff]"), f"an lzma file. {UNPACK}"),
)
_MARKUP = re.compile(rb"\s*<(!doctype|html|head|body|table|\?xml)\b", re.IGNORECASE).match
_JSON = re.compile(rb'\s*(\{\s*"|\[\s*[\[{])').match
#: An object a line, or a list of objects.
_RECORDS = re.compile(rb"\s*\[\s*\{").match
#: In an OpenDocument file the type comes first, and is not compressed.
_OF_SHEETS = b"opendocument.spreadsheet"


def is_json(head: bytes) -> bool:
    r"""Return whether a file has an object of JSON in each line, or is a list of objects.

    >>> is_json(b'{"a": 1}\n{"a": 2}'), is_json(b'[{"a": 1}]'), is_json(b'{"a": [1, 2]}'), is_json(b'{"a"')
    (True, True, False, False)
    """
    head = head.removeprefix(b"\xef\xbb\xbf")
    if _RECORDS(head):
        return True
    if not _JSON(head):
        return False
    line, _, rest = head.strip().partition(b"\n")
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and (bool(rest) or not any(isinstance(x, list | dict) for x in found.values()))


def what_else(head: bytes) -> str | None:
    r"""Return what a file is if it is no table, by its first bytes, and what to do; None if it may be a table.

    >>> what_else(b"%PDF-1.7..."), what_else(b"7z,b\n1,2\n")
    ('a PDF document. Export the table as CSV', None)
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
        return "JSON, but neither an object in each line nor a list of objects. Save the table as CSV or Parquet"
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
