"""Passwords in URLs: taken from environment variables, since a config is part of the results."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote, unquote_plus

from ..core.errors import ConfigError
from ..core.printable import HIDDEN, VARIABLE, Value, redacted, redacted_text, secret_values, values

#: Keys of a spec that may be a URL.
_KEYS = ("source", "path", "target_path")
#: Keys whose values are secrets that last, and so are refused.
_SECRET = re.compile(
    r"pass(w(or)?d|phrase)?$|^pwd$|token|secret|api[_-]?key|access[_-]?key|private[_-]?key|^auth(orization)?$|"
    r"signature|^sig$|credential",
    re.IGNORECASE,
)
#: Keys of links that were signed for one file and some hours. They are redacted, but need no variable.
_SIGNED = re.compile(
    r"x-(amz|goog|oss)-[\w-]+|(aws|oss)?accesskeyid|googleaccessid|key-pair-id|signature|sig", re.IGNORECASE
)
_CONNECTION = re.compile(r"(^|;)\s*(pwd|password)\s*=\s*[^;\s]", re.IGNORECASE)


def check_no_secret(name: str, url: str) -> None:
    """Raise `ConfigError`, without the secret, if a URL holds a password or token itself."""
    if "://" in url and any(map(_is_evident, values(url))):  # else it is a path, which may hold a =
        raise ConfigError(
            f"{name}: {redacted(url)} holds a password or token, which would enter the results. Put it into an "
            "environment variable and write ${NAME} in its place."
        )


def redacted_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a data set's spec with redacted URLs, for results.

    >>> redacted_spec({"path": "https://host/t.csv?sig=abc", "target": "y"})
    {'path': 'https://host/t.csv?sig=***', 'target': 'y'}
    """
    labels = {"labels": redacted_spec(spec["labels"])} if isinstance(spec.get("labels"), Mapping) else {}
    return {**spec, **labels, **{key: redacted(spec[key]) for key in _KEYS if "://" in (spec.get(key) or "")}}


def expanded(name: str, url: str) -> str:
    """Return a URL with its environment variables filled in, percent-encoded; `ConfigError` if one is not set."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise ConfigError(
                f"{name}: {redacted(url)} needs the environment variable {found[1]}, which is not set. Export it."
            )
        return quote(os.environ[found[1]], safe="")

    return VARIABLE.sub(value, url)


def scrubbed(text: object, url: str) -> str:
    """Return a text, such as a server's message, without what is secret in a URL or in the variables that it names."""
    found = redacted_text(str(text))
    for variable in VARIABLE.findall(url):
        found = _without(found, os.environ.get(variable, ""), f"${{{variable}}}")
    for value in secret_values(url):
        for secret in value.text.split(":", 1) if value.key == "user" else [value.text]:
            found = _without(found, secret, HIDDEN)
    return found


def _without(text: str, secret: str, instead: str) -> str:
    """Return a text without a secret in any way of writing; one of a letter or two is found as a whole word only."""
    for form in sorted({secret, quote(secret, safe=""), unquote(secret), unquote_plus(secret)}, key=len, reverse=True):
        if len(form) > 3:
            text = text.replace(form, instead)
        elif form:
            text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", lambda _: instead, text)
    return text


def _is_evident(value: Value) -> bool:
    """Return whether a value is a password or token by its key, and is not taken from a variable."""
    if value.key == "user":
        return bool(VARIABLE.sub("", value.text.partition(":")[2]))
    if value.key == "#":
        return any(map(_is_evident, values(f"x://?{value.text}"))) if "=" in value.text else False
    text = VARIABLE.sub("", value.text)
    if not text or text == HIDDEN or _SIGNED.fullmatch(value.key):
        return False
    return bool(_SECRET.search(value.key) or _CONNECTION.search(unquote_plus(unquote(text))))
