"""Answers of a child process as bytes: JSON and arrays of numbers. Reading them back cannot run code."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

_ARRAY = "__array__"


def to_bytes(answer: Any) -> bytes:
    """Return numbers, texts, lists, mappings with text keys, None, and arrays of numbers as bytes.

    Raises TypeError or ValueError if there is anything else in it.

    Examples
    --------
    >>> from_bytes(to_bytes({"a": [1, 0.1, None], "b": np.arange(3) > 1}))
    {'a': [1, 0.1, None], 'b': array([False, False,  True])}
    """
    return json.dumps(answer, default=_plain).encode()


def from_bytes(written: bytes) -> Any:
    """Return what `to_bytes` wrote, floats to the last digit; ValueError if it is not that."""
    return json.loads(written, object_hook=_array)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        cells = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {_ARRAY: [value.dtype.str, list(value.shape), cells]}
    raise TypeError(f"an answer holds {type(value).__name__}, which is neither a number nor a text")


def _array(found: dict[str, Any]) -> Any:
    if found.keys() != {_ARRAY}:
        return found
    dtype, shape, cells = found[_ARRAY]
    return np.frombuffer(base64.b64decode(cells), dtype=np.dtype(dtype)).reshape(shape).copy()
