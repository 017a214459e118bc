"""``blanketflow list`` and ``blanketflow explain``: list methods, CI tests and models, or describe one."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ..ci.choice import AUTO
from ..ci.rates import FAMILIES, of_test, worst_by_family
from ..core.errors import UnknownNameError, did_you_mean
from ..core.parameters import Configurable
from ..core.printable import printable_json
from ..core.registry import discover
from ..workflow.packaged_files import workflow_file
from .options import AsJson, all_ids
from .terminal import heading, is_terminal, pour, show, show_json, show_table, width

#: Where the pages of the documentation lie, in the repository and in the installed package.
PAGES = "docs"
_TITLES = {"method": "Methods", "ci-test": "CI tests", "model": "Models"}


def list_all(
    family: Annotated[str | None, typer.Option(help="causal, filter, kernel, wrapper, ci-test, model, ...")] = None,
    task: Annotated[str | None, typer.Option(help="classification or regression")] = None,
    as_json: AsJson = False,
) -> None:
    """List methods, CI tests and models."""
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


#: The displayed facts of a card, with titles.
_FACTS = {
    "formula": "ranks by",
    "guarantee": "guarantee",
    "misleads": "caution",
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
        str,
        typer.Argument(
            metavar="ID", help="an id from blanketflow list, or a page such as docs/sources.md", autocompletion=all_ids
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Explain a method, CI test or model, or print a page.

    Prints its formula, guarantee, cost, options and reference, and an example. Messages name pages of the
    documentation, such as docs/sources.md; the installed package has them.
    """
    if identifier.startswith(f"{PAGES}/"):
        facts = {"kind": "page", "id": identifier, "text": page(identifier)}
    else:
        facts = described(*find(identifier))
    if as_json:
        show_json(facts)
        return
    if facts["kind"] == "page":
        pour(facts["text"])
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
    if facts.get("error_rates"):
        heading("\nWorst measured error rates, default options")
        rows = [
            (FAMILIES[r["family"]], r["verdict"], f"{100 * r['rejected']:.1f} %", r["design"], r["rows"], r["given"])
            for r in facts["error_rates"]
        ]
        show_table(["where", "verdict", "at alpha 0.05", "design", "rows", "given"], rows)
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
    elif key == "default_test" and value == AUTO:
        value = "auto, the fastest that is calibrated for the table"
    text = ", ".join(value) if isinstance(value, list | tuple) else str(value)
    show(textwrap.fill(text, width(), initial_indent=f"  {title + ':':11} ", subsequent_indent=" " * 14))


def _default(value: Any) -> str:
    return "none" if value is None else printable_json(value, default=str)


#: The kinds of entries and the package that holds each.
PACKAGES = {"method": "blanketflow.selectors", "ci-test": "blanketflow.ci", "model": "blanketflow.models"}


def entries(family: str | None = None, task: str | None = None) -> Iterator[tuple[str, type[Configurable]]]:
    """Yield the kind and class of every entry of a family and task by kind, sorted by id.

    >>> [found.card.id for kind, found in entries(family="kernel")]
    ['bahsic', 'hsmb']
    """
    found = [(kind, entry) for kind, package in PACKAGES.items() for entry in discover(package).values()]
    for what, asked, known in (
        ("family", family, {entry.card.family for _, entry in found}),
        ("task", task, {name for _, entry in found for name in entry.card.tasks}),
    ):
        if asked is not None and asked not in known:
            raise UnknownNameError(f"unknown {what} {asked!r}. {did_you_mean(asked, known)}")
    for kind, entry in found:
        if family in (None, entry.card.family) and (task is None or task in entry.card.tasks):
            yield kind, entry


def find(identifier: str) -> tuple[str, type[Configurable]]:
    """Return the kind and class of an id."""
    known = {entry.card.id: (kind, entry) for kind, entry in entries()}
    if identifier not in known:
        told = did_you_mean(identifier, known)
        more = "" if told.startswith("Did") else " `blanketflow list` describes each."
        raise UnknownNameError(f"there is no method, CI test or model {identifier!r}. {told}{more}")
    return known[identifier]


def page(name: str) -> str:
    r"""Return the Markdown of a page of the documentation, by its path in the repository.

    >>> page("docs/sources.md").partition("\n")[0]
    '# Data sets'
    """
    folder = Path(workflow_file(PAGES))
    places = {f"{PAGES}/{path.relative_to(folder).as_posix()}": path for path in sorted(folder.rglob("*.md"))}
    if name not in places:
        raise UnknownNameError(f"there is no page {name!r}. {did_you_mean(name, places)}")
    return places[name].read_text(encoding="utf-8")


def described(kind: str, entry: type[Configurable]) -> dict[str, Any]:
    """Return all facts about a method, CI test or model: its card, options and usage."""
    defaults = entry.defaults()
    options = [
        {"name": name, "values": parameter.wanted(), "default": defaults[name], "doc": parameter.doc}
        for name, parameter in entry.parameters().items()
    ]
    facts = {"kind": kind, "class": entry.__name__, **asdict(entry.card), "options": options}
    if kind == "method":
        facts["default_test"] = entry.default_test
        facts["default_test_options"] = dict(entry.default_test_options) if entry.default_test else {}
    if kind == "ci-test":
        facts["error_rates"] = [rate._asdict() for rate in worst_by_family(of_test(entry)).values()]
    return facts | {"command": _command(kind, entry), "config": _config(kind, entry)}


def _command(kind: str, entry: type[Configurable]) -> str:
    """Return an example command."""
    identifier, of = entry.card.id, "blanketflow select data.csv --target y --method"
    if kind == "model":
        return f"blanketflow compare data.csv --target y --methods hiton-mb mrmr --models {identifier}"
    if kind == "ci-test":
        return f"{of} hiton-mb --ci-test {identifier}"
    return f"{of} {identifier}"


def _config(kind: str, entry: type[Configurable]) -> str:
    """Return an example for config.yaml."""
    identifier = entry.card.id
    if kind == "model":
        return f"models: [{identifier}]"
    if kind == "ci-test":
        return f"ci_tests:\n  mine: {{type: {identifier}}}\nselectors:\n  hiton-mb: {{method: hiton-mb, ci_test: mine}}"
    test = f", ci_test: {entry.default_test}" if entry.default_test else ""
    return f"selectors:\n  {identifier}: {{method: {identifier}{test}}}"
