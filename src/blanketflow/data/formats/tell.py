"""Which format a file has: told by its content, then by its name; the key `format` overrides both."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.errors import ConfigError, DataError, did_you_mean
from ...core.formats import FORMATS
from ..arrays import ZIP_MAGIC
from ..arrow import PARQUET_MAGIC
from ..text_file import opened
from .nips2003 import labels_file, param_file
from .orange import is_orange

_HDF = b"\x89HDF\r\n\x1a\n"
#: First bytes, and where they stand.
_MAGIC = (
    (0, ZIP_MAGIC, "npz"),
    (0, PARQUET_MAGIC, "parquet"),
    (0, b"ARROW1", "arrow"),
    (0, b"\xff\xff\xff\xff", "arrow"),  # a stream
    (0, _HDF, "h5ad"),
    (0, b"MATLAB", "matlab"),
    (0, b"SQLite format 3\0", "sqlite"),
    (8, b"DUCK", "duckdb"),
)
#: What is told in the first bytes, but not read.
_REFUSED = {
    b"[Content_Types].xml": "a workbook or document of an office program. Save the table as CSV",
    b"FEA1": "a Feather file of version 1. Write it again as version 2",
}
_SUFFIXES = {".mat": "matlab", ".arff": "arff", ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight"}
_HEAD_BYTES = 64_000
_PAIRS = r"(\s+\d+:[-+.\deEnaif]+)+\s*(#.*)?"
_SVMLIGHT = re.compile(rf"[-+.\deE,]+(\s+qid:\d+)?{_PAIRS}").fullmatch
_NIPS2003 = re.compile(rf"\d+:[-+.\deE]+({_PAIRS})?\s*").fullmatch


def tell_format(name: str, path: Path, spec: Mapping[str, Any]) -> str:
    """Return which of `core.formats.FORMATS` a file has.

    Raises
    ------
    ConfigError
        If the spec asks for another format.
    DataError
        If the file is empty or cannot be read.
    """
    asked = spec.get("format")
    if asked and asked not in FORMATS:
        raise ConfigError(f"{name}: format is {asked!r}. {did_you_mean(asked, FORMATS)}")
    with opened(name, path) as raw:
        head = raw.read(_HEAD_BYTES)
    if not head:
        raise DataError(f"{name}: {path} is empty.")
    if asked:
        return asked
    for sign, what in _REFUSED.items():
        if sign in head[:2000]:
            raise DataError(f"{name}: {path} is {what}.")
    for at, magic, found in _MAGIC:
        if head[at:].startswith(magic):
            return found
    suffix = _plain_suffix(path)
    if spec.get("header") == "none":
        return "csv"
    lines = head.decode("utf-8-sig", errors="replace").splitlines()
    return _by_lines(lines, suffix) or _SUFFIXES.get(suffix) or _by_companions(path, suffix) or "csv"


def _by_lines(lines: list[str], suffix: str) -> str | None:
    """Tell a format by the first lines, if they can belong to no table with a header."""
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
    """Tell the format of a .data file by what stands beside it."""
    if suffix != ".data":
        return None
    if labels_file(path).is_file() or param_file(path).is_file():
        return "nips2003"
    return "c45" if path.with_suffix(".names").is_file() else None


def _plain_suffix(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def companions(kind: str, path: Path, spec: Mapping[str, Any]) -> list[Path]:
    """Return the files that a table of some format is read from besides its own, those that exist."""
    if kind == "npz":
        wanted = [Path(spec.get("target_path") or path.with_suffix(".y.csv"))]
    else:
        own = {"c45": [path.with_suffix(".names")], "nips2003": [labels_file(path), param_file(path)]}
        wanted = own.get(kind, [])
    return [file for file in wanted if file.is_file()]
