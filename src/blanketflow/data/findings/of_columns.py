"""Findings about single columns: text meant as numbers, identifiers, missing cells, destroyed numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...core.printable import listed, printable
from ...core.spread import is_rounded_away
from ...core.table import Column
from ..columns import missing_by_column
from ..missing_markers import texts_found, way_out
from ..raw import RawTable
from .finding import Finding

#: A column with a larger share of missing cells is mostly imputed.
MOSTLY_MISSING = 0.5
#: Columns with more labels hold names, and are not searched for labels that differ only in spelling.
_MOST_LABELS = 1_000


def of_texts(raw: RawTable, columns: Sequence[Column]) -> list[Finding]:
    """Return the columns of text that are meant as numbers, and those whose labels differ only in spelling."""
    found = []
    for name, what in raw.number_texts:
        advice = (
            "Write plain numbers with decimal points, and leave cells that are not known empty; if these are labels, "
        )
        found.append(Finding("number", (name,), f"{printable(name)} {what}", f"{advice}list it under categorical."))
    for column in [raw.target, *columns]:
        if len(column.levels) <= _MOST_LABELS and (pair := _spelled_twice(column.levels)):
            shown = " and ".join(repr(printable(label)) for label in pair)
            message = f"{listed([column.name])} has labels that differ only in case or blanks, such as {shown}"
            found.append(Finding("spelling", (column.name,), message, "If they mean the same, spell them the same."))
    return found


def _spelled_twice(levels: Sequence[str]) -> tuple[str, str] | None:
    seen: dict[str, str] = {}
    for level in levels:
        other = seen.setdefault("".join(level.split()).casefold(), level)
        if other != level:
            return other, level
    return None


def of_looks(looks: Mapping[str, str]) -> list[Finding]:
    """Return findings about single columns by what they look like: identifiers, dates, texts, groups and codes."""
    advices = {
        ("row-number", "identifier"): ("identifier", "may number or name the rows", "List under drop."),
        ("date",): (
            "date",
            "hold dates or times as text",
            "Set dates: ordinal makes them days, parts makes year, month and so on, drop leaves them out.",
        ),
        ("text",): ("text", "hold free text", "Drop them, or derive features from them first."),
        ("large",): (
            "identifier",
            "hold whole numbers beyond 2**53, of which the last digits are lost",
            "If they are labels, list them under categorical; if they name the rows, under drop.",
        ),
        ("group",): (
            "group",
            "may say which rows belong together",
            "If rows of one value are not independent, such as visits of one patient, set groups to it.",
        ),
        ("code",): (
            "code",
            "hold whole numbers of few values",
            "If they are labels without an order, list them under categorical.",
        ),
    }
    found = []
    for such, (kind, message, advice) in advices.items():
        names = tuple(name for name, look in looks.items() if look in such)
        if names:
            found.append(Finding(kind, names, f"{listed(names)} {message}", advice))
    return found


def of_gaps(raw: RawTable) -> list[Finding]:
    """Return findings about missing cells."""
    missing = missing_by_column(raw.features.columns)
    gaps, mostly = (
        tuple(raw.features.names[at] for at in np.flatnonzero(missing > limit).tolist())
        for limit in (0, MOSTLY_MISSING * raw.features.n_rows)
    )
    found = []
    if gaps:
        message = f"{int(missing.sum())} cells are missing, in {len(gaps)} columns"
        pairwise = "Each CI test uses the rows complete for its columns."
        imputed = "They are imputed from training rows; missing: drop leaves such rows out."
        advice = pairwise if raw.missing == "pairwise" else imputed
        found.append(Finding("missing", gaps, message, advice))
    if mostly:
        message = f"{listed(mostly)} lack more than half of their cells"
        found.append(Finding("missing", mostly, message, "Consider dropping them."))
    return found


def of_numbers(raw: RawTable, columns: Sequence[Column]) -> list[Finding]:
    """Return the columns whose variation rounding has destroyed."""
    whole = [c for c in [raw.target, *columns] if not c.n_missing() and not c.n_infinite()]
    names = tuple(column.name for column in whole if is_rounded_away(column))
    if not names:
        return []
    message = f"{listed(names)} vary by less than 90 times the distance between floats of their size"
    advice = "Rounding has destroyed them. Subtract the offset before the numbers are written, or drop them."
    return [Finding("rounding", names, message, advice)]


def of_markers(raw: RawTable) -> list[Finding]:
    """Return a finding about texts that were taken for missing cells, if there are any."""
    told = texts_found(raw.markers)
    return [Finding("missing-marker", tuple(raw.markers), told, way_out(raw.markers))] if told else []
