"""The report: tables and charts to one HTML file that opens anywhere, offline. Only the report job imports it."""

from .figures import charts
from .render import render
from .run_frames import Run

__all__ = ["Run", "charts", "render"]
