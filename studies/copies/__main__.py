"""Whether searches keep one of the columns that say the same: `python -m studies.copies`, half an hour on one core.

Tables of two or ten columns that say the same, or of three of which any two give the third: of 400 samples, on how many
is all of it lost, with every causal method beside IAMB on the same samples. Writes copies.parquet,
one row per kind, rows and method, and the table of README.md; `--page` writes the page only.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from blanketflow.ci import get_ci_test
from blanketflow.core.convert import as_table
from blanketflow.core.registry import discover
from blanketflow.core.seeds import derive_rng
from blanketflow.search.run_fold import run_problem
from blanketflow.selectors.base import Problem
from studies.shared.page import row, write

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "studies" / "copies" / "README.md"
RAW = ROOT / "studies" / "copies" / "copies.parquet"
ROWS, SAMPLES = (100, 300, 1_000, 5_000), 400
#: Causal methods that test at a level. IAMB, which loses nothing, is what the others are compared with.
METHODS = (
    *("iamb", "gs", "inter-iamb", "fast-iamb", "iamb-npc", "inter-iamb-npc"),
    *("hiton-pc", "mmpc", "si-hiton-pc", "pc-simple", "hiton-mb", "mmmb", "pcmb", "ipc-mb", "stmb"),
)
CORRELATIONS = (1.0, 0.9996, 0.995, 0.98, 0.95, 0.9)


def numbers(rng: np.random.Generator, n: int, correlation: float, size: int) -> tuple[dict[str, np.ndarray], int]:
    """Return columns of which the first `size` say the same, and how many of them are enough."""
    a, b, noise, e = rng.normal(size=(4, n))
    near = rng.normal(size=(size - 1, n)) * np.sqrt(1 - correlation**2) + correlation * a
    copies = {f"near{i}": 1.8 * column + 32 for i, column in enumerate(near)}
    return {"a": a, **copies, "b": b, "noise": noise, "y": a + b + 0.3 * e}, 1


def sums(rng: np.random.Generator, n: int) -> tuple[dict[str, np.ndarray], int]:
    """Return three columns of which any two give the third; the target needs two."""
    x, w, b, noise, e = rng.normal(size=(5, n))
    return {"x": x, "w": w, "z": x + w, "b": b, "noise": noise, "y": 2 * x - w + b + 0.5 * e}, 2


def labels(rng: np.random.Generator, n: int, names: list[str]) -> tuple[dict[str, np.ndarray], int]:
    """Return labels and the same under other names, of which some may be equal."""
    code, b, noise = rng.integers(0, 4, n), rng.integers(0, 3, n), rng.integers(0, 3, n)
    y = rng.random(n) < 1 / (1 + np.exp(-(4.4 * (code >= 2) - 3.2 + b)))
    columns = {"a": code, "near0": np.array(names)[code], "b": b, "noise": noise, "y": y}
    return {name: column.astype(str) for name, column in columns.items()}, 1


#: By kind: how a table is drawn, the number of its first columns that say the same, and the test.
KINDS: dict[str, tuple[Any, int, str]] = {
    **{f"pair, correlation {r:g}": (lambda rng, n, r=r: numbers(rng, n, r, 2), 2, "fisher-z") for r in CORRELATIONS},
    **{f"ten, correlation {r:g}": (lambda rng, n, r=r: numbers(rng, n, r, 10), 10, "fisher-z") for r in (1.0, 0.98)},
    "z = x + w": (sums, 3, "fisher-z"),
    "other labels": (lambda rng, n: labels(rng, n, ["w", "z", "x", "y"]), 2, "g2"),
    "merged labels": (lambda rng, n: labels(rng, n, ["low", "low", "high", "high"]), 2, "g2"),
}


def measured(samples: int) -> Iterator[dict[str, Any]]:
    """Yield for each kind, number of rows and method how often all was lost, the mean size and the mean tests."""
    methods = discover("blanketflow.selectors")
    for kind, (draw, n_same, test) in KINDS.items():
        for n in ROWS:
            found = {name: np.zeros(3) for name in METHODS}
            for sample in range(samples):
                columns, enough = draw(derive_rng(sample, "copies", kind, n), n)
                table, same = as_table(pd.DataFrame(columns)), set(list(columns)[:n_same])
                for name in METHODS:
                    bound = get_ci_test(test).bind(table)
                    features = [column for column in columns if column != "y"]
                    problem = Problem(
                        features, "y", bound.test_many(features, "y"), 0, lambda t=table: t, lambda _, b=bound: b
                    )
                    problem.finds_stand_ins = False
                    kept = {step.feature for step in run_problem(methods[name](), problem).members}
                    found[name] += len(same & kept) < enough, len(kept), bound.n_tests
            for name, (lost, size, tests) in found.items():
                yield {
                    "kind": kind,
                    "rows": n,
                    "method": name,
                    "samples": samples,
                    "lost": int(lost),
                    "size": size / samples,
                    "tests": tests / samples,
                }
            print(kind, n, {name: int(numbers[0]) for name, numbers in found.items() if numbers[0]}, flush=True)


def table(raw: pd.DataFrame) -> str:
    """Return a row a kind: the share lost by IAMB, and by the method that loses most, for each number of rows."""
    lines = [row("columns", *(f"{n:,} rows" for n in ROWS)), row("---", *["---"] * len(ROWS))]
    for kind in KINDS:
        cells = []
        for n in ROWS:
            part = raw[(raw["kind"] == kind) & (raw["rows"] == n)].set_index("method")
            share = part["lost"] / part["samples"]
            worst = share.idxmax()
            told = f" ({worst})" if share[worst] > share["iamb"] else ""
            cells.append(f"{share['iamb']:.1%}, {share[worst]:.1%}{told}" if len(part) else "")
        lines.append(row(kind, *cells))
    return "\n".join(lines)


def main() -> None:
    """Measure, and renew the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the page from the last measurement")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples of each kind and number of rows")
    chosen = parser.parse_args()
    if not chosen.page:
        pd.DataFrame(measured(chosen.samples)).to_parquet(RAW, index=False)
    write(PAGE, {"copies": table(pd.read_parquet(RAW))})


if __name__ == "__main__":
    main()
