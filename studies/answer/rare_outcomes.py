"""Whether `auto` sees what tells rare classes: `python -m studies.answer.rare_outcomes`.

Tables of 42 cells are simulated: shares of events of 1 to 50 %, 200 to 8,000 rows, 12 to 200 columns, of which three
tell the events, more or less. A permutation test of the largest ROC AUC of a single column, on all rows, is the measure
of what can be seen. Prints and writes to README.md, by share of events, how often `auto` finds nothing where that
test has a power of 0.95, and how often it finds something in noise; and what it keeps of 2,000 rows with 80 events that
three of 12 columns tell with an AUC of 0.8. What is measured is kept, so that a run goes on where the last one ended.
"""

from __future__ import annotations

import argparse
import textwrap
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.isotonic import IsotonicRegression

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.seeds import derive_rng, seed_32
from blanketflow.core.table import column_from_array
from blanketflow.selectors.judged.gate import gate
from blanketflow.selectors.judged.held_out import MOST_ROWS, rows_to_judge
from blanketflow.selectors.judged.portfolio import Rows
from blanketflow.selectors.judged.yardstick import LOG_LOSS, yardstick
from studies.shared.page import ROOT, row, write

RESULTS = ROOT / "studies" / "answer" / "rare_outcomes.parquet"
PAGE = ROOT / "studies" / "answer" / "README.md"
SHARES, ROWS, COLUMNS, FEWEST_EVENTS = (0.01, 0.04, 0.1, 0.25, 0.5), (200, 500, 2000, 8000), (12, 50, 200), 30
CELLS = [(share, n, d) for share in SHARES for n in ROWS for d in COLUMNS if share * n >= FEWEST_EVENTS]
SIGNAL, NOISE, KEPT = "signal", "noise", "kept"
TRUE, N_PERMUTATIONS, LEVEL, POWER = ("x0", "x1", "x2"), 199, 0.05, 0.95
#: Standard errors by which the classes differ in a true column: from what is hardly seen to what always is.
FEWEST_ERRORS, MOST_ERRORS = 2.0, 9.0
#: The slope with which three columns tell 80 of 2,000 rows with an AUC of 0.8.
SLOPE = 0.7


def simulated(rng: np.random.Generator, share: float, n: int, d: int, slope: float) -> tuple[np.ndarray, np.ndarray]:
    """Return columns, the first three of which tell the events, and the classes."""
    X = rng.normal(size=(n, d))
    chance = slope * (X[:, 0] + X[:, 1] - X[:, 2]) + rng.logistic(size=n)
    return X, np.where(chance >= np.sort(chance)[-round(share * n)], "yes", "no")


def is_seen_by_the_largest_auc(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> bool:
    """Whether the largest distance of a column's AUC from a half is above those of permuted classes."""
    ranks = rankdata(X, axis=0).T - (len(y) + 1) / 2
    events = (y == "yes").astype(float)
    orders = np.stack([events, *(rng.permutation(events) for _ in range(N_PERMUTATIONS))])
    largest = np.abs(ranks @ orders.T).max(axis=0)
    return bool((largest >= largest[0] - 1e-9).sum() <= LEVEL * (N_PERMUTATIONS + 1))


def measured(kind: str, share: float, n: int, d: int, number: int) -> dict[str, object]:
    """Return whether anything was seen in one table, or what was kept of it."""
    rng, began = derive_rng("rare outcomes", kind, share, n, d, number), time.process_time()
    found = {"kind": kind, "share": share, "n": n, "d": d, "number": number}
    if kind == KEPT:
        X, y = simulated(rng, share, n, d, SLOPE)
        kept = bf.Auto(random_state=number).fit(_frame(X), y).selected_features_
        found |= {"true": len({*TRUE} & {*kept}), "false": len({*kept} - {*TRUE})}
        return found | {"seconds": time.process_time() - began}
    errors = float(rng.uniform(FEWEST_ERRORS, MOST_ERRORS)) if kind == SIGNAL else 0.0
    X, y = simulated(rng, share, n, d, errors / np.sqrt(n * share * (1 - share)))
    target, seed = column_from_array("y", y), seed_32("rare outcomes", number)
    some = rows_to_judge(target, seed, MOST_ROWS, keeps_rare=yardstick(target) == LOG_LOSS)
    rows = Rows(as_table(_frame(X)).take(some), target.take(some), 0)
    found |= {"errors": errors, "seen": gate(rows, seed).is_open}
    found |= {"can_be_seen": is_seen_by_the_largest_auc(X, y, rng) if kind == SIGNAL else None}
    return found | {"seconds": time.process_time() - began}


def _frame(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])


