"""`max_rows` of a selector class is refused where the search takes all rows."""

from __future__ import annotations

from ..ci.base import CITest
from ..core.errors import ParameterError, UnsupportedError
from .base import Method


def check_max_rows(
    where: str, method: Method, test: CITest | None, max_rows: int | None, are_weighted: bool = False
) -> None:
    """Raise `ParameterError` if a sample is asked for of a search that takes all rows; the message begins with `where`.

    The test decides it, or the method if it has none. Of a data set a sample may be asked, since some searches on it
    take one and others do not. Rows with weights are refused by `UnsupportedError`.
    """
    if max_rows is not None and are_weighted:
        raise UnsupportedError(f"{where}: rows that count several times are not sampled. Remove max_rows.")
    if max_rows is not None and not (test or method).card.takes_max_rows:
        of = method.card.id if test is None else f"{method.card.id} with {test.card.id}"
        raise ParameterError(f"{where}: {of} takes all rows, and never a sample of them. Remove max_rows.")
