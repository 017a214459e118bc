"""Which column may be the target, guessed from names, places and values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.cards import CATEGORICAL
from ...core.column_checks import tokens
from ...data.findings.quality import ColumnSummary

#: Words by which people call what they want to predict.
TARGET_WORDS = {"target", "class", "label", "outcome", "y", "response", "diagnosis", "status", "result", "survived"}
TARGET_WORDS |= {"species", "churn", "default", "price", "grade", "disease", "death", "survival"}
#: What is hardly ever a target.
_NO_TARGET = ("row-number", "identifier", "date", "text", "group")
#: Columns of labels with at most this many classes count as few.
_FEW_CLASSES = 10
#: Columns that are suggested at most.
_MOST = 5


@dataclass(frozen=True)
class LikelyTarget:
    """A column that may be the target, and the reasons for thinking so, the strongest first."""

    name: str
    reasons: tuple[str, ...]


def likely_targets(columns: Sequence[ColumnSummary]) -> list[LikelyTarget]:
    """Return up to 5 columns that may be the target, the likeliest first. It is a guess: nothing is computed.

    An exact name such as ``outcome`` counts most, then a name that contains such a word, the last place, two values,
    and few classes.

    Examples
    --------
    >>> of = lambda name, n: ColumnSummary(name, "categorical", 0, n, "")
    >>> [(one.name, one.reasons[0]) for one in likely_targets([of("sex", 2), of("ward", 90), of("y", 3)])]
    [('y', "its name is 'y'"), ('sex', 'it has two values')]
    """
    usable = [c for c in columns if c.looks_like not in _NO_TARGET and c.n_distinct > 1]
    ranked = []
    for column in usable:
        found = _reasons(column, column is columns[-1])
        if found:
            ranked.append((-sum(points for points, _ in found), LikelyTarget(column.name, tuple(r for _, r in found))))
    ranked.sort(key=lambda one: one[0])
    return [target for _, target in ranked][:_MOST]


def _reasons(column: ColumnSummary, is_last: bool) -> list[tuple[int, str]]:
    """Return what speaks for a column, with its weight."""
    words = sorted(TARGET_WORDS & tokens(column.name))
    found = []
    if column.name.lower() in TARGET_WORDS:
        found.append((8, f"its name is {column.name!r}"))
    elif words:
        found.append((4, f"its name contains {words[0]!r}"))
    if is_last:
        found.append((3, "it is the last column"))
    if column.n_distinct == 2:
        found.append((2, "it has two values"))
    elif column.n_distinct <= _FEW_CLASSES and column.kind == CATEGORICAL:
        found.append((1, f"it has {column.n_distinct} classes"))
    return found
