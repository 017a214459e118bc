"""Findings about single columns, such as text meant as numbers, and about a table as a whole, such as its classes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ...core.cards import BOOLEAN, CATEGORICAL, CLASSIFICATION, INTEGER, NUMERIC
from ...core.column_checks import FEWEST, ID_WORDS, bends_seen, identifier_kind, tokens, what_is_held
from ...core.convert import MOST_WHOLE
from ...core.numerics import is_rounded_away, standardised, usual_range
from ...core.printable import listed, printable
from ...core.rows import REPEATS_TOLD, repeats
from ...core.table import Column, effective_rows
from ..column_roles import RawTable
from ..columns import look, missing_by_column
from ..columns_of_text import is_number
from ..missing_markers import listed_markers, texts_found, way_out
from .finding import FEW_OF_A_CLASS, MOST_COLUMNS, Finding, n_rows_examined, some_rows
from .repeated_measures import WHO, named_group

#: A column with a larger share of missing cells is mostly imputed.
MOSTLY_MISSING = 0.5
#: The most texts that a message proposes as missing.
_MOST_MARKERS = 20
#: Columns with more labels hold names, and are not searched for labels that differ only in spelling.
_MOST_LABELS = 1_000


def of_texts(raw: RawTable, columns: Sequence[Column]) -> list[Finding]:
    """Return the columns of text that are meant as numbers, and those whose labels differ only in spelling."""
    found = []
    by_name = {column.name: column for column in [raw.target, *columns] if raw.number_texts}
    for name, what in raw.number_texts:
        advice = (
            "Write plain numbers with decimal points, and leave cells that are not known empty; if these are labels, "
        )
        others = [level for level in by_name[name].levels if not is_number(level)] if name in by_name else []
        if "but also" in what and 0 < len(others) <= _MOST_MARKERS:
            key = f"more_missing_values: {listed_markers({name: dict.fromkeys(others, 1)})}"
            advice = f"If such cells are missing, set {key}; if these are labels, "
        found.append(Finding("number", (name,), f"{printable(name)} {what}", f"{advice}list it under categorical."))
    for column in [raw.target, *columns]:
        if len(column.levels) <= _MOST_LABELS and (pair := _spelled_twice(column.levels)):
            is_same = look(pair[0]) == look(pair[1])
            shown = " and ".join(ascii(label) if is_same else repr(printable(label)) for label in pair)
            how = "look the same" if is_same else "differ only in case or blanks"
            message = f"{listed([column.name])} has labels that {how}, such as {shown}"
            found.append(
                Finding("spelling", (column.name,), message, "If they mean the same, set similar_labels: merge.")
            )
    return found


def _spelled_twice(levels: Sequence[str]) -> tuple[str, str] | None:
    seen: dict[str, str] = {}
    for level in levels:
        other = seen.setdefault("".join(look(level).split()).casefold(), level)
        if other != level:
            return other, level
    return None


def of_looks(looks: Mapping[str, str]) -> list[Finding]:
    """Return findings about single columns by what they look like: identifiers, dates, texts, groups and codes."""
    advices = {
        ("row-number", "identifier"): ("identifier", "may number or name the rows", "List under drop."),
        ("date",): (
            "date",
            "{hold} dates or times as text",
            "Set dates: ordinal makes them days, parts makes year, month and so on, drop leaves them out.",
        ),
        ("text",): ("text", "{hold} free text", "Drop them, or derive features from them first."),
        ("large",): (
            "identifier",
            "{hold} whole numbers beyond 2**53, of which the last digits are lost",
            "If they are labels, list them under categorical; if they name the rows, under drop.",
        ),
        ("group",): (
            "group",
            "may say which rows belong together",
            "If rows of one value are not independent, such as visits of one patient, set groups to it.",
        ),
        ("place",): (
            "place",
            "may say where rows come from",
            "If rows of one value are not independent, such as those of one batch, set groups to it.",
        ),
        ("code",): (
            "code",
            "{hold} whole numbers of few values",
            "If they are labels without an order, list them under categorical.",
        ),
    }
    found = []
    for such, (kind, message, advice) in advices.items():
        names = tuple(name for name, look in looks.items() if look in such)
        if names:
            told = message.format(hold=_verb(names, "hold"))
            found.append(Finding(kind, names, f"{listed(names)} {told}", advice))
    return found


def _verb(names: Sequence[object], many: str, one: str = "") -> str:
    """Return a verb in the plural, or of one name in the singular."""
    return many if len(names) > 1 else one or f"{many}s"


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
        message = f"{listed(mostly)} {_verb(mostly, 'lack')} more than half of the cells"
        found.append(Finding("missing", mostly, message, "Consider dropping them."))
    if telling := _gaps_that_tell(raw, gaps[:MOST_COLUMNS]):
        message = f"whether {listed(telling)} {_verb(telling, 'are', 'is')} missing depends on the target"
        advice = "If cells are missing because of the target, such as a test that only the ill had, drop the column."
        found.append(Finding("missing", telling, message, advice))
    return found


#: Gaps depend on the target if they share this correlation with it, by ranks, and this chi-squared statistic.
GAPS_TELL, CLEARLY = 0.2, 20.0


def _gaps_that_tell(raw: RawTable, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns where the ranks of the target, or the share of one of its classes, differ where cells are
    missing.
    """
    rows = some_rows(raw.features.n_rows, n_rows_examined(raw.features.n_rows, len(raw.features)))
    target = raw.target.take(rows)
    is_class = target.kind == CATEGORICAL
    parts = target.numbers() == np.arange(len(target.levels))[:, None] if is_class else _ranks(target.numbers())[None]
    parts, least = standardised(parts.astype(np.float64)), max(GAPS_TELL, (CLEARLY / len(rows)) ** 0.5)
    gaps = ((name, standardised(raw.features[name].take(rows).missing()[None].astype(np.float64))) for name in names)
    return tuple(name for name, own in gaps if np.abs(parts @ own.T).max() > least)


