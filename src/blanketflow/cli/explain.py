"""``blanketflow explain``: all facts about one method, CI test or model."""

from __future__ import annotations

import textwrap
from typing import Annotated, Any

import typer

from .options import AsJson, all_ids
from .terminal import heading, show, show_json, show_table, width

#: The facts of a card that are shown, with their titles.
_FACTS = {
    "formula": "ranks by",
    "guarantee": "guarantee",
    "cost": "cost",
    "tasks": "tasks",
    "kinds": "columns",
    "measures": "measures",
    "p_values": "p-values",
    "default_test": "CI test",
    "reference": "reference",
    "class": "in Python",
}


def explain(
    identifier: Annotated[
        str, typer.Argument(metavar="ID", help="an id from blanketflow list", autocompletion=all_ids)
    ],
    as_json: AsJson = False,
) -> None:
    """Explain a method, CI test or model.

    Prints its formula, guarantee, cost, options and reference, and an example.
    """
    from .catalogue import described, find

    facts = described(*find(identifier))
    if as_json:
        show_json(facts)
        return
    heading(f"{facts['id']}: {facts['name']} ({facts['family']})")
    show(textwrap.fill(facts["summary"], width(), initial_indent="  ", subsequent_indent="  "))
    show()
    for key, title in _FACTS.items():
        if facts.get(key):
            _show_fact(title, facts, key)
    if facts["options"]:
        heading("\nOptions")
        rows = [(o["name"], o["values"], _default(o["default"]), o["doc"]) for o in facts["options"]]
        show_table(["option", "values", "default", ""], rows)
    heading("\nExample")
    show(textwrap.indent(facts["command"], "  "))
    heading("\nIn a config")
    show(textwrap.indent(facts["config"], "  "))


def _show_fact(title: str, facts: dict[str, Any], key: str) -> None:
    value = facts[key]
    if key == "class" and facts["kind"] == "method":
        value = f"bf.{value}()"
    elif key == "class":
        value = f'bf.get_ci_test("{facts["id"]}")' if facts["kind"] == "ci-test" else value
    text = ", ".join(value) if isinstance(value, list | tuple) else str(value)
    show(textwrap.fill(text, width(), initial_indent=f"  {title + ':':11} ", subsequent_indent=" " * 14))


def _default(value: Any) -> str:
    import json

    return "none" if value is None else json.dumps(value, default=str)
