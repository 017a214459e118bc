"""Runs the stages of a plan in this process or a few workers without Snakemake, in a folder of the same layout."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..ci.base import CITest
from ..config.identifiers import TestOnRows
from ..core.messages import Counts, say_once, with_warnings
from ..core.parameters import Configurable
from ..data.beyond_memory import limited_memory
from ..data.column_roles import RawTable, max_memory
from ..search.workers import n_workers
from ..selectors.base import Method
from .collect import tabulate
from .finished_run import finished_run
from .grain import fold_ids
from .job_files import JobFiles
from .jobs import fewer_collections
from .layout import parse
from .sharded import check_no_shards
from .specs import Plan
from .stages.aggregation import aggregate_splits
from .stages.confirmation import confirm_blanket
from .stages.decisions import grow_shrink
from .stages.evaluation import evaluate_blankets
from .stages.fold import Fold
from .stages.marginal import ci_test
from .stages.splits import draw_splits
from .stages.table import store

if TYPE_CHECKING:
    from ..reporting.report import Run

# A failure is reported by status and reason; the traceback goes to this logger.
logging.getLogger("blanketflow").addHandler(logging.NullHandler())

Task = Callable[[], None]


@dataclass
class FoldOfObjects(Fold):
    """A fold whose method or CI test holds an object that JSON cannot express, such as a model."""

    chosen: Method | None = None
    chosen_test: CITest | None = None

    def method(self) -> Method:
        """Return the configured method."""
        return super().method() if self.chosen is None else self.chosen

    def plain_test(self, asked: Mapping[str, Any]) -> CITest:
        """Return the CI test of a spec without handling of missing cells."""
        return super().plain_test(asked) if self.chosen_test is None else self.chosen_test


def run_plan(plan: Plan, tables: Mapping[str, RawTable], root: Path, n_jobs: int | None, progress: bool) -> Run:
    """Run every stage of a plan and return the results.

    `root` is an empty folder. `n_jobs` is as in joblib, but at most the number of cores; results do not depend on it.
    """
    check_no_shards(plan.config)
    files = JobFiles(plan, root.joinpath)
    for dataset, raw in tables.items():
        _store(files, dataset, raw)
    tests = [(*key, n_folds) for key, numbers in plan.grains.folds_of_tests.items() for n_folds in sorted(numbers)]
    stages = {
        "testing": [partial(_test, files, *one, split) for one in tests for split in plan.splits(one[0])],
        "selecting": [partial(_select, files, *pair, split) for pair in plan.pairs for split in plan.splits(pair[0])],
        "confirming": [partial(_confirm, files, path) for path in files.confirmed()],
        "evaluating": [partial(_evaluate, files, *pair, scores) for pair in plan.pairs for scores in plan.scores],
    }
    limits = [max_memory(name, spec) for name, spec in plan.config.datasets.items()]
    most, warned = min((one for one in limits if one), default=None), list[Counts]()
    with _shown(progress, sum(map(len, stages.values()))) as done:
        for stage, tasks in stages.items():
            warned += _run(tasks, n_jobs, most, partial(done, stage))
    say_once("compare", *warned, stacklevel=4)
    return _gather(files)


def _run(tasks: Sequence[Task], n_jobs: int | None, most: int | None, done: Callable[[], None]) -> list[Counts]:
    """Run the tasks of a stage; return their warnings."""
    from joblib import Parallel, delayed

    n_jobs = n_workers("compare", n_jobs, len(tasks))
    several = []
    running = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    for _, warned in running(delayed(with_warnings)(_alone, task, most) for task in tasks):
        several.append(warned)
        done()
    return several


def _alone(task: Task, max_memory: int | None) -> None:
    """Run a task on one core, as workflow jobs do: the last digits of BLAS sums depend on the number of threads."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), fewer_collections(), limited_memory(max_memory):
        task()


