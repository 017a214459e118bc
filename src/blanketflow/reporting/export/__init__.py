"""Exports of a blanket for other programs, and of a finished run for papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .bibtex import as_bibtex
from .blanket import FIELDS, ExportedBlanket
from .crate import as_crate
from .exported_run import ExportedRun
from .figure_files import as_figures
from .methods_text import as_methods
from .notebook import as_notebook
from .paper_tables import as_html, as_latex

#: What a blanket is exported as, by name.
OF_BLANKET: Mapping[str, Callable[[ExportedBlanket], str]] = {
    "csv": ExportedBlanket.as_csv,
    "json": ExportedBlanket.as_json,
    "pipeline": ExportedBlanket.as_pipeline,
}
#: What a finished run is exported as, by name: a text, or files by name.
OF_RUN: Mapping[str, Callable[[ExportedRun], str | Mapping[str, str | bytes]]] = {
    "latex": as_latex,
    "html": as_html,
    "methods": as_methods,
    "bibtex": as_bibtex,
    "notebook": as_notebook,
    "figures": as_figures,
    "crate": as_crate,
}
#: Those that are files of a folder.
IN_FOLDER = ("figures", "crate")
FORMS = (*OF_BLANKET, *OF_RUN)

__all__ = ["FIELDS", "FORMS", "IN_FOLDER", "OF_BLANKET", "OF_RUN", "ExportedBlanket", "ExportedRun"]
