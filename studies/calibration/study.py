"""The cells of the study, and how they are counted: a cell is a test with options on a design at some n and |Z|."""

from __future__ import annotations

import heapq
import multiprocessing
import os
import time
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.ci.choice import AUTO, Choice, choose_test, described
from blanketflow.core.convert import as_table
from blanketflow.core.seeds import derive_seed
from blanketflow.core.task import infer_task, target_column
from studies.calibration.designs import ALTERNATIVES, FAMILIES, FEWEST_GIVEN, NULLS, sample

NULL_ROWS, SET_SIZES = (80, 200, 1000, 10_000), (0, 1, 3)
#: The most rows for tests that take more than `SLOW` seconds there.
MOST_ROWS = 2000
POWER_ROWS = (50, 100, 200, 500, 1000)
#: The size of the conditioning set of each alternative.
POWER_SET_SIZES = {
    "linear_negative": 0,
    "linear_mixed_signs": 3,
    "linear_weak": 1,
    "quadratic": 0,
    "waves": 0,
    "xor": 1,
    "mixed_types": 1,
}
#: What is judged: a rate is shown to be right if its upper 99 % bound is at most `TOLERATED` times alpha.
ALPHAS, TOLERATED = {"05": 0.05, "01": 0.01}, 1.4
#: Samples of a null by the smallest alpha that is judged by them, and samples of an alternative.
NULL_SAMPLES, POWER_SAMPLES = {"05": 4000, "01": 20_000}, 1000
#: Seconds of a test from which on it is judged at alpha 0.05 only.
SLOW = 0.005
#: CPU seconds that a cell gets at a time, and seconds between two writes of the results.
SLICE, SAVE_EVERY = 1.0, 30.0
KEY = ["test", "options", "design", "n", "k"]
COUNTS = ["samples", "rejected_01", "rejected_05", "unreliable", "seconds"]
#: Of each cell, by what auto chose (an empty text for other tests): the counts.
Counts = dict[tuple, dict[str, dict[str, float]]]


class Variant(NamedTuple):
    """A test with options, the nulls that it is measured under, and whether its power is."""

    test: str
    options: dict[str, Any]
    nulls: tuple[str, ...]
    has_power: bool = True

    @property
    def option_text(self) -> str:
        """The options as the results have them."""
        return " ".join(f"{name}={value}" for name, value in self.options.items())

    @property
    def rows(self) -> list[int]:
        """Numbers of rows of the nulls; options that only show what goes wrong need no more than the slow tests."""
        return [n for n in NULL_ROWS if n <= MOST_ROWS or (self.has_power and self.test not in SLOW_TESTS)]

    def run(self, frame: pd.DataFrame, seed: int) -> tuple[str, Any]:
        """Return what auto chose, if it is to choose, and the result of testing x against t given all other columns."""
        choice = auto(frame) if self.test == AUTO else None
        test = choice.configured() if choice else bf.get_ci_test(self.test, **self.options)
        result = test.bind(frame, seed=seed).test("x", "t", given=list(frame.columns[2:]))
        return (choice.test_id if choice else ""), result


def auto(frame: pd.DataFrame) -> Choice:
    """Return what auto takes where t is the target and all other columns are features, the look for bends included."""
    table = as_table(frame)
    target = target_column(table["t"], infer_task(table["t"], "auto").name)
    features = table.select(name for name in table.names if name != "t")
    return choose_test(described(features, target), len(frame))


