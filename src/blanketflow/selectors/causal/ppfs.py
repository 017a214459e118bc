"""Predictive permutation feature selection (PPFS)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...ci.multiple_testing import CORRECTIONS, NONE, rejected
from ...ci.unbound import why_a_correction_admits_none
from ...core.cards import Card
from ...core.parameters import choice, number
from ...moves.backward import remove_in_one_pass
from ...moves.steps import Step, step, strongest_first
from ..base import Method, Problem


@dataclass
class PPFS(Method):
    """Admit all features that the PPI test finds marginally dependent; then test each once given the others.

    Algorithm 2 of the paper: candidates are ordered by importance log(1/p) (ties: mean risk difference, then column
    order). Shrink tests the least important first and does not restart; a single remaining feature stays. With
    ``n_folds > 1`` the blankets of the folds are aggregated by frequency score (eq. 6-8).

    Notes
    -----
    Growing is marginal, so spouses that are independent of the target given nothing are missed. The paper's proof of
    correctness therefore does not hold, and the card claims no guarantee. `significance` of the PPI test determines how
    many false positives are admitted; see `blanketflow.ci.predictive.ppi.PPI`.

    The paper's test is the default. It permutes a feature freely, and so keeps features that depend on others and say
    nothing beyond them: on five networks 24 % of those outside the blanket, with 1,000 rows (F1 0.39). With
    ``ci_test="auto"`` it is 2 % (F1 0.69), in less time; name it to find the blanket. What it keeps predicts a little
    worse, by 0.01 in the median of 25 data sets, with about half as many features, and much worse with hundreds of
    features and few rows; so keep the default to predict.
    The option ``copies`` of the test ``ppi`` keeps the relation between features, but finds less (studies/right_ppfs).

    In Algorithm 2 a fold has the rows of one part (``fold_rows="part"``); in the authors' code all rows but that part
    (``fold_rows="train"``, the default). studies/papers/printed.md lists the sizes for both.

    Of d irrelevant features about alpha d are admitted, thousands in wide tables. `correction` corrects the d marginal
    p-values as one family; shrink always tests at alpha. Use it with ``significance="corrected-t"``: p-values of
    ``wilcoxon`` are too small from 10 repeats on, and cannot be below a limit that depends on the number of repeats and
    may exceed what a correction requires. Then `fit` raises an error, or `reason_` says why nothing was admitted. See
    docs/ci-tests.md, "Wide tables".

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.PPFS(n_repeats=10, random_state=0).fit(X, y).selected_features_[0].startswith("petal")
    True
    """

    card: ClassVar[Card] = Card(
        id="ppfs",
        name="PPFS",
        family="causal",
        summary="Marginal growth and one conditional backward pass by the PPI test, aggregated over folds: of all rows "
        "but a part, as in the authors' code, or of the part (fold_rows: part), as Algorithm 2 has it.",
        reference="Hassan, Paik, Khare, Hassan (2021) PPFS: Predictive Permutation Feature Selection, "
        "arXiv:2110.10713.",
        guarantee="none: marginally independent spouses are missed; its default test keeps features that depend "
        "on others and add nothing to them; ci_test: auto keeps few of these",
        work="backward",
        cost="d marginal tests and one test per candidate; n_repeats model fits per test, shared within a set",
    )
    draws_rows: ClassVar[bool] = False
    takes_feature_groups: ClassVar[bool] = True
    learns_from: ClassVar[str] = "tests"
    default_test: ClassVar[str | None] = "ppi"
    anytime: ClassVar[bool] = True
    test_shorthands: ClassVar[tuple[str, ...]] = ("n_repeats", "model", "test_size", "significance")

    alpha: float = number(0.05, "Significance level.", above=0, below=1)
    correction: str = choice(
        NONE,
        "How growing corrects for many tests: not at all (none, the paper), by the false discovery rate at alpha (bh, "
        "Benjamini and Hochberg; by, Benjamini and Yekutieli, under any dependence), or by alpha / d (bonferroni).",
        CORRECTIONS,
    )

    def grow(self, problem: Problem) -> list[Step]:
        """Admit features with p <= alpha, or that the correction rejects, by marginal tests, most important first."""
        results = problem.marginal
        admitted = np.flatnonzero(rejected(results.log_p, self.alpha, self.correction))
        if not len(admitted) and self.correction != NONE:
            test = problem.test.test_config
            reason = why_a_correction_admits_none(test, results.log_p, self.alpha, self.correction)
            if reason:
                problem.say("unreliable", reason)
        in_order = admitted[strongest_first(results.take(admitted))]
        return [step(problem.features[i], results[i]) for i in in_order.tolist()]

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterable[Step]:
        """Test each candidate once given the rest, least important first."""
        if len(candidates) < 2:
            return list(candidates)
        return remove_in_one_pass(problem.test, problem.target, candidates[::-1], self.alpha)
