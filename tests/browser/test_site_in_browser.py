"""The documentation site: it builds without a warning, and works in a real browser from files, with no network."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forked import HANGS

pytest.importorskip("sphinx", reason="Sphinx is not installed: make setup-docs")
pytestmark = pytest.mark.extended
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """That of `make docs` where BLANKETFLOW_SITE names it.

    Else built from a copy, so that pages which it makes do not meet those of another build; the tutorials are shown as
    they are written, and not executed, as `make docs` does.
    """
    if built := os.environ.get("BLANKETFLOW_SITE"):
        return Path(built)
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns("_build"))
    for beside in DOCS.parent.iterdir():  # what pages include or link to
        if beside.is_file():  # a link in a page that is itself a link would lead out of the copy
            shutil.copy(beside, folder)
        elif beside != DOCS:
            (folder / beside.name).symlink_to(beside)
    # What was not executed does not say of which language its cells are.
    unexecuted = ["-D", "nb_execution_mode=off", "-D", "suppress_warnings=myst-nb.lexer"]
    options = ["-W", "--keep-going", "-q", "-j", "auto", *unexecuted, "-d", folder / "doctrees"]
    command = [sys.executable, "-m", "sphinx", *map(str, [*options, folder / "docs", folder / "html"])]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    return folder / "html"


def test_no_page_asks_the_network_for_anything(site):
    for page in site.rglob("*.html"):
        asked = re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"(https?:[^\"]+)", page.read_text(encoding="utf-8"))
        assert not asked, page
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import )[\"']?https?:", style.read_text(encoding="utf-8")), style


@pytest.mark.parametrize(
    "page", ["index.html", "methods/hiton-mb.html", "choosing.html", "results.html", "tutorials/reading-a-report.html"]
)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_a_page_fits_and_has_no_errors(site, browser, page, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    context.set_default_timeout(HANGS * 1000)
    tab = context.new_page()
    said = []
    tab.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    tab.goto((site / page).as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []
    context.close()


def test_the_search_finds_a_method_without_a_server(site, browser):
    tab = browser.new_page()
    tab.set_default_timeout(HANGS * 1000)
    said = []
    tab.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    tab.goto((site / "search.html").as_uri() + "?q=symmetrical+uncertainty")
    tab.wait_for_selector("#search-results li a")
    assert "methods/fcbf.html" in " ".join(a.get_attribute("href") for a in tab.query_selector_all("#search-results a"))
    assert said == []
