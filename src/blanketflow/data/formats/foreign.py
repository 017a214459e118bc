"""Files of other programs, which are not read: told by their first bytes, with what they are and the way out."""

from __future__ import annotations

import re
import zlib

from ..input_file import GZIP_MAGIC

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
