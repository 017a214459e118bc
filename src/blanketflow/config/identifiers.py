"""Ids of data sets, CI tests and selectors, which are used in names of files and folders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..core.errors import ConfigError, Faults, shown

IDENTIFIER = re.compile(r"[a-z0-9][a-z0-9-]*")
#: Most characters of an id: file names with suffixes have at most 255.
LONGEST_ID = 100
#: Suffixes of a test's id in artefacts: for folds that are the parts, and before the share of left-out rows.
PART, CONFIRM = "-part", "-confirm-"
_ON_ROWS = re.compile(rf"(?P<test>.*?)(?P<part>{PART})?(?:{CONFIRM}(?P<confirm>[0-9]+(?:-[0-9]+)?))?")


def entries(section: str, raw: Any, faults: Faults) -> list[tuple[str, Any]]:
    """Return the entries of a section by id; note a `ConfigError` if it is no mapping, and for each invalid id.

    >>> entries("datasets", {1: "a", "b": "c"}, Faults())
    [('1', 'a'), ('b', 'c')]
    """
    if not isinstance(raw, Mapping):
        faults.note(ConfigError(f"config: {section} must be a mapping 'id: {{key: value}}', but is {shown(raw)}."))
        return []
    found: dict[str, Any] = {}
    for name, spec in raw.items():
        with faults.noted():
            _check_id(section, name, found)
            found[str(name)] = spec
    return list(found.items())


def _check_id(section: str, name: Any, others: Mapping[str, Any]) -> None:
    if isinstance(name, bool) or not IDENTIFIER.fullmatch(str(name)):
        hint = " YAML reads yes, no, on and off as that: put them in quotes." if isinstance(name, bool) else ""
        raise ConfigError(
            f"config: {section} has the id {shown(name)}; ids are lower-case letters, digits and hyphens, since they "
            f"name files.{hint}"
        )
    if len(str(name)) > LONGEST_ID:
        raise ConfigError(
            f"config: {section} has the id {shown(name)} of {len(str(name))} characters, but the most is "
            f"{LONGEST_ID}, since ids name files. Shorten it."
        )
    if str(name) in others:
        raise ConfigError(f"config: {section} has the id {name} twice, as a number and as text. Rename one.")


class TestOnRows(NamedTuple):
    """A CI test and the rows of a fold that it uses; the id is part of file names.

    `is_part` says whether folds are the parts themselves, and `confirm` is the share of left-out rows.

    >>> TestOnRows.of("g2-confirm-1-2-3").test  # a name that says no share
    'g2-confirm-1-2-3'
    >>> TestOnRows("g2", True, 0.25).id, TestOnRows.of("g2-part-confirm-0-25")
    ('g2-part-confirm-0-25', TestOnRows(test='g2', is_part=True, confirm=0.25))
    """

    test: str
    is_part: bool = False
    confirm: float | None = None

    @property
    def id(self) -> str:
        """The id in artefacts."""
        confirm = "" if self.confirm is None else CONFIRM + str(self.confirm).replace(".", "-")
        return self.test + (PART if self.is_part else "") + confirm

    @classmethod
    def of(cls, identifier: str) -> TestOnRows:
        """Return the value for the id of an artefact."""
        found = _ON_ROWS.fullmatch(identifier)
        test, part, confirm = found.groups() if found else (identifier, None, None)
        return cls(test, part is not None, None if confirm is None else float(confirm.replace("-", ".")))