def _ranks(numbers: np.ndarray) -> np.ndarray:
    """Return mean ranks, (n,)."""
    codes, counts = np.unique(numbers, return_inverse=True, return_counts=True)[1:]
    return (np.cumsum(counts) - (counts - 1) / 2)[codes]


def of_numbers(raw: RawTable, columns: Sequence[Column]) -> list[Finding]:
    """Return the columns whose variation rounding has destroyed, and those with numbers far from all others."""
    whole = [c for c in [raw.target, *columns] if not c.n_missing() and not c.n_infinite()]
    names = tuple(column.name for column in whole if is_rounded_away(column))
    found = []
    if names:
        vary = _verb(names, "vary", "varies")
        message = f"{listed(names)} {vary} by less than 90 times the distance between floats of their size"
        advice = "Rounding has destroyed them. Subtract the offset before the numbers are written, or drop them."
        found.append(Finding("rounding", names, message, advice))
    named = (c for c in [raw.target, *columns] if c.kind == NUMERIC and c.name not in {*raw.suspected.cells, *names})
    if far := {column.name: numbers for column in named if (numbers := _far_numbers(column))}:
        shown = [f"{name} ({', '.join(f'{value:g}' for value in far[name])})" for name in far]
        message = f"{listed(shown)} {_verb(shown, 'have', 'has')} numbers far from all others"
        advice = (
            "Correct slips, or leave their cells empty. Searches clip the target, and models clip features; "
            "correlations (fisher-z) do not."
        )
        found.append(Finding("outlier", tuple(far), message, advice))
    return found


def _far_numbers(column: Column, most: int = 3) -> list[float]:
    """Return the numbers beyond `usual_range`, without equal ones, the farthest first, at most `most`."""
    values = column.numbers()
    values = values[np.isfinite(values)]
    low, high = usual_range(values)
    beyond = np.unique(values[(values < low) | (values > high)])
    return beyond[np.argsort(-np.abs(beyond - (low + high) / 2), kind="stable")][:most].tolist()


def of_markers(raw: RawTable) -> list[Finding]:
    """Return a finding about texts that were taken for missing cells, if there are any."""
    told = texts_found(raw.markers)
    return [Finding("missing-marker", tuple(raw.markers), told, way_out(raw.markers))] if told else []


# --- findings about a table as a whole: its classes, constant and equal columns, bent relations, its shape ------------

#: If a class has a smaller share of the rows, accuracy says little.
SMALL_CLASS = 0.1
#: How many times larger the largest class must be: ten classes of a tenth each are balanced.
UNEQUAL_CLASSES = 4
#: If rows with sampling weights tell no more than this share of equal ones, they are very unequal.
UNEQUAL = 0.5


