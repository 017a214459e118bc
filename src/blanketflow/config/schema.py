"""Generated files: config/schema.json and docs/config.md, written from the declarations. `make docs` runs this."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.parameters import Parameter
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
    """Return docs/config.md."""
    parts = [
        "# Configuration keys\n\nGenerated from the declarations by `make docs`. "
        "`config.yaml` is the worked example; `config/schema.json` serves editors.\n"
    ]
    for title, keys in (
        ("Top level", TOP),
        ("datasets: each entry", DATASET),
        ("splits", SPLITS),
        ("selectors: each entry, besides its method's options", SELECTOR),
    ):
        parts.append(f"## {title}\n\n{_table({k: (p, d) for k, (d, p) in keys.items()})}")
    for title, package in (("CI tests", "blanketflow.ci"), ("Methods", "blanketflow.selectors")):
        parts.append(f"## {title}\n")
        for identifier, found in discover(package).items():
            card, defaults = found.card, found.defaults()
            facts = f"Guarantee: {card.guarantee}. Cost: {card.cost}."
            facts += f" Ranks by: `{card.formula}`." if card.formula else ""
            head = f"### {identifier}\n\n{card.summary} {card.reference}\n\n{facts}\n"
            own = {name: (p, defaults[name]) for name, p in found.parameters().items()}
            parts.append(head + (f"\n{_table(own)}" if own else ""))
    return "\n".join(parts)


def _table(rows: Mapping[str, tuple[Parameter, Any]]) -> str:
    lines = ["| key | values | default | |", "|---|---|---|---|"]
    for name, (parameter, default) in rows.items():
        shown = "" if default is None else f"`{json.dumps(default)}`"
        lines.append(f"| `{name}` | {parameter.wanted()} | {shown} | {parameter.doc} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write both files into the current folder's config/ and docs/."""
    Path("config/schema.json").write_text(schema_text(), encoding="utf-8")
    Path("docs/config.md").write_text(docs_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
