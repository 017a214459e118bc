"""Compares a run with a paper: with its printed numbers, and with what it claims."""

from .claims import CLAIM_COLUMNS, OF_TABLES, Claim, judge, read_claims
from .comparison import COLUMNS, compare_with_printed
from .tables import PrintedTable, read_printed
from .verdict import verdict

__all__ = [
    "CLAIM_COLUMNS",
    "COLUMNS",
    "OF_TABLES",
    "Claim",
    "PrintedTable",
    "compare_with_printed",
    "judge",
    "read_claims",
    "read_printed",
    "verdict",
]
