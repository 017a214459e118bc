"""scikit-learn's bases of the selector classes, with as much of their types as mypy needs."""

from __future__ import annotations

from typing import Any

__all__ = ["BaseEstimator", "SelectorMixin"]

MYPY = False  # which mypy takes as True
if MYPY:

    class BaseEstimator:
        """scikit-learn has no types; mypy would let every argument pass to a class whose bases it does not know."""

        def __getattr__(self, name: str) -> Any: ...

    class SelectorMixin: ...  # noqa: D101
else:
    from sklearn.base import BaseEstimator
    from sklearn.feature_selection import SelectorMixin
