"""Names of files that are being written: nobody else's, and those that killed writers left are removed."""

from __future__ import annotations

import glob
import os
import platform
import re
import secrets
import time
import zlib
from contextlib import suppress
from pathlib import Path

#: Characters of the file's own name that are kept: with the rest, it may not be longer than a name may be.
_KEPT = 50
#: Seconds after which a writer on another machine, of which nothing can be seen here, counts as dead.
_DAY = 86_400
_NAME = re.compile(r"\.([0-9a-f]{8})-([0-9]+)-[0-9a-f]{8}\.tmp\Z")


def temporary_name(path: Path) -> Path:
    """Return a name beside `path` to write to; remove what writers of this file left who were killed.

    It holds the machine or container, since folders are shared by several; the process, since a job's child may outlive
    it; and random digits, since both may come again.
    """
    _remove_left(path)
    return path.with_name(f".{path.name[:_KEPT]}.{_machine()}-{os.getpid()}-{secrets.token_hex(4)}.tmp")


def _remove_left(path: Path) -> None:
    with suppress(OSError):  # the folder cannot be read or changed: writing says so
        for left in path.parent.glob(f".{glob.escape(path.name[:_KEPT])}.*.tmp"):
            if _is_left(left):
                left.unlink(missing_ok=True)


def _is_left(path: Path) -> bool:
    """Whether the process that wrote a temporary file has ended."""
    import psutil

    named = _NAME.search(path.name)
    if named is None:
        return False
    if named[1] != _machine():
        return time.time() - path.stat().st_mtime > _DAY
    return not psutil.pid_exists(int(named[2]))


def _machine() -> str:
    return f"{zlib.crc32(process_space().encode()):08x}"


def process_space() -> str:
    """Return what process ids belong to: this boot of this machine, and the namespace of processes."""
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    return " ".join(parts)
