"""One finding about a table, and the line that a person reads before a search or beside its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ...core.printable import printable

#: Names that a message lists.
SHOWN = 5
#: Columns that a card keeps of one finding.
_KEPT = 50
#: The kinds after which scores or names may mean something else than they seem to, the most serious first.
SERIOUS = ("leakage", "identifier", "near-copy", "duplicate", "rounding", "number", "suspected-marker")
#: What they are called.
IN_WORDS = {
    "leakage": "suspected leakage",
    "identifier": "suspected identifiers",
    "near-copy": "near-copies of other columns",
    "duplicate": "copies of other columns",
    "rounding": "numbers destroyed by rounding",
    "number": "numbers read as labels",
    "missing-marker": "missing cells",
    "suspected-marker": "cells that may be missing",
    "few-rows": "small classes",
    "weights": "unequal weights",
}


@dataclass(frozen=True)
class Finding:
    """One possible problem: the columns concerned, what was seen, and what to do about it.

    `kind` is ``leakage``, ``near-copy``, ``number``, ``spelling``, ``identifier``, ``date``, ``text``, ``group``,
    ``code``, ``constant``, ``rounding``, ``duplicate``, ``missing``, ``missing-marker``, ``suspected-marker``,
    ``few-rows``, ``imbalance``, ``bent``, ``weights``, ``wide``, ``reading`` or ``note``.
    """

    kind: str
    columns: tuple[str, ...]
    message: str
    advice: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as a card keeps it, with at most its first 50 columns."""
        return asdict(self) | {"columns": list(self.columns[:_KEPT]), "n_columns": len(self.columns)}


def in_one_line(findings: Iterable[Mapping[str, Any]]) -> str:
    """Return the serious findings of a card in one line; empty if there are none.

    Examples
    --------
    >>> in_one_line([Finding("leakage", ("a",), "a alone explains all of y", "Drop it.").as_dict()])
    'look at the table first: suspected leakage (a). blanketflow inspect says why'
    """
    names: dict[str, list[str]] = {}
    n_columns: Counter[str] = Counter()
    for finding in findings:
        names.setdefault(finding["kind"], []).extend(finding["columns"])
        n_columns[finding["kind"]] += finding["n_columns"]
    told = []
    for kind in SERIOUS:
        if n_columns[kind]:
            shown = ", ".join(map(printable, names[kind][:SHOWN]))
            more = n_columns[kind] - SHOWN
            told.append(f"{IN_WORDS[kind]} ({shown}{f' and {more} more' if more > 0 else ''})")
    return f"look at the table first: {'; '.join(told)}. blanketflow inspect says why" if told else ""
