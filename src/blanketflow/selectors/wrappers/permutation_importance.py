"""Permutation importance (PIMP)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.cards import Card
from ...core.column_checks import clusters_of_copies
from ...core.errors import ParameterError
from ...core.parameters import anything, choice, integer, number
from ...core.seeds import derive_rng, derive_seed
from ...moves.steps import Step, Steps
from ..base import Method, Problem
from ..learning import Importances

#: Share of the largest importance below which a difference is rounding.
SAME = 1e-12
#: Default model. A forest of 100 trees takes 17 times as long and finds no more.
SMALL_FOREST = {"type": "forest", "n_estimators": 20}
#: Distributions of null importances.
NULLS = ("empirical", "normal", "lognormal", "gamma")


@dataclass
class PermutationImportance(Method):
    """Keep the features that are more important to a model than under permutations of the target.

    Grow computes importances for the target and for `n_permutations` permuted targets, and admits all features, most
    important first. A feature's p-value compares its importance with its own importances under permuted targets. Shrink
    keeps the features with p <= alpha.

    Near-copies share their importance, and permuting one leaves the other. If none of them is significant, the most
    important one is tested again in a second run without its near-copies.

    Notes
    -----
    Permuting the target preserves the correlations of the features; the model, its seed and the parts of the rows are
    the same each time. The empirical p-value has the Monte Carlo correction of Phipson and Smyth (2010,
    10.2202/1544-6115.1585), which the paper does not use: it is never 0, and exact if all features are independent of
    the target. The paper chooses among fitted distributions by a Kolmogorov-Smirnov test; here `null` chooses. The
    model's own importances are summed over the columns of a categorical feature, which are permuted together.

    The total gain of a tree's splits is similar for every target, permuted or not. If one feature takes most of it,
    other informative features can fall below their nulls; ``importance: permutation`` finds these.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = {"type": "forest", "n_estimators": 10}
    >>> fitted = bf.PermutationImportance(model=model, n_permutations=19).fit(X, y)
    >>> sorted(fitted.selected_features_[:2])
    ['bmi', 's5']
    """

    card: ClassVar[Card] = Card(
        id="permutation-importance",
        name="permutation importance (PIMP)",
        family="wrapper",
        summary="Keeps features whose importance to a model is larger than with permuted targets.",
        reference="Altmann, Tolosi, Sander, Lengauer (2010) Permutation importance: a corrected feature importance "
        "measure, Bioinformatics 26(10), 1340-1347, doi:10.1093/bioinformatics/btq134.",
        guarantee="empirical p-values are exact where no feature depends on the target",
        cost="no tests; n_permutations + 1 model fits, n_splits times as many for importance: permutation; twice as "
        "many where near-copies are not significant",
        importance="its importance to the model: the model's own, or the loss of accuracy or R² when it is permuted",
        takes_max_rows=True,
    )
    default_test: ClassVar[str | None] = None
    takes_feature_groups: ClassVar[bool] = True

    alpha: float = number(0.05, "Significance level.", above=0, below=1)
    model: Any = anything(
        None, "The model: a model id, 'module:Class', or a scikit-learn estimator; null: a forest of 20 trees."
    )
    n_permutations: int = integer(20, "Number of permuted targets.", at_least=2)
    importance: str = choice(
        "auto",
        "What the fitted model says of its columns (model), the loss of accuracy or R2 on rows held out when a feature "
        "is permuted (permutation), or the first for models that have it (auto).",
        ("auto", "model", "permutation"),
    )
    n_splits: int = integer(5, "Number of parts, each held out once, for importance: permutation.", at_least=2)
    null: str = choice(
        "empirical",
        "Distribution of a feature's importances under permuted targets; importances that cannot follow it (all equal, "
        "or not all positive for lognormal and gamma) are counted (empirical).",
        NULLS,
    )

    def options(self) -> dict[str, Any]:
        """Return the value of every parameter, with the default model in place of None."""
        options = super().options()
        return options if self.model is not None else {**options, "model": dict(SMALL_FOREST)}

    def check(self, where: str | None = None) -> None:
        """Raise an error if a value is out of range, nothing could be kept, or the model is unknown."""
        from ...models import get_model

        super().check(where)
        get_model(self.options()["model"])
        if self.null == "empirical" and 1 / (1 + self.n_permutations) > self.alpha:
            raise ParameterError(
                f"{where or type(self).__name__}: with {self.n_permutations} permutations no p-value is below "
                f"1/{1 + self.n_permutations}, so that none reaches alpha {self.alpha:g}. Set n_permutations to at "
                f"least {math.ceil(1 / self.alpha - 1e-9) - 1}, or null: normal."
            )

    def grow(self, problem: Problem) -> Steps:
        """Admit all features, most important first, ties by name; the statistic is the importance."""
        target, names = problem.table[problem.target], list(problem.features)
        observed, p_value = np.zeros(len(names)), np.ones(len(names))
        if not target.is_constant():
            observed, p_value = self._tested(problem, names)
            alone = [j for j, name in enumerate(names) if name not in problem.feature_groups]
            clusters = clusters_of_copies(problem.table, [names[j] for j in alone])
            lost = [found for c in clusters if (p_value[found := [alone[i] for i in c]] > self.alpha).all()]
            if lost:
                firsts = [max(cluster, key=lambda j: (observed[j], -j)) for cluster in lost]
                others = {j for cluster in lost for j in cluster} - set(firsts)
                kept = [j for j in range(len(names)) if j not in others]
                again = self._tested(problem, [names[j] for j in kept])
                for values, repeated in zip((observed, p_value), again, strict=True):
                    values[firsts] = repeated[np.searchsorted(kept, firsts)]
        order = np.argsort(-observed, kind="stable")
        own = observed[order]
        return Steps([names[j] for j in order.tolist()], statistic=own, p_value=p_value[order], importance=own)

    def _tested(self, problem: Problem, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return importances and p-values of some features, without the others."""
        target, features = problem.table[problem.target], problem.table.select(problem.columns(names))
        seed = derive_seed(problem.seed, "permutation-importance")
        how = self.options()["model"], self.importance, self.n_splits, seed
        column_counts = [len(problem.columns([name])) for name in names]
        importances = Importances(features, *how, problem.groups, column_counts)
        problem.check_time()
        observed, nulls = importances.of(target), []
        rng = derive_rng(seed, "targets")
        for _ in range(self.n_permutations):
            problem.check_time()
            nulls.append(importances.of(target.take(rng.permutation(features.n_rows))))
        return observed, p_values(observed, np.array(nulls), self.null)

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Steps:
        """Keep significant features."""
        steps = Steps.of(candidates)
        return steps.with_columns(kept=steps.p_value <= self.alpha)


