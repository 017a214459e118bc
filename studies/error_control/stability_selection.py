"""How many features of low selection probability stability selection keeps, beside its bound, in README.md.

`make error-control` runs it; the same tables are drawn each time.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.core.seeds import derive_rng, derive_seed
from studies.error_control import page

N_TABLES, N_ROWS, N_FEATURES, N_SELECTED, EFFECT = 20, 200, 100, 10, 0.4
RANKINGS, THRESHOLDS = ("lasso", "relief"), (0.6, 0.75, 0.9)
DESIGNS = {"nothing matters": 0, "ten matter": 10}


def shares(ranking: str, n_signals: int, number: int) -> np.ndarray:
    """Return the share of the halves that select each feature of one table; the first features matter."""
    rng = derive_rng("stability-selection", n_signals, number)
    X = rng.standard_normal((N_ROWS, N_FEATURES))
    y = EFFECT * X[:, :n_signals].sum(axis=1) + rng.standard_normal(N_ROWS)
    seed = derive_seed(ranking, n_signals, number) % 2**32
    fitted = bf.StabilitySelection(ranking=ranking, n_features=N_SELECTED, random_state=seed).fit(X, y)
    grown = fitted.trace_.query("stage == 'grow'").set_index("feature")["importance"]
    return grown.reindex([f"x{j}" for j in range(N_FEATURES)]).fillna(0.0).to_numpy()


def table() -> str:
    """Return what was kept as a table in Markdown."""
    lines = [
        "| design | ranking | threshold | bound | kept | 95 % interval | power | tables |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for design, n_signals in DESIGNS.items():
        for ranking in RANKINGS:
            found = np.array([shares(ranking, n_signals, number) for number in range(N_TABLES)])
            for threshold in THRESHOLDS:
                is_kept = found >= threshold - 1e-9
                kept = is_kept[:, n_signals:].sum(axis=1)
                bound = N_SELECTED**2 / ((2 * threshold - 1) * N_FEATURES)
                power = f"{is_kept[:, :n_signals].mean():.2f}" if n_signals else ""
                interval = page.interval(kept, 2)
                known = (design, ranking, f"{threshold:g}", f"{bound:.2f}", f"{kept.mean():.2f}", interval, power)
                lines.append(f"| {' | '.join(known)} | {N_TABLES} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write the page."""
    with threadpool_limits(1):
        measured = table()
    page.write("stability", measured)


if __name__ == "__main__":
    main()
