"""Data sets in object storage: how to recognise them, and their spec once their files have been fetched."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

#: Keys of a spec that may be a URL.
KEYS = ("path", "target_path")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://")


def is_remote(path: str | Path) -> bool:
    """Return whether a path is the URL of an object; files of web servers come through the cache (download.py).

    Examples
    --------
    >>> is_remote("s3://bucket/table.csv"), is_remote("data/table.csv"), is_remote("https://host/table.csv")
    (True, False, False)
    """
    return bool(_URL.match(str(path))) and not str(path).startswith(("https://", "http://"))


def remote_files(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the URLs in a spec by their keys, the table's first."""
    return {key: spec[key] for key in KEYS if is_remote(spec.get(key) or "")}


def with_copies(spec: Mapping[str, Any], copy_of: Callable[[str], Path]) -> dict[str, Any]:
    """Return a spec that names the local copies of its files.

    Parameters
    ----------
    spec : mapping
        A data set's spec, as for `read_source`.
    copy_of : function
        Returns the local copy of the file behind a URL.

    Examples
    --------
    >>> with_copies({"path": "s3://bucket/table.csv", "target": "y"}, lambda url: Path(url[5:]))["path"]
    'bucket/table.csv'
    """
    return {**spec, **{key: str(copy_of(url)) for key, url in remote_files(spec).items()}}
