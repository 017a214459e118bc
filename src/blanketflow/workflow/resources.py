"""Memory and time that a job requests of a scheduler, from the table's shape; each attempt requests more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from ..ci import CITest
from ..config.identifiers import TestOnRows
from ..config.typed import Config
from ..data.column_roles import max_memory
from ..data.storage import MOST_CELLS, MOST_CELLS_SPARSE
from ..selectors.causal.koller_sahami import MOST_IN_PAIRS
from .cost import (
    LOADING,
    LOADING_MODELS,
    confirm_seconds,
    grow_shrink_seconds,
    marginal_seconds,
    table_seconds,
    work_of,
)
from .grain import Grains
from .peek import Facts

#: MB of the Snakemake process that starts the script in a scheduler's job, and of its copy: a fork is briefly counted
#: twice, and the scheduler may measure then.
SNAKEMAKE_MB = 500
#: Factor on the estimated time, and the least minutes: estimates are rough, and a stopped job has lost all its work.
MARGIN, LEAST_MINUTES = 10.0, 10
#: Seconds per pair and split of a stage that only moves results.
MOVED = 0.05
#: Memory of a stage: MB without data; bytes per dense cell, per stored cell of a sparse table, and per feature.
MEMORY = {
    "table": (150, 150, 20, 400),
    "splits": (140, 0, 0, 0),
    "gather_splits": (140, 0, 0, 0),
    "gather_ci_test": (140, 0, 0, 700),
    "aggregate": (140, 0, 0, 1_000),
    "evaluate": (450, 60, 60, 0),
    "tables": (400, 0, 0, 0),
    "report": (700, 0, 0, 0),
}
OTHER_MEMORY = (320, 40, 30, 700)
#: Bytes per cell of reading an array and of a densified sparse table, and per row for splits and repeats.
ARRAY_CELL, MATRIX_CELL, ROW = 24, 10, 500
#: The stages that do a method's `work`, named on its card.
SEARCHES = ("grow", "shrink", "grow_shrink")
#: Work that densifies a sparse table.
MATRICES = ("near-rows", "fits", "fits-of-each")
#: Bytes per pair of features, for work that stores all pairs.
PAIR = 8
#: Usual largest number of features on which models are trained.
CHOSEN = 1_000
#: Usual size of a blanket.
MEMBERS = 20
MB = 1e6


@dataclass(frozen=True)
class Resources:
    """Memory in MB and time in minutes that a job requests; `max_memory` is in bytes, 0 if not set."""

    mem_mb: int
    runtime: int
    max_memory: int = 0


@dataclass
class Estimates:
    """Estimates for the jobs of a plan, by stage (the rule without its grain's suffix) and wildcards."""

    config: Config
    facts: dict[str, Facts]
    grains: Grains

    def resources(self, stage: str, ids: dict[str, Any], n_parts: int = 1, attempt: int = 1) -> Resources:
        """Return the request of a job of `n_parts` folds or splits; each attempt doubles it."""
        return self.resources_of_several([(stage, ids, n_parts)], attempt)

    def resources_of_several(self, works: Sequence[tuple[str, dict[str, Any], int]], attempt: int = 1) -> Resources:
        """Return the request of a job that does several `works` in sequence."""
        seconds = sum(self.seconds(*work, MARGIN) for work in works)
        memory = max(self.memory_mb(stage, ids) for stage, ids, _ in works)
        more = 2 ** (attempt - 1)
        minutes = max(ceil(seconds / 60), LEAST_MINUTES) * more
        limits = [self._max_memory(ids.get("dataset")) for _, ids, _ in works]
        return Resources((SNAKEMAKE_MB + memory) * more, minutes, min(filter(None, limits), default=0))

    def _max_memory(self, dataset: str | None) -> int:
        return (dataset and max_memory(dataset, self.config.datasets[dataset])) or 0

    def seconds(self, stage: str, ids: dict[str, Any], n_parts: int = 1, margin: float = 1.0) -> float:
        """Return the approximate CPU seconds of a job with its imports, times `margin`."""
        loading = LOADING_MODELS if stage in ("confirm", "evaluate", "tables", "report") else LOADING
        return margin * (loading + self.work_seconds(stage, ids, n_parts, margin))

    def work_seconds(self, stage: str, ids: dict[str, Any], n_parts: int = 1, margin: float = 1.0) -> float:
        """Return the approximate CPU seconds of a job without loading.

        `margin` times the result never exceeds a time limit of the selector.
        """
        if "dataset" not in ids:
            return MOVED * sum(self.grains.n_splits[dataset] for dataset, _ in self.grains.pairs)
        facts = self.facts[ids["dataset"]]
        if stage == "table":
            return table_seconds(facts)
        if stage in ("ci_test", "ci_test_chunk"):
            tested = self._test(ids["test"])
            facts = facts.at_most(self.config.max_rows(ids["dataset"], tested))
            return marginal_seconds(tested, facts) * n_parts / _n_chunks(ids)
        if stage in ("grow", "shrink", "grow_shrink"):
            chosen = self.config.selectors[ids["selector"]]
            test = self.config.test(ids["dataset"], ids["selector"])
            facts = facts.at_most(self.config.max_rows(ids["dataset"], test or chosen.method))
            limit = chosen.time_limit and chosen.time_limit / margin
            return grow_shrink_seconds(chosen.method, test, facts, limit) * n_parts
        if stage == "confirm":
            chosen = self.config.selectors[ids["selector"]]
            n_members = self._n_chosen(ids["selector"], facts, min(facts.n_features, MEMBERS))
            n_again, n_folds = chosen.confirm_splits - 1, max(chosen.folds, 1)
            again = self.work_seconds("grow_shrink", ids, n_again * n_folds, margin) if n_again else 0.0
            return chosen.confirm_splits * confirm_seconds(facts, n_members) + again
        if stage == "evaluate":
            return self.grains.evaluation_seconds(ids["dataset"], ids["selector"]) * n_parts
        return MOVED * n_parts

    def memory_mb(self, stage: str, ids: dict[str, Any]) -> int:
        """Return the approximate peak memory of a job's script in MB, rather too high."""
        if "dataset" not in ids:
            return max(memory_mb(stage, facts) for facts in self.facts.values())
        facts = self.facts[ids["dataset"]]
        path = self.config.datasets[ids["dataset"]]["path"]
        selector = ids.get("selector")
        if stage == "confirm" and self.config.selectors[ids["selector"]].confirm_splits > 1:
            return max(self.memory_mb("grow_shrink", ids), memory_mb(stage, facts))
        return memory_mb(
            stage,
            facts,
            n_chunks=_n_chunks(ids),
            is_text=not str(path or "").endswith((".npz", ".parquet")),
            in_parts="test" not in ids or self.config.tests_by_column(ids["dataset"], TestOnRows.of(ids["test"]).test),
            work=work_of(self.config.selectors[selector].method) if selector else "",
            n_chosen=self._n_chosen(selector, facts, CHOSEN) if selector else CHOSEN,
        )

    def _test(self, test: str) -> CITest:
        """Return the configured test of a ci_test artefact."""
        return self.config.ci_tests[TestOnRows.of(test).test]

    def _n_chosen(self, selector: str, facts: Facts, otherwise: int) -> int:
        """Return the number of features on which models are trained: all if nothing is selected."""
        return facts.n_features if self.config.selectors[selector].method.card.id == "all" else otherwise


def memory_mb(
    stage: str,
    facts: Facts,
    n_chunks: int = 1,
    *,
    is_text: bool = True,
    in_parts: bool = True,
    work: str = "",
    n_chosen: int = CHOSEN,
) -> int:
    """Return the approximate peak memory of a job of a stage in MB, rather too high.

    Features are scattered over `n_chunks` jobs. Reading text takes more memory than reading arrays, and a test of
    single columns holds only a part of the table at a time. Models are trained on at most `n_chosen` features.

    >>> from blanketflow.workflow.peek import peek
    >>> memory_mb("ci_test", peek("wine", {"source": "sklearn:wine"})) < 1_000
    True
    """
    empty, dense, stored, feature = MEMORY.get(stage, OTHER_MEMORY)
    is_sparse, n_features, cells = facts.n_stored is not None, facts.n_features / n_chunks, facts.n_cells / n_chunks
    held = 0.0
    if stage == "evaluate":
        cells = facts.n_rows * min(facts.n_features, n_chosen)
    elif stage.startswith("ci_test") and in_parts:
        places = max(facts.n_rows * n_features, 1)
        read = min(places, MOST_CELLS_SPARSE if is_sparse else MOST_CELLS)
        cells *= read / places
        held = read / 8 if is_sparse else 0.0
    elif stage in SEARCHES and is_sparse and work in MATRICES:
        held = MATRIX_CELL * facts.n_rows * facts.n_features
    elif stage in SEARCHES and work == "pairs":
        held = PAIR * min(facts.n_features, MOST_IN_PAIRS) ** 2
    if stage == "table" and not is_text:
        dense = ARRAY_CELL
    held += (stored if is_sparse else dense) * cells + feature * n_features + ROW * facts.n_rows
    return round(empty + held / MB)


def _n_chunks(ids: dict[str, Any]) -> int:
    """Return the number of jobs over which the features of a CI test are scattered."""
    return int(ids["chunk"].split("of")[1]) if "chunk" in ids else 1
