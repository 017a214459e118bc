"""Discoveries of knockoffs at levels chosen afterwards, of IPSS and of stability selection, beside each other.

`python -m studies.error_control.discoveries` goes on where the last run ended: discoveries.parquet has a row for each
method and table. README.md and docs/error-control.md show the means.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.core.seeds import derive_seed
from studies.error_control.designs import DESIGNS
from studies.error_control.page import interval
from studies.shared import page

HERE = Path(__file__).parent
RESULTS = HERE / "discoveries.parquet"
USED = (
    "Gaussian, covariance known",
    "Gaussian blocks, covariance known",
    "t of 3 degrees, covariance estimated",
    "mixed, as Gaussian",
)
#: Number of relevant features of 120, fewer than a draw must select at 0.1.
SIGNALS = 6
Q, MAX_Q, DRAWS = 0.1, 0.3, 5
KNOCKOFFS, AFTERWARDS = f"knockoffs at {Q:g}", f"knockoffs, level chosen afterwards up to {MAX_Q:g}"
IPSS, STABLE = f"IPSS at {Q:g}", "stability selection, bound 1"


def rates(chosen: set[str], right: set[str], q: float) -> dict[str, float]:
    """Return what one set has of false and right features, at its level."""
    false = len(chosen - right) / max(len(chosen), 1)
    return {"found": bool(chosen), "false": false, "power": len(chosen & right) / len(right), "q": q}


def of_levels(table: pd.DataFrame, right: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what the levels of one table of discoveries give: at Q, and at the smallest level that finds something."""
    lowest = max(Q, min(table["q"].min(), MAX_Q)) if len(table) else Q
    for name, q in ((KNOCKOFFS, Q), (AFTERWARDS, lowest)):
        yield name, rates(set(table.loc[table["q"] <= q * (1 + 1e-9), "feature"]), right, q)


def measured(design: str, number: int) -> list[dict[str, Any]]:
    """Return a row for each method on one table."""
    of, rows = DESIGNS[design], []
    X, y, true = of.sample(number, SIGNALS)
    right, seed = {f"x{j}" for j in true}, derive_seed("discoveries", design, SIGNALS, number) % 2**32
    known = {"design": design, "table": number}
    for draws in (1, DRAWS):
        fitted = bf.Knockoffs(q=Q, random_state=seed, **{**of.options, "draws": draws}).fit(X, y)
        for name, found in of_levels(fitted.discoveries_, right):
            rows.append(known | {"method": name if draws == 1 else f"{name}, {draws} draws"} | found)
    ipss = bf.IPSS(q=Q, random_state=seed).fit(X, y)
    rows.append(known | {"method": IPSS} | rates(set(ipss.selected_features_), right, Q))
    stable = bf.StabilitySelection(bound=1.0, random_state=seed).fit(X, y)
    rows.append(known | {"method": STABLE} | rates(set(stable.selected_features_), right, np.nan))
    return rows


HEADS = ("found something", "FDR (95 % interval)", "mean FDP / Q (95 % interval)", "power", "tables")


def means(of: pd.DataFrame) -> list[object]:
    """Return how often something was found, FDR and the mean of FDP / Q with intervals, power, and the tables."""
    ratio = of["false"] / of["q"]
    fdr = f"{of['false'].mean():.3f} ({interval(of['false'], 3)})"
    said = f"{ratio.mean():.2f} ({interval(ratio, 2)})" if ratio.notna().all() else ""
    return [f"{of['found'].mean():.2f}", fdr, said, f"{of['power'].mean():.2f}", len(of)]


def table(results: pd.DataFrame, by: list[str]) -> str:
    """Return the means by some columns as a table in Markdown."""
    lines = [page.row(*by, *HEADS), page.row(*["---"] * (len(by) + len(HEADS)))]
    for key, part in results.groupby(by, sort=False):
        lines.append(page.row(*key, *means(part)))
    return "\n".join(lines)


def write(results: pd.DataFrame) -> None:
    """Renew the tables of both pages."""
    results = results.sort_values("design", key=lambda names: names.map(USED.index), kind="stable")
    page.write(HERE / "README.md", {"discoveries": table(results, ["design", "method"])})
    page.write(page.ROOT / "docs" / "error-control.md", {"discoveries": table(results, ["method"])})


def main() -> None:
    """Measure until the time or the tables are used up, then write the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget-minutes", type=float, default=60.0, help="of CPU time; 0 only writes the pages")
    parser.add_argument("--tables", type=int, default=100, help="tables of each design")
    arguments = parser.parse_args()
    known = pd.read_parquet(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=["design", "table"])
    done, rows = (
        set(known[["design", "table"]].itertuples(index=False, name=None)),
        known.to_dict("records"),
    )
    stop = time.process_time() + 60 * arguments.budget_minutes
    warnings.simplefilter("ignore")
    try:
        with threadpool_limits(1):
            for number in range(arguments.tables):
                for design in USED:
                    if (design, number) not in done and time.process_time() < stop:
                        rows += measured(design, number)
    finally:  # also of a run that is stopped
        pd.DataFrame(rows).to_parquet(RESULTS, index=False)
    write(pd.DataFrame(rows))


if __name__ == "__main__":
    main()
