"""Ours beside what a paper printed: its numbers as data, how far ours are from them, and what it claims."""

from .beside import COLUMNS, beside
from .claims import CLAIM_COLUMNS, OF_TABLES, Claim, judge, read_claims
from .tables import PrintedTable, read_printed

__all__ = [
    "CLAIM_COLUMNS",
    "COLUMNS",
    "OF_TABLES",
    "Claim",
    "PrintedTable",
    "beside",
    "judge",
    "read_claims",
    "read_printed",
]
