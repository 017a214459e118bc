"""Grain of the jobs: a fold, all folds of a split, all splits of a data set, several selectors, or a chunk.

It depends only on the config and the shapes of the tables, so that a plan is the same on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import NamedTuple

from ..config.identifiers import TestOnRows
from ..config.typed import Config
from ..core.registry import is_foreign
from ..core.rows import LEAVE_GROUP_OUT, SEEN_PARTS
from .cost import MODEL_FEATURES, evaluate_seconds, grow_shrink_seconds, marginal_seconds
from .peek import Facts

FOLD, SPLIT, DATASET, SEVERAL, CHUNK = "fold", "split", "dataset", "several", "chunk"
#: Folds with more cells have separate jobs.
SMALL_FOLD = 5_000_000
#: Most files of the rules for several selectors or tests: Snakemake compares each file with all of them.
MOST_FILES = 2_000
#: Smallest work of a chunk in seconds, and its most cells of 8 bytes or more.
CHUNK_SECONDS, CHUNK_CELLS = 30.0, 2**26


def fold_ids(n_folds: int) -> list[str]:
    """Return fold ids; they include K since folds of different K hold different rows.

    >>> fold_ids(2), fold_ids(0)
    (['1of2', '2of2'], ['0'])
    """
    return [f"{k}of{n_folds}" for k in range(1, n_folds + 1)] if n_folds else ["0"]


@dataclass
class Grains:
    """The grain of each stage of each (dataset, selector) pair; `n_splits` counts the outer splits by data set."""

    config: Config
    facts: Mapping[str, Facts]
    pairs: list[tuple[str, str]]
    n_splits: Mapping[str, int]

    def of_selector(self, dataset: str, selector: str) -> str:
        """Return the grain of growing and shrinking: ``fold``, ``split``, ``dataset`` or ``several``."""
        return self._of_selectors[dataset, selector]

    @cached_property
    def _of_selectors(self) -> dict[tuple[str, str], str]:
        return {pair: self._of_one_selector(*pair) for pair in self.pairs} | _in_jobs(self.several_selectors)

    def _of_one_selector(self, dataset: str, selector: str) -> str:
        chosen = self.config.selectors[selector]
        if chosen.supplied or self.config.datasets[dataset].get("shards"):
            return FOLD  # the stage that is left has jobs of its own
        if chosen.grain != "auto":
            return chosen.grain
        return self._auto(dataset, self._selector_seconds(dataset, selector), chosen.folds)

    def _selector_seconds(self, dataset: str, selector: str) -> float:
        chosen, test = self.config.selectors[selector], self.config.test(dataset, selector)
        facts = self.facts[dataset].at_most(self.config.max_rows(dataset, test or chosen.method))
        return grow_shrink_seconds(chosen.method, test, facts)

    def of_test(self, dataset: str, test: str) -> str:
        """Return the grain of a ci_test stage: that of a selector, or ``chunk`` if it is scattered."""
        return self._of_tests[dataset, test]

    @cached_property
    def _of_tests(self) -> dict[tuple[str, str], str]:
        return {key: self._of_one_test(*key) for key in self.folds_of_tests} | _in_jobs(self.several_tests)

    def _of_one_test(self, dataset: str, test: str) -> str:
        if self.config.datasets[dataset].get("shards"):
            return FOLD
        asked = self.config.grain
        if asked in ("auto", FOLD) and self.n_chunks(dataset, test) > 1:
            return CHUNK
        if asked != "auto":
            return asked
        seconds = self._marginal_seconds(dataset, test)
        return self._auto(dataset, seconds, max(self.folds_of_tests[dataset, test]))

    def _marginal_seconds(self, dataset: str, test: str) -> float:
        configured = self.config.ci_tests[TestOnRows.of(test).test]
        return marginal_seconds(configured, self.facts[dataset].at_most(self.config.max_rows(dataset, configured)))

    def _auto(self, dataset: str, seconds: float, n_folds: int) -> str:
        """Return the grain of the largest job of at most `job_seconds`, given the seconds of one fold."""
        if self.facts[dataset].n_cells > SMALL_FOLD:
            return FOLD
        seconds *= max(n_folds, 1)
        # One rule lists the files of all splits for all data sets, which must have the same splits.
        are_alike = len(set(self.n_splits.values())) == 1
        if are_alike and seconds * self.n_splits[dataset] <= self.config.job_seconds:
            return DATASET
        return SPLIT if seconds <= self.config.job_seconds else FOLD

    def evaluation_seconds(self, dataset: str, selector: str) -> float:
        """Return the approximate CPU seconds of evaluating the blanket of one split."""
        facts, is_all = self.facts[dataset], self.config.selectors[selector].method.card.id == "all"
        n_times = 1 + SEEN_PARTS if self.config.splits["evaluation"] == LEAVE_GROUP_OUT else 1
        n_chosen = facts.n_features if is_all else MODEL_FEATURES
        return evaluate_seconds(self.config.models, facts, n_chosen) * n_times

    def n_chunks(self, dataset: str, test: str) -> int:
        """Return the number of chunks of features of the ci_test stage of one fold."""
        facts = self.facts[dataset]
        if not self.config.tests_by_column(dataset, TestOnRows.of(test).test):
            return 1
        if self.config.chunks is not None:
            return min(self.config.chunks, facts.n_features)
        longest = max(CHUNK_SECONDS, self.config.job_seconds)
        n_chunks = max(self._marginal_seconds(dataset, test) / longest, facts.n_cells / CHUNK_CELLS)
        return min(max(round(n_chunks), 1), facts.n_features)

    def chunks(self, dataset: str, test: str) -> list[str]:
        """Return the ids of the chunks; they include their number."""
        return fold_ids(self.n_chunks(dataset, test))

    # --- shared jobs: only work that `auto` has fully joined, without external code, which may crash ------------------

    @cached_property
    def several_selectors(self) -> list[Several]:
        """The selectors of a data set whose searches share one job for all splits."""
        own, shares, n_files = self.config.selectors, {}, {}
        for dataset, name in self.pairs:
            is_alone = own[name].grain != "auto" or is_foreign(own[name].method)
            if not is_alone and self._of_one_selector(dataset, name) == DATASET:
                n_parts = max(own[name].folds, 1) * self.n_splits[dataset]
                n_files[dataset, name] = 2 * n_parts + 3 * self.n_splits[dataset]
                shares[dataset, name] = self._selector_seconds(dataset, name) * n_parts / self.config.job_seconds
        return _of_few_files(shared_jobs(shares), n_files)

    @cached_property
    def several_tests(self) -> list[Several]:
        """The ci_test artefacts of a data set that share one job for all splits."""
        shares, n_files = {}, {}
        for (dataset, test), numbers in self.folds_of_tests.items():
            is_alone = self.config.grain != "auto" or is_foreign(self.config.ci_tests[TestOnRows.of(test).test])
            if not is_alone and self._of_one_test(dataset, test) == DATASET:
                n_parts = sum(max(n_folds, 1) for n_folds in numbers) * self.n_splits[dataset]
                n_files[dataset, test] = n_parts
                shares[dataset, test] = self._marginal_seconds(dataset, test) * n_parts / self.config.job_seconds
        return _of_few_files(shared_jobs(shares), n_files)

    @cached_property
    def several_evaluations(self) -> list[Several]:
        """The selectors of a data set whose blankets are evaluated by one job."""
        is_alone = self.config.grain != "auto" or any(map(is_foreign, self.config.models))
        n_final = int(self.config.splits["final"])
        small = {name for name, facts in self.facts.items() if facts.n_cells <= SMALL_FOLD and not is_alone}
        pairs = [pair for pair in self.pairs if pair[0] in small]
        seconds = {pair: self.evaluation_seconds(*pair) * (self.n_splits[pair[0]] - n_final) for pair in pairs}
        return shared_jobs({pair: one / self.config.job_seconds for pair, one in seconds.items()})

    # --- what the rules are made from --------------------------------------------------------------------------------

    def searched_folds(self, grain: str) -> list[int]:
        """Return the numbers of folds of the selectors with a grain; each has a rule that grows and shrinks."""
        return sorted({self.config.selectors[s].folds for d, s in self.pairs if self.of_selector(d, s) == grain})

    def tested_folds(self, grain: str) -> list[int]:
        """Return the same for the ci_test stage."""
        return sorted(
            {n for key, numbers in self.folds_of_tests.items() if self.of_test(*key) == grain for n in numbers}
        )

    @cached_property
    def test_ids(self) -> list[str]:
        """Ids of all ci_test artefacts."""
        return sorted({test for _, test in self.folds_of_tests})

    @cached_property
    def folds_of_tests(self) -> dict[tuple[str, str], set[int]]:
        """The numbers of folds by data set and id of the ci_test artefact."""
        found: dict[tuple[str, str], set[int]] = {}
        for dataset, selector in self.pairs:
            test = id_of_test(self.config, dataset, selector)
            if test:
                found.setdefault((dataset, test), set()).add(self.config.selectors[selector].folds)
        return found

    def pattern(self, *grains: str, n_folds: int | None = None, stage: str | None = None) -> str:
        """Return the regular expression of ``{dataset}`` where ``{selector}``, earlier in the path, has this grain.

        Pairs whose stage is supplied are left out.
        """
        ours = (
            pair
            for pair in self.pairs
            if self.of_selector(*pair) in grains
            and n_folds in (None, self.config.selectors[pair[1]].folds)
            and (stage is None or self.config.selectors[pair[1]].supplied != stage)
        )
        return _look_ahead(ours, self.config.selectors, "/[^/]+/{}/")

    def evaluation_pattern(self) -> str:
        """Return the expression of ``{dataset}`` whose ``{selector}`` in the path has its own evaluation job."""
        shared = _in_jobs(self.several_evaluations)
        ours = (pair for pair in self.pairs if pair not in shared)
        return _look_ahead(ours, self.config.selectors, r"/(?:all-rows/)?{}\.")

    def test_pattern(self, grain: str) -> str:
        """Return the expression of ``{dataset}`` where ``{test}``, earlier in the path, has this grain."""
        ours = (pair for pair in self.folds_of_tests if self.of_test(*pair) == grain)
        return _look_ahead(ours, self.test_ids, r"/[^/]+/fold-[^/]+/{}\.")


def _of_few_files(jobs: list[Several], n_files: Mapping[tuple[str, str], int]) -> list[Several]:
    """Return the jobs; none if matching their files takes Snakemake longer than separate jobs."""
    total = sum(n_files[job.datasets[0], name] for job in jobs for name in job.names)
    return jobs if total <= MOST_FILES else []


def _in_jobs(jobs: Iterable[Several]) -> dict[tuple[str, str], str]:
    return {(dataset, name): SEVERAL for job in jobs for dataset in job.datasets for name in job.names}


def id_of_test(config: Config, dataset: str, selector: str) -> str | None:
    """Return the id of a selector's ci_test artefact on a data set."""
    chosen, test = config.selectors[selector], config.test_id(dataset, selector)
    is_part = chosen.fold_rows == "part" and chosen.folds > 0
    return test and TestOnRows(test, is_part, chosen.confirm).id


