"""The facts on the card of a data set, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .text import count, number, plain

#: The largest numbers of names in one fact, and of classes whose rows are counted separately.
MAX_NAMES, MAX_CLASSES = 30, 12


def facts(card: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the facts on the card as pairs of a term and its text."""
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
    more = len(names) - MAX_NAMES
    return plain(names[:MAX_NAMES]) + (f" and {more:,} more" if more > 0 else "")


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
