"""``blanketflow count`` and ``blanketflow merge``: counts of several places, so that no rows leave them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import ConfigError, UnreliableWarning
from ..core.printable import printable, redacted_text
from ..counts.agreement import TABLES, TRIPLES
from .options import AsJson, DataSet, Table, Target, dataset_spec, files, method_ids, test_ids
from .terminal import note, show, show_json


def count(
    table: Table,
    agreement: Annotated[Path, typer.Argument(help="JSON file of the agreement", autocompletion=files)],
    agree: Annotated[
        bool, typer.Option("--agree", help="write the agreement; if it exists, add this table's levels")
    ] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Parquet file of the counts")] = None,
    target: Target = None,
    tables: Annotated[str, typer.Option(help=f"with --agree: {', '.join(TABLES[:-1])}")] = TRIPLES,
    min_cell: Annotated[
        int, typer.Option(help="with --agree: tables with a cell of fewer rows, but some, are refused", min=0)
    ] = 0,
    bins: Annotated[int, typer.Option(help="with --agree: bins of a numeric column", min=2)] = 5,
    data_set: DataSet = None,
) -> None:
    """Count the rows of one place, so that only counts leave it.

    First one place writes an agreement with --agree: levels, bin borders, and which tables are counted. Then each place
    counts by it, and blanketflow merge adds the counts and searches. docs/shards.md lists the methods that need one
    exchange, and the limits of the protection.
    """
    from ..api.statistics import agree as agreed
    from ..api.statistics import blocks_of
    from ..counts.counting import count_rows
    from ..counts.sufficient_statistics import read_agreement, write_agreement, write_statistics

    if agree == (output is not None):
        raise ConfigError("give either --agree, to write the agreement, or -o FILE, to count by it.")
    earlier = read_agreement(agreement) if agreement.exists() or not agree else None
    if earlier is None and target is None:
        raise ConfigError("an agreement is about one column to predict: name it with --target.")
    if earlier is not None and target not in (None, earlier.target):
        raise ConfigError(f"{agreement} is about the target {earlier.target!r}. Remove --target, or name another file.")
    spec = dataset_spec(table, target if earlier is None else earlier.target, data_set or ())
    rows = blocks_of(spec if earlier is None else {"task": earlier.task, **spec}, whole=earlier is None)
    if output is None:
        found = agreed(rows, spec["target"], tables=tables, min_cell=min_cell, bins=bins, earlier=earlier)
        write_agreement(agreement, found)
        note(f"Wrote {agreement}: {len(found.names)} columns, {found.tables}, min_cell {found.min_cell}.")
        return
    counted = count_rows(rows, earlier)
    write_statistics(output, counted)
    note(f"Wrote {output}: {counted.n_rows:,} rows of {redacted_text(table)}, {counted.told()}.")


def merge(
    parts: Annotated[list[Path], typer.Argument(metavar="FILE...", help="what was counted", autocompletion=files)],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Parquet file of the sum")] = None,
    earlier: Annotated[
        Path | None, typer.Option(help="the sum of earlier exchanges, to which these tables are added")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="search with this method, an id from blanketflow list", autocompletion=method_ids)
    ] = None,
    ci_test: Annotated[
        str | None,
        typer.Option(help="g2, chi2, fisher-z or lr-mixed (default: the method's own)", autocompletion=test_ids),
    ] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="options of the method, such as alpha=0.01")
    ] = None,
    test_options: Annotated[
        list[str] | None,
        typer.Option("--test-set", metavar="KEY=VALUE", help="options of --ci-test, such as directions=linear"),
    ] = None,
    ask: Annotated[
        Path | None, typer.Option(help="JSON file for the next exchange, written if the search needs more tables")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add the counts of several places, and search on the sum.

    Prints the selected features. If the search needs more tables, --ask FILE writes an agreement for them: count by it
    at every place, then merge with --earlier.
    """
    from ..api.get_selector import get_selector
    from ..api.select_command import settings
    from ..api.statistics import fit_statistics
    from ..api.statistics import merge as merged
    from ..ci import get_ci_test
    from ..counts.sufficient_statistics import TablesNotCounted, read_statistics_of, write_agreement, write_statistics

    if method is None and output is None:
        raise ConfigError("give -o FILE for the sum, --method for a search on it, or both.")
    if test_options and ci_test is None:
        raise ConfigError("--test-set gives options to a CI test: name it with --ci-test.")
    found = merged(parts)
    if earlier is not None:
        found = read_statistics_of(earlier).joined(found)
    note(f"{found.n_rows:,} rows of {len(parts)} files, {found.told()}.")
    for columns in found.refused:
        note(f"refused: {printable(', '.join(columns))}")
    if output is not None:
        write_statistics(output, found)
    if method is None:
        return
    configured = get_ci_test(ci_test, **settings(test_options)) if ci_test and test_options else ci_test
    asked = {} if configured is None else {"ci_test": configured}
    try:
        with warnings.catch_warnings(action="ignore", category=UnreliableWarning):  # the status is printed
            fitted = fit_statistics(get_selector(method, **asked, **settings(options or ())), found)
    except TablesNotCounted as error:
        if ask is None:
            raise
        write_agreement(ask, found.agreement.asking(error.column_sets))
        note(f"Wrote {ask}: {len(error.column_sets)} more tables are needed.")
        raise typer.Exit(1) from None
    told = {
        "target": found.agreement.target,
        "method": method,
        "ci_test": fitted.ci_test_.card.id if fitted.ci_test_ else None,
        "n_rows": found.n_rows,
        "n_tests": fitted.n_tests_,
        "status": fitted.status_,
        "reason": fitted.reason_,
        "features": fitted.selected_features_,
        "refused": [list(columns) for columns in found.refused],
    }
    if as_json:
        show_json(told)
        return
    show(printable(f"{told['target']}: {len(fitted.selected_features_)} features, {fitted.n_tests_} tests"))
    if fitted.status_ != "ok":
        show(printable(f"{fitted.status_}: {fitted.reason_}"))
    for name in fitted.selected_features_:
        show(f"  {printable(name)}  {fitted.roles_[name]}")
