"""Sizes of memory as a configuration writes them."""

from __future__ import annotations

import re
from typing import Any

#: What texts say a size, and how many bytes the units are: those of disks, as in `BLANKETFLOW_MAX_GB`.
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(B|KB|MB|GB|TB|)", re.IGNORECASE)
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def size_in_bytes(said: Any) -> int | None:
    """Return a size in bytes, given as a whole number of them or as text with a unit; None if it is neither or 0.

    Examples
    --------
    >>> size_in_bytes("2GB"), size_in_bytes("1.5 mb"), size_in_bytes(8)
    (2000000000, 1500000, 8)
    >>> size_in_bytes("much"), size_in_bytes(-1), size_in_bytes(0.5), size_in_bytes(True)
    (None, None, None, None)
    """
    if not isinstance(said, str | int) or isinstance(said, bool):
        return None
    found = _SIZE.fullmatch(str(said).strip())
    return int(float(found[1]) * _UNITS[found[2].upper()]) or None if found else None
