"""Stepwise selection by the cross-validated score of any model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ...core.cards import Card
from ...core.errors import ParameterError, did_you_mean
from ...core.parameters import anything, integer, number
from ...search.steps import INCLUDED, MEMBER, Step
from ..base import Method, Problem
from .worth import Worth


@dataclass
class Stepwise(Method):
    """Admit the feature that raises a model's cross-validated score most, and remove what it makes superfluous.

    A feature has to be worth `tolerance` of score. Grow admits the best feature while that raises the score by more;
    after each admission features are removed, one at a time and the least useful first, while that lowers the score by
    no more. Shrink removes in the same way from what grow returned. Ties go by name, among removals by the order
    of admission.

    Notes
    -----
    Score less `tolerance` for each feature rises with every admission and never falls with a removal, so that no set is
    met twice. The empty set has the score of the prior (or the mean). Importance is what the score would lose without
    the feature. All scores come from the same parts of the rows, and the best of many is taken, so they flatter the
    chosen features.

    scikit-learn's SequentialFeatureSelector goes forward or backward, never both.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.Stepwise(model="tree").fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="stepwise",
        name="stepwise selection",
        family="wrapper",
        summary="Forward admissions by a model's cross-validated score, with backward removals after each.",
        reference="Efroymson (1960) Multiple regression analysis, in: Mathematical Methods for Digital Computers, "
        "Wiley, 191-203; Kohavi, John (1997) Wrappers for feature subset selection, "
        "doi:10.1016/S0004-3702(97)00043-X.",
        guarantee="none",
        work="fits-of-each",
        cost="no tests; d n_splits model fits per admission",
        importance="how much the cross-validated score of the model rises by it",
        takes_max_rows=True,
    )
    draws_rows: ClassVar[bool] = False
    takes_feature_groups: ClassVar[bool] = True
    keeps_untested: ClassVar[bool] = True
    default_test: ClassVar[str | None] = None
    anytime: ClassVar[bool] = True

    model: Any = anything("knn", "The model: a model id, 'module:Class', or a scikit-learn estimator.")
    scoring: Any = anything(
        "auto", "A scikit-learn scorer or its name; auto: accuracy for classification, r2 for regression."
    )
    n_splits: int = integer(
        5, "Number of parts of the cross-validation; fewer if parts would have less than 2 rows.", at_least=2
    )
    tolerance: float = number(0.01, "Gain of score that a feature must bring, in the unit of `scoring`.", at_least=0)
    max_features: int | None = integer(
        None, "Largest number of features; null for no limit.", at_least=1, nullable=True
    )

    def reads_rows(self) -> str:
        """Return in words what reads the rows beside the CI test."""
        return "trains models on rows"

    def check(self, where: str | None = None) -> None:
        """Raise an error of ours if a value is out of its range, or there is no such model or scorer."""
        from ...models import get_model

        super().check(where)
        get_model(self.model)
        if self.scoring != "auto" and not callable(self.scoring):
            from sklearn.metrics import get_scorer_names

            if self.scoring not in get_scorer_names():
                hint = did_you_mean(self.scoring, get_scorer_names())
                raise ParameterError(f"{where or 'Stepwise'}: scikit-learn has no scorer {self.scoring!r}. {hint}")

    def grow(self, problem: Problem) -> Iterator[Step]:
        """Admit and remove until no admission pays."""
        worth, members = self._worth(problem), list(problem.included)
        yield from problem.admit_included()
        while self.max_features is None or len(members) < self.max_features:
            rest = [name for name in problem.features if name not in members]
            worth.find([[*members, name] for name in rest])
            best = max(rest, key=lambda name: worth.of([*members, name]), default=None)
            if best is None or worth.of([*members, best]) <= worth.of(members):
                return
            yield worth.step(best, members)
            members.append(best)
            yield from _removals(worth, members, problem.included)

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterable[Step]:
        """Remove while that pays, and report what the remaining features are worth."""
        worth, members = self._worth(problem), [candidate.feature for candidate in candidates]
        yield from _removals(worth, members, problem.included)
        for name in members:
            others = [other for other in members if other != name]
            was_asked_for = name in problem.included and worth.of(others) >= worth.of(members)
            yield replace(worth.step(name, others), role=INCLUDED if was_asked_for else MEMBER)

    def _worth(self, problem: Problem) -> Worth:
        return Worth(problem, self.model, self.scoring, self.n_splits, self.tolerance)


def _removals(worth: Worth, members: list[str], staying: Collection[str]) -> Iterator[Step]:
    """Remove members, in place, while that pays; those that stay are never removed."""
    while leaving := [name for name in members if name not in staying]:
        rests = {name: [other for other in members if other != name] for name in leaving}
        worth.find(list(rests.values()))
        least = max(leaving, key=lambda name: worth.of(rests[name]))
        if worth.of(rests[least]) < worth.of(members):
            return
        yield worth.step(least, rests[least], kept=False)
        members.remove(least)
