"""The picture of an answer: features with frequency and importance, beside the score by number of features.

Two SVG images with inline styles, without scripts, for the report, notebooks and the page of ``blanketflow select``.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

from markupsafe import Markup

from ..core.printable import printable
from .formatting import BLUE, ORANGE, ROLES, fixed, metric_name, number, shortened

#: The largest number of features in the picture, and of those among them that were not chosen.
MOST_ROWS, MOST_OTHERS = 9, 3
#: Pixels: width of an image, a line of text, a row, and the start of the bars. Letters are about 6 pixels wide.
_WIDTH, _LINE, _ROW, _BARS, _LETTER = 380, 14, 36, 170, 6.1
#: Height of the image of scores, and its margins.
_HEIGHT, _LEFT, _TOP, _BOTTOM = 286, 46, 50, 40
#: What the value 1 means, by metric.
_ONE = {
    "accuracy": "every row right",
    "balanced-accuracy": "every row right",
    "roc-auc": "every pair in order",
    "concordance": "every pair in order",
    "uno-concordance": "every pair in order",
    "time-auc": "every pair in order",
    "r2": "all variation explained",
    "kappa": "full agreement",
    "quadratic-kappa": "full agreement",
}
_QUIET = 'opacity=".75"'
#: Share and interval of a stand-in in words, for which a row has no room.
_SHARE = re.compile(r" \d\.\d\d \(\d\.\d\d to \d\.\d\d\)")


@dataclass(frozen=True)
class Row:
    """A feature: chosen `times` of `of` (0 if unknown), importance with interval (NaN if unknown), and stand-ins.

    The stand-ins are in words, as by `in_words`.
    """

    feature: str
    kept: bool
    times: float = 0
    of: int = 0
    importance: float = math.nan
    low: float = math.nan
    high: float = math.nan
    role: str = ""
    stand_ins: str = ""


def chosen(row: Mapping[str, Any], n_folds: int, stand_ins: str, **more: Any) -> Row:
    """Return the row of a chosen feature from its row of a blanket, whose importance may be unknown (None)."""
    told = {"importance": math.nan if row["importance"] is None else row["importance"], "role": row["role"], **more}
    times = row["frequency"] * n_folds if n_folds > 1 else 0
    return Row(row["feature"], True, times, n_folds, stand_ins=stand_ins, **told)


@dataclass(frozen=True)
class Point:
    """The score of a set of `size` features with its interval (NaN if unknown); `name` tells how it was found."""

    size: float
    score: float
    low: float = math.nan
    high: float = math.nan
    kept: bool = False
    name: str = ""


@dataclass(frozen=True)
class Picture:
    """What is drawn: `everything` and `nothing` are the scores with all features and with none (NaN if unknown).

    `repeats` names what `of` counts, ``folds`` or ``resamples``, and `importance` says what importance means.
    `is_curve` tells that the points are sets of one search, joined by a line, and not several selectors.
    """

    rows: Sequence[Row]
    points: Sequence[Point] = ()
    metric: str = ""
    everything: float = math.nan
    nothing: float = math.nan
    repeats: str = "folds"
    importance: str = ""
    interval: str = ""
    is_curve: bool = True
    n_more: int = 0
    next_steps: Sequence[str] = ()

    def __html__(self) -> str:
        parts = [of for of in (_features(self), _scores(self)) if of]
        style = "display:flex;flex-wrap:wrap;gap:.5em 2em;align-items:flex-start;margin:.8em 0;max-width:64em"
        open_tag = Markup('<div class="picture" style="{}" data-csv="{}">').format(style, self.csv())
        drawn = open_tag + Markup("").join(parts) + Markup("</div>") if parts else Markup("")
        steps = [] if any(row.kept for row in self.rows) else [*map(printable, self.next_steps)]
        items = Markup("").join(Markup("<li>{}</li>").format(step) for step in steps)
        return drawn + (
            Markup('<p>What to do next:</p><ul class="next">{}</ul>').format(items) if items else Markup("")
        )

    def csv(self) -> str:
        """Return the numbers as CSV: the features, an empty line, and the scores by number of features."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        for of, rows in ((Row, self.rows), (Point, self.points)):
            writer.writerow(column.name for column in fields(of))
            writer.writerows([_cell(value) for value in astuple(row)] for row in rows)
            writer.writerow([])
        return text.getvalue().strip()


