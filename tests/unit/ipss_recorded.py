"""Record what the package ipss makes of known selections: `pip install ipss`, then run this file.

The package takes no seed, so that only its results for given selections can be compared. They are those of
`selections` below, and are kept in ipss_recorded.json.
"""

import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
#: Seed, features, relevant features, pairs, strengths, power, delta and cutoff.
CASES = [
    (0, 20, 4, 10, 25, 2, 1.0, 0.05),
    (1, 20, 4, 10, 25, 1, 1.0, 0.05),
    (2, 50, 6, 25, 100, 3, 1.0, 0.05),
    (3, 50, 6, 25, 100, 3, 1.25, 0.05),
    (4, 30, 10, 15, 25, 2, 0.0, 0.05),
    (5, 30, 10, 15, 25, 2, 0.5, 1e9),
    (6, 12, 0, 5, 40, 3, 1.0, 0.05),
    (7, 200, 20, 50, 25, 2, 1.0, 0.5),
]


def selections(seed, d, n_relevant, n_pairs, n_strengths):
    """Return which features each half selects at each strength, (pairs, strengths, 2, d), and the strengths."""
    rng = np.random.default_rng(seed)
    appeal = rng.exponential(0.05, (n_pairs, 2, d))
    appeal[:, :, :n_relevant] += rng.uniform(0.1, 1.0, n_relevant)
    strengths = np.geomspace(1.5, 1.5e-3, n_strengths)
    return (appeal[:, np.newaxis] > strengths[:, np.newaxis, np.newaxis]).astype(int), strengths


def main():
    """Record the expected numbers of false features and the q-values."""
    from ipss.processing import postprocess_ipss

    recorded = []
    for seed, d, n_relevant, n_pairs, n_strengths, power, delta, cutoff in CASES:
        chosen, strengths = selections(seed, d, n_relevant, n_pairs, n_strengths)
        found = postprocess_ipss(
            chosen, strengths, n_strengths, d, d, np.arange(d), n_pairs, cutoff, delta, f"h{power}", None, None
        )
        recorded.append({what: [float(found[what][j]) for j in range(d)] for what in ("efp_scores", "q_values")})
    (HERE / "ipss_recorded.json").write_text(json.dumps(recorded) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
