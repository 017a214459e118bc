"""Refuses text that is not Unicode: Python's strings can hold lone surrogates, which no file and no hash takes."""

from __future__ import annotations

from collections.abc import Collection

from .errors import DataError


def check_unicode(what: str, texts: Collection[str]) -> None:
    r"""Raise `DataError` if a text holds a lone surrogate; the message begins with `what`.

    Examples
    --------
    >>> check_unicode("column 'a' holds", ["größe"])
    >>> check_unicode("column 'a' holds", ["gr\udcf6sse"])
    Traceback (most recent call last):
    ...
    blanketflow.core.errors.DataError: column 'a' holds 'gr\udcf6sse', which is not valid Unicode text. ...
    """
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        wrong = next(text for text in texts if not _is_unicode(text))
        raise DataError(
            f"{what} {wrong[:40]!a}, which is not valid Unicode text. Read it again in its right encoding, or replace "
            "what cannot be read."
        ) from None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
