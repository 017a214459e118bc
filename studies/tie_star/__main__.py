"""How often TIE* finds all Markov boundaries on samples: `python -m studies.tie_star`.

Writes the table of README.md; a minute on one core. `--quick` prints that of 20 samples each.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import blanketflow as bf
from blanketflow.core.seeds import derive_seed
from blanketflow.data.simulate.network import DiscreteNetwork, DiscreteNode, node
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors.causal.tie_star import TIEStar

PAGE = Path(__file__).parents[2] / "studies" / "tie_star" / "README.md"
TARGET, N_SAMPLES = "t", 200
ROWS, ALPHAS = (200, 1000, 5000), (0.05, 0.01)

COIN, COPY = [0.5, 0.5], [[1, 0], [0, 1]]
#: Which of the four combinations of two parents it is.
BOTH = [[[1, 0, 0, 0], [0, 1, 0, 0]], [[0, 0, 1, 0], [0, 0, 0, 1]]]
#: The target given two parents of two levels each.
OF_TWO = [[[0.95, 0.05], [0.7, 0.3]], [[0.4, 0.6], [0.1, 0.9]]]


def coin() -> DiscreteNode:
    """Return a node of two equally likely levels."""
    return node("01", table=COIN)


def copy(other: str) -> DiscreteNode:
    """Return a node that equals another."""
    return node("01", [other], table=COPY)


def network(**nodes: DiscreteNode) -> DiscreteNetwork:
    """Return a network of these nodes and two that tell nothing."""
    return DiscreteNetwork("tie-star", {**nodes, "noise1": coin(), "noise2": coin()})


PARENTS = {"a": coin(), "b": coin(), TARGET: node("01", ["a", "b"], table=OF_TWO)}
CHILD = node("01", [TARGET, "s"], table=[[[0.95, 0.05], [0.5, 0.5]], [[0.3, 0.7], [0.05, 0.95]]])
#: Networks by what is duplicated in them, each with its Markov boundaries.
NETWORKS: dict[str, tuple[DiscreteNetwork, list[str]]] = {
    "nothing": (network(**PARENTS, s=coin(), child=CHILD), ["a b s child"]),
    "a parent": (network(**PARENTS, a2=copy("a")), ["a b", "a2 b"]),
    "both parents": (network(**PARENTS, a2=copy("a"), b2=copy("b")), ["a b", "a2 b", "a b2", "a2 b2"]),
    "a spouse": (
        network(**{TARGET: coin()}, s=coin(), s2=copy("s"), child=CHILD),
        ["s child", "s2 child"],
    ),
    "two parents, jointly, by one feature": (
        network(**PARENTS, pair=node("0123", ["a", "b"], table=BOTH)),
        ["a b", "pair"],
    ),
    # The target depends on whether both are 1, which is also whether `other` is 2 or 3; which of these it is, and of
    # 0 and 1, is chance: neither side tells all of the other, but both tell the same of the target.
    "two parents, as for the target, by one feature": (
        network(
            a=node("01", table=[0.3, 0.7]),
            b=node("01", table=[0.3, 0.7]),
            other=node("0123", ["a", "b"], table=[[[0.5, 0.5, 0, 0]] * 2, [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]]),
            **{TARGET: node("01", ["a", "b"], table=[[[0.85, 0.15]] * 2, [[0.85, 0.15], [0.1, 0.9]]])},
        ),
        ["a b", "other"],
    ),
}  # fmt: skip


def boundaries_found(wanted: DiscreteNetwork, rows: int, alpha: float, seed: int) -> set[frozenset[str]]:
    """Return what TIE* with G2 finds on one sample."""
    table = wanted.sample(rows, seed)
    features = table.select([name for name in table.names if name != TARGET])
    outcome = run_fold(TIEStar(alpha=alpha), bf.get_ci_test("g2"), features, table[TARGET], seed)
    return {frozenset(answer.features) for answer in outcome.answers}


def rates(what: str, rows: int, alpha: float, n_samples: int) -> tuple[float, float]:
    """Return in which share of samples all Markov boundaries are found, and in which exactly they are."""
    wanted, names = NETWORKS[what]
    true = {frozenset(boundary.split()) for boundary in names}
    seeds = [derive_seed("tie-star study", what, rows, i) for i in range(n_samples)]
    found = [boundaries_found(wanted, rows, alpha, seed) for seed in seeds]
    return sum(true <= one for one in found) / n_samples, sum(true == one for one in found) / n_samples


def table(n_samples: int) -> str:
    """Return the table of the page."""
    headers = ["duplicated", "boundaries", *(f"{rows:,} rows, alpha {alpha:g}" for rows in ROWS for alpha in ALPHAS)]
    lines = [headers, ["---"] * len(headers)]
    for what, (_, names) in NETWORKS.items():
        cells = [rates(what, rows, alpha, n_samples) for rows in ROWS for alpha in ALPHAS]
        lines.append([what, str(len(names)), *(f"{found:.1%}, {exact:.1%}" for found, exact in cells)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="20 samples each; the page stays as it is")
    quick = parser.parse_args(arguments).quick
    written = table(20 if quick else N_SAMPLES)
    print(written)
    if quick:
        return
    head, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- table -->\n")
    _, mark, tail = rest.partition("<!-- end of table -->")
    PAGE.write_text(f"{head}<!-- table -->\n{written}\n{mark}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
