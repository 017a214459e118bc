"""The errors that blanketflow raises. Each message names the data set, the column or key, and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from .printable import printable


class BlanketflowError(Exception):
    r"""Base of every error that blanketflow raises on purpose.

    Its message is one line that a terminal shows as it is, whatever it quotes of a file or of another package's words.

    Examples
    --------
    >>> print(BlanketflowError("column 'a\nb' holds text"))
    column 'a\nb' holds text
    """

    def __str__(self) -> str:
        return printable(Exception.__str__(self))  # KeyError, which one of these is too, would print a repr


class ConfigError(BlanketflowError):
    """A key or value of the configuration is wrong."""


class DataError(BlanketflowError, ValueError):
    """A table cannot be read, or cannot be used as asked."""


class ArtefactError(DataError):
    """A file of a run is missing, damaged, or not what its name says."""


class StorageError(BlanketflowError):
    """A file or folder cannot be written."""


class ParameterError(BlanketflowError, ValueError):
    """A parameter of a method, test or model is out of its declared range."""


class UnsupportedError(BlanketflowError, ValueError):
    """A test or method was asked to work on a kind of column or task that its card excludes."""


class WrongAnswerError(BlanketflowError):
    """A method, test or model returned what cannot be an answer; the message names what."""


class UnknownNameError(BlanketflowError, KeyError):
    """No method, test, model or column has this name."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a sentence that offers the closest known names, or lists them when none is close.

    Examples
    --------
    >>> did_you_mean("fisherz", ["g2", "fisher-z"])
    "Did you mean 'fisher-z'?"
    >>> did_you_mean("x", ["g2", "fisher-z"])
    'Known: fisher-z, g2.'
    >>> did_you_mean("x", [])
    'There is none.'
    """
    known = sorted(str(k) for k in known)
    shown = known[:30]
    listed = "Known: " + ", ".join(shown) + (", ..." if len(known) > len(shown) else ".")
    return closest(name, known) or (listed if known else "There is none.")


def closest(name: str, known: Iterable[str]) -> str:
    """Return a sentence that offers the closest known names; nothing when none is close."""
    # Comparing takes the product of the lengths: what is very long is no slip of the pen.
    close = difflib.get_close_matches(str(name)[:200], sorted(str(k) for k in known), n=2, cutoff=0.6)
    return "Did you mean " + " or ".join(repr(c) for c in close) + "?" if close else ""