def _look_ahead(pairs: Iterable[tuple[str, str]], known: Iterable[str], path: str) -> str:
    """Return a pattern of the data set ids, each followed by one of its own known ids.

    Snakemake reads it for each path of a large run, so it is kept short: data sets with the same ids share an
    alternative, which lists the ids that may follow or those that may not, whichever are fewer.

    >>> pattern = _look_ahead([("a", "x"), ("b", "x"), ("b", "y")], ["x", "y", "z"], "/{}/")
    >>> [bool(re.match(pattern, path)) for path in ("a/x/", "a/y/", "b/y/", "b/z/")]
    [True, False, True, False]
    >>> bool(re.match(_look_ahead([], ["x"], "/{}/"), "a/x/"))
    False
    """
    names: dict[str, set[str]] = {}
    for dataset, name in pairs:
        names.setdefault(dataset, set()).add(name)
    datasets: dict[tuple[str, ...], list[str]] = {}
    for dataset, own in names.items():
        datasets.setdefault(tuple(sorted(own)), []).append(dataset)
    parts = []
    for own, found in datasets.items():
        others = sorted(set(known).difference(own))
        sign, shorter = ("!", others) if len(others) < len(own) else ("=", own)
        ahead = f"(?{sign}{path.format(any_of(shorter))})" if shorter else ""
        parts.append(any_of(found) + ahead)
    return "(?:" + "|".join(parts) + ")" if parts else "(?!)"


