"""Reference selections: all features, no feature, and the true blanket of a known network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..core.cards import Card
from ..core.errors import DataError, ParameterError, did_you_mean, shown
from ..core.parameters import anything, choice
from ..moves.steps import MEMBER, PARENT_OR_CHILD, SPOUSE, Step
from .base import Method, Problem


@dataclass
class All(Method):
    """Keep every feature that varies.

    Columns that only look like identifiers, such as labels that hardly repeat, are kept, since they can be
    measurements. `inspect` names such columns; `drop` leaves them out.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> bf.All().fit_transform(*load_iris(return_X_y=True)).shape
    (150, 4)
    """

    card: ClassVar[Card] = Card(
        id="all",
        name="all features",
        family="reference",
        summary="Keeps every feature that varies: what models do without selection.",
        reference="none",
        guarantee="superset of the Markov blanket",
        cost="no tests",
    )
    draws_rows: ClassVar[bool] = False
    takes_feature_groups: ClassVar[bool] = True
    keeps_untested: ClassVar[bool] = True
    learns_from: ClassVar[str] = "tests"
    default_test: ClassVar[str | None] = None

    def grow(self, problem: Problem) -> list[Step]:
        """Admit every feature that varies, in order of names."""
        return [Step(feature) for feature in problem.features]

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Sequence[Step]:
        """Remove nothing."""
        return candidates


@dataclass
class NoFeatures(Method):
    """Keep no feature. Models then predict the class shares or the mean.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> bf.NoFeatures().fit(*load_iris(return_X_y=True)).selected_features_
    []
    """

    card: ClassVar[Card] = Card(
        id="none",
        name="no feature",
        family="reference",
        summary="Keeps no feature: what the majority class, or the mean, is right about by itself.",
        reference="none",
        cost="no tests",
    )
    draws_rows: ClassVar[bool] = False
    learns_from: ClassVar[str] = "tests"
    default_test: ClassVar[str | None] = None
    obeys_prior: ClassVar[bool] = False

    def grow(self, problem: Problem) -> list[Step]:
        """Admit nothing."""
        return []

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Sequence[Step]:
        """Remove nothing."""
        return candidates


@dataclass
class TrueBlanket(Method):
    """Keep the features of a known blanket; the workflow fills them in for simulated data.

    Raises
    ------
    DataError
        By `fit`, for an unknown feature, or if parents and children are wanted but no roles are given.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> known = {"bmi": "parent_or_child", "sex": "spouse"}
    >>> bf.TrueBlanket(blanket=known).fit(X, y).selected_features_
    ['bmi', 'sex']
    >>> bf.TrueBlanket(blanket=known, part="parents-and-children").fit(X, y).selected_features_
    ['bmi']
    """

    card: ClassVar[Card] = Card(
        id="true-blanket",
        name="true Markov blanket",
        family="reference",
        summary="Keeps the known Markov blanket: what a perfect search would return. Simulated data only.",
        reference="none",
        guarantee="exact Markov blanket",
        cost="no tests",
    )
    draws_rows: ClassVar[bool] = False
    learns_from: ClassVar[str] = "tests"
    default_test: ClassVar[str | None] = None
    obeys_prior: ClassVar[bool] = False

    blanket: Mapping[str, str] | Sequence[str] = anything(
        (), "Names of the blanket's features, or names with their roles.", kind="roles"
    )

    part: str = choice(
        "blanket",
        "What to keep: the whole blanket, or only the target's parents-and-children.",
        ("blanket", "parents-and-children"),
    )

    def check(self, where: str | None = None) -> None:
        """Raise `ParameterError` if a value is out of range or a role does not exist."""
        super().check(where)
        roles = self.blanket.items() if isinstance(self.blanket, Mapping) else ()
        for name, role in roles:
            if role not in (PARENT_OR_CHILD, SPOUSE, MEMBER):
                raise ParameterError(
                    f"{where or type(self).__name__}: blanket gives {name!r} the role {shown(role)}, but a role is "
                    f"{PARENT_OR_CHILD}, {SPOUSE} or {MEMBER}."
                )

    def grow(self, problem: Problem) -> list[Step]:
        """Admit the known blanket, in order of names."""
        roles = self.blanket if isinstance(self.blanket, Mapping) else dict.fromkeys(self.blanket, MEMBER)
        for name in roles:
            if name not in problem.features:
                raise DataError(f"true-blanket: no feature {name!r}. {did_you_mean(name, problem.features)}")
        if self.part == "parents-and-children":
            if MEMBER in roles.values():
                raise DataError(
                    "true-blanket: part is parents-and-children, but blanket does not say who they are. Give it as "
                    "{name: parent_or_child, name: spouse}."
                )
            roles = {name: role for name, role in roles.items() if role == PARENT_OR_CHILD}
        return [Step(feature, importance=1.0, role=roles[feature]) for feature in problem.features if feature in roles]

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Sequence[Step]:
        """Remove nothing."""
        return candidates
