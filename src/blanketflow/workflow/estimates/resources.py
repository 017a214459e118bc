"""What a job asks of a scheduler: memory and time, from rows, columns, repeats and folds, more at each attempt."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from ...ci import CITest
from ...config.identifiers import PART
from ...config.typed import Config
from ..grain import Grains
from ..peek import Facts
from .cost import (
    LOADING,
    LOADING_MODELS,
    MODEL_FEATURES,
    evaluate_seconds,
    grow_shrink_seconds,
    marginal_seconds,
    table_seconds,
    work_of,
)
from .memory import CHOSEN, memory_mb

#: MB of the Snakemake that a scheduler's job starts, which starts the script; and of a copy of it, since a process
#: that starts another is counted twice for a moment, and a scheduler may look just then.
SNAKEMAKE_MB = 500
#: A job may take so many times its estimate, and at least so many minutes: estimates are rough, and a job that is
#: stopped has lost all its work.
MARGIN, LEAST_MINUTES = 10.0, 10
#: Seconds of a stage that only moves results, for each pair and split of them.
MOVED = 0.05


@dataclass(frozen=True)
class Resources:
    """What one job asks for.

    Attributes
    ----------
    mem_mb : int
        Memory in MB.
    runtime : int
        Time in minutes.
    """

    mem_mb: int
    runtime: int


@dataclass
class Estimates:
    """Estimates for the jobs of a plan.

    Attributes
    ----------
    config : Config
    facts : dict of str to Facts
    grains : Grains
        How much work one job does.
    """

    config: Config
    facts: dict[str, Facts]
    grains: Grains

    def resources(self, stage: str, ids: dict[str, Any], n_parts: int = 1, attempt: int = 1) -> Resources:
        """Return what a job asks for; the second attempt asks for twice as much, the third for four times.

        Parameters
        ----------
        stage : str
            Its rule, without what its grain adds: ``ci_test``, ``grow_shrink``, ...
        ids : dict of str to str
            Its wildcards; none for stages over all data sets.
        n_parts : int, default=1
            Folds, or splits, that it works on.
        attempt : int, default=1
            Which attempt this is.
        """
        seconds = self.seconds(stage, ids, n_parts, MARGIN)
        minutes = max(ceil(seconds / 60), LEAST_MINUTES)
        more = 2 ** (attempt - 1)
        return Resources((SNAKEMAKE_MB + self.memory_mb(stage, ids)) * more, minutes * more)

    def seconds(self, stage: str, ids: dict[str, Any], n_parts: int = 1, margin: float = 1.0) -> float:
        """Return about how many CPU seconds a job takes, with what it loads, or so many times as much."""
        loading = LOADING_MODELS if stage in ("evaluate", "tables", "report") else LOADING
        return margin * (loading + self.work_seconds(stage, ids, n_parts, margin))

    def work_seconds(self, stage: str, ids: dict[str, Any], n_parts: int = 1, margin: float = 1.0) -> float:
        """Return about how many CPU seconds a job works on what it is asked.

        A limit of the selector holds whatever the margin is: `margin` times the result is never more than the limit.
        """
        if "dataset" not in ids:
            return MOVED * len(self.grains.pairs) * self.grains.n_splits
        facts = self.facts[ids["dataset"]]
        if stage == "table":
            return table_seconds(facts)
        if stage in ("ci_test", "ci_test_chunk"):
            n_chunks = int(ids["chunk"].split("of")[1]) if "chunk" in ids else 1
            return marginal_seconds(self.test(ids["test"]), facts) * n_parts / n_chunks
        if stage in ("grow", "shrink", "grow_shrink"):
            chosen = self.config.selectors[ids["selector"]]
            test = self.config.ci_tests[chosen.ci_test] if chosen.ci_test else None
            limit = chosen.time_limit and chosen.time_limit / margin
            return grow_shrink_seconds(chosen.method, test, facts, limit) * n_parts
        if stage == "evaluate":
            n_chosen = self._n_chosen(ids["selector"], facts, MODEL_FEATURES)
            return evaluate_seconds(self.config.models, facts, n_chosen) * n_parts
        return MOVED * n_parts

    def test(self, test: str) -> CITest:
        """Return the configured test of a ci_test artefact."""
        return self.config.ci_tests[test.removesuffix(PART)]

    def memory_mb(self, stage: str, ids: dict[str, Any]) -> int:
        """Return about how many MB a job's script holds at most."""
        if "dataset" not in ids:
            return max(memory_mb(stage, facts) for facts in self.facts.values())
        facts = self.facts[ids["dataset"]]
        path = self.config.datasets[ids["dataset"]]["path"]
        method = self.config.selectors[ids["selector"]].method if "selector" in ids else None
        return memory_mb(
            stage,
            facts,
            n_chunks=int(ids["chunk"].split("of")[1]) if "chunk" in ids else 1,
            is_text=not str(path or "").endswith((".npz", ".parquet")),
            in_parts="test" not in ids or self.test(ids["test"]).card.column_by_column,
            work=work_of(method) if method else "",
            n_chosen=self._n_chosen(ids["selector"], facts, CHOSEN) if method else CHOSEN,
        )

    def _n_chosen(self, selector: str, facts: Facts, otherwise: int) -> int:
        """Return how many features models are trained on: all where nothing is selected."""
        return facts.n_features if self.config.selectors[selector].method.card.id == "all" else otherwise
