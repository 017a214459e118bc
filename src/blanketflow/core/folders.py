"""Folders that are written to: whether that will work, and what is said when it did not."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path

from .errors import StorageError

#: What goes wrong with a disk, whoever writes to it.
OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


def check_writable(folder: str | Path, way_out: str) -> None:
    """Raise `StorageError` if a folder, which need not exist yet, cannot be written to.

    A file is written, made lasting and removed: permissions, quotas and full disks are not known otherwise.
    """
    folder = Path(folder).absolute()
    there = next(parent for parent in (folder, *folder.parents) if parent.is_dir())
    try:
        with tempfile.NamedTemporaryFile(dir=there, prefix=".blanketflow-") as file:
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
        if there != folder:  # a disk can be out of files where it is not out of bytes
            Path(tempfile.mkdtemp(dir=there, prefix=".blanketflow-")).rmdir()
    except OSError as error:
        raise not_written(folder, error, way_out) from error


def not_written(path: str | Path, error: OSError, way_out: str = "") -> StorageError:
    """Return the error of a file or folder that cannot be written, with the space that is left where that is why."""
    why = os.strerror(error.errno) if error.errno else str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        why += f"; {free_bytes(path):,} bytes are free"
        way_out = f"Make room{f', or {way_out[0].lower()}{way_out[1:]}' if way_out else ' and run again.'}"
    return StorageError(f"{path} cannot be written ({why}). {way_out or 'Mend that and run again.'}")


def free_bytes(path: str | Path) -> int:
    """Return how many bytes are free for a user where a path is or would be."""
    path = Path(path).absolute()
    return shutil.disk_usage(next(parent for parent in (path, *path.parents) if parent.exists())).free
