"""The report: one offline HTML file with tables and charts. Only the report job imports this package."""

from .figures import charts
from .render import render
from .run import Run

__all__ = ["Run", "charts", "render"]
