"""Writes config/schema.json and docs/config.md from the declarations; part of `make docs`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.parameters import Parameter
from ..core.prior import KEYS as PRIOR
from ..core.registry import discover
from .identifiers import IDENTIFIER, LONGEST_ID
from .keys import DATASET, SELECTOR, SPLITS, TOP


def schema_text() -> str:
    """Return config/schema.json."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


def json_schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) of config.yaml, with every method's and test's options."""

    def closed(keys: Mapping[str, tuple[Any, Parameter]], **more: Any) -> dict[str, Any]:
        properties = {key: parameter.schema() for key, (_, parameter) in keys.items()} | more
        return {"type": "object", "additionalProperties": False, "properties": properties}

    def variants(package: str, key: str, shared: Mapping[str, Any]) -> list[dict[str, Any]]:
        out = []
        for identifier, found in discover(package).items():
            own = {name: parameter.schema() for name, parameter in found.parameters().items()}
            properties = {**shared, key: {"const": identifier, "description": found.card.summary}, **own}
            out.append({"type": "object", "required": [key], "additionalProperties": False, "properties": properties})
        plug_in = {"type": "object", "required": [key], "properties": {key: {"type": "string", "pattern": ":"}}}
        return [*out, plug_in]

    shared = {key: parameter.schema() for key, (_, parameter) in SELECTOR.items() if key != "method"}
    names = {"propertyNames": {"pattern": f"^{IDENTIFIER.pattern}$", "maxLength": LONGEST_ID}, "type": "object"}
    sections = {
        "datasets": {**names, "minProperties": 1, "additionalProperties": closed(DATASET)},
        "splits": closed(SPLITS),
        "ci_tests": {**names, "additionalProperties": {"oneOf": variants("blanketflow.ci", "type", {})}},
        "selectors": {
            **names,
            "minProperties": 1,
            "additionalProperties": {"oneOf": variants("blanketflow.selectors", "method", shared)},
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "blanketflow configuration",
        "required": ["datasets", "selectors"],
        **closed(TOP, **sections),
    }


def docs_text() -> str:
    """Return docs/config.md: every key, and the options of each method and CI test with their defaults."""
    parts = [
        "# Configuration keys\n\nThis page lists every key of a configuration. "
        "[config.yaml](../config.yaml) is a worked example, and `config/schema.json` lets editors complete and check "
        "keys. `make docs` generates this page from the declarations in the code.\n"
    ]
    for title, text, keys in (
        ("Top level", "", TOP),
        ("datasets", "Keys of each data set.\n\n", DATASET),
        ("splits", "", SPLITS),
        ("selectors", "Keys of each selector, besides the options of its method.\n\n", SELECTOR),
    ):
        parts.append(f"## {title}\n\n{text}{_table(keys)}")
    for title, package, folder in (
        ("Options of CI tests", "blanketflow.ci", "tests"),
        ("Options of methods", "blanketflow.selectors", "methods"),
    ):
        rows = [
            f"| [{name}]({folder}/{name}.md) | {_with_defaults(found.defaults())} |"
            for name, found in discover(package).items()
        ]
        head = "Options with their defaults. The page of each id explains them, as `blanketflow explain ID` does.\n\n"
        parts.append(f"## {title}\n\n{head}| id | options |\n|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _with_defaults(defaults: Mapping[str, Any]) -> str:
    return ", ".join(f"`{name}: {json.dumps(default)}`" for name, default in defaults.items()) or "none"


def _table(rows: Mapping[str, tuple[Any, Parameter]]) -> str:
    """Return a table of keys; a feature's prior knowledge is explained once, with the data set."""
    lines = ["| key | values | default | meaning |", "|---|---|---|---|"]
    for name, (default, parameter) in rows.items():
        shown = "" if default is None else f"`{json.dumps(default)}`"
        meaning = "As in [datasets](#datasets)." if rows is SELECTOR and name in PRIOR else parameter.doc
        lines.append(f"| `{name}` | {parameter.wanted()} | {shown} | {meaning} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write both files into the current folder's config/ and docs/."""
    Path("config/schema.json").write_text(schema_text(), encoding="utf-8")
    Path("docs/config.md").write_text(docs_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
