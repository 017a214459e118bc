"""Which methods can search where cells are missing: those that ask nothing but a CI test that can."""

from __future__ import annotations

from ..ci.base import CITest
from ..ci.missing.incomplete_rows import incomplete_rule, why_not_incomplete, with_incomplete
from ..core.cards import IMPUTATIONS
from ..core.errors import UnsupportedError
from .base import Method


def why_complete_rows(method: Method, test: CITest | None, rule: str | int | None) -> str | None:
    """Return why a method with a test cannot search by a rule of `incomplete_rule`, or None if it can."""
    if rule is None:
        return None
    if method.needs_complete_rows():
        asked = IMPUTATIONS if isinstance(rule, int) else rule
        options = "" if method.learns_from == "rows" else " with these options"
        return (
            f"{method.card.id}{options} looks at the rows themselves, so that {asked} is refused: set "
            "missing to impute or drop, or choose a search by a CI test"
        )
    return None if test is None else why_not_incomplete(test, rule)


def for_missing_cells(
    where: str, method: Method, test: CITest | None, missing: str, imputations: int | None
) -> CITest | None:
    """Return the test as it is when bound to rows with missing cells.

    Raises `UnsupportedError`, beginning with `where`, if the method or the test needs complete rows, and
    `ParameterError` if copies are asked for but nothing is imputed.
    """
    rule = incomplete_rule(where, missing, imputations)
    if reason := why_complete_rows(method, test, rule):
        raise UnsupportedError(f"{where}: {reason}.")
    return None if test is None else with_incomplete(test, rule)
