"""How often each CI test is wrong under the null, and right under an alternative: `make calibrate`.

Counts are kept in ci-tests.parquet, so that a run goes on where the last one ended; from them come the tables of
README.md, its two charts, and the rates that the package has. Rows of a test whose code has changed are measured anew
by `--fresh`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from studies.calibration import study

HERE = Path(__file__).parent
RATES = HERE.parents[1] / "src" / "blanketflow" / "ci" / "rates.csv"


def main() -> None:
    """Count, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget-minutes", type=float, default=60.0, help="when to stop; 0 only writes the page")
    tests = sorted({v.test for v in study.VARIANTS})
    parser.add_argument("--only", nargs="+", action="extend", metavar="TEST", choices=tests)
    parser.add_argument("--fresh", action="store_true", help="forget earlier counts of these tests")
    parser.add_argument(
        "--workers", type=int, default=1, help="processes that count; counts are the same for any number"
    )
    parser.add_argument("--results", type=Path, help="count in this file, and leave the page as it is")
    arguments = parser.parse_args()
    results = arguments.results or HERE / "ci-tests.parquet"
    if arguments.budget_minutes:
        asked = study.cells(arguments.only)
        study.run(results, asked, arguments.budget_minutes, arguments.fresh, arguments.workers)
    if arguments.results:
        return
    from studies.calibration import charts, page  # counting needs no charts

    cells, choices = page.rates(results)
    page.write(HERE / "README.md", cells, choices)
    page.by_family(cells, choices).to_csv(RATES, index=False)
    charts.write(HERE, cells)


if __name__ == "__main__":
    main()
