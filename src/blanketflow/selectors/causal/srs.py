"""Selection via representative sets (SRS)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...core.parameters import integer, number
from ...core.table import Column
from ...models.encode import moderated
from ...moves.steps import Step
from ..base import Problem
from .res import RES
from .sparse_group_lasso import Rows, choose_penalties

#: Shares of the largest penalties between which the best are sought.
SMALLEST, LARGEST = 0.001, 0.1


@dataclass
class SRS(RES):
    """Keep the features of the representative sets to which a sparse group lasso gives a coefficient.

    The sets are formed as by RES; each is a group. Eq. 3 of the paper, least squares with one penalty on groups
    (lambda1) and one on features (lambda2), is fitted with both penalties as shares of the smallest value that selects
    nothing. They are chosen by cross-validated squared error on the rows at hand, from 0.001 on in steps of
    `lambda_step` to 0.1.

    Notes
    -----
    All columns are standardised. A categorical feature enters as indicators of its levels, in the same group, and is
    kept if one of them has a coefficient. A target of two classes is a number, as in the paper; with more classes each
    one's indicator is fitted, with the same shares, and features kept for any class are kept. Importance is the length
    of a feature's coefficients.

    A group of `feature_groups` enters in the same way, as all of its columns.

    This is a model of the columns' values, so shrink reads the table. Everything else is asked of the CI test.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> sorted(bf.SRS(ci_test="fisher-z", alpha=0.01, lambda_step=0.05).fit(X, y).selected_features_[:3])
    ['bmi', 'bp', 's5']
    """

    card: ClassVar[Card] = Card(
        id="srs",
        name="selection via representative sets (SRS)",
        family="causal",
        summary="Sparse group lasso on the representative sets, its penalties chosen by cross-validation.",
        reference="Yu, Wu, Zhang, Mu, Wang, Ding (2013) Markov blanket feature selection with non-faithful data "
        "distributions, IEEE ICDM, doi:10.1109/ICDM.2013.154.",
        guarantee="none",
        work="neighbours",
        cost="the tests of res; one fit for each part and pair of penalties, 2,000 by default, for each class",
        importance="the length of its coefficients in the sparse group lasso",
    )

    lambda1: float | None = number(
        None, "Penalty on groups, as a share of the largest; null for the best by cross-validation.",
        above=0, at_most=1, nullable=True,
    )  # fmt: skip
    lambda2: float | None = number(
        None, "Penalty on features, as a share of the largest; null for the best by cross-validation.",
        above=0, at_most=1, nullable=True,
    )  # fmt: skip
    lambda_step: float = number(0.005, "Step between the shares that cross-validation tries.", above=0, at_most=0.1)
    n_splits: int = integer(5, "Number of parts of the cross-validation.", at_least=2)

    def reads_rows(self) -> str:
        """Return in words what reads the rows beside the CI test."""
        return "fits a sparse group lasso to rows"

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterator[Step]:
        """Keep the candidates with a coefficient; each keeps the test of its admission."""
        if not candidates:
            return
        groups = dict.fromkeys(candidate.group for candidate in candidates)
        sets = [[candidate for candidate in candidates if candidate.group == group] for group in groups]
        for candidate, weight in zip(chain(*sets), self._weights(problem, sets), strict=True):
            yield replace(candidate, importance=float(weight), kept=bool(weight > 0))

    def _weights(self, problem: Problem, sets: list[list[Step]]) -> np.ndarray:
        """Return the length of each feature's coefficients."""
        designs = [[_design(problem, candidate.feature) for candidate in members] for members in sets]
        sizes = [sum(block.shape[1] for block in design) for design in designs]
        blocks = list(chain(*designs))
        X, Y = np.hstack(blocks), indicators(problem.table[problem.target])
        tried = np.arange(SMALLEST, LARGEST, self.lambda_step).tolist()
        shares = [tried if share is None else [share] for share in (self.lambda1, self.lambda2)]
        parts = problem.parts(Y, self.n_splits, "srs")
        fit = Rows(X, Y, sizes).fit(*choose_penalties(X, Y, sizes, *shares, parts))
        if not fit.converged:
            problem.say("unreliable", "the sparse group lasso did not converge: raise lambda1 or lambda2.")
        starts = np.cumsum([0, *(block.shape[1] for block in blocks[:-1])])
        return np.sqrt(np.add.reduceat(np.sum(fit.coefficients**2, axis=1), starts))


def _design(problem: Problem, feature: str) -> np.ndarray:
    """Return the columns that a feature enters with, shape (n, m)."""
    return np.hstack([indicators(problem.table[column]) for column in problem.columns([feature])])


def indicators(column: Column) -> np.ndarray:
    """Return numbers as they are, two levels as one indicator, more as an indicator of each present; shape (n, m).

    Examples
    --------
    >>> indicators(Column("colour", "categorical", np.array([0, 2, 1, 2]), ("blue", "green", "red"))).T
    array([[1., 0., 0., 0.],
           [0., 0., 1., 0.],
           [0., 1., 0., 1.]])
    """
    if not column.is_discrete:
        return moderated(column)[:, np.newaxis]  # the lasso standardises, and the squares of huge numbers are infinite
    values = column.numbers()
    levels = np.unique(values)
    return (values[:, np.newaxis] == (levels[1:] if len(levels) == 2 else levels)).astype(np.float64)
