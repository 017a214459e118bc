"""The stages of a plan run in this process or a few beside it, without Snakemake, in a folder of the same shape."""

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
from ..config.identifiers import PART
from ..core.parameters import Configurable
from ..data.artefacts import Provenance, write_columns, write_json
from ..data.card import make_card
from ..data.raw import RawTable
from ..data.splits import TYPES, make_splits
from ..data.storage import write_table
from ..selectors.base import Method
from .finished_run import finished_run
from .grain import fold_ids
from .jobs import fewer_collections
from .plan import Plan
from .stages.aggregation import Blanket, aggregate_split
from .stages.decisions import grow_fold, shrink_fold
from .stages.evaluation import evaluate_blankets
from .stages.fold import Fold
from .stages.marginal import ci_test_fold
from .tabulate import tabulate

if TYPE_CHECKING:
    from ..reporting.report import Run

# A failure is told by its status and reason; its traceback is for whoever listens to this logger.
logging.getLogger("blanketflow").addHandler(logging.NullHandler())

Task = Callable[[], None]


@dataclass(frozen=True)
class Places:
    """Where what is: as below the `output` of a workflow."""

    root: Path

    def of_data(self, dataset: str, name: str) -> Path:
        """Return the path of a data set's table, card or splits."""
        return self.root / "data" / dataset / name

    def of_test(self, dataset: str, split: str, fold: str, test: str) -> Path:
        """Return the path of a ci_test artefact."""
        return self.root / "ci_test" / dataset / split / f"fold-{fold}" / f"{test}.parquet"

    def of_selection(self, dataset: str, split: str, selector: str, name: str) -> Path:
        """Return the path of an artefact of a selector on a split."""
        return self.root / "select" / dataset / split / selector / name

    def of_scores(self, dataset: str, selector: str, kind: str = "") -> Path:
        """Return the path of the scores of a pair; those of its final blanket are of the kind ``all-rows``."""
        return self.root / "evaluate" / dataset / kind / f"{selector}.parquet"


@dataclass
class FoldOfObjects(Fold):
    """A fold whose method or CI test holds an object that its spec cannot say, such as a model."""

    chosen: Method | None = None
    chosen_test: CITest | None = None

    def method(self) -> Method:
        """Return the configured method."""
        return super().method() if self.chosen is None else self.chosen

    def test(self) -> CITest:
        """Return the configured CI test."""
        return super().test() if self.chosen_test is None else self.chosen_test


def run_plan(plan: Plan, tables: Mapping[str, RawTable], root: Path, n_jobs: int | None, progress: bool) -> Run:
    """Run every stage of a plan and return what it found.

    Parameters
    ----------
    plan : Plan
        What to run.
    tables : mapping of str to RawTable
        The data sets of the plan.
    root : path
        An empty folder, for the artefacts.
    n_jobs : int or None
        Tasks run at a time, as joblib takes it. Results do not depend on it.
    progress : bool
        Whether to show a bar.
    """
    places = Places(root)
    for dataset, raw in tables.items():
        _store(plan, dataset, raw, places)
    tests = dict.fromkeys((d, plan.test_id(s), plan.selector(s).folds) for d, s in plan.pairs if plan.test_id(s))
    stages = {
        "testing": [partial(_test, plan, places, *one, split) for one in tests for split in plan.splits],
        "selecting": [partial(_select, plan, places, *pair, split) for pair in plan.pairs for split in plan.splits],
        "evaluating": [
            partial(_evaluate, plan, places, *pair, kind) for pair in plan.pairs for kind in _kinds_of_scores(plan)
        ],
    }
    with _shown(progress, sum(map(len, stages.values()))) as done:
        for stage, tasks in stages.items():
            _run(tasks, n_jobs, partial(done, stage))
    return _gather(plan, places)


def _run(tasks: Sequence[Task], n_jobs: int | None, done: Callable[[], None]) -> None:
    from joblib import Parallel, delayed

    for _ in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(delayed(_alone)(task) for task in tasks):
        done()


