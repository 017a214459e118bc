"""Combines the folds' sets into one blanket: by frequency, the z score of the PPFS paper (eq. 6-8) and other rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean

from ..core.errors import ParameterError, did_you_mean, shown
from ..core.ties import comparable_number
from .steps import Step

#: The names of the rules; ``frequency`` needs a threshold.
RULES = ("best-blanket", "frequency", "union", "intersection")


@dataclass(frozen=True)
class Aggregate:
    """The combined result of all folds.

    `features` has every feature of any fold, the chosen ones first, then by importance: feature, chosen, frequency
    (share of folds), importance (mean over the folds with the feature), role, group. `z` is the score of each fold's
    set (eq. 8): the mean number of folds that contain its members, 0 for an empty set. `best` is the index of the fold
    whose set is the answer, for ``best-blanket``. `spoken` has the step that a feature's role and group come from: that
    of the winning fold, else of the first fold that keeps it.
    """

    features: list[dict[str, object]]
    z: list[float]
    best: int | None
    spoken: dict[str, Step]


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
    """Combine the folds' sets.

    There is one set per fold, and at least one; of its members feature, importance, role and group count.
    ``best-blanket`` takes the set with the highest z, the first one on ties; ``{"frequency": share}`` keeps the
    features of at least this share of the folds. Raises `ParameterError` if there is no such rule.

    Examples
    --------
    >>> folds = [[Step("a"), Step("b")], [Step("a")], [Step("a"), Step("c")]]
    >>> result = aggregate(folds)
    >>> result.z, result.best, [f["feature"] for f in result.features if f["chosen"]]
    ([2.0, 3.0, 2.0], 1, ['a'])
    """
    check_rule(rule, "aggregate")
    counts = Counter(member.feature for fold in folds for member in fold)
    z = [fmean(counts[member.feature] for member in fold) if fold else 0.0 for fold in folds]
    best = max(range(len(folds)), key=lambda k: z[k]) if rule == "best-blanket" else None
    if best is not None:
        chosen = {member.feature for member in folds[best]}
    else:
        share = rule["frequency"] if isinstance(rule, Mapping) else {"union": 0.0, "intersection": 1.0}[rule]
        chosen = {feature for feature, count in counts.items() if count >= share * len(folds) - 1e-12}
    in_order = [*([folds[best]] if best is not None else []), *folds]
    spoken: dict[str, Step] = {}
    for member in chain(*in_order):
        spoken.setdefault(member.feature, member)
    return Aggregate(_features(folds, counts, chosen, spoken), z, best, spoken)


def all_answers(
    combined: Aggregate, answers: Sequence[Sequence[tuple[int, Sequence[str]]] | None]
) -> list[tuple[int, str, int, int]]:
    """Return every Markov blanket as rows: number, feature, rank within it (from 1), how often it was found.

    `answers` has for each fold the pairs of count and features that a method with several answers found; None for
    others. All blankets of the fold whose set is the answer are returned. If the answer is not a single fold's set, or
    the method has only one answer, it is the chosen features.
    """
    chosen = [(1, [str(feature["feature"]) for feature in combined.features if feature["chosen"]])]
    found = chosen if combined.best is None else answers[combined.best] or chosen
    return [
        (number, feature, rank, count)
        for number, (count, features) in enumerate(found, start=1)
        for rank, feature in enumerate(features, start=1)
    ]


def _features(
    folds: Sequence[Sequence[Step]], counts: Counter[str], chosen: set[str], spoken: Mapping[str, Step]
) -> list[dict[str, object]]:
    values: dict[str, list[float]] = {feature: [] for feature in spoken}
    for member in chain(*folds):
        values[member.feature].append(member.importance)
    importance = {feature: fmean(v) for feature, v in values.items()}
    ordered = sorted(spoken, key=lambda f: (f not in chosen, -comparable_number(importance[f])))
    return [
        {
            "feature": feature,
            "chosen": feature in chosen,
            "frequency": counts[feature] / len(folds),
            "importance": importance[feature],
            "role": spoken[feature].role,
            "group": spoken[feature].group,
        }
        for feature in ordered
    ]
