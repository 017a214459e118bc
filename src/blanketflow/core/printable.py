"""Makes untrusted text safe to show: no control characters, spreadsheet formulas, passwords or tokens of URLs.

Only URL keys known to be harmless keep their values, because servers have many names for a token.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

#: First characters of spreadsheet formulas; the full-width ones are for Japanese locales.
FORMULA_SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def printable(text: object) -> str:
    r"""Return a text with all characters that a terminal interprets escaped.

    Column names are untrusted: escape sequences, line breaks and bidirectional marks could hide or forge text.

    >>> printable("age\x1b[2J")
    'age\\x1b[2J'
    >>> printable("Größe")
    'Größe'
    """
    text = str(text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def printable_json(value: Any, **options: Any) -> str:
    r"""Return a value as JSON, with letters of any script unescaped and characters that a terminal interprets escaped.

    >>> print(printable_json(["Größe", "age\x1b[2J\u202e"]))
    ["Größe", "age\u001b[2J\u202e"]
    """
    text = json.dumps(value, ensure_ascii=False, **options)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def visible(text: str) -> str:
    r"""Return a text with invisible and bidirectional characters escaped, except blanks and line breaks.

    >>> print(visible("gnp.\u202etxt"))
    gnp.\u202etxt
    """
    if text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if _is_hidden(c) else c for c in text)


def as_cell(value: Any) -> Any:
    r"""Return a text on one line, with an apostrophe where a spreadsheet would compute it.

    Column names are untrusted, and a formula can send cells to a server. Python's csv module does not quote a carriage
    return, which would start a new row.

    >>> as_cell("=1+1"), as_cell("age"), as_cell(-1.5)
    ("'=1+1", 'age', -1.5)
    >>> print(as_cell("a\r=1"))
    a\r=1
    """
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(FORMULA_SIGNS) else text


def listed(texts: Iterable[object], most: int = 5, between: str = ", ") -> str:
    """Return the first of some texts, printable, and the number of others.

    >>> listed("abcde", 3), listed("ab", 3), listed("abc", 1, "; ")
    ('a, b, c and 2 more', 'a, b', 'a; and 2 more')
    """
    shown = list(map(printable, texts))
    end = f"{'' if between == ', ' else between.rstrip()} and {len(shown) - most:,} more" if len(shown) > most else ""
    return between.join(shown[:most]) + end


def _is_hidden(character: str) -> bool:
    return character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


#: Reference to an environment variable, whose value is not in the text.
VARIABLE = re.compile(r"\$\{(\w+)\}")
#: Replacement of a secret.
HIDDEN = "***"
#: Harmless keys, which name data and formats.
_HARMLESS = re.compile(
    "acc(ession)?|alt|branch|charset|columns?|commit|database|dataset|date|day|dbname|delim(iter)?|dl|doi|download|"
    "driver|encoding|encrypt|end|export|ext|fields?|file(name)?|fmt|format|from|gid|headers?|host|ids?|inline|"
    "lang(uage)?|limit|locale|mode|month|name|offset|order|output|page|path|per_page|persistentid|port|raw|record|ref|"
    "region|release|resource|rev(ision)?|rows|schema|select|sep|series|server|sheet|size|sort|sslmode|start|subset|"
    "table|timeout|title|to|trustservercertificate|type|until|uri|v|ver|version(id)?|view|year",
    re.IGNORECASE,
)
#: A harmless value: short, and without characters that could start another key.
_PLAIN = re.compile(r"[\w.,:+*/ ()~-]{0,100}")
_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?(?:([a-z][a-z0-9+.-]*)://|https?:/)", re.IGNORECASE)
# user:password@ as people write it, even if the password has a character that ends the host. In web URLs `host:80/a@b`
# is a port and a path.
_USER = re.compile(r"[^/?#]*@")
_LOOSE_USER = re.compile(r"[^:/?#@]*:[^@]*@")
_LOOSE_USER_OF_WEB = re.compile(r"[^:/?#@]*:(?!\d+[/?#])[^@]*@")
_PIECE = re.compile(r"([?&;#])([^?&;#]*)")
_SETTING = re.compile(r"""([\w. -]+?)\s*=\s*(\{[^}]*\}|'[^']*'|"[^"]*"|[^;&\s]*)""")
_URL = re.compile(r"(?:[a-z][a-z0-9+.-]*://|https?:/)[^\s'\"<>`]+", re.IGNORECASE)
_AFTER = ".,:;)]}"


class Value(NamedTuple):
    """A possibly secret value in a URL: key, text, start and end."""

    key: str
    text: str
    start: int
    end: int


def redacted(url: str) -> str:
    """Return a URL or connection string with secrets as ``***``; names of environment variables are kept.

    >>> redacted("https://host/t.csv?version=2&key=abc"), redacted("https://host/t.csv?token=${TOKEN}")
    ('https://host/t.csv?version=2&key=***', 'https://host/t.csv?token=${TOKEN}')
    >>> redacted("postgresql://me:secret@host/db"), redacted("postgresql://me:${PGPASSWORD}@host/db")
    ('postgresql://***@host/db', 'postgresql://me:${PGPASSWORD}@host/db')
    """
    for value in reversed(secret_values(url)):
        url = url[: value.start] + HIDDEN + url[value.end :]
    return url


def redacted_text(text: str) -> str:
    """Return a text with every URL in it redacted.

    >>> redacted_text("there is no https://me:secret@host/t.csv#part. Look")
    'there is no https://***@host/t.csv#***. Look'
    """
    return _URL.sub(_redacted_match, text) if ":/" in text else text


def secret_values(url: str) -> list[Value]:
    """Return the values that `redacted` hides, in order."""
    return [value for value in values(url) if not _is_harmless(value)]


def values(url: str) -> list[Value]:
    """Return user-info and all values of query, parameters and fragment, in order; the URL may be invalid."""
    scheme = _SCHEME.match(url)
    if scheme is None:
        return [Value(found[1].strip(), found[2], found.start(2), found.end(2)) for found in _SETTING.finditer(url)]
    start = scheme.end()
    loose = _LOOSE_USER_OF_WEB if (scheme[1] or "http").lower() in ("http", "https") else _LOOSE_USER
    ends = [found.end() - 1 for found in (_USER.match(url, start), loose.match(url, start)) if found]
    users = [Value("user", url[start : max(ends)], start, max(ends))] if ends else []
    return [*users, *_pieces(url, max(ends, default=start))]


def _pieces(url: str, start: int) -> Iterator[Value]:
    for found in _PIECE.finditer(url, start):
        if found[1] == "#":
            yield Value("#", url[found.start(2) :], found.start(2), len(url))
            return
        key, sign, value = found[2].partition("=")
        if sign:
            yield Value(unquote(key), value, found.end() - len(value), found.end())
        elif key:
            yield Value("", key, found.start(2), found.end())


def _is_harmless(value: Value) -> bool:
    text = value.text
    if not text or text == HIDDEN or VARIABLE.fullmatch(text):
        return True
    if value.key == "user":  # a name with a password elsewhere; a name alone may be a token
        return bool(VARIABLE.fullmatch(text.partition(":")[2]))
    if not value.key:
        return bool(_HARMLESS.fullmatch(unquote(text)))
    return bool(_HARMLESS.fullmatch(value.key) and _PLAIN.fullmatch(unquote(text)))


def _redacted_match(found: re.Match[str]) -> str:
    url = found[0].rstrip(_AFTER)
    if found[0][len(url) :].startswith("}") and url.count("{") > url.count("}"):
        url += "}"
    return redacted(url) + found[0][len(url) :]
