"""Every method keeps one of the columns that say the same about the target, or says that its answer is not reliable."""

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.api import selectors

#: Told the truth, keeps nothing, or ranks by distances between rows in which every copy counts (docs/stand-ins.md).
LEFT_OUT = {"TrueBlanket", "NoFeatures", "Relieved"}
METHODS = [name for name in selectors.__all__ if name not in LEFT_OUT]


def copies(blur):
    a, b, noise, blurred, e = np.random.default_rng(0).normal(size=(5, 300))
    columns = {"noise": noise, "b": b, "celsius": a, "fahrenheit": 1.8 * (a + blur * blurred) + 32}
    return pd.DataFrame(columns), a + b + 0.3 * e, ("celsius", "fahrenheit")


def labels():
    rng = np.random.default_rng(0)
    code, b, noise = rng.integers(0, 4, 400), rng.integers(0, 3, 400), rng.integers(0, 3, 400)
    y = np.where(rng.random(400) < 1 / (1 + np.exp(-(4.4 * (code >= 2) - 3.2 + b))), "yes", "no")
    frame = pd.DataFrame({"noise": noise, "b": b, "code": code, "name": np.array(["w", "z", "x", "y"])[code]})
    return frame.astype(str), y, ("code", "name")


TABLES = {"copies": copies(0.0), "near-copies": copies(0.1), "labels": labels()}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", METHODS)
def test_one_of_them_is_kept(name, kind):
    X, y, same = TABLES[kind]
    selector = getattr(bf, name)()
    if "n_features" in selector.get_params():
        selector.set_params(n_features=2)
    if name == "FisherMarkov" and kind != "labels":
        y = np.where(y > 0, "high", "low")
    found = selector.fit(X, y)
    assert set(same) & set(found.selected_features_) or found.status_ == "unreliable"
