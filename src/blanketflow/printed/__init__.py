"""Ours beside what a paper printed: its numbers as data, how far ours are from them, and what it claims."""

from .beside import COLUMNS, beside
from .claims import CLAIM_COLUMNS, Claim, judge, read_claims
from .tables import PrintedTable, read_printed

__all__ = ["CLAIM_COLUMNS", "COLUMNS", "Claim", "PrintedTable", "beside", "judge", "read_claims", "read_printed"]