def of_table(raw: RawTable, has_kind: bool) -> list[Finding]:
    """Return findings about the table as a whole: classes, constants, duplicates, bent relations, weights, shape.

    Small classes are no finding if the target `has_kind`, such as a count or ordered classes, or is likely to.
    """
    found = []
    n_rows, n_features = raw.features.n_rows, len(raw.features)
    if raw.task.name == CLASSIFICATION and not has_kind:
        counts = class_counts(raw)
        few = {label: count for label, count in counts.items() if count < FEW_OF_A_CLASS}
        if few:
            message = "few rows of " + ", ".join(f"class {label} ({count})" for label, count in few.items())
            advice = "Use fewer folds (splits.evaluation, folds), or leave out or merge such classes."
            found.append(Finding("few-rows", (), printable(message), advice))
        smallest = min(counts, key=lambda label: counts[label])
        if counts[smallest] < min(SMALL_CLASS * n_rows, max(counts.values()) / UNEQUAL_CLASSES):
            message = f"class {smallest} has {counts[smallest] / n_rows:.1%} of the rows"
            advice = "Read balanced-accuracy or roc-auc rather than accuracy."
            found.append(Finding("imbalance", (), printable(message), advice))
    if raw.constant:
        message = f"{listed(raw.constant)} never {_verb(raw.constant, 'vary', 'varies')}"
        found.append(Finding("constant", raw.constant, message, "They are never chosen, so nothing needs to be done."))
    if raw.duplicates:
        pairs = listed([f"{later} (= {first})" for first, later in raw.duplicates])
        repeat = _verb(raw.duplicates, "columns repeat", "column repeats")
        message = f"{len(raw.duplicates)} {repeat} an earlier one: {pairs}"
        advice = "A search keeps one of each pair; tie-star lists both answers. Drop the ones you would not measure."
        found.append(Finding("duplicate", tuple(later for _, later in raw.duplicates), message, advice))
    if n_equal := n_equal_rows(raw):
        rows = "row equals" if n_equal == 1 else "rows equal"
        message = f"{n_equal:,} {rows} an earlier one in all columns"
        advice = "Where columns have few values, equal rows are to be expected. Else, if entered twice, keep each once."
        if repeats(chain(raw.features.columns, [raw.target]), n_rows) is not None:
            advice = f"They are {REPEATS_TOLD}."
        found.append(Finding("equal-rows", (), message, advice))
    if (alike := likeness_of_neighbours(raw.target)) > ALIKE:
        message = f"neighbouring rows have similar {raw.target.name} (rank correlation {alike:.2f})"
        advice = (
            "Rows held out at random then have neighbours among the others, which makes scores too good. If rows are "
            "in order of time, name their time and judge later rows by earlier ones (docs/rows.md)."
        )
        found.append(Finding("row-order", (raw.target.name,), printable(message), advice))
    if bends := bends_seen(raw.features, raw.target):
        advice = (
            "Correlations miss or mistake such relations. ci_test: spline follows them; auto takes it where it is fast "
            "enough, and says so where it is not."
        )
        found.append(Finding("bent", (), f"relations bend: {bends}", advice))
    weights = None if raw.features.design is None else raw.features.design.weights
    if weights is not None and (effective := effective_rows(weights)) < UNEQUAL * n_rows:
        message = f"weights are very unequal: {n_rows:,} rows tell about as much as {effective:,.0f} equal ones"
        found.append(Finding("weights", (), message, "Look at the rows with the largest weights: they decide much."))
    if n_features > n_rows:
        message = f"more features ({n_features}) than rows ({n_rows})"
        advice = (
            "Expect false positives: divide alpha by the number of features, or use correction: bh if a method has it."
        )
        found.append(Finding("wide", (), message, advice))
    return found


def n_equal_rows(raw: RawTable) -> int:
    """Return how many of the rows that are examined equal an earlier one in the target and all features.

    It is 0 where features are left out of the examination.
    """
    n_rows, columns = raw.features.n_rows, raw.features.columns
    if len(columns) > MOST_COLUMNS or raw.features.design is not None:
        return 0
    n = n_rows_examined(n_rows, len(columns))
    places = np.zeros(n, dtype=np.int64)
    for column in [raw.target, *columns]:
        _, codes = np.unique(column.take(np.arange(n)).cells(), return_inverse=True)
        _, places = np.unique(places * (int(codes.max()) + 1) + codes, return_inverse=True)
        if places.max() == n - 1:
            return 0
    return n - int(places.max()) - 1


#: Neighbouring rows are alike from this rank correlation on, unless the rows are sorted: if the target turns less often
#: than once in this many rows.
ALIKE, TURNS = 0.8, 20
#: The fewest rows whose order is looked at, and the most.
FEWEST_ORDERED, MOST_ORDERED = 30, 100_000