USE_CELLS = {"min_samples_per_cell": 0, "unreliable": "use"}
USE_PARAMETERS = {"min_samples_per_parameter": 0, "unreliable": "use"}
#: Tests above `SLOW` at some hundred rows; of numbers, `auto` takes one of them.
SLOW_TESTS = (AUTO, "spline", "gcm", "pcm", "hsic", "rcit", "cmi-knn", "codec", "cpi", "ppi")
LINEAR, CURVED = ("gaussian", "correlated"), (*FAMILIES["bends"], *FAMILIES["noise"], *FAMILIES["functions"])
#: Two levels, or classes, are numbers too for tests of linear relations.
LEVELS_OF_TWO = ("two_classes", "flags", *FAMILIES["rare"])
#: Numbers are binned by the tests on contingency tables, hence their nulls "gaussian" and "squares".
TABLES, BINNED = ("discrete", "copied", "gaussian"), ("discrete", "copied", "gaussian", "squares", *LEVELS_OF_TWO)
#: What a test is measured under that takes a tenth of a second or more.
FEW = (*LINEAR, "mixed")
VARIANTS = (
    Variant(AUTO, {}, tuple(NULLS)),
    Variant("g2", {}, BINNED),
    Variant("g2", USE_CELLS, TABLES, has_power=False),
    Variant("chi2", {}, TABLES),
    Variant("chi2", USE_CELLS, TABLES, has_power=False),
    Variant("mi-permutation", {}, (*TABLES, "two_classes", "flags")),
    Variant("mi-permutation", {"asymptotic_from": 5}, BINNED),
    Variant("mi-permutation", {"bins": 3}, ("gaussian", "two_classes"), has_power=False),
    Variant("mi-permutation", {"bins": 2}, ("gaussian", "two_classes"), has_power=False),
    Variant("fisher-z", {}, (*LINEAR, *CURVED, *LEVELS_OF_TWO)),
    Variant("lr-mixed", {}, (*LINEAR, *CURVED, *LEVELS_OF_TWO, "mixed", "discrete")),
    Variant("lr-mixed", {"directions": "linear"}, ("two_classes", "mixed", *FAMILIES["rare"])),
    Variant("lr-mixed", USE_PARAMETERS, ("mixed", "discrete"), has_power=False),
    Variant("spline", {}, tuple(NULLS)),
    Variant("gcm", {}, (*LINEAR, *CURVED, *LEVELS_OF_TWO, "mixed", "discrete")),
    Variant("gcm", {"weights": 3}, (*LINEAR, *CURVED, *LEVELS_OF_TWO, "mixed", "discrete")),
    Variant("pcm", {}, (*LINEAR, *CURVED, *LEVELS_OF_TWO, "mixed", "discrete")),
    Variant("hsic", {}, FEW),
    Variant("hsic", {"trace_error": 0.01}, (*LINEAR, *CURVED, "mixed")),
    Variant("hsic", {"null": "permutation"}, ("gaussian",), has_power=False),
    Variant("rcit", {}, (*LINEAR, *CURVED, *LEVELS_OF_TWO, "mixed", "discrete")),
    Variant("cmi-knn", {}, (*LINEAR, *CURVED, "mixed", "discrete")),
    Variant("codec", {}, (*LINEAR, *CURVED, *LEVELS_OF_TWO, "mixed", "discrete")),
    Variant("cpi", {}, LINEAR),
    Variant("cpi", {"model": "tree"}, (*FEW, "squares", "near_function", "discrete"), has_power=False),
    Variant("cpi", {"significance": "fisher"}, ("gaussian",), has_power=False),
    Variant("ppi", {"significance": "wilcoxon", "n_repeats": 5}, FEW, has_power=False),
    Variant("ppi", {"significance": "wilcoxon", "n_repeats": 30}, FEW),
    Variant("ppi", {"significance": "corrected-t", "n_repeats": 30}, (*FEW, "squares", "near_function")),
)


class Cell(NamedTuple):
    """Where a rate is measured."""

    variant: Variant
    design: str
    n: int
    k: int

    @property
    def key(self) -> tuple:
        """The values of the columns `KEY`."""
        return (self.variant.test, self.variant.option_text, self.design, self.n, self.k)

    def wanted(self, so_far: dict[str, float]) -> int:
        """Samples when it is complete, of which those at the larger alpha may be enough to know."""
        if self.design in ALTERNATIVES:
            return POWER_SAMPLES
        few, many = NULL_SAMPLES.values()
        samples = so_far["samples"]
        is_known = so_far["rejected_05"] > TOLERATED * ALPHAS["05"] * samples or so_far["unreliable"] == samples
        is_slow = self.variant.test in (AUTO, *SLOW_TESTS) or so_far["seconds"] > SLOW * samples
        return few if samples < few or is_known or is_slow else many

    def count(self, number: int) -> tuple[str, dict[str, float]]:
        """Return what auto chose, and what one sample adds to the counts. Seconds are those of binding and testing."""
        frame = sample(self.design, self.n, self.k, number)
        begin = time.process_time()
        chosen, result = self.variant.run(frame, derive_seed("calibration", *self.key[2:], number, "test"))
        return chosen, {
            "samples": 1,
            "rejected_01": int(result.p_value <= 0.01),
            "rejected_05": int(result.p_value <= 0.05),
            "unreliable": int(not result.reliable),
            "seconds": time.process_time() - begin,
        }


def cells(only: list[str] | None = None) -> list[Cell]:
    """Return all cells, or those of some tests."""
    chosen = [v for v in VARIANTS if not only or v.test in only]
    nulls = [
        Cell(variant, design, n, k)
        for variant in chosen
        for design in variant.nulls
        for k in SET_SIZES
        if k >= FEWEST_GIVEN.get(design, 0)
        for n in variant.rows
    ]
    powers = [
        Cell(variant, design, n, k)
        for variant in chosen
        if variant.has_power
        for design, k in POWER_SET_SIZES.items()
        if not (variant.test == "fisher-z" and design == "mixed_types")  # three classes are too many for it
        for n in POWER_ROWS
    ]
    return nulls + powers


