"""Tables 14, 20 and 28 of the unified view as ratios: `nice python -m studies.papers.unified_view_seconds`.

Seconds of another machine and language cannot be compared, but how a method's seconds relate to those of IAMB on the
same data set can. Ours take milliseconds, less than reading the table does, so that their ratios are those of the
numbers of tests. Each method runs once on all rows, with the options of configs/; what the configs leave out is
left out. Renews a block of printed.md.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
import yaml

import blanketflow as bf
from studies.papers.page import write
from studies.papers.printed_tables import entries_of
from studies.shared.page import ROOT, row

TABLES = {"14": "unified-view", "20": "unified-view-wide", "28": "unified-view"}
BASE, METHODS = "iamb", ("mmpc", "hiton-pc", "mmmb", "hiton-mb")


def loaded(spec: dict[str, Any]) -> tuple[Any, np.ndarray]:
    """Return the features and the target of a data set of a config."""
    path = ROOT / spec["path"]
    if path.suffix == ".npz":
        target = pd.read_csv(path.with_suffix(".y.csv"), dtype=str)["target"]
        return scipy.sparse.load_npz(path).tocsc(), target.to_numpy()
    frame = pd.read_parquet(path)
    return frame.drop(columns="target"), frame["target"].to_numpy()


def search(spec: dict[str, Any], test: Any, data: tuple[Any, np.ndarray]) -> tuple[int, float]:
    """Return the number of tests of a search, and its CPU seconds with the reading of the table."""
    options = {key: value for key, value in spec.items() if key not in ("method", "ci_test", "datasets", "time_limit")}
    selector = bf.get_selector(spec["method"], ci_test=test, **options)
    started = time.process_time()
    selector.fit(*data)
    return selector.n_tests_, time.process_time() - started


def cells_of(dataset: str, theirs: dict[str, float], config: dict[str, Any]) -> list[str]:
    """Return the cells of a data set: seconds of all that is compared, IAMB's, and the ratios of the others to it."""
    data, g2 = loaded(config["datasets"][dataset]), config["ci_tests"]["g2"]
    test = bf.get_ci_test("g2", **{key: value for key, value in g2.items() if key != "type"})
    specs = {name: config["selectors"][name] for name in (BASE, *METHODS) if name in theirs}
    ours = {n: search(spec, test, data) for n, spec in specs.items() if dataset in spec.get("datasets", [dataset])}
    total = sum(theirs[name] for name in ours), sum(taken for _, taken in ours.values())
    cells = [f"{total[0]:,.4g} / {total[1]:.2g}", f"{theirs[BASE]:.3g} / {ours[BASE][0]:,}"]
    for name in METHODS:
        of = (theirs[name] / theirs[BASE], ours[name][0] / ours[BASE][0]) if name in ours else ()
        cells.append(" / ".join(f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}" for ratio in of))
    return cells


def main() -> None:
    """Count and time what is at hand, and write the table."""
    warnings.simplefilter("ignore")
    lines = [row("table", "data", "seconds in all", "iamb: seconds / tests", *METHODS), row(*["---"] * 8)]
    bf.MMMB(ci_test="g2").fit(np.eye(60)[:, :4], np.arange(60) % 2)  # kernels are ready before the clock runs
    for entry in entries_of(ROOT / "studies" / "papers" / "published" / "unified_view.yaml"):
        if entry.get("table") in TABLES:
            name = TABLES[entry["table"]]
            config = yaml.safe_load(
                (ROOT / "studies" / "papers" / "configs" / f"{name}.yaml").read_text(encoding="utf-8")
            )
            for dataset, printed in entry["rows"].items():
                by_method = zip(entry["columns"], printed, strict=True)
                theirs = {method: float(text.replace(",", "")) for method, text in by_method if text != "-"}
                if dataset in config["datasets"] and BASE in theirs:
                    lines.append(row(entry["table"], dataset, *cells_of(dataset, theirs, config)))
                    print(lines[-1], file=sys.stderr)
    write("unified-view seconds", "\n".join(lines))


if __name__ == "__main__":
    main()
