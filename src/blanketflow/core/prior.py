"""Prior knowledge about features: required, excluded and grouped features, measurement times and costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple

from .errors import ParameterError, did_you_mean, shown
from .parameters import Parameter

#: End of a pattern, which matches names with the prefix before it.
ANY_END = "*"
#: Features are not in groups.
NO_GROUPS: Mapping[str, tuple[str, ...]] = {}
#: The keys of a data set and of a selector, and the arguments of a selector class.
KEYS = {
    "include": Parameter(
        "names", "Features that stay in the answer; prefix* names all that begin so.", nullable=True
    ),
    "exclude": Parameter(
        "names", "Features that stay out of the answer, and of all tests given others; prefix* as in include.",
        nullable=True,
    ),
    "tiers": Parameter(
        "tiers", "Lists of features, the earliest measured first: what is later is no parent of what is earlier. The "
        "target may be among them.", nullable=True,
    ),
    "feature_groups": Parameter(
        "groups", "Features that come into the answer and stay out of it together: {name: [features]}; prefix* as in "
        "include.", nullable=True,
    ),
    "costs": Parameter(
        "costs", "What features cost, {name: number}; prefix* as in include, and 0 for others. Of features that can "
        "stand in for each other the cheapest is taken.", nullable=True,
    ),
}  # fmt: skip


class Known(NamedTuple):
    """Prior knowledge about the features of one table."""

    included: tuple[str, ...]
    excluded: tuple[str, ...]
    #: Tiers of features and target where known.
    tiers: dict[str, int]
    #: Features of each group, two or more, without excluded ones, in table order.
    feature_groups: dict[str, tuple[str, ...]]
    #: Costs of features that are not free.
    costs: dict[str, float]

    def n_candidates(self, n_features: int) -> int:
        """Return the number of features that a search sees; a group counts as one."""
        return n_features - len(self.excluded) - sum(len(members) - 1 for members in self.feature_groups.values())


@dataclass(frozen=True)
class PriorKnowledge:
    """Features to include and to exclude, their measurement times, groups and costs.

    Values are names, or prefixes that end in ``*``. The name of a group refers to its features.

    Examples
    --------
    >>> PriorKnowledge(("age",), ("gene_*",)).of(["age", "gene_1", "gene_2", "sex"], "table", "y").excluded
    ('gene_1', 'gene_2')
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()
    feature_groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    costs: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def joined(cls, *sources: Mapping[str, Any]) -> PriorKnowledge:
        """Return several mappings as one: the last tiers, the last groups, and the last cost of each feature apply."""
        named = (tuple(dict.fromkeys(n for s in sources for n in s.get(key) or ())) for key in ("include", "exclude"))
        tiers = [s["tiers"] for s in sources if s.get("tiers")]
        groups = [s["feature_groups"] for s in sources if s.get("feature_groups")]
        in_groups = {name: tuple(members) for name, members in groups[-1].items()} if groups else {}
        costs = {name: cost for s in sources for name, cost in (s.get("costs") or {}).items()}
        return cls(*named, tuple(tuple(tier) for tier in tiers[-1]) if tiers else (), in_groups, costs)

    def __bool__(self) -> bool:
        return bool(self.include or self.exclude or self.tiers or self.feature_groups or self.costs)

    def as_dict(self) -> dict[str, Any]:
        """Return the non-empty entries as JSON types."""
        said: dict[str, Any] = {"include": [*self.include], "exclude": [*self.exclude]}
        said["tiers"] = [list(tier) for tier in self.tiers]
        said["feature_groups"] = {name: list(members) for name, members in self.feature_groups.items()}
        said["costs"] = {**self.costs}
        return {key: names for key, names in said.items() if names}

    def of(self, features: Sequence[str], where: str, target: str) -> Known:
        """Return the knowledge about a table's features, in table order.

        Raises `ParameterError` for unknown names, a feature both included and excluded, in two tiers or in two groups,
        a group named like a feature or named in part, or if no feature is left.
        """
        if not self and len(features):
            return Known((), (), {}, {}, {})
        place = {name: at for at, name in enumerate(features)}
        groups = self._groups(place, where, target)
        included = _matched(self.include, place, f"{where}: include", groups)
        excluded = _matched(self.exclude, place, f"{where}: exclude", groups)
        if both := [name for name in included if name in set(excluded)]:
            raise ParameterError(f"{where}: {shown(both[0])} is in include and in exclude. Remove it from one of them.")
        if len(excluded) == len(features):
            raise ParameterError(f"{where}: exclude leaves no feature to search among. Name fewer.")
        tiers: dict[str, int] = {}
        with_target = {**place, target: len(place)}
        for at, tier in enumerate(self.tiers):
            for name in _matched(tier, with_target, f"{where}: tiers", groups):
                if name in tiers:
                    raise ParameterError(f"{where}: {shown(name)} is in two of the tiers. Name it in one.")
                tiers[name] = at
        left_out = set(excluded)
        joint = {name: members for name, members in groups.items() if len(members) > 1 and members[0] not in left_out}
        costs: dict[str, float] = {}
        for name, cost in sorted(self.costs.items(), key=lambda item: not item[0].endswith(ANY_END)):
            costs |= dict.fromkeys(_matched([name], place, f"{where}: costs"), float(cost))
        return Known(included, excluded, tiers, joint, costs)

    def _groups(self, features: Mapping[str, int], where: str, target: str) -> dict[str, tuple[str, ...]]:
        """Return the features of each group."""
        groups: dict[str, tuple[str, ...]] = {}
        group_of: dict[str, str] = {}
        for name, asked in self.feature_groups.items():
            if name in features or name == target:
                raise ParameterError(f"{where}: the feature group {shown(name)} has the name of a column. Rename it.")
            if not asked:
                raise ParameterError(f"{where}: the feature group {shown(name)} names no feature. Name some.")
            groups[name] = _matched(asked, features, f"{where}: feature_groups: {name}")
            for feature in groups[name]:
                if feature in group_of:
                    both = f"{shown(group_of[feature])} and {shown(name)}"
                    raise ParameterError(f"{where}: {shown(feature)} is in the feature groups {both}. Name it in one.")
                group_of[feature] = name
        return groups


