"""The exported pipeline of each kind of target: its words are true, and it fits the model that it names."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import GammaRegressor, PoissonRegressor

from blanketflow.plugins import get_model
from blanketflow.reporting.export import ExportedBlanket

N = 80
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"age": RNG.normal(size=N), "site": RNG.choice(["a", "b"], size=N), "noise": 0.0})
RATE = np.exp(FRAME["age"].to_numpy())


def structured(**fields):
    y = np.empty(N, dtype=[(name, cells.dtype) for name, cells in fields.items()])
    for name, cells in fields.items():
        y[name] = cells
    return y


TARGETS = {
    "survival": structured(event=RNG.random(N) < 0.7, time=RNG.exponential(1 / RATE)),
    "count": structured(count=RNG.poisson(RATE).astype(float), exposure=np.ones(N)),
    "ordered": np.digitize(RATE, [0.5, 2.0]),
    "share": RATE / (1 + RATE),
    "positive": RATE * RNG.gamma(2.0, size=N),
}


def exported(task):
    features = [
        {"feature": name, "kind": kind, "role": "member", "importance": 1.0, "frequency": 1.0, "stand_ins": ""}
        for name, kind in (("age", "numeric"), ("site", "categorical"))
    ]
    source = {}
    text = ExportedBlanket("study", "y", task, "iamb", "iamb", features, "1.0", 0).as_pipeline()
    exec(compile(text, "exported", "exec"), source)  # it is Python source: this is its use
    return source["blanket_pipeline"]


@pytest.mark.parametrize("task", TARGETS)
def test_the_pipeline_fits_the_model_that_it_names(task):
    pipeline = exported(task)
    name, asked = re.search(r"get_model\('(.+?)'\)\.build\('(.+?)', seed=0\)", pipeline.__doc__).groups()
    assert asked == task
    fitted = pipeline(get_model(name).build(asked, seed=0)).fit(FRAME, TARGETS[task])
    assert np.corrcoef(fitted.predict(FRAME), np.log(RATE))[0, 1] > 0.7


def test_the_models_of_scikit_learn_that_it_names():
    fitted = exported("count")(PoissonRegressor()).fit(FRAME, TARGETS["count"]["count"])
    assert fitted.score(FRAME, TARGETS["count"]["count"]) > 0.2
    fitted = exported("positive")(GammaRegressor()).fit(FRAME, TARGETS["positive"])
    assert fitted.score(FRAME, TARGETS["positive"]) > 0.2


def test_classes_and_numbers_have_no_further_words():
    assert "target" not in exported("classification").__doc__
    assert exported("regression").__doc__ == exported("classification").__doc__


def test_a_survival_model_of_scikit_survival():
    linear_model = pytest.importorskip("sksurv.linear_model")
    pipeline = exported("survival")(linear_model.CoxPHSurvivalAnalysis(alpha=1.0))
    assert pipeline.fit(FRAME, TARGETS["survival"]).score(FRAME, TARGETS["survival"]) > 0.7
