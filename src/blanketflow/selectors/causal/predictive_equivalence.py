"""Whether a model predicts the target as well from one set of features as from another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ci.learner import held_out_losses
from ..base import Problem

N_FOLDS = 10


def predicts_as_well(problem: Problem, candidate: Sequence[str], first: Sequence[str], alpha: float) -> bool:
    """Return whether held-out losses from `candidate` are not significantly larger than from `first`.

    Losses of a logistic or linear regression in 10-fold cross-validation, the same folds for both; one-sided paired t
    test at level `alpha`.
    """
    from scipy.stats import ttest_1samp
    from sklearn.linear_model import LinearRegression

    target = problem.target
    model = "logistic" if problem.table[target].is_discrete else LinearRegression()
    columns = [[feature for feature in problem.features if feature in chosen] for chosen in (candidate, first)]
    worse, better = (held_out_losses(problem.table, names, target, model, N_FOLDS, problem.seed) for names in columns)
    differences = worse - better
    if np.ptp(differences) == 0.0:
        return bool(differences[0] <= 0.0)
    return bool(ttest_1samp(differences, 0.0, alternative="greater").pvalue > alpha)
