"""Formats of numbers, values, references and targets in the report and its charts, and colours."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from ..core.metrics import METRICS

NONE, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)?(10\.\d{4,9}/[^\s\"]*[^\s,;.\"<>)\]])", re.IGNORECASE)


def number(value: Any, decimals: int = 3) -> str:
    """Return a number with fewer decimals the larger it is.

    >>> number(0.9684), number(12.3456), number(1234.5), number(12.0), number(-0.0)
    ('0.968', '12.35', '1,234', '12', '0')
    """
    if value is None or value != value:
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    size = abs(value)
    if float(value).is_integer() and size < 1e15:
        text = f"{value + 0.0:,.0f}"  # -0.0 is 0
    elif size < 10**-decimals / 2:
        text = f"{value:.1e}"
    else:
        text = f"{value:,.{max(0, decimals - max(0, math.floor(math.log10(size))))}f}"
    return text.replace("-", MINUS)


def seconds(value: Any) -> str:
    """Return a duration.

    >>> seconds(0.04), seconds(75), seconds(7320)
    ('0.04 s', '1 min 15 s', '2 h 2 min')
    """
    if value is None or value != value:
        return NONE
    if value < 60:
        return f"{number(float(value), 2)} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60:,} h {minutes % 60} min"


def fixed(value: Any, decimals: int = 3) -> str:
    """Return a number with a fixed number of decimals, for columns of scores.

    >>> fixed(0.5), fixed(-0.0)
    ('0.500', '0.000')
    """
    if value is None or value != value or math.isinf(value) or abs(value) >= 100 or 0 < abs(value) < 10**-decimals / 2:
        return number(value, decimals)
    return f"{value + 0.0:.{decimals}f}".replace("-", MINUS)


def signed(value: Any) -> str:
    """Return a difference with its sign.

    >>> signed(0.0123), signed(0.0), signed(0.00002)
    ('+0.012', '0.000', '±0.000')
    """
    if value is not None and 0 < abs(value) < 0.0005:
        return "±0.000"  # a power of ten would stand out in a column of differences, although it is almost zero
    text = fixed(value)
    return text if text == NONE or text.startswith(MINUS) or not value else "+" + text


def p_value(p: float) -> str:
    """Return a p-value as text; a p-value below 0.001 as a bound.

    >>> p_value(0.0312), p_value(1e-9)
    ('p = 0.031', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def mean_sd(mean: Any, sd: Any, form: Callable[[Any], str] = fixed) -> str:
    """Return mean ± standard deviation, or only the mean without one."""
    return form(mean) if sd is None or sd != sd else f"{form(mean)} ± {form(sd)}"


def interval(low: Any, high: Any, form: Callable[[Any], str] = fixed) -> str:
    """Return a 95 % interval in parentheses after a space; empty if it is unknown.

    >>> interval(0.5, 0.75), interval(float("nan"), float("nan"))
    (' (95 % interval 0.500 to 0.750)', '')
    """
    return "" if low != low or high != high else f" (95 % interval {form(low)} to {form(high)})"


def metric_name(metric: str) -> str:
    """Return the name of a metric in a sentence.

    >>> metric_name("balanced-accuracy"), metric_name("roc-auc"), metric_name("log-loss")
    ('balanced accuracy', 'ROC AUC', 'log-loss')
    """
    return METRICS[metric].name if metric in METRICS else metric.replace("-", " ")


def count(n: int, thing: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1."""
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


def plain(value: Any) -> str:
    """Return a value of a spec or card as text."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {plain(item)}" for key, item in value.items()) or "none"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(plain(item) for item in value) or "none"
    if isinstance(value, float):
        return f"{value:g}"
    return f"{value:,}" if isinstance(value, int) and abs(value) >= 10_000 else str(value)


def some(names: Sequence[str], most: int) -> str:
    """Return the first names and the number of others."""
    more = len(names) - most
    return plain(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def shortened(name: str, width: int) -> str:
    """Return a name cut in its middle to `width` characters, because names often differ at their ends.

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


def linked(reference: str) -> Markup:
    """Return an escaped reference with its DOIs as links."""
    parts, end = [], 0
    for match in _DOI.finditer(reference):
        parts += [
            escape(reference[end : match.start()]),
            Markup('<a href="https://doi.org/{0}">doi:{0}</a>').format(match[1]),
        ]
        end = match.end()
    return Markup("").join([*parts, escape(reference[end:])])


# --- how a target is distributed, in words, from its data card --------------------------------------------------------

#: Largest number of classes with separate counts.
MAX_CLASSES = 12


def distribution(target: Mapping[str, Any], n_rows: int) -> str:
    """Return how a target is distributed, in words; `target` is its part of the card.

    >>> distribution({"name": "y", "classes": {"ill": 10, "well": 30}}, 40)
    'ill 10 (25%), well 30 (75%)'
    """
    classes = target.get("classes", target.get("levels"))
    if "events" in target:
        return _events(target, n_rows)
    if "exposure" in target:
        exposure = f"the exposure {target['exposure']} ({number(target['total_exposure'])} in all rows)"
        return f"rate {number(target['rate'])} per unit of {exposure}; mean {number(target['mean'])}"
    if classes is None:
        return ", ".join(f"{key} {number(value)}" for key, value in target.items() if key != "name")
    total = sum(classes.values()) or 1
    shown = [f"{label} {n:,} ({n / total:.0%})" for label, n in list(classes.items())[:MAX_CLASSES]]
    return ", ".join(shown) + (f", {len(classes) - MAX_CLASSES} more classes" if len(classes) > MAX_CLASSES else "")


def _events(target: Mapping[str, Any], n_rows: int) -> str:
    event = f" ({target['event']})" if "event" in target else ""
    follow_up = number(target["median_follow_up"]) if target["median_follow_up"] is not None else "not reached"
    events = f"{count(target['events'], 'event')}{event} in {count(n_rows, 'row')} ({target['events'] / n_rows:.0%})"
    if "strata" in target:
        alone = target["events"] - target["compared_events"]
        strata = f"{target['n_strata']:,} {'stratum' if target['n_strata'] == 1 else 'strata'} of {target['strata']}"
        events += f" in {strata}"
        events += f", {alone:,} of which have no other row at risk in the stratum and do not count" if alone else ""
    return f"{events}, median follow-up {follow_up} (reverse Kaplan-Meier), longest {number(target['max'])}"


# --- colours of charts and notebooks ----------------------------------------------------------------------------------

#: Okabe and Ito's palette, distinguishable with any colour vision.
BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9"
#: The page's text colour, legible on light and dark pages.
INK = "currentColor"
#: Label and colour of each role, unless a chart needs a shorter label.
ROLES = {
    "parent_or_child": ("parent or child", BLUE),
    "parent": ("parent", BLUE),
    "child": ("child", SKY),
    "member": ("member, role not known", GREEN),
    "included": ("asked for, not found", PURPLE),
    "spouse": ("spouse", ORANGE),
}
