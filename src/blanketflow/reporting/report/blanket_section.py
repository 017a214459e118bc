"""The final blankets of one data set, and how they compare with the true one."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...data.splits import FINAL
from .run_frames import Run
from .table import Cell, Table, cells
from .text import NONE, fixed, mean_sd, number

#: The largest number of features with a row of their own; the others are named below the table.
MAX_FEATURES = 30
_ROLES = {"parent_or_child": "parent or child", "spouse": "spouse", "member": "member"}


@dataclass(frozen=True)
class BlanketSection:
    """The final blanket of one selector."""

    selector: str
    size: int
    first: str
    table: Table | None = None
    more: list[str] = field(default_factory=list)


def blankets(run: Run, dataset: str) -> list[BlanketSection]:
    """Return the final blanket of each selector, including empty ones, but not the one that keeps all features."""
    return [_blanket(run, dataset, name) for name in run.ran(dataset) if name != run.baseline]


def _blanket(run: Run, dataset: str, selector: str) -> BlanketSection:
    found = run.blanket(dataset, selector)
    names = list(found["feature"])
    first = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
    if not names:
        return BlanketSection(selector, 0, "no feature was kept")
    n_folds = int(found["n_folds"].max())
    top = found["importance"].max()
    rows = [
        cells(
            row.feature,
            Cell(number(row.importance), share=_bar(row.importance, top), value=row.importance),
            _folds(row.frequency, n_folds),
            _ROLES.get(row.role, row.role),
        )
        for row in found[:MAX_FEATURES].itertuples()
    ]
    table = Table(["feature", "importance", "folds", "role"], rows, text_columns=(3,))
    return BlanketSection(selector, len(names), first, table, names[MAX_FEATURES:])


def _bar(value: float | None, top: float) -> float | None:
    drawn = value is not None and value == value and top == top and 0 < top < float("inf")
    return max(0.0, value / top) if drawn else None


def _folds(frequency: float, n_folds: int) -> Cell:
    if n_folds < 2:
        return Cell(NONE)
    return Cell(f"{round(frequency * n_folds)} of {n_folds}", share=frequency, value=frequency)


def truth_table(run: Run, dataset: str) -> Table | None:
    """Return how well the true blanket was found: on all rows, or else over the splits. None if it is not known."""
    known = run.rows(run.tables["truth"], dataset=dataset)
    if known.empty:
        return None
    on_all_rows = FINAL in set(known["split"])
    rows = []
    for selector in (name for name in run.selectors if name in set(known["selector"])):
        own = run.rows(known, selector=selector)
        splits = own[own["split"] != FINAL]
        shown = run.rows(own, split=FINAL) if on_all_rows else splits
        mean = shown.mean(numeric_only=True)
        found = [
            Cell(f"{number(mean[part], 1)} of {number(mean[whole])}" if len(shown) else NONE, value=mean[part])
            for part, whole in (("n_common", "n_true"), ("n_pc", "n_true_pc"))
        ]
        found += [Cell(number(mean[key], 1), value=mean[key]) for key in ("n_spouses", "n_false")]
        shares = [Cell(fixed(mean[key]), value=mean[key]) for key in ("precision", "recall", "f1")]
        f1 = splits["f1"]
        over_splits = [Cell(mean_sd(f1.mean(), f1.std(ddof=1)), value=f1.mean())] if on_all_rows else []
        rows.append(cells(selector, *found, *shares, *over_splits))
    headers = ["selector", "true members found", "parents and children", "spouses", "false positives"]
    headers += ["precision", "recall", "F1", *(["F1 over the splits"] if on_all_rows else [])]
    return Table(headers, rows, caption="on all rows" if on_all_rows else "mean over the splits")
