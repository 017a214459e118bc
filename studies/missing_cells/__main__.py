"""How often a CI test is wrong, and right, with what is done about missing cells: the tables of README.md.

`python -m studies.missing_cells` writes them; `--samples 20` is quick and prints only.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.ci.missing import with_incomplete
from blanketflow.core.seeds import derive_rng, derive_seed
from blanketflow.core.table import Column, Design, Table
from blanketflow.data.impute import impute
from studies.shared.page import write

PAGE = Path(__file__).parents[2] / "studies" / "missing_cells" / "README.md"
SAMPLES, ROWS, ALPHA, EFFECT = 200, 300, 0.05, 0.25
#: The test of each design.
TESTS = {"numbers": "fisher-z", "levels": "g2", "mixed": "lr-mixed"}
MECHANISMS = ("completely at random", "at random")
WAYS = ("impute", "drop", "pairwise", "imputations: 5")


def columns_of(design: str, effect: float, rng: np.random.Generator) -> list[np.ndarray]:
    """Return X, Z, W and T: X and T depend on Z, T on X by the effect, and W on X."""
    if design == "levels":
        z = rng.integers(0, 3, ROWS)
        x = _levels(1.2 * (z - 1), rng)
        return [x, z, _levels(x - 1.0, rng), _levels(1.2 * (z - 1) + 2 * effect * (x - 1), rng)]
    z = rng.normal(size=ROWS)
    x = z + rng.normal(size=ROWS)
    if design == "mixed":
        return [x, z, _levels(x, rng), (z + 2 * effect * x + rng.logistic(size=ROWS) > 0).astype(int)]
    return [x, z, x + rng.normal(size=ROWS), z + effect * x + rng.normal(size=ROWS)]


def _levels(score: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    shares = np.exp(score[:, np.newaxis] * np.array([-1.0, 0.0, 1.0]))
    shares /= shares.sum(axis=1, keepdims=True)
    return (rng.random(ROWS)[:, np.newaxis] > shares.cumsum(axis=1)).sum(axis=1)


def table_of(columns: list[np.ndarray], mechanism: str, rng: np.random.Generator) -> Table:
    """Return a table with missing cells, of W in 20 % of the rows, and of Z in about 35 %.

    Completely at random: and of X in 20 %. At random: those of Z are where X and T, which are complete, are large.
    """
    x, _, _, t = columns
    missing = {"w": rng.random(ROWS) < 0.2}
    if mechanism == "at random":
        sum_of = sum((v - v.mean()) / v.std() for v in (x, t))
        missing["z"] = rng.random(ROWS) < 1 / (1 + np.exp(1.3 - 1.5 * sum_of))
    else:
        missing |= {"x": rng.random(ROWS) < 0.2, "z": rng.random(ROWS) < 0.35}
    return Table([_column(n, v, missing.get(n)) for n, v in zip("xzwt", columns, strict=True)])


def _column(name: str, values: np.ndarray, missing: np.ndarray | None) -> Column:
    labels = tuple("abc"[: int(values.max()) + 1]) if values.dtype.kind == "i" else ()
    gap = -1 if labels else np.nan
    held = values.astype(np.int32 if labels else float)
    kind = "categorical" if labels else "numeric"
    return Column(name, kind, held if missing is None else np.where(missing, gap, held).astype(held.dtype), labels)


def p_values(test: str, table: Table, seed: int) -> list[float]:
    """Return the p-value of X and T given Z in each way."""
    plain = bf.get_ci_test(test)
    complete = np.flatnonzero(~np.any([column.missing() for column in table.columns], axis=0))
    bound = (
        plain.bind(impute(table, table)),
        plain.bind(table.take(complete)),
        with_incomplete(plain, "pairwise").bind(table),
        with_incomplete(plain, 5).bind(table, seed=seed, target="t"),
    )
    return [one.test("x", "t", given=["z"]).p_value for one in bound]


def rates(effect: float, samples: int) -> str:
    """Return a table of the shares of samples in which independence is rejected."""
    lines = [f"| test | cells are missing | {' | '.join(f'`{way}`' for way in WAYS)} |", "| --- | --- |" + " --- |" * 4]
    for design, test in TESTS.items():
        for mechanism in MECHANISMS:
            found = np.zeros(len(WAYS))
            for number in range(samples):
                identity = ("missing cells", design, mechanism, f"{effect:g}", number)
                rng = derive_rng(*identity)
                table = table_of(columns_of(design, effect, rng), mechanism, rng)
                found += np.array(p_values(test, table, derive_seed(*identity, "copies"))) <= ALPHA
            shares = " | ".join(f"{share:.0%}".replace("%", " %") for share in found / samples)
            lines.append(f"| `{test}` | {mechanism} | {shares} |")
    return "\n".join(lines)


def designed(test: str, design: str, rng: np.random.Generator) -> tuple[list[np.ndarray], Design]:
    """Return X, Z, W and T of clustered rows, or of rows that were drawn the likelier, the larger X + T is.

    X and T are independent given Z. In clusters of five rows all have an intraclass correlation of 0.3.
    """
    n = ROWS if design == "groups" else 20 * ROWS
    clusters = np.arange(n) // 5
    of_groups = np.sqrt(0.3) if design == "groups" else 0.0

    def normal() -> np.ndarray:
        return of_groups * rng.normal(size=n)[clusters] + np.sqrt(1 - of_groups**2) * rng.normal(size=n)

    z = normal() if test != "g2" else (normal() > 0).astype(int)
    x, t = (0.7 * z + normal() for _ in range(2))
    w, known, rows = x + normal(), Design(clusters=clusters), np.arange(n)
    if design == "sampling weights":
        chance = 1 / (1 + np.exp(-0.5 * (x + t)))
        rows = rng.choice(n, ROWS, replace=False, p=chance / chance.sum())
        known = Design(weights=1 / chance[rows])
    cut = {"fisher-z": (), "g2": (0, 2, 3), "lr-mixed": (3,)}[test]
    return [(_cut(v) if at in cut else v)[rows] for at, v in enumerate((x, z, w, t))], known


def _cut(values: np.ndarray) -> np.ndarray:
    return (values > np.median(values)).astype(int)


def rates_of_designs(samples: int) -> str:
    """Return a table of the shares of samples in which a true independence is rejected, where rows have a design."""
    head = ["rows have", "test", "cells are missing", "`pairwise`", "`imputations: 5`"]
    lines = [f"| {' | '.join(head)} |", "| --- | --- | --- | --- | --- |"]
    for design, test, mechanism in itertools.product(("groups", "sampling weights"), TESTS.values(), MECHANISMS):
        found = np.zeros(2)
        for number in range(samples):
            identity = ("missing cells", design, test, mechanism, number)
            rng = derive_rng(*identity)
            columns, known = designed(test, design, rng)
            table, seed = table_of(columns, mechanism, rng).with_design(known), derive_seed(*identity, "copies")
            ways = (with_incomplete(bf.get_ci_test(test), rule) for rule in ("pairwise", 5))
            bound = (way.bind(table, seed=seed, target="t") for way in ways)
            found += [one.test("x", "t", given=["z"]).p_value <= ALPHA for one in bound]
        shares = " | ".join(f"{share:.0%}".replace("%", " %") for share in found / samples)
        lines.append(f"| {design} | `{test}` | {mechanism} | {shares} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Count, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples of each cell of the tables")
    parser.add_argument("--designs", action="store_true", help="only the table of rows with a design")
    samples = parser.parse_args().samples
    with threadpool_limits(1):
        found = {"designs": rates_of_designs(samples)}
        if not parser.parse_args().designs:
            found |= {"false positives": rates(0.0, samples), "power": rates(EFFECT, samples)}
    print(*found.values(), sep="\n\n")
    if samples == SAMPLES:
        write(PAGE, found)


if __name__ == "__main__":
    main()
