"""Inputs and outputs of each job, for the rules of Snakemake and for the tasks of `in_process`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.rows import FORWARD
from ..data.splits import FINAL
from .layout import path_of
from .sharded import shards
from .specs import Plan, canonical_json

#: Ids of a job: its wildcards.
Ids = Mapping[str, str]


@dataclass(frozen=True)
class JobFiles:
    """The files of the jobs of a plan.

    `below` resolves paths below the folder of results, such as ``results.joinpath``; rules have text with wildcards.
    """

    plan: Plan
    below: Callable[[str], Path]

    def at(self, artefact: str, **ids: str) -> Path:
        """Return the path of an artefact; omitted ids remain wildcards of Snakemake."""
        return self.below(path_of(artefact, **ids))

    def folds(self, ids: Ids, folds: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return (split, fold) of each fold of a job: those of its ids, all, or the given folds."""
        splits = [ids["split"]] if "split" in ids else self.plan.splits(ids["dataset"])
        folds = folds or ([ids["fold"]] if "fold" in ids else self.plan.folds(ids["selector"]))
        return [(split, fold) for split in splits for fold in folds]

    def rows(self, ids: Ids) -> Path:
        """Return the rows that a test or search reads on a fold: the table, or counts."""
        dataset, selector = ids["dataset"], ids.get("selector")
        test = ids.get("test") or self.plan.test_id(dataset, selector or "")
        if shards(self.plan.config, dataset, test, selector):
            return self.at("counts", **{**dict(ids), "test": test})
        return self.at("table", dataset=dataset)

    def splits(self, ids: Ids) -> Path:
        """Return the splits that a job reads, by the number of folds of its fold or selector."""
        n_folds = ids["fold"].split("of")[-1] if "fold" in ids else str(self.plan.selector(ids["selector"]).folds)
        return self.at("splits", dataset=ids["dataset"], folds=n_folds)

    def splits_of(self, dataset: str) -> list[Path]:
        """Return the splits of a data set, for each number of folds."""
        return [self.at("splits", dataset=dataset, folds=str(n)) for n in self.plan.numbers_of_folds(dataset)]

    def of_folds(self, artefact: str, ids: Ids) -> list[Path]:
        """Return an artefact (grow, shrink or ci_test) on every fold of a job."""
        own = dict(ids)
        return [self.at(artefact, **{**own, "split": split, "fold": fold}) for split, fold in self.folds(ids)]

    def marginals(self, ids: Ids) -> list[Path]:
        """Return the ci_test artefacts that a job of a selector reads; none if its method uses no CI test."""
        test = self.plan.test_id(ids["dataset"], ids["selector"])
        return self.of_folds("ci_test", {**dict(ids), "test": test}) if test else []

    def evaluated(self, scores: str, ids: Ids) -> list[Path]:
        """Return the evaluated blanket of each evaluation split: that of the split, or always the final one.

        With forward splits the final one follows, since its features' drift is told too.
        """
        own = {"dataset": ids["dataset"], "selector": ids["selector"]}
        splits = self.plan.evaluation_splits(ids["dataset"])
        found_on = [FINAL if scores == "evaluate_optimistic" else split for split in splits]
        if scores == "evaluate" and self.plan.config.splits["evaluation"] == FORWARD:
            found_on += [split for split in self.plan.splits(ids["dataset"]) if split == FINAL]
        return [self.at("blanket", **own, split=split) for split in found_on]

    def confirmed(self) -> list[Path]:
        """Return the requested confirmations of final blankets."""
        asked = [(d, s) for d, s in self.plan.pairs if self.plan.selector(s).confirm is not None]
        return [self.at("confirm", dataset=d, selector=s, split=FINAL) for d, s in asked]

    # --- inputs of the tables and the report -------------------------------------------------------------------------

    def cards(self) -> list[Path]:
        """Return the card of each data set."""
        return [self.at("card", dataset=dataset) for dataset in self.plan.config.datasets]

    def of_pairs(self, artefact: str) -> list[Path]:
        """Return blanket or folds of every pair on every split."""
        return self._of_pairs(artefact, self.plan.splits)

    def scores(self, artefact: str) -> list[Path]:
        """Return evaluate or evaluate_optimistic of every pair; none if the plan has none."""
        return self._of_pairs(artefact, lambda dataset: [""]) if artefact in self.plan.scores else []

    def final_shrink(self) -> list[Path]:
        """Return shrink of every pair on each fold of the final split."""
        final = [FINAL] if self.plan.config.splits["final"] else []
        return [
            path
            for dataset, selector in self.plan.pairs
            for split in final
            for path in self.of_folds("shrink", {"dataset": dataset, "selector": selector, "split": split})
        ]

    def _of_pairs(self, artefact: str, splits: Callable[[str], list[str]]) -> list[Path]:
        return [self.at(artefact, dataset=d, selector=s, split=one) for d, s in self.plan.pairs for one in splits(d)]


# --- what a job is asked for that does several things on a data set: the spec and code of each, as one JSON text ------


def tests_spec(plan: Plan, dataset: str, tests: Iterable[str]) -> str:
    """Return the specs of ci_test artefacts."""
    return canonical_json({test: plan.test_spec(dataset, test) for test in tests})


def tests_code(plan: Plan, tests: Iterable[str]) -> str:
    """Return the digests of their code."""
    return canonical_json({test: plan.code("ci_test", test=test) for test in tests})


def selectors_spec(plan: Plan, dataset: str, selectors: Iterable[str]) -> str:
    """Return for each selector its ci_test artefact, folds, and specs of search and aggregation."""
    return canonical_json(
        {
            name: [
                plan.test_id(dataset, name),
                plan.folds(name),
                plan.method_spec(dataset, name),
                plan.aggregate_spec(dataset, name),
            ]
            for name in selectors
        }
    )


def selectors_code(plan: Plan, dataset: str, selectors: Iterable[str]) -> str:
    """Return the code digests of each search and of the aggregation."""
    searches = {name: plan.code("grow_shrink", dataset=dataset, selector=name) for name in selectors}
    return canonical_json({"search": searches, "aggregate": plan.code("aggregate")})
