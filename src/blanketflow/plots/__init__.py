"""Charts: one a file, frame in, Altair chart out. Only jobs that draw import this package."""

from .render import spec, svg
from .score_by_selector import score_by_selector
from .selection_frequency import selection_frequency
from .size_against_score import size_against_score
from .theme import CONFIG

__all__ = ["CONFIG", "score_by_selector", "selection_frequency", "size_against_score", "spec", "svg"]
