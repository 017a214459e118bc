"""The union of the final blankets of a data set's targets, where it has several."""

from __future__ import annotations

from .run import Run
from .table import Cell, Table

#: Features of a union that are named.
MOST_NAMED = 40


def unions(run: Run) -> Table:
    """Return a table of the features that are in the blanket of some target, by data set and selector."""
    rows = []
    for dataset, of_targets in run.targets.items():
        for selector in run.selectors:
            if run.is_reference(selector) or not any(selector in run.ran(part) for part in of_targets.values()):
                continue
            found = run.rows(run.tables["unions"], dataset=dataset, selector=selector)
            common = int((found["n_targets"] == len(of_targets)).sum())
            names = ", ".join(found["feature"][:MOST_NAMED]) + (", …" if len(found) > MOST_NAMED else "")
            sizes = [Cell(str(n), value=n) for n in (len(found), common)]
            rows.append((Cell(dataset), Cell(selector), Cell(", ".join(of_targets)), *sizes, Cell(names)))
    headers = ["data set", "selector", "targets", "features", "of all targets", "names"]
    return Table(headers, rows, n_text=3, text_columns=(5,))
