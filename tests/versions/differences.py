"""Where two fingerprints differ: names and choices must be equal, numbers as near as stated here."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

SECTIONS = ("tests", "methods", "methods with copies", "models")
#: Relative and absolute difference of numbers that is rounding: libraries take sums in another order.
ROUNDING = (1e-6, 1e-9)
#: scikit-learn's own trees decide between equal cuts by rounding errors, which are others in other versions of it.
TREES = (0.05, 1e-9)
#: Entries whose numbers differ by more; what is selected must be equal all the same. The coefficients of srs are within
#: 1e-8 of their optimum, so that its weights of columns that share one differ by as much.
STATED = {
    "methods: permutation-importance, regression": TREES,
    "methods with copies: permutation-importance, regression": TREES,
    "methods with copies: srs, regression": (1e-6, 1e-7),
    "models: forest, regression": TREES,
    "models: tree, regression": TREES,
}


def differences(wanted: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each entry in which two fingerprints differ by more than is stated."""
    for entry, there, here in _entries(wanted, found):
        if not are_equal(there, here, _stated(entry)):
            yield f"{entry}: {_short(there)}  ->  {_short(here)}"


def beyond_rounding(wanted: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each entry that differs by more than rounding, as is stated of it."""
    for entry, there, here in _entries(wanted, found):
        if not are_equal(there, here, ROUNDING) and are_equal(there, here, _stated(entry)):
            yield f"{entry}: {_short(there)}  ->  {_short(here)}"


def are_equal(a: Any, b: Any, tolerance: tuple[float, float]) -> bool:
    """Return whether two values, or lists of them, are equal, numbers up to a tolerance."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(are_equal(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or math.isclose(a, b, rel_tol=tolerance[0], abs_tol=tolerance[1])
    return a == b


def _stated(entry: str) -> tuple[float, float]:
    return next((tolerance for start, tolerance in STATED.items() if entry.startswith(start)), ROUNDING)


def _entries(wanted: dict[str, Any], found: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for section in SECTIONS:
        for key in sorted(wanted[section].keys() | found[section].keys()):
            yield f"{section}: {key}", wanted[section].get(key), found[section].get(key)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:197] + "..."
