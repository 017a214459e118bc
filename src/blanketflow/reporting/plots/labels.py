"""Labels of points: shortened to a width, and placed so that none covers a point or another label."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

#: Width of a character, height of a line, and gap between a point and its label, in pixels.
CHARACTER, LINE, GAP = 6.6, 15.0, 8.0
#: Heights at which a label may be placed, in lines above or below its point, in order of preference.
_LINES_AWAY = (0, 0.75, -0.75, 1.5, -1.5, 2.5, -2.5, 3.5, -3.5)


class Place(NamedTuple):
    """The place of a label: the side of its point (left or right) and the height in pixels."""

    side: str
    height: float


class _Box(NamedTuple):
    """A line of text, or a point, in pixels."""

    start: float
    end: float
    height: float

    def is_free(self, taken: Sequence[_Box], width: float, height: float) -> bool:
        inside = self.start >= 0 and self.end <= width and 0 <= self.height <= height
        return inside and not any(
            other.start < self.end and self.start < other.end and abs(other.height - self.height) < 0.7 * LINE
            for other in taken
        )


def place_labels(
    points: Sequence[tuple[float, float, str]], width: float, height: float, longest: float
) -> list[Place | None]:
    """Put each label next to its point, at the nearest place that no other point or label covers.

    `points` are (x, y, label) in pixels in a panel of `width` by `height`; a label is cut to `longest` pixels. The
    places are in the order of the points, None if no place near a point is free.
    """
    taken = [_Box(x - GAP / 2, x + GAP / 2, y) for x, y, _ in points]
    places: list[Place | None] = []
    for x, y, label in points:
        length = min(text_width(label) * CHARACTER, longest)
        candidates = [
            (side, _Box(start, start + length, y + lines * LINE))
            for lines in _LINES_AWAY
            for side, start in (("right", x + GAP), ("left", x - GAP - length))
        ]
        free = ((side, box) for side, box in candidates if box.is_free(taken, width, height))
        side, box = next(free, ("", None))
        if box is not None:
            taken.append(box)
        places.append(None if box is None else Place(side, box.height))
    return places


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