def any_of(ids: Iterable[str]) -> str:
    """Return a pattern that matches any of some ids."""
    return f"(?:{'|'.join(map(re.escape, ids))})"


class Several(NamedTuple):
    """The selectors or ci_test artefacts of one job, and the data sets with such a job."""

    names: tuple[str, ...]
    datasets: tuple[str, ...]


def shared_jobs(shares: Mapping[tuple[str, str], float]) -> list[Several]:
    """Return jobs of similar length, each with several ids of a data set in sequence.

    `shares` gives the fraction of a job that each id fills, in the order in which ids are joined.

    >>> shared_jobs({("a", "x"): 0.5, ("a", "y"): 0.5, ("a", "z"): 1.0, ("b", "x"): 0.5, ("b", "y"): 0.2})
    [Several(names=('x', 'y'), datasets=('a', 'b'))]
    """
    of_datasets: dict[str, dict[str, float]] = {}
    for (dataset, name), one in shares.items():
        of_datasets.setdefault(dataset, {})[name] = one
    alike: dict[tuple[str, ...], list[str]] = {}
    for dataset, own in of_datasets.items():
        total, done = sum(own.values()) or 1.0, 0.0
        jobs: list[list[str]] = [[] for _ in range(ceil(total))]
        for name, one in own.items():
            jobs[int((done + one / 2) / total * len(jobs))].append(name)
            done += one
        for names in jobs:
            if len(names) > 1:
                alike.setdefault(tuple(names), []).append(dataset)
    return [Several(names, tuple(datasets)) for names, datasets in alike.items()]
