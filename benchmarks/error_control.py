"""The false discovery rate and the power of knockoffs on simulated tables: `make error-control`.

Draws are kept in docs/error-control.csv, so that a run goes on where the last one ended; docs/error-control.md shows
them as rates with 95 % intervals.
"""

from __future__ import annotations

import argparse
import time

import error_control_page
import numpy as np
import pandas as pd
from error_control_designs import DESIGNS
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.core.seeds import derive_seed

RESULTS = error_control_page.DOCS / "error-control.csv"
LEVELS = (0.05, 0.1, 0.2)


def measured(design: str, number: int) -> list[dict[str, object]]:
    """Return the share of false features, and of true ones that were found, of one table at each level."""
    of = DESIGNS[design]
    X, y, true = of.sample(number)
    found = []
    for q in LEVELS:
        fitted = bf.Knockoffs(q=q, random_state=derive_seed(design, number) % 2**32, **of.options).fit(X, y)
        chosen, right = (np.unique(some // of.groups) for some in (fitted.get_support(indices=True), true))
        n_right = len(np.intersect1d(chosen, right))
        shares = {"false": (len(chosen) - n_right) / max(len(chosen), 1), "power": n_right / len(right)}
        found.append({"design": design, "draw": number, "q": q, **shares})
    return found


def table(results: pd.DataFrame) -> str:
    """Return the rates as a table in Markdown, by design."""
    lines = [
        "| design | law known | q | false discovery rate | 95 % interval | power | tables |",
        "|---|---|---|---|---|---|---|",
    ]
    for design, known in DESIGNS.items():
        for q, part in results[results["design"] == design].groupby("q"):
            rates = f"{part['false'].mean():.3f} | {error_control_page.interval(part['false'], 3)}"
            is_known = "yes" if known.is_valid else "no"
            lines.append(f"| {design} | {is_known} | {q:g} | {rates} | {part['power'].mean():.2f} | {len(part)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure until the time or the tables are used up, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget-minutes", type=float, default=10.0, help="when to stop; 0 only writes the page")
    parser.add_argument("--tables", type=int, default=1000, help="tables of each design")
    arguments = parser.parse_args()
    known = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=["design", "draw"])
    rows, stop = known.to_dict("records"), time.monotonic() + 60 * arguments.budget_minutes
    done = set(zip(known["design"], known["draw"], strict=True))
    with threadpool_limits(1):
        for number in range(arguments.tables):
            for design in DESIGNS:
                if (design, number) not in done and time.monotonic() < stop:
                    rows += measured(design, number)
    results = pd.DataFrame(rows)
    results.to_csv(RESULTS, index=False, float_format="%.6g")
    error_control_page.write("measured", table(results))


if __name__ == "__main__":
    main()
