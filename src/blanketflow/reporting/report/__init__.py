"""The report: one HTML file with tables and charts that opens offline. Only the report job imports this package."""

from .figures import charts
from .render import render
from .run import Run

__all__ = ["Run", "charts", "render"]
