"""How a study writes its page: each block of numbers stands between two comments, and the text around is by hand."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from studies.shared.record import read

#: The top of the repository.
ROOT = Path(__file__).parents[2]


def write(page: Path, found: dict[str, str]) -> None:
    """Renew the blocks of a page."""
    page.write_text(renewed(page.read_text(encoding="utf-8"), found, str(page)), encoding="utf-8")


def renewed(text: str, found: dict[str, str], name: str) -> str:
    """Return a text with what stands between the marks of each block replaced."""
    for block, content in found.items():
        marks = f"<!-- {block} -->", f"<!-- end of {block} -->"
        pattern = re.compile(f"(?s){re.escape(marks[0])}.*?{re.escape(marks[1])}")
        whole = f"{marks[0]}\n{content}\n{marks[1]}"
        text, count = pattern.subn(lambda _, whole=whole: whole, text)
        if count != 1:
            raise SystemExit(f"{name}: {marks[0]} and {marks[1]} must each occur once, in this order.")
    return text


def row(*cells: object) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(str(text).replace("|", "\\|") for text in cells) + " |"


def asked(doc: str | None, study: Path, page: Path | None = None) -> argparse.Namespace:
    """Return where the results of a study are, and its page."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    results, page = study / "results", page or study / "README.md"
    parser.add_argument("--results", type=Path, default=results, metavar="FOLDER", help="where the JSON files are")
    parser.add_argument("--page", type=Path, default=page, metavar="FILE", help="the page, which has its charts beside")
    return parser.parse_args()


def there(names: Iterable[str], folder: Path) -> dict[str, dict[str, Any]]:
    """Return the results that were measured, by name."""
    return {name: read(name, folder) for name in names if (folder / f"{name}.json").is_file()}


def blocks(contents: dict[str, dict[str, Any]], known: Mapping[str, tuple[str, Callable[..., str]]]) -> dict[str, str]:
    """Return the text of every block of a page."""
    found = {}
    for name, (source, make) in known.items():
        text = make(contents[source]) if source in contents else ""
        empty = not text or (text.count("\n") == 1 and text.startswith("|"))
        found[name] = f"Not measured yet (`{source.partition('-')[0]}.py`)." if empty else text
    return found
