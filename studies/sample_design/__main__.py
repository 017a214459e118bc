"""False positives of CI tests on clustered rows and on rows with sampling weights: the tables of README.md.

`python -m studies.sample_design` takes about ten minutes of CPU time, and `--samples 200` less than one. Every
sample has a seed of its own, so that the tables do not depend on order.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

import blanketflow as bf
from blanketflow.ci.base import CITest
from blanketflow.ci.linear.fisher_z import FisherZByClusters
from blanketflow.core.cards import BOOLEAN, CATEGORICAL, COUNT, NUMERIC, ORDERED, POSITIVE, SHARE, SURVIVAL
from blanketflow.core.seeds import derive_rng
from blanketflow.core.table import Column, Design, Table
from blanketflow.targets import get_target_kind
from studies.shared.page import ROOT, write

ALPHA, PAGE = 0.05, ROOT / "studies" / "sample_design" / "README.md"
CLUSTERS, CORRELATIONS = (20, 40, 100), (0.1, 0.5)
#: Rows of a cluster are between these, 5 on average.
LEAST_ROWS, MOST_ROWS = 2, 8
#: Share of the samples that a slow test is made on.
SLOW = 0.5


def clustered(rng: np.random.Generator, clusters: np.ndarray, icc: float) -> np.ndarray:
    """Return normal numbers of variance 1 whose intraclass correlation is `icc`."""
    shared = rng.normal(size=clusters.max() + 1)[clusters]
    return np.sqrt(icc) * shared + np.sqrt(1 - icc) * rng.normal(size=len(clusters))


def numbers(rng: np.random.Generator, clusters: np.ndarray, icc: float, n_given: int) -> list[np.ndarray]:
    """Return x and y that are independent given the other columns, all of them clustered."""
    given = [clustered(rng, clusters, icc) for _ in range(n_given)]
    return [*(clustered(rng, clusters, icc) + 0.5 * sum(given) for _ in range(2)), *given]


def labels(values: np.ndarray, n_levels: int) -> Column:
    """Return numbers as a column of labels, cut into about equal shares."""
    codes = np.searchsorted(np.quantile(values, np.arange(1, n_levels) / n_levels), values)
    return Column("", CATEGORICAL, codes.astype(np.int32), tuple("abc"[:n_levels]))


def as_sample(columns: list[np.ndarray | Column]) -> Table:
    """Return the table of some columns, which are called by their places."""
    made = (one if isinstance(one, Column) else Column("", NUMERIC, one) for one in columns)
    return Table([replace(column, name=str(at)) for at, column in enumerate(made)])


def of_numbers(rng: np.random.Generator, clusters: np.ndarray, icc: float, n_given: int) -> Table:
    """Return numbers."""
    return as_sample(numbers(rng, clusters, icc, n_given))


def of_labels(rng: np.random.Generator, clusters: np.ndarray, icc: float, n_given: int) -> Table:
    """Return labels; the given ones are cut before they have an effect, so that the others depend on no more."""
    x, y = numbers(rng, clusters, icc, 0)
    given = [np.sign(clustered(rng, clusters, icc)) for _ in range(n_given)]
    own = [labels(values + 0.5 * sum(given), 3) for values in (x, y)]
    return as_sample([*own, *map(signs, given)])


def signs(values: np.ndarray) -> Column:
    """Return the signs of numbers as labels."""
    return Column("", CATEGORICAL, (values > 0).astype(np.int32), ("a", "b"))


def of_label_and_numbers(rng: np.random.Generator, clusters: np.ndarray, icc: float, n_given: int) -> Table:
    """Return a label and a number that are independent given numbers."""
    x, *others = numbers(rng, clusters, icc, n_given)
    return as_sample([labels(x, 3), *others])


#: A test, its options, the samples it is made on, and the share of the samples.
TESTS: tuple[tuple[str, dict[str, Any], Callable[..., Any], float], ...] = (
    ("fisher-z", {}, of_numbers, 1.0),
    ("g2", {}, of_labels, 1.0),
    ("chi2", {}, of_labels, 1.0),
    ("lr-mixed", {"directions": "linear"}, of_label_and_numbers, 1.0),
    ("lr-mixed", {}, of_labels, SLOW),
)


def upper(rejected: int, n: int) -> float:
    """Return the upper end of the exact 95 % interval of a rate."""
    return float(stats.beta.ppf(0.975, rejected + 1, n - rejected)) if rejected < n else 1.0


def rate(found: Iterable[float]) -> str:
    """Return a rate of rejections, with the upper end of its interval."""
    p_values = np.fromiter(found, dtype=float)
    rejected = int(np.sum(p_values < ALPHA))
    return f"{rejected / len(p_values):.3f} ({upper(rejected, len(p_values)):.3f})"


def both_ways(
    test: CITest, sample: Table, design: Design, given: Iterable[int], found: dict[bool, list[float]]
) -> None:
    """Add the p-values of the first two columns with the design, and without it."""
    for knows, p_values in found.items():
        bound = test.bind(sample.with_design(design if knows else None))
        p_values.append(bound.test(0, 1, given=given).p_value)


def as_markdown(head: list[str], rows: list[list[Any]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def of_clusters(n_samples: int) -> str:
    """Return the table of false positives on clustered rows."""
    rows = []
    for (test, options, draw, share), n_given in itertools.product(TESTS, (0, 2)):
        configured, given = bf.get_ci_test(test, **options), range(2, 2 + n_given)
        for n_clusters, icc in itertools.product(CLUSTERS, CORRELATIONS):
            found: dict[bool, list[float]] = {True: [], False: []}
            for at in range(round(n_samples * share)):
                rng = derive_rng(at, "clusters", test, n_given, n_clusters, round(100 * icc))
                clusters = np.repeat(np.arange(n_clusters), rng.integers(LEAST_ROWS, MOST_ROWS + 1, n_clusters))
                both_ways(configured, draw(rng, clusters, icc, n_given), Design(clusters=clusters), given, found)
            name = f"{test}, labels" if test == "lr-mixed" and not options else test
            rows.append([name, n_given, n_clusters, icc, *map(rate, found.values())])
    head = ["test", "given", "groups", "intraclass correlation", "with groups", "as independent rows"]
    return as_markdown(head, rows)


#: Standard deviation of what rows of a cluster share, by kind of target, for an intraclass correlation of 0.5: of the
#: logarithm of times and positive numbers, of counts, and on the logit scale of classes and shares.
SHARED = {SURVIVAL: math.pi / 6**0.5, COUNT: 0.55, ORDERED: math.pi / 3**0.5, SHARE: 1.0, POSITIVE: math.pi / 6**0.5}


def of_kind(kind: str, rng: np.random.Generator, clusters: np.ndarray, n_given: int) -> Table:
    """Return a number and a target of a further kind that are independent given numbers; these do not vary in clusters.

    Rows of a cluster have a random effect in common: of times, a log-normal frailty.
    """
    given = [clustered(rng, clusters, 1.0) for _ in range(n_given)]
    x = clustered(rng, clusters, 1.0) + 0.5 * sum(given)
    score, n = 0.5 * sum(given) + SHARED[kind] * clustered(rng, clusters, 1.0), len(clusters)
    parts = {}
    if kind == SURVIVAL:
        died, left = rng.exponential(np.exp(-score)), rng.exponential(2.0, n)
        y, parts["event"] = np.minimum(died, left), Column("", BOOLEAN, died <= left)
    elif kind == COUNT:
        y = rng.poisson(np.exp(1 + score))
    elif kind == ORDERED:
        y = np.searchsorted([-1.5, 0.0, 1.5], score + rng.logistic(size=n))
    elif kind == SHARE:
        y = 1 / (1 + np.exp(-score - rng.normal(size=n)))
    else:
        y = rng.exponential(np.exp(score))
    return as_sample([x, get_target_kind(kind).column("", Column("", NUMERIC, y), parts), *given])


def of_kinds(n_samples: int) -> str:
    """Return the table of false positives of targets of further kinds."""
    rows = []
    for kind, n_given, n_clusters in itertools.product(SHARED, (0, 1), CLUSTERS):
        found: dict[bool, list[float]] = {True: [], False: []}
        for at in range(round(n_samples * SLOW)):
            rng = derive_rng(at, "kinds", kind, n_given, n_clusters)
            clusters = np.repeat(np.arange(n_clusters), rng.integers(LEAST_ROWS, MOST_ROWS + 1, n_clusters))
            sample, given = of_kind(kind, rng, clusters, n_given), range(2, 2 + n_given)
            both_ways(bf.get_ci_test("lr-mixed"), sample, Design(clusters=clusters), given, found)
        rows.append([kind, n_given, n_clusters, *map(rate, found.values())])
    return as_markdown(["target", "given", "groups", "with groups", "as independent rows"], rows)


def informative_sample(
    rng: np.random.Generator, n_rows: int, slope: float, effect: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y of rows that were drawn the likelier, the larger x + y is, and their weights."""
    population = rng.normal(size=(30 * n_rows, 2))
    population[:, 1] += effect * population[:, 0]
    chance = 1 / (1 + np.exp(-slope * population.sum(axis=1)))
    chance *= n_rows / chance.sum()
    drawn = rng.random(len(population)) < chance
    return population[drawn].T, 1 / chance[drawn]


