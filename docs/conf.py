"""The documentation site: `make docs` builds it into docs/_build/html, which opens without a server or a network."""

import os
import sys
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from blanketflow import __version__

sys.path.insert(0, str(Path(__file__).parent))
from generate import write_pages
from generate.studies import links_of_site

project = "blanketflow"
author = "The blanketflow developers"
release = version = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]
default_role = "code"

# The tutorials are executed at each build, each in an empty folder, with the commands of this environment.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]
autodoc_typehints = "none"
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"blanketflow {release}"
html_static_path = ["_static"]
html_extra_path = ["llms.txt", "404.html"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
# Search results without a summary: it would be fetched, which a browser refuses for file://.
html_show_search_summary = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}


def setup(app: Sphinx) -> None:
    """Write the pages that are made of declarations before Sphinx looks for its sources."""
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir)))
    app.connect("source-read", _link_to_studies)
    app.connect("html-page-context", _add_chart)
    app.connect("html-page-context", _say_where)


def _add_chart(app: Sphinx, name: str, *_: object) -> None:
    """Let the pages with the picture of error rates have it as an interactive chart."""
    if name in ("ci-tests", "studies/calibration/index"):
        for script in ("vega.js", "rates-spec.js", "rates-chart.js"):
            app.add_js_file(script, loading_method="defer")


def _say_where(app: Sphinx, name: str, template: str, context: dict[str, Any], page: nodes.document | None) -> None:
    """Write the shelf and the list that a page is in above it."""
    shelves = {
        listed: shelf["caption"]
        for shelf in app.env.tocs["index"].findall(addnodes.toctree)
        for listed in shelf["includefiles"]
    }
    top = next((of for of in (name, f"{name.partition('/')[0]}/index") if of in shelves), None)
    if page is not None and top is not None:
        steps = [f'<a href="{context["pathto"]("index")}">{project}</a>', escape(shelves[top])]
        if top != name:
            steps.append(f'<a href="{context["pathto"](top)}">{escape(app.env.titles[top].astext())}</a>')
        context["body"] = f'<nav class="where" aria-label="Where">{" &rsaquo; ".join(steps)}</nav>{context["body"]}'


def _link_to_studies(app: Sphinx, name: str, source: list[str]) -> None:
    """Mend the links of a page to the studies, which are beside docs/ as files and below it on the site."""
    if not name.startswith("studies/"):
        source[0] = links_of_site(f"docs/{name}.md", source[0])
