"""What a data card says of a target of a further kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core.cards import COUNT, ORDERED, SURVIVAL
from ..core.column import TargetColumn
from ..models.responses import exposure_of, response
from ..models.risk_sets import EVENT, STRATA, ProductLimit
from .survival import n_compared


def facts_of(target: TargetColumn, names: Mapping[str, str]) -> dict[str, Any]:
    """Return facts about a target by key, for `card.json`; `names` are the columns of its parts, where known.

    >>> y = TargetColumn("days", "numeric", np.array([1.0, 2.0, 3.0]), (), "survival", {"event": np.array([1, 0, 0])})
    >>> facts_of(y, {"event": "died"})
    {'event': 'died', 'events': 1, 'median_follow_up': 2.0, 'max': 3.0}
    """
    return _FACTS.get(target.target_kind, _numbers)(target, names)


def _survival(target: TargetColumn, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        **({"event": names["event"]} if "event" in names else {}),
        "events": int(np.count_nonzero(target.parts[EVENT])),
        **_of_strata(target, names),
        "median_follow_up": median_follow_up(target),
        "max": float(target.numbers().max()),
    }


def _of_strata(target: TargetColumn, names: Mapping[str, str]) -> dict[str, Any]:
    if STRATA not in target.parts:
        return {}
    n_strata = len(np.unique(target.parts[STRATA]))
    return {"strata": names.get(STRATA, STRATA), "n_strata": n_strata, "compared_events": n_compared(target)}


def median_follow_up(target: TargetColumn) -> float | None:
    """Return the median time until observation ends, from a Kaplan-Meier estimate with the events as censored.

    None if it is not reached (Schemper and Smith 1996, doi:10.1016/0197-2456(96)00075-X).
    """
    ends = ProductLimit(response(target, SURVIVAL), of_censoring=True)
    reached = np.flatnonzero(ends.probability[1:] <= 0.5)
    return float(ends.times[reached[0]]) if len(reached) else None


def _count(target: TargetColumn, names: Mapping[str, str]) -> dict[str, Any]:
    exposure = exposure_of(response(target, COUNT))
    found = _numbers(target, names)
    if "exposure" in target.parts:
        found |= {"exposure": names.get("exposure", "exposure"), "total_exposure": float(exposure.sum())}
        found |= {"rate": float(target.numbers().sum() / exposure.sum())}
    return found


def _ordered(target: TargetColumn, names: Mapping[str, str]) -> dict[str, Any]:
    codes, counts = np.unique(target.numbers(), return_counts=True)
    labels = [target.levels[int(code)] if target.levels else f"{code:g}" for code in codes]
    return {"levels": dict(zip(labels, counts.tolist(), strict=True))}


def _numbers(target: TargetColumn, names: Mapping[str, str]) -> dict[str, Any]:
    values = target.numbers()
    return {
        "min": float(values.min()),
        "mean": float(values.mean()),
        "max": float(values.max()),
        "sd": float(values.std(ddof=1)) if len(values) > 1 else 0.0,
    }


_FACTS: dict[str, Callable[[TargetColumn, Mapping[str, str]], dict[str, Any]]] = {
    SURVIVAL: _survival,
    COUNT: _count,
    ORDERED: _ordered,
}
