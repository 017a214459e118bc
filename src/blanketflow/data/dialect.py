"""How a table of text is written: what the data set's keys say of it, and what its reader found out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..core.errors import ConfigError, shown
from ..core.table import Column
from .encoding import is_encoding

#: The keys of a data set that say how its text is written.
KEYS = ("encoding", "sep", "decimal", "thousands", "comment")
#: Words for a separator that YAML or a shell would change.
_SEPARATORS = {"\\t": "\t", "tab": "\t"}


class FoundOut(NamedTuple):
    """One thing that a reader found out: what, and the key that says otherwise; None if no key does."""

    what: str
    key: str | None


@dataclass
class Dialect:
    r"""What is asked of a text file, None where it is to be found out; and what its reader found out that is unusual.

    >>> Dialect.of({"sep": "tab", "decimal": ","}).sep
    '\t'
    """

    encoding: str | None = None
    sep: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    comment: str | None = None
    header: bool = True
    #: Whether cells that are numbers come as Python writes them, as from a workbook, whatever its texts look like.
    has_numbers: bool = False
    found: list[FoundOut] = field(default_factory=list)

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Dialect:
        """Return what a data set's spec asks for."""
        asked = {key: spec.get(key) for key in KEYS}
        asked["sep"] = _SEPARATORS.get(asked["sep"] or "", asked["sep"])
        return cls(**asked, header=spec.get("header") != "none")

    def say(self, what: str, key: str | None = None) -> None:
        """Note what was found out."""
        self.found.append(FoundOut(what, key))


def check_dialect(where: str, spec: Mapping[str, Any]) -> None:
    """Raise `ConfigError` if a key that says how a text is written has a value that cannot be."""
    asked = Dialect.of(spec)
    if asked.encoding is not None and not is_encoding(asked.encoding):
        raise ConfigError(
            f"{where}: encoding is {shown(asked.encoding)}, which Python does not know. Write utf-8, latin-1, "
            "windows-1252, utf-16 or another of its names."
        )
    if asked.sep is not None and not re.fullmatch(r"[^\w\"'\r\n.+-]", asked.sep):
        raise ConfigError(
            f'{where}: sep is {shown(asked.sep)}, but must be one sign, such as ";" or "|", "tab" or " " for blanks.'
        )
    if asked.thousands is not None and not re.fullmatch(r"[^\w\"\r\n+-]", asked.thousands):
        raise ConfigError(f'{where}: thousands is {shown(asked.thousands)}, but must be one sign, such as "." or " ".')
    if asked.comment is not None and not asked.comment.strip():
        raise ConfigError(f'{where}: comment is {shown(asked.comment)}, but must be what such lines begin with: "#".')
    if asked.thousands is not None and asked.thousands == (asked.decimal or "."):
        raise ConfigError(
            f"{where}: {shown(asked.thousands)} cannot stand both before decimals and between thousands. Set decimal "
            "and thousands to different signs."
        )


def found_told(found: Sequence[FoundOut]) -> str | None:
    """Say what a reader found out; None for nothing.

    >>> found_told([FoundOut("decimal commas in a", "decimal"), FoundOut("blanks between cells", "sep")])
    'found out how the file is written: decimal commas in a; blanks between cells'
    """
    return f"found out how the file is written: {'; '.join(one.what for one in found)}" if found else None


def found_way_out(found: Sequence[FoundOut]) -> str:
    """Say what to write if something was found out wrongly.

    >>> found_way_out([FoundOut("decimal commas in a", "decimal"), FoundOut("blanks between cells", "sep")])
    'If that is wrong, set decimal and sep.'
    """
    keys = list(dict.fromkeys(one.key for one in found if one.key))
    named = [f"set {' and '.join(keys)}"] if keys else []
    if len(found) > sum(one.key is not None for one in found):  # row names, which no key speaks of
        named.append("name it in the header")
    return f"If that is wrong, {', or '.join(named)}."


def found_line(found: Sequence[FoundOut]) -> str | None:
    """Say in one line what a reader found out and what to do if it is wrong; None for nothing."""
    return f"{found_told(found)}. {found_way_out(found)}" if found else None


class Head(NamedTuple):
    """The columns of a file's first rows, and how many rows the file has for each of them (1.0: these are all)."""

    columns: list[Column]
    rows_per_row: float
    #: What was found out about how the file is written.
    found: Sequence[FoundOut] = ()
