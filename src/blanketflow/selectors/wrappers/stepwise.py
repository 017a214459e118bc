"""Stepwise selection by the cross-validated score of any model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...core.cards import CLASSIFICATION, Card
from ...core.errors import DataError, ParameterError, UnsupportedError, did_you_mean
from ...core.parameters import anything, integer, number
from ...core.seeds import seed_32
from ...moves.steps import INCLUDED, MEMBER, Step
from ..base import Method, Problem
from ..learning import estimator_for, matrix_of, task_of


@dataclass
class Stepwise(Method):
    """Admit the feature that raises a model's cross-validated score most, and remove features that become superfluous.

    Grow admits the best feature while it raises the score by more than `tolerance`. After each admission it removes
    features, least useful first, while this lowers the score by at most `tolerance`. Shrink removes features from the
    result in the same way. Ties go by name, among removals by the order of admission.

    Notes
    -----
    The score minus `tolerance` per feature rises with every admission and never falls with a removal, so no set is
    visited twice. The empty set has the score of the prior (or the mean). Importance is the loss of score without the
    feature. All scores come from the same parts of the rows and the best of many is taken, so they are optimistic for
    the chosen features. scikit-learn's SequentialFeatureSelector goes forward or backward, never both.

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
        """Return what reads the rows besides the CI test."""
        return "trains models on rows"

    def check(self, where: str | None = None) -> None:
        """Raise an error if a value is out of range, or the model or scorer is unknown."""
        from ...models import get_model

        super().check(where)
        get_model(self.model)
        if self.scoring != "auto" and not callable(self.scoring):
            from sklearn.metrics import get_scorer_names

            if self.scoring not in get_scorer_names():
                hint = did_you_mean(self.scoring, get_scorer_names())
                raise ParameterError(f"{where or 'Stepwise'}: scikit-learn has no scorer {self.scoring!r}. {hint}")

    def grow(self, problem: Problem) -> Iterator[Step]:
        """Admit and remove features until no admission improves the score enough."""
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

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterable[Step]:
        """Remove features while the score allows it, and report the worth of the remaining ones."""
        worth, members = self._worth(problem), [candidate.feature for candidate in candidates]
        yield from _removals(worth, members, problem.included)
        for name in members:
            others = [other for other in members if other != name]
            was_asked_for = name in problem.included and worth.of(others) >= worth.of(members)
            yield replace(worth.step(name, others), role=INCLUDED if was_asked_for else MEMBER)

    def _worth(self, problem: Problem) -> Worth:
        return Worth(problem, self.model, self.scoring, self.n_splits, self.tolerance)


def _removals(worth: Worth, members: list[str], staying: Collection[str]) -> Iterator[Step]:
    """Remove members, in place, while the score allows it, except included ones."""
    while leaving := [name for name in members if name not in staying]:
        rests = {name: [other for other in members if other != name] for name in leaving}
        worth.find(list(rests.values()))
        least = max(leaving, key=lambda name: worth.of(rests[name]))
        if worth.of(rests[least]) < worth.of(members):
            return
        yield worth.step(least, rests[least], kept=False)
        members.remove(least)


#: Cells of a matrix of features that are evaluated together, 32 MB.
CELLS = 2**22


