"""The methods that the study compares, named before any of its results were seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

import blanketflow as bf
from blanketflow.core.seeds import seed_32
from studies.answer.competitors import WAYS
from studies.scm.equations import Drawn

#: Searches of ours, each a selector with the time that it has.
OURS: dict[str, Callable[[float], bf.PPFS]] = {
    "auto": lambda seconds: bf.Auto(time_limit=seconds),
    "hiton-mb": lambda seconds: bf.HITONMB(ci_test="auto", time_limit=seconds),
    "hiton-mb, corrected": lambda seconds: bf.HITONMB(ci_test="auto", correction="bh", time_limit=seconds),
    "hiton-mb, gcm": lambda seconds: bf.HITONMB(ci_test="gcm", time_limit=seconds),
    "iamb": lambda seconds: bf.IAMB(ci_test="auto", time_limit=seconds),
    "iamb, alpha 0.001": lambda seconds: bf.IAMB(ci_test="auto", alpha=0.001, time_limit=seconds),
    "fast-iamb": lambda seconds: bf.FastIAMB(ci_test="auto", time_limit=seconds),
    "mmmb": lambda seconds: bf.MMMB(ci_test="auto", time_limit=seconds),
    "stmb": lambda seconds: bf.STMB(ci_test="auto", time_limit=seconds),
    "ppfs": lambda seconds: bf.PPFS(time_limit=seconds),
    "knockoffs": lambda seconds: bf.Knockoffs(time_limit=seconds),
    "stability-selection": lambda seconds: bf.StabilitySelection(time_limit=seconds),
    "mrmr": lambda seconds: bf.MRMR(n_features="auto", time_limit=seconds),
}
#: Ways of others, by their usual settings.
OTHERS = ("lasso", "boruta", "forest", "rfecv", "f-10-percent")
ALL, TRUE = "all", "true blanket"
METHODS = (ALL, TRUE, *OURS, *OTHERS)


def selected(method: str, drawn: Drawn, task: str, seconds: float) -> tuple[list[str], str, int]:
    """Return the features that a method keeps, its status and its number of tests."""
    if method == ALL:
        return list(drawn.X), "ok", 0
    if method == TRUE:
        return list(drawn.blanket), "ok", 0
    if method in OURS:
        found = OURS[method](seconds).set_params(random_state=seed_32(task, method)).fit(drawn.X, drawn.y)
        return list(found.selected_features_), found.status_, int(found.n_tests_)
    coded, of = coded_columns(drawn.X)
    _, kept = WAYS[method](coded, drawn.y.to_numpy(), False, seed_32(task))
    return list(dict.fromkeys(of[kept])), "ok", 0


def coded_columns(X: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return labels as indicators, and the feature that each column came from."""
    coded = pd.get_dummies(X, prefix_sep="=", dtype=float)
    return coded.to_numpy(), np.array([name.partition("=")[0] for name in coded.columns])
