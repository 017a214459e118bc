"""What the job of each stage holds in memory at most, roughly and rather too much: by this it asks a scheduler."""

from __future__ import annotations

from dataclasses import dataclass

from .data.peek import Facts

MB = 1e6


@dataclass(frozen=True)
class Holds:
    """What a job holds: MB without data; bytes a dense cell, a stored cell of a sparse table, and a feature as such."""

    empty: float
    cell: float = 0.0
    stored: float = 0.0
    feature: float = 0.0


#: Bytes of a row as such: its splits, and the repeats of a test.
ROW = 500
#: Features of a set that models are trained on, at most as a rule.
CHOSEN = 1_000
#: Stages whose features are scattered over jobs.
SCATTERED = ("ci_test", "ci_test_chunk")
STAGES = {
    "table": Holds(150, cell=150, stored=60, feature=500),
    "splits": Holds(140),
    "gather_splits": Holds(140),
    "ci_test": Holds(300, cell=40, stored=60, feature=1_000),
    "ci_test_chunk": Holds(300, cell=40, stored=60, feature=1_000),
    "gather_ci_test": Holds(140, feature=1_000),
    "grow": Holds(320, cell=40, stored=60, feature=1_000),
    "shrink": Holds(320, cell=40, stored=60, feature=1_000),
    "grow_shrink": Holds(320, cell=40, stored=60, feature=1_000),
    "aggregate": Holds(140, feature=1_500),
    "evaluate": Holds(450, cell=60),
    "tables": Holds(400),
    "report": Holds(500),
}
OTHERWISE = Holds(320, cell=40, stored=60, feature=1_000)
#: Bytes that reading an array takes a cell, where reading text takes those of `table`.
ARRAY_CELL = 24


def memory_mb(stage: str, facts: Facts, n_chunks: int = 1, *, is_text: bool = True, n_chosen: int = CHOSEN) -> int:
    """Return about how many MB a job of a stage holds at most, with a margin.

    Parameters
    ----------
    stage : str
        Name of its rule, without the number of folds: ``ci_test``, ``grow_shrink``, ``evaluate``, ...
    facts : Facts
        Shape and kinds of the table. Of stages over all data sets, that of the largest.
    n_chunks : int, default=1
        Jobs over which the features are scattered.
    is_text : bool, default=True
        Whether the source is text, which takes more to read than arrays do.
    n_chosen : int, default=1000
        Features that models are trained on, at most; all of them where nothing is selected.

    Examples
    --------
    >>> from blanketflow.data.peek import peek
    >>> memory_mb("ci_test", peek("wine", {"source": "sklearn:wine"})) < 1_000
    True
    """
    holds = STAGES.get(stage, OTHERWISE)
    parts = n_chunks if stage in SCATTERED else 1
    features, cells = facts.n_features / parts, facts.n_cells / parts
    if stage == "evaluate":  # reads the features that were chosen
        held = holds.cell * facts.n_rows * min(facts.n_features, n_chosen)
    elif facts.n_stored is not None:
        held = holds.stored * cells
    else:
        held = (holds.cell if is_text or stage != "table" else ARRAY_CELL) * cells
    return round(holds.empty + (held + holds.feature * features + ROW * facts.n_rows) / MB)
