"""What is confirmed of the final blankets, on rows that their searches never saw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...data.artefact_columns import ARTEFACTS, rows_of
from .result_table import frame

if TYPE_CHECKING:
    import pandas as pd


CONFIRMED = rows_of(
    "data set, selector and feature of the final blanket, tested given the others on rows that the search never saw",
    f"dataset selector {' '.join(ARTEFACTS['confirm'].columns)}",
    **ARTEFACTS["confirm"].columns,
)


def confirmed_table(confirmed: pd.DataFrame) -> pd.DataFrame:
    """List the members of each final blanket with what the rows that were left out say of them."""
    return frame(CONFIRMED, confirmed.to_dict("records"))


def in_words(confirmed: pd.DataFrame) -> str:
    """Return in a sentence how many members of one blanket are confirmed; empty if none was tested."""
    n, found = len(confirmed), int(confirmed["confirmed"].sum())
    if not n:
        return ""
    which = "The one feature" if n == 1 else f"{found} of these {n}"
    verb = ("is" if found else "is not") if n == 1 else ("is" if found == 1 else "are")
    return f"{which} {verb} confirmed on rows that the search never saw."
