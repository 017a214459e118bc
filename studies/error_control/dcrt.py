"""The false discovery rate and the power of dCRT on the tables that knockoffs are measured on, and the level of a test.

`python -m studies.error_control.dcrt` measures and writes the table of README.md.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from blanketflow.ci.multiple_testing import BH, BY, rejected
from blanketflow.core.numerics import standardised
from blanketflow.core.seeds import derive_rng
from blanketflow.selectors.wrappers.dcrt import dcrt_p_values
from studies.error_control import page

N_FEATURES, N_SIGNALS, EFFECT, ALPHA = 120, 40, 0.25, 0.1
CORRELATIONS = 0.5 ** np.abs(np.subtract.outer(range(N_FEATURES), range(N_FEATURES)))
#: Rows, whether the covariance is known, and the degrees of freedom of the rows' law, or 0 for Gaussian rows.
DESIGNS = {
    "Gaussian, covariance known": (400, True, 0),
    "Gaussian, covariance estimated": (400, False, 0),
    "Gaussian, covariance estimated, 150 rows": (150, False, 0),
    "t of 3 degrees, covariance estimated": (400, False, 3),
}


def measured(design: str, number: int) -> list[dict[str, object]]:
    """Return shares by correction: false ones of those kept, true ones found, and false ones with p at most 0.05."""
    n, is_known, degrees = DESIGNS[design]
    rng = derive_rng("dcrt", design, number)
    X = rng.standard_normal((n, N_FEATURES)) @ np.linalg.cholesky(CORRELATIONS).T
    if degrees:
        X /= np.sqrt(rng.chisquare(degrees, size=(n, 1)) / degrees)
    is_true = np.zeros(N_FEATURES, dtype=bool)
    is_true[rng.permutation(N_FEATURES)[:N_SIGNALS]] = True
    y = X[:, is_true] @ rng.choice([-EFFECT, EFFECT], N_SIGNALS) + rng.standard_normal(n)
    columns = X - X.mean(axis=0) if is_known else standardised(X.T).T * np.sqrt(n)
    known = CORRELATIONS if is_known else None
    outcome = (y - y.mean())[:, np.newaxis]
    _, p, log_p = dcrt_p_values(columns, np.arange(N_FEATURES), outcome, N_FEATURES, known)
    found = []
    for correction in (BH, BY):
        kept = rejected(log_p, ALPHA, correction)
        shares = {"false": (kept & ~is_true).sum() / max(kept.sum(), 1), "power": kept[is_true].mean()}
        found.append({"design": design, "correction": correction, **shares, "level": (p[~is_true] <= 0.05).mean()})
    return found


def table(results: pd.DataFrame) -> str:
    """Return the rates as a table in Markdown."""
    lines = [
        "| design | correction | false discovery rate | 95 % interval | power | false features with p at most 0.05 | "
        "95 % interval | tables |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (design, correction), part in results.groupby(["design", "correction"], sort=False):
        rates = f"{part['false'].mean():.3f} | {page.interval(part['false'], 3)}"
        level = f"{part['level'].mean():.3f} | {page.interval(part['level'], 3)}"
        lines.append(f"| {design} | {correction} | {rates} | {part['power'].mean():.2f} | {level} | {len(part)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=60, help="tables of each design")
    arguments = parser.parse_args()
    start = time.process_time()
    with threadpool_limits(1):
        rows = [row for design in DESIGNS for number in range(arguments.tables) for row in measured(design, number)]
    page.write("dcrt", table(pd.DataFrame(rows)))
    print(f"{time.process_time() - start:.0f} CPU s")


if __name__ == "__main__":
    main()