def visible(signal: pd.DataFrame) -> pd.DataFrame:
    """Return the tables of such effects that the test of the largest AUC has the power; it is fitted in each cell."""
    parts = []
    for _, cell in signal.groupby(["share", "n", "d"]):
        power = IsotonicRegression().fit(cell["errors"], cell["can_be_seen"].astype(float)).predict(cell["errors"])
        parts.append(cell[power >= POWER])
    return pd.concat(parts)


def table_of(found: pd.DataFrame) -> str:
    """Return what was found by share of events, as a table."""
    lines = [row("events", "rows", "tables with power 0.95", "nothing found", "tables of noise", "something found")]
    lines.append(row(*["---"] * 6))
    signal, noise = visible(found[found["kind"] == SIGNAL]), found[found["kind"] == NOISE]
    for share in [*SHARES, None]:
        own, of_noise = (part if share is None else part[part["share"] == share] for part in (signal, noise))
        n = sorted({*found["n"]} if share is None else {rows for of, rows, _ in CELLS if of == share})
        rows = f"{n[0]:,} to {n[-1]:,}" if len(n) > 1 else f"{n[0]:,}"
        name = "all" if share is None else f"{100 * share:g} %"
        nothing, something = 1 - own["seen"].mean(), of_noise["seen"].mean()
        lines.append(row(name, rows, f"{len(own):,}", _share(nothing), f"{len(of_noise):,}", _share(something)))
    return "\n".join(lines)


def _share(value: float) -> str:
    return f"{100 * value:.1f} %" if value == value else ""


def sentence_of(kept: pd.DataFrame) -> str:
    """Return what was kept, in words."""
    every = (kept["true"] == len(TRUE)).sum()
    return (
        f"Of {len(kept)} tables with 2,000 rows, 80 events and 12 columns, three of which tell the events with a ROC "
        f"AUC of 0.8, `auto` keeps all three in {every}, and {kept['false'].mean():.2f} of the others on average."
    )


def asked(options: argparse.Namespace) -> Iterator[tuple[str, float, int, int, int]]:
    """Yield what is to be measured, a table of each cell in turn."""
    for number in range(max(options.tables, options.noise, options.kept)):
        yield from [(SIGNAL, *cell, number) for cell in CELLS if number < options.tables]
        yield from [(NOISE, *cell, number) for cell in CELLS if number < options.noise]
        yield from [(KEPT, 0.04, 2000, 12, number)] if number < options.kept else []


def main() -> None:
    """Measure what is missing, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=300, help="of each cell")
    parser.add_argument("--noise", type=int, default=10, help="tables of noise of each cell")
    parser.add_argument("--kept", type=int, default=100, help="tables of which what is kept counts")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--budget-minutes", type=float, default=60.0, help="no table is begun later")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows = pd.read_parquet(options.results).to_dict("records") if options.results.exists() else []
    done = {tuple(of[key] for key in ("kind", "share", "n", "d", "number")) for of in rows}
    todo, stop = (one for one in asked(options) if one not in done), time.monotonic() + 60 * options.budget_minutes
    save = partial(pd.DataFrame.to_parquet, path=options.results, index=False)
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        running, one = set(), next(todo, None)
        while one or running:
            while one and len(running) < 2 * options.workers:
                running.add(pool.submit(measured, *one))
                one = next(todo, None) if time.monotonic() < stop else None
            ended = next(as_completed(running))
            running.remove(ended)
            rows.append(ended.result())
            if len(rows) % 50 == 0 or not running:
                save(pd.DataFrame(rows).sort_values(["kind", "share", "n", "d", "number"]))
    found = pd.DataFrame(rows)
    told = f"{table_of(found)}\n\n{textwrap.fill(sentence_of(found[found['kind'] == KEPT]), 120)}"
    print(told)
    if options.results == RESULTS:
        write(PAGE, {"rare outcomes": told})


if __name__ == "__main__":
    main()
