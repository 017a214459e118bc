"""Docstrings in numpydoc's form, taken apart into the text and the sections, and put together again."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping

_HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def sections(documented: object) -> tuple[str, dict[str, str]]:
    """Return the text of a docstring before its first section, and its sections by heading.

    Parameters
    ----------
    documented : object
        Anything with a docstring of its own.

    Returns
    -------
    text : str
        Summary and what follows it.
    sections : dict of str to str
        Such as ``Notes``, ``References`` and ``Examples``, in their order.

    Examples
    --------
    >>> text, parts = sections(sections)
    >>> list(parts)
    ['Parameters', 'Returns', 'Examples']
    """
    text, *rest = _HEADING.split(inspect.getdoc(documented) or "")
    return text.strip(), {heading: body.strip() for heading, body in zip(rest[::2], rest[1::2], strict=True)}


def joined(text: str, parts: Mapping[str, str]) -> str:
    r"""Return the docstring that `sections` takes apart into these.

    Examples
    --------
    >>> joined("Count.", {"Notes": "Slow."})
    'Count.\n\nNotes\n-----\nSlow.'
    """
    return "\n\n".join([text, *(f"{heading}\n{'-' * len(heading)}\n{body}" for heading, body in parts.items())])
