"""Pages of the documentation site that are made from declarations, so that they cannot drift from them.

Sphinx calls `write_pages` before it reads its sources (docs/conf.py). The pages are never committed; the picture of
docs/architecture.md is, because that page is also read outside the site.
"""

from __future__ import annotations

from pathlib import Path

from .architecture import rooms_drawing
from .bad_input import bad_input_page
from .capabilities import capabilities_page
from .cards import card_pages
from .rates import chart_files
from .results import results_page
from .sources import simulated_page
from .studies import charts_of_studies, study_pages

__all__ = ["pages", "write_pages"]


#: The table of cases lies with the tests that run them.
_CASES = Path(__file__).parents[2] / "tests" / "bad_input.yaml"


def pages() -> dict[str, str]:
    """Return the text of every generated page by its path in the folder of the documentation; in a clone only.

    Examples
    --------
    >>> "methods/gs.md" in pages()
    True
    """
    return (
        card_pages()
        | study_pages()
        | {
            "results.md": results_page(),
            "simulated.md": simulated_page(),
            "bad-input.md": bad_input_page(_CASES),
            "capabilities.md": capabilities_page(),
        }
    )


def write_pages(folder: str | Path) -> None:
    """Write the generated pages and the picture into a folder, and remove pages of cards that no longer exist.

    Parameters
    ----------
    folder : path
        Where the documentation's sources are. A page that is there with the same text keeps its time, so that Sphinx
        reads only what has changed.
    """
    made = pages() | charts_of_studies() | chart_files() | {"rooms.svg": rooms_drawing()}
    for name, text in made.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for generated in {Path(name).parent for name in made} - {Path()}:
        for path in (Path(folder) / generated).glob("*.md"):
            if f"{generated}/{path.name}" not in made:
                path.unlink()
