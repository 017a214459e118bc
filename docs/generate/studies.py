"""The studies' part of the site: their pages and charts, copied from studies/, which is beside the documentation."""

import re
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

_REPOSITORY = Path(__file__).parents[2]
_LINK = re.compile(r"\]\((?![a-z]+:|#)([^()\s#]+)")


def study_pages() -> dict[str, str]:
    """Return the text of the studies' pages by their paths in the site; the first one lists the others."""
    every = [path.relative_to(_REPOSITORY).as_posix() for path in sorted((_REPOSITORY / "studies").rglob("*.md"))]
    found = {_in_site(name): links_of_site(name, (_REPOSITORY / name).read_text(encoding="utf-8")) for name in every}
    first = "studies/index.md"
    others = "\n".join(name.removeprefix("studies/").removesuffix(".md") for name in found if name != first)
    found[first] += f"\n```{{toctree}}\n:hidden:\n\n{others}\n```\n"
    return found


def charts_of_studies() -> dict[str, str]:
    """Return what the studies' pages show or offer beside their text, by its path in the site."""
    every = [path for ending in ("svg", "csv") for path in sorted((_REPOSITORY / "studies").glob(f"*/*.{ending}"))]
    return {path.relative_to(_REPOSITORY).as_posix(): path.read_text(encoding="utf-8") for path in every}


def links_of_site(name: str, text: str) -> str:
    """Return a page, `name` in the repository, with its links from and to studies as the site has them.

    Examples
    --------
    >>> links_of_site("docs/faq.md", "[measured](../studies/speed/README.md#growth), [see](rows.md)")
    '[measured](studies/speed/index.md#growth), [see](rows.md)'
    >>> links_of_site("studies/speed/README.md", "[see](../../docs/rows.md) and [run](../../config.yaml)")
    '[see](../../rows.md) and [run](../../../config.yaml)'
    """
    here = dirname(_in_site(name)) or "."

    def mended(link: re.Match[str]) -> str:
        target = normpath(join(dirname(name), link[1]))
        if not name.startswith("studies/") and not target.startswith("studies/"):
            return link[0]
        return f"]({relpath(_in_site(target), here)}"

    return _LINK.sub(mended, text)


def _in_site(name: str) -> str:
    """Return where the folder of the site's sources, which is docs/, has a file of the repository."""
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    if not name.startswith("studies/") or not name.endswith((".md", ".svg", ".csv")):
        return f"../{name}"
    return re.sub(r"README\.md$", "index.md", name)
