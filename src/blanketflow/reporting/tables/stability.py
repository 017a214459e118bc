"""Stability of selected sets between splits, by names and between groups of stand-ins.

Nogueira, Sechidis and Brown (2018), On the stability of feature selection algorithms, JMLR 18(174). Sechidis,
Papangelou, Nogueira, Weatherall and Brown (2020), On the stability of feature selection in the presence of feature
correlations, ECML PKDD 2019, doi:10.1007/978-3-030-46150-8_20.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.results import StandIn
from ...data.artefact_columns import Column, rows_of
from ...data.splits import FINAL
from .blankets import chosen_sets, jaccard
from .result_table import frame

if TYPE_CHECKING:
    import pandas as pd

#: 97.5 % point of the standard normal distribution.
_Z = 1.959963984540054
#: A smaller chance variance per feature counts as 0.
_ROUNDING = 1e-12


STABILITY = rows_of(
    "data set and selector: how much the blankets of the splits agree",
    "dataset selector stability lower upper between_groups jaccard mean_size sd_size n_sets note",
    stability=Column("double", "Nogueira's index"),
    lower=Column("double", "lower end of its 95 % interval"),
    upper=Column("double", "upper end of its 95 % interval"),
    between_groups=Column("double", "the index where features that can stand in for each other count as one another"),
    jaccard=Column("double", "mean Jaccard index of all pairs of blankets"),
    mean_size=Column("double", "mean number of features"),
    sd_size=Column("double", "its standard deviation"),
    n_sets=Column("int64", "number of blankets compared"),
    note=Column("string", "why there is no number"),
)


class Stability(NamedTuple):
    """The stability index with its 95 % confidence interval."""

    value: float
    lower: float
    upper: float


def nogueira(selected: np.ndarray) -> Stability:
    """Return Nogueira's stability index of m >= 2 sets (rows of `selected`) of d features, with a 95 % interval.

    1 means equal sets, 0 the average of random sets of the same sizes. If all sets are empty or complete, the formula
    is 0 / 0 and the index is defined as 1. The asymptotic interval is cut at the bounds -1 / (m - 1) and 1. It is too
    narrow for few sets: on independent sets it covered 89, 92 and 94 % for m = 20, 40 and 100.

    >>> nogueira(np.array([[True, False, False, False], [False, True, False, False]])).value.round(3)
    np.float64(-0.333)
    """
    z = np.asarray(selected, dtype=np.float64)
    m, _ = z.shape
    share = z.mean(axis=0)
    density = share.mean()
    chance = density * (1 - density)
    if chance == 0:
        return Stability(1.0, 1.0, 1.0)
    index = 1 - m / (m - 1) * np.mean(share * (1 - share)) / chance
    size = z.mean(axis=1)
    phi = (z @ share / z.shape[1] - size * density + index / 2 * (2 * size * density - size - density + 1)) / chance
    half = _Z * np.sqrt(4 / m**2 * np.sum((phi - phi.mean()) ** 2))
    return Stability(index, max(index - half, -1 / (m - 1)), min(index + half, 1.0))


def between_groups(selected: np.ndarray, groups: np.ndarray) -> float:
    """Return the stability index of m >= 2 sets of d features where members of a group are interchangeable.

    Another member of a group does not change a set; an additional one does. This is the effective stability of Sechidis
    and others (2020) for similarities of 1 within groups and else 0. If each feature is a group, it is Nogueira's
    index. `selected` has shape (m, d), `groups` a number per feature, shape (d,).

    >>> copies = np.array([[True, False, False, True], [False, True, False, True]])
    >>> between_groups(copies, np.array([0, 0, 1, 2]))
    1.0
    """
    z, order = np.asarray(selected, dtype=np.float64), np.argsort(groups, kind="stable")
    d, sizes = z.shape[1], z.sum(axis=1)
    _, first, members = np.unique(groups[order], return_index=True, return_counts=True)
    variance = np.add.reduceat(z[:, order], first, axis=1).var(axis=0, ddof=1).sum()
    density = sizes.mean() / d
    both = (sizes * (sizes - 1)).mean() / max(d * (d - 1), 1)  # the chance that random sets hold two given features
    chance = d * density * (1 - density) + (members * (members - 1)).sum() * (both - density**2)
    return float(1 - variance / chance) if chance > _ROUNDING * d else 1.0


def stability(blankets: pd.DataFrame, folds: pd.DataFrame, cards: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Compare the sets, including empty ones, that each selector chooses on the evaluation splits.

    With one set, index, interval, Jaccard index and ``sd_size`` are missing; ``note`` names degenerate cases.
    """
    evaluated = blankets[(blankets["split"] != FINAL) & blankets["chosen"].astype(bool)]
    said = {key: _alike(rows) for key, rows in evaluated.groupby(["dataset", "selector"], sort=False, observed=True)}
    sets: dict[tuple[str, str], list[frozenset[str]]] = {}
    for (dataset, selector, split), chosen in chosen_sets(blankets, folds).items():
        if split != FINAL:
            sets.setdefault((dataset, selector), []).append(chosen)
    rows = [
        {"dataset": dataset, "selector": selector}
        | _summary(chosen, int(cards[dataset]["n_features"]), said.get((dataset, selector), set()))
        for (dataset, selector), chosen in sets.items()
    ]
    return frame(STABILITY, rows)


