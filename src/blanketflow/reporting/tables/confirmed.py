"""What is confirmed of the final blankets, on rows that their searches never saw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...data.artefact_columns import ARTEFACTS, rows_of
from .result_table import typed_frame

if TYPE_CHECKING:
    import pandas as pd


CONFIRMED = rows_of(
    "data set, selector and feature of the final blanket, tested given the others on rows that the search never saw",
    f"dataset selector {' '.join(ARTEFACTS['confirm'].columns)}",
    sometimes=" ".join(ARTEFACTS["confirm"].sometimes),
    **ARTEFACTS["confirm"].columns,
)
#: How many features that a blanket left out are named.
MOST_NAMED = 5


def confirmed_table(confirmed: pd.DataFrame) -> pd.DataFrame:
    """List the members of each final blanket with what the rows that were left out say of them.

    With several splits there are further features, those confirmed that the blanket left out.
    """
    has_splits = "splits" in confirmed.columns
    if has_splits:  # beside selectors with one split
        one = confirmed["splits"].isna()
        confirmed = confirmed.assign(
            member=confirmed["member"].where(~one, True), splits=confirmed["splits"].where(~one, 1)
        )
    return typed_frame(confirmed.to_dict("records"), CONFIRMED.types(has_splits))


def in_words(confirmed: pd.DataFrame) -> str:
    """Return in sentences how many members of one blanket are confirmed; empty if none was tested."""
    has_splits = "splits" in confirmed.columns and len(confirmed) > 0 and int(confirmed["splits"].max()) > 1
    members = confirmed[confirmed["member"]] if has_splits else confirmed
    n, found = len(members), int(members["confirmed"].sum())
    said = []
    if n:
        which = "The one feature" if n == 1 else f"{found} of these {n}"
        verb = ("is" if found else "is not") if n == 1 else ("is" if found == 1 else "are")
        by = "by several random splits, each on rows that its" if has_splits else "on rows that the"
        said.append(f"{which} {verb} confirmed {by} search never saw.")
    others = list(confirmed.loc[~confirmed["member"], "feature"]) if has_splits else []
    if others:
        more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
        named = ", ".join(others[:MOST_NAMED]) + more
        said.append(f"So {'is' if len(others) == 1 else 'are'} {named}, which this search left out.")
    return " ".join(said)
