"""Combines the folds' sets into one blanket: by frequency, the z score of the PPFS paper (eq. 6-8) and other rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean

import numpy as np

from ..core.errors import ParameterError, did_you_mean, shown
from ..core.numerics import comparable
from ..core.results import StandIn
from ..core.table import natural_key
from ..moves.steps import Step, Steps

#: Names of the rules; ``frequency`` needs a threshold.
RULES = ("best-blanket", "frequency", "union", "intersection")


@dataclass(frozen=True)
class Aggregate:
    """The combined result of all folds.

    `features` has every feature of any fold, the chosen ones first, then by importance: feature, chosen, frequency
    (share of folds with it or one for which it stands in), importance (mean over the folds with it), role, group,
    stand_ins. `z` is the score of each fold's set (eq. 8): the mean number of folds that contain its members or one for
    which they stand in, 0 for an empty set. `best` is the fold index for ``best-blanket``. `spoken` has the step from
    which a feature's role and group are taken: that of the winning fold, else of the first fold with the feature.
    """

    features: list[dict[str, object]]
    z: list[float]
    best: int | None
    spoken: Steps


def check_rule(rule: str | Mapping[str, float], where: str) -> None:
    """Raise `ParameterError` unless `rule` is one of the aggregation rules."""
    if isinstance(rule, Mapping):
        if set(rule) != {"frequency"} or not 0 < _as_number(rule["frequency"]) <= 1:
            raise ParameterError(f"{where}: aggregate as a mapping must be 'frequency: share' with 0 < share <= 1.")
    elif rule == "frequency":
        raise ParameterError(f"{where}: aggregate frequency needs its share, as in 'frequency: 0.6'.")
    elif not isinstance(rule, str) or rule not in RULES:
        raise ParameterError(f"{where}: unknown aggregate {shown(rule)}. {did_you_mean(str(rule), RULES)}")


def _as_number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else -1.0


def aggregate(folds: Sequence[Sequence[Step]], rule: str | Mapping[str, float] = "best-blanket") -> Aggregate:
    """Combine the folds' sets, at least one; a fold with one of two copies votes for both.

    ``best-blanket`` takes the set with the highest z, the first one on ties; ``{"frequency": share}`` takes the
    features with at least this share of votes and, among stand-ins for each other, the one in more folds. Raises
    `ParameterError` for an unknown rule.

    >>> folds = [[Step("a"), Step("b")], [Step("a")], [Step("a"), Step("c")]]
    >>> result = aggregate(folds)
    >>> result.z, result.best, [f["feature"] for f in result.features if f["chosen"]]
    ([2.0, 3.0, 2.0], 1, ['a'])
    """
    check_rule(rule, "aggregate")
    folds = [Steps.of(fold) for fold in folds]
    names = [fold.feature.tolist() for fold in folds]
    held = Counter(chain(*names))
    counts = Counter(feature for fold in folds for feature in _votes(fold) if feature in held)
    z = [fmean(map(counts.__getitem__, fold)) if fold else 0.0 for fold in names]
    best = max(range(len(folds)), key=lambda k: z[k]) if rule == "best-blanket" else None
    if best is not None:
        chosen = set(names[best])
    else:
        share = rule["frequency"] if isinstance(rule, Mapping) else {"union": 0.0, "intersection": 1.0}[rule]
        least = share * len(folds) - 1e-12
        chosen = {f for f, count in (held if rule == "union" else counts).items() if count >= least}
        chosen = chosen if rule == "union" else _one_of_each(chosen, held, folds)
    spoken = Steps.of([*([folds[best]] if best is not None else []), *folds])
    first: dict[str, int] = {}
    for at, feature in enumerate(spoken.feature.tolist()):
        first.setdefault(feature, at)
    spoken = spoken[np.fromiter(first.values(), np.int64, len(first))]
    return Aggregate(_features(folds, counts, chosen, spoken), z, best, spoken)


def _votes(fold: Steps) -> set[str]:
    """Return the features of a fold's set, and those that stand in for one of them."""
    return {*fold.feature.tolist(), *(row.feature for rows in fold.stand_ins.tolist() for row in rows if row.is_sure)}


def _one_of_each(chosen: set[str], held: Counter[str], folds: Sequence[Steps]) -> set[str]:
    """Return chosen features without stand-ins for another one that is in more folds; features of one fold stay
    together.
    """
    if not any(any(fold.stand_ins.tolist()) for fold in folds):
        return chosen
    together = {frozenset((a.feature, b.feature)) for fold in folds for a in fold for b in fold}
    alike = {frozenset((m.feature, row.feature)) for f in folds for m in f for row in m.stand_ins if row.is_sure}
    kept: list[str] = []
    for feature in sorted(chosen, key=lambda f: (-held[f], natural_key(f))):
        pairs = {frozenset((feature, other)) for other in kept}
        if not (pairs & alike) - together:
            kept.append(feature)
    return set(kept)


def _combined(own: Sequence[Sequence[StandIn]]) -> tuple[StandIn, ...]:
    """Return a feature's stand-ins in at least half of the folds that have it, with mean numbers."""
    rows: dict[str, list[StandIn]] = {}
    for row in chain(*own):
        rows.setdefault(row.feature, []).append(row)
    often = [(name, found) for name, found in rows.items() if 2 * len(found) >= len(own)]
    means = [StandIn(name, *(fmean(row[i] for row in found) for i in (1, 2, 3))) for name, found in often]
    return tuple(sorted(means, key=lambda row: (-round(row.share, 9), natural_key(row.feature))))


def all_answers(
    combined: Aggregate, answers: Sequence[Sequence[tuple[int, Sequence[str]]] | None]
) -> list[tuple[int, str, int, int]]:
    """Return every Markov blanket as rows: number, feature, rank within it (from 1), how often it was found.

    `answers` has each fold's pairs of count and features, None for methods with one answer. Returns all blankets of the
    winning fold, or the chosen features if there is none or the method has only one answer.
    """
    chosen = [(1, [str(feature["feature"]) for feature in combined.features if feature["chosen"]])]
    found = chosen if combined.best is None else answers[combined.best] or chosen
    return [
        (number, feature, rank, count)
        for number, (count, features) in enumerate(found, start=1)
        for rank, feature in enumerate(features, start=1)
    ]


def _features(folds: Sequence[Steps], counts: Counter[str], chosen: set[str], spoken: Steps) -> list[dict[str, object]]:
    names = spoken.feature.tolist()
    values: dict[str, list[float]] = {feature: [] for feature in names}
    stand_ins: dict[str, list[tuple[StandIn, ...]]] = {feature: [] for feature in names}
    for fold in folds:
        columns = fold.feature.tolist(), fold.importance.tolist(), fold.stand_ins.tolist()
        for feature, importance, rows in zip(*columns, strict=True):
            values[feature].append(importance)
            stand_ins[feature].append(rows)
    means = [fmean(values[feature]) for feature in names]
    is_out = [feature not in chosen for feature in names]
    roles, groups = spoken.role.tolist(), spoken.group.tolist()
    return [
        {
            "feature": names[at],
            "chosen": not is_out[at],
            "frequency": counts[names[at]] / len(folds),
            "importance": means[at],
            "role": roles[at],
            "group": groups[at],
            "stand_ins": _combined(stand_ins[names[at]]),
        }
        for at in np.lexsort((-comparable(np.array(means)), is_out)).tolist()
    ]
