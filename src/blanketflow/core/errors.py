"""The errors that blanketflow raises. Each message names the data set, the column or key, and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BlanketflowError(Exception):
    """Base of every error that blanketflow raises on purpose."""


class ConfigError(BlanketflowError):
    """A key or value of the configuration is wrong."""


class DataError(BlanketflowError, ValueError):
    """A table cannot be read, or cannot be used as asked."""


class ParameterError(BlanketflowError, ValueError):
    """A parameter of a method, test or model is out of its declared range."""


class UnsupportedError(BlanketflowError, ValueError):
    """A test or method was asked to work on a kind of column or task that its card excludes."""


class UnknownNameError(BlanketflowError, KeyError):
    """No method, test, model or column has this name."""

    __str__ = Exception.__str__  # KeyError would print the message's repr


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a sentence that offers the closest known names, or lists them when none is close.

    Examples
    --------
    >>> did_you_mean("fisherz", ["g2", "fisher-z"])
    "Did you mean 'fisher-z'?"
    >>> did_you_mean("x", ["g2", "fisher-z"])
    'Known: fisher-z, g2.'
    """
    known = sorted(str(k) for k in known)
    close = difflib.get_close_matches(str(name), known, n=2, cutoff=0.6)
    if close:
        return "Did you mean " + " or ".join(repr(c) for c in close) + "?"
    shown = known[:30]
    return "Known: " + ", ".join(shown) + (", ..." if len(known) > len(shown) else "") + "."
