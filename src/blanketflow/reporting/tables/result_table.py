"""Result tables with their columns, and the reference selectors: all features, none, and the true blanket."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...data.artefact_columns import Rows

if TYPE_CHECKING:
    import pandas as pd


#: Ids of their methods. No features and the truth cannot be chosen and so do not compete.
ALL, NOTHING, TRUTH = "all", "none", "true-blanket"
_NOT_COMPETING = (NOTHING, TRUTH)


def selector_of(method: str, selectors: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the id of the selector with a reference method; the method's id if there is none in `selectors`.

    >>> selector_of("all", {"mine": {"method": "gs"}, "everything": {"method": "all"}})
    'everything'
    """
    return next((name for name, spec in selectors.items() if spec.get("method") == method), method)


def is_reference(selector: str, selectors: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether a selector is only a reference."""
    return _method(selector, selectors) in (ALL, NOTHING, TRUTH)


def competes(selector: str, selectors: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether the scores of a selector are compared with others; those of all features are."""
    return _method(selector, selectors) not in _NOT_COMPETING


def reference_of(alternatives: pd.DataFrame) -> tuple[int, str]:
    """Return the row of the reference set among sets of several sizes, and its name.

    It is all features, or no features if there was no time to score all.

    >>> import pandas as pd
    >>> reference_of(pd.DataFrame({"ranking": ["none", "mim", "all"]}))
    (2, 'all features')
    """
    names = list(alternatives["ranking"])
    return (names.index(ALL), "all features") if ALL in names else (names.index(NOTHING), "no feature")


def _method(selector: str, selectors: Mapping[str, Mapping[str, Any]]) -> str:
    return selectors.get(selector, {}).get("method", selector)


@dataclass(frozen=True)
class Found:
    """The results of a run as input of the result tables.

    `blankets`, `folds` and `evaluations` are rows of these artefacts with data set, selector and split;
    `both_selections` adds evaluate_optimistic with `selected_on`; `confirmed` is from confirm. `ended` has the status
    of each search and model, `skipped` (data set, selector, reason) of pairs that were not run. `cards` and `selectors`
    have cards and specs by id. `n_parts` is that of `corrected_mean`, 0 if it differs (one per group). `scores` is
    that result table. `targets` has the data set of each target, by the id of a data set with several. `observed` has
    the rows of that result table, which evaluations keep. `discoveries` has the discoveries by level of final searches,
    as columns, by data set and selector, and `drift` the periods of forward splits and what is known of the features in
    each.
    """

    cards: Mapping[str, Mapping[str, Any]]
    blankets: pd.DataFrame
    folds: pd.DataFrame
    evaluations: pd.DataFrame
    both_selections: pd.DataFrame
    confirmed: pd.DataFrame
    ended: pd.DataFrame
    skipped: Sequence[Sequence[str]]
    selectors: Mapping[str, Mapping[str, Any]]
    n_parts: float
    scores: pd.DataFrame
    targets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    observed: Sequence[Mapping[str, Any]] = ()
    discoveries: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    drift: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)

    @property
    def competing(self) -> pd.DataFrame:
        """The scores of the competing selectors."""
        names = self.scores["selector"]
        return self.scores[names.map(lambda name: competes(name, self.selectors)).astype(bool)]


@dataclass(frozen=True)
class ResultTable:
    """A result table: a short description for Snakemake's report, its columns, and how it is made."""

    holds: str
    rows: Rows
    make: Callable[[Found], pd.DataFrame]


def rows_where(frame: pd.DataFrame, **where: str) -> pd.DataFrame:
    """Return the rows of a frame with the given column values."""
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


def by_importance(blanket: pd.DataFrame) -> pd.DataFrame:
    """Return the features of a blanket, most important first."""
    return blanket.sort_values(["importance", "frequency"], ascending=False, kind="stable", na_position="last")


def frame(table: Rows, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows, possibly none, as a frame with the columns of a table."""
    return typed_frame(rows, table.types())


#: pandas' type for each type name that `blanketflow.data.artefacts.write_columns` accepts.
_DTYPES = {"string": "str", "double": "float64", "int64": "int64", "bool": "bool"}


def typed_frame(rows: Iterable[Mapping[str, Any]], types: Mapping[str, str]) -> pd.DataFrame:
    """Return rows as a frame with the columns of `types` in this order; other keys are ignored.

    >>> typed_frame([], {"dataset": "string", "alpha": "double"})["alpha"].dtype
    dtype('float64')
    """
    import pandas as pd

    rows = list(rows)
    return pd.DataFrame(
        {column: pd.Series([row[column] for row in rows], dtype=_DTYPES[kind]) for column, kind in types.items()}
    )
