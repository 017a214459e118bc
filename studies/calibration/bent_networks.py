"""Which CI test finds Markov blankets where relations bend: `python -m studies.calibration.bent_networks`.

200 random networks of 10 to 50 numbers. A number is the sum of functions of its parents and noise: straight, squared,
sine, exponential, absolute, a saturation or a step. Of each network some targets are searched by `hiton-mb` and `iamb`
with the test that `auto` takes, `spline`, `fisher-z`, `g2` on bins and, on some of the smaller networks, `hsic`.
Precision, recall and F1 are those of the members against the network's blanket; F1 is 1 where both are empty.

Writes bent_networks.parquet, one row per target and search, and the table of README.md. Half
an hour on sixteen cores; a run goes on where the last one ended, and `--page` writes the page only.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import blanketflow as bf
from blanketflow.core.graph import DAG
from blanketflow.core.seeds import derive_rng

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "studies" / "calibration" / "README.md"
RAW = ROOT / "studies" / "calibration" / "bent_networks.parquet"
SIZES, ROWS, NETWORKS, TARGETS, ALPHA = (10, 20, 30, 50), (500, 2_000), 50, 5, 0.01
#: Arcs for each node, and the share of straight relations among the functions of a parent.
ARCS, STRAIGHT = 1.25, 0.3
BENDS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    lambda v: v**2,
    lambda v: np.sin(2.0 * v),
    lambda v: np.exp(np.minimum(v, 2.5)),
    np.abs,
    lambda v: np.tanh(2.0 * v),
    lambda v: np.floor(v),
)
TESTS, METHODS = ("auto", "spline", "fisher-z", "g2", "hsic"), {"hiton-mb": bf.HITONMB, "iamb": bf.IAMB}
#: `hsic` takes 0.1 s a test, so that it is tried on some of the smallest networks and the fewest rows.
HSIC_SIZE, HSIC_ROWS, HSIC_NETWORKS = 20, 500, 20
VALUES = ["precision", "recall", "f1"]


class Case(NamedTuple):
    """A network, and the rows that are drawn of it."""

    size: int
    network: int
    rows: int

    def drawn(self) -> tuple[DAG, pd.DataFrame]:
        """Return the graph, and rows; more rows are other rows."""
        rng = derive_rng(self.network, "bent networks", self.size)
        names = [f"x{i}" for i in range(self.size)]
        pairs = [(names[i], names[j]) for j in range(self.size) for i in range(j)]
        arcs = [pairs[at] for at in rng.permutation(len(pairs))[: round(ARCS * self.size)]]
        bends = {arc: BENDS[int(rng.integers(len(BENDS)))] if rng.random() > STRAIGHT else None for arc in arcs}
        signs = {arc: float(rng.choice([-1.0, 1.0])) for arc in arcs}
        noise = derive_rng(self.network, "bent networks", self.size, self.rows).normal(size=(self.size, self.rows))
        columns: dict[str, np.ndarray] = {}
        for name, own in zip(names, noise, strict=True):
            total = own.copy()
            for parent, child in arcs:
                if child == name:
                    bend, values = bends[parent, child], columns[parent]
                    part = values if bend is None else bend(values)
                    total += signs[parent, child] * (part - part.mean()) / part.std()
            columns[name] = (total - total.mean()) / total.std()
        # The order of columns and their names say nothing of the graph.
        shuffled = dict(zip(names, rng.permutation(names).tolist(), strict=True))
        frame = pd.DataFrame({shuffled[name]: columns[name] for name in names})[names]
        return DAG([(shuffled[parent], shuffled[child]) for parent, child in arcs], names), frame


def cases() -> list[Case]:
    """Return all cases, the cheapest first, in rounds of all sizes."""
    found = [Case(size, network, rows) for rows in ROWS for network in range(NETWORKS) for size in SIZES]
    return sorted(found, key=lambda case: (case.network // 10, case.rows * case.size))


def of_case(case: Case) -> list[dict[str, Any]]:
    """Search some targets of a case with every method and test."""
    warnings.simplefilter("ignore")
    graph, frame = case.drawn()
    found = []
    for target in frame.columns[:TARGETS]:
        true = set(graph.markov_blanket(target)["blanket"])
        for test in TESTS:
            if test == "hsic" and (case.size > HSIC_SIZE or case.rows > HSIC_ROWS or case.network >= HSIC_NETWORKS):
                continue
            for name, method in METHODS.items():
                begin = time.process_time()
                fitted = method(ci_test=test, alpha=ALPHA).fit(frame.drop(columns=target), frame[target])
                kept = set(fitted.selected_features_)
                hits = len(true & kept)
                found.append(
                    {
                        **case._asdict(),
                        "target": target,
                        "test": test,
                        "taken": fitted.ci_test_.card.id,
                        "method": name,
                        "size of blanket": len(true),
                        "seconds": time.process_time() - begin,
                        "precision": hits / len(kept) if kept else 1.0,
                        "recall": hits / len(true) if true else 1.0,
                        "f1": 2 * hits / (len(kept) + len(true)) if kept or true else 1.0,
                    }
                )
    return found


def measured(workers: int, minutes: float, known: pd.DataFrame) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of each case that is not known, until the time is over."""
    done = {Case(*key) for key in known[["size", "network", "rows"]].drop_duplicates().itertuples(index=False)}
    end = time.monotonic() + 60 * minutes
    left = iter([case for case in cases() if case not in done])
    with ProcessPoolExecutor(workers) as pool:
        running = {pool.submit(of_case, case) for _, case in zip(range(workers), left, strict=False)}
        while running:
            ready = {future for future in running if future.done()}
            running -= ready
            for future in ready:
                yield future.result()
                if time.monotonic() < end and (case := next(left, None)) is not None:
                    running.add(pool.submit(of_case, case))
            time.sleep(0.05)


