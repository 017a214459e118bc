"""What the job of each stage holds in memory at most, roughly and rather too much: by this it asks a scheduler."""

from __future__ import annotations

from .data.peek import Facts

MB = 1e6
#: MB of a job without data: the interpreter, Snakemake's preamble, and what the stage imports.
EMPTY = {"table": 250, "splits": 200, "evaluate": 500, "tables": 400, "report": 500}
EMPTY_OTHER = 350
#: Bytes of a dense cell, and of one that a sparse table stores: its row and its value.
DENSE_CELL, STORED_CELL = 8, 12
#: Bytes of a feature as such: its name, and its place in tables and results.
FEATURE = 400
#: Bytes of a row as such: its splits.
ROW = 100
#: How many times a stage holds the cells that it works on.
TIMES = {"table": 6.0, "splits": 0.0, "gather_splits": 0.0, "gather_ci_test": 0.0, "aggregate": 0.0, "tables": 0.0}
TIMES |= {"report": 0.0, "evaluate": 1.0}
TIMES_OTHER = 5.0


def memory_mb(stage: str, facts: Facts, n_chunks: int = 1) -> int:
    """Return about how many MB a job of a stage holds at most, with a margin.

    Parameters
    ----------
    stage : str
        Name of its rule, without the number of folds: ``ci_test``, ``grow_shrink``, ``evaluate``, ...
    facts : Facts
        Shape and kinds of the table. Of stages over all data sets, that of the largest.
    n_chunks : int, default=1
        Jobs over which the features are scattered.

    Examples
    --------
    >>> from blanketflow.data.peek import peek
    >>> memory_mb("ci_test", peek("wine", {"source": "sklearn:wine"})) < 1_000
    True
    """
    times = TIMES.get(stage, TIMES_OTHER)
    cell = DENSE_CELL if facts.n_stored is None else STORED_CELL
    held = times * cell * facts.n_cells / n_chunks + FEATURE * facts.n_features + ROW * facts.n_rows
    return round(EMPTY.get(stage, EMPTY_OTHER) + held / MB)
