"""Charts: each function takes a frame and returns an Altair chart. Only jobs that draw import this package."""

from .blanket_bars import blanket_bars
from .blanket_graph import blanket_graph
from .blanket_tree import blanket_tree
from .critical_difference import critical_difference
from .heatmaps import agreement, wins
from .render import full_spec, short_spec, svg, unchecked
from .score_by_size import score_by_size
from .scores import cost_against_score, score_by_selector, size_against_score
from .stability import selection_frequency, stability_by_selector
from .stability_paths import stability_paths
from .theme import CONFIG

__all__ = [
    "CONFIG",
    "agreement",
    "blanket_bars",
    "blanket_graph",
    "blanket_tree",
    "cost_against_score",
    "critical_difference",
    "full_spec",
    "score_by_selector",
    "score_by_size",
    "selection_frequency",
    "short_spec",
    "size_against_score",
    "stability_by_selector",
    "stability_paths",
    "svg",
    "unchecked",
    "wins",
]