def _alone(task: Task) -> None:
    """Do a task on one core, as jobs of a workflow do: sums of BLAS differ in the last digits by its threads."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), fewer_collections():
        task()


@contextmanager
def _shown(progress: bool, total: int) -> Iterator[Callable[[str], None]]:
    """Yield what is called with the stage after each task."""
    if not progress:
        yield lambda stage: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:  # what a command prints is its result
        at = bar.add_task("testing", total=total)
        yield lambda stage: bar.update(at, advance=1, description=stage)


def _store(plan: Plan, dataset: str, raw: RawTable, places: Places) -> None:
    spec, seed = plan.table_spec(dataset), plan.config.seed
    card = make_card(dataset, raw, plan.config.datasets[dataset])
    extra = {"content_hash": card["content_hash"]}
    write_table(places.of_data(dataset, "table.parquet"), raw, Provenance(spec=spec, seed=seed, extra=extra))
    write_json(places.of_data(dataset, "card.json"), card)
    for n_folds in plan.numbers_of_folds(dataset):
        spec = plan.splits_spec([n_folds])
        drawn = make_splits(raw.target, plan.config.splits, [n_folds], seed, dataset, raw.groups, raw.n_test)
        path = places.of_data(dataset, f"splits-{n_folds}.parquet")
        write_columns(path, drawn, TYPES, Provenance(spec=spec, seed=seed))


def _fold(plan: Plan, places: Places, dataset: str, split: str, fold: str, spec: str, **objects: Any) -> FoldOfObjects:
    n_folds = fold.split("of")[-1]
    table, splits = (places.of_data(dataset, name) for name in ("table.parquet", f"splits-{n_folds}.parquet"))
    return FoldOfObjects(table, splits, dataset, split, fold, spec, **objects)


def _test(plan: Plan, places: Places, dataset: str, test: str, n_folds: int, split: str) -> None:
    spec, configured = plan.test_spec(dataset, test), _object(plan.config.ci_tests[test.removesuffix(PART)])
    for name in fold_ids(n_folds):
        fold = _fold(plan, places, dataset, split, name, spec, chosen_test=configured)
        path = places.of_test(dataset, split, name, test)
        ci_test_fold(fold, path, earlier=path, code="")


def _select(plan: Plan, places: Places, dataset: str, selector: str, split: str) -> None:
    chosen, test = plan.selector(selector), plan.test_id(selector)
    spec = plan.method_spec(dataset, selector)
    objects = {
        "chosen": _object(chosen.method),
        "chosen_test": _object(plan.config.ci_tests[chosen.ci_test]) if chosen.ci_test else None,
    }
    folds, at = plan.folds(selector), partial(places.of_selection, dataset, split, selector)
    marginal = [places.of_test(dataset, split, fold, test) for fold in folds] if test else []
    grow, shrink = ([at(f"fold-{fold}/{stage}.parquet") for fold in folds] for stage in ("grow", "shrink"))
    for i, name in enumerate(folds):
        fold = _fold(plan, places, dataset, split, name, spec, **objects)
        tested = marginal[i] if marginal else None
        problem = grow_fold(fold, tested, grow[i])
        shrink_fold(fold, tested, grow[i], shrink[i], problem)
    to = Blanket(at("blanket.parquet"), at("folds.parquet"), at("blankets.parquet"))
    aggregate_split(folds, marginal, grow, shrink, to, plan.aggregate_spec(selector))


def _kinds_of_scores(plan: Plan) -> list[str]:
    honest = [""] if plan.evaluation_splits else []
    return [*honest, "all-rows"] if plan.config.splits["optimistic"] else honest


def _evaluate(plan: Plan, places: Places, dataset: str, selector: str, kind: str) -> None:
    found_on = ["full"] * len(plan.evaluation_splits) if kind else plan.evaluation_splits
    evaluate_blankets(
        places.of_data(dataset, "table.parquet"),
        places.of_data(dataset, f"splits-{plan.selector(selector).folds}.parquet"),
        [places.of_selection(dataset, split, selector, "blanket.parquet") for split in found_on],
        places.of_scores(dataset, selector, kind),
        dataset,
        plan.evaluate_spec(),
    )


def _object(configured: Any) -> Any:
    """Return a method or test that JSON cannot say, since an option is an object; None of all others."""
    options = configured.options() if isinstance(configured, Configurable) else {}
    try:
        json.dumps(options)
    except TypeError:
        return configured
    return None


def _gather(plan: Plan, places: Places) -> Run:
    pairs = plan.pairs
    cards = [places.of_data(dataset, "card.json") for dataset in plan.config.datasets]
    blankets, by_fold = (
        [places.of_selection(d, split, s, name) for d, s in pairs for split in plan.splits]
        for name in ("blanket.parquet", "folds.parquet")
    )
    shrink = [
        places.of_selection(dataset, split, selector, f"fold-{fold}/shrink.parquet")
        for dataset, selector in pairs
        for split in plan.splits
        if split == "full"
        for fold in plan.folds(selector)
    ]
    evaluations, optimistic = (
        [places.of_scores(*pair, kind) for pair in pairs] if kind in _kinds_of_scores(plan) else []
        for kind in ("", "all-rows")
    )
    spec = plan.report_spec()
    tables = tabulate(spec, cards, blankets, by_fold, evaluations, optimistic)
    return finished_run(spec, tables, cards, by_fold, shrink)
