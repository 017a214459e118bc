"""From the artefacts of all data sets and selectors to the result tables: frames in, frames out, no files."""

from .blankets import blankets_table, truth
from .columns import TABLES
from .runtime import runtime
from .scores import HIGHER_IS_BETTER, ranks, scores
from .stability import nogueira, stability

__all__ = [
    "HIGHER_IS_BETTER",
    "TABLES",
    "blankets_table",
    "nogueira",
    "ranks",
    "runtime",
    "scores",
    "stability",
    "truth",
]
