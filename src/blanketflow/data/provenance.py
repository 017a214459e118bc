"""What an artefact says of itself: what it is, what it was made from, how that ended, and digests of all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import __version__
from ..core.errors import EarlierArtefactError, ForeignArtefactError
from .arrow import bits_of, codes_from_arrow, joined, numbers_from_arrow

# --- digests of what an artefact says: names, types and values, however a writer of Parquet lays them out in bytes ----
#
# Each column of each block of rows has a digest of its own, so that one which is read alone is checked alone.

#: Bytes of a column's digest in one block, and of the digest of a whole artefact.
PART_BYTES, WHOLE_BYTES = 8, 16


def part_digests(table: Any, declared: Sequence[Any] | None = None) -> list[str]:
    """Return the hexadecimal digest of each column of an Arrow table, the rows of one block.

    `declared` are the types under which they were written, if some texts were read as codes and levels.
    """
    types = table.schema.types if declared is None else declared
    return [_digest(joined(column), kind) for column, kind in zip(table.itercolumns(), types, strict=True)]


def schema_texts(schema: Any) -> list[list[str]]:
    """Return names and types as texts, without what Parquet does not keep of them."""
    return [[field.name, _type_text(field.type)] for field in schema]


def _type_text(kind: Any) -> str:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):  # not how wide its codes are
        return f"categories of {_type_text(kind.value_type)}"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        items = kind.value_field.name.replace("item", "element")  # Arrow's and Parquet's word for them
        return f"lists of {items} {_type_text(kind.value_type)}"
    return str(kind)


def whole_digest(parts: Iterable[Any]) -> str:
    """Return the digest of some values as a hexadecimal text; their `repr` says what they are."""
    return hashlib.blake2b(repr(list(parts)).encode(), digest_size=WHOLE_BYTES).hexdigest()


def _digest(array: Any, declared: Any) -> str:
    import pyarrow as pa

    hasher = hashlib.blake2b(digest_size=PART_BYTES)
    if pa.types.is_dictionary(array.type) and not pa.types.is_dictionary(declared):
        _add_coded_texts(hasher, array)
    else:
        _add(hasher, array)
    return hasher.hexdigest()


def _add(hasher: Any, array: Any) -> None:
    """Add the values of an array: how many, which of them are null, and the others; what lies in nulls is left out."""
    import pyarrow as pa

    n, kind = len(array), array.type
    known = None
    if array.null_count and not pa.types.is_null(kind):
        known = bits_of(array.buffers()[0], array.offset, n)
    hasher.update(b"%d %d;" % (n, array.null_count))
    if known is not None:
        hasher.update(np.packbits(known))
    if not n or pa.types.is_null(kind):
        return
    if pa.types.is_dictionary(kind):
        _add_categories(hasher, array)
    elif pa.types.is_boolean(kind):
        bits = bits_of(array.buffers()[1], array.offset, n)
        hasher.update(np.packbits(bits if known is None else bits & known))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        bounds = numbers_from_arrow(array.offsets).astype(np.int64)
        hasher.update(np.diff(bounds))
        _add(hasher, array.values.slice(bounds[0], bounds[-1] - bounds[0]))
    elif pa.types.is_primitive(kind):
        _add_fixed(hasher, array, known)
    elif any(is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_large_string)):
        _add_texts(hasher, array, np.int32 if pa.types.is_string(kind) else np.int64)
    else:
        hasher.update(repr(array.to_pylist()).encode())


def _add_fixed(hasher: Any, array: Any, known: np.ndarray | None) -> None:
    width = array.type.bit_width // 8
    cells = np.frombuffer(array.buffers()[1], dtype=f"u{width}", count=len(array), offset=array.offset * width)
    hasher.update(cells if known is None else np.where(known, cells, cells.dtype.type(0)))


def _add_texts(hasher: Any, array: Any, offset_type: type[np.signedinteger[Any]]) -> None:
    _, places, held = array.buffers()
    size = np.dtype(offset_type).itemsize
    bounds = np.frombuffer(places, dtype=offset_type, count=len(array) + 1, offset=array.offset * size)
    hasher.update(np.diff(bounds.astype(np.int64)))
    if held is not None:
        hasher.update(np.frombuffer(held, dtype=np.uint8)[bounds[0] : bounds[-1]])


def _add_coded_texts(hasher: Any, array: Any) -> None:
    """Add texts that were read as codes and levels, as if they had been read as texts; a million at a time."""
    levels = np.array([text.encode() for text in array.dictionary.to_pylist()] + [b""], dtype=object)
    codes = codes_from_arrow(array)
    hasher.update(b"%d %d;" % (len(array), array.null_count))
    if array.null_count:
        hasher.update(np.packbits(codes >= 0))
    if len(array):
        hasher.update(np.array([len(level) for level in levels], dtype=np.int64)[codes])
    for start in range(0, len(codes), 1_000_000):
        hasher.update(b"".join(levels[codes[start : start + 1_000_000]]))


def _add_categories(hasher: Any, array: Any) -> None:
    """Add the levels in their own order and the codes of that order: chunks of a file may number levels anew."""
    labels: Sequence[Any] = array.dictionary.to_pylist()
    levels = sorted({label for label in labels if label is not None})
    place = {level: code for code, level in enumerate(levels)}
    codes = np.array([place.get(label, -1) for label in labels] + [-1], dtype=np.int64)
    hasher.update(repr(levels).encode())
    hasher.update(codes[codes_from_arrow(array)])


#: What a stage can say of itself, the most serious last.
STATUSES = ("ok", "unreliable", "timeout", "error")
#: What an artefact is: its name in `blanketflow.workflow.layout`, and the ids in its path.
WHAT = ("artefact", "dataset", "split", "folds", "fold", "test", "chunk", "shard", "selector", "table")
#: The columns that say how long something took, by artefact: two equal results differ in them.
TIMED = {
    "folds": ("seconds",),
    "evaluate": ("seconds",),
    "evaluate_optimistic": ("seconds",),
    "result_table": ("selection_seconds", "evaluation_seconds"),
}
_TEXTS = ("spec", "seed", "status", "reason", "n_tests", "seconds", "version", "code")
_LISTS = ("extra", "inputs", "beside")
#: What the metadata's checksum leaves out: seconds, and what is compared with other things than itself.
_UNCHECKED = ("seconds", "seconds_parts", "beside", "checksum")


class DamagedError(ValueError):
    """A file is not as it was written."""


@dataclass
class Provenance:
    """The metadata of an artefact: what it is, what it was made from, and its status.

    Parameters
    ----------
    spec : str
        Everything that was asked for, as canonical JSON.
    seed : int
        The seed from which the stage derived its random numbers.
    status : {"ok", "timeout", "unreliable", "error"}
        With ``error`` the rows are no result; neither with ``timeout``, unless `extra` has ``anytime``: then they are
        the result when a limit was reached. ``unreliable`` results need care.
    reason : str
        Why the status is not ``ok``, else empty.
    n_tests : int
        CI tests computed.
    seconds : float
        Wall seconds of the stage. Equal results may differ in it.
    version : str
        Version of blanketflow, for information.
    extra : dict
        More facts, as JSON types.
    what : dict of str to str
        ``artefact``, and those ids of `WHAT` that apply.
    code : str
        Digest of the code that can change the result.
    inputs : list of str
        Content digests of its inputs, in the order of `blanketflow.workflow.up_to_date`.
    content : str
        Digest of names, types and values of its columns, and the status; set when it is read. Like `inputs`, it does
        not depend on times.
    beside : dict of str to str
        Content digests of the files made with it, by their path from its folder.
    """

    spec: str = "{}"
    seed: int = 0
    status: str = "ok"
    reason: str = ""
    n_tests: int = 0
    seconds: float = 0.0
    version: str = __version__
    extra: dict[str, Any] = field(default_factory=dict)
    what: dict[str, str] = field(default_factory=dict)
    code: str = ""
    inputs: list[str] = field(default_factory=list)
    content: str = ""
    beside: dict[str, str] = field(default_factory=dict)

    def to_metadata(self, schema: Any, parts: Sequence[Sequence[str]], blocks: Sequence[int]) -> dict[bytes, bytes]:
        """Return a Parquet file's key-value metadata, one text per key.

        `parts` and `blocks` are the `part_digests` and the number of rows of each block of rows.
        """
        texts = {name: str(getattr(self, name)) for name in _TEXTS} | self.what
        texts |= {name: _json(getattr(self, name)) for name in _LISTS}
        timed = timed_columns(self.what, schema)
        for name, places in (("parts", set(range(len(schema))) - timed), ("seconds_parts", timed)):
            texts[name] = "".join(block[at] for block in parts for at in sorted(places))
        texts["blocks"] = _json(list(blocks))
        texts["content"] = _content_digest(texts, schema)
        texts["checksum"] = _checksum_of(texts)
        return {name.encode(): text.encode() for name, text in texts.items()}

    @classmethod
    def from_metadata(cls, metadata: Mapping[bytes, bytes], schema: Any) -> Provenance:
        """Return the provenance that `to_metadata` wrote.

        Raises `ForeignArtefactError` or `EarlierArtefactError` if another program or version wrote it; `DamagedError`,
        KeyError or ValueError if it was changed.
        """
        texts = _checked_texts(metadata, schema)
        known = {name: texts[name] for name in ("spec", "status", "reason", "version", "code", "content")}
        numbers = {"seed": int(texts["seed"]), "n_tests": int(texts["n_tests"]), "seconds": float(texts["seconds"])}
        lists = {name: json.loads(texts[name]) for name in _LISTS}
        return cls(**known, **numbers, **lists, what={name: texts[name] for name in WHAT if name in texts})

    @property
    def identity(self) -> str:
        """A digest of what the artefact is and what it was made from."""
        return identity_of(self.what, self.spec, self.code, self.inputs)

    @property
    def usable(self) -> bool:
        """Whether the rows are a result."""
        return self.status != "error" and (self.status != "timeout" or bool(self.extra.get("anytime")))


def identity_of(what: Mapping[str, str], spec: str, code: str, inputs: Sequence[str]) -> str:
    """Return a digest of what an artefact is and what it is made from; see `Provenance`."""
    return whole_digest([sorted(what.items()), spec, code, list(inputs)])


def timed_columns(what: Mapping[str, str], schema: Any) -> set[int]:
    """Return which columns of an artefact say how long something took."""
    names = TIMED.get(what.get("artefact", ""), ())
    return {at for at, name in enumerate(schema.names) if name in names}


def _content_digest(texts: Mapping[str, str], schema: Any) -> str:
    """Return the digest of what an artefact says; which code and version said it is left out."""
    said = [texts[name] for name in ("parts", "blocks", "status", "reason", "n_tests", "extra")]
    return whole_digest([schema_texts(schema), *said])


def _checksum_of(texts: Mapping[str, str]) -> str:
    return whole_digest(sorted((name, text) for name, text in texts.items() if name not in _UNCHECKED))


def _checked_texts(metadata: Mapping[bytes, bytes], schema: Any) -> dict[str, str]:
    ours = {*_TEXTS, *_LISTS, *WHAT, "parts", "seconds_parts", "blocks", "content", "checksum"}
    texts = {name: metadata[name.encode()].decode() for name in ours if name.encode() in metadata}
    if "checksum" not in texts:
        if {"spec", "version"} <= texts.keys():
            raise EarlierArtefactError("it was written by blanketflow 0.1.0")
        raise ForeignArtefactError("it was not written by blanketflow")
    if texts["checksum"] != _checksum_of(texts) or texts["content"] != _content_digest(texts, schema):
        raise DamagedError("its digest is not that of its content")
    return texts


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
