"""Numbers of a text table with decimal commas or signs between thousands: found out over all columns, and read."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from ..core.errors import DataError
from ..core.printable import listed
from .dialect import Dialect

_COMMA_BEFORE_DECIMALS = re.compile(
    r"[+-]?([0-9]+|[1-9][0-9]{0,2}(?P<mark>[. \u00a0\u202f'\u2019])[0-9]{3}((?P=mark)[0-9]{3})*)"
    r"(,[0-9]+)?([eE][+-]?[0-9]+)?"
).fullmatch
_COMMA_BETWEEN_THOUSANDS = re.compile(r"[+-]?([0-9]+|[1-9][0-9]{0,2}(,[0-9]{3})+)(\.[0-9]*)?").fullmatch
_WITH_POINT = re.compile(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?").fullmatch
_HAS_DIGIT = re.compile(r"[0-9]").search


class NumberFormat:
    """The sign before decimals and the one between thousands, if any; `also_plain` numbers may stand among them.

    >>> numbers = NumberFormat(",", ".")
    >>> numbers.plain("1.234,5"), numbers.plain("3.5"), numbers.plain("low")
    ('1234.5', "'3.5'", 'low')
    """

    def __init__(self, decimal: str, thousands: str | None, also_plain: bool = False) -> None:
        self._decimal, self._thousands, self._also_plain = decimal, thousands, also_plain
        grouped = rf"|[0-9]{{1,3}}({re.escape(thousands)}[0-9]{{3}})+" if thousands else ""
        whole, part = rf"([0-9]+{grouped})", rf"{re.escape(decimal)}[0-9]"
        self._is_number = re.compile(rf"[+-]?({whole}({part}*)?|{part}+)([eE][+-]?[0-9]+)?").fullmatch

    def plain(self, text: str) -> str:
        """Return a number as Python writes it, and any other text so that it is not taken for a number."""
        if self._is_number(text):
            return text.replace(self._thousands or "", "").replace(self._decimal, ".")
        if self._also_plain and _WITH_POINT(text):
            return text
        return repr(text) if _HAS_DIGIT(text) else text


def number_format(
    name: str, columns: Mapping[str, Collection[str]], missing: Collection[str], dialect: Dialect
) -> NumberFormat | None:
    """Return how the numbers of some columns are written, None for plainly; what was found out is said.

    `columns` are the distinct texts of each. Raises `DataError` if columns contradict each other, or all commas may
    stand before decimals as well as between thousands.
    """
    if dialect.decimal or dialect.thousands:
        decimal = dialect.decimal or "."
        is_plain = (decimal, dialect.thousands) == (".", None)
        return None if is_plain else NumberFormat(decimal, dialect.thousands, dialect.has_numbers)
    before, between, either = [], [], []
    thousands = ""
    for column, texts in columns.items():
        if "," not in "\0".join(texts):
            continue
        present = [text.strip() for text in texts if text.strip() not in missing]
        found = [_COMMA_BEFORE_DECIMALS(text) for text in present]
        are_before, are_between = all(found), all(map(_COMMA_BETWEEN_THOUSANDS, present))
        if are_before and are_between:
            either.append(column)
        elif are_before:
            before.append(column)
            thousands = thousands or next((match["mark"] for match in found if match and match["mark"]), "")
        elif are_between:
            between.append(column)
    if before and between:
        raise DataError(
            f"{name}: commas stand before decimals in column {before[0]!r}, and between thousands in {between[0]!r}. "
            "Write the numbers of both in one way, or list one of the columns under categorical."
        )
    if before:
        if not dialect.has_numbers:
            _check_points(name, columns, missing, before[0], thousands)
        what = f"decimal commas in {listed([*before, *either])}"
        dialect.say(f"{what}, and {thousands!r} between thousands" if thousands else what, "decimal")
        return NumberFormat(",", thousands or None, dialect.has_numbers)
    if between:
        dialect.say(f"commas between thousands in {listed([*between, *either])}", "thousands")
        return NumberFormat(".", ",")
    if either:
        shown = next(text for text in columns[either[0]] if "," in text).strip()
        raise DataError(
            f"{name}: column {either[0]!r} holds numbers such as {shown!r}, whose comma may stand before decimals or "
            'between thousands. Set decimal: "," or thousands: ",", or list the column under categorical.'
        )
    return None


def _check_points(
    name: str, columns: Mapping[str, Collection[str]], missing: Collection[str], with_commas: str, thousands: str
) -> None:
    """Raise `DataError` if another column has decimal points."""
    for column, texts in columns.items():
        if "." not in "\0".join(texts):
            continue
        present = [text.strip() for text in texts if text.strip() not in missing]
        plain = NumberFormat(".", None)
        are_points = any(map(_WITH_POINT, present)) and all(map(plain._is_number, present))
        is_grouped = thousands == "." and all(map(NumberFormat(",", ".")._is_number, present))
        if are_points and not is_grouped:
            raise DataError(
                f"{name}: column {with_commas!r} has decimal commas, but {column!r} decimal points. Write both in one "
                "way, or list one of them under categorical."
            )
