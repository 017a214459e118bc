"""How a target is distributed, in words, from its data card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .formatting import count, number

#: Largest number of classes with separate counts.
MAX_CLASSES = 12


def distribution(target: Mapping[str, Any], n_rows: int) -> str:
    """Return how a target is distributed, in words; `target` is its part of the card.

    >>> distribution({"name": "y", "classes": {"ill": 10, "well": 30}}, 40)
    'ill 10 (25%), well 30 (75%)'
    """
    classes = target.get("classes", target.get("levels"))
    if "events" in target:
        return _events(target, n_rows)
    if "exposure" in target:
        exposure = f"the exposure {target['exposure']} ({number(target['total_exposure'])} in all rows)"
        return f"rate {number(target['rate'])} per unit of {exposure}; mean {number(target['mean'])}"
    if classes is None:
        return ", ".join(f"{key} {number(value)}" for key, value in target.items() if key != "name")
    total = sum(classes.values()) or 1
    shown = [f"{label} {n:,} ({n / total:.0%})" for label, n in list(classes.items())[:MAX_CLASSES]]
    return ", ".join(shown) + (f", {len(classes) - MAX_CLASSES} more classes" if len(classes) > MAX_CLASSES else "")


def _events(target: Mapping[str, Any], n_rows: int) -> str:
    event = f" ({target['event']})" if "event" in target else ""
    follow_up = number(target["median_follow_up"]) if target["median_follow_up"] is not None else "not reached"
    events = f"{count(target['events'], 'event')}{event} in {count(n_rows, 'row')} ({target['events'] / n_rows:.0%})"
    if "strata" in target:
        alone = target["events"] - target["compared_events"]
        events += (
            f" in {target['n_strata']:,} {'stratum' if target['n_strata'] == 1 else 'strata'} of {target['strata']}"
        )
        events += f", {alone:,} of them without another row at risk in the stratum, which say nothing" if alone else ""
    return f"{events}, median follow-up {follow_up} (reverse Kaplan-Meier), longest {number(target['max'])}"
