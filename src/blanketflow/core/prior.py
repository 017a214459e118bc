"""What is known of a table's features before a search: which stay in every answer, and which stay out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

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
}  # fmt: skip


@dataclass(frozen=True)
class PriorKnowledge:
    """Names, or beginnings of names that end in ``*``, of features to include in an answer and to exclude from it.

    Examples
    --------
    >>> PriorKnowledge(("age",), ("gene_*",)).of(["age", "gene_1", "gene_2", "sex"], "table")
    (('age',), ('gene_1', 'gene_2'))
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @classmethod
    def joined(cls, *sources: Mapping[str, Any]) -> PriorKnowledge:
        """Return what several mappings with these keys say together."""
        return cls(*(tuple(dict.fromkeys(name for s in sources for name in s.get(key) or ())) for key in KEYS))

    def __bool__(self) -> bool:
        return bool(self.include or self.exclude)

    def as_dict(self) -> dict[str, list[str]]:
        """Return what is said as JSON has it, without what is not said."""
        return {key: list(names) for key in KEYS if (names := getattr(self, key))}

    def of(self, features: Sequence[str], where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return which of a table's features are included and which are excluded, in the order of the table.

        Raises
        ------
        ParameterError
            If a name is not one of a feature, a feature is named by both, or no feature is left.
        """
        included, excluded = (_matched(getattr(self, key), features, f"{where}: {key}") for key in KEYS)
        if both := [name for name in included if name in set(excluded)]:
            raise ParameterError(f"{where}: {shown(both[0])} is in include and in exclude. Remove it from one of them.")
        if len(excluded) == len(features):
            raise ParameterError(f"{where}: exclude leaves no feature to search among. Name fewer.")
        return included, excluded


NOTHING = PriorKnowledge()


def as_texts(names: Any) -> Any:
    """Return names with whole numbers as texts, as columns that are numbered are called; anything else as it is.

    Examples
    --------
    >>> as_texts([3, "age"]), as_texts("age"), as_texts(None)
    (['3', 'age'], 'age', None)
    """
    if isinstance(names, Sequence) and not isinstance(names, str | bytes):
        return [str(n) if isinstance(n, Integral) and not isinstance(n, bool) else n for n in names]
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
