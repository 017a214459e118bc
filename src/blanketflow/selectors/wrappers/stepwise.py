"""Stepwise selection by the cross-validated score of any model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ...core.cards import CLASSIFICATION, Card
from ...core.errors import DataError, ParameterError, did_you_mean
from ...core.parameters import anything, integer, number
from ...core.seeds import seed_32
from ...search.steps import INCLUDED, MEMBER, Step
from ..base import Method, Problem
from ..learning import estimator_for, matrix_of, task_of


@dataclass
class Stepwise(Method):
    """Admit the feature that raises a model's cross-validated score most, and remove what it makes superfluous.

    A feature has to be worth `tolerance` of score. Grow admits the best feature while that raises the score by more;
    after each admission features are removed, one at a time and the least useful first, while that lowers the score by
    no more. Shrink removes in the same way from what grow returned. Ties go by table order, among removals by the order
    of admission.

    Notes
    -----
    Score less `tolerance` for each feature rises with every admission and never falls with a removal, so that no set is
    met twice. The empty set has the score of the prior (or the mean). Importance is what the score would lose without
    the feature. All scores come from the same parts of the rows, and the best of many is taken, so they flatter the
    chosen features.

    scikit-learn's SequentialFeatureSelector goes forward or backward, never both; its `cross_val_score` is used here.

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
        worth, members = Worth(self, problem), list(problem.included)
        yield from problem.admit_included()
        while self.max_features is None or len(members) < self.max_features:
            rest = [name for name in problem.features if name not in members]
            best = max(rest, key=lambda name: worth.of([*members, name]), default=None)
            if best is None or worth.of([*members, best]) <= worth.of(members):
                return
            yield worth.step(best, members)
            members.append(best)
            yield from _removals(worth, members, problem.included)

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterable[Step]:
        """Remove while that pays, and report what the remaining features are worth."""
        worth, members = Worth(self, problem), [candidate.feature for candidate in candidates]
        yield from _removals(worth, members, problem.included)
        for name in members:
            others = [other for other in members if other != name]
            was_asked_for = name in problem.included and worth.of(others) >= worth.of(members)
            yield replace(worth.step(name, others), role=INCLUDED if was_asked_for else MEMBER)


def _removals(worth: Worth, members: list[str], staying: Collection[str]) -> Iterator[Step]:
    """Remove members, in place, while that pays; those that stay are never removed."""
    while leaving := [name for name in members if name not in staying]:
        rests = {name: [other for other in members if other != name] for name in leaving}
        least = max(leaving, key=lambda name: worth.of(rests[name]))
        if worth.of(rests[least]) < worth.of(members):
            return
        yield worth.step(least, rests[least], kept=False)
        members.remove(least)


@dataclass
class Worth:
    """What sets of features are worth: their model's cross-validated score, less `tolerance` for each feature."""

    method: Stepwise
    problem: Problem
    _scores: dict[frozenset[str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        target, n_rows = self.problem.table[self.problem.target], self.problem.table.n_rows
        # r2 and its like have no value on a single row.
        n_parts = min(self.method.n_splits, n_rows // 2)
        if n_parts < 2:
            raise DataError(f"stepwise needs at least 4 rows to hold some out, but there are {n_rows}.")
        parts = self.problem.parts(target.numbers(), n_parts, "stepwise")
        self._splits = [
            (np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in range(parts.max() + 1)
        ]

    def of(self, names: list[str]) -> float:
        """Return what a set is worth; rounded, so that float noise does not decide ties."""
        return round(self.score(names) - self.method.tolerance * len(names), 12)

    def score(self, names: list[str]) -> float:
        """Return the mean score of a model of some features over the parts."""
        key = frozenset(names)
        if key not in self._scores:
            self.problem.check_time()
            self._scores[key] = self._cross_validate([name for name in self.problem.features if name in key])
        return self._scores[key]

    def step(self, feature: str, others: list[str], kept: bool = True) -> Step:
        """Return the step that admits a feature to some others, or removes it; the statistic is the score reached."""
        score, without = self.score([*others, feature]), self.score(others)
        return Step(feature, score if kept else without, importance=score - without, given=tuple(others), kept=kept)

    def _cross_validate(self, names: list[str]) -> float:
        from sklearn.model_selection import cross_val_score

        from ...models.encode import moderated

        table, method = self.problem.table, self.method
        X, target = matrix_of(table, self.problem.columns(names)), table[self.problem.target]
        seed = seed_32(self.problem.seed, "stepwise")
        estimator = estimator_for(method.model, target, seed, X, *(train for train, _ in self._splits))
        default = "accuracy" if task_of(target) == CLASSIFICATION else "r2"
        scoring = default if method.scoring == "auto" else method.scoring
        # A model without columns still gets a matrix: scikit-learn refuses one without.
        X = X if names else np.zeros((table.n_rows, 1))
        y, how = moderated(target), {"scoring": scoring, "cv": self._splits, "error_score": "raise"}
        what = f"stepwise: {scoring} of a model of {names}"
        try:
            scores = cross_val_score(estimator, X, y, **how)
        except (ValueError, AttributeError) as error:
            raise DataError(f"{what} failed: {error}. Choose another scoring or model.") from error
        if not np.isfinite(scores).all():
            raise DataError(f"{what} is not finite on some parts. Choose another scoring or model.")
        return float(scores.mean())
