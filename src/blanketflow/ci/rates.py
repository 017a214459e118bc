"""Measured error rates of the CI tests: ``rates.csv``, which the calibration study writes from its counts.

Cards, the reasons of ``auto``, warnings and the documentation read this table, so that they say the same.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.cards import BOOLEAN, CATEGORICAL
from ..core.errors import UnknownNameError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from .unbound import CITest

__all__ = [
    "FAMILIES",
    "POWER",
    "VERDICTS",
    "Rate",
    "error_rates",
    "families_of",
    "invalid_in",
    "measured",
    "of_test",
    "worst_by_family",
]

#: What true nulls have in common: in each, X is independent of T given some columns.
FAMILIES = {
    "linear": "relations of numbers are linear",
    "levels": "columns have levels",
    "bends": "numbers follow bent functions of given ones",
    "noise": "given numbers change variances, or tails are heavy",
    "functions": "numbers are nearly functions of given ones",
    "rare": "flags depend on given numbers",
}
#: In place of a family: samples in which X depends on T.
POWER = "power"
CONSERVATIVE, CALIBRATED, NOT_SHOWN, INVALID = "conservative", "calibrated", "not shown", "invalid"
#: What is said of a test's rate, from the best to the worst.
VERDICTS = (CONSERVATIVE, CALIBRATED, NOT_SHOWN, INVALID)
#: The level of the rates that are given; verdicts are of alpha 0.01 too where it was measured.
ALPHA = 0.05
_FILE = Path(__file__).with_name("rates.csv")


class Rate(NamedTuple):
    """How often a test with options rejects: in the worst design of a family of nulls, or in one with a dependence."""

    test: str
    options: str
    family: str
    rows: int
    given: int
    design: str
    samples: int
    rejected: float
    upper: float
    verdict: str
    microseconds: float


@cache
def measured() -> tuple[Rate, ...]:
    """Return all rates.

    >>> {rate.family for rate in measured()} == {*FAMILIES, POWER}
    True
    """
    with _FILE.open(encoding="utf-8", newline="") as file:
        return tuple(
            Rate(
                *(row[name] for name in Rate._fields[:3]),
                int(row["rows"]),
                int(row["given"]),
                row["design"],
                int(row["samples"]),
                float(row["rejected"]),
                float(row["upper"]),
                row["verdict"],
                float(row["microseconds"]),
            )
            for row in csv.DictReader(file)
        )


def error_rates(test: str | None = None) -> pd.DataFrame:
    """Return how often CI tests reject true nulls, and find dependences, as measured by the calibration study.

    Parameters
    ----------
    test : str, optional
        Id of a test, or ``"auto"``. Default: all that were measured.

    Returns
    -------
    DataFrame
        One row per test, ``options``, ``family`` of nulls, number of ``rows`` and of ``given`` columns. ``rejected`` is
        the share of samples rejected at alpha 0.05 in the family's worst ``design``, and ``upper`` its exact upper 99 %
        bound. The ``verdict`` is ``calibrated`` (``upper`` is at most 1.4 alpha in all designs), ``conservative`` (at
        most alpha / 2), ``invalid`` (the lower 99 % bound of a design is above alpha) or ``not shown``. Where the
        family is ``power``, X depends on T, and there is no verdict. ``microseconds`` are those of binding a table and
        one test.

    Raises
    ------
    UnknownNameError
        If no test with this id was measured.

    Examples
    --------
    >>> found = error_rates("fisher-z")
    >>> bends = found[(found["family"] == "bends") & (found["rows"] == 1000)]
    >>> bends[["given", "verdict"]].values.tolist()
    [[1, 'invalid'], [3, 'invalid']]
    """
    import pandas as pd

    known = dict.fromkeys(rate.test for rate in measured())
    if test is not None and test not in known:
        raise UnknownNameError(f"no error rates were measured of a CI test {test!r}. {did_you_mean(test, known)}")
    return pd.DataFrame([rate for rate in measured() if test in (None, rate.test)], columns=list(Rate._fields))


def of_test(test: CITest | type[CITest]) -> list[Rate]:
    """Return the rates of a test with its options, or the default ones of a class; none if these were not measured.

    >>> from blanketflow.ci import get_ci_test
    >>> len(of_test(get_ci_test("gcm"))) > 0, of_test(get_ci_test("gcm", model="tree"))
    (True, [])
    """
    defaults = test.defaults()
    options = _as_texts(defaults if isinstance(test, type) else test.options())
    return [
        rate
        for rate in measured()
        if rate.test == test.card.id
        and _as_texts(defaults) | dict(option.split("=") for option in rate.options.split()) == options
    ]


def worst_by_family(rates: Iterable[Rate]) -> dict[str, Rate]:
    """Return the rate with the worst verdict of each family of nulls, and the highest of these.

    >>> from blanketflow.ci import get_ci_test
    >>> worst = worst_by_family(of_test(get_ci_test("spline")))
    >>> worst["linear"].verdict, worst["bends"].verdict, worst["bends"].design
    ('calibrated', 'invalid', 'steps')
    """
    nulls = [rate for rate in rates if rate.family != POWER]
    worst_last = sorted(nulls, key=lambda rate: (VERDICTS.index(rate.verdict), rate.rejected))
    found = {rate.family: rate for rate in worst_last}
    return {family: found[family] for family in FAMILIES if family in found}


def _as_texts(options: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in options.items()}


def families_of(kinds: Iterable[str], bends: str, has_flags: bool) -> list[str]:
    """Return the families that a table is known to have, given the kinds of its features, bends and flags.

    Labels beside numbers count as levels only if several columns have two values, of any type.

    >>> families_of(["numeric"], "y with x", has_flags=False), families_of(["boolean"], "", has_flags=True)
    (['linear', 'bends'], ['levels'])
    """
    has_numbers, has_levels = {*kinds} - {BOOLEAN, CATEGORICAL}, {BOOLEAN, CATEGORICAL}.intersection(kinds)
    known = {
        "linear": has_numbers,
        "levels": has_flags or (has_levels and not has_numbers),
        "bends": bends,
        "rare": has_numbers and has_flags,
    }
    return [family for family, is_known in known.items() if is_known]


def invalid_in(rates: Iterable[Rate], families: Iterable[str], n_rows: int) -> str:
    """Return where rates show a test to be invalid with so many rows, in these families; empty if nowhere.

    Rates are those of the largest measured number of rows that is not above `n_rows`, or of the smallest one.

    >>> from blanketflow.ci import get_ci_test
    >>> rates = of_test(get_ci_test("fisher-z"))
    >>> invalid_in(rates, ["linear", "bends"], 1500)
    'it rejects 100 % of true nulls at alpha 0.05 where numbers follow bent functions of given ones (squares, 1 given)'
    >>> invalid_in(rates, ["linear"], 1500)
    ''
    """
    found = []
    for family in families:
        of_family = [rate for rate in rates if rate.family == family]
        nearest = max((rate.rows for rate in of_family if rate.rows <= n_rows), default=None)
        at = min((rate.rows for rate in of_family), default=0) if nearest is None else nearest
        wrong = [rate for rate in of_family if rate.rows == at and rate.verdict == INVALID]
        if wrong:
            most = max(wrong, key=lambda rate: rate.rejected)
            of_nulls = "" if found else f" of true nulls at alpha {ALPHA:g}"
            where = f"{FAMILIES[family]} ({most.design}, {most.given} given)"
            found.append(f"{100 * most.rejected:.0f} %{of_nulls} where {where}")
    return f"it rejects {' and '.join(found)}" if found else ""
