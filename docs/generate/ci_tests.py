"""The table of docs/ci-tests.md with the verdicts on the CI tests; `make docs` writes it between two comments."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from blanketflow.ci.rates import FAMILIES, INVALID, NOT_SHOWN, POWER, Rate, worst_by_family

from .markdown import between, table
from .rates import code, used_options


def ci_tests_text(present: str) -> str:
    """Return docs/ci-tests.md with the verdicts of the tests.

    Examples
    --------
    >>> "| `spline` |" in ci_tests_text("<!-- error rates --><!-- end of error rates -->")
    True
    """
    rows = []
    for label, rates in used_options().items():
        worst = worst_by_family(rates)
        cells = [_verdict(worst[family], rates) if family in worst else "" for family in FAMILIES]
        at = [rate.microseconds for rate in rates if rate.rows == 1000 and rate.family != POWER]
        rows.append([code(label), *cells, f"{max(at):,.0f}" if at else ""])
    return between(present, "error rates", table(["test", *FAMILIES, "µs at 1,000 rows"], rows))


def _verdict(worst: Rate, rates: Iterable[Rate]) -> str:
    verdicts = [rate.verdict for rate in rates if rate.family == worst.family]
    if worst.verdict == INVALID:
        where = f"{worst.design}, {worst.rows:,} rows, {worst.given} given"
        return f"**{INVALID}**: {100 * worst.rejected:.0f} % ({where})"
    n_right = len(verdicts) - verdicts.count(NOT_SHOWN)
    return f"{NOT_SHOWN}: {n_right} of {len(verdicts)}" if worst.verdict == NOT_SHOWN else worst.verdict


def main() -> None:
    """Write the verdicts into docs/ci-tests.md."""
    path = Path(__file__).parents[1] / "ci-tests.md"
    path.write_text(ci_tests_text(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
