"""Every method on numbers near the ends of what floats hold: the same selection, without overflow."""

import warnings

import numpy as np
import pytest
from test_selectors import every_quick_method, selector, table

from blanketflow.core.errors import UnreliableWarning

SCALED = ["noise", "signal", "junk"]
#: Of these columns, each with that of the target.
SCALES = {"tiny and huge": (2.0**-1000, 2.0**1000, 2.0**500), "huge and tiny": (2.0**990, 2.0**-990, 2.0**-500)}


def selection(name, X, y):
    with warnings.catch_warnings(), np.errstate(divide="raise", over="raise", invalid="raise"):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UnreliableWarning)  # 80 rows are too few for many tests
        fitted = selector(name, random_state=0).fit(X, y)
    numbers = fitted.trace_[["statistic", "p_value", "importance"]].dropna().astype(float)
    assert np.isfinite(numbers[["statistic", "p_value"]]).all(axis=None) and not numbers["importance"].isna().any()
    return fitted.selected_features_, fitted.blankets_, fitted.roles_


@every_quick_method
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_units_do_not_change_what_is_selected(name, task):
    if name == "variance":
        pytest.skip("it ranks by units, as its documentation says")
    X, y = table(n=80)
    if task == "regression":
        y = 3 * X["signal"] + X["code"] + 0.1 * X["junk"]
    wanted = selection(name, X, y)
    for of_target, scales in zip((2.0**1000, 2.0**-1000), SCALES.values(), strict=True):
        scaled = X.copy()
        scaled[SCALED] *= np.array(scales)
        assert selection(name, scaled, y * of_target if task == "regression" else y) == wanted
