"""How often `confirm` calls a feature confirmed that says nothing given the others, on simulated tables.

`python -m studies.error_control.confirmation` measures and writes three tables of README.md; with --splits
only the third, of several splits.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.ci.multiple_testing import holm
from blanketflow.core.errors import UnreliableWarning
from blanketflow.core.seeds import derive_rng
from blanketflow.core.table import Column, Table
from blanketflow.search.confirmation import LEVEL, given_the_others
from studies.error_control import page

#: What the other four members do to both the feature and the target, which have noise of variance 1.
CURVES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda Z: 0.5 * Z.sum(axis=1),
    "square": lambda Z: Z[:, 0] ** 2,
    "product": lambda Z: Z[:, 0] * Z[:, 1],
    "sine of two periods": lambda Z: np.sin(2.0 * Z[:, 0]),
}
KINDS = ("number", "label of 2", "label of 3")
ROWS = (150, 600)


def one_test(curve: str, kind: str, n: int, effect: float, number: int) -> float:
    """Return the p-value of a feature with an effect of so much on the target given the four others."""
    rng = derive_rng("confirmation", curve, kind, n, number)
    Z = rng.standard_normal((n, 4))
    x = CURVES[curve](Z) + rng.standard_normal(n)
    score = CURVES[curve](Z) + effect * x + rng.standard_normal(n)
    target = Column("y", "numeric", score)
    if kind != "number":
        n_levels = int(kind[-1])
        codes = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_levels + 1)[1:-1]))
        target = Column("y", "categorical", codes, tuple(map(str, range(n_levels))))
    columns = [Column("x", "numeric", x), *(Column(f"z{j}", "numeric", Z[:, j]) for j in range(4))]
    features = Table(columns)
    return given_the_others(features, target, ["x"], features.names, number).p_value


def one_search(n_signals: int, number: int) -> dict[str, object]:
    """Return whether a false member is called significant by the search's own p-values, and by rows left out."""
    rng = derive_rng("confirmation", "search", n_signals, number)
    X = rng.standard_normal((300, 30))
    y = X[:, :n_signals].sum(axis=1) * 0.4 + rng.standard_normal(300)
    fitted = bf.IAMB(ci_test="fisher-z", confirm=0.5).fit(X, y)
    true = {f"x{j}" for j in range(n_signals)}
    kept = fitted.trace_.query("stage == 'shrink' and kept").drop_duplicates("feature")
    own = dict(zip(kept["feature"], np.array(holm(kept["p_value"].tolist())) <= LEVEL, strict=True))
    found = dict(zip(fitted.confirmed_["feature"], fitted.confirmed_["confirmed"], strict=True))
    said = {"search": any(v for k, v in own.items() if k not in true)}
    said["rows left out"] = any(v for k, v in found.items() if k not in true)
    return {"true": n_signals, **said, "power": np.mean([found.get(name, False) for name in true]) if true else np.nan}


def levels(n_tables: int) -> str:
    """Return how often p is at most 0.05 without an effect, and with one of 0.3 on a quarter of the tables."""
    lines = ["| others act by | target | rows | p at most 0.05, no effect | 95 % interval | power at 0.3 | tables |"]
    lines.append("|---|---|---|---|---|---|---|")
    for curve in CURVES:
        for kind in KINDS if curve in ("linear", "square") else KINDS[:1]:
            for n in ROWS:
                null, real = (
                    np.array([one_test(curve, kind, n, effect, number) for number in range(m)]) <= 0.05
                    for effect, m in ((0.0, n_tables), (0.3, n_tables // 4))
                )
                rates = f"{null.mean():.3f} | {page.interval(null, 3)} | {real.mean():.2f}"
                lines.append(f"| {curve} | {kind} | {n} | {rates} | {n_tables} |")
    return "\n".join(lines) + "\n"


def searches(n_tables: int) -> str:
    """Return how often a whole search calls some false member significant."""
    found = pd.DataFrame([one_search(n_signals, number) for n_signals in (0, 5) for number in range(n_tables)])
    lines = ["| true features | by the search's p-values | by rows left out | 95 % interval | power | tables |"]
    lines.append("|---|---|---|---|---|---|")
    for n_signals, part in found.groupby("true"):
        share = part["rows left out"]
        power = "" if part["power"].isna().all() else f"{part['power'].mean():.2f}"
        rates = f"{part['search'].mean():.3f} | {share.mean():.3f} | {page.interval(share, 3)}"
        lines.append(f"| {n_signals} | {rates} | {power} | {len(part)} |")
    return "\n".join(lines) + "\n"


def one_confirmation(n_signals: int, n_splits: int, number: int) -> dict[str, object]:
    """Return what so many splits say of one table: any false feature confirmed, true ones, and with another seed."""
    rng = derive_rng("confirmation", "splits", n_signals, number)
    X = rng.standard_normal((200, 10))
    y = X[:, :n_signals].sum(axis=1) * 0.3 + rng.standard_normal(200)
    true, found = {f"x{j}" for j in range(n_signals)}, []
    for seed in (0, 1):
        fitted = bf.IAMB(ci_test="fisher-z", confirm=0.5, confirm_splits=n_splits, random_state=seed).fit(X, y)
        found.append(set(fitted.confirmed_.query("confirmed")["feature"]))
    said = {"true": n_signals, "splits": n_splits, "false": bool(found[0] - true)}
    said["power"] = len(found[0] & true) / n_signals if n_signals else np.nan
    return {**said, "differ": len((found[0] ^ found[1]) & true) / n_signals if n_signals else np.nan}


def several_splits(n_tables: int) -> str:
    """Return how often splits confirm a false feature, true ones, and how far two seeds differ."""
    asked = [(n_signals, n_splits) for n_signals in (0, 3) for n_splits in (1, 10)]
    found = pd.DataFrame([one_confirmation(*one, number) for one in asked for number in range(n_tables)])
    lines = [
        "| true features | splits | any false one confirmed | 95 % interval | power | two seeds differ on | tables |"
    ]
    lines.append("|---|---|---|---|---|---|---|")
    for (n_signals, n_splits), part in found.groupby(["true", "splits"]):
        rest = f"{part['power'].mean():.2f} | {part['differ'].mean():.2f}" if n_signals else " | "
        rates = f"{part['false'].mean():.3f} | {page.interval(part['false'], 3)}"
        lines.append(f"| {n_signals} | {n_splits} | {rates} | {rest} | {len(part)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=150, help="tables of each row")
    parser.add_argument("--splits", action="store_true", help="only what one split and ten confirm")
    arguments = parser.parse_args()
    start = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)
        if not arguments.splits:
            page.write("confirm-level", levels(arguments.tables))
            page.write("confirm-search", searches(arguments.tables))
        page.write("confirm-splits", several_splits(arguments.tables))
    print(f"{time.process_time() - start:.0f} CPU s")


if __name__ == "__main__":
    main()
