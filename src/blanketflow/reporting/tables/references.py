"""The references that selectors are measured against: all features, no feature, and the true blanket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

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


def reference_of(alternatives: pd.DataFrame) -> tuple[int, str]:
    """Return the row of the set that a choice is compared with, among sets of several sizes, and what it is.

    It is no feature where there was no time to judge all features.

    Examples
    --------
    >>> import pandas as pd
    >>> reference_of(pd.DataFrame({"ranking": ["none", "mim", "all"]}))
    (2, 'all features')
    """
    names = list(alternatives["ranking"])
    return (names.index(ALL), "all features") if ALL in names else (names.index(NOTHING), "no feature")


def _method(selector: str, selectors: Mapping[str, Mapping[str, Any]]) -> str:
    return selectors.get(selector, {}).get("method", selector)
