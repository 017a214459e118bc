"""The methods, CI tests and models that can be chosen, by id, with their cards and options as plain types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ..core.errors import UnknownNameError, did_you_mean
from ..core.parameters import Configurable
from ..core.registry import discover

#: The kinds of entries and the package that holds each.
PACKAGES = {"method": "blanketflow.selectors", "ci-test": "blanketflow.ci", "model": "blanketflow.models"}


def entries(family: str | None = None, task: str | None = None) -> Iterator[tuple[str, type[Configurable]]]:
    """Yield the kind and class of every entry, kind by kind, sorted by id within a kind.

    Parameters
    ----------
    family : str, optional
        Keep only the entries of this family, such as ``causal``, ``filter`` or ``ci-test``.
    task : {"classification", "regression"}, optional
        Keep only the entries that support this task.

    Raises
    ------
    UnknownNameError
        If the family or task does not exist.

    Examples
    --------
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
    """Return the kind and class of an id.

    Raises
    ------
    UnknownNameError
        If the id does not exist; the message suggests ids with a similar spelling.
    """
    known = {entry.card.id: (kind, entry) for kind, entry in entries()}
    if identifier not in known:
        told = did_you_mean(identifier, known)
        more = "" if told.startswith("Did") else " `blanketflow list` describes each."
        raise UnknownNameError(f"there is no method, CI test or model {identifier!r}. {told}{more}")
    return known[identifier]


def described(kind: str, entry: type[Configurable]) -> dict[str, Any]:
    """Return all facts about a method, CI test or model: its card, its options and how to use it."""
    defaults = entry.defaults()
    options = [
        {"name": name, "values": parameter.wanted(), "default": defaults[name], "doc": parameter.doc}
        for name, parameter in entry.parameters().items()
    ]
    facts = {"kind": kind, "class": entry.__name__, **asdict(entry.card), "options": options}
    if kind == "method":
        facts["default_test"] = entry.default_test
        facts["default_test_options"] = dict(entry.default_test_options) if entry.default_test else {}
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
