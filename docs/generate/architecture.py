"""The picture of docs/architecture.md: the rooms of the package and who may import whom, drawn from the import rule."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

#: Room to the rooms that it may import.
Rooms = Mapping[str, Sequence[str]]

_RULE = Path(__file__).parents[2] / "tests" / "unit" / "test_import_rule.py"
_WIDTH, _HEIGHT, _ACROSS, _UP = 124, 32, 190, 60


def import_rule() -> Rooms:
    """Return the rule that the tests check: for each room, the other rooms that it may import."""
    for statement in ast.parse(_RULE.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "ROOMS":
            return ast.literal_eval(statement.value)
    raise ValueError(f"{_RULE} has no ROOMS: say here what the rule is called now.")


def arrows(rooms: Rooms) -> list[tuple[str, str]]:
    """Return the imports that no longer way implies.

    Examples
    --------
    >>> arrows({"core": (), "data": ("core",), "api": ("core", "data")})
    [('data', 'core'), ('api', 'data')]
    """
    return [
        (room, other)
        for room, allowed in rooms.items()
        for other in allowed
        if not any(other in rooms[between] for between in allowed)
    ]


def exceptions(rooms: Rooms) -> list[tuple[str, str]]:
    """Return the pairs that arrows connect, although the first room may not import the second.

    Examples
    --------
    >>> exceptions({"core": (), "data": ("core",), "api": ("data",)})
    [('api', 'core')]
    """
    return [
        (room, other)
        for room, allowed in rooms.items()
        for other in rooms
        if other not in allowed and any(other in rooms[between] for between in allowed)
    ]


def rooms_drawing() -> str:
    """Return the picture as SVG: each room above all that it imports."""
    rooms = import_rule()
    places = _places(rooms)
    top = max(y for _, y in places.values())
    left, right = min(x for x, _ in places.values()), max(x for x, _ in places.values())
    note = ", ".join(f"{room} \N{RIGHTWARDS ARROW} {other}" for room, other in exceptions(rooms))
    wide, high = (right - left) * _ACROSS + _WIDTH + 40, (top + 1) * _UP + (24 if note else 0)

    def at(room: str) -> tuple[int, int]:
        x, y = places[room]
        return (x - left) * _ACROSS + _WIDTH // 2 + 20, (top - y) * _UP + _UP // 2

    parts = [f'<path class="arrow" d="{_way(at(a), at(b), places[a][0] == 0)}"/>' for a, b in arrows(rooms)]
    for room in rooms:
        x, y = at(room)
        parts += [
            f'<rect x="{x - _WIDTH // 2}" y="{y - _HEIGHT // 2}" width="{_WIDTH}" height="{_HEIGHT}" rx="5"/>',
            f'<text x="{x}" y="{y + 5}">{room}</text>',
        ]
    if note:
        parts.append(f'<text class="note" x="{wide // 2}" y="{high - 8}">not allowed: {note}</text>')
    return _SVG.format(wide=wide, high=high, parts="\n".join(parts))


def _places(rooms: Rooms) -> dict[str, tuple[int, int]]:
    """Return (column, level): above all that it imports, and in the middle the one that most other rooms may import."""
    level: dict[str, int] = {}
    while len(level) < len(rooms):
        level |= {room: 1 + max((level[o] for o in on), default=-1) for room, on in rooms.items() if {*on} <= {*level}}
    importers = {room: sum(room in allowed for allowed in rooms.values()) for room in rooms}
    places = {}
    for height in range(max(level.values()) + 1):
        middle, *others = sorted((room for room in rooms if level[room] == height), key=lambda room: -importers[room])
        places[middle] = (0, height)
        beside = {True: 0, False: 0}  # to the right what others import, to the left what none does
        for room in others:
            beside[importers[room] > 0] += 1
            places[room] = (beside[True] if importers[room] else -beside[False], height)
    return places


def _way(start: tuple[int, int], end: tuple[int, int], is_from_middle: bool) -> str:
    """Return a path with at most one corner: across, then down; towards the middle first down, then across."""
    (x, y), (to_x, to_y) = start, end
    half = _HEIGHT // 2
    if x == to_x:
        return f"M{x} {y + half}V{to_y - half - 7}"
    side = 1 if to_x > x else -1
    if is_from_middle:
        return f"M{x + side * _WIDTH // 2} {y}H{to_x}V{to_y - half - 7}"
    return f"M{x} {y + half}V{to_y}H{to_x - side * (_WIDTH // 2 + 7)}"


_SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}">
<style>
rect {{ fill: #dcecf7; stroke: #0072b2; stroke-width: 1.5 }}
text {{ font: 15px sans-serif; text-anchor: middle; fill: #000 }}
.note {{ font-size: 11px }}
.arrow {{ fill: none; stroke: #555; stroke-width: 1.5; marker-end: url(#head) }}
.ground {{ fill: #fff; stroke: none }}
</style>
<defs><marker id="head" viewBox="0 0 10 10" refX="2" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path
d="M0 0L10 5L0 10z" fill="#555"/></marker></defs>
<rect class="ground" width="{wide}" height="{high}"/>
{parts}
</svg>
"""
