"""PPFS's tests where the answer is known: `python -m studies.right_ppfs.simulated nulls` or `networks`.

`nulls` counts how often each test rejects at 0.05, on the samples of studies/calibration: X is independent of T given
three columns (or depends on it, for the power), 200 and 1,000 rows. `networks` searches the blankets of some columns of
published networks, read from the folder that BLANKETFLOW_DATA names. Results are kept in nulls.parquet and
networks.parquet, one row per design or target and test, and what is there is not measured again; `--minutes` is how
long to go on.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import blanketflow as bf
from blanketflow.core.seeds import derive_rng, derive_seed, seed_32
from blanketflow.core.table import Column
from blanketflow.data.simulate import read_network
from studies.calibration.designs import ALTERNATIVES, NULLS, sample

HERE = Path(__file__).parent
ALPHA = 0.05
#: The tests by their names in tests.yaml.
TESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "paper": ("ppi", {}),
    "corrected-t": ("ppi", {"significance": "corrected-t"}),
    "conditional": ("ppi", {"copies": "conditional"}),
    "conditional-t": ("ppi", {"copies": "conditional", "significance": "corrected-t"}),
    "auto": ("auto", {}),
    "spline": ("spline", {}),
    "gcm": ("gcm", {}),
    "lr-mixed": ("lr-mixed", {}),
    "pcm": ("pcm", {}),
    "codec": ("codec", {}),
    "cmi-knn": ("cmi-knn", {}),
}
#: Searches by one of these tests, in which shrink gives a feature at most so many of the others: `LimitedPPFS`.
FEW: dict[str, tuple[str, int]] = {"auto-1": ("auto", 1), "auto-3": ("auto", 3)}
SEARCHES = (*TESTS, *FEW)
#: Tests that take seconds to minutes a search with more rows than these.
MOST_ROWS = {"cmi-knn": 200}
#: Those that studies/calibration has measured under all nulls, or most of them; their power is measured here.
CALIBRATED = ("auto", "spline", "lr-mixed")
#: By rows: the samples of a design, each with this number of given columns.
SAMPLES, GIVEN = {200: 200, 1000: 100}, 3
NETWORKS, NETWORK_ROWS, TARGETS = ("child", "insurance", "alarm", "ecoli70", "magic-niab"), (200, 1000), 10


def nulls(done: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield how often a test rejects on a design."""
    known = set(zip(done["design"], done["n"], done["test"], strict=True)) if len(done) else set()
    for n, samples in SAMPLES.items():
        for design in (*NULLS, *ALTERNATIVES):
            for name, (kind, options) in TESTS.items():
                is_known = (design, n, name) in known or (design in NULLS and name in CALIBRATED)
                if is_known or kind == "auto" or n > MOST_ROWS.get(name, n):  # auto is the spline on nearly all
                    continue
                rejected, begin = 0, time.process_time()
                for number in range(samples):
                    frame = sample(design, n, GIVEN, number)
                    bound = bf.get_ci_test(kind, **options).bind(frame, seed=number)
                    rejected += bool(bound.test("x", "t", given=list(frame.columns[2:])).p_value <= ALPHA)
                seconds = (time.process_time() - begin) / samples
                yield {
                    "design": design,
                    "n": n,
                    "test": name,
                    "samples": samples,
                    "rejected": rejected,
                    "seconds": seconds,
                }


def networks(done: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield what PPFS finds by a test of the blanket of a target."""
    keys = ["network", "rows", "target", "test"]
    known = set(done[keys].itertuples(index=False, name=None)) if len(done) else set()
    folder = Path(os.environ.get("BLANKETFLOW_DATA", "."), "networks")
    for rows in NETWORK_ROWS:
        for name in NETWORKS:
            files = sorted(folder.glob(f"{name}.*"))
            if not files:
                raise SystemExit(f"{folder} has no network {name}: set BLANKETFLOW_DATA to the folder above networks/")
            network = read_network(files[0])
            table = network.sample(rows, derive_seed("right ppfs", name, rows))
            frame = pd.DataFrame({column: levels_or_numbers(table[column]) for column in table.names})
            targets = derive_rng("right ppfs", name).permutation(sorted(network.nodes))[:TARGETS]
            for target in (target for target in targets.tolist() if frame[target].nunique() > 1):
                true = set(network.dag().markov_blanket(target)["blanket"])
                for test in SEARCHES:
                    if (name, rows, target, test) in known or rows > MOST_ROWS.get(test, rows):
                        continue
                    ppfs = selector(test, random_state=seed_32(name, rows, target))
                    begin = time.process_time()
                    found = set(ppfs.fit(frame.drop(columns=target), frame[target]).selected_features_)
                    yield {
                        "network": name,
                        "rows": rows,
                        "target": target,
                        "test": test,
                        "d": frame.shape[1] - 1,
                        "size": len(true),
                        "found": len(found),
                        "hits": len(found & true),
                        "seconds": time.process_time() - begin,
                        "status": ppfs.status_,
                    }


def selector(name: str, **options: Any) -> Any:
    """Return PPFS with a test of `TESTS`, or as one of `FEW`."""
    of, most_given = FEW.get(name, (name, None))
    kind, of_test = TESTS[of]
    options |= {"ci_test": bf.get_ci_test(kind, **of_test) if kind == "ppi" else kind, "alpha": ALPHA}
    if most_given is None:
        return bf.PPFS(**options)
    return bf.get_selector("studies.right_ppfs.limited:LimitedPPFS", most_given=most_given, **options)


def levels_or_numbers(column: Column) -> np.ndarray:
    """Return a column's labels, or its numbers."""
    return np.array(column.levels)[column.values] if column.levels else column.numbers()


def main() -> None:
    """Measure until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("nulls", "networks"))
    parser.add_argument("--minutes", type=float, default=60.0)
    asked = parser.parse_args()
    file, begin = HERE / f"{asked.what}.parquet", time.monotonic()
    done = pd.read_parquet(file) if file.exists() else pd.DataFrame()
    warnings.simplefilter("ignore")
    found: list[dict[str, Any]] = []
    for one in {"nulls": nulls, "networks": networks}[asked.what](done):
        found.append(one)
        print(*one.values(), flush=True)
        pd.concat([done, pd.DataFrame(found)]).to_parquet(file, index=False)
        if time.monotonic() - begin > 60 * asked.minutes:
            return


if __name__ == "__main__":
    main()
