"""The page of the results: every file of a run with its columns, as the package declares them."""

from __future__ import annotations

from dataclasses import fields

from blanketflow.data.artefact_columns import ARTEFACTS, COLUMNS, Column, Rows
from blanketflow.data.provenance import WHAT, Provenance
from blanketflow.models.metrics import METRICS
from blanketflow.reporting.tables import TABLES
from blanketflow.workflow.layout import path_of

from .markdown import table

#: The artefacts of the stages, each under its own heading; `splits` has the columns of `all_splits`.
STAGES = [name for name in ARTEFACTS if name != "splits"]
_OTHERS = {
    path_of("report"): "one page, opens offline: blankets, scores, charts, failures with reasons, versions",
    path_of("provenance"): "versions, seed, configuration, platform",
    f"{path_of('figures')}/*.svg": "the charts of the report",
    path_of("card"): "what the data set is: rows, kinds, target, task with its reason, missing cells, notes",
    path_of(
        "agreement"
    ): "levels and borders of bins by which the shards of a fold's rows are counted, of data sets with "
    "`shards`; as `counts`, but of no rows",
    path_of("table"): "the features in order, then groups if any, then the target. Above 2,000 features "
    "(sparse: 400) one row per feature, so that a job of a wide table reads only what it needs",
    "logs/, benchmarks/": "what each job said, and its seconds and memory as Snakemake measured them",
}


_METADATA = {
    "spec": "canonical JSON of all that was asked for",
    "seed": "the seed that the stage derived its random numbers from",
    "status": COLUMNS["status"].meaning,
    "reason": COLUMNS["reason"].meaning,
    "n_tests": COLUMNS["n_tests"].meaning,
    "seconds": "wall seconds of the stage; no part of what equal results means",
    "version": "of blanketflow, for information only",
    "extra": "more facts of this file, as JSON",
    "what": "what it is, one key for each: `" + "`, `".join(WHAT) + "`, as far as they apply",
    "code": "digest of the code that can change the result",
    "inputs": "content digests of what it was made from, as JSON",
    "content": "digest of names, types and values, and of how it ended, without seconds",
    "beside": "content digests of files that were made with it, such as a table's card, as JSON",
}
_DIGESTS = {
    "parts": "digest of each column in each block of rows, one after the other",
    "seconds_parts": "the same of columns that hold seconds",
    "blocks": "rows of each block, as JSON",
    "checksum": "digest of the other keys, but for seconds and `beside`",
}


def results_page() -> str:
    """Return the page."""
    parts = [
        "# Results",
        "A run writes these files below `output` (`results` by default). `{dataset}`, `{selector}` and `{test}` are "
        "ids of the config; `{split}` is `full` (all rows: the final blanket) or `cv-1`, `cv-2`, ... (training rows of "
        "an evaluation split); `{fold}` is `0` without inner folds, else `1of5` to `5of5`.",
        "Parquet files are read by pandas, polars, R's arrow, DuckDB and others: "
        '`pandas.read_parquet("results/tables/scores.parquet")`. No file is a pickle.',
        "## Files",
        table(["file", "holds"], [(f"`{path}`", what) for path, what in _OTHERS.items()]),
        "## Stages",
    ]
    for name in STAGES:
        parts += [
            f"### {name}",
            f"`{path_of(name)}`. One row for each {ARTEFACTS[name].each}.",
            _columns(ARTEFACTS[name]),
        ]
    parts += [
        "## Tables",
        "Over all data sets, in `tables/`, each as Parquet and CSV. In the CSV files a name that begins with `=`, `+`, "
        "`-` or `@` has an apostrophe before it, since a spreadsheet would compute it, and characters that are not "
        "shown are written as escapes. Parquet holds every name as it is.",
    ]
    for name, made in TABLES.items():
        where = " and ".join(f"`{path_of(kind, table=name)}`" for kind in ("result_table", "result_table_csv"))
        parts += [f"### tables/{name}", f"{where}. One row for each {made.rows.each}.", _columns(made.rows)]
    directions = {True: "larger is better", False: "smaller is better"}
    metrics = [(f"`{m.id}`", m.label, m.task, directions[m.higher_is_better]) for m in METRICS.values()]
    parts += ["## Metrics", table(["id", "metric", "task", ""], metrics)]
    metadata = [(f"`{field.name}`", _METADATA[field.name]) for field in fields(Provenance)]
    metadata += [(f"`{name}`", what) for name, what in _DIGESTS.items()]
    parts += [
        "## What every file says of itself",
        "Each Parquet file carries, as key-value metadata, how it came about. A failure is never an empty result: "
        "`status` says so. `pyarrow.parquet.read_schema(path).metadata` shows it. A run compares it with what it plans "
        "([identity](identity.md)), and no job reads a damaged file ([faults](faults.md)). JSON files have a "
        "`checksum`.",
        table(["key", "holds"], metadata),
    ]
    return "\n\n".join(parts) + "\n"


def _columns(rows: Rows) -> str:
    lines = [_line(name, column) for name, column in rows.columns.items()]
    lines += [_line(name, column, ", not in all") for name, column in rows.sometimes.items()]
    return table(["column", "type", "unit", "holds"], lines)


def _line(name: str, column: Column, more: str = "") -> tuple[str, ...]:
    return (f"`{name}`", column.type + more, column.unit, column.meaning)
