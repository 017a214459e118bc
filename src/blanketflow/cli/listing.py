"""``blanketflow list``: methods, CI tests and models."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .options import AsJson
from .terminal import heading, is_terminal, show, show_json, show_table

_TITLES = {"method": "Methods", "ci-test": "CI tests", "model": "Models"}


def list_all(
    family: Annotated[str | None, typer.Option(help="causal, filter, kernel, wrapper, ci-test, model, ...")] = None,
    task: Annotated[str | None, typer.Option(help="classification or regression")] = None,
    as_json: AsJson = False,
) -> None:
    """List methods, CI tests and models."""
    from .catalogue import described, entries

    found = list(entries(family, task))
    if as_json:
        show_json([described(kind, entry) for kind, entry in found])
        return
    for kind, title in _TITLES.items():
        rows = [(e.card.id, e.card.family, e.card.summary) for entry_kind, e in found if entry_kind == kind]
        if rows:
            _show(title, rows)
    if is_terminal():
        show("`blanketflow explain ID` describes one in detail.")


def _show(title: str, rows: list[tuple[Any, ...]]) -> None:
    heading(title)
    if is_terminal():
        show_table(["id", "family", "what it does"], rows)
        return
    for identifier, _, summary in rows:
        show(f"  {identifier:22} {summary}")
