"""Possible problems of a table: leakage, identifiers, small classes, missing cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...ci.rounding import is_rounded_away
from ...core.cards import CLASSIFICATION
from ...core.printable import printable
from ...core.table import Column
from ...data.missing_markers import texts_found, way_out
from ...data.raw import RawTable
from .columns import ColumnSummary, tokens
from .leakage import SUSPECT_SHARE, told_by

#: A class with fewer rows is small: with five outer folds a test part has one or two of them.
FEW_OF_A_CLASS = 10
#: If a class has a smaller share of the rows, accuracy says little.
SMALL_CLASS = 0.1
#: A column with a larger share of missing cells is mostly imputed.
MOSTLY_MISSING = 0.5
#: Columns with more labels hold names, and are not searched for labels that differ only in spelling.
_MOST_LABELS = 1_000
#: The fewest rows from which leakage is concluded.
_FEWEST_ROWS = 10
_SHOWN = 5


@dataclass(frozen=True)
class Finding:
    """One possible problem: the columns concerned, what was seen, and what to do about it.

    `kind` is ``leakage``, ``number``, ``spelling``, ``identifier``, ``date``, ``text``, ``group``, ``code``,
    ``constant``, ``rounding``, ``duplicate``, ``missing``, ``few-rows``, ``imbalance``, ``wide`` or ``note``.
    """

    kind: str
    columns: tuple[str, ...]
    message: str
    advice: str


def suspected_leaks(raw: RawTable, columns: Sequence[Column]) -> list[Finding]:
    """Return the columns that alone determine the target, or are named after it."""
    found = []
    limit, words = SUSPECT_SHARE[raw.task.name], tokens(raw.target.name)
    for column in columns:
        told = told_by(column, raw.target) if raw.target.n_rows >= _FEWEST_ROWS else 0.0
        if told > limit:
            what = "all" if told == 1 else f"{told:.1%}"
            message = f"{_listed([column.name])} alone explains {what} of the target"
            advice = "If it is known only with or after the target, drop it; otherwise no search is needed."
            found.append(Finding("leakage", (column.name,), message, advice))
        elif words and max(map(len, words)) > 2 and words <= tokens(column.name):
            message = f"{_listed([column.name])} is named after the target"
            found.append(Finding("leakage", (column.name,), message, "Drop it if it was made from the target."))
    return found


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
            message = f"{_listed([column.name])} has labels that differ only in case or blanks, such as {shown}"
            found.append(Finding("spelling", (column.name,), message, "If they mean the same, spell them the same."))
    return found


def _spelled_twice(levels: Sequence[str]) -> tuple[str, str] | None:
    seen: dict[str, str] = {}
    for level in levels:
        other = seen.setdefault("".join(level.split()).casefold(), level)
        if other != level:
            return other, level
    return None


def of_columns(summaries: Sequence[ColumnSummary], n_rows: int) -> list[Finding]:
    """Return findings about single columns: identifiers, dates, texts, groups, codes and missing cells."""
    advices = {
        ("row-number", "identifier"): ("identifier", "may number or name the rows", "List under drop."),
        ("date",): (
            "date",
            "hold dates or times as text",
            "Convert them to numbers, such as days since a start, or drop them.",
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
    for looks, (kind, message, advice) in advices.items():
        names = tuple(s.name for s in summaries if s.looks_like in looks)
        if names:
            found.append(Finding(kind, names, f"{_listed(names)} {message}", advice))
    gaps = [s for s in summaries if s.n_missing]
    mostly = tuple(s.name for s in gaps if s.n_missing > MOSTLY_MISSING * n_rows)
    if gaps:
        message = f"{sum(s.n_missing for s in gaps)} cells are missing, in {len(gaps)} columns"
        advice = "They are imputed from training rows; missing: drop leaves such rows out."
        found.append(Finding("missing", tuple(s.name for s in gaps), message, advice))
    if mostly:
        message = f"{_listed(mostly)} lack more than half of their cells"
        found.append(Finding("missing", mostly, message, "Consider dropping them."))
    return found


def of_numbers(raw: RawTable, columns: Sequence[Column]) -> list[Finding]:
    """Return the columns whose variation rounding has destroyed."""
    whole = [c for c in [raw.target, *columns] if not c.n_missing() and not c.n_infinite()]
    names = tuple(column.name for column in whole if is_rounded_away(column))
    if not names:
        return []
    message = f"{_listed(names)} vary by less than 90 times the distance between floats of their size"
    advice = "Rounding has destroyed them. Subtract the offset before the numbers are written, or drop them."
    return [Finding("rounding", names, message, advice)]


def of_markers(raw: RawTable) -> list[Finding]:
    """Return a finding about texts that were taken for missing cells, if there are any."""
    told = texts_found(raw.markers)
    return [Finding("missing", tuple(raw.markers), told, way_out(raw.markers))] if told else []


def of_table(raw: RawTable) -> list[Finding]:
    """Return findings about the table as a whole: classes, constants, duplicates, shape."""
    found = []
    n_rows, n_features = raw.features.n_rows, len(raw.features)
    if raw.task.name == CLASSIFICATION:
        counts = class_counts(raw)
        few = {label: count for label, count in counts.items() if count < FEW_OF_A_CLASS}
        if few:
            message = "few rows of " + ", ".join(f"class {label} ({count})" for label, count in few.items())
            advice = "Use fewer folds (splits.evaluation, folds), or leave out or merge such classes."
            found.append(Finding("few-rows", (), printable(message), advice))
        smallest = min(counts, key=lambda label: counts[label])
        if counts[smallest] < SMALL_CLASS * n_rows:
            message = f"class {smallest} has {counts[smallest] / n_rows:.1%} of the rows"
            advice = "Read balanced-accuracy or roc-auc rather than accuracy."
            found.append(Finding("imbalance", (), printable(message), advice))
    if raw.constant:
        message = f"{_listed(raw.constant)} never vary"
        found.append(Finding("constant", raw.constant, message, "They are never chosen, so nothing needs to be done."))
    if raw.duplicates:
        pairs = ", ".join(f"{later} (= {first})" for first, later in raw.duplicates[:_SHOWN])
        message = f"{len(raw.duplicates)} columns repeat an earlier one: {printable(pairs)}"
        advice = "A search keeps one of each pair; tie-star lists both answers. Drop the ones you would not measure."
        found.append(Finding("duplicate", tuple(later for _, later in raw.duplicates), message, advice))
    if n_features > n_rows:
        message = f"more features ({n_features}) than rows ({n_rows})"
        advice = (
            "Expect false positives: divide alpha by the number of features, or use correction: bh if a method has it."
        )
        found.append(Finding("wide", (), message, advice))
    return found


def class_counts(raw: RawTable) -> dict[str, int]:
    """Return the number of rows of each class that occurs, in the order of the labels."""
    counts = np.bincount(raw.target.values, minlength=len(raw.target.levels)).tolist()
    return {label: count for label, count in zip(raw.target.levels, counts, strict=True) if count}


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(printable, names[:_SHOWN]))
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
