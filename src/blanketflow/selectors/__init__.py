"""Feature selection methods: classes with a card, parameters, and the functions `grow` and `shrink`."""

from __future__ import annotations

from typing import Any

from ..core.registry import look_up
from .base import Method, Problem
from .external import External

__all__ = ["Method", "Problem", "get_method"]


def get_method(name: str, where: str, options: dict[str, Any]) -> Method:
    """Return a configured method by id, or ``"package.module:Class"``: a `Method`, or else a scikit-learn selector."""
    found = look_up("blanketflow.selectors", name, "method")
    if isinstance(found, type) and issubclass(found, Method):
        return found.from_options(where, options)
    return External(name, options)
