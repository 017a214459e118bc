"""By which metric and model a data set is judged first: in the report, the charts and the summary of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .references import ALL, selector_of
from .scores import HIGHER_IS_BETTER

if TYPE_CHECKING:
    import pandas as pd

#: If a class has a smaller share of the rows, accuracy mostly says how rare it is.
SMALL_CLASS = 0.35
#: The metrics that lead then; else it is the first of `HIGHER_IS_BETTER`.
IF_IMBALANCED = ("balanced-accuracy", "log-loss")


def is_imbalanced(card: Mapping[str, Any]) -> bool:
    """Return whether a class of a data set has less than 35 % of the rows.

    Examples
    --------
    >>> [is_imbalanced({"target": {"classes": {"ill": n, "well": 100 - n}}}) for n in (34, 35)]
    [True, False]
    """
    classes = card["target"].get("classes") or {}
    present = [n for n in classes.values() if n]
    return bool(present) and min(present) < SMALL_CLASS * sum(present)


def metrics_in_order(card: Mapping[str, Any]) -> list[str]:
    """Return all metrics, the ones that lead on a data set first.

    Examples
    --------
    >>> metrics_in_order({"target": {"classes": {"ill": 10, "well": 90}}})[:3]
    ['balanced-accuracy', 'log-loss', 'accuracy']
    """
    first = IF_IMBALANCED if is_imbalanced(card) else ()
    return list(dict.fromkeys((*first, *HIGHER_IS_BETTER)))


def leading_metrics(scores: pd.DataFrame, card: Mapping[str, Any]) -> list[str]:
    """Return the metrics that lead among those with a score: one, or two on an imbalanced data set.

    Parameters
    ----------
    scores : DataFrame
        The result table of one data set.
    card : mapping
        Its card.
    """
    known = set(scores.dropna(subset=["mean"])["metric"])
    in_order = [metric for metric in metrics_in_order(card) if metric in known]
    leading = [metric for metric in IF_IMBALANCED if metric in known] if is_imbalanced(card) else []
    return leading or in_order[:1]


def leading_model(scores: pd.DataFrame, metric: str | None, selectors: Mapping[str, Mapping[str, Any]]) -> str | None:
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
