"""Mixed-MB."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ...core.cards import Card
from .gs import CORRECTION_GUARANTEE
from .inter_iamb import InterIAMB


@dataclass
class MixedMB(InterIAMB):
    """Inter-IAMB with a likelihood-ratio test between regressions of the target, for any mixture of columns.

    The default test regresses only the target: linearly if it is a number, by multinomial logistic regression if it has
    classes. Features of any kind are predictors only. See `blanketflow.ci.lr_mixed.LRMixed`.

    Notes
    -----
    The publication was not at hand: this follows what others write of it, and details may differ.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> X["sex"] = X["sex"].gt(0).map({True: "F", False: "M"})
    >>> {"bmi", "s5"} <= set(bf.MixedMB().fit(X, y).selected_features_)
    True
    """

    card: ClassVar[Card] = Card(
        id="mixed-mb",
        name="Mixed-MB",
        family="causal",
        summary="Inter-IAMB with regressions of the target: linear for numbers, multinomial logistic for classes.",
        reference="Lee, Jeong, Jun (2020) Markov blanket-based universal feature selection for classification and "
        "regression of mixed-type data, Expert Systems with Applications 158, 113398, doi:10.1016/j.eswa.2020.113398.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets"
        + CORRECTION_GUARANTEE,
        cost="d regressions per admission, and at most |S|^2 in the backward pass after it",
    )
    default_test: ClassVar[str | None] = "lr-mixed"
    default_test_options: ClassVar[Mapping[str, Any]] = {"directions": "target"}
