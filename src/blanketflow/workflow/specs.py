"""Specs of the jobs of a plan, with the digest of the code that can change each result."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..ci.base import CITest
from ..ci.choice import AUTO, OF_FOLD
from ..config.identifiers import TestOnRows
from ..config.typed import Config, Selector
from ..core.cards import IMPUTATIONS
from ..core.errors import Faults
from ..core.prior import KEYS
from ..core.registry import FurtherTable, further_table, look_up
from ..core.rows import LEAVE_GROUP_OUT
from ..core.seeds import derive_seed
from ..data.download import is_remote, with_copies
from ..data.secrets import redacted_spec
from ..data.splits import FINAL, split_ids
from ..selectors.base import Method
from ..targets import PER_PARAMETER, few_in_words
from .chosen_tests import smallest_fold
from .configured_sources import kind_of, reader_of, source_of, sources_of_configured
from .digest import Start, code_digest
from .grain import Grains, fold_ids, id_of_test
from .identity import source_digests
from .output_folder import check_times
from .peek import Facts
from .resources import Estimates
from .sharded import sharded, told_of_shards
from .suitability import (
    doubted_p_values,
    network_file,
    network_of,
    told_of_sample,
    wants_network,
    why_test_misleads,
)

#: Files of the report page other than Python.
PAGE = Path(__file__).parents[1] / "reporting" / "report" / "page"


#: Stages with a script for each grain.
_SCRIPTS = {
    "counts": ("agree", "count_shard", "merge_shards"),
    "ci_test": ("ci_test", "gather_ci_test"),
    "grow_shrink": ("grow", "shrink", "grow_shrink"),
}


@dataclass(frozen=True)
class Skip:
    """A pair that is not run, with the reason."""

    dataset: str
    selector: str
    reason: str


@dataclass
class Plan:
    """The content of a run and its specs.

    `facts` come from a cheap look at each data set, `pairs` are (dataset, selector) ids, `scripts` returns the path of
    a script by file name, and `copies` maps (data set id, URL) to the local copy of a file in object storage.
    """

    config: Config
    facts: dict[str, Facts]
    scripts: Callable[[str], Path | str]
    pairs: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    copies: Mapping[tuple[str, str], Path] = field(default_factory=dict)

    def splits(self, dataset: str) -> list[str]:
        """Return the outer splits of a data set: ``full`` and ``cv-1`` .. ``cv-R``."""
        return split_ids(self.config.splits, self.facts[dataset].n_groups)

    def evaluation_splits(self, dataset: str) -> list[str]:
        """Return the splits with test rows."""
        return [split for split in self.splits(dataset) if split != FINAL]

    @cached_property
    def scores(self) -> list[str]:
        """The requested artefacts of scores: of each split's own blanket, and of the final one."""
        honest = ["evaluate"] if self.config.splits["evaluation"] else []
        return [*honest, "evaluate_optimistic"] if self.config.splits["optimistic"] else honest

    def selector(self, selector: str) -> Selector:
        """Return a configured selector."""
        return self.config.selectors[selector]

    def folds(self, selector: str) -> list[str]:
        """Return the fold ids of a selector."""
        return fold_ids(self.selector(selector).folds)

    def test_id(self, dataset: str, selector: str) -> str | None:
        """Return the id of a selector's ci_test artefact on a data set."""
        return id_of_test(self.config, dataset, selector)

    @cached_property
    def grains(self) -> Grains:
        """The grain of the jobs."""
        return Grains(self.config, self.facts, self.pairs, {name: len(self.splits(name)) for name in self.facts})

    @cached_property
    def estimates(self) -> Estimates:
        """The estimated cost of the jobs."""
        return Estimates(self.config, self.facts, self.grains)

    def notes(self) -> list[str]:
        """Return notes on data sets and selectors to read before the run, one line each."""
        said = ((name, one) for name, facts in self.facts.items() for one in facts.told)
        told = [f"{name}: {one}" for name, one in said if one]
        told += [f"{name}: {one}" for name in self.facts if (one := told_of_sample(self.config, name, self.pairs))]
        told += [f"{name}: {one}" for name in self.config.selectors if (one := self._told_of_folds(name))]
        told += [f"{name}: {one}" for name in self.facts if (one := self._told_of_few(name))]
        told += [f"{name}: {one}" for name, reasons in self.doubted_p_values.items() for one in reasons]
        told += [f"{name}: {one}" for name in self.facts if (one := told_of_shards(self.config, name, self.pairs))]
        tests = [(name, one) for name, test in self.config.chosen.items() for one in (test, test.without_spline)]
        return told + [f"{name}: {one.id} was chosen as CI test: {one.reason}" for name, one in tests if one]

    @cached_property
    def doubted_p_values(self) -> dict[str, list[str]]:
        """Why p-values of data sets with groups may be too small."""
        return doubted_p_values(self.config, self.facts, self.pairs)

    def _told_of_few(self, dataset: str) -> str:
        """Return a note that a target has too few events in the smallest fold; empty if there are enough."""
        facts, asking = self.facts[dataset], [self.selector(name) for own, name in self.pairs if own == dataset]
        n_rows = min((smallest_fold(facts, self.config, selector) for selector in asking), default=facts.n_rows)
        if not facts.target_kind or (size := n_rows * facts.size_per_row) >= PER_PARAMETER:
            return ""
        of = OF_FOLD if n_rows < facts.n_rows else ""
        return few_in_words(facts.target, facts.target_kind, size, n_rows, of)

    def _told_of_folds(self, selector: str) -> str:
        """Return a note that folds void the guarantee of a selector; empty if they do not."""
        chosen = self.selector(selector)
        if not chosen.folds or not chosen.method.proves_one_search():
            return ""
        method, folds = chosen.method.card.id, chosen.folds
        return f"what is proved of {method} holds for one search, not for what {folds} folds agree on: set folds: 0"

    # --- specs: canonical JSON, so that Snakemake can compare them as text -------------------------------------------

    def source_files(self, dataset: str) -> list[str]:
        """Return the files that a data set is read from."""
        from ..data.sources import source_files

        return source_files(dataset, self.config.datasets[dataset])

    def _reader(self, dataset: str) -> list[Path]:
        """Return the file with the code that reads a data set's file or its local copy."""
        from ..data.sources import locate

        spec = with_copies(self.config.datasets[dataset], lambda url: self.copies.get((dataset, url), url))
        return reader_of(locate(dataset, spec))

    def source_states(self, dataset: str) -> str:
        """Return the digests of a data set's files as a JSON list.

        Snakemake compares times only, and so misses a file that was changed but has an older time.
        """
        return canonical_json(self.sources(dataset))

    def sources(self, dataset: str) -> list[str]:
        """Return the digests of a data set's files, or of their copies here if they are in object storage."""
        return source_digests([self.copies.get((dataset, path), path) for path in self.source_files(dataset)])

    def check_times(self) -> None:
        """Raise `DataError` if files of data sets have future times."""
        faults = Faults()
        for dataset in self.config.datasets:
            with faults.noted():
                check_times(dataset, [path for path in self.source_files(dataset) if not is_remote(path)])
        faults.refuse()

    def table_spec(self, dataset: str) -> str:
        """Return the spec of the table."""
        return canonical_json(
            {
                **without_prior(redacted_spec(self.config.datasets[dataset])),
                "seed": table_seed(self.config, dataset),
                **({"group_labels": True} if self.config.splits["evaluation"] == LEAVE_GROUP_OUT else {}),
            }
        )

    def numbers_of_folds(self, dataset: str) -> list[int]:
        """Return the distinct numbers of inner folds in use on a data set."""
        return sorted({self.selector(s).folds for d, s in self.pairs if d == dataset})

    def splits_spec(self, numbers_of_folds: list[int]) -> str:
        """Return the spec of the outer splits with some numbers of inner folds."""
        return canonical_json({**self.config.splits, "folds": numbers_of_folds, "seed": self.config.seed})

    def test_spec(self, dataset: str, test: str) -> str:
        """Return the spec of a ci_test artefact."""
        return canonical_json(self._test(dataset, test) | sharded(self.config, dataset, test))

    def _test(self, dataset: str, test: str) -> dict[str, Any]:
        configured, is_part, confirm = TestOnRows.of(test)
        options = self.config.ci_tests[configured].options()
        if wants_network(options):
            options["network"] = self.config.datasets[dataset]["source"]
        return {
            "type": self.config.test_types[configured],
            "options": options,
            "fold_rows": "part" if is_part else "train",
            "seed": self.config.seed,
            **_confirm(confirm),
            **self._max_rows(dataset, self.config.ci_tests[configured]),
            **self._incomplete(dataset),
        }

    def method_spec(self, dataset: str, selector: str) -> str:
        """Return the spec of grow and shrink: the method, its options and its CI test."""
        chosen = self.selector(selector)
        options = chosen.method.options()
        if chosen.method.card.id == "true-blanket" and not options["blanket"]:
            options["blanket"] = self._true_roles(dataset)
        options |= network_of(chosen.method, self.config.datasets[dataset].get("source"))
        test = self.test_id(dataset, selector)
        return canonical_json(
            {
                "method": chosen.method_name,
                "options": options,
                "ci_test": self._test(dataset, test) if test else None,
                "limits": {"time_limit": chosen.time_limit, "max_tests": chosen.max_tests},
                "fold_rows": chosen.fold_rows,
                "seed": self.config.seed,
                **self._prior(dataset, selector),
                **_min_effect(chosen),
                **_confirm(chosen.confirm),
                **self._max_rows(dataset, self.config.test(dataset, selector) or chosen.method),
                **_supplied(chosen),
                **network_file(chosen.method),
                **sharded(self.config, dataset, test, selector),
            }
        )

    def _max_rows(self, dataset: str, decides: Method | CITest) -> dict[str, int]:
        """Return the row limit of a test, or a method without one; empty if there is none (old specs stay valid)."""
        max_rows = self.config.max_rows(dataset, decides)
        return {} if max_rows is None else {"max_rows": max_rows}

    def _incomplete(self, dataset: str) -> dict[str, Any]:
        """Return how a test handles missing cells; empty if it sees none, so that old specs stay valid."""
        rule = self.config.incomplete(dataset)
        return {} if rule is None else {IMPUTATIONS if isinstance(rule, int) else "missing": rule}

    def _prior(self, dataset: str, selector: str) -> dict[str, Any]:
        """Return a search's knowledge of features; empty without any, so that old specs stay valid."""
        prior = self.config.prior(dataset, selector)
        return {"prior": prior.as_dict()} if prior and self.selector(selector).method.obeys_prior else {}

    def _true_roles(self, dataset: str) -> dict[str, str]:
        truth = self.facts[dataset].truth
        relatives = {*truth["parents"], *truth["children"]}
        return {name: "parent_or_child" if name in relatives else "spouse" for name in truth["blanket"]}

    def aggregate_spec(self, dataset: str, selector: str) -> str:
        """Return the spec of the aggregation.

        It has the whole search for `blanketflow.read_search`, and separately the chosen CI test with the reason, or why
        a named one misleads: inside the search's spec a changed reason, such as another selector's folds, would repeat
        the search.
        """
        chosen, test = self.selector(selector), {}
        if chosen.ci_test == AUTO and chosen.supplied != "shrink":
            known = self.config.chosen_test(dataset, selector)
            test = {"ci_test": {"id": known.id, **self._test(dataset, known.id), "reason": known.reason}}
        elif why := why_test_misleads(self.config, self.facts[dataset], dataset, selector):
            test = {"misleading": why}
        asked = {"aggregate": chosen.aggregate, "seed": self.config.seed, **test, **_supplied(chosen)}
        search = {"search": json.loads(self.method_spec(dataset, selector)), "folds": chosen.folds}
        plain = {} if self.config.splits.get("stratify", True) or not chosen.folds else {"stratify": False}
        return canonical_json({**asked, **search, **plain})

    def confirm_spec(self, dataset: str, selector: str) -> str:
        """Return the spec of the confirmation of a final blanket."""
        chosen = self.selector(selector)
        asked = {"seed": self.config.seed, **_confirm(chosen.confirm, chosen.confirm_splits)}
        if chosen.confirm_splits > 1:
            search = json.loads(self.method_spec(dataset, selector))
            asked |= {"search": search, "folds": self.folds(selector), "aggregate": chosen.aggregate}
        return canonical_json({**asked, **self._prior(dataset, selector)})

    def evaluate_spec(self, dataset: str) -> str:
        """Return the spec of the evaluation."""
        return canonical_json(
            {
                "models": self.config.models,
                "metrics": self.config.metrics,
                "splits": self.evaluation_splits(dataset),
                "seed": self.config.seed,
            }
        )

    @cached_property
    def further(self) -> dict[str, FurtherTable]:
        """The result tables of other packages, by id."""
        return {name: further_table(name, spec) for name, spec in self.config.tables.items()}

    def further_spec(self, table: str) -> str:
        """Return the spec of a result table of another package."""
        asked = {"table": self.config.tables[table], "n_folds": self.config.splits["evaluation"]}
        return canonical_json({**asked, "seed": self.config.seed})

    def report_spec(self) -> str:
        """Return all that the report states about the run."""
        selectors = {
            name: {
                "method": s.method_name,
                "options": _stated_options(s),
                "ci_test": s.ci_test,
                "folds": s.folds,
                "fold_rows": s.fold_rows,
                "aggregate": s.aggregate,
                "time_limit": s.time_limit,
                "max_tests": s.max_tests,
                **{key: names for key in KEYS if (names := getattr(s, key))},
                **_min_effect(s),
                **_confirm(s.confirm, s.confirm_splits),
                **_supplied(s),
            }
            for name, s in self.config.selectors.items()
        }
        tests = {name: {"type": t.card.id, "options": t.options()} for name, t in self.config.ci_tests.items()}
        return canonical_json(
            {
                "order": {"datasets": list(self.config.datasets), "selectors": list(self.config.selectors)},
                "datasets": {
                    name: {key: value for key, value in redacted_spec(spec).items() if key != "max_memory"}
                    for name, spec in self.config.datasets.items()
                },
                "splits": self.config.splits,
                "selectors": selectors,
                "ci_tests": tests,
                "chosen_tests": {name: [test.id, test.told] for name, test in self.config.chosen.items()},
                "models": self.config.models,
                "metrics": self.config.metrics,
                "seed": self.config.seed,
                "skipped": [[s.dataset, s.selector, s.reason] for s in self.skipped],
                **({"targets": self.config.targets} if self.config.targets else {}),
            }
        )

    def code(
        self, stage: str, *, dataset: str = "", selector: str | None = None, test: str | None = None, table: str = ""
    ) -> str:
        """Return the digest of the source files that can change a stage's result, whatever the grain."""
        sources: list[Start] = [Path(self.scripts(f"{script}.py")) for script in _SCRIPTS.get(stage, (stage,))]
        if stage == "confirm" and selector is not None and self.selector(selector).confirm_splits == 1:
            selector = None  # it searches nothing
        if dataset:
            sources += kind_of(self.config.datasets[dataset])
        if selector is not None:
            sources += sources_of_configured(self.selector(selector).method)
            path = getattr(self.selector(selector).method, "path", None)
            sources += [source_of(look_up("blanketflow.selectors", path, "method"))] if path else []
            test = self.test_id(dataset, selector)
        if test is not None:
            sources += sources_of_configured(self.config.ci_tests[TestOnRows.of(test).test])
        if table:
            sources += [source_of(type(self.further[table]))]
        if stage == "table":
            sources += self._reader(dataset)
        if stage == "report":
            sources += sorted(PAGE.iterdir())
        if stage == "evaluate":
            sources += [source_of(look_up("blanketflow.models", name, "model")) for name in self.config.models]
        return code_digest(*sources)


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys and plain types: equal values give equal text.

    >>> canonical_json({"b": 1.0, "a": (1, None)})
    '{"a":[1,null],"b":1.0}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def without_prior(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a data set that define its table, without prior knowledge of features and memory."""
    return {key: value for key, value in spec.items() if key not in (*KEYS, "max_rows", "max_memory")}


def _min_effect(selector: Selector) -> dict[str, float]:
    """Return the smallest effect; empty if there is none, so that old specs stay valid."""
    return {"min_effect": selector.min_effect} if selector.min_effect else {}


def _confirm(share: float | None, splits: int = 1) -> dict[str, float]:
    """Return the left-out rows and the number of repeats if above 1; empty if none, so that old specs stay valid."""
    return {} if share is None else {"confirm": share} | ({"confirm_splits": splits} if splits > 1 else {})


def _supplied(selector: Selector) -> dict[str, str]:
    return {"supplied": selector.supplied} if selector.supplied else {}


def _stated_options(selector: Selector) -> dict[str, Any]:
    """Return a method's options without the true blanket, which differs between data sets."""
    options = selector.method.options()
    return {k: v for k, v in options.items() if (selector.method.card.id, k) != ("true-blanket", "blanket")}


def table_seed(config: Config, dataset: str) -> int:
    """Return the seed of simulated rows of a data set."""
    return derive_seed(config.seed, dataset, "rows")
