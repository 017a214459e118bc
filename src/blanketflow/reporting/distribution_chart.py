"""Small charts of the values of a column: a histogram as SVG, or shares of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from ..data.findings.distribution import Distribution
from .formatting import number

#: Size of a small histogram, in its own units.
_WIDTH, _HEIGHT = 200, 48


def share_of(n: int, of: int) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> share_of(3, 12), share_of(1, 1000), share_of(0, 5)
    ('25 %', '< 1 %', '0 %')
    """
    share = 100 * n / max(of, 1)
    return f"{share:.0f} %" if share >= 1 or not n else "< 1 %"


def drawn_values(one: Distribution) -> dict[str, Any] | None:
    """Return what a template draws: bars of labels with their shares, or a histogram with its ends; None of nothing."""
    if not one.counts:
        return None
    n = sum(one.counts) + one.n_below + one.n_above + one.n_others
    if one.labels and not (one.is_number and len(one.labels) > 2):
        rows = [(label, k / n, share_of(k, n)) for label, k in zip(one.labels, one.counts, strict=True)]
        return {"labels": rows, "others": share_of(one.n_others, n) if one.n_others else "", "bars": None}
    low, high = (one.labels[0], one.labels[-1]) if one.labels else (_short(one.edges[0]), _short(one.edges[-1]))
    beyond = [
        f"{number(one.n_below)} below" if one.n_below else "",
        f"{number(one.n_above)} above" if one.n_above else "",
    ]
    told = ", ".join(filter(None, beyond))
    drawn = {"labels": None, "bars": histogram(one, low, high), "low": low, "high": high, "beyond": told}
    return drawn | {"note": "dark: with the event; light: observation ended without it" if one.events else ""}


def _short(value: float) -> str:
    return f"{value:.4g}".replace("-", "\N{MINUS SIGN}")


def histogram(one: Distribution, low: str, high: str) -> Markup:
    """Return a histogram as SVG: one path, and one of events, so that a page of many columns stays small."""
    most = max(one.counts)
    events = Markup('<path class="events" d="{}"/>').format(_bars(one.events, most)) if one.events else ""
    return Markup(
        '<svg viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="values from {} to {}">'
        '<path d="{}"/>{}</svg>'
    ).format(_WIDTH, _HEIGHT, low, high, _bars(one.counts, most), events)


def _bars(counts: Sequence[int], most: int) -> str:
    """Return the path of bars; the highest that the chart has room for is `most`."""
    step = _WIDTH / len(counts)
    gap = min(1.0, step / 5)
    return "".join(
        f"M{at * step + gap / 2:.4g} {_HEIGHT}v{-max(_HEIGHT * k / most, 1):.4g}h{step - gap:.4g}V{_HEIGHT}z"
        for at, k in enumerate(counts)
        if k
    )
