"""The paragraph on methods says what a run did: settings, tests, folds, versions, and keys that the BibTeX has."""

import re

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.reporting.export import OF_RUN, ExportedRun

ITSELF = {"title": "blanketflow", "version": "1", "license": "BSD", "authors": [{"name": "we"}]}


def compared(selectors, **options):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 4)), columns=[*"abcd"])
    X.loc[:5, "d"] = options.pop("missing", X.loc[:5, "d"])
    y = pd.Series(np.where(X["a"] + X["b"] + rng.normal(size=120) > 0, "ill", "well"), name="state")
    run = bf.compare(X, y, selectors, models=["knn"], random_state=3, **options).run
    return ExportedRun(run, [*run.cards], itself=ITSELF)


@pytest.fixture(scope="module")
def exported():
    gs = bf.GS(alpha=0.01, ci_test="fisher-z", correction="bh")
    selectors = {"gs": gs, "mim": bf.MIM(n_features=2), "all": bf.All()}
    return compared(selectors, evaluation=2, folds=0, missing=np.nan)


@pytest.fixture(scope="module")
def text(exported):
    return OF_RUN["methods"](exported)


def test_what_ran_is_said_with_its_settings(text, exported):
    known = exported.run.provenance
    assert f"blanketflow {bf.__version__} [@blanketflow] on Python {known['python']}" in text
    assert f"numpy {np.__version__}" in text and "derive from the seed 3." in text
    assert 'has 120 rows and 4 features. Its target is "state" (classification).' in text
    assert "Its 6 missing cells were replaced by the median or the most frequent label of the training rows." in text
    assert "Selector gs is grow-shrink (GS) [@margaritis1999bayesian] with alpha = 0.01 (default 0.05)" in text
    assert "correction = bh [@benjamini1995controlling] (default none)" in text
    assert "It tested conditional independence by Fisher's z test [@fisher1924distribution]" in text
    assert "It searched all training rows once." in text
    assert "with n_features = 2 (default 10)" in text and "It measured dependence by " in text
    assert "cross-validation with 2 folds, stratified by the class" in text
    assert "Models were k nearest neighbours [@cover1967nearest]." in text


def test_every_key_is_in_the_bibliography(text, exported):
    cited = set(re.findall(r"@(\w+)", text))
    entries = set(re.findall(r"^@\w+\{(\w+),", OF_RUN["bibtex"](exported), re.MULTILINE))
    assert len(cited) > 5 and cited == entries


def test_a_false_discovery_rate_is_named():
    text = OF_RUN["methods"](compared({"discover": bf.Discover(q=0.2)}, evaluation=0, folds=0))
    assert "[@liu2022fast; @candes2018panning] with q = 0.2 (default 0.1); its other options" in text
    assert "Here q is the false discovery rate that it is to keep." in text


def test_nothing_is_said_that_did_not_run():
    exported = compared({"iamb": bf.IAMB(max_tests=1)}, evaluation=0, folds=3)
    text = OF_RUN["methods"](exported)
    assert "No model was scored." in text and "missing cell" not in text and "For comparison" not in text
    assert "false discovery" not in text and "benjamini" not in OF_RUN["bibtex"](exported)
    assert "It searched 3 times, each time in the rows of all but one fold of 3" in text
    assert "A search was limited to 1 test." in text
    assert "This test was chosen automatically: " in text
    assert re.search(r"iamb on \w+ ended with status timeout in select on 1 split: ", text)
