"""From the artefacts of all data sets and selectors to the result tables: frames in, frames out, no files."""

from .agreement import agreement
from .blankets import blankets_table, truth
from .columns import TABLES
from .friedman import comparable, friedman, friedman_ranks
from .optimism import optimism
from .ranks import ranks, wins
from .runtime import runtime
from .scores import HIGHER_IS_BETTER, scores
from .stability import nogueira, stability
from .statuses import statuses, unclean

__all__ = [
    "HIGHER_IS_BETTER",
    "TABLES",
    "agreement",
    "blankets_table",
    "comparable",
    "friedman",
    "friedman_ranks",
    "nogueira",
    "optimism",
    "ranks",
    "runtime",
    "scores",
    "stability",
    "statuses",
    "truth",
    "unclean",
    "wins",
]
