"""The false discovery rate and the power of searches with and without `correction`, on simulated tables.

`python benchmarks/corrected_blankets.py --tables 200` measures and writes the table of docs/error-control.md.
"""

from __future__ import annotations

import argparse
import time
import warnings

import error_control_page
import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.core.errors import UnreliableWarning
from blanketflow.core.seeds import derive_rng

N_ROWS, N_FEATURES, N_SIGNALS, EFFECT, ALPHA = 500, 100, 10, 0.25, 0.1
#: The correlation of a feature with the next one.
DESIGNS = {"independent features": 0.0, "chain of features": 0.5}
METHODS = {"iamb": bf.IAMB, "hiton-pc": bf.HITONPC, "mmpc": bf.MMPC}
CORRECTIONS = ("none", "bh", "by")


def measured(design: str, number: int) -> list[dict[str, object]]:
    """Return the share of false features, and of true ones that were found, of one table by each search.

    The target is the child of the true features, which are its parents and its whole Markov blanket.
    """
    rng = derive_rng("corrected-blankets", design, number)
    X, noise, near = np.empty((N_ROWS, N_FEATURES)), rng.standard_normal((N_ROWS, N_FEATURES)), DESIGNS[design]
    X[:, 0] = noise[:, 0]
    for i in range(1, N_FEATURES):
        X[:, i] = near * X[:, i - 1] + np.sqrt(1 - near**2) * noise[:, i]
    true = rng.permutation(N_FEATURES)[:N_SIGNALS]
    y = X[:, true] @ rng.choice([-EFFECT, EFFECT], N_SIGNALS) + rng.standard_normal(N_ROWS)
    found = []
    for method, selector in METHODS.items():
        for correction in CORRECTIONS:
            fitted = selector(ci_test="fisher-z", alpha=ALPHA, correction=correction).fit(X, y)
            chosen = fitted.get_support(indices=True)
            right = len(np.intersect1d(chosen, true))
            shares = {"false": (len(chosen) - right) / max(len(chosen), 1), "power": right / N_SIGNALS}
            shares["unreliable"] = fitted.status_ != "ok"
            found.append({"design": design, "method": method, "correction": correction, **shares})
    return found


def table(results: pd.DataFrame) -> str:
    """Return the rates as a table in Markdown."""
    lines = [
        "| design | method | correction | false discovery rate | 95 % interval | power | unreliable | tables |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (design, method, correction), part in results.groupby(["design", "method", "correction"], sort=False):
        rates = f"{part['false'].mean():.3f} | {error_control_page.interval(part['false'], 3)}"
        rest = f"{part['power'].mean():.2f} | {part['unreliable'].sum()} | {len(part)}"
        lines.append(f"| {design} | {method} | {correction} | {rates} | {rest} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200, help="tables of each design")
    arguments = parser.parse_args()
    start = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)  # these are counted
        rows = [row for design in DESIGNS for number in range(arguments.tables) for row in measured(design, number)]
    error_control_page.write("corrected", table(pd.DataFrame(rows)))
    print(f"{time.process_time() - start:.0f} CPU s")


if __name__ == "__main__":
    main()