def _alike(chosen: pd.DataFrame) -> set[frozenset[str]]:
    """Return the pairs of features that at least half of the sets with one of them report as interchangeable."""
    said, sets = Counter[frozenset[str]](), list[set[str]]()
    for _, rows in chosen.groupby("split", sort=False, observed=True):
        sets.append({*rows["feature"]})
        pairs = zip(rows["feature"], rows["stand_ins"], strict=True)
        said.update({frozenset((f, row["feature"])) for f, others in pairs for row in others if StandIn(**row).is_sure})
    return {pair for pair, n in said.items() if 2 * n >= sum(not pair.isdisjoint(members) for members in sets)}


def _summary(sets: Sequence[Set[str]], n_features: int, alike: Set[frozenset[str]]) -> dict[str, Any]:
    sizes = np.array([len(s) for s in sets], dtype=np.float64)
    several = len(sets) > 1
    selected = _membership(sets, n_features, alike)
    index = nogueira(selected[0]) if several else Stability(np.nan, np.nan, np.nan)
    return {
        "stability": index.value,
        "lower": index.lower,
        "upper": index.upper,
        "between_groups": between_groups(*selected) if several else np.nan,
        "jaccard": float(np.mean([jaccard(a, b) for a, b in combinations(sets, 2)])) if several else np.nan,
        "mean_size": sizes.mean(),
        "sd_size": sizes.std(ddof=1) if several else np.nan,
        "n_sets": len(sets),
        "note": _note(sizes, n_features),
    }


def _membership(sets: Sequence[Set[str]], n_features: int, alike: Set[frozenset[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the membership matrix, (m, d), and the group number of each feature, (d,)."""
    # Features in no set have zero columns, so their names are not needed.
    place = {feature: j for j, feature in enumerate(sorted(set().union(*sets, *alike)))}
    out = np.zeros((len(sets), n_features), dtype=bool)
    for i, members in enumerate(sets):
        out[i, [place[feature] for feature in members]] = True
    groups = np.arange(n_features)
    for group in _groups(alike):
        groups[[place[feature] for feature in group]] = place[group[0]]
    return out, groups


def _groups(alike: Set[frozenset[str]]) -> list[list[str]]:
    """Return groups of features that are all pairwise interchangeable."""
    to: dict[str, set[str]] = {feature: set() for pair in alike for feature in pair}
    for pair in alike:
        for feature in pair:
            to[feature] |= pair
    group_of: dict[str, list[str]] = {}
    for feature in sorted(to):
        near = (group_of[other] for other in sorted(to[feature]) if other in group_of)
        group_of[feature] = own = next((group for group in near if to[feature].issuperset(group)), [])
        own.append(feature)
    return [group for feature, group in group_of.items() if group[0] == feature]


def _note(sizes: np.ndarray, n_features: int) -> str:
    if len(sizes) == 1:
        return "one set: nothing to compare"
    if not sizes.any():
        return "all sets empty"
    if (sizes == n_features).all():
        return "all features in every set"
    return ""
