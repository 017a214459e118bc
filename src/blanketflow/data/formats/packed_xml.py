"""What the XML of an archive would take in memory, before it is parsed: a tag of a few bytes becomes hundreds."""

from __future__ import annotations

import re
import zipfile
from itertools import pairwise
from pathlib import Path

from ...core.errors import DataError
from ..input_file import Unpacking

#: Bytes of a parsed tag or attribute in memory, about.
_NODE_BYTES = 200
#: The most tags and attributes of one row of a sheet, and of what is no row. A row has at most 16,384 cells.
_MOST_NODES = 2_000_000
_ROW = re.compile(rb"<(\w+:)?row[\s/>]")
_BLOCK = 2**20


def check_xml(name: str, path: Path, archive: zipfile.ZipFile, unpacking: Unpacking) -> None:
    """Raise `DataError` if the XML of a workbook would take too much memory.

    A sheet is parsed row by row, so a row of it must not be too long; all else is parsed whole.
    """
    for member in archive.namelist():
        if not member.endswith((".xml", ".rels")):
            continue
        is_sheet, n_nodes = member.startswith("xl/worksheets/"), 0
        with archive.open(member) as file:
            while block := file.read(_BLOCK):
                if not is_sheet:
                    unpacking.add(_NODE_BYTES * _nodes(block))
                    continue
                starts = [match.start() for match in _ROW.finditer(block)]
                unpacking.add(_NODE_BYTES * len(starts))
                for start, stop in pairwise([0, *starts, len(block)]):
                    n_nodes = _nodes(block, start, stop) + (n_nodes if start == 0 else 0)
                    if n_nodes > _MOST_NODES:
                        raise DataError(
                            f"{name}: {path} has a row of more cells than a sheet can have, or far too many settings. "
                            "Save it again."
                        )


def _nodes(block: bytes, start: int = 0, stop: int = _BLOCK) -> int:
    return block.count(b"<", start, stop) + block.count(b"=", start, stop)
