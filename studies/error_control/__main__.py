"""The false discovery rate and the power of knockoffs on simulated tables: `make error-control`.

Draws are kept in results/error_control.parquet, so that a run goes on where the last one ended; README.md
shows them as rates with 95 % intervals.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.core.seeds import derive_seed
from blanketflow.selectors.base import Problem
from blanketflow.selectors.wrappers import knockoffs
from blanketflow.selectors.wrappers.knockoffs import Knockoffs, e_values, passing
from studies.error_control import page
from studies.error_control.designs import DESIGNS

LEVELS = (0.05, 0.1, 0.2)


def measured(design: str, number: int) -> list[dict[str, object]]:
    """Return the share of false features, and of true ones that were found, of one table at each level.

    The draws of knockoffs, and what a lasso says of them, do not depend on q: one fit tells what is selected at each.
    """
    of, draws, rows = DESIGNS[design], [], []
    X, y, true = of.sample(number)
    excess_by_draw = Knockoffs.excess_by_draw

    def kept(self: Knockoffs, problem: Problem) -> Iterator[np.ndarray]:
        for found in excess_by_draw(self, problem):
            draws.append(found)
            yield found

    shared = np.inf if of.one_spread else knockoffs.SHARED
    with patch.object(Knockoffs, "excess_by_draw", kept), patch.object(knockoffs, "SHARED", shared):
        bf.Knockoffs(q=LEVELS[0], random_state=derive_seed(design, number) % 2**32, **of.options).fit(X, y)
    right = np.unique(true // of.groups)
    for q in LEVELS:
        values = np.mean([e_values(found, Knockoffs(q=q, draws=len(draws)).level) for found in draws], axis=0)
        chosen = np.flatnonzero(passing(values, len(values), q))
        n_right = len(np.intersect1d(chosen, right))
        shares = {"false": (len(chosen) - n_right) / max(len(chosen), 1), "power": n_right / len(right)}
        rows.append({"design": design, "draw": number, "q": q, **shares})
    return rows


def main() -> None:
    """Measure until the time or the tables are used up, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget-minutes", type=float, default=10.0, help="of CPU time; 0 only writes the page")
    parser.add_argument("--tables", type=int, default=1000, help="tables of each design")
    arguments = parser.parse_args()
    kept = page.RESULTS
    known = pd.read_parquet(kept) if kept.exists() else pd.DataFrame(columns=["design", "draw"])
    done, rows = set(zip(known["design"], known["draw"], strict=True)), known.to_dict("records")
    stop = time.process_time() + 60 * arguments.budget_minutes
    try:
        with threadpool_limits(1):
            for number in range(arguments.tables):
                for design in DESIGNS:
                    if (design, number) not in done and time.process_time() < stop:
                        rows += measured(design, number)
    finally:  # also of a run that is stopped
        pd.DataFrame(rows).to_parquet(kept, index=False)
    page.write_study(pd.DataFrame(rows), DESIGNS)


if __name__ == "__main__":
    main()
