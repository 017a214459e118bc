"""Methods that rank features and cut the ranking at one or more numbers of features."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..core.cards import CLASSIFICATION
from ..core.errors import DataError
from ..core.parameters import anything, feature_counts
from ..core.seeds import derive_seed, seed_32
from ..moves.steps import Answer, Step, Steps
from .base import Method, Problem
from .learning import task_of

#: Weights are rounded to this many decimals before they are compared, so that float noise does not decide ties.
DECIMALS = 12


@dataclass
class RankingMethod(Method):
    """Base class of methods whose grow ranks features and whose shrink cuts the ranking. A subclass adds `rank`.

    Constant features are not ranked. A list of numbers of features gives one answer for each; the largest is the
    selection. ``auto`` chooses the best number from 1 to 50 by cross-validation on the rows at hand; see `best_number`.
    """

    n_features: int | list[int] | str = feature_counts(
        10,
        "Number of features to keep (psi), all that vary if there are fewer; a list gives one answer for each number; "
        "auto takes the number that predicts held-out rows best.",
    )
    model: Any = anything("knn", "Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.")

    keeps_untested: ClassVar[bool] = True
    #: Whether `rank` reads the problem's marginal results.
    reads_marginal: ClassVar[bool] = True

    def check(self, where: str | None = None) -> None:
        """Raise an error if a value is out of range or the model is unknown."""
        from ..models import get_model

        super().check(where)
        get_model(self.model)

    def reads_rows(self) -> str:
        """Return what reads the rows besides the CI test."""
        return "chooses n_features by models of rows" if self.n_features == "auto" else ""

    @abstractmethod
    def rank(self, problem: Problem, n_features: int) -> Iterable[Step | Steps]:
        """Return the `n_features` best features (or all), best first; fewer must be the beginning of more.

        Importances must not increase.
        """

    def grow(self, problem: Problem) -> Steps:
        """Rank as many features as the longest answer has."""
        return self.beginning(problem, MOST_FEATURES if self.n_features == "auto" else max(self._numbers()))

    def beginning(self, problem: Problem, most: int) -> Steps:
        """Return at most `most` best features."""
        n_features = min(most, len(problem.features))
        return Steps.of(self.rank(problem, n_features) if n_features else ())

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Steps:
        """Cut the ranking."""
        candidates = Steps.of(candidates)
        names = candidates.feature.tolist()
        if isinstance(self.n_features, list | tuple):
            problem.answers += [Answer(tuple(beginning(names, n, problem.included))) for n in self._numbers()]
        n_kept = best_number(self, problem, len(names)) if self.n_features == "auto" else max(self._numbers())
        kept = set(beginning(names, n_kept, problem.included))
        return candidates.with_columns(kept=np.array([name in kept for name in names], dtype=bool))

    def _numbers(self) -> list[int]:
        return list(self.n_features) if isinstance(self.n_features, list | tuple) else [self.n_features]


def beginning(names: Sequence[str], n: int, included: Sequence[str]) -> list[str]:
    """Return the first n of a ranking, with every included feature among them, in ranking order.

    Included features that are not ranked replace the last ones; the caller adds them.

    >>> beginning(["a", "b", "c", "d"], 2, ["d"]), beginning(["a", "b"], 2, ["z"])
    (['a', 'd'], ['a'])
    """
    kept, n_others = set(included), max(0, n - len(included))
    kept.update([name for name in names if name not in kept][:n_others])
    return [name for name in names if name in kept]


def heaviest_first(
    features: Sequence[str], weights: np.ndarray, most: int, threshold: float | None = None, unit: float = 1.0
) -> Steps:
    """Return the features with the largest finite weights, (d,), as steps, heaviest first; ties keep the given order.

    Weights are the statistics and importances of the steps. At most `most` features are returned, all above the
    threshold. Weights are rounded relative to `unit`, the size of the terms that they sum.

    >>> [step.feature for step in heaviest_first("abc", np.array([0.1, 0.3, 0.1 + 1e-15]), most=3)]
    ['b', 'a', 'c']
    >>> [step.feature for step in heaviest_first("abc", np.array([0.1, 0.3, 0.2]), most=3, threshold=0.1)]
    ['b', 'c']
    """
    compared = np.round(weights / unit, DECIMALS)
    order = np.argsort(-compared, kind="stable")
    if threshold is not None:
        order = order[compared[order] > np.round(threshold / unit, DECIMALS)]
    order = order[:most]
    # Later tied weights may be larger by float noise.
    importances = np.minimum.accumulate(weights[order])
    return Steps([features[i] for i in order.tolist()], statistic=weights[order], importance=importances)


#: Parts of the cross-validation, and its maximum number of features.
N_PARTS, MOST_FEATURES = 5, 50


def best_number(method: RankingMethod, problem: Problem, most: int) -> int:
    """Return the number of features, 1 .. most, whose models predict held-out rows best, the smallest on ties.

    For each part of a cross-validation, features are ranked on the other rows, and a model of the first 1, 2, ... of
    them predicts the part. The criterion is accuracy over all parts together, or squared error for regression. Returns
    0 if `most` is 0. Raises `DataError` for a single row, and `LimitReached` at a limit of the stage.
    """
    if most == 0:
        return 0
    losses = held_out_losses(method, problem, most).mean(axis=1)
    # In units of the target's variance and rounded, so that float noise does not decide ties.
    return int(np.argmin(np.round(losses / (np.var(problem.table[problem.target].numbers()) or 1.0), 12))) + 1


def held_out_losses(method: RankingMethod, problem: Problem, most: int) -> np.ndarray:
    """Return each held-out row's loss with the first 1 .. most features, (most, n): 0 or 1, or squared error."""
    n_rows = problem.table.n_rows
    if n_rows < 2:
        raise DataError("n_features: auto needs at least 2 rows to hold some out. Set n_features to a number.")
    target = problem.table[problem.target].numbers()
    parts = problem.parts(target, N_PARTS, "psi")
    losses = np.empty((most, n_rows))
    for part in range(parts.max() + 1):
        losses[:, parts == part] = _losses(method, problem, parts, part, most)
    return losses


