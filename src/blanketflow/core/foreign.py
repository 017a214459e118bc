"""Tells code of this package from foreign code, which can do anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_foreign(chosen: Any) -> bool:
    """Return whether a method, CI test or model, or the name of one, runs code from outside this package.

    Parameters
    ----------
    chosen : object
        A configured object, a name such as ``"tree"`` or ``"module:Class"``, a mapping with a ``type``, or None.

    Examples
    --------
    >>> from blanketflow.ci import get_ci_test
    >>> is_foreign(get_ci_test("ppi")), is_foreign(get_ci_test("ppi", model="sklearn.svm:SVC"))
    (False, True)
    """
    if isinstance(chosen, str):
        return ":" in chosen
    if isinstance(chosen, Mapping):
        return is_foreign(chosen.get("type"))
    if chosen is None:
        return False
    if type(chosen).__module__.partition(".")[0] != __package__.partition(".")[0]:
        return True
    return getattr(chosen, "wraps_others", False) or is_foreign(getattr(chosen, "model", None))
