"""Report section on how the selected features change over the periods of forward splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ...core.cards import CLASSIFICATION, SURVIVAL
from ..formatting import some
from ..tables.drift import LARGE, MODERATE
from .dataset import MAX_FEATURES
from .html import Cell, Table
from .run import Run

#: Most features that the sentence names.
_MOST_NAMED = 3
_SPACE, _HYPHEN = "\N{NO-BREAK SPACE}", "\N{NON-BREAKING HYPHEN}"
_SIGNS = {1.0: "+", -1.0: "\N{MINUS SIGN}", 0.0: "0"}


@dataclass(frozen=True)
class Drift:
    """A sentence on what drifted, and a table of the answer's features by periods; `rises` is what a + stands for.

    `is_large` tells whether a feature drifted much, or changed its sign; `limits` are of moderate and large shifts.
    """

    dataset: str
    selector: str
    sentence: str
    is_large: bool
    table: Table
    rises: str = ""
    n_more: int = 0
    limits: tuple[float, float] = (MODERATE, LARGE)


def drift(run: Run, dataset: str) -> Drift | None:
    """Return the drift of the features of the answer's selector; None without forward splits or features."""
    answer = run.answer(dataset)
    found = run.tables["drift"]
    found = run.rows(found, dataset=dataset, selector=answer.selector if answer is not None else "")
    if found.empty:
        return None
    features = list(dict.fromkeys(found["feature"]))
    periods = found.drop_duplicates("period")
    # Without breaks within a date.
    heads = [f"period {row.period}, from {row.start.replace('-', _HYPHEN)}" for row in periods.itertuples()]
    rows = [
        [Cell(name), *(_cell(row) for row in found[found["feature"] == name].itertuples())]
        for name in features[:MAX_FEATURES]
    ]
    table = Table(["feature", *heads], rows)
    n_more = max(0, len(features) - MAX_FEATURES)
    return Drift(dataset, answer.selector, *_sentence(found), table, _rises(run.cards[dataset]), n_more)


def _rises(card: Mapping[str, Any]) -> str:
    """Return what rises with a feature of positive sign; empty if there are more than two classes."""
    classes = list(card["target"].get("classes", ()))
    if classes and card["task"] == CLASSIFICATION:
        return f"the share of {classes[1]}" if len(classes) == 2 else ""
    return "the risk of the event" if card["task"] == SURVIVAL else card["target"]["name"]


def _cell(row: Any) -> Cell:
    size = "large" if _is_above(row, LARGE) else "moderate" if _is_above(row, MODERATE) else ""
    psi = "reference" if row.period == 1 else f"{row.psi:.2f} {size}".strip()
    rank = f"rank {row.rank:.0f}" if row.selected else "not selected" if row.split else "no search"
    return Cell(psi, f"{_SIGNS.get(row.sign, '')} {rank}".strip().replace(" ", _SPACE), value=row.psi, level=size)


def _is_above(row: Any, limit: float) -> bool:
    """Whether PSI is at least a limit, and more than what chance explains."""
    return row.psi >= limit and row.psi > row.by_chance


def _sentence(found: pd.DataFrame) -> tuple[str, bool]:
    """Return what drifted, the largest PSI first, and which features change their sign; and whether there are any."""
    later = found[found["period"] > 1]
    highest = later.loc[later.groupby("feature", sort=False)["psi"].idxmax()].sort_values("psi", ascending=False)
    said = [f"PSI {row.psi:.2f} in period {row.period}" for row in highest.itertuples()]
    drifted = [
        f"{row.feature} drifted: {text}"
        for row, text in zip(highest.itertuples(), said, strict=True)
        if _is_above(row, LARGE)
    ]
    has_drifted = bool(drifted)
    if not has_drifted:
        drifted = [f"No feature drifted: the largest shift is that of {highest['feature'].iloc[0]}, {said[0]}"]
    more = f"; and {len(drifted) - _MOST_NAMED} more" if len(drifted) > _MOST_NAMED else ""
    signs = found.groupby("feature", sort=False)["sign"]
    turned = signs.min().index[(signs.min() < 0) & (signs.max() > 0)]
    also = f" The sign of {some(list(turned), _MOST_NAMED)} changes." if len(turned) else ""
    return f"{'; '.join(drifted[:_MOST_NAMED])}{more}.{also}", has_drifted or bool(also)
