"""The false discovery rate and the power of searches with and without `correction`, on simulated tables.

`python -m studies.error_control.corrected_blankets --tables 100` measures and writes the tables of
README.md: that of the searches whose correction has a proof or a paper, and that of others.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.core.errors import UnreliableWarning
from blanketflow.core.seeds import derive_rng
from studies.error_control import page

N_ROWS, N_FEATURES, N_SIGNALS, EFFECT, ALPHA = 500, 100, 10, 0.25, 0.1
#: The target's parents and children in the design with both; each child has another parent, a spouse.
N_PARENTS, N_CHILDREN = 4, 3
#: The correlation of a feature with the next one.
DESIGNS = {"independent features": 0.0, "chain of features": 0.5}
SPOUSES = "children and spouses"
METHODS = {"iamb": bf.IAMB, "hiton-pc": bf.HITONPC, "mmpc": bf.MMPC}
#: Searches whose correction is measured only, on the designs above and the one with children and spouses.
OTHERS = {
    "gs": bf.GS,
    "inter-iamb": bf.InterIAMB,
    "fast-iamb": bf.FastIAMB,
    "kiamb": bf.KIAMB,
    "mixed-mb": bf.MixedMB,
    "hiton-mb": bf.HITONMB,
    "mmmb": bf.MMMB,
    "pcmb": bf.PCMB,
    "ipc-mb": bf.IPCMB,
    "stmb": bf.STMB,
}
CORRECTIONS = ("none", "bh", "by")


def sample(design: str, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features (n, d), a target (n,), and the positions of its Markov blanket."""
    if design == SPOUSES:
        return sample_with_spouses(number)
    rng = derive_rng("corrected-blankets", design, number)
    X, noise, near = np.empty((N_ROWS, N_FEATURES)), rng.standard_normal((N_ROWS, N_FEATURES)), DESIGNS[design]
    X[:, 0] = noise[:, 0]
    for i in range(1, N_FEATURES):
        X[:, i] = near * X[:, i - 1] + np.sqrt(1 - near**2) * noise[:, i]
    true = rng.permutation(N_FEATURES)[:N_SIGNALS]
    return X, X[:, true] @ rng.choice([-EFFECT, EFFECT], N_SIGNALS) + rng.standard_normal(N_ROWS), true


def sample_with_spouses(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a table whose target has four parents, and three children with a spouse each, with effects of 0.5."""
    rng = derive_rng("corrected-blankets", SPOUSES, number)
    X, true = rng.standard_normal((N_ROWS, N_FEATURES)), rng.permutation(N_FEATURES)[: N_PARENTS + 2 * N_CHILDREN]
    parents, children, spouses = np.split(true, [N_PARENTS, N_PARENTS + N_CHILDREN])
    y = X[:, parents] @ rng.choice([-0.5, 0.5], N_PARENTS) + rng.standard_normal(N_ROWS)
    X[:, children] += 0.5 * y[:, np.newaxis] + 0.5 * X[:, spouses]
    return X, y, true


def measured(design: str, number: int, methods: dict[str, type]) -> list[dict[str, object]]:
    """Return the share of false features, and of true ones that were found, of one table by each search."""
    X, y, true = sample(design, number)
    found = []
    for method, selector in methods.items():
        for correction in CORRECTIONS:
            fitted = selector(ci_test="fisher-z", alpha=ALPHA, correction=correction).fit(X, y)
            chosen = fitted.get_support(indices=True)
            right = len(np.intersect1d(chosen, true))
            shares = {"false": (len(chosen) - right) / max(len(chosen), 1), "power": right / len(true)}
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
        rates = f"{part['false'].mean():.3f} | {page.interval(part['false'], 3)}"
        rest = f"{part['power'].mean():.2f} | {part['unreliable'].sum()} | {len(part)}"
        lines.append(f"| {design} | {method} | {correction} | {rates} | {rest} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=100, help="tables of each design")
    parser.add_argument("--others", action="store_true", help="only those whose correction is measured only")
    arguments = parser.parse_args()
    start, blocks = time.process_time(), {"corrected-others": ([*DESIGNS, SPOUSES], OTHERS)}
    if not arguments.others:
        blocks["corrected"] = (list(DESIGNS), METHODS)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)  # these are counted
        for block, (designs, methods) in blocks.items():
            numbers = range(arguments.tables)
            rows = [row for design in designs for number in numbers for row in measured(design, number, methods)]
            page.write(block, table(pd.DataFrame(rows)))
    print(f"{time.process_time() - start:.0f} CPU s")


if __name__ == "__main__":
    main()
