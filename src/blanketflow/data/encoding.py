"""The encoding of a text file: told by its first bytes, asked for by a key, or found where the text is not UTF-8."""

from __future__ import annotations

import codecs
import io
import re
from typing import Any, BinaryIO

#: Those of UTF-32 come first, because one of them begins with one of UTF-16.
_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
#: What Latin-1 is in practice: the same letters, and signs in place of control characters.
SINGLE_BYTE = "windows-1252"
_BLOCK = 2**15
_OF_UTF_8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HIGH = re.compile(rb"[\x80-\xff]")
#: Control characters that no table holds, and bytes that Windows-1252 leaves open.
_NOT_TEXT = re.compile(rb"[\0-\x08\x0e-\x1f\x7f\x81\x8d\x8f\x90\x9d]")


def is_encoding(name: str) -> bool:
    """Return whether Python knows an encoding of text by this name.

    >>> is_encoding("latin-1"), is_encoding("latin-99"), is_encoding("zlib")
    (True, False, False)
    """
    try:
        return bool(getattr(codecs.lookup(name), "_is_text_encoding", True))
    except (LookupError, ValueError):  # a name with a NUL
        return False


def marked_encoding(head: bytes) -> str | None:
    """Return the encoding that a byte order mark tells; None for UTF-8 and where there is no mark.

    >>> marked_encoding("a".encode("utf-16")), marked_encoding(b"a,b")
    ('utf-16', None)
    """
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), None)


def is_single_byte(raw: BinaryIO, most: float = float("inf")) -> bool:
    """Return whether bytes that are not UTF-8 may be Windows-1252, of which Latin-1 is a part.

    It looks at `most` of them, or up to the first that are not ASCII.

    A file of UTF-8 with some damaged characters is not: in it, more characters are whole than damaged.
    """
    n_whole = n_others = n_read = 0
    while (n_read < most or not n_others + n_whole) and (block := raw.read(2**20)):
        if _NOT_TEXT.search(block):
            return False
        n_read += len(block)
        whole = _OF_UTF_8.findall(block)
        n_whole += len(whole)
        n_others += len(_HIGH.findall(block)) - sum(map(len, whole))
    return n_others > n_whole


class Recoded(io.RawIOBase):
    """Reads a text of another encoding as UTF-8."""

    def __init__(self, raw: BinaryIO, encoding: str) -> None:
        self._raw, self._left = raw, b""
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ended = False
        #: Bytes read from the other file, and bytes of UTF-8 that they make.
        self.n_read = self.n_made = 0

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, and return how many bytes."""
        while not self._left and not self._ended:
            block = self._raw.read(_BLOCK)
            self._ended = not block
            self._left = self._decoder.decode(block, final=self._ended).encode()
            self.n_read, self.n_made = self.n_read + len(block), self.n_made + len(self._left)
        n = min(len(buffer), len(self._left))
        buffer[:n], self._left = self._left[:n], self._left[n:]
        return n
