"""Writes the tables of README.md from the files in results: `python -m studies.cluster.page`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from studies.shared.page import asked, blocks, there, write
from studies.speed import tables

#: By the block's name: the file that it is made of, and how.
BLOCKS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "walls": ("cluster", tables.walls),
    "plan": ("plan_scale", tables.plan_scale),
    "wide": ("plan_scale", tables.wide_jobs),
}


def main() -> None:
    """Renew the page."""
    chosen = asked(__doc__, Path(__file__).parent)
    write(chosen.page, blocks(there(("cluster", "plan_scale"), chosen.results), BLOCKS))


if __name__ == "__main__":
    main()
