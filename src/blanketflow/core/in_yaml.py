"""Writes a value as YAML on one line, for configs, commands and messages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


def in_yaml(value: Any) -> str:
    """Return a value as YAML on one line, from which names with any characters are read unchanged.

    Examples
    --------
    >>> in_yaml({"alpha": 7e-06, "drop": ["a: b"]})
    '{alpha: 7.0e-06, drop: ["a: b"]}'
    >>> in_yaml(["Größe", "😀"])
    '["Größe", "😀"]'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {in_yaml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(in_yaml, value)) + "]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    if isinstance(value, str):  # in quotes, in which YAML would fold marks of line ends that stand as such
        quoted = json.dumps(value, ensure_ascii=False)
        return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)
    written = json.dumps(value)
    # YAML reads a number with an exponent and without a point as text.
    return written.replace("e", ".0e") if isinstance(value, float) and "." not in written else written
