"""Numbers and names as a reader of a chart wants them."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

import pandas as pd

NONE, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
#: Significant digits of the numbers that a chart holds: more than a pixel shows.
_DIGITS = 6


def number(value: Any, decimals: int = 3) -> str:
    """Return a number with as many decimals as its size asks for.

    Examples
    --------
    >>> number(0.9684), number(12.3456), number(1234.5), number(12.0)
    ('0.968', '12.35', '1,234', '12')
    """
    if value is None or value != value:
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    size = abs(value)
    if float(value).is_integer() and size < 1e15:
        text = f"{value:,.0f}"
    elif size < 10**-decimals / 2:
        text = f"{value:.1e}"
    else:
        text = f"{value:,.{max(0, decimals - max(0, math.floor(math.log10(size))))}f}"
    return text.replace("-", MINUS)


def signed(value: Any) -> str:
    """Return a difference with its sign."""
    text = number(value)
    return text if text == NONE or text.startswith(MINUS) or not value else "+" + text


def mean_sd(mean: Any, sd: Any) -> str:
    """Return mean ± standard deviation, or the mean alone where one value has no spread."""
    return number(mean) if sd is None or sd != sd else f"{number(mean)} ± {number(sd)}"


def seconds(value: Any) -> str:
    """Return a duration.

    Examples
    --------
    >>> seconds(0.04), seconds(75), seconds(7320)
    ('0.04 s', '1 min 15 s', '2 h 2 min')
    """
    if value is None or value != value:
        return NONE
    if value < 60:
        return f"{number(float(value), 2)} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60:,} h {minutes % 60} min"


def rounded(values: pd.Series) -> pd.Series:
    """Return numbers without the digits that no pixel shows, which would fill a page of many charts."""
    return values.astype("float64").map(lambda value: float(f"{value:.{_DIGITS}g}"))


def shortened(name: str, width: int) -> str:
    """Return a name cut in its middle to `width` characters, because names often differ at their ends.

    Examples
    --------
    >>> shortened("expression of BRCA1 in sample 17", 20)
    'expression…sample 17'
    """
    if text_width(name) <= width:
        return name
    head = width // 2
    start, end = name[:head], name[-(width - head - 1) :]
    while text_width(start) + text_width(end) >= width and (start or end):
        start, end = start[:-1], end[1:]
    return f"{start}…{end}"


def text_width(text: str) -> int:
    """Return the width of a text in Latin characters: East Asian ones are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
