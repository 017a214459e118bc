"""How the work of methods grows: CPU seconds of growing and shrinking, from the number of their tests or fits.

A method names its line of `WORK` on its card; one that does not has that of its family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any


@dataclass(frozen=True)
class Task:
    """What a method is asked to do on one fold.

    Parameters
    ----------
    n, d, cells : int
        Rows, features, and cells that are held.
    options, test_options : mapping
        Of the method and of its test.
    given, fit, predict : float
        Seconds of one test given something, of one fit of the method's own model, and of predicting held-out rows with
        one column permuted, 0 for models that say themselves what their columns matter.
    levels, classes : int
        Of a feature and of the target, as a discrete test counts them.
    rankings, longest : int
        Rankings that are made, and most features of one whose number of features is ``auto``.
    """

    n: int
    d: int
    cells: int
    options: Mapping[str, Any]
    test_options: Mapping[str, Any]
    given: float
    fit: float
    levels: int
    classes: int
    predict: float = 0.0
    rankings: int = 1
    longest: int = 10

    @property
    def ranked(self) -> float:
        """Features that are ranked, over all rankings."""
        asked = self.options.get("n_features", 10)
        if asked == "auto":
            return float(self.rankings * min(self.longest, self.d))
        return float(min(max(asked) if isinstance(asked, Sequence) else asked, self.d))

    @property
    def dependent(self) -> float:
        """Features that depend on a column given nothing, as tables are."""
        return min(0.6 * self.d, 15 + 0.05 * self.d)

    @property
    def admitted(self) -> float:
        """Features that a search admits: few by tests that resample, and by discrete ones, which need rows for each."""
        if self.test_options.keys() & {"n_repeats", "n_splits"}:
            return min(self.d, 4)
        return min(self.d, 2 + self.n / 400 if "min_samples_per_cell" in self.test_options else 10, 20)

    def search(self, classes: int) -> tuple[float, float]:
        """Return the seconds of one search for the neighbours of a column of so many levels, and how many it finds.

        A discrete test given something for which there are too few rows is not asked, so that nothing is separated: all
        dependent features stay.
        """
        rows_a_cell = self.test_options.get("min_samples_per_cell")
        if rows_a_cell is None or self.n >= rows_a_cell * classes * self.levels**2:
            return self.given * 1.5 * self.d, self.admitted
        found = round(self.dependent) if self.n >= rows_a_cell * classes * self.levels else 0
        return self.d * (SCANNED + PAIR_ROW * self.n), found


def _neighbours(task: Task) -> float:
    """Search for the neighbours of the target, and by symmetry for those of what is found."""
    return _representatives(task) if task.options.get("symmetry") != "none" else task.search(task.classes)[0]


def _representatives(task: Task) -> float:
    """Search for the neighbours of the target, and for those of what is found."""
    own, found = task.search(task.classes)
    return own + found * task.search(task.levels)[0]


def _spouses(task: Task) -> float:
    """Search for the neighbours of the target, of those, and by symmetry of theirs: each column is searched once."""
    (own, found), (theirs, more) = task.search(task.classes), task.search(task.levels)
    return own + min(found * (1 + more), task.d) * theirs


def _scans(task: Task) -> float:
    """Search for the neighbours of the target, and scan all features for each."""
    own, found = task.search(task.classes)
    return own + task.given * min(found, task.admitted) * task.d


def _importances(task: Task) -> float:
    """Fit a model, or one a part of the rows, whose predictions are asked for with each feature permuted."""
    return task.options.get("n_splits", 5) * (task.fit + task.d * task.predict) if task.predict else task.fit


def _false_positives(task: Task) -> float:
    """Return how many features PPFS grows: more repeats, more false positives (docs/ci-tests.md)."""
    rate = min(0.33, 0.01 * task.test_options.get("n_repeats", 5))
    rate = rate if task.test_options.get("significance") == "wilcoxon" else 0.03
    return min(task.d, 3 + rate * task.d)


#: Work of methods that state nothing, by their family; and of a family that is not known.
FAMILIES = {
    "causal": "forward",
    "filter": "ranking",
    "kernel": "kernel-pairs",
    "wrapper": "fits",
    "reference": "nothing",
    "external": "fits",
}
OTHERWISE = "fits"
#: Searches by conditional tests: all their columns are coded first.
SEARCHES = ("forward", "sets", "neighbours", "neighbours-and-scans", "spouses", "representatives", "sparse-group-lasso")
#: Work without the table.
UNREAD = ("marginal",)
#: Work on one dense matrix of all features, whatever the table's form.
MATRICES = ("near-rows", "fits", "importances", "fits-of-each")
#: Seconds a test of coded columns given nothing or in a ranking: as such, and a row; as such where a search begins.
PAIR, PAIR_ROW, SCANNED = 2e-6, 1e-9, 8e-6
WORK: dict[str, Callable[[Task], float]] = {
    # No tests.
    "nothing": lambda task: 0.0,
    "marginal": lambda task: 0.0,  # what the ci_test stage has found is the answer; the table is not even read
    "sums": lambda task: 2e-7 * task.cells * task.rankings,
    "near-rows": lambda task: (
        5e-10 * min(task.options.get("n_iterations") or task.n, task.n) * task.n * task.d * task.rankings
    ),
    # A ranking: tests of each feature with each one ranked.
    "ranking": lambda task: 0.07 + 2 * task.ranked * task.d * (PAIR / 4 + PAIR_ROW * task.n / 4),
    "pairs": lambda task: 0.5 * task.d**2 * (PAIR + PAIR_ROW * task.n),
    # Searches by conditional tests.
    "backward": lambda task: task.given * _false_positives(task),
    "forward": lambda task: task.given * task.admitted * (task.d + task.admitted) * task.options.get("n_runs", 4) / 4,
    "sets": lambda task: task.given * min(comb(task.d, task.options.get("m", 2)), task.options.get("k", 1e18)) * 2,
    "neighbours": _neighbours,
    "neighbours-and-scans": _scans,
    "spouses": _spouses,
    "representatives": _representatives,
    "sparse-group-lasso": lambda task: _representatives(task) + 0.1 * task.classes,
    # Kernels.
    "kernel-pairs": lambda task: task.given * (task.d + task.d**2 / 7),
    "kernel-rounds": lambda task: task.given * task.d / task.options.get("share", 0.1) * 2 * task.rankings,
    # Models of all features, or of each.
    "fits": lambda task: task.fit,
    "importances": lambda task: _importances(task) * (task.options.get("n_permutations", 0) + 1),
    "fits-of-each": lambda task: task.fit * task.d * task.options.get("n_splits", 5) * 4,
}
