"""What is known of features before a search: which stay in the answer or out of it, and when they were measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

from .errors import ParameterError, did_you_mean, shown
from .parameters import Parameter

#: Ends a pattern: all features whose names begin with what is before it.
ANY_END = "*"
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
}  # fmt: skip


class Known(NamedTuple):
    """What is known of the features of one table."""

    included: tuple[str, ...]
    excluded: tuple[str, ...]
    #: The tier of each feature, and of the target, that has one.
    tiers: dict[str, int]


@dataclass(frozen=True)
class PriorKnowledge:
    """Features to include in an answer, to exclude from it, and by time: names, or beginnings that end in ``*``.

    Examples
    --------
    >>> PriorKnowledge(("age",), ("gene_*",)).of(["age", "gene_1", "gene_2", "sex"], "table", "y").excluded
    ('gene_1', 'gene_2')
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def joined(cls, *sources: Mapping[str, Any]) -> PriorKnowledge:
        """Return what several mappings with these keys say together; of tiers the last that has any."""
        named = (tuple(dict.fromkeys(n for s in sources for n in s.get(key) or ())) for key in ("include", "exclude"))
        tiers = [s["tiers"] for s in sources if s.get("tiers")]
        return cls(*named, tuple(tuple(tier) for tier in tiers[-1]) if tiers else ())

    def __bool__(self) -> bool:
        return bool(self.include or self.exclude or self.tiers)

    def as_dict(self) -> dict[str, list[Any]]:
        """Return what is said as JSON has it, without what is not said."""
        said = {"include": [*self.include], "exclude": [*self.exclude], "tiers": [list(tier) for tier in self.tiers]}
        return {key: names for key, names in said.items() if names}

    def of(self, features: Sequence[str], where: str, target: str) -> Known:
        """Return which of a table's features are included and which are excluded, in the order of the table; and tiers.

        Raises
        ------
        ParameterError
            If a name is not one of a feature, a feature is named by both or in two tiers, or no feature is left.
        """
        included = _matched(self.include, features, f"{where}: include")
        excluded = _matched(self.exclude, features, f"{where}: exclude")
        if both := [name for name in included if name in set(excluded)]:
            raise ParameterError(f"{where}: {shown(both[0])} is in include and in exclude. Remove it from one of them.")
        if len(excluded) == len(features):
            raise ParameterError(f"{where}: exclude leaves no feature to search among. Name fewer.")
        tiers: dict[str, int] = {}
        for at, tier in enumerate(self.tiers):
            for name in _matched(tier, [*features, target], f"{where}: tiers"):
                if name in tiers:
                    raise ParameterError(f"{where}: {shown(name)} is in two of the tiers. Name it in one.")
                tiers[name] = at
        return Known(included, excluded, tiers)


NOTHING = PriorKnowledge()


def as_texts(names: Any) -> Any:
    """Return names with whole numbers as texts, as columns that are numbered are called; anything else as it is.

    Examples
    --------
    >>> as_texts([3, "age"]), as_texts([[3], ["age"]]), as_texts("age")
    (['3', 'age'], [['3'], ['age']], 'age')
    """
    if isinstance(names, Sequence) and not isinstance(names, str | bytes):
        return [str(n) if isinstance(n, Integral) and not isinstance(n, bool) else as_texts(n) for n in names]
    return names


def _matched(asked: Sequence[str], features: Sequence[str], where: str) -> tuple[str, ...]:
    """Return the features that are named, in the order of the table."""
    if not asked:
        return ()
    wanted: set[str] = set()
    for name in asked:
        if name in features:
            wanted.add(name)
            continue
        begins = name.removesuffix(ANY_END)
        found = [feature for feature in features if feature.startswith(begins)] if begins != name else []
        if not found:
            what = "with which no feature begins" if begins != name else "which is not a feature"
            raise ParameterError(f"{where} names {shown(name)}, {what}. {did_you_mean(name, features)}")
        wanted.update(found)
    return tuple(feature for feature in features if feature in wanted)
