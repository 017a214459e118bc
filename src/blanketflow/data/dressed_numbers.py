"""Columns of labels that are numbers with something beside them: a unit, per cent, currency, "<" of a detection limit.

A column is read as numbers where all of its cells have one form: the same unit or sign, besides texts that mean missing
cells and those below or above what can be measured.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..core.cards import INTEGER, NUMERIC
from ..core.errors import ConfigError, DataError, did_you_mean
from ..core.printable import listed, printable
from ..core.table import Column
from .columns_of_text import column_of_texts, is_number
from .dialect import FoundOut, NumberFormat

#: What can stand in for a cell below or above detection.
RULES = ("half", "limit", "zero", "missing", "indicator")
BELOW, ABOVE = "below_detection", "above_detection"
#: With fewer different numbers a column holds labels; where texts are declared to be labels, with at most so many.
_FEWEST, _MOST_DECLARED = 3, 10
#: Levels that are looked at first.
_SOME = 20
_CURRENCY = r"[$€£¥₹₩₽฿]|US\$|C\$|A\$|R\$|USD|EUR|GBP|CHF|JPY|CAD|AUD|INR|Rs\.?"
_BARE = r"\.?[0-9](?:[0-9.,'\u2019 \u00a0\u202f\u2009]*[0-9])?\.?(?:[eE][+-]?[0-9]+)?"
_UNIT = r"(?:%|‰|[°µμ€$£¥₹₩₽฿]|[^\W\d_])[\w%‰°µμ€$£¥/²³^.·*-]{0,11}"
_DRESSED = re.compile(
    r"(?P<limit><=|>=|[<>≤≥⩽⩾]|&lt;|&gt;)?\s*(?P<paren>\()?(?P<minus>[+\u2212-])?\s?"
    rf"(?P<prefix>{_CURRENCY})?\s?(?P<sign>[+\u2212-])?(?P<bare>{_BARE})\s*(?P<suffix>{_UNIT})?(?(paren)\))(?P<more>\+)?"
).fullmatch
_NO_NUMBER = re.compile(
    r"(?P<limit><=?|>=?|[≤≥]|below|above|under|over|bel\.|ab\.)?\s*(?P<word>(?:l?loq|l?lod|lld|mdl|rl|dl|uloq|detection"
    r"(?: limit)?|limit of (?:detection|quantification|quantitation))|bdl|blq|bql|bloq|blod|alq|auloq)",
    re.IGNORECASE,
).fullmatch
_LOW_WORDS, _HIGH_WORDS = frozenset({"bdl", "blq", "bql", "bloq", "blod"}), frozenset({"alq", "auloq", "uloq"})
_BLANKS = re.compile("[\u00a0\u202f\u2009]")
#: How numbers may be written: the sign before decimals, and between thousands.
_FORMATS = ((".", None), (",", None), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))


class _Cell(NamedTuple):
    """What a label says: a number, with what stands beside it, and whether it is below (-1) or above (1) it."""

    bare: str | None
    beside: tuple[str, str]
    limit: int


class Limits(NamedTuple):
    """What becomes of cells below and above detection: a rule, rules by column, or None to refuse such a column."""

    below: str | Mapping[str, str] | None = None
    above: str | Mapping[str, str] | None = None

    def rule(self, column: str, limit: int) -> str | None:
        """Return the rule of a column."""
        asked = self.below if limit < 0 else self.above
        return asked.get(column) if isinstance(asked, Mapping) else asked


class Read(NamedTuple):
    """A column of numbers with others that go with it, texts read as missing, its form, and what stands at limits."""

    columns: list[Column]
    missing: dict[str, int]
    form: str
    limits: list[FoundOut]


def check_columns(name: str, key: str, asked: Any, names: Collection[str]) -> None:
    """Raise `ConfigError` if a key by column names one that is not there."""
    for column in asked if isinstance(asked, Mapping) else ():
        if column not in names:
            raise ConfigError(f"{name}: {key} names the column {column!r}. {did_you_mean(column, names)}")


def numbers_of_labels(
    name: str,
    column: Column,
    missing: Collection[str],
    limits: Limits,
    asked: tuple[str | None, str | None],
    decimal: str | None,
    is_declared: bool,
) -> Read | None:
    """Return a column of labels as numbers; None if it holds others.

    `missing` are texts that mean missing cells, `asked` the spec's signs before decimals and between thousands,
    `decimal` the one found in other columns. With `is_declared` the labels are declared as such, and few of them stay
    so. Raises `DataError` if a cell is below or above detection and `limits` do not say what stands for it, or a comma
    may mean two things.

    >>> share = Column("share", "categorical", np.array([0, 1, 2, 2]), ("1%", "2.5%", "30%"))
    >>> numbers_of_labels("demo", share, (), Limits(), (None, None), None, False).columns[0].values
    array([ 1. ,  2.5, 30. , 30. ])
    """
    if not all(_cell(level) or level in missing for level in islice(column.levels, _SOME)):
        return None
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels)).tolist()
    cells = [
        _cell(level) if n and level not in missing else None for level, n in zip(column.levels, counts, strict=True)
    ]
    pairs = [*zip(column.levels, counts, cells, strict=True)]
    if any(cell is None and n and level not in missing for level, n, cell in pairs):
        return None
    numbers = [cell for cell in cells if cell and not cell.limit]
    if len(numbers) < (_MOST_DECLARED + 1 if is_declared else _FEWEST):
        return None
    beside = {cell.beside for cell in cells if cell and cell.bare}
    if len(beside) > 1 or (beside == {("", "")} and all(map(is_number, column.levels))):
        return None
    form = _form_of(name, column, [cell.bare for cell in cells if cell and cell.bare], asked, decimal)
    if form is None:
        return None
    plain = [NumberFormat(*form).plain(_blanks(cell.bare)) if cell and cell.bare else "" for cell in cells]
    values = [text if cell and not cell.limit else "" for text, cell in zip(plain, cells, strict=True)]
    found = column_of_texts(name, column.name, column.values, [*values, ""])  # code -1 finds the last
    columns, told = _with_limits(name, found, column, cells, plain, limits)
    of_missing = {level: n for level, n, cell in pairs if cell is None and n}
    return Read(columns, of_missing, _in_words(column.levels, beside, form), told)


def _cell(level: str) -> _Cell | None:
    """Return what a label says; None if it is no number."""
    if match := _DRESSED(level):
        minus = "".join(match[key] or "" for key in ("minus", "sign")).replace("\u2212", "-").replace("+", "")
        minus += "-" if match["paren"] else ""
        if len(minus) > 1 or (bool(match["paren"]) + bool(match["limit"]) + bool(match["more"])) > 1:
            return None
        limit = (
            int(bool(match["more"]))
            if not match["limit"]
            else -1
            if match["limit"] in ("<", "<=", "≤", "⩽", "&lt;")
            else 1
        )
        return _Cell(minus + match["bare"], (match["prefix"] or "", match["suffix"] or ""), limit)
    if match := _NO_NUMBER(level):
        word, sign = match["word"].lower(), (match["limit"] or "").lower()
        is_above = word in _HIGH_WORDS or sign in (">", ">=", "≥", "above", "over", "ab.")
        return _Cell(None, ("", ""), 1 if is_above else -1)
    return None


def _blanks(text: str) -> str:
    return _BLANKS.sub(" ", text).replace("\u2019", "'")


def _form_of(
    name: str, column: Column, texts: Sequence[str], asked: tuple[str | None, str | None], decimal: str | None
) -> tuple[str, str | None] | None:
    """Return how the numbers of a column are written: the signs before decimals and between thousands, if in any way.

    Raises `DataError` if a comma may be either.
    """
    texts = [*map(_blanks, texts)]
    forms = [(asked[0] or ".", asked[1])] if any(asked) else _FORMATS
    fits = [form for form in forms if all(map(NumberFormat(*form).reads, texts))]
    fits = [form for form in fits if form[0] == decimal] or fits
    if not {(",", None), (".", ",")} <= {*fits} or fits[0] == (".", None):
        return fits[0] if fits else None
    if re.match(_CURRENCY, column.levels[0]):
        return ".", ","  # amounts have no three decimals
    shown = next(level for level in column.levels if "," in level)
    raise DataError(
        f"{name}: column {column.name!r} holds numbers such as {shown!r}, whose comma may stand before decimals or "
        'between thousands. Set decimal: "," or thousands: ",", or list the column under categorical.'
    )


def _with_limits(
    name: str, found: Column, column: Column, cells: Sequence[_Cell | None], plain: Sequence[str], limits: Limits
) -> tuple[list[Column], list[FoundOut]]:
    """Return the column with what the rules put in the place of cells below and above detection, and what it is."""
    values, told, more = found.numbers(), [], []
    known = values[~np.isnan(values)]
    for limit, key, is_where in ((-1, BELOW, "below"), (1, ABOVE, "above")):
        such = [at for at, cell in enumerate(cells) if cell and cell.limit == limit]
        rows = np.isin(column.values, such)
        if not rows.any():
            continue
        shown = listed([repr(printable(column.levels[at])) for at in such])
        where = f"{shown} in {np.count_nonzero(rows):,} of {len(values):,} cells"
        rule = limits.rule(column.name, limit)
        if rule is None:
            first = "half" if limit < 0 else "limit"
            others = [rule for rule in RULES if rule != first]
            raise DataError(
                f"{name}: column {column.name!r} holds numbers, and {where}, {is_where} what was measured. Set {key}: "
                f"{first}, or {', '.join(others)} (docs/sources.md), or list the column under categorical."
            )
        end = float(known.min() if limit < 0 else known.max())
        at_limit = np.array([float(text) if text else end for text in plain])[column.values]
        put = {"half": at_limit / 2, "zero": np.zeros(len(values)), "missing": np.full(len(values), np.nan)}
        values = np.where(rows, put.get(rule, at_limit), values)
        if rule == "indicator":
            more.append(Column(f"{column.name}_{key}", INTEGER, rows.astype(np.int64)))
        without = " (the nearest number measured, where none is stated)" if any(not plain[at] for at in such) else ""
        done = {
            "half": "half of the limit stands there",
            "limit": "the limit stands there",
            "zero": "0 stands there",
            "missing": "they are missing",
            "indicator": f"the limit stands there, and {column.name}_{key} says where",
        }[rule]
        told.append(FoundOut(f"{column.name} holds {where}, {is_where} detection: {done}{without}", key))
    are_whole = bool((known := values[~np.isnan(values)]).size) and np.array_equal(known, np.rint(known))
    kind = INTEGER if found.kind == INTEGER and are_whole else NUMERIC
    values = values.astype(np.int64) if kind == INTEGER and len(known) == len(values) else values
    return [Column(column.name, kind, values), *more], told


def _in_words(levels: Collection[str], beside: set[tuple[str, str]], form: tuple[str, str | None]) -> str:
    """Return how numbers are written, in words; empty for plainly."""
    signs = [repr(printable(sign)) for pair in beside for sign in pair if sign]
    told = [f"{' and '.join(signs)} beside numbers"] if signs else []
    told += ["other minus signs"] if any("(" in level or "\u2212" in level for level in levels) else []
    told += ["decimal commas"] if form[0] == "," else []
    told += [f"{form[1]!r} between thousands"] if form[1] else []
    return ", and ".join(told)
