"""From an input that breaks something to a small one that breaks the same."""

import time
from collections.abc import Callable


def minimise(data: bytes, breaks: Callable[[bytes], bool], seconds: float = 60) -> bytes:
    """Return a part of `data` that `breaks` still; ever smaller pieces are left out while time is left.

    >>> minimise(b"some text with a (bracket", lambda data: b"(" in data)
    b'('
    """
    deadline = time.monotonic() + seconds
    size = max(len(data) // 2, 1)
    while data:
        at, before = 0, len(data)
        while at < len(data):
            shorter = data[:at] + data[at + size :]
            if time.monotonic() > deadline:
                return data
            if breaks(shorter):
                data = shorter
            else:
                at += size
        if size == 1 and len(data) == before:
            break
        size = max(size // 2, 1)
    return data