def total(counts: Iterable[dict[str, float]]) -> dict[str, float]:
    """Return the sums of counts, name by name."""
    counts = list(counts)
    return {name: sum(one[name] for one in counts) for name in COUNTS}


def read(path: Path) -> Counts:
    """Return the counts so far; `seconds` as a sum."""
    if not path.exists():
        return {}
    table = pd.read_parquet(path)
    table["seconds"] = table["microseconds"] * table["samples"] / 1e6
    counts: Counts = {}
    for row in table.to_dict("records"):
        counts.setdefault(tuple(row[name] for name in KEY), {})[row["chosen"]] = {name: row[name] for name in COUNTS}
    return counts


def write(path: Path, counts: Counts) -> None:
    """Write a row for each cell and choice of auto, in the order of the study; `microseconds` are those of one test."""
    rows = [
        dict(zip(KEY, cell.key, strict=True)) | {"chosen": chosen} | of_choice
        for cell in cells()
        for chosen, of_choice in sorted(counts.get(cell.key, {}).items())
    ]
    table = pd.DataFrame(rows, columns=[*KEY, "chosen", *COUNTS])
    table["microseconds"] = (1e6 * table.pop("seconds") / table["samples"]).map(lambda one: float(f"{one:.3g}"))
    counted = ["n", "k", "samples", "rejected_01", "rejected_05", "unreliable"]
    part = path.with_suffix(".part")
    table.astype(dict.fromkeys(counted, "int64")).to_parquet(part, index=False)
    os.replace(part, path)


def run(path: Path, asked: list[Cell], budget_minutes: float, fresh: bool = False, workers: int = 1) -> None:
    """Add samples until all cells are complete or the time is over, the same ones whatever the number of workers.

    Each cell gets a slice first, which tells its cost. Then the one that is complete soonest is next, those judged at
    the larger alpha before those that go on to the smaller one. A cell is with one worker at a time, so that its
    samples are those from 0 on without a gap, and only this process writes.
    """
    counts = read(path)
    for cell in asked if fresh else ():
        counts.pop(cell.key, None)
    queue = [(_turn(cell, counts), i) for i, cell in enumerate(asked) if _is_open(cell, counts)]
    heapq.heapify(queue)
    begin = saved = time.monotonic()
    # Processes that are started afresh: models' threads do not survive a fork.
    fresh_processes = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, fresh_processes, initializer=threadpool_limits, initargs=(1,)) as pool:
        running: dict[Future, int] = {}
        while True:
            while queue and len(running) < workers and time.monotonic() - begin < 60 * budget_minutes:
                _, i = heapq.heappop(queue)
                so_far = total(counts.get(asked[i].key, {}).values())
                slice_of = int(so_far["samples"]), asked[i].wanted(so_far)
                running[pool.submit(_count, asked[i], *slice_of)] = i
            if not running:
                break
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                cell = asked[i := running.pop(done)]
                of_cell = counts.setdefault(cell.key, {})
                for chosen, more in done.result().items():
                    of_cell[chosen] = total([of_cell[chosen], more] if chosen in of_cell else [more])
                if _is_open(cell, counts):
                    heapq.heappush(queue, (_turn(cell, counts), i))
            if time.monotonic() - saved > SAVE_EVERY:
                write(path, counts)
                saved = time.monotonic()
    write(path, counts)
    hours = sum(seconds for (_, seconds), _ in queue) / 3600
    print(
        f"{len(queue)} of {len(asked)} cells are not complete ({hours:.1f} CPU hours of tests); the next run goes on."
    )


def _is_open(cell: Cell, counts: Counts) -> bool:
    so_far = total(counts.get(cell.key, {}).values())
    return so_far["samples"] < cell.wanted(so_far)


def _turn(cell: Cell, counts: Counts) -> tuple[int, float]:
    """Return what the order of cells is by: whether the first slice and the larger alpha are done, and seconds left."""
    so_far = total(counts.get(cell.key, {}).values())
    if not so_far["samples"]:
        return 0, 0.0
    wanted = cell.wanted(so_far)
    left = (wanted - so_far["samples"]) * so_far["seconds"] / so_far["samples"]
    return (2 if wanted == max(NULL_SAMPLES.values()) else 1), left


#: What a worker has asked once, so that kernels are loaded and packages imported before anything is timed.
_is_warm: set[tuple] = set()


def _count(cell: Cell, begin: int, end: int) -> dict[str, dict[str, float]]:
    """Return the counts of some samples from `begin` on, by what auto chose: as many as `SLICE` allows."""
    if (kind := cell.key[:3]) not in _is_warm:
        cell.count(begin)
        _is_warm.add(kind)
    found: dict[str, dict[str, float]] = {}
    started = time.process_time()
    for number in range(begin, end):
        chosen, one = cell.count(number)
        found[chosen] = total([found[chosen], one] if chosen in found else [one])
        if time.process_time() - started > SLICE:
            break
    return found
