"""Which search finds Markov blankets best, on networks of different shape: `python -m studies.networks`.

Every column of a network is the target in turn, on samples of 200 to 20,000 rows. Precision, recall and F1 of a set are
those of its members against the network's blanket; F1 is 1 where both are empty. alpha is 0.01, all else as it is by
default, with `g2` for labels and `fisher-z` for numbers. Networks are read from the folder that BLANKETFLOW_DATA names.
Writes the raw numbers to network_study.parquet, one row per network, rows, sample, method and
target, and the tables of README.md. Some ten minutes; `--pages` writes the page only.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import blanketflow as bf
from blanketflow.core.seeds import derive_seed
from blanketflow.data.simulate import read_network
from studies.shared.page import row, write

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "studies" / "networks" / "README.md"
RAW = ROOT / "studies" / "networks" / "network_study.parquet"
LABELS = ("child", "insurance", "water", "mildew", "alarm", "barley", "hailfinder", "win95pts")
NUMBERS = ("ecoli70", "magic-niab", "arth150")
ROWS, SAMPLES, ALPHA = (200, 1_000, 5_000, 20_000), 2, 0.01
METHODS = ("gs", "iamb", "inter-iamb", "hiton-mb", "mmmb", "ipc-mb", "stmb")
VALUES = ["precision", "recall", "f1"]
#: The largest true blanket of each class of targets.
SIZES = {3: "1 to 3 members", 8: "4 to 8", 10**6: "9 and more"}


def measured() -> Iterator[dict[str, Any]]:
    """Run every method on the same samples; yield one row per target."""
    folder = Path(os.environ.get("BLANKETFLOW_DATA", "."), "networks")
    for name in (*LABELS, *NUMBERS):
        found_files = sorted(folder.glob(f"{name}.*"))
        if not found_files:
            raise SystemExit(f"{folder} has no network {name}: set BLANKETFLOW_DATA to the folder above networks/")
        network = read_network(found_files[0])
        dag, test = network.dag(), "g2" if name in LABELS else "fisher-z"
        true = {node: set(dag.markov_blanket(node)["blanket"]) for node in network.nodes}
        for rows in ROWS:
            for sample in range(SAMPLES):
                table = network.sample(rows, derive_seed("network study", name, rows, sample))
                for method in METHODS:
                    begin = time.process_time()
                    found = bf.blankets(table, method, test, alpha=ALPHA)
                    seconds = (time.process_time() - begin) / len(true)
                    for target, blanket in true.items():
                        hits, size = len(blanket & set(found[target])), len(found[target])
                        yield {
                            "network": name,
                            "rows": rows,
                            "sample": sample,
                            "method": method,
                            "target": target,
                            "size": len(blanket),
                            "found": size,
                            "seconds": seconds,
                            "precision": hits / size if size else 1.0,
                            "recall": hits / len(blanket) if blanket else 1.0,
                            "f1": 2 * hits / (size + len(blanket)) if size or blanket else 1.0,
                        }
        print(name, flush=True)


def means(runs: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return means over targets, then over networks, so that a large network counts no more than a small one."""
    return runs.groupby(["network", by, "method"])[VALUES].mean().groupby([by, "method"]).mean()


def table(found: pd.DataFrame, head: str) -> str:
    """Return F1 with precision and recall, one row per value of the first level, the best F1 in bold."""
    lines = [row(head, *METHODS), row("---", *["---"] * len(METHODS))]
    for value in found.index.unique(0):
        here = found.loc[value]
        best = here["f1"].round(2).max()
        cells = []
        for method in METHODS:
            one = here.loc[method]
            f1 = f"**{one.f1:.2f}**" if round(one.f1, 2) == best else f"{one.f1:.2f}"
            cells.append(f"{f1} ({one.precision:.2f}, {one.recall:.2f})")
        lines.append(row(f"{value:,}" if isinstance(value, int) else value, *cells))
    return "\n".join(lines)


def blocks(runs: pd.DataFrame) -> dict[str, str]:
    """Return the tables of the page by the names of their places."""
    kinds = {"labels": runs[runs["network"].isin(LABELS)], "numbers": runs[runs["network"].isin(NUMBERS)]}
    found = {f"rows {kind}": table(means(some, "rows"), "rows") for kind, some in kinds.items()}
    runs = runs[(runs["rows"] == 5_000) & (runs["size"] > 0)]
    bins = pd.cut(runs["size"], [0, *SIZES], labels=list(SIZES.values()))
    found["sizes"] = table(means(runs.assign(members=bins.astype(str)), "members").reindex(SIZES.values(), level=0), "")
    found["networks"] = table(runs.groupby(["network", "method"])[VALUES].mean(), "network")
    return found


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", action="store_true", help="write the page from the numbers that are there")
    if not parser.parse_args().pages:
        pd.DataFrame(measured()).to_parquet(RAW, index=False)
    write(PAGE, blocks(pd.read_parquet(RAW)))


if __name__ == "__main__":
    main()
