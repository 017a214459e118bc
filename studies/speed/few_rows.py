"""What it saves not to ask tests that have too few rows to say anything: `python -m studies.speed.few_rows`.

Prints the table of README.md: tests and CPU seconds of `hiton-mb` by G2 with five bins a number, on all rows,
when every test is asked and when only the answerable ones are. Needs the data of paper_data.py; some minutes.
"""

from __future__ import annotations

import time
from pathlib import Path

import pandas as pd

import blanketflow as bf
from blanketflow.ci.bound import BoundTest
from studies.shared.page import row

DATA = Path(__file__).parents[2] / "data"
DATA_SETS = ("wdbc", "ionosphere", "sonar")


def searched(X: pd.DataFrame, y: pd.Series) -> tuple[list[str], int, float]:
    """Return what a search keeps, how many tests it computes, and its CPU seconds."""
    begin = time.process_time()
    fitted = bf.HITONMB(ci_test="g2").fit(X, y)
    return sorted(fitted.selected_features_), fitted.n_tests_, time.process_time() - begin


def main() -> None:
    """Measure and print."""
    print(row("data", "rows, features", "tests: every one", "s", "tests: the answerable ones", "s", "ratio"))
    print(row(*["---"] * 7))
    some = BoundTest.answerable
    for name in DATA_SETS:
        frame = pd.read_parquet(DATA / f"{name}.parquet")
        X, y = frame.drop(columns="target"), frame["target"]
        searched(X.iloc[::5], y.iloc[::5])  # loads what is compiled
        kept, n_asked, asked = searched(X, y)
        BoundTest.answerable = lambda _, xs, *__: list(xs)  # type: ignore[method-assign]
        wanted, n_tests, seconds = searched(X, y)
        BoundTest.answerable = some  # type: ignore[method-assign]
        if kept != wanted:
            raise SystemExit(f"{name}: {kept} with the answerable tests, {wanted} with every test")
        shape = f"{len(X)}, {X.shape[1]}"
        cells = f"{n_tests:,}", f"{seconds:.3g}", f"{n_asked:,}", f"{asked:.2g}", f"{seconds / asked:,.0f}"
        print(row(name, shape, *cells))


if __name__ == "__main__":
    main()
