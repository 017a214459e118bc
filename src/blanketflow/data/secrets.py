"""Passwords in URLs: taken from environment variables, since a config is part of the results."""

from __future__ import annotations

import os
import re
from urllib.parse import quote, unquote, urlsplit

from ..core.errors import ConfigError

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SECRET = re.compile(r"passw(or)?d|^pwd$|token|secret|api_?key|signature|^sig$|credential", re.IGNORECASE)


def check_no_secret(name: str, url: str) -> None:
    """Raise `ConfigError`, without the secret, if a URL holds a password or token itself."""
    if _secrets(_VARIABLE.sub("", url)):
        raise ConfigError(
            f"{name}: {redacted(url)} holds a password or token, which would enter the results. Put it into an "
            "environment variable and write ${NAME} in its place."
        )


def redacted(url: str) -> str:
    """Return a URL with its secrets replaced by ``***``; environment variables stay by their names.

    >>> redacted("postgresql://me:secret@host/db"), redacted("https://host/t.csv?token=${TOKEN}")
    ('postgresql://me:***@host/db', 'https://host/t.csv?token=${TOKEN}')
    """
    for secret in _secrets(url):
        if not _VARIABLE.fullmatch(secret):
            url = url.replace(secret, "***")
    return url


def expanded(name: str, url: str) -> str:
    """Return a URL with the values of the environment variables that it names, percent-encoded.

    Raises `ConfigError` if a variable is not set.
    """

    def value(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise ConfigError(f"{name}: {url} needs the environment variable {found[1]}, which is not set. Export it.")
        return quote(os.environ[found[1]], safe="")

    return _VARIABLE.sub(value, url)


def scrubbed(text: object, url: str) -> str:
    """Return a text, such as a server's message, without the values of the variables that a URL names."""
    found = str(text)
    for variable in _VARIABLE.findall(url):
        value = os.environ.get(variable, "")
        for form in filter(None, (value, quote(value, safe=""))):
            found = found.replace(form, f"${{{variable}}}")
    return found


def _secrets(url: str) -> list[str]:
    """Return the passwords and tokens of a URL, as they are written there."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    found = [parts.password] if parts.password else []
    given = [pair.partition("=")[::2] for pair in re.split("[&;]", parts.query)]
    found += [value for key, value in given if value and _is_secret(unquote(key))]
    return found


def _is_secret(key: str) -> bool:
    """Return whether a key of a URL's query stands for a password or token: what is refused and redacted."""
    return bool(_SECRET.search(key))
