"""How often tests that permute reject a true null where rows form clusters: `python -m studies.clusters`.

Renews the tables of README.md. Numeric X and Y have a part that the eight rows of a
cluster share, with the given intraclass correlation. In the first table the parts are independent; in the second they
are the same, as where a site shifts all that it measures: X and Y are then independent within clusters only.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import beta

from blanketflow.ci import get_ci_test
from blanketflow.core.convert import as_table
from blanketflow.core.table import Design
from studies.shared.page import ROOT, row, write

SIZE, ALPHA = 8, 0.05
PERMUTE = ("rows", "clusters", "within-clusters")
#: Options of each test, and the number of tables that are drawn.
TESTS = {
    "mi-permutation": ({"n_permutations": 200}, 4000),
    "ppi": ({"significance": "corrected-t", "n_repeats": 10}, 1000),
    "cpi": ({"model": "ridge"}, 1500),
}


def rate(test: str, permute: str, n_clusters: int, icc: float, is_confounded: bool) -> str:
    """Return the share of true nulls that a test rejects, and its upper 95 % bound."""
    options, n_draws = TESTS[test]
    n_draws //= 4 if is_confounded else 1  # the rates there differ by more
    rng = np.random.default_rng([n_clusters, int(100 * icc), is_confounded])
    clusters = np.repeat(np.arange(n_clusters), SIZE)
    rejected = 0
    for seed in range(n_draws):
        shared = rng.normal(size=(n_clusters, 2))
        if is_confounded:
            shared[:] = shared[:, :1]
        cells = np.sqrt(icc) * shared[clusters] + np.sqrt(1 - icc) * rng.normal(size=(len(clusters), 2))
        table = as_table(cells).with_design(Design(clusters=clusters))
        bound = get_ci_test(test, permute=permute, **options).bind(table, seed=seed)
        rejected += bound.test(0, 1).p_value <= ALPHA
    upper = beta.ppf(0.95, rejected + 1, n_draws - rejected) if rejected < n_draws else 1.0
    return f"{rejected / n_draws:.3f} ({upper:.3f})"


def rates(cases: list[tuple[int, float]], is_confounded: bool) -> str:
    """Return a table of the rates with each number of clusters and intraclass correlation."""
    lines = [row("test", "`permute`", *(f"{n} groups, {icc}" for n, icc in cases)), row(*["---"] * (2 + len(cases)))]
    for test in TESTS:
        for permute in PERMUTE:
            lines.append(row(test, permute, *(rate(test, permute, *case, is_confounded) for case in cases)))
            print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Measure, and write the page."""
    found = {
        "independent": rates([(20, 0.5), (40, 0.1), (40, 0.5)], is_confounded=False),
        "the same": rates([(40, 0.5)], is_confounded=True),
    }
    write(ROOT / "studies" / "clusters" / "README.md", found)


if __name__ == "__main__":
    main()
