"""Checks that output folders are writable."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from .errors import StorageError

#: Errors of the disk itself, whoever writes to it.
OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


def check_writable(folder: str | Path, way_out: str) -> None:
    """Raise `StorageError` unless a test file can be written and synced: nothing else reveals quotas and full disks."""
    import tempfile

    folder = Path(folder).absolute()
    there = next(parent for parent in (folder, *folder.parents) if parent.is_dir())
    try:
        with tempfile.NamedTemporaryFile(dir=there, prefix=".blanketflow-") as file:
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
        if there != folder:  # a disk can run out of files before it runs out of bytes
            Path(tempfile.mkdtemp(dir=there, prefix=".blanketflow-")).rmdir()
    except OSError as error:
        raise not_written(folder, error, way_out) from error


def not_written(path: str | Path, error: OSError, way_out: str = "") -> StorageError:
    """Return the error for a file or folder that is not writable, with the free space if that is the cause."""
    why = os.strerror(error.errno) if error.errno else str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        why += f"; {free_bytes(path):,} bytes are free"
        way_out = f"Make room{f', or {way_out[0].lower()}{way_out[1:]}' if way_out else ' and run again.'}"
    return StorageError(f"{path} cannot be written ({why}). {way_out or 'Mend that and run again.'}")


def free_bytes(path: str | Path) -> int:
    """Return the bytes that the user may write at a path, which need not exist."""
    import shutil

    path = Path(path).absolute()
    return shutil.disk_usage(next(parent for parent in (path, *path.parents) if parent.exists())).free
