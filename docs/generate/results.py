"""The page of the results: every file of a run with its columns, as the package declares them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields

from blanketflow.core.metrics import METRICS
from blanketflow.data.artefact_columns import ARTEFACTS, COLUMNS, Column, Rows
from blanketflow.data.provenance import WHAT, Provenance
from blanketflow.reporting.tables import TABLES
from blanketflow.workflow.layout import path_of

from .markdown import table

#: The artefacts of the stages, each under its own heading; `splits` has the columns of `all_splits`.
STAGES = [name for name in ARTEFACTS if name != "splits"]
_OTHERS = {
    path_of("report"): "one page that opens offline: blankets, scores, charts, failures with reasons, versions",
    path_of("provenance"): "versions, seed, configuration, platform",
    f"{path_of('figures')}/*.svg": "the charts of the report",
    path_of("card"): "description of the data set: rows, kinds, target, task with its reason, missing cells, notes",
    path_of("agreement"): "with `shards`: levels and bin borders for counting the rows of a fold",
    path_of("table"): "the features in order, then groups and times if any, then the target. Above 2,000 features "
    "(sparse: 400) one row per feature",
    "logs/, benchmarks/": "the log of each job, and its seconds and memory as measured by Snakemake",
}


_METADATA = {
    "spec": "canonical JSON of the settings",
    "seed": "the seed of the stage's random numbers",
    "status": COLUMNS["status"].meaning,
    "reason": COLUMNS["reason"].meaning,
    "n_tests": COLUMNS["n_tests"].meaning,
    "seconds": "wall seconds of the stage; not compared",
    "version": "version of blanketflow; not compared",
    "extra": "further facts, as JSON",
    "what": "one key for each of `" + "`, `".join(WHAT) + "` that applies",
    "code": "digest of the code that can change the result",
    "inputs": "content digests of the inputs, as JSON",
    "content": "digest of names, types, values, status, reason, `n_tests` and `extra`, without seconds",
    "beside": "content digests of files written with it, such as a table's card, as JSON",
}
_DIGESTS = {
    "parts": "digest of each column in each block of rows",
    "seconds_parts": "the same for columns of seconds",
    "blocks": "rows of each block, as JSON",
    "checksum": "digest of the other keys except seconds and `beside`",
}


def shared_columns() -> dict[str, Column]:
    """Return the columns that several files have with the same meaning, by name."""
    files = [*(ARTEFACTS[name] for name in STAGES), *(made.rows for made in TABLES.values())]
    times = Counter(item for rows in files for item in {**rows.columns, **rows.sometimes}.items())
    return {name: column for name, column in COLUMNS.items() if times[name, column] > 1}


def results_page() -> str:
    """Return the page."""
    parts = [
        "# Results",
        "A run writes these files below `output` (`results` by default). `{dataset}`, `{selector}` and `{test}` are "
        "ids of the configuration. `{split}` is `full` (all rows: the final blanket) or `cv-1`, `cv-2`, ... (training "
        "rows of an evaluation split). `{fold}` is `0` without inner folds, otherwise `1of5` to `5of5`.",
        "Any library that reads Parquet can read them: "
        '`pandas.read_parquet("results/tables/scores.parquet")`. No file is a pickle.',
        "## Files",
        table(["file", "contents"], [(f"`{path}`", what) for path, what in _OTHERS.items()]),
        "## Columns of several files",
        "These columns have the same meaning in every file. The sections below explain all others.",
        _columns(shared_columns()),
        "## Stages",
    ]
    for name in STAGES:
        parts += [
            f"### {name}",
            f"`{path_of(name)}`. One row for each {ARTEFACTS[name].each}.",
            _columns_of(ARTEFACTS[name]),
        ]
    parts += [
        "## Tables",
        "Result tables cover all data sets and are written to `tables/` as Parquet and CSV. In CSV files, a name that "
        "begins with `=`, `+`, `-` or `@` gets an apostrophe in front, so that a spreadsheet does not compute it, and "
        "invisible characters are escaped. Parquet files contain names unchanged.",
    ]
    for name, made in TABLES.items():
        where = " and ".join(f"`{path_of(kind, table=name)}`" for kind in ("result_table", "result_table_csv"))
        parts += [f"### tables/{name}", f"{where}. One row for each {made.rows.each}.", _columns_of(made.rows)]
    directions = {True: "larger is better", False: "smaller is better"}
    metrics = [(f"`{m.id}`", m.label, ", ".join(m.tasks), directions[m.higher_is_better]) for m in METRICS.values()]
    parts += ["## Metrics", table(["id", "metric", "target", ""], metrics)]
    metadata = [(f"`{field.name}`", _METADATA[field.name]) for field in fields(Provenance)]
    metadata += [(f"`{name}`", what) for name, what in _DIGESTS.items()]
    parts += [
        "## Metadata of every file",
        "Each Parquet file records its origin as key-value metadata (`pyarrow.parquet.read_schema(path).metadata`). A "
        "failed search has a `status` and a `reason`, so it is never mistaken for an empty blanket. A run compares "
        "the metadata with its plan ([identity](identity.md)), and a job verifies the files that it reads "
        "([faults](faults.md)). JSON files have a `checksum`.",
        table(["key", "meaning"], metadata),
    ]
    return "\n\n".join(parts) + "\n"


def _columns_of(rows: Rows) -> str:
    """Return a table of a file's own columns, and the names of those that several files have."""
    shared = shared_columns()
    named, own, own_sometimes = [], {}, {}
    for columns, kept, more in ((rows.columns, own, ""), (rows.sometimes, own_sometimes, " (not in all)")):
        for name, column in columns.items():
            if shared.get(name) == column:
                named.append(f"`{name}`{more}")
            else:
                kept[name] = column
    blocks = [_columns(own, own_sometimes)] if own or own_sometimes else []
    if named:
        blocks.append(f"[Columns of several files](#columns-of-several-files): {', '.join(named)}.")
    return "\n\n".join(blocks)


def _columns(columns: Mapping[str, Column], sometimes: Mapping[str, Column] = {}) -> str:
    lines = [_line(name, column) for name, column in columns.items()]
    lines += [_line(name, column, ", not in all") for name, column in sometimes.items()]
    return table(["column", "type", "unit", "meaning"], lines)


def _line(name: str, column: Column, more: str = "") -> tuple[str, ...]:
    return (f"`{name}`", column.type + more, column.unit, column.meaning)
