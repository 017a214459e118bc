"""What the job of each stage holds in memory at most, roughly and rather too much: by this it asks a scheduler."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.storage import MOST_CELLS, MOST_CELLS_SPARSE
from ..peek import Facts
from .workload import MATRICES, UNREAD

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
#: Stages in which a method works; bytes a cell of a dense matrix, and the bit more that making it takes.
METHOD_STAGES, MATRIX_CELL = ("grow", "shrink", "grow_shrink"), 10
STAGES = {
    "table": Holds(150, cell=150, stored=20, feature=400),
    "splits": Holds(140),
    "gather_splits": Holds(140),
    "ci_test": Holds(300, cell=40, stored=30, feature=700),
    "ci_test_chunk": Holds(300, cell=40, stored=30, feature=700),
    "gather_ci_test": Holds(140, feature=700),
    "grow": Holds(320, cell=40, stored=30, feature=700),
    "shrink": Holds(320, cell=40, stored=30, feature=700),
    "grow_shrink": Holds(320, cell=40, stored=30, feature=700),
    "aggregate": Holds(140, feature=1_000),
    "evaluate": Holds(450, cell=60),
    "tables": Holds(400),
    "report": Holds(700),
}
OTHERWISE = Holds(320, cell=40, stored=30, feature=700)
#: Bytes that reading an array takes a cell, where reading text takes those of `table`.
ARRAY_CELL = 24


def memory_mb(
    stage: str,
    facts: Facts,
    n_chunks: int = 1,
    *,
    is_text: bool = True,
    in_parts: bool = True,
    work: str = "",
    n_chosen: int = CHOSEN,
) -> int:
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
    in_parts : bool, default=True
        Whether the CI test tests columns one by one, so that a part of the table is held at a time.
    work : str, optional
        How the work of the method grows (`cost.work_of`): some make a sparse table a dense matrix, some read none.
    n_chosen : int, default=1000
        Features that models are trained on, at most; all of them where nothing is selected.

    Examples
    --------
    >>> from blanketflow.workflow.peek import peek
    >>> memory_mb("ci_test", peek("wine", {"source": "sklearn:wine"})) < 1_000
    True
    """
    holds = STAGES.get(stage, OTHERWISE)
    parts = n_chunks if stage in SCATTERED else 1
    features, cells = facts.n_features / parts, facts.n_cells / parts
    bits = 0.0
    if work in UNREAD and stage in METHOD_STAGES:
        cells = 0
    elif stage in SCATTERED and in_parts:
        places, is_sparse = facts.n_rows * features, facts.n_stored is not None
        read = min(places, MOST_CELLS_SPARSE if is_sparse else MOST_CELLS)
        cells, bits = cells * read / max(places, 1), read / 8 if is_sparse else 0.0
    if stage == "evaluate":  # reads the features that were chosen
        held = holds.cell * facts.n_rows * min(facts.n_features, n_chosen)
    elif facts.n_stored is not None:
        held = holds.stored * cells + bits
        if work in MATRICES and stage in METHOD_STAGES:
            held += MATRIX_CELL * facts.n_rows * facts.n_features
    else:
        held = (holds.cell if is_text or stage != "table" else ARRAY_CELL) * cells
    return round(holds.empty + (held + holds.feature * features + ROW * facts.n_rows) / MB)
