"""Warns of cells of tables in memory that may mean something else than they hold: what is found in files, too."""

from __future__ import annotations

import sys
import warnings
from itertools import chain

from ..core.cards import CATEGORICAL
from ..core.column import WideColumns
from ..core.column_checks import declared_labels
from ..core.errors import SuspectedCellsWarning
from ..core.table import Column, Table
from .dressed_numbers import at_limits
from .missing_markers import by_text
from .suspected_cells import is_sure, suspects_of

#: Rows in which codes of missing cells are looked for, so that a search takes hardly longer.
_MOST_ROWS = 10_000
#: What was said of fits by scikit-learn, which Python would say again, since filters of warnings change meanwhile.
_TOLD: set[str] = set()
_MOST_TOLD = 1_000


def warn_of_cells(where: str, X: object, table: Table, target: Column | None = None, stacklevel: int = 2) -> set[str]:
    """Warn of cells that may be missing, and of those below and above detection; return their columns.

    Columns that the frame `X` declares as categories hold labels, and those of a `Table` are declared. `stacklevel` is
    as in `warnings.warn`, from the caller on. Of fits that scikit-learn makes, as in a cross-validation, each text is
    said once, which is why texts have no numbers of cells.
    """
    if isinstance(X, Table):
        return set()
    declared = declared_labels(X, table)
    suspected = suspects_of(table.columns, declared, _MOST_ROWS).cells
    if target is not None:
        suspected = {**suspected, **suspects_of([target], (), _MOST_ROWS).cells}
    said = []
    if suspected:
        said.append(
            f"cells may be missing: {', '.join(by_text(suspected, counted=False))}. If they are, put numpy.nan in "
            "their place; if they are values, ignore SuspectedCellsWarning."
        )
    singles = table.columns.more if isinstance(table.columns, WideColumns) else table.columns
    labels = [one for one in singles if one.kind == CATEGORICAL and one.name not in declared]
    limits = [*chain.from_iterable(at_limits(one, {*filter(is_sure, one.levels)}) for one in labels)]
    if limits:
        first, names = limits[0], {one.column for one in limits}
        more = f"; so do {len(names) - 1} more" if len(names) > 1 else ""
        said.append(
            f"column {first.column!r} holds numbers, and {first.texts}, {first.side} what was measured, and is read as "
            f"labels{more}. Put numbers in their place, such as {first.proposed_in_words}, and make the column "
            "numeric, as pandas.to_numeric does."
        )
    is_repeated = sys._getframe(stacklevel).f_globals.get("__name__", "").partition(".")[0] == "sklearn"
    for text in (f"{where}: {one}" for one in said):
        if not (is_repeated and text in _TOLD):
            warnings.warn(text, SuspectedCellsWarning, stacklevel=stacklevel + 1)
        if is_repeated and len(_TOLD) < _MOST_TOLD:
            _TOLD.add(text)
    return {*suspected, *(one.column for one in limits)}
