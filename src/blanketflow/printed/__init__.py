"""Ours beside what a paper printed: its numbers as data, how far ours are from them, and whether that is noise."""

from .beside import COLUMNS, beside
from .tables import PrintedTable, read_printed

__all__ = ["COLUMNS", "PrintedTable", "beside", "read_printed"]
