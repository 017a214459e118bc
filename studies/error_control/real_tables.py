"""What knockoffs, IPSS and `discover` find on small real tables at each level, whose truth is not known, in README.md.

`python -m studies.error_control.real_tables` reads the sets of `studies.shared.paper_data` from the folder that the
environment variable BLANKETFLOW_DATA names.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from pathlib import Path

import pandas as pd
import yaml
from threadpoolctl import threadpool_limits

import blanketflow as bf
from studies.error_control import page
from studies.shared import paper_data
from studies.shared.page import row

SETS = [
    "ionosphere",
    "sonar",
    "wdbc",
    "credit",
    "spect",
    "hepatitis",
    "german",
    "housing",
    "auto-mpg",
    "auto-mobile",
    "cpu-performance",
    "maxwell",
    "waveform",
    "statlog",
    "lung",
    "spambase",
    "bc-wisconsin",
    "desharnais",
    "ecoli",
]
LEVELS = (0.1, 0.2, 0.3)
SELECTORS = {
    "knockoffs": bf.Knockoffs(q=0.1),
    "knockoffs, 5 draws": bf.Knockoffs(q=0.1, draws=5),
    "IPSS": bf.IPSS(q=0.1),
    "discover": bf.Discover(q=0.1),
}


def found(name: str, folder: Path) -> list[object]:
    """Return a row of the table: the set, its size, and the number of discoveries of each selector at each level."""
    recipe = yaml.safe_load(paper_data.RECIPES.read_text(encoding="utf-8"))[name]
    paper_data.make(name, recipe, Path(os.environ["BLANKETFLOW_DATA"]), folder)
    frame = pd.read_parquet(folder / f"{name}.parquet")
    X, y = frame.drop(columns="target"), frame["target"]
    cells: list[object] = [name, *X.shape]
    for selector in SELECTORS.values():
        levels = selector.set_params(missing="impute", random_state=0).fit(X, y).discoveries_["q"]
        cells.append(" / ".join(str(int((levels <= q * (1 + 1e-9)).sum())) for q in LEVELS))
    return cells


def main() -> None:
    """Measure and write the page."""
    warnings.simplefilter("ignore")
    heads = ["set", "rows", "features", *SELECTORS]
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        lines = [found(name, Path(folder)) for name in SETS]
    nothing = [sum(str(line[3 + at]).split(" / ")[0] == "0" for line in lines) for at in range(len(SELECTORS))]
    later = [sum(str(line[3 + at]).endswith(" 0") for line in lines) for at in range(len(SELECTORS))]
    sums = [f"{a} / {b}" for a, b in zip(nothing, later, strict=True)]
    table = [row(*heads), row(*["---"] * len(heads)), *(row(*line) for line in lines)]
    page.write("real", "\n".join([*table, row("**none at 0.1 / at 0.3**", "", "", *sums)]))


if __name__ == "__main__":
    main()
