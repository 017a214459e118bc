"""The section of one data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from .run import FINAL, Run
from .table import Cell, Table, cells
from .text import NONE, count, fixed, mean_sd, number, plain, signed

#: Features of a blanket that get a row, the others are named below the table; names listed for one fact.
MAX_FEATURES = 30
#: Classes of a target that are counted one by one.
MAX_CLASSES = 12
_ROLES = {"parent_or_child": "parent or child", "spouse": "spouse", "member": "member"}


@dataclass(frozen=True)
class Blanket:
    """The final blanket of one selector."""

    selector: str
    size: int
    first: str
    table: Table | None = None
    more: list[str] = field(default_factory=list)


def facts(card: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what the card says of the data set, as pairs of a term and its text."""
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in card["kinds"].items())
    pairs = [
        ("Source", plain(card.get("source"))),
        ("Rows", f"{card['n_rows']:,}"),
        ("Features", f"{card['n_features']:,} ({kinds})"),
        ("Target", f"{card['target']['name']}: {_distribution(card['target'])}"),
        ("Task", f"{card['task']}: {card['task_reason']}"),
        ("Missing cells", _missing(card["missing"])),
    ]
    if card.get("n_groups") is not None:
        pairs.append(("Groups", f"{card['n_groups']:,}"))
    if card.get("constant"):
        pairs.append(("Constant", _some(card["constant"])))
    if card.get("duplicates"):
        same = [f"{pair['duplicate']} repeats {pair['kept']}" for pair in card["duplicates"]]
        pairs.append(("Duplicates", _some(same)))
    if card.get("truth") is not None:
        pairs.append(("True blanket", _some(card["truth"]["blanket"])))
    return pairs + [("Note", note) for note in card.get("notes") or []]


def _some(names: Sequence[str]) -> str:
    more = len(names) - MAX_FEATURES
    return plain(names[:MAX_FEATURES]) + (f" and {more:,} more" if more > 0 else "")


def _distribution(target: Mapping[str, Any]) -> str:
    classes = target.get("classes")
    if classes is None:
        return ", ".join(f"{key} {number(value)}" for key, value in target.items() if key != "name")
    total = sum(classes.values()) or 1
    shown = [f"{label} {n:,} ({n / total:.0%})" for label, n in list(classes.items())[:MAX_CLASSES]]
    return ", ".join(shown) + (f", {len(classes) - MAX_CLASSES} more classes" if len(classes) > MAX_CLASSES else "")


def _missing(missing: Mapping[str, Any]) -> str:
    if not missing["cells"]:
        return "none"
    return f"{missing['cells']:,} in {count(missing['columns'], 'column')} (policy: {missing['policy']})"


def blankets(run: Run, dataset: str) -> list[Blanket]:
    """Return the final blanket of each selector, those that are empty too; all features are not listed."""
    return [_blanket(run, dataset, name) for name in run.ran(dataset) if name != run.baseline]


def _blanket(run: Run, dataset: str, selector: str) -> Blanket:
    found = run.blanket(dataset, selector)
    names = list(found["feature"])
    first = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
    if not names:
        return Blanket(selector, 0, "no feature was kept")
    n_folds = int(found["n_folds"].max())
    top = found["importance"].max()
    rows = [
        cells(
            row.feature,
            Cell(number(row.importance), share=_bar(row.importance, top)),
            Cell(f"{round(row.frequency * n_folds)} of {n_folds}", share=row.frequency) if n_folds > 1 else NONE,
            _ROLES.get(row.role, row.role),
        )
        for row in found[:MAX_FEATURES].itertuples()
    ]
    table = Table(["feature", "importance", "folds", "role"], rows, text_columns=(3,))
    return Blanket(selector, len(names), first, table, names[MAX_FEATURES:])


def _bar(value: float | None, top: float) -> float | None:
    drawn = value is not None and value == value and top == top and 0 < top < float("inf")
    return max(0.0, value / top) if drawn else None


def score_table(run: Run, dataset: str, metric: str) -> Table:
    """Return selectors by models, mean and standard deviation with the difference to all features below."""
    scores = run.rows(run.scores(dataset), metric=metric)
    models = list(dict.fromkeys(scores["model"]))
    rows = []
    for selector in dict.fromkeys(scores["selector"]):
        own = run.rows(scores, selector=selector)
        row = [Cell(selector), Cell(number(own["n_features"].mean(), 1))]
        rows.append(row + [_score(run, run.rows(own, model=model), selector) for model in models])
    n_splits = int(scores["n_splits"].max())
    return Table(
        ["selector", "features", *models], rows, caption=f"{metric}, mean ± sd over {count(n_splits, 'split')}"
    )


def _score(run: Run, found: pd.DataFrame, selector: str) -> Cell:
    if found.empty or found.iloc[0]["n_splits"] == 0:
        return Cell(NONE, "undefined")
    row = found.iloc[0]
    detail = "" if selector == run.baseline else signed(row["difference"])
    return Cell(mean_sd(row["mean"], row["sd"]), detail if detail != NONE else "", best=bool(row["best"]))


def truth_table(run: Run, dataset: str) -> Table | None:
    """Return how well the true blanket was found, where the card knows it: on all rows, or else over the splits."""
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
            f"{number(mean[part], 1)} of {number(mean[whole])}" if len(shown) else NONE
            for part, whole in (("n_common", "n_true"), ("n_pc", "n_true_pc"))
        ]
        found += [number(mean[key], 1) for key in ("n_spouses", "n_false")]
        shares = [fixed(mean[key]) for key in ("precision", "recall", "f1")]
        over_splits = [mean_sd(splits["f1"].mean(), splits["f1"].std(ddof=1))] if on_all_rows else []
        rows.append(cells(selector, *found, *shares, *over_splits))
    headers = ["selector", "true members found", "parents and children", "spouses", "false positives"]
    headers += ["precision", "recall", "F1", *(["F1 over the splits"] if on_all_rows else [])]
    return Table(headers, rows, caption="on all rows" if on_all_rows else "mean over the splits")
