"""The same search on other rows: what each further split of `confirm_splits` selects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...search.aggregate import Member, aggregate
from ..base import members, worst_status
from ..run_fold import FoldOutcome


def sets_of(outcomes: Sequence[FoldOutcome]) -> list[list[Member]]:
    """Return the members of each fold's set, as `aggregate` takes them."""
    return [[Member(m.feature, m.importance, m.role, m.group) for m in members(o.decisions)] for o in outcomes]


def selected_again(outcomes: Sequence[FoldOutcome], rule: Any) -> tuple[list[str], str, str]:
    """Return the features that the folds of one search select by an aggregation rule, with its status and reason."""
    chosen = [feature["feature"] for feature in aggregate(sets_of(outcomes), rule).features if feature["chosen"]]
    return chosen, *worst_status([(outcome.status, outcome.reason) for outcome in outcomes])
