"""By which metric and model a data set is judged first: in the report, the charts and the summary of a run."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...core.task import has_rare_class
from .references import ALL, selector_of
from .scores import HIGHER_IS_BETTER

if TYPE_CHECKING:
    import pandas as pd

#: The metrics that lead where a class is rare; else it is the first of `HIGHER_IS_BETTER`.
IF_RARE = ("roc-auc", "log-loss")
#: The metrics that lead where ``auto`` was asked to judge by something.
IF_ASKED: Mapping[str, tuple[str, ...]] = {
    "error": ("accuracy",),
    "log-loss": IF_RARE,
    "r2": ("r2",),
    "normal-scores": ("r2",),
}
Selectors = Mapping[str, Mapping[str, Any]]
NO_SELECTORS: Selectors = MappingProxyType({})


def is_rare(card: Mapping[str, Any]) -> bool:
    """Return whether a class of a data set is so rare that accuracy says little, as ``auto`` has it."""
    return has_rare_class((card["target"].get("classes") or {}).values())


def _first(card: Mapping[str, Any], selectors: Selectors) -> tuple[str, ...]:
    """Return the metrics that lead: those by which ``auto`` judges the data set, so that there is one yardstick."""
    asked = next((spec.get("metric") for spec in selectors.values() if spec.get("method") == "auto"), None)
    is_of_task = (asked in ("error", "log-loss")) == bool(card["target"].get("classes"))
    return IF_ASKED[asked] if asked in IF_ASKED and is_of_task else IF_RARE if is_rare(card) else ()


def metrics_in_order(card: Mapping[str, Any], selectors: Selectors = NO_SELECTORS) -> list[str]:
    """Return all metrics, the ones that lead on a data set first.

    Examples
    --------
    >>> metrics_in_order({"target": {"classes": {"ill": 10, "well": 90}}})[:3]
    ['roc-auc', 'log-loss', 'accuracy']
    """
    return list(dict.fromkeys((*_first(card, selectors), *HIGHER_IS_BETTER)))


def leading_metrics(scores: pd.DataFrame, card: Mapping[str, Any], selectors: Selectors = NO_SELECTORS) -> list[str]:
    """Return the metrics that lead among those with a score: one, or two where a class is rare.

    Parameters
    ----------
    scores : DataFrame
        The result table of one data set.
    card : mapping
        Its card.
    selectors : mapping of str to mapping
        The specs of the selectors, of which ``auto`` may have been asked to judge by something else.
    """
    known = set(scores.dropna(subset=["mean"])["metric"])
    in_order = [metric for metric in metrics_in_order(card, selectors) if metric in known]
    return [metric for metric in _first(card, selectors) if metric in known] or in_order[:1]


def leading_model(scores: pd.DataFrame, metric: str | None, selectors: Selectors) -> str | None:
    """Return the model that predicts best from all features, so that no selector influences the choice.

    Without this baseline it is the first model. None if there is no score.
    """
    known = scores[scores["metric"] == metric].dropna(subset=["mean"])
    if metric is None or known.empty:
        return None
    means = known[known["selector"] == selector_of(ALL, selectors)].set_index("model")["mean"]
    if means.empty:
        return known["model"].iloc[0]
    return means.idxmax() if HIGHER_IS_BETTER[metric] else means.idxmin()
