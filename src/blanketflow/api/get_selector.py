"""From the id or class of a method to its scikit-learn selector, for own methods and plug-ins."""

from __future__ import annotations

import functools
from typing import Any

from ..core.errors import ConfigError
from ..core.registry import look_up
from ..selectors.base import Method
from . import selectors
from .estimator import MarkovBlanketSelector


def get_selector(name: str | type[Method], **parameters: Any) -> MarkovBlanketSelector:
    """Return a scikit-learn selector by method id.

    Parameters
    ----------
    name : str or class
        Id such as ``"ppfs"`` or ``"gs"``. For your own `Method`: ``"package.module:Class"``, or the class.
    **parameters
        Options of the method and those of all selectors, as in the class's docstring; checked in `fit`.

    Returns
    -------
    MarkovBlanketSelector
        An unfitted selector.

    Raises
    ------
    UnknownNameError
        If there is no such method.
    ConfigError
        If the class cannot be imported or is not a `Method`.
    TypeError
        If the method has no such option.

    Examples
    --------
    >>> import blanketflow as bf
    >>> bf.get_selector("gs", alpha=0.01)
    GS(alpha=0.01)
    """
    found = look_up("blanketflow.selectors", name, "method") if isinstance(name, str) else name
    return selector_class(found)(**parameters)


def selector_class(method_class: type[Method]) -> type[MarkovBlanketSelector]:
    """Return the scikit-learn selector class of a method: from `api.selectors`, or a new one for a plug-in."""
    if not (isinstance(method_class, type) and issubclass(method_class, Method)):
        raise ConfigError(f"{method_class!r} is not a blanketflow method: derive it from blanketflow.plugins.Method.")
    own = vars(selectors).get(method_class.__name__)
    return own if getattr(own, "method_class", None) is method_class else _plug_in_class(method_class)


@functools.cache
def _plug_in_class(method_class: type[Method]) -> type[MarkovBlanketSelector]:
    members = {"__module__": method_class.__module__, "method_class": method_class}
    return type(method_class.__name__, (MarkovBlanketSelector,), members)
