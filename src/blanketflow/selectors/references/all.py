"""All features: the baseline of every evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...search.steps import Step
from ..base import Method, Problem


@dataclass
class All(Method):
    """Keep every feature that varies.

    A feature of one value, or of none, is left out: no model learns anything of it. What only seems to be an identifier
    stays: a column of whole numbers or labels that hardly repeat can be a measurement, and no value tells. `inspect`
    names such columns; `drop` leaves them out.

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
        """Admit everything that varies, in the order of the names."""
        return [Step(feature) for feature in problem.features]

    def shrink(self, problem: Problem, candidates: list[Step]) -> list[Step]:
        """Remove nothing."""
        return candidates
