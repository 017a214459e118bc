"""A data set with several targets: one data set for each, without the other targets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import ConfigError, shown
from .identifiers import LONGEST_ID

#: The data set of each target, by the id of the data set that has several.
DataSets = dict[str, dict[str, str]]


def one_data_set_each(named: Sequence[tuple[str, Any]]) -> tuple[list[tuple[str, Any]], DataSets]:
    """Return data sets of which each has one target, and which of them stand for one with several.

    The id of such a data set is that of the whole, a hyphen, and the target in small letters and digits. The other
    targets are dropped from it, and from its tiers.

    Raises
    ------
    ConfigError
        If a target is listed twice, two data sets would have one id, or an id would be too long.

    Examples
    --------
    >>> found, targets = one_data_set_each([("study", {"path": "study.csv", "target": ["Relapse", "death"]})])
    >>> [(name, spec["target"], spec["drop"]) for name, spec in found]
    [('study-relapse', 'Relapse', ['death']), ('study-death', 'death', ['Relapse'])]
    >>> targets
    {'study': {'Relapse': 'study-relapse', 'death': 'study-death'}}
    """
    found: list[tuple[str, Any]] = []
    of_targets: DataSets = {}
    for name, spec in named:
        targets = spec.get("target") if isinstance(spec, Mapping) else None
        if not isinstance(targets, list) or not all(isinstance(target, str) for target in targets):
            found.append((name, spec))
            continue
        if not targets or len(set(targets)) < len(targets):
            raise ConfigError(f"config: data set {name!r} has the targets {shown(targets)}. Name each once.")
        of_targets[name] = {target: f"{name}-{_part_of_id(target)}" for target in targets}
        found += [(of_targets[name][target], _without_others(spec, target, targets)) for target in targets]
    ids = [name for name, _ in found]
    if twice := [name for name in ids if ids.count(name) > 1]:
        raise ConfigError(
            f"config: two data sets would be called {twice[0]!r}: that is the id of one with several targets, and the "
            "name of a target. Write a data set for each target, with the other targets in drop."
        )
    if too_long := [name for parts in of_targets.values() for name in parts.values() if len(name) > LONGEST_ID]:
        raise ConfigError(
            f"config: the data set of one of several targets would be called {too_long[0]!r}, which has more than "
            f"{LONGEST_ID} characters, and ids name files. Write a data set for each target, with the other targets in "
            "drop."
        )
    return found, of_targets


def _part_of_id(target: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", target.lower()).strip("-") or "target"


def _without_others(spec: Mapping[str, Any], target: str, targets: Sequence[str]) -> dict[str, Any]:
    others = [other for other in targets if other != target]
    drop = spec.get("drop") or []
    own = {**spec, "target": target, "drop": [*drop, *others] if isinstance(drop, list) else drop}
    if isinstance(spec.get("tiers"), list):
        tiers = [[n for n in tier if n not in others] if isinstance(tier, list) else tier for tier in spec["tiers"]]
        own["tiers"] = [tier for tier in tiers if tier]
    return own
