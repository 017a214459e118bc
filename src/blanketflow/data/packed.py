"""Packed files: a copy of what is in them, in the cache. Text in gzip is read without one (`input_file.opened`)."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ..core.errors import BlanketflowError, ConfigError, DataError, MemberNeeded, did_you_mean, shown
from .download import cache_folder, storing
from .input_file import COPIES, GZIP_MAGIC, Unpacking, opened

ZIP_MAGIC = b"PK\x03\x04"
#: What a zip archive holds that is a format of its own: an office document, or arrays of numpy.
_OF_FORMATS = ("[Content_Types].xml", "mimetype", ".npy")
#: How often a file may be packed, one in the other.
_MOST_ROUNDS = 3
_BLOCK = 2**20


class _Packing(NamedTuple):
    name: str
    open: Callable[[BinaryIO], Any]


def _zstd(stored: BinaryIO) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(stored, "zstd")


#: By the first bytes.
_PACKINGS = {
    GZIP_MAGIC: _Packing("gzip", gzip.open),
    b"BZh": _Packing("bzip2", bz2.open),
    b"\xfd7zXZ\0": _Packing("xz", lzma.open),
    b"\x28\xb5\x2f\xfd": _Packing("zstd", _zstd),
}
#: What unpacking a damaged file raises; a zip archive that needs a password is a RuntimeError.
_DAMAGED = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError)


@dataclass
class UserFile:
    """A file as the user has it, and where what is packed in it is read from."""

    stored: Path
    #: What is read: the file, or the copy of what is packed in it.
    path: Path
    #: The path of the file if it were unpacked in place: its companions lie beside it.
    beside: Path
    #: Whether the key `member` named a file of an archive, so that it is nothing for the reader.
    is_member: bool = False
    #: What messages call each copy and its folder.
    called: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> UserFile:
        """Return a file that is read where it is."""
        return cls(path, path, path.with_suffix("") if path.suffix == ".gz" else path)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Name the user's file, and not a copy, in errors."""
        try:
            yield
        except BlanketflowError as error:
            error.args = tuple(self._told(one) if isinstance(one, str) else one for one in error.args)
            raise

    def unpack(
        self,
        name: str,
        member: str | None = None,
        companions: Callable[[Path], Collection[Path]] = lambda _: (),
        is_text: bool = True,
    ) -> None:
        """Read from a copy what is packed in the file: of a zip archive, the file `member` and its `companions`.

        With `is_text`, a gzip file is not unpacked. Raises `ConfigError` if a zip archive holds several files, or none
        called `member`; `DataError` if the file is damaged or unpacks to too much.
        """
        for _ in range(_MOST_ROUNDS):
            path, inside = self.path, self.beside.parent
            with open(path, "rb") as stored:
                head = stored.read(8)
            if head.startswith(ZIP_MAGIC) and (held := _tables(path)):
                chosen = _chosen(name, path, held, member)
                if chosen == member:
                    self.is_member, member = True, None
                for one in [*({*map(str, companions(Path(chosen)))} & {*held}), chosen]:
                    packing = _Packing("zip", partial(_opened_in, member=one))
                    self.path = _copy(name, path, Path(one).name, packing, chosen)
                    self.called[str(self.path)] = self._told(f"{path} ({one})")
                self.beside, inside = self.path, path
            else:
                packing = next((one for magic, one in _PACKINGS.items() if head.startswith(magic)), None)
                if packing is None or (packing.name == "gzip" and is_text and not _is_zip_in_gzip(name, path)):
                    break
                self.path = _copy(name, path, path.name.removesuffix(path.suffix) if path.stem else path.name, packing)
                self.called[str(self.path)] = self._told(str(path))
                self.beside = self.beside.with_name(self.path.name)
            self.called[str(self.path.parent)] = self._told(str(inside))

    def _told(self, text: str) -> str:
        for copy, called in self.called.items():
            text = text.replace(copy, called)
        return text


def _is_zip_in_gzip(name: str, path: Path) -> bool:
    with opened(name, path) as raw:
        return raw.read(len(ZIP_MAGIC)) == ZIP_MAGIC


def _tables(path: Path) -> list[str]:
    """Return the files of a zip archive; none if they are of a format of its own, or the archive is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            held = [one.filename for one in archive.infolist() if not f"/{one.filename}".endswith("/")]
    except (*_DAMAGED, NotImplementedError):  # which reading reports
        return []
    if any(one in _OF_FORMATS or one.endswith(_OF_FORMATS[-1]) for one in held):
        return []
    return [one for one in held if not one.startswith("__MACOSX/") and not Path(one).name.startswith(".")]


def _chosen(name: str, path: Path, held: list[str], member: str | None) -> str:
    if member is not None and len(held) > 1:
        if member not in held:
            raise ConfigError(f"{name}: {path} holds no file {shown(member)}. {did_you_mean(member, held)}")
        return member
    if len(held) > 1:
        some = ", ".join(map(repr, held[:6])) + (", ..." if len(held) > 6 else "")
        raise MemberNeeded(
            f"{name}: {path} holds {len(held)} files: {some}. Name the one with the table by the key member, such as "
            f"member: {json.dumps(held[0])}."
        )
    return held[0]


@contextmanager
def _opened_in(stored: BinaryIO, member: str) -> Iterator[BinaryIO]:
    with zipfile.ZipFile(stored) as archive, archive.open(member) as file:
        yield file


def _copy(name: str, path: Path, called: str, packing: _Packing, table: str = "") -> Path:
    """Return the copy of what a file holds, made once for each state of the file, in the folder of a `table` in it."""
    state = path.stat()
    told = json.dumps([str(path.absolute()), state.st_size, state.st_mtime_ns, table or called, packing.name])
    folder = hashlib.blake2b(told.encode(), digest_size=8).hexdigest()
    copy = cache_folder() / COPIES / folder / (called[-100:] or "table")
    if copy.is_file():
        return copy
    with storing(name, copy) as temporary, open(temporary, "wb") as file, open(path, "rb") as stored:
        unpacking = Unpacking(name, path)
        for block in _blocks(name, path, stored, packing):
            unpacking.add(len(block))
            file.write(block)
    return copy


def _blocks(name: str, path: Path, stored: BinaryIO, packing: _Packing) -> Iterator[bytes]:
    try:
        with packing.open(stored) as file:
            while block := file.read(_BLOCK):
                yield block
    except (*_DAMAGED, NotImplementedError) as error:
        said = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        raise DataError(f"{name}: {path} is a damaged {packing.name} file ({said}). Fetch or pack it again.") from error