@contextmanager
def _shown(progress: bool, total: int) -> Iterator[Callable[[str], None]]:
    """Yield a function to call with the stage after each task."""
    if not progress:
        yield lambda stage: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:  # what a command prints is its result
        at = bar.add_task("testing", total=total)
        yield lambda stage: bar.update(at, advance=1, description=stage)


def _store(files: JobFiles, dataset: str, raw: RawTable) -> None:
    plan, table = files.plan, files.at("table", dataset=dataset)
    store(raw, table, files.at("card", dataset=dataset), dataset, plan.table_spec(dataset))
    for n_folds, path in zip(plan.numbers_of_folds(dataset), files.splits_of(dataset), strict=True):
        draw_splits(table, path, dataset, plan.splits_spec([n_folds]))


def _test(files: JobFiles, dataset: str, test: str, n_folds: int, split: str) -> None:
    plan, ids = files.plan, {"dataset": dataset, "test": test, "split": split}
    of_folds = [{**ids, "fold": fold} for fold in fold_ids(n_folds)]
    ci_test(
        files.at("table", dataset=dataset),
        files.splits(of_folds[0]),
        [files.at("ci_test", **fold) for fold in of_folds],
        dataset,
        [f"{split}/{fold['fold']}" for fold in of_folds],
        test,
        plan.test_spec(dataset, test),
        code="",
        make_fold=partial(FoldOfObjects, chosen_test=_object(plan.config.ci_tests[TestOnRows.of(test).test])),
    )


def _select(files: JobFiles, dataset: str, selector: str, split: str) -> None:
    plan, ids = files.plan, {"dataset": dataset, "selector": selector, "split": split}
    chosen = plan.selector(selector)
    test = _object(plan.config.test(dataset, selector))
    marginal, grow, shrink = files.marginals(ids), files.of_folds("grow", ids), files.of_folds("shrink", ids)
    grow_shrink(
        files.at("table", dataset=dataset),
        files.splits(ids),
        marginal,
        grow,
        shrink,
        dataset,
        list(map("/".join, files.folds(ids))),
        plan.method_spec(dataset, selector),
        make_fold=partial(FoldOfObjects, chosen=_object(chosen.method), chosen_test=test),
    )
    to = [[files.at(name, **ids)] for name in ("blanket", "folds", "blankets")]
    aggregate_splits(marginal, grow, shrink, *to, plan.folds(selector), plan.aggregate_spec(dataset, selector))


def _confirm(files: JobFiles, path: Path) -> None:
    ids = parse(path, ["confirm"]).ids
    dataset, plan, chosen = ids["dataset"], files.plan, files.plan.selector(ids["selector"])
    confirm_blanket(
        files.at("table", dataset=dataset),
        files.splits(ids),
        files.at("blanket", **ids),
        path,
        dataset,
        plan.confirm_spec(dataset, ids["selector"]),
        make_fold=partial(
            FoldOfObjects,
            chosen=_object(chosen.method),
            chosen_test=_object(plan.config.test(dataset, ids["selector"])),
        ),
    )


def _evaluate(files: JobFiles, dataset: str, selector: str, scores: str) -> None:
    ids = {"dataset": dataset, "selector": selector}
    evaluate_blankets(
        files.at("table", dataset=dataset),
        files.splits(ids),
        files.evaluated(scores, ids),
        files.at(scores, **ids),
        dataset,
        files.plan.evaluate_spec(dataset),
    )


def _object(configured: Any) -> Any:
    """Return a method or test with an object among its options; None for others, which JSON can express."""
    options = configured.options() if isinstance(configured, Configurable) else {}
    try:
        json.dumps(options)
    except TypeError:
        return configured
    return None


def _gather(files: JobFiles) -> Run:
    spec, cards, by_fold = files.plan.report_spec(), files.cards(), files.of_pairs("folds")
    scores = files.scores("evaluate"), files.scores("evaluate_optimistic")
    tables = tabulate(spec, cards, files.of_pairs("blanket"), by_fold, *scores, files.confirmed())
    return finished_run(spec, tables, cards, by_fold, files.final_shrink())
