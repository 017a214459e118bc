"""How often `ppi` and `cpi` reject a group of four columns, tested as one and by Bonferroni's correction.

`python -m studies.feature_groups` renews the table of README.md, in about six minutes of CPU time.
The target, a number, has to do with none of the columns, with one, a little with each, or with the product of two.
Another column is given, or nothing; it shifts all columns of the group, and the target.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binomtest

from blanketflow.ci import get_ci_test
from blanketflow.ci.feature_groups import smallest_of
from blanketflow.core.convert import as_table
from studies.shared.page import ROOT, row, write

N_ROWS, ALPHA = 100, 0.05
GROUP = (0, 1, 2, 3)
#: Of each test: its options in words, and its options.
TESTS = {
    "ppi": ("`corrected-t`, 10 repeats", {"significance": "corrected-t", "n_repeats": 10}),
    "cpi": ("`model: ridge`", {"model": "ridge"}),
}
#: What the group adds to the target, and how many samples are drawn.
EFFECTS = {
    "none": (lambda X: 0.0, 1000),
    "one column": (lambda X: 0.5 * X[:, 0], 300),
    "a little of each": (lambda X: 0.25 * X.sum(axis=1), 300),
    "a product": (lambda X: X[:, 0] * X[:, 1], 300),
}


def rates(test: str, effect: str, is_given: bool) -> tuple[str, str]:
    """Return the shares of samples in which the group is rejected, as one and by Bonferroni, with 95 % intervals."""
    add, n_draws = EFFECTS[effect]
    rng = np.random.default_rng([len(effect), is_given])
    rejected = np.zeros(2, dtype=int)
    for seed in range(n_draws):
        z, X = rng.normal(size=N_ROWS), rng.normal(size=(N_ROWS, len(GROUP)))
        y = add(X) + rng.normal(size=N_ROWS) + is_given * z
        table = as_table(np.column_stack([X + is_given * z[:, np.newaxis], z, y]))
        bound, given = get_ci_test(test, **TESTS[test][1]).bind(table, seed=seed), [4] * is_given
        together, alone = bound.test(GROUP, 5, given), smallest_of(bound.test_many(GROUP, 5, given))
        rejected += [together.p_value <= ALPHA, alone.p_value <= ALPHA]
    intervals = [binomtest(int(k), n_draws).proportion_ci() for k in rejected]
    one, other = (f"{k / n_draws:.3f} ({i.low:.3f}-{i.high:.3f})" for k, i in zip(rejected, intervals, strict=True))
    return one, other


def main() -> None:
    """Measure, and write the page."""
    lines = [row("test", "given", "the target has to do with", "as one", "Bonferroni"), row(*["---"] * 5)]
    for test, (options, _) in TESTS.items():
        for is_given in (False, True):
            for effect in EFFECTS:
                given = "a column" if is_given else "nothing"
                lines.append(row(f"{test}, {options}", given, effect, *rates(test, effect, is_given)))
                print(lines[-1], flush=True)
    write(ROOT / "studies" / "feature_groups" / "README.md", {"as one": "\n".join(lines)})


if __name__ == "__main__":
    main()