def _losses(method: RankingMethod, problem: Problem, parts: np.ndarray, part: int, most: int) -> np.ndarray:
    """Return the losses of one part, (most, rows of the part)."""
    train, held_out = np.flatnonzero(parts != part), np.flatnonzero(parts == part)
    seed = derive_seed(problem.seed, "psi", part)
    inner = problem.on_rows(train, seed, tests_marginally=method.reads_marginal)
    try:
        ranked = method.beginning(inner, most).feature.tolist()
    finally:
        problem.n_inner_tests += inner.n_tests
    target = problem.table[problem.target]
    y, losses = target.numbers(), np.empty((most, len(held_out)))
    is_class = task_of(target) == CLASSIFICATION
    for n, predicted in enumerate(_predictions(method, problem, ranked, (train, held_out), part)):
        # A ranking may end early: models of more features then use all of them.
        losses[n:] = predicted != y[held_out] if is_class else (predicted - y[held_out]) ** 2
    return losses


def _predictions(
    method: RankingMethod, problem: Problem, ranked: list[str], rows: tuple[np.ndarray, np.ndarray], part: int
) -> Iterator[np.ndarray]:
    """Yield predictions of models of the first 1, 2, ... features for held-out rows."""
    from ..models import build_prior, get_model
    from ..models.encode import design, moderate

    target, (train, held_out) = problem.table[problem.target], rows
    y, seed = target.numbers()[train], seed_32(problem.seed, "psi", part)
    task = task_of(target)
    if not ranked or (task == CLASSIFICATION and not np.ptp(y)):
        problem.check_time()
        yield build_prior(task).fit(np.empty((len(train), 0)), y).predict(np.empty((len(held_out), 0)))
        return
    encoded = design(moderate(problem.table.select(problem.columns(ranked))))
    known, asked = (encoded.matrix[some] for some in rows)
    blocks = encoded.joined([len(problem.columns([name])) for name in ranked]).blocks
    beginnings, model = [range(block.stop) for block in blocks], get_model(method.model)
    yield from model.predict_by_sets(task, seed, (known, y), asked, beginnings, problem.check_time)