def likeness_of_neighbours(target: Column) -> float:
    """Return the rank correlation of the target in neighbouring rows, 0 if the rows are sorted by it, or are few."""
    ranks = _ranks(target.numbers()[:MOST_ORDERED])
    steps = np.sign(np.diff(ranks))
    steps = steps[steps != 0]
    if len(ranks) < FEWEST_ORDERED or np.count_nonzero(np.diff(steps)) < len(ranks) / TURNS:
        return 0.0
    first, second = standardised(np.stack([ranks[:-1], ranks[1:]]))
    return float(first @ second)


def class_counts(raw: RawTable) -> dict[str, int]:
    """Return the number of rows of each class that occurs, in the order of the labels."""
    counts = np.bincount(raw.target.values, minlength=len(raw.target.levels)).tolist()
    return {label: count for label, count in zip(raw.target.levels, counts, strict=True) if count}


# --- guesses from a column's values and name what it is: identifier, date, text, label, group -------------------------

_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ]\d{1,2}:\d{2}(:\d{2})?\S*)?"
    r"|\d{1,2}:\d{2}(:\d{2})?\S*"
)
#: The number of values examined to recognise dates and free text.
_SAMPLE = 100
#: Integers with at most this many distinct values may be codes of labels.
MOST_CODES = 10


@dataclass(frozen=True)
class ColumnSummary:
    """One column of a table.

    `values` is the range of the numbers, or the first labels. `looks_like` is ``row-number``, ``identifier``, ``date``,
    ``text``, ``number`` (text that is meant as numbers), ``large`` (integers whose last digits are lost), ``group``,
    ``code`` (integers that may be labels) or empty.
    """

    name: str
    kind: str
    n_missing: int
    n_distinct: int
    values: str
    looks_like: str = ""


def summarise(column: Column) -> ColumnSummary:
    """Return the summary of a column."""
    if column.kind == CATEGORICAL:
        levels = _levels(column)
        shown = ", ".join(levels[:4]) + (", ..." if len(levels) > 4 else "")
        missing, distinct = column.n_missing(), len(levels)
    else:
        present = column.numbers()
        present = present[~np.isnan(present)]
        values = np.unique(present)
        missing, distinct = column.n_rows - len(present), len(values)
        shown = f"{values[0]:.6g} .. {values[-1]:.6g}" if distinct else ""
    like = "number" if what_is_held(column) else looks_like(column)
    return ColumnSummary(column.name, column.kind, missing, distinct, shown, like)


def looks_like(column: Column) -> str:
    """Return what a column looks like, as in `ColumnSummary`, except text that is meant as numbers.

    >>> looks_like(Column("row", "integer", np.arange(1, 31)))
    'row-number'
    """
    if column.kind == CATEGORICAL:
        return _text_looks_like(column.name, _levels(column), column.n_rows - column.n_missing())
    present = column.numbers()
    present = present[~np.isnan(present)]
    if column.kind == BOOLEAN or not len(present) or not np.array_equal(present, np.round(present)):
        return ""
    return _whole_looks_like(column, present, np.unique(present))


def _levels(column: Column) -> list[str]:
    """Return the labels that occur."""
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
    return [column.levels[code] for code in np.flatnonzero(counts).tolist()]


def _text_looks_like(name: str, levels: list[str], n_present: int) -> str:
    sample = levels[:_SAMPLE]
    if len(levels) >= 3 and all(map(_DATE.fullmatch, sample)):
        return "date"
    if len(levels) >= FEWEST and np.mean([text.count(" ") >= 4 or len(text) > 60 for text in sample]) > 0.5:
        return "text"
    if len(levels) >= max(2 * FEWEST, 0.9 * n_present) and not _are_measured(levels, n_present):
        return "identifier"
    return _group(name, len(levels), n_present)


def _are_measured(levels: list[str], n_present: int) -> bool:
    """Whether most labels are numbers of which some have decimals, or occur twice: such as no identifier has."""
    numbers = [level for level in levels if is_number(level)]
    return 2 * len(numbers) > len(levels) and (len(levels) < n_present or any("." in level for level in numbers))


def _whole_looks_like(column: Column, present: np.ndarray, values: np.ndarray) -> str:
    n = len(present)
    if max(-values[0], values[-1]) >= MOST_WHOLE:
        return "large"
    if told := identifier_kind(column):
        return told
    is_code = column.kind == INTEGER and 3 <= len(values) <= MOST_CODES and n >= 5 * len(values)
    return _group(column.name, len(values), n) or ("code" if is_code else "")


def _group(name: str, n_distinct: int, n_present: int) -> str:
    if not named_group(name, n_distinct, n_present):
        return ""
    return "group" if tokens(name) & (ID_WORDS | WHO) else "place"