NOTHING = PriorKnowledge()


def as_texts(names: Any) -> Any:
    """Return names with integers as texts, like numbered columns; anything else unchanged.

    >>> as_texts([3, "age"]), as_texts([[3], ["age"]]), as_texts("age")
    (['3', 'age'], [['3'], ['age']], 'age')
    >>> as_texts({3: 0.5})
    {'3': 0.5}
    """
    if isinstance(names, Mapping):
        return dict(zip(as_texts([*names]), map(as_texts, names.values()), strict=True))
    if isinstance(names, Sequence) and not isinstance(names, str | bytes):
        return [str(n) if isinstance(n, Integral) and not isinstance(n, bool) else as_texts(n) for n in names]
    return names


def group_of(feature: str, groups: Mapping[str, Sequence[str]]) -> str:
    """Return the name of a feature's group; empty if it has none.

    >>> group_of("site_a", {"site": ["site_*"]}), group_of("age", {"site": ["site_*"]})
    ('site', '')
    """
    for name, members in groups.items():
        begins = tuple(member.removesuffix(ANY_END) for member in members if member.endswith(ANY_END))
        if feature in members or feature.startswith(begins):
            return name
    return ""


def in_order_of_groups(features: Iterable[str], groups: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the features of each group, in feature order."""
    found: dict[str, list[str]] = {}
    for feature in features if groups else ():
        found.setdefault(group_of(feature, groups), []).append(feature)
    found.pop("", None)
    return found


def _matched(
    asked: Sequence[str], features: Mapping[str, int], where: str, groups: Mapping[str, tuple[str, ...]] = NO_GROUPS
) -> tuple[str, ...]:
    """Return the named features by table position; raises an error if they are a part of a group."""
    if not asked:
        return ()
    wanted: set[str] = set()
    for name in asked:
        if name in features or name in groups:
            wanted.update(groups.get(name, (name,)))
            continue
        begins = name.removesuffix(ANY_END)
        found = [feature for feature in features if feature.startswith(begins)] if begins != name else []
        if not found:
            what = "with which no feature begins" if begins != name else "which is not a feature"
            raise ParameterError(f"{where} names {shown(name)}, {what}. {did_you_mean(name, [*features, *groups])}")
        wanted.update(found)
    for group, members in groups.items():
        if 0 < len(wanted.intersection(members)) < len(members):
            missing = next(shown(feature) for feature in members if feature not in wanted)
            raise ParameterError(
                f"{where} names a part of the feature group {shown(group)}, without {missing}. Name the group."
            )
    return tuple(sorted(wanted, key=features.__getitem__))
