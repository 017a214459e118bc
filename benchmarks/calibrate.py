"""How often each CI test is wrong under the null, and right under an alternative: `make calibrate`.

Counts are kept in docs/ci-tests.csv, so that a run goes on where the last one ended; from them come the tables of
docs/ci-tests.md and its two charts. Rows of a test whose code has changed are measured anew by `--fresh`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from calibration import charts, page, study
from threadpoolctl import threadpool_limits

DOCS = Path(__file__).parents[1] / "docs"


def main() -> None:
    """Count, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget-minutes", type=float, default=60.0, help="when to stop; 0 only writes the page")
    parser.add_argument("--only", nargs="+", metavar="TEST", choices=sorted({v.test for v in study.VARIANTS}))
    parser.add_argument("--fresh", action="store_true", help="forget earlier counts of these tests")
    arguments = parser.parse_args()
    results = DOCS / "ci-tests.csv"
    with threadpool_limits(1):  # several threads are slower than one on matrices as small as these
        study.run(results, study.cells(arguments.only), arguments.budget_minutes, arguments.fresh)
    rates = page.rates(results)
    page.write(DOCS / "ci-tests.md", rates)
    charts.write(DOCS, rates)


if __name__ == "__main__":
    main()
