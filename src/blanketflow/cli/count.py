"""``blanketflow count``: counts the rows of one place by an agreement, or writes the agreement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import ConfigError
from ..core.printable import redacted_text
from ..counts.agreement import TABLES, TRIPLES
from .options import DataSet, Table, Target, dataset_spec, files
from .terminal import note


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