@dataclass
class Worth:
    """The worth of feature sets: a model's mean score over parts of the rows minus `tolerance` per feature.

    `scoring` is a scikit-learn scorer or its name; ``auto`` is accuracy for classes and R2 for numbers.
    """

    problem: Problem
    model: Any
    scoring: Any
    n_splits: int
    tolerance: float
    _scores: dict[frozenset[str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._target, n_rows = self.problem.table[self.problem.target], self.problem.table.n_rows
        # r2 and similar scores are undefined for a single row.
        n_parts = min(self.n_splits, n_rows // 2)
        if n_parts < 2:
            raise DataError(f"stepwise needs at least 4 rows to hold some out, but there are {n_rows}.")
        self._seed, self._task = seed_32(self.problem.seed, "stepwise"), task_of(self._target)
        values = self._target.numbers()
        parts = self.problem.parts(values, n_parts, "stepwise")
        self._splits = [
            (np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in range(parts.max() + 1)
        ]
        can_learn = self._task != CLASSIFICATION or all(np.ptp(values[train]) for train, _ in self._splits)
        self._by_predictions = self.scoring == "auto" and can_learn

    def of(self, names: list[str]) -> float:
        """Return the worth of a set, rounded so that float noise does not decide ties."""
        return round(self.score(names) - self.tolerance * len(names), 12)

    def score(self, names: list[str]) -> float:
        """Return the mean score of a model of some features over the parts."""
        self.find([names])
        return self._scores[frozenset(names)]

    def step(self, feature: str, others: list[str], kept: bool = True) -> Step:
        """Return the step that admits or removes a feature given some others; the statistic is the score reached."""
        score, without = self.score([*others, feature]), self.score(others)
        return Step(feature, score if kept else without, importance=score - without, given=tuple(others), kept=kept)

    def find(self, sets: Sequence[list[str]]) -> None:
        """Compute missing scores of sets; a model can share work among sets."""
        unknown = [names for names in sets if frozenset(names) not in self._scores]
        most = max(1, CELLS // (self.problem.table.n_rows * self._widest))
        for some in (unknown[start : start + most] for start in range(0, len(unknown), most)):
            together = self._by_predictions and all(some)
            scores = self._from_predictions(some) if together else map(self._cross_validated, some)
            self._scores.update(zip(map(frozenset, some), scores, strict=True))

    @cached_property
    def _widest(self) -> int:
        """Largest number of columns for a feature."""
        n_levels = max((len(column.levels) for column in self.problem.table.one_of_each()), default=0)
        return max(1, n_levels) * max(self.problem.column_counts)

    def _from_predictions(self, sets: list[list[str]]) -> list[float]:
        """Return the accuracy or R2 of models of each set."""
        from ...models import get_model
        from ...models.encode import moderated

        matrix, chosen = self._columns(sets)
        model, y, scores = get_model(self.model), moderated(self._target), np.empty((len(sets), len(self._splits)))
        for part, (train, test) in enumerate(self._splits):
            known = matrix[train], y[train]
            found = model.predict_by_sets(self._task, self._seed, known, matrix[test], chosen, self.problem.check_time)
            for n, names in enumerate(sets):
                with _failure(f"a model of {names}"):
                    scores[n, part] = self._score(y[test], next(found))
        for names, of_parts in zip(sets, scores, strict=True):
            _check_finite(of_parts, f"the score of a model of {names}")
        return scores.mean(axis=1).tolist()

    def _columns(self, sets: list[list[str]]) -> tuple[np.ndarray, list[list[int]]]:
        """Return a matrix for models, and its columns of each set."""
        from ...models.encode import design, moderate

        problem, among = self.problem, {name for names in sets for name in names}
        in_order = [name for name in problem.features if name in among]  # on which some models depend
        encoded = design(moderate(problem.table.select(problem.columns(in_order))))
        blocks = encoded.joined([len(problem.columns([name])) for name in in_order]).blocks
        of_each = {name: range(block.start, block.stop) for name, block in zip(in_order, blocks, strict=True)}
        return encoded.matrix, [sorted(column for name in names for column in of_each[name]) for names in sets]

    def _score(self, y: np.ndarray, predicted: np.ndarray) -> float:
        """Return the accuracy or R2; for constant numbers 1 if predicted and else 0, as in scikit-learn."""
        if self._task == CLASSIFICATION:
            return float(np.mean(predicted == y))
        loss, total = np.sum((predicted - y) ** 2), np.sum((y - y.mean()) ** 2)
        return float(1 - loss / total if total else loss == 0)

    def _cross_validated(self, names: list[str]) -> float:
        """Return the mean of any score."""
        from sklearn.model_selection import cross_val_score

        from ...models.encode import moderated

        problem, default = self.problem, "accuracy" if self._task == CLASSIFICATION else "r2"
        problem.check_time()
        X = matrix_of(problem.table, problem.columns([name for name in problem.features if name in names]))
        estimator = estimator_for(self.model, self._target, self._seed, X, *(train for train, _ in self._splits))
        scoring = default if self.scoring == "auto" else self.scoring
        # A model without columns still gets a matrix: scikit-learn refuses one without.
        X = X if names else np.zeros((problem.table.n_rows, 1))
        y, how = moderated(self._target), {"scoring": scoring, "cv": self._splits, "error_score": "raise"}
        with _failure(f"{scoring} of a model of {names}"):
            scores = cross_val_score(estimator, X, y, **how)
        _check_finite(scores, f"{scoring} of a model of {names}")
        return float(scores.mean())


@contextmanager
def _failure(what: str) -> Iterator[None]:
    """Raise `DataError` if a model or a scorer fails."""
    try:
        yield
    except UnsupportedError:
        raise
    except (ValueError, AttributeError) as error:
        raise DataError(f"stepwise: {what} failed: {error}. Choose another scoring or model.") from error


def _check_finite(scores: np.ndarray, what: str) -> None:
    if not np.isfinite(scores).all():
        raise DataError(f"stepwise: {what} is not finite on some parts. Choose another scoring or model.")
