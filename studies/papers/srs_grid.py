"""How many features SRS can keep, at any penalties of its paper.

`python -m studies.papers.srs_grid`, after paper_data.py.

Representative sets by Fisher's z at 0.01 on all rows, then the sparse group lasso at all 400 pairs of shares, beside
what Table II of the paper prints.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import blanketflow as bf
from blanketflow.selectors.causal.res import LARGEST, SMALLEST, Rows
from studies.papers.printed_tables import read_printed
from studies.shared.page import row

ROOT = Path(__file__).parents[2]
#: Two classes and numbers alone, by the file's name where that is another.
FILES = {
    "prostate": "prostate",
    "leukemia": "leukemia-numbers",
    "colon": "colon-numbers",
    "madelon": "madelon",
    "wdbc": "wdbc",
    "lung-cancer": "lung-cancer",
    "arcene": "arcene",
}


def main() -> None:
    """Print a row a data set."""
    published = read_printed(ROOT / "studies" / "papers" / "published" / "srs.yaml")
    [table] = [table for table in published if table.table == "2" and table.measure == "n-features"]
    shares = np.arange(SMALLEST, LARGEST, 0.005)[::-1]
    pairs = [(a, b) for a in shares for b in shares]
    heads = ("data", "printed", "fewest", "most", "features of the representative sets")
    print(row(*heads), row(*["---"] * len(heads)), sep="\n")
    for name, file in FILES.items():
        frame = pd.read_parquet(ROOT / "data" / f"{file}.parquet")
        X, y = frame.drop(columns="target"), frame["target"]
        trace = bf.RES(ci_test="fisher-z", alpha=0.01).fit(X, y).trace_
        grown = trace[trace["stage"] == "grow"]
        starts = [*np.flatnonzero(grown["role"] == "parent_or_child"), len(grown)]
        target = pd.get_dummies(y, dtype=float).to_numpy()[:, 1:]
        coefficients = Rows(X[grown["feature"]].to_numpy(float), target, np.diff(starts)).path(0, pairs)[0]
        kept = np.count_nonzero(coefficients, axis=1)
        print(row(name, int(table.cells[name, "srs"].value), kept.min(), kept.max(), len(grown)))


if __name__ == "__main__":
    main()