def picture_of(
    rows: Sequence[Row],
    verdict: Mapping[str, Any],
    importance: str = "",
    repeats: str = "folds",
    others: Sequence[Row] = (),
    **more: Any,
) -> Picture:
    """Return the picture of a blanket; its method tells scores by size and the next features, or else `others`."""
    told = verdict.get("ranked") or []
    own = {row["feature"]: row for row in told}
    rows = [_told(row, own.get(row.feature)) for row in rows]
    others = [Row(**row) for row in told if row["feature"] not in {row.feature for row in rows}] or others
    shown, n_more = cut(rows, others)
    if told:
        importance, repeats = "1: ranked first in every resample", "resamples"
        more["interval"] = "line: least to greatest over the resamples"
    if alternatives := verdict.get("alternatives"):
        metric = verdict["scores"][0]["metric"]
        ends = {row["ranking"]: row[metric] for row in alternatives if row["ranking"] in ("none", "all")}
        more["is_curve"] = True
        points = [
            Point(r["n_features"], r[metric], *_ends(r), kept=r["chosen"], name=r["ranking"]) for r in alternatives
        ]
        more |= {"points": points, "metric": metric.replace("_", "-")}
        more |= {"everything": ends.get("all", math.nan), "nothing": ends.get("none", math.nan)}
    return Picture(shown, importance=importance, repeats=repeats, n_more=n_more, **more)


