"""What an artefact says of itself: what it is, what it was made from, how that ended, and digests of all of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import __version__
from ..core.errors import EarlierArtefactError, ForeignArtefactError
from .content import schema_texts, whole_digest

#: What a stage can say of itself, the most serious last.
STATUSES = ("ok", "unreliable", "timeout", "error")
#: What an artefact is: its name in `blanketflow.workflow.layout`, and the ids that its path holds.
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
    """The key-value metadata of an artefact: what it is, what it was made from, and how that ended.

    Parameters
    ----------
    spec : str
        Canonical JSON of everything that was asked for.
    seed : int
        The seed that the stage derived its random numbers from.
    status : {"ok", "timeout", "unreliable", "error"}
        ``error`` means that the rows are not a result; so does ``timeout``, unless `extra` says ``anytime``: then they
        are what stood when a limit struck. ``unreliable`` rows are a result to be read with care.
    reason : str
        Why the status is not ``ok``; empty otherwise.
    n_tests : int
        CI tests computed.
    seconds : float
        Wall seconds of the stage. Not part of what "equal results" means.
    version : str
        Version of blanketflow, for information only.
    extra : dict
        More facts of this artefact, JSON types only.
    what : dict of str to str
        What it is: ``artefact``, and the ids that apply of `WHAT`.
    code : str
        Digest of the code that can change the result.
    inputs : list of str
        The content digests of what it was made from, in the order of `blanketflow.workflow.up_to_date`.
    content : str
        The digest of what it says: names, types and values of its columns, and how it ended. Set when it is read.
        Neither it nor `inputs` depends on how long anything took.
    beside : dict of str to str
        The content digests of files that are made with it, by their path from its folder.
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
        """Return the key-value metadata of a Parquet file: one text per key.

        Parameters
        ----------
        schema : pyarrow.Schema
            Names and types of the columns.
        parts : sequence of sequences of str
            `part_digests` of each block of rows.
        blocks : sequence of int
            Rows of each block.
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

        Raises
        ------
        ForeignArtefactError, EarlierArtefactError
            If another program, or an earlier version of blanketflow, wrote the file.
        DamagedError, KeyError, ValueError
            If it is not as it was written.
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
