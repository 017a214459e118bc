"""Identity and provenance of artefacts: jobs write them, and the plan compares them.

A result is identified by its metadata, not by place or age. Inputs count by content, not by place or writer.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..core.errors import ArtefactError, ForeignArtefactError
from ..data.artefacts import read_arrow, read_checksum, read_provenance
from ..data.download import is_web
from ..data.external_stages import supplied_content
from ..data.provenance import WHOLE_BYTES, Provenance
from .layout import parse

#: Largest source file that is compared by content; larger ones are compared by size and time.
MOST_BYTES = 10**9
#: Keys of a data set's spec with the places of its files, which are inputs.
_PLACES = ("path", "target_path")


def made(artefact: str, path: Path, inputs: Iterable[Path | str], spec: str, code: str, seed: int) -> Provenance:
    """Return the provenance of an artefact before it is written.

    `inputs` are paths or digests in the order of `up_to_date`. Raises `ArtefactError` for damaged or misplaced ones.
    """
    digests = [one if isinstance(one, str) else content_of(one) for one in inputs]
    return Provenance(spec=spec, seed=seed, code=code, what=what_of(artefact, path), inputs=digests)


def stands(path: Path, planned: Provenance) -> bool:
    """Return whether the artefact exists, undamaged and equal to the planned one; if so its time is renewed.

    This happens only in jobs with several outputs: before all others Snakemake removes old outputs.
    """
    try:
        found = read_arrow(path)[1]
    except ArtefactError:
        return False
    if found.identity != planned.identity:
        return False
    os.utime(path)  # for Snakemake, which looks at times
    return True


def what_of(artefact: str, path: Path) -> dict[str, str]:
    """Return the artefact name and the ids in a path, if a run writes there."""
    try:
        return {"artefact": artefact, **parse(path, [artefact]).ids}
    except ArtefactError:
        return {"artefact": artefact}


def content_of(path: Path) -> str:
    """Return the content digest in an artefact's metadata; for another file, the digest of its bytes.

    Raises `ArtefactError` if an artefact is damaged or misplaced.
    """
    if path.suffix == ".json":
        return read_checksum(path)
    if path.suffix != ".parquet":
        return digest_of_file(path)
    try:
        provenance = read_provenance(path)
    except ForeignArtefactError:  # which a plan lets stand only if the config declares it
        return supplied_content(path)
    check_place(path, provenance)
    return provenance.content


def check_place(path: Path, provenance: Provenance) -> None:
    """Raise `ArtefactError` if an artefact does not match its path."""
    said = provenance.what
    if said and said != what_of(said["artefact"], path):
        told = " ".join(f"{name}={value}" for name, value in said.items())
        raise ArtefactError(f"{path} is another artefact ({told}). Run again: it is made again.")


def contents_beside(path: Path, others: Iterable[Path]) -> dict[str, str]:
    """Return the content digests of files made with an artefact, by their path relative to its folder."""
    return {other.relative_to(path.parent).as_posix(): content_of(other) for other in others}


def digest_of_file(path: Path) -> str:
    """Return the digest of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=WHOLE_BYTES)).hexdigest()


def source_digests(paths: Sequence[str | Path]) -> list[str]:
    """Return digests of the content of a data set's files, independent of place and time.

    For files above `MOST_BYTES` size and time are used, because reading them takes minutes.
    """
    found = []
    for path in map(Path, paths):
        state = path.stat()
        is_small = state.st_size <= MOST_BYTES
        found.append(digest_of_file(path) if is_small else f"{state.st_size} bytes at {state.st_mtime_ns}")
    return found


def without_places(spec: str) -> str:
    """Return a data set's spec with paths replaced by the kinds of their files, which determine how they are read.

    >>> without_places('{"path":"/srv/data/wine.tar.gz","target":"y"}')
    '{"path":".tar.gz","target":"y"}'
    """
    asked = json.loads(spec)
    kinds: dict[str, Any] = {name: _kind(asked[name]) for name in _PLACES if asked.get(name)}
    if labels := asked.get("labels"):
        kinds["labels"] = {**labels, "path": _kind(labels["path"])}
    return json.dumps({**asked, **kinds}, sort_keys=True, separators=(",", ":"))


def _kind(path: str) -> str:
    """Return the suffix of a file name or of the path of a URL, without its query."""
    name = re.split("[?#;]", path.partition("://")[2])[0] if is_web(path) else path
    return "".join(Path(name).suffixes)