def next_steps(card: Mapping[str, Any], ranked: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """Return what to do where nothing was found: rows needed, columns to look at, other kinds of target."""
    n_rows, task = card["n_rows"], card["task"]
    names = ", ".join(row["feature"] for row in ranked[:MOST_OTHERS])
    columns = f"Look at the columns that came first: {names}." if names else "Look at the columns"
    look = "missing cells, labels written in several ways, and numbers read as text hide what they say"
    kinds = {
        "classification": "Use a finer target if there is one: a number or ordered classes say more than two labels.",
        "regression": "Try another kind of target (target_kind): counts, shares, positive numbers and times to an "
        "event have models of their own.",
    }
    other = "Check that the kind of target is right (target_kind), and that enough events or different values occur."
    return [
        f"Collect more rows: half the effect needs about {4 * n_rows:,} rows, four times the {n_rows:,} of now.",
        f"{columns} {look[:1].upper() + look[1:]}." if names else f"{columns}: {look}. blanketflow inspect lists them.",
        kinds.get(task, other),
    ]


def cut(kept: Sequence[Row], others: Sequence[Row]) -> tuple[list[Row], int]:
    """Return the first features with some that were not chosen, and the number of chosen ones left out."""
    others = others[: max(1, min(MOST_OTHERS, MOST_ROWS - len(kept)))]
    shown = kept[: MOST_ROWS - len(others)]
    return [*shown, *others], len(kept) - len(shown)


def _told(row: Row, own: Mapping[str, Any] | None) -> Row:
    return row if own is None else Row(**{**own, "role": row.role, "stand_ins": row.stand_ins, "kept": True})


def _ends(row: Mapping[str, Any]) -> tuple[float, float]:
    return tuple(math.nan if row.get(end) is None else row[end] for end in ("low", "high"))  # type: ignore[return-value]


def _cell(value: Any) -> Any:
    """Return a cell of CSV: six digits, empty if unknown; text that a spreadsheet would compute is quoted."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.6g}"
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@") else value


def _own(text: str) -> Markup:
    """Return SVG that is written here; names come in by ``format``, which escapes them."""
    return Markup(text)  # noqa: S704 - nothing of a user is in it


def _svg(height: float, label: str, parts: Sequence[Markup]) -> Markup:
    style = "flex:1 1 300px;min-width:0;max-width:440px;height:auto;font-family:sans-serif"
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {:.0f}" role="img" aria-label="{}" style="{}" '
        'font-size="12" fill="currentColor">{}</svg>'
    ).format(_WIDTH, height, printable(label), style, Markup("").join(parts))


def _text(x: float, y: float, text: str, anchor: str = "start", more: str = "") -> Markup:
    tag = _own(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>')
    return tag + Markup("{}</text>").format(printable(text))


def _line(x1: float, y1: float, x2: float, y2: float, more: str = "") -> Markup:
    tag = f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" {more}/>'
    return _own(tag)


def _features(of: Picture) -> Markup | None:
    """Return the rows: names with roles and stand-ins, how often each was chosen, and importance as bars."""
    if not of.rows:
        return None
    drawn = [v for row in of.rows for v in (row.importance, row.high) if math.isfinite(v)]
    top = max(1.0 if of.interval else 0.0, *drawn, 0.0)
    parts, at = [], 0.0
    for place, row in enumerate(of.rows):
        if not row.kept and (not place or of.rows[place - 1].kept):
            parts.append(_text(0, at + _LINE, "Next, not chosen:", more=_QUIET))
            at += _LINE + 4
        parts += _row(of, row, at, top)
        at += _ROW
    if of.n_more:
        parts.append(_text(0, at + _LINE, f"and {of.n_more:,} more, in the table below", more=_QUIET))
        at += _LINE + 4
    if top > 0:
        parts.append(_line(_BARS, at, _WIDTH, at, 'opacity=".4"'))
        parts += [_text(_BARS, at + 13, "0", more=_QUIET), _text(_WIDTH, at + 13, number(top), "end", _QUIET)]
        at += 13
    for said in filter(None, (f"Importance: {of.importance}" if of.importance and top > 0 else "", of.interval)):
        for line in _wrapped(said, int(_WIDTH / _LETTER)):
            at += _LINE + 2
            parts.append(_text(_WIDTH, at, line, "end", _QUIET))
    names = ", ".join(row.feature for row in of.rows if row.kept) or "none"
    return _svg(at + 6, f"Features kept: {names}, with how often each was chosen and its importance", parts)


def _row(of: Picture, row: Row, at: float, top: float) -> list[Markup]:
    room = int(_WIDTH / _LETTER)
    name = shortened(printable(row.feature), room // 2)
    label, colour = ROLES.get(row.role, (row.role.replace("_", " "), BLUE))
    first, *others = _SHARE.split(row.stand_ins)
    instead = f"or {first}{others[0] if len(others) == 1 else f' and {len(others) - 1} more'}" if others else ""
    role = "" if row.role == "member" else label.partition(",")[0]
    more = ", ".join(filter(None, (role, instead)))
    parts = [_text(0, at + _LINE, name, more='font-weight="600"')]
    if more:
        parts.append(_text(_WIDTH, at + _LINE, shortened(more, room - len(name) - 3), "end", _QUIET))
    if row.of > 1:
        parts.append(
            _text(0, at + 2 * _LINE + 1, f"selected in {number(round(row.times, 1), 1)} of {row.of} {of.repeats}")
        )
    middle = at + 2 * _LINE - 3
    if row.importance == row.importance and top > 0:
        to = _BARS + (_WIDTH - _BARS) * min(max(row.importance / top, 0.0), 1.0)
        bar = '<rect x="{}" y="{:.1f}" width="{:.1f}" height="8" fill="{}" opacity="{}"/>'
        parts.append(
            _own(bar).format(
                _BARS, middle - 4, to - _BARS, colour if row.kept else "currentColor", 1 if row.kept else 0.4
            )
        )
    if row.low == row.low and top > 0:
        low, high = (_BARS + (_WIDTH - _BARS) * min(max(end / top, 0.0), 1.0) for end in (row.low, row.high))
        parts.append(_line(low, middle, high, middle, 'stroke-width="2"'))
        parts += [_line(end, middle - 4, end, middle + 4, 'stroke-width="2"') for end in (low, high)]
    return parts


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        lines = [*lines, word] if len(lines[-1]) + len(word) >= width else [*lines[:-1], f"{lines[-1]} {word}".strip()]
    return lines


def _scores(of: Picture) -> Markup | None:
    """Return the score by number of features: band, references as dashed lines, and the kept set as the large point."""
    best = 1.0 if of.metric in _ONE else math.inf  # an interval may go beyond what a score can be
    points = [replace(p, high=min(p.high, best)) for p in of.points if math.isfinite(p.score)]
    points.sort(key=lambda p: p.size)
    if not points:
        return None
    name = metric_name(of.metric)
    sizes = list(dict.fromkeys(p.size for p in points))
    ends = [v for p in points for v in (p.score, p.low, p.high) if math.isfinite(v)]
    ends += [v for v in (of.everything, of.nothing) if math.isfinite(v)]
    low, high = min(ends), max(ends)
    step = (_WIDTH - _LEFT - 16) / max(len(sizes) - 1, 1)

    def x(size: float) -> float:
        return _LEFT + 8 + (sizes.index(size) * step if len(sizes) > 1 else step / 2)

    def y(score: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - (score - low) / ((high - low) or 1.0))

    one = f" (1: {_ONE[of.metric]})" if of.metric in _ONE else ""
    parts = [_text(0, _LINE, f"{name} on held-out rows{one}")]
    parts += [_text(_LEFT - 4, y(end) + 4, fixed(end), "end") for end in dict.fromkeys((low, high))]
    at = float(_LEFT)
    for score, said, dashes in ((of.everything, "all features", "7 3"), (of.nothing, "no feature", "2 3")):
        if math.isfinite(score):
            style, text = f'stroke-dasharray="{dashes}" opacity=".7"', f"{said} {fixed(score)}"
            parts += [_line(_LEFT, y(score), _WIDTH, y(score), style), _line(at, 2 * _LINE, at + 24, 2 * _LINE, style)]
            parts.append(_text(at + 30, 2 * _LINE + 4, text, more=_QUIET))
            at += 50 + len(text) * _LETTER
    band = [p for p in points if math.isfinite(p.low) and math.isfinite(p.high)]
    if of.is_curve:
        around = [*((x(p.size), y(p.high)) for p in band), *((x(p.size), y(p.low)) for p in reversed(band))]
        drawn = '<polygon points="{}" fill="{}" opacity=".18"/>'
        parts.append(_own(drawn).format(" ".join(f"{a:.1f},{b:.1f}" for a, b in around), BLUE))
        line = '<polyline points="{}" fill="none" stroke="{}" stroke-width="2"/>'
        parts.append(_own(line).format(" ".join(f"{x(p.size):.1f},{y(p.score):.1f}" for p in points), BLUE))
    else:
        parts += [_line(x(p.size), y(p.low), x(p.size), y(p.high), 'opacity=".5"') for p in band]
    dot = '<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}"><title>{}</title></circle>'
    for p in sorted(points, key=lambda p: p.kept):
        said = f"{p.name}: {name} {fixed(p.score)} with {number(p.size, 1)} feature{'s' * (p.size != 1)}"
        parts.append(
            _own(dot).format(x(p.size), y(p.score), 6 if p.kept else 3, ORANGE if p.kept else BLUE, printable(said))
        )
    every, last = math.ceil(len(sizes) * 30 / (_WIDTH - _LEFT)), -math.inf
    for place, size in enumerate(sizes):
        if place % every == 0 and x(size) - last > 24:
            half = len(number(size, 1)) * _LETTER / 2
            parts.append(_text(min(x(size), _WIDTH - half), _HEIGHT - _BOTTOM + 18, number(size, 1), "middle"))
            last = x(size)
    bands = "band" if of.is_curve else "lines"
    said = f"number of features; orange: kept{f'; {bands}: 95 % interval' if band else ''}"
    parts.append(_text((_LEFT + _WIDTH) / 2, _HEIGHT - 6, said, "middle"))
    return _svg(_HEIGHT, f"{name} against number of features", parts)
