"""Docstrings in numpydoc's form, taken apart: the text, then the sections."""

from __future__ import annotations

import inspect
import re

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
