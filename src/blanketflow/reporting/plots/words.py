"""Formats numbers, names and scores for the readers of charts."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

import pandas as pd

NONE, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
#: Title of the difference in tooltips.
DIFFERENCE = "difference to all features"
#: Significant digits of the numbers in a chart, finer than a pixel.
_DIGITS = 6


def number(value: Any, decimals: int = 3) -> str:
    """Return a number with fewer decimals the larger it is.

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
    """Return mean ± standard deviation, or only the mean if the standard deviation is missing."""
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
    """Return numbers without the digits that are finer than a pixel, which would enlarge the page."""
    return values.astype("float64").map(lambda value: float(f"{value:.{_DIGITS}g}"))


def shortened(name: str, width: int) -> str:
    """Return a name shortened in its middle to `width` characters, because names often differ at their ends.

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
    """Return the width of a text in Latin characters; East Asian characters count as two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def described(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the columns selector, model, mean and n_features, and the texts score, difference and features.

    Parameters
    ----------
    scores : DataFrame
        Columns selector, model and mean; the columns sd, n_splits, n_features and difference are optional.
    """
    full = scores.reindex(columns=["selector", "model", "mean", "sd", "n_splits", "n_features", "difference"])
    return pd.DataFrame(full[["selector", "model", "mean", "n_features"]]).assign(
        score=[
            mean_sd(mean, sd) + (f" over {int(n)} splits" if n > 1 else "")
            for mean, sd, n in zip(full["mean"], full["sd"], full["n_splits"], strict=True)
        ],
        difference=[signed(value) for value in full["difference"]],
        features=[number(value, 1) for value in full["n_features"]],
    )
