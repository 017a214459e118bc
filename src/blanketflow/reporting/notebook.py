"""The HTML that a notebook shows of a result: tables with bars, a curve, and names of any origin written safely.

Everything is styled inline and takes its text colour from the page, so that it is legible on light and dark pages and
survives a notebook that is mailed. Values are escaped by `Markup.format`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ..core.printable import printable
from .formatting import BLUE, INK, ORANGE, ROLES, number

#: The largest number of rows of a table, and of names in a cell.
MOST_ROWS, MOST_NAMES = 40, 30
_BAR = 90  # pixels
_CELL = "text-align:left;vertical-align:top;padding:.2em .8em .2em 0;border:0;background:none"
_FAINT = "opacity:.75"


def page(title: str, *parts: Markup) -> str:
    """Return a block with a title.

    Examples
    --------
    >>> page("a < b", paragraph("Nothing."))  # doctest: +ELLIPSIS
    '<div class="blanketflow" style="..."><strong>a &lt; b</strong><p style="...">Nothing.</p></div>'
    """
    head = Markup('<div class="blanketflow" style="margin:.6em 0;line-height:1.4"><strong>{}</strong>')
    return str(head.format(printable(title)) + Markup("").join(parts) + Markup("</div>"))


def paragraph(text: str) -> Markup:
    """Return a paragraph; nothing of an empty text."""
    return Markup('<p style="margin:.3em 0;max-width:60em">{}</p>').format(printable(text)) if text else Markup("")


def bullets(lines: Sequence[str]) -> Markup:
    """Return lines as a list; nothing of no line."""
    items = Markup("").join(Markup("<li>{}</li>").format(printable(line)) for line in lines)
    return Markup('<ul style="margin:.3em 0">{}</ul>').format(items) if lines else Markup("")


def table(rows: Sequence[Mapping[str, Any]], more: str = "rows") -> Markup:
    """Return rows as a table with the keys of the first as its head; columns without any value are left out.

    At most `MOST_ROWS` are shown, and a line says how many `more` there are.
    """
    columns = [name for name in (rows[0] if rows else {}) if any(row[name] not in ("", None) for row in rows)]
    if not columns:
        return Markup("")
    head = Markup("").join(
        Markup('<th style="{};font-weight:normal;{}">{}</th>').format(_CELL, _FAINT, name) for name in columns
    )
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(_cell(row[name]) for name in columns)) for row in rows[:MOST_ROWS]
    )
    style = "border-collapse:collapse;margin:.3em 0;border:0"
    drawn = Markup('<table style="{}"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>').format(style, head, body)
    return drawn + (paragraph(f"... and {len(rows) - MOST_ROWS} more {more}") if len(rows) > MOST_ROWS else Markup(""))


def _cell(value: Any) -> Markup:
    shown = value if isinstance(value, Markup) else printable("" if value is None else value)
    return Markup('<td style="{}">{}</td>').format(_CELL, shown)


def bar(value: float, largest: float, text: str = "", colour: str = BLUE) -> Markup:
    """Return a number with a bar beside it, of a length in proportion to `largest`."""
    is_drawn = math.isfinite(value) and math.isfinite(largest) and largest > 0
    width = round(_BAR * min(max(value / largest, 0.0), 1.0)) if is_drawn else 0
    drawn = Markup(
        '<span style="white-space:nowrap"><span style="display:inline-block;width:{}px;margin-right:.5em">'
        '<span style="display:inline-block;height:.7em;width:{}px;background:{}"></span></span>{}</span>'
    )
    return drawn.format(_BAR, width, colour, text or number(value))


def role(name: str) -> Markup:
    """Return a role in words, after a square in its colour; a role of a plug-in stands as it is."""
    label, colour = ROLES.get(name, (printable(name.replace("_", " ")), INK))
    return _square(colour) + Markup("{}").format(label)


def names_by_role(members: Iterable[tuple[str, str]]) -> Markup:
    """Return (name, role) pairs as one line, each name after the square of its role."""
    members = list(members)
    drawn = [
        Markup('<span style="display:inline-block;margin-right:.8em">{}{}</span>').format(
            _square(ROLES.get(role, ("", INK))[1]), printable(name)
        )
        for name, role in members[:MOST_NAMES]
    ]
    more = f"and {len(members) - MOST_NAMES} more" if len(members) > MOST_NAMES else ""
    return Markup(" ").join([*drawn, Markup("{}").format(more)]) if members else Markup("{}").format("no feature")


def legend(roles: Iterable[str]) -> Markup:
    """Return what the squares mean, for the roles that occur."""
    found = set(roles)
    return Markup('<p style="margin:.3em 0;{}">{}</p>').format(
        _FAINT, Markup(" &nbsp; ").join(role(name) for name in ROLES if name in found)
    )


def _square(colour: str) -> Markup:
    style = "display:inline-block;width:.7em;height:.7em;margin-right:.35em"
    return Markup('<span style="{};background:{}"></span>').format(style, colour)


def curve(points: Sequence[tuple[float, float]], chosen: int, reference: float, across: str, up: str) -> Markup:
    """Return a small line chart as SVG: one point is marked, and a dashed line is at the reference.

    Parameters
    ----------
    points : sequence of (x, y)
        From left to right; they stand at equal distances, with their x below them where there is room.
    chosen : int
        Position of the marked point.
    reference : float
        Height of the dashed line.
    across, up : str
        What the axes mean.
    """
    width, height, left, top, bottom = 460, 150, 58, 14, 38
    heights = [y for _, y in points] + [reference]
    low, high = min(heights), max(heights)
    step = (width - left - 14) / max(len(points) - 1, 1)

    def at(i: int) -> float:
        return left + i * step

    def rise(y: float) -> float:
        return top + (height - top - bottom) * (1 - (y - low) / ((high - low) or 1.0))

    every = max(1, math.ceil(len(points) * 26 / (width - left)))
    label = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-size="11" fill="currentColor">{}</text>')
    dash = Markup('<line x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}" stroke="currentColor" stroke-dasharray="4 3"/>')
    line = Markup('<polyline points="{}" fill="none" stroke="{}" stroke-width="2"/>')
    dot = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}"><title>{}: {}</title></circle>')
    parts = [
        dash.format(left, width, rise(reference), rise(reference)),
        line.format(" ".join(f"{at(i):.1f},{rise(y):.1f}" for i, (_, y) in enumerate(points)), BLUE),
        *(dot.format(at(i), rise(y), 3, BLUE, number(x), number(y)) for i, (x, y) in enumerate(points)),
        dot.format(at(chosen), rise(points[chosen][1]), 6, ORANGE, *map(number, points[chosen])),
        *(
            label.format(at(i), height - bottom + 16, "middle", number(x))
            for i, (x, _) in enumerate(points)
            if i % every == 0
        ),
        label.format(left - 8, rise(high) + 4, "end", number(high)),
        label.format(left - 8, rise(low) + 4, "end", number(low)) if high > low else Markup(""),
        label.format((left + width) / 2, height - 4, "middle", across),
    ]
    style = "display:block;max-width:100%;height:auto;margin:.4em 0"
    return Markup(
        '<svg width="{}" height="{}" viewBox="0 0 {} {}" role="img" aria-label="{}" style="{}">{}</svg>'
    ).format(width, height, width, height, f"{up} against {across}", style, Markup("").join(parts))
