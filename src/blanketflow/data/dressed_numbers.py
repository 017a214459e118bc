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
from ..core.in_yaml import in_yaml
from ..core.printable import listed, printable
from ..core.table import Column
from .columns import number_column
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
_HIGH_WORDS = frozenset({"alq", "auloq", "uloq"})
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


class AtLimits(NamedTuple):
    """The cells of a column below or above detection, and what stands there; no `rule` if the key is to say it."""

    column: str
    key: str
    #: Which texts, in how many of all cells.
    texts: str
    n_cells: int
    n_rows: int
    rule: str | None
    #: Whether a text states no limit, so that the nearest number measured stands for it.
    is_nearest: bool = False

    @property
    def proposed(self) -> str:
        """The rule that is proposed."""
        return "half" if self.key == BELOW else "limit"

    @property
    def side(self) -> str:
        """Whether they are below or above."""
        return self.key.partition("_")[0]

    @property
    def proposed_in_words(self) -> str:
        """What is proposed to stand there."""
        return "half of the limit" if self.proposed == "half" else "the limit"

    @property
    def where(self) -> str:
        """Which texts, and where, in words."""
        return f"{self.texts} in {self.n_cells:,} of {self.n_rows:,} cells"

    @property
    def seen(self) -> str:
        """What was seen, in words."""
        return f"column {self.column!r} holds numbers, and {self.where}, {self.side} what was measured"

    @property
    def done(self) -> FoundOut:
        """What was done by the rule."""
        name, key = self.column, self.key
        stands = {
            "half": "half of the limit stands there",
            "limit": "the limit stands there",
            "zero": "0 stands there",
            "missing": "they are missing",
            "indicator": f"the limit stands there, and {name}_{key} says where",
        }[self.rule or self.proposed]
        without = " (the nearest number measured, where none is stated)" if self.is_nearest else ""
        return FoundOut(f"{name} holds {self.where}, {self.side} detection: {stands}{without}", key)


class RuleNeeded(DataError):
    """Columns hold cells below or above detection, and keys must say what stands there."""

    def __init__(self, name: str, undecided: Sequence[AtLimits], spec: Mapping[str, Any]) -> None:
        self.undecided = tuple(undecided)
        #: The keys that are proposed.
        self.keys: dict[str, Any] = {}
        for one in undecided:
            given = self.keys.get(one.key, spec.get(one.key))
            is_by_column = isinstance(given, Mapping)
            self.keys[one.key] = {**given, one.column: one.proposed} if is_by_column else one.proposed
        first = undecided[0]
        others = listed([repr(one.column) for one in undecided if one.key == first.key and one is not first])
        super().__init__(f"{name}: {first.seen}{others and '; also ' + others}. {self.way_out(first)}")

    def way_out(self, one: AtLimits) -> str:
        """Return in words what to set."""
        others = ", ".join(rule for rule in RULES if rule != one.proposed)
        key = f"{one.key}: {in_yaml(self.keys[one.key])}"
        return f"Set {key}, or {others} (blanketflow explain docs/sources.md), or list the column under categorical."


class Read(NamedTuple):
    """A column of numbers with others that go with it, texts read as missing, its form, and what stands at limits."""

    columns: list[Column]
    missing: dict[str, int]
    form: str
    limits: list[AtLimits]


class Spelling(NamedTuple):
    """How labels may be read as numbers."""

    #: The spec's signs before decimals and between thousands.
    asked: tuple[str | None, str | None] = (None, None)
    #: The sign before decimals that was found in other columns.
    decimal: str | None = None
    #: Whether labels are declared as such, so that few of them stay labels.
    is_declared: bool = False


def check_columns(name: str, key: str, asked: Any, names: Collection[str]) -> None:
    """Raise `ConfigError` if a key by column names one that is not there."""
    for column in asked if isinstance(asked, Mapping) else ():
        if column not in names:
            raise ConfigError(f"{name}: {key} names the column {column!r}. {did_you_mean(column, names)}")


def numbers_of_labels(
    name: str, column: Column, missing: Collection[str], limits: Limits, spelling: Spelling
) -> Read | None:
    """Return a column of labels as numbers; None if it holds others.

    `missing` are texts that mean missing cells. Cells below or above detection without a rule of `limits` are as with
    the proposed rule. Raises `DataError` if a comma may mean two things.

    >>> share = Column("share", "categorical", np.array([0, 1, 2, 2]), ("1%", "2.5%", "30%"))
    >>> numbers_of_labels("demo", share, (), Limits(), Spelling()).columns[0].values
    array([ 1. ,  2.5, 30. , 30. ])
    """
    found = _cells_of(column, missing, spelling.is_declared)
    if found is None:
        return None
    cells, others = found
    form = _form_of(name, column, [cell.bare for cell in cells if cell and cell.bare], spelling)
    if form is None:
        return None
    plain = [NumberFormat(*form).plain(_blanks(cell.bare)) if cell and cell.bare else "" for cell in cells]
    columns, told = _with_limits(name, column, cells, plain, limits)
    return Read(columns, others, _in_words(column.levels, _beside(cells), form), told)


def at_limits(column: Column, missing: Collection[str] = ()) -> list[AtLimits]:
    """Return which cells of a column of labels are below and above detection, if all others hold numbers.

    >>> lead = Column("lead", "categorical", np.array([0, 1, 2, 3]), ("1.5", "<0.6", "30", "2"))
    >>> [(one.key, one.texts) for one in at_limits(lead)]
    [('below_detection', "'<0.6'")]
    """
    found = _cells_of(column, missing)
    return [] if found is None else _at_limits(column, found[0], Limits())


