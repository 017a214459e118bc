"""How much work one job does: a fold, all folds of a split, all splits of a data set, or a chunk of the features.

It depends on the config and the tables' shapes alone, never on the machine, so that a plan is the same everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..config.identifiers import TestOnRows
from ..config.typed import Config
from .estimates.cost import grow_shrink_seconds, marginal_seconds
from .peek import Facts

FOLD, SPLIT, DATASET, CHUNK = "fold", "split", "dataset", "chunk"
#: Folds of more cells have jobs of their own.
SMALL_FOLD = 5_000_000
#: A chunk works at least about so many seconds, and holds at most so many cells of 8 bytes and more.
CHUNK_SECONDS, CHUNK_CELLS = 30.0, 2**26


def fold_ids(n_folds: int) -> list[str]:
    """Return fold ids; they name their K since folds of different K hold different rows.

    Examples
    --------
    >>> fold_ids(2), fold_ids(0)
    (['1of2', '2of2'], ['0'])
    """
    return [f"{k}of{n_folds}" for k in range(1, n_folds + 1)] if n_folds else ["0"]


@dataclass
class Grains:
    """The grain of every stage of every pair.

    Attributes
    ----------
    config : Config
    facts : dict of str to Facts
        What a cheap look at each data set found.
    pairs : list of (dataset, selector) ids
    n_splits : dict of str to int
        Number of outer splits of each data set.
    """

    config: Config
    facts: Mapping[str, Facts]
    pairs: list[tuple[str, str]]
    n_splits: Mapping[str, int]

    def of_selector(self, dataset: str, selector: str) -> str:
        """Return the grain of growing and shrinking: ``fold``, ``split`` or ``dataset``."""
        chosen = self.config.selectors[selector]
        if chosen.supplied or self.config.datasets[dataset].get("shards"):
            return FOLD  # the stage that is left has jobs of its own
        if chosen.grain != "auto":
            return chosen.grain
        test = self.config.test(dataset, selector)
        facts = self.facts[dataset].at_most(self.config.max_rows(dataset, test or chosen.method))
        seconds = grow_shrink_seconds(chosen.method, test, facts)
        return self._auto(dataset, seconds, chosen.folds)

    def of_test(self, dataset: str, test: str) -> str:
        """Return the grain of a ci_test stage: ``fold``, ``split``, ``dataset``, or ``chunk`` where it is scattered."""
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
        """Return the grain of the largest job that works at most `job_seconds`, given the seconds of one fold."""
        if self.facts[dataset].n_cells > SMALL_FOLD:
            return FOLD
        seconds *= max(n_folds, 1)
        # One rule serves all data sets, and lists the files of all splits: they must have the same ones.
        are_alike = len(set(self.n_splits.values())) == 1
        if are_alike and seconds * self.n_splits[dataset] <= self.config.job_seconds:
            return DATASET
        return SPLIT if seconds <= self.config.job_seconds else FOLD

    def n_chunks(self, dataset: str, test: str) -> int:
        """Return into how many chunks of features the ci_test stage of one fold is scattered."""
        facts = self.facts[dataset]
        if not self.config.tests_by_column(dataset, TestOnRows.of(test).test):
            return 1
        if self.config.chunks is not None:
            return min(self.config.chunks, facts.n_features)
        longest = max(CHUNK_SECONDS, self.config.job_seconds)
        n_chunks = max(self._marginal_seconds(dataset, test) / longest, facts.n_cells / CHUNK_CELLS)
        return min(max(round(n_chunks), 1), facts.n_features)

    def chunks(self, dataset: str, test: str) -> list[str]:
        """Return the ids of the chunks; they name how many there are."""
        return fold_ids(self.n_chunks(dataset, test))

    # --- what the rules are made from --------------------------------------------------------------------------------

    @cached_property
    def joined(self) -> list[tuple[str, int]]:
        """Grains that join folds, each with a number of folds: one rule that grows and shrinks for each."""
        found = {(self.of_selector(d, s), self.config.selectors[s].folds) for d, s in self.pairs}
        return sorted(key for key in found if key[0] != FOLD)

    @cached_property
    def joined_tests(self) -> list[tuple[str, int]]:
        """The same for the ci_test stage."""
        found = {(self.of_test(*key), n_folds) for key, numbers in self.folds_of_tests.items() for n_folds in numbers}
        return sorted(key for key in found if key[0] in (SPLIT, DATASET))

    @cached_property
    def test_ids(self) -> list[str]:
        """Ids of all ci_test artefacts."""
        return sorted({test for _, test in self.folds_of_tests})

    @cached_property
    def folds_of_tests(self) -> dict[tuple[str, str], set[int]]:
        """The numbers of folds that each data set is tested with, by data set and id of the ci_test artefact."""
        found: dict[tuple[str, str], set[int]] = {}
        for dataset, selector in self.pairs:
            test = id_of_test(self.config, dataset, selector)
            if test:
                found.setdefault((dataset, test), set()).add(self.config.selectors[selector].folds)
        return found

    def pattern(self, *grains: str, n_folds: int | None = None, stage: str | None = None) -> str:
        """Return the regular expression of ``{dataset}`` where ``{selector}``, ahead in the path, has such a grain.

        Pairs to which the stage is supplied are left out.
        """
        ours = (
            pair
            for pair in self.pairs
            if self.of_selector(*pair) in grains
            and n_folds in (None, self.config.selectors[pair[1]].folds)
            and (stage is None or self.config.selectors[pair[1]].supplied != stage)
        )
        return _look_ahead(ours, self.config.selectors, "/[^/]+/{}/")

    def test_pattern(self, grain: str) -> str:
        """Return the regular expression of ``{dataset}`` where ``{test}``, ahead in the path, has this grain."""
        ours = (pair for pair in self.folds_of_tests if self.of_test(*pair) == grain)
        return _look_ahead(ours, self.test_ids, r"/[^/]+/fold-[^/]+/{}\.")


def id_of_test(config: Config, dataset: str, selector: str) -> str | None:
    """Return the id of a selector's ci_test artefact on a data set."""
    chosen, test = config.selectors[selector], config.test_id(dataset, selector)
    is_part = chosen.fold_rows == "part" and chosen.folds > 0
    return test and TestOnRows(test, is_part, chosen.confirm).id


def _look_ahead(pairs: Iterable[tuple[str, str]], known: Iterable[str], path: str) -> str:
    """Return a pattern of the data set ids, each only where one of its own of the known ids follows.

    It is as short as can be, since Snakemake reads it once for each path of a large run: data sets with the same ids
    share an alternative, and it says which ids may follow or which may not, whichever are fewer.

    Examples
    --------
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
    """Return the pattern of some ids."""
    return f"(?:{'|'.join(map(re.escape, ids))})"
