"""The cache folder: downloads, results of database queries, and facts about tables that take a full read to find."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.errors import DataError, StorageError
from ..core.folders import not_written
from .artefacts import replacing

#: The environment variable that names the folder.
VARIABLE = "BLANKETFLOW_CACHE"


def cache_folder() -> Path:
    """Return the cache folder: the environment variable's, else the user's own; it need not exist."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE]).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "blanketflow"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "blanketflow"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "blanketflow"


@contextmanager
def storing(name: str, path: Path) -> Iterator[Path]:
    """Yield a temporary path beside a file of the cache; the temporary file replaces it if no error occurs.

    Raises `DataError` if the folder cannot be written.
    """
    try:
        cache_folder().mkdir(parents=True, exist_ok=True, mode=0o700)  # for this user: tables may be private
        with replacing(path) as temporary:
            yield temporary
    except (OSError, StorageError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__
        why = not_written(path, cause, f"Set {VARIABLE} to a folder that can.")
        raise DataError(f"{name}: {why}") from error
