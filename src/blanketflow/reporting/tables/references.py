"""The references that selectors are measured against: all features, no feature, and the true blanket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Ids of their methods. Those that nobody can choose do not compete with the selectors: no feature, and the truth.
ALL, NOTHING, TRUTH = "all", "none", "true-blanket"
_NOT_COMPETING = (NOTHING, TRUTH)


def selector_of(method: str, selectors: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the id of the selector that has a reference method; that of the method if none of `selectors` has it.

    Examples
    --------
    >>> selector_of("all", {"mine": {"method": "gs"}, "everything": {"method": "all"}})
    'everything'
    """
    return next((name for name, spec in selectors.items() if spec.get("method") == method), method)


def is_reference(selector: str, selectors: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether a selector serves only for comparison."""
    return _method(selector, selectors) in (ALL, NOTHING, TRUTH)


def competes(selector: str, selectors: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether a selector is compared with others by its scores, as all features are."""
    return _method(selector, selectors) not in _NOT_COMPETING


def _method(selector: str, selectors: Mapping[str, Mapping[str, Any]]) -> str:
    return selectors.get(selector, {}).get("method", selector)
