"""``bf.agree``, ``bf.count``, ``bf.merge`` and ``bf.fit_statistics``: selection from counts, without pooling rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..core.errors import ConfigError, DataError
from ..core.prior import KEYS
from ..core.seeds import DEFAULT_SEED
from ..core.table import COUNTS
from ..counts.agreement import CROSS_PRODUCTS, TRIPLES, Agreement
from ..counts.sufficient_statistics import SufficientStatistics

if TYPE_CHECKING:
    from ..ci.base import CITest
    from ..counts.counting import PackedRows, RowBlocks
    from ..counts.summed_table import SummedTable
    from .estimator import MarkovBlanketSelector

    Fitted = TypeVar("Fitted", bound=MarkovBlanketSelector)

#: Options of a selector class on the use of rows, with the values that leave the rows unchanged.
_OF_ROWS = {
    "n_folds": 0,
    "confirm": None,
    "confirm_splits": 1,
    "max_rows": None,
    "missing": "error",
    "imputations": None,
    "weights_are": COUNTS,
}


def agree(
    X: Any,
    target: str,
    *,
    tables: str = TRIPLES,
    min_cell: int = 0,
    bins: int = 5,
    binning: str = "quantile",
    task: str = "auto",
    earlier: Agreement | None = None,
) -> Agreement:
    """Find levels and bin borders for counting at several places, from the table of one of them.

    Parameters
    ----------
    X : DataFrame, Table, path or mapping
        Features and target, or the keys of a data set in a config. Parquet files are read one column at a time.
    target : str
        Name of the target.
    tables : {"relevance", "pairs", "triples", "cross-products"}, default="triples"
        What is counted: each feature with the target, enough for `MIM`; every two columns (`MRMR`, `MIFS`, `FCBF`); the
        target with every two features (these, and `JMI`, `CMIM`, `CIFE`, `DISR`); or means and sums of products of
        numbers and of indicators of labels, enough for every search by ``fisher-z``, and of a numeric target by
        ``lr-mixed``.
    min_cell : int, default=0
        Tables with a cell of 1 .. min_cell - 1 rows are refused; zeros are disclosed. 0 refuses nothing.
    bins : int, default=5
        Bins of a numeric column, at least 2; a column with at most as many distinct values keeps them.
    binning : {"quantile", "uniform", "kmeans"}, default="quantile"
        How numeric columns are binned.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of the target; taken from an earlier agreement if given.
    earlier : Agreement, optional
        An agreement to which this table's levels are added; its borders, `tables` and `min_cell` are kept.

    Returns
    -------
    Agreement
        For `count` at every place; it has levels and borders, but no counts.

    Raises
    ------
    DataError, ConfigError, ParameterError
        If the table cannot be used, or an argument is out of range.

    Examples
    --------
    >>> import blanketflow as bf
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [0, 0, 1, 1] * 10, "b": [0, 1] * 20, "y": [0, 0, 1, 1] * 10})
    >>> agreement = bf.agree(X, "y")
    >>> [coding.levels for coding in agreement.codings]
    [(0, 1), (0, 1), ('0', '1')]
    """
    from ..ci.contingency.contingency import DiscreteTest
    from ..counts.counting import agreed_coding

    for name, value in (("bins", bins), ("binning", binning)):
        DiscreteTest.parameters()[name].check("agree", name, value)
    rows = blocks_of(X, target, earlier.task if earlier else task, whole=earlier is None)
    by = None if (earlier.tables if earlier else tables) == CROSS_PRODUCTS else binning
    if earlier is None:
        codings = tuple(agreed_coding(rows.column(name), bins, by) for name in rows.names)
        return Agreement(target, codings, tables, min_cell)
    lacking = sorted({*earlier.names} - {*rows.names})
    if lacking or earlier.target != target:
        raise DataError(
            f"the earlier agreement is of the target {earlier.target!r} and of columns not here: {lacking}."
        )
    codings = tuple(c.extended(agreed_coding(rows.column(c.name), bins, by)) for c in earlier.codings)
    return Agreement(target, codings, earlier.tables, earlier.min_cell, earlier.asked)


def count(X: Any, agreement: Agreement | str | Path) -> SufficientStatistics:
    """Count a table by an agreement. Parquet files are read once, with one block of rows in memory at a time.

    Parameters
    ----------
    X : DataFrame, Table, path or mapping
        All columns of the agreement, without missing cells; or the keys of a data set in a config.
    agreement : Agreement or path
        The result of `agree`, or its JSON file.

    Returns
    -------
    SufficientStatistics
        Tables of counts or cross products of these rows.

    Raises
    ------
    DataError
        If the table does not fit the agreement, for example because of a level that it lacks.

    Examples
    --------
    >>> import blanketflow as bf
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [0, 0, 1, 1] * 10, "b": [0, 1] * 20, "y": [0, 0, 1, 1] * 10})
    >>> bf.count(X, bf.agree(X, "y", tables="relevance")).counts["a", "y"].tolist()
    [[20, 0], [0, 20]]
    """
    from ..counts.counting import count_rows
    from ..counts.sufficient_statistics import read_agreement

    agreed = agreement if isinstance(agreement, Agreement) else read_agreement(agreement)
    return count_rows(blocks_of(X, agreed.target, agreed.task, whole=False), agreed)


def pack(X: Any, agreement: Agreement | str | Path) -> PackedRows:
    """Store a table as codes of 1 to 16 bits per cell, from which a search counts any table that it needs.

    Parquet files are read once, in blocks of rows. 100,000,000 rows of 37 columns of up to four levels take 0.8 GB.

    Parameters
    ----------
    X : DataFrame, Table, path or mapping
        As in `count`.
    agreement : Agreement or path
        The result of `agree`, or its JSON file. Its `tables` and `min_cell` are ignored.

    Returns
    -------
    PackedRows
        For `fit_statistics`, with any search that uses only its CI test, ``g2`` or ``chi2``.

    Raises
    ------
    DataError, UnsupportedError
        If the table does not fit the agreement, or a column has more than 65,536 levels.

    Examples
    --------
    >>> import blanketflow as bf
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [0, 0, 1, 1] * 10, "b": [0, 1] * 20, "y": [0, 0, 1, 1] * 10})
    >>> packed = bf.pack(X, bf.agree(X, "y"))
    >>> bf.fit_statistics(bf.HITONMB(ci_test="g2"), packed).selected_features_
    ['a']
    """
    from ..counts.sufficient_statistics import read_agreement
    from .rows_in_blocks import packed_rows

    agreed = agreement if isinstance(agreement, Agreement) else read_agreement(agreement)
    return packed_rows(blocks_of(X, agreed.target, agreed.task, whole=False), agreed)


def merge(parts: Sequence[SufficientStatistics | str | Path]) -> SufficientStatistics:
    """Add up the counts of several places: tables exactly, cross products to about 1e-10 of those of the pooled rows.

    Parameters
    ----------
    parts : sequence of SufficientStatistics or paths
        The results of `count` at each place, or the files of ``blanketflow count``.

    Returns
    -------
    SufficientStatistics
        Statistics of the rows of all places. A table that one place refuses is refused.

    Raises
    ------
    DataError
        If there are no parts, or they come from different agreements.

    Examples
    --------
    >>> import blanketflow as bf
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [0, 0, 1, 1] * 10, "b": [0, 1] * 20, "y": [0, 0, 1, 1] * 10})
    >>> agreement = bf.agree(X, "y")
    >>> bf.merge([bf.count(X[:15], agreement), bf.count(X[15:], agreement)]).n_rows
    40
    """
    from ..counts.sufficient_statistics import read_statistics_of

    found = [part if isinstance(part, SufficientStatistics) else read_statistics_of(part) for part in parts]
    if not found:
        raise DataError("there is nothing to merge. Give what was counted at each place.")
    return reduce(SufficientStatistics.merged, found)


def fit_statistics(selector: Fitted, statistics: SufficientStatistics | PackedRows | str | Path) -> Fitted:
    """Fit a selector to counts, as if it had seen the rows.

    Parameters
    ----------
    selector : MarkovBlanketSelector
        A selector that uses only its CI test, ``g2``, ``chi2``, ``fisher-z`` or ``lr-mixed``, without folds and other
        options on rows. ``auto`` is ``g2`` for counts, and for cross products ``fisher-z`` or, with labels of more than
        two levels, ``lr-mixed`` with ``directions: linear``. The agreement replaces the test's `bins` and `binning`.
    statistics : SufficientStatistics, PackedRows or path
        The result of `count` or `merge`, or its file; or the result of `pack`.

    Returns
    -------
    MarkovBlanketSelector
        The selector itself. Its status is ``unreliable`` if the search needed refused tables.

    Raises
    ------
    TablesNotCounted
        If the search needs tables that were not counted, listed in its `column_sets`.
    RowsNeeded
        If a test needs rows, such as ``lr-mixed`` for two labels.
    ConfigError, UnsupportedError, ParameterError
        If an option or the method needs rows, or a parameter is out of range.

    Examples
    --------
    >>> import blanketflow as bf
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [0, 0, 1, 1] * 10, "b": [0, 1] * 20, "y": [0, 0, 1, 1] * 10})
    >>> counts = bf.count(X, bf.agree(X, "y"))
    >>> bf.fit_statistics(bf.JMI(n_features=1), counts).selected_features_
    ['a']
    """
    from ..ci.choice import AUTO
    from ..counts.sufficient_statistics import read_statistics_of
    from ..counts.summed_table import SummedTable
    from ..search.sample import Sample

    if isinstance(statistics, str | Path):
        statistics = read_statistics_of(statistics)
    name, agreement = type(selector).__name__, statistics.agreement
    for option, plain in _OF_ROWS.items():
        if getattr(selector, option) != plain:
            raise ConfigError(
                f"{name}: {option} needs rows, and only statistics of them are known. Set {option} to {plain}."
            )
    if selector.task not in ("auto", agreement.task):
        raise ConfigError(f"{name}: task is {selector.task}, but what was counted is for {agreement.task}.")
    search, table = selector.search(), SummedTable(statistics)
    search = replace(search, test=_chosen(table)) if search.test == AUTO else search
    features = table.select([column for column in table.names if column != agreement.target])
    selector.task_ = agreement.task
    selector._table_names, selector._own_names = features.names, {}
    selector.n_features_in_, selector.feature_names_in_ = len(features), np.array(features.names, dtype=object)
    return selector._take(search.run(Sample(features, table[agreement.target], agreement.task)))


def _chosen(table: SummedTable) -> CITest:
    """Return the test chosen from what is known of a table."""
    from ..ci import get_ci_test

    if table.statistics.cross_products is None:
        return get_ci_test("g2")
    of_numbers = get_ci_test("fisher-z")
    takes_all = all(of_numbers.supports(column) is None for column in table.columns)
    return of_numbers if takes_all else get_ci_test("lr-mixed", directions="linear")


def blocks_of(X: Any, target: str | None = None, task: str = "auto", whole: bool = True) -> RowBlocks:
    """Return a table as blocks of rows, from a frame, a file, or the keys of a data set in a config.

    Unless it is `whole`, its rows may be of one class.
    """
    from ..config.reading import checked_dataset
    from ..core.convert import as_table
    from ..counts.counting import STREAMED, ParquetBlocks, RowBlocks, TableBlocks
    from ..data.arrow_frames import as_frame
    from ..data.column_roles import assemble
    from ..data.sources import locate, read_source
    from ..workflow.sharded import keys_that_need_rows

    if isinstance(X, RowBlocks):
        return X
    if isinstance(X, str | Path):
        X = {"path": str(X)}
    if isinstance(X, Mapping):
        X = {"target": target, "task": task, **X}
        checked_dataset("table", X)
        if target not in (None, X["target"]):
            raise ConfigError(f"table: target is {X['target']!r} in its keys, but {target!r} is asked for. Name one.")
        unknown = [*keys_that_need_rows(X), *(key for key in (*KEYS, "max_rows", "shards", "test_rows") if X.get(key))]
        if unknown:
            raise ConfigError(
                f"table: counts of rows cannot obey {unknown[0]}. Remove it, and list what is not a feature under drop."
            )
        is_streamed = {key for key, value in X.items() if value is not None} <= STREAMED
        if is_streamed and (source := locate("table", X)).kind == "parquet":
            with source.user_file.named():
                return ParquetBlocks("table", {**X, "path": str(source.path)})
        raw = read_source("table", X, DEFAULT_SEED, whole=whole)
    else:
        columns, spec = list(as_table(as_frame(X)).columns), {"target": target, "task": task}
        raw = assemble("table", spec, columns, str(target), whole=whole)
    return TableBlocks(raw.features.with_column(raw.target))
