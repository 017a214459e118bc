"""Markdown out of declarations: tables, links, options."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from blanketflow.core.parameters import Configurable, Parameter

_DOI = re.compile(r"(?:doi:\s*)?\b(10\.\d{4,}/[^\s;,]*[^\s;,.])")
_ARXIV = re.compile(r"\barXiv:(\d{4}\.\d{4,5})")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; bars in a cell are escaped.

    Examples
    --------
    >>> print(table(["a", "b"], [["1", "2"]]))
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    lines = [head, ["---"] * len(head), *([cell.replace("|", r"\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def between(present: str, name: str, text: str) -> str:
    r"""Return a page with a text between two comments: the name, and "end of" the name.

    Examples
    --------
    >>> between("a <!-- x --> old <!-- end of x --> b", "x", "new")
    'a <!-- x -->\nnew\n<!-- end of x --> b'
    """
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    return re.sub(f"(?s){begin}.*?{end}", lambda _: f"{begin}\n{text}\n{end}", present)


def linked(reference: str) -> str:
    """Return a reference with its DOIs and arXiv numbers as links.

    Examples
    --------
    >>> linked("Somebody (2003), 10.1007/s1-2, and more.")
    'Somebody (2003), [doi:10.1007/s1-2](https://doi.org/10.1007/s1-2), and more.'
    """
    reference = _DOI.sub(r"[doi:\1](https://doi.org/\1)", reference)
    return _ARXIV.sub(r"[arXiv:\1](https://arxiv.org/abs/\1)", reference)


def options(declared: Mapping[str, tuple[Any, Parameter]]) -> str:
    """Return a table of options, given as default and declaration by name."""
    rows = [
        (f"`{name}`", parameter.wanted(), "" if default is None else f"`{in_yaml(default)}`", parameter.doc)
        for name, (default, parameter) in declared.items()
    ]
    return table(["option", "values", "default", ""], rows)


def in_yaml(value: Any) -> str:
    """Return a value as one writes it in a config.

    Examples
    --------
    >>> in_yaml("auto"), in_yaml(1e-9)  # without its point, YAML would read a text
    ('"auto"', '1.0e-09')
    """
    text = json.dumps(value)
    return f"{value:.1e}" if isinstance(value, float) and "e" in text and "." not in text else text


def own_options(configurable: type[Configurable]) -> dict[str, tuple[Any, Parameter]]:
    """Return the options that a class declares, as `options` takes them."""
    defaults = configurable.defaults()
    return {name: (defaults[name], parameter) for name, parameter in configurable.parameters().items()}


def fenced(text: str, language: str) -> str:
    """Return a block of code."""
    return f"```{language}\n{text}\n```"


def facts(rows: Mapping[str, str]) -> str:
    """Return a table of facts, without those that are empty."""
    return table(["", ""], [(f"**{name}**", value) for name, value in rows.items() if value])
