"""Page content: scripts and data in a safe form, the content security policy, and table cells."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ...core.printable import visible
from ...data.findings.finding import IN_WORDS
from ..formatting import count

_PAGE = Path(__file__).parent / "page"
_OWN = ("tables.js", "charts.js", "save.js", "page.js")
#: Characters that could end a script element or a line of JavaScript, with their escapes in JSON.
_UNSAFE = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def environment() -> Environment:
    """Return the templates of pages. All but our own scripts is escaped, since names come from users' files."""
    found = Environment(
        loader=FileSystemLoader(_PAGE),
        autoescape=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["in_words"] = lambda kind: IN_WORDS.get(kind, kind)
    found.globals["count"] = count
    return found


def as_json(value: Any) -> Markup:
    r"""Return a value as JSON for a script element with data.

    >>> print(as_json({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.translate(str.maketrans(_UNSAFE)))  # noqa: S704 - nothing is left that HTML reads


def compact(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chart's specification with columnar data and repeated values as codes.

    This halves the size of a page with many charts. ``rowsOf`` in charts.js restores the rows.

    >>> compact({"datasets": {"d0": [{"fold": "1", "n": 3}, {"fold": "1", "n": 4}, {"fold": "1", "n": 5}]}})
    {'datasets': {'d0': {'fold': {'levels': ['1'], 'codes': [0, 0, 0]}, 'n': [3, 4, 5]}}}
    """
    return {**spec, "datasets": {name: _columns(rows) for name, rows in spec.get("datasets", {}).items()}}


def _columns(rows: Sequence[Mapping[str, Any]]) -> Any:
    names = list(rows[0]) if rows else []
    if not names or any(list(row) != names for row in rows):
        return rows
    return {name: _coded([row[name] for row in rows]) for name in names}


def _coded(values: Sequence[Any]) -> Any:
    written = [json.dumps(value, sort_keys=True) for value in values]  # distinguishes 1 from true, and works for lists
    places = {text: at for at, text in enumerate(dict.fromkeys(written))}
    if 2 * len(places) > len(values):
        return values
    return {"levels": [json.loads(text) for text in places], "codes": [places[text] for text in written]}


@cache
def vega() -> Markup:
    """Return Vega, Vega-Lite and Vega-Embed as one script, from the installed vl-convert."""
    import vl_convert

    return Markup(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))  # noqa: S704 - no name of a user in it


def vega_versions() -> str:
    """Return the versions of the three libraries in :func:`vega`."""
    import vl_convert

    lite = vl_convert.get_vegalite_versions()[-1]
    return f"Vega {vl_convert.get_vega_version()}, Vega-Lite {lite}, Vega-Embed {vl_convert.get_vega_embed_version()}"


def own() -> Markup:
    """Return the page's scripts as one script."""
    return Markup("\n".join((_PAGE / name).read_text(encoding="utf-8") for name in _OWN))  # noqa: S704 - our files


def policy(scripts: Iterable[str]) -> str:
    """Return the content security policy: only these scripts, and no network access.

    Inline styles are allowed because Vega and the bars in tables need them, images as data because charts are saved as
    PNG through one.
    """
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    ours = f"script-src {hashes}; style-src 'unsafe-inline'; img-src data:"
    return f"default-src 'none'; {ours}; base-uri 'none'; form-action 'none'"


# --- displayed tables: the text of each cell, and its value for sorting -----------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A cell: text, a second smaller line, a bar, whether it is marked as best, and the value for sorting.

    The bar before the text has length `share`, 0 to 1. Missing values are sorted last. A `level`, such as large, sets
    the colour.
    """

    text: str
    detail: str = ""
    share: float | None = None
    best: bool = False
    value: float | None = None
    level: str = ""

    @property
    def sort_key(self) -> str | None:
        """The value as text for JavaScript; None if missing."""
        missing = self.value is None or self.value != self.value
        return None if missing else f"{float(self.value):.12g}".replace("inf", "Infinity")


@dataclass(frozen=True)
class Table:
    """Headers and rows. The first `n_text` columns and `text_columns` hold text, the others numbers."""

    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    n_text: int = 1
    text_columns: Sequence[int] = field(default_factory=tuple)

    def is_text(self, column: int) -> bool:
        """Return whether a column is text: left-aligned and sorted alphabetically."""
        return column < self.n_text or column in self.text_columns


def cells(*texts: str | Cell) -> list[Cell]:
    """Return a row of cells from texts."""
    return [text if isinstance(text, Cell) else Cell(text) for text in texts]
