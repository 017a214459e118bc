"""Every artefact that a plan leads to, with what it is to be made from; inputs come before what is made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..data.splits import FINAL
from ..reporting.tables import TABLES
from .grain import fold_ids
from .identity import digest_of_file, without_places
from .job_files import JobFiles
from .sharded import shards


@dataclass(frozen=True)
class Planned:
    """An artefact of a plan.

    Attributes
    ----------
    artefact : str
        Its name in `blanketflow.workflow.layout.PATHS`.
    path : path
    spec, code : str
        What its job is asked for, and the digest of the code that can change it.
    inputs : sequence of paths
        The artefacts that it is made from, in the order of its metadata.
    digests : sequence of str
        Content digests of what else it is made from, before these.
    supplied : bool
        Whether it comes from outside, and is not made.
    """

    artefact: str
    path: Path
    spec: str
    code: str
    inputs: Sequence[Path]
    digests: Sequence[str] = ()
    supplied: bool = False


@dataclass
class Artefacts:
    """The artefacts of a plan, below a folder of results."""

    files: JobFiles
    _codes: dict[tuple[str, ...], str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Planned]:
        """Yield all artefacts but temporary ones, inputs before what is made of them."""
        for dataset in self.files.plan.config.datasets:
            yield from self._data(dataset)
        for (dataset, test), numbers in self.files.plan.grains.folds_of_tests.items():
            for n_folds in sorted(numbers):
                yield from self._tests(dataset, test, n_folds)
        for dataset, selector in self.files.plan.pairs:
            yield from self._selection(dataset, selector)
        yield from self._tables()

    def _data(self, dataset: str) -> Iterator[Planned]:
        plan, at = self.files.plan, self.files.at
        table = at("table", dataset=dataset)
        spec = without_places(plan.table_spec(dataset))
        yield Planned("table", table, spec, self._code("table"), (), plan.sources(dataset))
        parts = self.files.splits_of(dataset)
        numbers = plan.numbers_of_folds(dataset)
        for path, n_folds in zip(parts, numbers, strict=True):
            yield Planned("splits", path, plan.splits_spec([n_folds]), self._code("splits"), [table])
        spec, code = plan.splits_spec(numbers), self._code("gather_splits")
        yield Planned("all_splits", at("all_splits", dataset=dataset), spec, code, parts)

    def _tests(self, dataset: str, test: str, n_folds: int) -> Iterator[Planned]:
        plan = self.files.plan
        spec, code = plan.test_spec(dataset, test), self._code("ci_test", test=test)
        splits = self.files.at("splits", dataset=dataset, folds=str(n_folds))
        made_of = [self.files.at("table", dataset=dataset), splits]
        for split in plan.splits(dataset):
            for fold in fold_ids(n_folds):
                ids = {"dataset": dataset, "test": test, "split": split, "fold": fold}
                if shards(plan.config, dataset, test):
                    of_counts, agreement = self._code("counts", test=test), self.files.at("agreement", **ids)
                    yield Planned("agreement", agreement, spec, of_counts, made_of)
                    yield Planned("counts", self.files.at("counts", **ids), spec, of_counts, [*made_of, agreement])
                rows = self.files.rows(ids)
                yield Planned("ci_test", self.files.at("ci_test", **ids), spec, code, [rows, splits])

    def _selection(self, dataset: str, selector: str) -> Iterator[Planned]:
        plan, pair = self.files.plan, {"dataset": dataset, "selector": selector}
        asked, code = plan.method_spec(dataset, selector), self._code("grow_shrink", dataset=dataset, selector=selector)
        splits = self.files.splits(pair)
        made_of = [self.files.at("table", dataset=dataset), splits]
        supplied = plan.selector(selector).supplied
        for split in plan.splits(dataset):
            ids = {**pair, "split": split}
            marginals, grown, shrunk = (
                self.files.marginals(ids),
                self.files.of_folds("grow", ids),
                self.files.of_folds("shrink", ids),
            )
            for i, ((_, fold), grow, shrink) in enumerate(zip(self.files.folds(ids), grown, shrunk, strict=True)):
                tested = [self.files.rows({**ids, "fold": fold}), splits, *marginals[i : i + 1]]
                yield Planned("grow", grow, asked, code, tested, supplied=supplied == "grow")
                yield Planned("shrink", shrink, asked, code, [*tested, grow], supplied=supplied == "shrink")
            for artefact in ("blanket", "folds", "blankets"):
                yield Planned(
                    artefact,
                    self.files.at(artefact, **ids),
                    plan.aggregate_spec(dataset, selector),
                    self._code("aggregate"),
                    [*marginals, *grown, *shrunk],
                )
        if plan.selector(selector).confirm is not None:
            final = {**pair, "split": FINAL}
            spec, inputs = plan.confirm_spec(dataset, selector), [*made_of, self.files.at("blanket", **final)]
            code = self._code("confirm", dataset=dataset, selector=selector)
            yield Planned("confirm", self.files.at("confirm", **final), spec, code, inputs)
        for scores in plan.scores:
            inputs = [*made_of, *self.files.evaluated(scores, pair)]
            spec, code = plan.evaluate_spec(dataset), self._code("evaluate")
            yield Planned(scores, self.files.at(scores, **pair), spec, code, inputs)

    def _tables(self) -> Iterator[Planned]:
        plan, files = self.files.plan, self.files
        cards, by_fold, evaluations = files.cards(), files.of_pairs("folds"), files.scores("evaluate")
        optimistic = files.scores("evaluate_optimistic")
        inputs = [*cards, *files.of_pairs("blanket"), *by_fold, *evaluations, *optimistic, *files.confirmed()]
        tables = [files.at("result_table", table=table) for table in TABLES]
        for path in tables:
            yield Planned("result_table", path, plan.report_spec(), self._code("tables"), inputs)
        for paper, printed in plan.config.printed.items():
            read = [files.at("result_table", table=table) for table in ("runtime", "truth", "statuses")]
            for table in (f"paper_{paper}", f"paper_{paper}_claims"):
                yield Planned(
                    "result_table",
                    files.at("result_table", table=table),
                    plan.printed_spec(),
                    self._code("printed"),
                    [*evaluations, *optimistic, *read],
                    [digest_of_file(Path(printed))],
                )
        inputs = [*cards, *by_fold, *files.final_shrink(), *files.final_marginals(), *tables]
        yield Planned("provenance", files.at("provenance"), plan.report_spec(), self._code("report"), inputs)

    def _code(self, stage: str, **ids: str) -> str:
        key = (stage, *ids.values())
        if key not in self._codes:
            self._codes[key] = self.files.plan.code(stage, **ids)
        return self._codes[key]
