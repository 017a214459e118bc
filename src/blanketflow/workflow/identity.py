"""What an artefact is and what it was made from: the jobs write it down, and the plan compares it.

A result is what its metadata says, not where it lies or how old it is. Inputs count by what they say, so it does not
matter where a source lies, or which version wrote an input.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..core.errors import ArtefactError, ForeignArtefactError
from ..data.artefacts import read_arrow, read_checksum, read_provenance
from ..data.download import is_web
from ..data.external_stages import supplied_content
from ..data.provenance import WHOLE_BYTES, Provenance
from .layout import parse

#: Largest source file of which the content counts; of a larger one size and time do.
MOST_BYTES = 10**9
#: Keys of a data set's spec that say where its files are, which are inputs.
_PLACES = ("path", "target_path")


def made(artefact: str, path: Path, inputs: Iterable[Path | str], spec: str, code: str, seed: int) -> Provenance:
    """Return the provenance of an artefact that is about to be made.

    Parameters
    ----------
    artefact : str
        Its name in `blanketflow.workflow.layout.PATHS`.
    path : path
        Where it will be; its ids are taken from there.
    inputs : iterable of paths, or of content digests
        What it is made from, in the order of `blanketflow.workflow.up_to_date`.
    spec, code : str
        What was asked for, and the digest of the code.
    seed : int
        The seed that its random numbers are derived from.

    Raises
    ------
    ArtefactError
        If an input is damaged, or lies where it does not belong.
    """
    digests = [one if isinstance(one, str) else content_of(one) for one in inputs]
    return Provenance(spec=spec, seed=seed, code=code, what=what_of(artefact, path), inputs=digests)


def stands(path: Path, planned: Provenance) -> bool:
    """Return whether an artefact lies there undamaged that is what is about to be made; it then counts as made now.

    Only a job that does several things meets one: of all others Snakemake has removed what they make again.
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
    """Return what an artefact is by its place: its name and the ids of its path, if a run writes there."""
    try:
        return {"artefact": artefact, **parse(path, [artefact]).ids}
    except ArtefactError:
        return {"artefact": artefact}


def content_of(path: Path) -> str:
    """Return the content digest of an artefact, by its own word; of another file, the digest of its bytes.

    Raises
    ------
    ArtefactError
        If it is an artefact and damaged, or does not belong where it lies.
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
    """Raise `ArtefactError` if an artefact is another one than its path says."""
    said = provenance.what
    if said and said != what_of(said["artefact"], path):
        told = " ".join(f"{name}={value}" for name, value in said.items())
        raise ArtefactError(f"{path} is another artefact ({told}). Run again: it is made again.")


def contents_beside(path: Path, others: Iterable[Path]) -> dict[str, str]:
    """Return the content digests of files that are made with an artefact, by their path from its folder."""
    return {other.relative_to(path.parent).as_posix(): content_of(other) for other in others}


def digest_of_file(path: Path) -> str:
    """Return the digest of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=WHOLE_BYTES)).hexdigest()


def source_digests(paths: Sequence[str | Path]) -> list[str]:
    """Return what changes with the content of a data set's files, whatever their place and time.

    Of files of more than `MOST_BYTES` it is size and time, so that a look at them takes no minutes.
    """
    found = []
    for path in map(Path, paths):
        state = path.stat()
        is_small = state.st_size <= MOST_BYTES
        found.append(digest_of_file(path) if is_small else f"{state.st_size} bytes at {state.st_mtime_ns}")
    return found


def without_places(spec: str) -> str:
    """Return a data set's spec with only the kinds of its files, which say how they are read, for their paths.

    Examples
    --------
    >>> without_places('{"path":"/srv/data/wine.tar.gz","target":"y"}')
    '{"path":".tar.gz","target":"y"}'
    """
    asked = json.loads(spec)
    kinds = {name: _kind(asked[name]) for name in _PLACES if asked.get(name)}
    return json.dumps({**asked, **kinds}, sort_keys=True, separators=(",", ":"))


def _kind(path: str) -> str:
    """Return the end of a file's name; of a URL that of its path, since a query is no part of the name."""
    name = re.split("[?#;]", path.partition("://")[2])[0] if is_web(path) else path
    return "".join(Path(name).suffixes)
