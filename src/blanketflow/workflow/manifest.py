"""What was known of each artefact when it was last looked at, so that a plan opens only files that have changed since.

A file whose size and time are as they were says what it said then; of any other everything is read. A job checks what
it reads in any case.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..core.errors import ArtefactError, DataError
from ..data.artefacts import check_beside, opened, read_arrow, read_json, write_rows
from ..data.provenance import Provenance
from .identity import check_place, content_of
from .layout import path_of

_TYPES = {
    "path": "string",
    "size": "int64",
    "modified": "int64",
    "identity": "string",
    "content": "string",
    "beside": "string",
}


class Known(NamedTuple):
    """What a file is by its metadata.

    Attributes
    ----------
    size, modified : int
        Its bytes, and when it was written, in nanoseconds.
    identity : str
        Digest of what it is and what it was made from; empty for files beside an artefact.
    content : str
        Digest of what it says.
    beside : str
        The content digests of the files that were made with it, by path, as JSON.
    """

    size: int
    modified: int
    identity: str
    content: str
    beside: str = "{}"

    def made_with(self, path: Path) -> dict[Path, str]:
        """Return the content digests of the files that were made with the artefact at a path."""
        return {path.parent / name: content for name, content in json.loads(self.beside).items()}


@dataclass
class Manifest:
    """The files of a folder of results, by their path below it."""

    output: Path
    known: dict[str, Known] = field(default_factory=dict)
    is_changed: bool = False

    @classmethod
    def of(cls, output: str | Path) -> Manifest:
        """Return the manifest of a folder of results; an empty one if it is missing or damaged."""
        path = Path(output) / path_of("manifest")
        if not path.is_file():
            return cls(Path(output))
        try:
            table = read_arrow(path)[0]
            if {field.name: str(field.type) for field in table.schema} != _TYPES:
                return cls(Path(output))
            rows = zip(*table.to_pydict().values(), strict=True)
            known = {row[0]: Known(*row[1:]) for row in rows}
            for one in known.values():
                if one.beside != "{}":
                    check_beside(path, json.loads(one.beside))
        except (DataError, ValueError, TypeError, RecursionError):  # it only saves time
            return cls(Path(output))
        return cls(Path(output), known)

    def save(self) -> None:
        """Write the manifest if anything in it has changed."""
        if self.is_changed:
            rows = [(path, *known) for path, known in sorted(self.known.items())]
            write_rows(self.output / path_of("manifest"), rows, _TYPES, Provenance())
            self.is_changed = False

    def look(self, path: Path, verify: bool = True) -> Known | None:
        """Return what an artefact says of itself, None if there is none; of files that it names some may be missing.

        Parameters
        ----------
        path : path
        verify : bool
            Whether the content of a file that is new is read; else its metadata alone, as after it was just written.

        Raises
        ------
        ArtefactError
            If it, or a file that was made with it, is damaged or lies in the wrong place.
        """
        known = self._unchanged(path)
        if known is None and not path.exists():
            return None
        if known is None:
            known = self._keep(path, *_read(path, verify))
        for other, content in known.made_with(path).items():
            of_other = self._unchanged(other)
            if of_other is None:
                if not other.exists():
                    continue
                of_other = self._keep(other, "", content_of(other), "{}")
            if of_other.content != content:
                raise ArtefactError(f"{other} is not as it was written. Run again: it is made again.")
        return known

    def forget(self, paths: Iterable[Path]) -> None:
        """Leave out some files, so that all of them is read at the next look."""
        for path in paths:
            self.is_changed |= self.known.pop(self._key(path), None) is not None

    def _unchanged(self, path: Path) -> Known | None:
        known = self.known.get(self._key(path))
        if known is None:
            return None
        try:
            state = os.stat(path)
        except OSError:
            return None
        return known if (state.st_size, state.st_mtime_ns) == known[:2] else None

    def _keep(self, path: Path, identity: str, content: str, beside: str) -> Known:
        state = os.stat(path)
        known = Known(state.st_size, state.st_mtime_ns, identity, content, beside)
        self.known[self._key(path)] = known
        self.is_changed = True
        return known

    def _key(self, path: Path) -> str:
        return os.fspath(path)[len(os.fspath(self.output)) + 1 :]


def _read(path: Path, verify: bool) -> tuple[str, str, str]:
    """Return identity, content and what is beside; raises ArtefactError."""
    if path.suffix == ".json":
        said: Any = read_json(path)
        check_beside(path, said.get("beside", {}))
        return said.get("identity", ""), content_of(path), json.dumps(said.get("beside", {}))
    with opened(path) as (file, provenance):
        check_place(path, provenance)
        check_beside(path, provenance.beside)
        if verify:
            for block in range(len(file.blocks)):
                file.block(block)
    return provenance.identity, provenance.content, json.dumps(provenance.beside)