def _at_limits(column: Column, cells: Sequence[_Cell | None], limits: Limits) -> list[AtLimits]:
    told = []
    for limit, key in ((-1, BELOW), (1, ABOVE)):
        such = [at for at, cell in enumerate(cells) if cell and cell.limit == limit]
        if n := int(np.count_nonzero(np.isin(column.values, such))) if such else 0:
            texts = listed([repr(printable(column.levels[at])) for at in such])
            is_nearest = any(not cells[at].bare for at in such)
            told.append(
                AtLimits(column.name, key, texts, n, column.n_rows, limits.rule(column.name, limit), is_nearest)
            )
    return told


def _cells_of(
    column: Column, missing: Collection[str], is_declared: bool = False
) -> tuple[list[_Cell | None], dict[str, int]] | None:
    """Return what the labels say, and which are missing cells, in how many; None if the column holds no numbers."""
    if not all(_cell(level) or level in missing for level in islice(column.levels, _SOME)):
        return None
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels)).tolist()
    held = [*zip(column.levels, counts, strict=True)]
    cells = [_cell(level) if n and level not in missing else None for level, n in held]
    others = {level: n for (level, n), cell in zip(held, cells, strict=True) if n and cell is None}
    is_of_numbers = others.keys() <= {*missing} and _are_numbers(column, cells, is_declared)
    return (cells, others) if is_of_numbers else None


def _beside(cells: Sequence[_Cell | None]) -> set[tuple[str, str]]:
    return {cell.beside for cell in cells if cell and cell.bare}


def _are_numbers(column: Column, cells: Sequence[_Cell | None], is_declared: bool) -> bool:
    """Whether the cells are enough different numbers with the same beside them, and more than plain numbers."""
    n_numbers, beside = sum(1 for cell in cells if cell and not cell.limit), _beside(cells)
    are_plain = beside == {("", "")} and all(map(is_number, column.levels))
    return n_numbers >= (_MOST_DECLARED + 1 if is_declared else _FEWEST) and len(beside) < 2 and not are_plain


def _cell(level: str) -> _Cell | None:
    """Return what a label says; None if it is no number."""
    if match := _DRESSED(level):
        minus = "".join(match[key] or "" for key in ("minus", "sign")).replace("\u2212", "-").replace("+", "")
        minus += "-" if match["paren"] else ""
        if len(minus) > 1 or (bool(match["paren"]) + bool(match["limit"]) + bool(match["more"])) > 1:
            return None
        is_below = match["limit"] in ("<", "<=", "≤", "⩽", "&lt;")
        limit = -1 if is_below else int(bool(match["limit"] or match["more"]))
        return _Cell(minus + match["bare"], (match["prefix"] or "", match["suffix"] or ""), limit)
    if match := _NO_NUMBER(level):
        word, sign = match["word"].lower(), (match["limit"] or "").lower()
        is_above = word in _HIGH_WORDS or sign in (">", ">=", "≥", "above", "over", "ab.")
        return _Cell(None, ("", ""), 1 if is_above else -1)
    return None


def _blanks(text: str) -> str:
    return _BLANKS.sub(" ", text).replace("\u2019", "'")


def _form_of(name: str, column: Column, texts: Sequence[str], spelling: Spelling) -> tuple[str, str | None] | None:
    """Return how the numbers of a column are written: the signs before decimals and between thousands, if in any way.

    Raises `DataError` if a comma may be either.
    """
    texts = [*map(_blanks, texts)]
    before, between = spelling.asked
    forms = [(before or ".", between)] if before or between else _FORMATS
    fits = [form for form in forms if all(map(NumberFormat(*form).reads, texts))]
    fits = [form for form in fits if form[0] == spelling.decimal] or fits
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
    name: str, column: Column, cells: Sequence[_Cell | None], plain: Sequence[str], limits: Limits
) -> tuple[list[Column], list[AtLimits]]:
    """Return the column of numbers with what the rules put in the place of cells below and above detection."""
    texts = [text if cell and not cell.limit else "" for text, cell in zip(plain, cells, strict=True)]
    found = column_of_texts(name, column.name, column.values, [*texts, ""])  # code -1 finds the last
    values, indicators = found.numbers(), []
    known, told = values[~np.isnan(values)], _at_limits(column, cells, limits)
    for one in told:
        limit = -1 if one.key == BELOW else 1
        rows = np.isin(column.values, [at for at, cell in enumerate(cells) if cell and cell.limit == limit])
        end = float(known.min() if limit < 0 else known.max())
        at_limit = np.array([float(text) if text else end for text in plain])[column.values]
        put = {"half": at_limit / 2, "zero": np.zeros(len(values)), "missing": np.full(len(values), np.nan)}
        rule = one.rule or one.proposed
        values = np.where(rows, put.get(rule, at_limit), values)
        if rule == "indicator":
            indicators.append(Column(f"{column.name}_{one.key}", INTEGER, rows.astype(np.int64)))
    numbers = number_column(column.name, values) if found.kind == INTEGER else Column(column.name, NUMERIC, values)
    return [numbers, *indicators], told


def _in_words(levels: Collection[str], beside: set[tuple[str, str]], form: tuple[str, str | None]) -> str:
    """Return how numbers are written, in words; empty for plainly."""
    signs = [repr(printable(sign)) for pair in beside for sign in pair if sign]
    told = [f"{' and '.join(signs)} beside numbers"] if signs else []
    told += ["other minus signs"] if any("(" in level or "\u2212" in level for level in levels) else []
    told += ["decimal commas"] if form[0] == "," else []
    told += [f"{form[1]!r} between thousands"] if form[1] else []
    return ", and ".join(told)
