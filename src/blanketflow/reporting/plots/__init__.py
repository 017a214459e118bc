"""Charts: each function takes a frame and returns an Altair chart. Only jobs that draw import this package."""

from .blanket_charts import blanket_bars, blanket_graph, blanket_tree
from .comparison_charts import agreement, critical_difference, wins
from .score_charts import cost_against_score, score_by_selector, score_by_size, size_against_score
from .stability_charts import selection_frequency, stability_by_selector, stability_paths
from .theme import CONFIG, full_spec, short_spec, svg, unchecked
from .unseen_charts import mean_by_prediction, shares_by_prediction, survival_curves

__all__ = [
    "CONFIG",
    "agreement",
    "blanket_bars",
    "blanket_graph",
    "blanket_tree",
    "cost_against_score",
    "critical_difference",
    "full_spec",
    "mean_by_prediction",
    "score_by_selector",
    "score_by_size",
    "selection_frequency",
    "shares_by_prediction",
    "short_spec",
    "size_against_score",
    "stability_by_selector",
    "stability_paths",
    "survival_curves",
    "svg",
    "unchecked",
    "wins",
]
