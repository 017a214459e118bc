"""The cells of the study, and how they are counted: a cell is a test with options on a design at some n and |Z|."""

from __future__ import annotations

import heapq
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

import blanketflow as bf
from blanketflow.core.seeds import derive_seed

from .designs import ALTERNATIVES, NEED_GIVEN, sample

NULL_ROWS, SET_SIZES = (50, 200, 1000), (0, 1, 3)
POWER_ROWS = (50, 100, 200, 500, 1000)
#: The size of the conditioning set of each alternative.
POWER_SET_SIZES = {"linear_negative": 0, "linear_mixed_signs": 3, "quadratic": 0, "xor": 1, "mixed_types": 1}
#: Samples of a cell when it is complete.
NULL_SAMPLES, POWER_SAMPLES = 1000, 300
#: CPU seconds that a cell gets at a time, and seconds between two writes of the results.
SLICE, SAVE_EVERY = 0.5, 30.0
KEY = ["test", "options", "design", "n", "k"]
COUNTS = ["samples", "rejected_01", "rejected_05", "unreliable", "seconds"]


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

    def run(self, frame: pd.DataFrame, seed: int) -> Any:
        """Return the result of testing x against t given all other columns."""
        bound = bf.get_ci_test(self.test, **self.options).bind(frame, seed=seed)
        return bound.test("x", "t", given=list(frame.columns[2:]))


USE_CELLS = {"min_samples_per_cell": 0, "unreliable": "use"}
USE_PARAMETERS = {"min_samples_per_parameter": 0, "unreliable": "use"}
#: Numbers are binned by the tests on contingency tables, hence their null "gaussian".
TABLES, NUMBERS = ("discrete", "copied", "gaussian"), ("gaussian", "correlated")
#: Two levels, or classes, are numbers too for tests of linear relations.
LEVELS_OF_TWO = ("two_classes", "flags")
VARIANTS = (
    Variant("g2", {}, (*TABLES, *LEVELS_OF_TWO)),
    Variant("g2", USE_CELLS, TABLES, has_power=False),
    Variant("chi2", {}, TABLES),
    Variant("chi2", USE_CELLS, TABLES, has_power=False),
    Variant("mi-permutation", {}, (*TABLES, *LEVELS_OF_TWO)),
    Variant("mi-permutation", {"asymptotic_from": 5}, (*TABLES, *LEVELS_OF_TWO)),
    Variant("mi-permutation", {"bins": 3}, ("gaussian", "two_classes"), has_power=False),
    Variant("mi-permutation", {"bins": 2}, ("gaussian", "two_classes"), has_power=False),
    Variant("fisher-z", {}, (*NUMBERS, *LEVELS_OF_TWO)),
    Variant("lr-mixed", {}, (*NUMBERS, *LEVELS_OF_TWO, "mixed", "discrete")),
    Variant("lr-mixed", {"directions": "linear"}, ("two_classes", "mixed")),
    Variant("lr-mixed", USE_PARAMETERS, ("mixed", "discrete"), has_power=False),
    Variant("spline", {}, (*NUMBERS, *LEVELS_OF_TWO, "mixed", "discrete")),
    Variant("hsic", {}, (*NUMBERS, "mixed")),
    Variant("hsic", {"trace_error": 0.01}, (*NUMBERS, "mixed")),
    Variant("hsic", {"null": "permutation"}, (*NUMBERS, "mixed"), has_power=False),
    Variant("cpi", {}, (*NUMBERS, "mixed", "discrete")),
    Variant("cpi", {"model": "tree"}, (*NUMBERS, "mixed", "discrete"), has_power=False),
    Variant("cpi", {"significance": "fisher"}, NUMBERS, has_power=False),
    Variant("ppi", {"significance": "wilcoxon", "n_repeats": 5}, (*NUMBERS, "mixed"), has_power=False),
    Variant("ppi", {"significance": "wilcoxon", "n_repeats": 30}, (*NUMBERS, "mixed")),
    Variant("ppi", {"significance": "corrected-t", "n_repeats": 30}, (*NUMBERS, "mixed")),
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

    @property
    def wanted(self) -> int:
        """Samples when it is complete."""
        return POWER_SAMPLES if self.design in ALTERNATIVES else NULL_SAMPLES

    def count(self, number: int) -> dict[str, float]:
        """Return what one sample adds to the counts. Seconds are CPU seconds of binding and testing."""
        frame = sample(self.design, self.n, self.k, number)
        begin = time.process_time()
        result = self.variant.run(frame, derive_seed("calibration", *self.key[2:], number, "test"))
        return {
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
        for k in SET_SIZES[design in NEED_GIVEN :]
        for n in NULL_ROWS
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


def read(path: Path) -> dict[tuple, dict[str, float]]:
    """Return the counts so far by the cell's key; `seconds` as a sum."""
    if not path.exists():
        return {}
    table = pd.read_csv(path, keep_default_na=False)
    table["seconds"] *= table["samples"]
    return {tuple(row[name] for name in KEY): {name: row[name] for name in COUNTS} for row in table.to_dict("records")}


def write(path: Path, counts: dict[tuple, dict[str, float]]) -> None:
    """Write one row a cell, in the order of the study; `seconds` are those of one test."""
    known = [cell.key for cell in cells() if counts.get(cell.key, {}).get("samples")]
    rows = [dict(zip(KEY, key, strict=True)) | counts[key] for key in known]
    table = pd.DataFrame(rows, columns=KEY + COUNTS)
    table["seconds"] = (table["seconds"] / table["samples"]).map("{:.3g}".format)
    part = path.with_suffix(".part")
    table.to_csv(part, index=False)
    os.replace(part, path)


def run(path: Path, chosen: list[Cell], budget_minutes: float, fresh: bool = False) -> None:
    """Add samples until all cells are complete or the time is over; the cell that has had the least time is next."""
    counts = read(path)
    for cell in chosen:
        known = None if fresh else counts.get(cell.key)
        counts[cell.key] = dict(known or dict.fromkeys(COUNTS, 0))
    for first in {cell.key[:3]: cell for cell in reversed(chosen)}.values():
        first.count(0)  # kernels are loaded and packages imported before anything is timed
    queue = [(counts[c.key]["seconds"], i) for i, c in enumerate(chosen) if counts[c.key]["samples"] < c.wanted]
    heapq.heapify(queue)
    begin = saved = time.monotonic()
    while queue and time.monotonic() - begin < 60 * budget_minutes:
        spent, i = heapq.heappop(queue)
        cell, total = chosen[i], counts[chosen[i].key]
        while total["samples"] < cell.wanted and total["seconds"] - spent < SLICE:
            for name, value in cell.count(int(total["samples"])).items():
                total[name] += value
        if total["samples"] < cell.wanted:
            heapq.heappush(queue, (total["seconds"], i))
        if time.monotonic() - saved > SAVE_EVERY:
            write(path, counts)
            saved = time.monotonic()
    write(path, counts)
    print(f"{len(queue)} of {len(chosen)} cells are not complete; the next run goes on.")
