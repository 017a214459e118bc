"""The page of bad input: every case of tests/bad_input.yaml with what is said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .markdown import table

#: By the key that tells how a case ends: when it is said, or what is done.
OUTCOMES = {
    "refused": "before any job",
    "fails": "by the job that reads the table",
    "warns": "by `blanketflow inspect`; the run goes on",
    "reads": "read",
    "means": "read",
}
#: What is read after all.
AS_MEANT = ("reads", "means")


def bad_input_page(path: Path) -> str:
    """Return the page.

    Parameters
    ----------
    path : path
        tests/bad_input.yaml, where the form of a case is told.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C it takes a tenth of the time
    sections = yaml.load(path.read_text(encoding="utf-8"), loader)["sections"]  # noqa: S506 - either is safe
    cases = [case for section in sections for case in section["cases"]]
    parts = [
        "# Bad input",
        f"What is said of {len(cases)} kinds of bad or odd input: one line that names the data set, the column or the "
        "key, and the way out. In the examples the data set is called `study`, its target `outcome` and the selector "
        "`mine`. `tests/bad_input.yaml` holds the cases, and a test that every one ends with just these words. "
        "[The study of faults](../studies/faults/README.md#bad-input) tells how more is searched for, "
        "and what was found and mended.",
    ]
    for section in sections:
        rows = [(case["case"], *_outcome(case)) for case in section["cases"]]
        parts += [f"## {section['title']}", table(["input", "what is said", "when"], rows)]
    return "\n\n".join(parts) + "\n"


def _outcome(case: Mapping[str, Any]) -> tuple[str, str]:
    (key,) = set(OUTCOMES) & set(case)
    said = case.get("why", "as it is meant") if key in AS_MEANT else _code(case[key])
    return (f"{said} {case['why']}" if "why" in case and key not in AS_MEANT else said), OUTCOMES[key]


def _code(text: str) -> str:
    """Return text as code, whatever backticks it holds."""
    fence = "``" if "`" in text else "`"
    return f"{fence} {text} {fence}" if len(fence) > 1 else f"`{text}`"