def p_values(observed: np.ndarray, nulls: np.ndarray, null: str = "empirical") -> np.ndarray:
    """Return the probability of importances at least as large under each feature's own null distribution, (d,).

    `nulls`, (B, d), are the importances for B permuted targets. ``empirical`` is (1 + number of nulls at least as
    large) / (1 + B). The others are fitted to the nulls by maximum likelihood (``normal`` with the unbiased variance),
    except for features whose nulls are all equal or, for the last two, not all positive; these get the empirical
    p-value.

    >>> nulls = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> p_values(np.array([1.5, 1.0]), nulls).tolist()
    [0.5, 1.0]
    >>> p_values(np.array([1.0, 1.0]), nulls, "normal").tolist()
    [0.5, 1.0]
    """
    scale = np.maximum(np.abs(observed), np.abs(nulls).max(axis=0))
    found = (1 + np.sum(nulls >= observed - SAME * scale, axis=0)) / (1 + len(nulls))
    if null == "empirical":
        return found
    fits = np.ptp(nulls, axis=0) > SAME * scale
    if null != "normal":
        fits &= nulls.min(axis=0) > 0
    for j in np.flatnonzero(fits):
        found[j] = _fitted(observed[j], nulls[:, j], null)
    return found


def _fitted(observed: float, nulls: np.ndarray, null: str) -> float:
    from scipy import stats

    if null == "normal":
        return float(stats.norm.sf(observed, nulls.mean(), nulls.std(ddof=1)))
    family = stats.lognorm if null == "lognormal" else stats.gamma
    return float(family.sf(observed, *family.fit(nulls, floc=0)))
