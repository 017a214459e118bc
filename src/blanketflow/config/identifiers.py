"""Ids of data sets, CI tests and selectors: they name files and folders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..core.errors import ConfigError, shown

IDENTIFIER = re.compile(r"[a-z0-9][a-z0-9-]*")
#: Characters of an id: names of files, with what is appended to them, have at most 255.
LONGEST_ID = 100
#: Suffix of a test's id in artefacts where folds are the parts themselves.
PART = "-part"


def entries(section: str, raw: Any) -> list[tuple[str, Any]]:
    """Return the entries of a section by id.

    Raises
    ------
    ConfigError
        If the section is no mapping, or a key of it no id.

    Examples
    --------
    >>> entries("datasets", {1: "a", "b": "c"})
    [('1', 'a'), ('b', 'c')]
    """
    if not isinstance(raw, Mapping):
        raise ConfigError(f"config: {section} must be a mapping 'id: {{key: value}}', but is {shown(raw)}.")
    found: dict[str, Any] = {}
    for name, spec in raw.items():
        if isinstance(name, bool) or not IDENTIFIER.fullmatch(str(name)):
            hint = " YAML reads yes, no, on and off as that: put them in quotes." if isinstance(name, bool) else ""
            raise ConfigError(
                f"config: {section} has the id {shown(name)}; ids are lower-case letters, digits and hyphens, "
                f"since they name files.{hint}"
            )
        if len(str(name)) > LONGEST_ID:
            raise ConfigError(
                f"config: {section} has the id {shown(name)} of {len(str(name))} characters, but the most is "
                f"{LONGEST_ID}, since ids name files. Shorten it."
            )
        if str(name) in found:
            raise ConfigError(f"config: {section} has the id {name} twice, as a number and as text. Rename one.")
        found[str(name)] = spec
    return list(found.items())
