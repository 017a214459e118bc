"""The engine of a CI test on counts or sums of products, imported on use so that a job loads only its test's code."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import RowsNeeded

if TYPE_CHECKING:
    from ..ci.engines import Engine
    from ..ci.unbound import UnboundTest
    from .agreement import Agreement
    from .summed_table import SummedTable

_PACKAGE = __package__.rpartition(".")[0]
#: The module of each test's engine, or kind of test, whose `prepared` returns it.
_MODULES = {
    "g2": "ci.contingency.packed_codes",
    "chi2": "ci.contingency.packed_codes",
    "fisher-z": "counts.correlations_of_sums",
    "lr-mixed": "counts.regressions_on_sums",
}


def engine_without_rows(test: UnboundTest, table: SummedTable) -> Engine:
    """Return the engine of a test for a table without rows; raises `RowsNeeded` if it needs rows.

    A test of your own has `prepare_summed`.
    """
    if hasattr(test, "prepare_summed"):
        return test.prepare_summed(table)
    if name := _module_of(test):
        return import_module(name).prepared(test, table)
    raise RowsNeeded(
        f"{test.card.id} needs rows, and only counts or cross products of them are known. Set ci_test to g2, chi2, "
        "fisher-z or lr-mixed."
    )


def why_rows(test: UnboundTest, agreement: Agreement) -> str:
    """Return why a test with `sums` still needs rows for the columns of an agreement; empty if not."""
    name = _module_of(test)
    asked: Any = getattr(import_module(name), "why_rows", None) if name else None
    return asked(test, agreement) if asked else ""


def source_of_engine(test: UnboundTest) -> Path | None:
    """Return the file of a test's engine; None if there is none."""
    name = _module_of(test)
    found = find_spec(name) if name else None
    return Path(found.origin) if found and found.origin else None


def _module_of(test: UnboundTest) -> str | None:
    ids = (vars(kind)["card"].id for kind in type(test).__mro__ if "card" in vars(kind))
    return next((f"{_PACKAGE}.{_MODULES[one]}" for one in ids if one in _MODULES), None)