def of_weights(n_samples: int) -> str:
    """Return the table of false positives on rows with sampling weights."""
    rows = []
    tests = ("fisher-z", {}, 0), ("g2", {}, 2), ("lr-mixed", {"directions": "linear"}, 1)
    for (test, options, n_labels), slope, n_rows in itertools.product(tests, (0.5, 1.0), (200, 1000)):
        found: dict[bool, list[float]] = {True: [], False: []}
        for at in range(n_samples // 2):
            pair, weights = informative_sample(derive_rng(at, "weights", test, n_rows), n_rows, slope)
            sample = as_sample([labels(one, 3) if i < n_labels else one for i, one in enumerate(pair)])
            both_ways(bf.get_ci_test(test, **options), sample, Design(weights), (), found)
        rows.append([test, slope, f"{n_rows:,}", *map(rate, found.values())])
    return as_markdown(["test", "slope", "rows", "with weights", "without"], rows)


#: Rows and weights: drawn by what is tested (slope 1), or with nothing to do with it, of this spread of the logarithm.
WEIGHTED = (("slope 1", 200), ("slope 1", 1000), (0.5, 100), (1.0, 100))


def of_own_weights(n_samples: int) -> str:
    """Return the table of `fisher-z` by weights without what the columns tell of them, beside weights as they are."""
    rows = []
    for (kind, n_rows), effect in itertools.product(WEIGHTED, (0.0, 0.3)):
        found: tuple[list[float], list[float]] = [], []
        for at in range(n_samples // 2):
            rng = derive_rng(at, "own weights", str(kind), n_rows)
            if kind == "slope 1":
                (x, y), weights = informative_sample(rng, n_rows, 1.0, effect)
            else:
                x, y = rng.normal(size=(2, n_rows))
                y, weights = y + effect * x, np.exp(kind * rng.normal(size=n_rows))
            design = Design(weights)
            sample = as_sample([x, y]).with_design(design)
            found[0].append(bf.get_ci_test("fisher-z").bind(sample).test(0, 1).p_value)
            found[1].append(float(FisherZByClusters(sample, design).evaluate([0], 1, ()).p_value[0]))
        name = kind if kind == "slope 1" else f"log-normal, {kind}"
        rows.append([name, f"{n_rows:,}", effect or "none", *map(rate, found)])
    return as_markdown(["weights", "rows", "relation", "as tested", "by weights as they are"], rows)


def of_power(n_samples: int) -> str:
    """Return the table of true positives where rows are independent, so that knowing groups only costs."""
    rows = []
    for n_clusters in CLUSTERS:
        found: dict[bool, list[float]] = {True: [], False: []}
        for at in range(n_samples // 2):
            rng, clusters = derive_rng(at, "power", n_clusters), np.repeat(np.arange(n_clusters), 5)
            x, y = numbers(rng, clusters, 0.0, 0)
            sample = as_sample([x, y + 2.5 / np.sqrt(len(x)) * x])
            both_ways(bf.get_ci_test("fisher-z"), sample, Design(clusters=clusters), (), found)
        rows.append([n_clusters, *(f"{np.mean(np.array(values) < ALPHA):.2f}" for values in found.values())])
    return as_markdown(["groups", "with groups", "as independent rows"], rows)


#: The tables by their marks on the page.
TABLES = {
    "clusters": of_clusters,
    "kinds": of_kinds,
    "weights": of_weights,
    "own weights": of_own_weights,
    "power": of_power,
}


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=4000)
    parser.add_argument("--only", choices=tuple(TABLES))
    parser.add_argument("--dry", action="store_true", help="print the tables only")
    asked = parser.parse_args()
    for mark, table in TABLES.items():
        if asked.only in (None, mark):
            found = table(asked.samples)
            print(found)
            if not asked.dry:
                write(PAGE, {mark: found})


if __name__ == "__main__":
    main()
