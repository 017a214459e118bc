"""Charts: one a file, frame in, Altair chart out. Only jobs that draw import this package."""

from .agreement import agreement
from .blanket_graph import blanket_graph
from .cost_against_score import cost_against_score
from .critical_difference import critical_difference
from .render import spec, svg
from .score_by_selector import score_by_selector
from .selection_frequency import selection_frequency
from .size_against_score import size_against_score
from .stability_by_selector import stability_by_selector
from .theme import CONFIG
from .wins import wins

__all__ = [
    "CONFIG",
    "agreement",
    "blanket_graph",
    "cost_against_score",
    "critical_difference",
    "score_by_selector",
    "selection_frequency",
    "size_against_score",
    "spec",
    "stability_by_selector",
    "svg",
    "wins",
]
