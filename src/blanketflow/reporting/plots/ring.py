"""Places around a centre, two rings deep, such that neither names nor lines cross a name."""

from __future__ import annotations

import math
from collections.abc import Sequence

#: Pixels between two names, at least and at most; pixels that the names of one side share.
_CLOSEST, _WIDEST, _SIDE = 22, 48, 300
#: Half widths of the rings in pixels.
_INNER, _OUTER = 150, 215
#: How much steeper a line is at least than the one below it.
_STEEPER = 0.93


def ring_places(n_inner: int, n_outer: int) -> list[tuple[int, int]]:
    """Return x and y in pixels around (0, 0): the inner nodes first, then the outer ones.

    Names stand outwards of their nodes. Left and right take turns, and each side is filled from its middle line, so
    every node has a line of text of its own and the outer nodes are above and below the inner ones. The higher a node,
    the steeper its line to the centre, so no line meets a name.
    """
    n = n_inner + n_outer
    sides = [[node for node in range(n) if node % 2 == side] for side in (0, 1)]
    places = {node: place for side, nodes in enumerate(sides) for node, place in _side(nodes, n_inner, 1 - 2 * side)}
    return [places[node] for node in range(n)]


def _side(nodes: Sequence[int], n_inner: int, direction: int) -> list[tuple[int, tuple[int, int]]]:
    step = min(max(_SIDE / max(len(nodes), 1), _CLOSEST), _WIDEST)
    heights = [step * line for line in _from_the_middle(len(nodes))]
    top = max(map(abs, heights), default=0.0) + step
    top_inner = max((abs(h) for node, h in zip(nodes, heights, strict=True) if node < n_inner), default=0.0) + step
    steepest: dict[bool, float] = {}
    out = []
    for node, height in zip(nodes, heights, strict=True):
        width, reach = (_INNER, top_inner) if node < n_inner else (_OUTER, top)
        x = width * math.sqrt(1 - (height / reach) ** 2)
        if height:
            up = height > 0
            x = min(x, _STEEPER * steepest.get(up, math.inf) * abs(height))
            steepest[up] = x / abs(height)
        out.append((node, (direction * round(x), round(height))))
    return out


def _from_the_middle(n: int) -> list[float]:
    """Return n neighbouring lines around 0, the nearest first."""
    return sorted((at - (n - 1) / 2 for at in range(n)), key=lambda line: (abs(line), -line))