def table(raw: pd.DataFrame) -> str:
    """Return a row for each test and number of rows: the mean over networks of what each method finds."""
    own = ["method", "rows", "test"]
    means = raw.groupby([*own, "size", "network"])[[*VALUES, "seconds"]].mean()
    found, errors = means.groupby(own).mean(), means["f1"].groupby(own).sem()
    lines = [
        "| method | rows | test | precision | recall | F1 | standard error | CPU s a search |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for method in METHODS:
        for rows in ROWS:
            for test in TESTS:
                if (method, rows, test) in found.index:
                    one = found.loc[method, rows, test]
                    shares = " | ".join(f"{one[value]:.2f}" for value in VALUES)
                    error = errors.loc[method, rows, test]
                    lines.append(
                        f"| `{method}` | {rows:,} | `{test}` | {shares} | {error:.3f} | {one['seconds']:.2g} |"
                    )
    return "\n".join(lines)


def main() -> None:
    """Measure, and renew the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the page from the last measurement")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--minutes", type=float, default=60.0, help="when to begin no more networks")
    parser.add_argument("--results", type=Path, default=RAW, metavar="FILE", help="where the rows are kept")
    parser.add_argument("--no-page", action="store_true", help="leave the page as it is")
    chosen = parser.parse_args()
    if not chosen.page:
        known = (
            pd.read_parquet(chosen.results)
            if chosen.results.exists()
            else pd.DataFrame(columns=["size", "network", "rows"])
        )
        parts = [known] if len(known) else []
        saved = time.monotonic()
        for rows in measured(chosen.workers, chosen.minutes, known):
            parts.append(pd.DataFrame(rows))
            if time.monotonic() - saved > 20:
                pd.concat(parts).to_parquet(chosen.results, index=False)
                saved = time.monotonic()
        pd.concat(parts).to_parquet(chosen.results, index=False)
    raw = pd.read_parquet(chosen.results)
    if chosen.no_page:
        print(table(raw))
    else:
        from studies.shared.page import write

        write(PAGE, {"bent networks": table(raw)})


if __name__ == "__main__":
    main()
