"""Writes the tables of README.md from the file in results: `python -m studies.costs.page`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from studies.costs import tables
from studies.shared.page import asked, blocks, there, write

#: By the block's name: the file that it is made of, and how.
BLOCKS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "shares": ("costs", tables.shares),
    "peaks": ("costs", tables.peaks),
}


def main() -> None:
    """Renew the page."""
    chosen = asked(__doc__, Path(__file__).parent)
    write(chosen.page, blocks(there(("costs",), chosen.results), BLOCKS))


if __name__ == "__main__":
    main()
