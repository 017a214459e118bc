"""A plug-in of each kind as docs/extending.md writes it, with nothing but `blanketflow.plugins`."""

import ast
import importlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import blanketflow as bf
from blanketflow import plugins
from blanketflow.cli import main
from blanketflow.core.convert import as_table
from blanketflow.core.errors import DependentRowsWarning
from blanketflow.core.registry import further_table
from blanketflow.models import get_model
from blanketflow.targets import get_target_kind

REPO = Path(__file__).parents[2]
PAGE = (REPO / "docs" / "extending.md").read_text(encoding="utf-8")
MODULES = dict(re.findall(r"^```python\n# (\w+)\.py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture(scope="module", autouse=True)
def modules(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugins")
    for name, text in MODULES.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    yield
    sys.path.remove(str(folder))
    for name in MODULES:
        sys.modules.pop(name, None)


def table(n=300):
    """Return a chain a -> b -> y, a monotone cause and noise; y has two classes."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=n)
    b, cause = a + rng.normal(size=n) / 2, rng.normal(size=n)
    X = pd.DataFrame({"a": a, "b": b, "cause": np.exp(cause), "noise": rng.normal(size=n)})
    return X, (2 * b + 2 * cause + rng.normal(size=n) > 0).astype(int)


def test_the_page_has_a_plug_in_of_each_kind_and_lists_every_name():
    assert list(MODULES) == ["my_methods", "my_tests", "my_models", "my_kinds", "my_tables", "my_readers"]
    listed = PAGE.split("## Stable names")[1].split("\n## ")[0]
    assert {name for name in plugins.__all__ if f"`{name}`" not in listed} == set()
    assert all(hasattr(plugins, name) for name in plugins.__all__)


@pytest.mark.parametrize("name", MODULES)
def test_a_plug_in_needs_no_other_name_of_the_package(name):
    imported = [node for node in ast.walk(ast.parse(MODULES[name])) if isinstance(node, ast.Import | ast.ImportFrom)]
    ours = {node.module for node in imported if isinstance(node, ast.ImportFrom) and "blanketflow" in node.module}
    assert ours == {"blanketflow.plugins"}


def test_importing_them_loads_no_heavy_package():
    program = "import sys, blanketflow.plugins; print({'numba', 'scipy', 'pandas', 'sklearn'} & set(sys.modules))"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "set()\n"
    )


def test_a_method_and_a_test_of_ones_own():
    X, y = table()
    test = bf.get_ci_test("my_tests:Spearman")
    found = bf.get_selector("my_methods:Screen", ci_test=test, alpha=0.01).fit(X, y)
    assert set(found.selected_features_) == {"b", "cause"}
    assert bf.get_selector(sys.modules["my_methods"].Screen, ci_test="fisher-z").fit(X, y).status_ == "ok"
    bound = test.bind(X)
    assert bound.test("a", "b").p_value < 1e-9 < 0.05 < bound.test("a", "cause").p_value
    assert bound.n_tests == 2


def test_a_plug_in_s_class_is_as_those_of_the_package():
    selector = type(bf.get_selector("my_methods:Screen"))
    assert "alpha : float above 0 and below 1, default=0.05" in selector.__doc__
    assert "selected_features_" in selector.__doc__ and "References" not in selector.__doc__
    with pytest.raises(TypeError, match=r"^Screen.__init__\(\) takes 1 positional argument but 2 were given$"):
        selector(0.01)
    with pytest.raises(TypeError, match=r"^Screen has no parameter 'alpa'. Did you mean 'alpha'\?$"):
        bf.get_selector("my_methods:Screen", alpa=0.01)
    assert repr(selector(alpha=0.01)) == "Screen(alpha=0.01)"


def test_a_model_of_ones_own():
    X, y = table()
    model = get_model({"type": "my_models:Discriminant", "shrinkage": 0.2})
    assert model.build("classification", seed=0).fit(X.to_numpy(), y).score(X.to_numpy(), y) > 0.8
    with pytest.raises(plugins.UnsupportedError, match="regression"):
        model.build("regression", seed=0)


def sown(n=500):
    """Return two causes of a share of successes, a child of one of them, and noise; successes and trials."""
    rng = np.random.default_rng(3)
    a, b, noise = rng.normal(size=(3, n))
    trials = rng.integers(5, 20, n)
    successes = rng.binomial(trials, 1 / (1 + np.exp(-0.6 * a + 0.5 * b)))
    return pd.DataFrame({"a": a, "b": b, "c": a + rng.normal(size=n), "noise": noise}), successes, trials


KIND = "my_kinds:Successes"


def test_a_kind_of_target_of_ones_own_is_a_binomial_regression():
    import statsmodels.api as sm

    X, successes, trials = sown(60)
    rows = ((X - X.mean()) / X.std(ddof=0)).to_numpy().T
    kind = get_target_kind(KIND)
    columns = {name: plugins.Column(name, "integer", cells) for name, cells in (("y", successes), ("trials", trials))}
    model = kind.null_model(kind.column("demo", columns["y"], {"trials": columns["trials"]}), rows[:1])
    outcomes = np.column_stack([successes, trials - successes])
    fits = [sm.GLM(outcomes, sm.add_constant(rows[:k].T), family=sm.families.Binomial()).fit(tol=1e-12) for k in (1, 4)]
    assert model.likelihood_ratio(rows[1:]) == pytest.approx(2 * (fits[1].llf - fits[0].llf), rel=1e-6)
    assert model.residuals() == pytest.approx(successes - trials * fits[0].fittedvalues, abs=1e-6)


def test_a_kind_of_target_that_is_not_whole_says_what_is_missing(tmp_path, monkeypatch):
    (tmp_path / "half_kinds.py").write_text(
        "from blanketflow.plugins import TargetKind\nclass Half(TargetKind):\n    def column(self, *_): ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(plugins.ConfigError, match="half_kinds:Half does not define covariates, null_model"):
        bf.IAMB(target_kind="half_kinds:Half").fit([[0.0], [1.0]], [0.0, 1.0])


@pytest.mark.parametrize("test", ["auto", "lr-mixed", "spline", "gcm"])
def test_a_kind_of_ones_own_is_searched_by_every_test_of_further_kinds(test):
    X, successes, trials = sown()
    found = bf.IAMB(ci_test=test, alpha=0.001, target_kind=KIND).fit(X, {"successes": successes, "trials": trials})
    assert set(found.selected_features_) == {"a", "b"} and found.task_ == KIND


def test_a_kind_of_ones_own_by_every_way_in(tmp_path, capsys):
    X, successes, trials = sown()
    y = {"successes": successes, "trials": trials}
    ranked = bf.MRMR(n_features=2, target_kind=KIND).fit(X, y)
    assert f"mrmr reads the {KIND} target as a number: its residuals" in ranked.notes_
    chosen = bf.select(X, y, target_kind=KIND)
    assert set(chosen.features) == {"a", "b"} and len(chosen.estimator.predict(X)) == len(X)
    selectors = {"iamb": {"method": "iamb", "alpha": 0.001}}
    asked = {"folds": 0, "evaluation": 2, "models": ["ridge"]}
    beside = bf.compare(X, y, selectors, target_kind=KIND, **asked)
    names = {"successes": "germinated", "trials": "sown"}
    within = bf.compare(X.assign(germinated=successes, sown=trials), names, selectors, target_kind=KIND, **asked)
    pd.testing.assert_frame_equal(beside.scores, within.scores)
    assert set(within.blanket("iamb")) == {"a", "b"}
    means = within.scores.set_index(["selector", "metric"])["mean"]
    assert means["iamb", "r2"] > 0.2 and abs(means["none", "r2"]) < 0.05
    X.assign(germinated=successes, sown=trials).to_csv(tmp_path / "sown.csv", index=False)
    written = ["target={successes: germinated, trials: sown}", f"target_kind={KIND}"]
    arguments = ["select", str(tmp_path / "sown.csv"), "--method", "iamb", "--set", "alpha=0.001", "--json"]
    assert main([*arguments, *(part for key in written for part in ("--data-set", key))]) == 0
    assert {row["feature"] for row in json.loads(capsys.readouterr().out)["blanket"]} == {"a", "b"}


def test_a_kind_of_ones_own_says_whether_it_knows_groups():
    X, successes, trials = sown()
    y, groups = {"successes": successes, "trials": trials}, np.arange(len(X)) // 5
    known = {"ci_test": "lr-mixed", "alpha": 0.001, "target_kind": KIND}
    with pytest.warns(DependentRowsWarning, match=f"no test of {KIND} targets knows groups"):
        ignoring = bf.IAMB(**known).fit(X, y, groups=groups)
    assert ignoring.trace_["p_value"].tolist() == bf.IAMB(**known).fit(X, y).trace_["p_value"].tolist()
    target = plugins.TargetColumn("y", "integer", successes, parts={"trials": trials}, target_kind=KIND)
    table = as_table(X).with_column(target)
    with pytest.raises(plugins.UnsupportedError, match=f"lr-mixed takes rows of {KIND} targets as independent. Remove"):
        bf.get_ci_test("lr-mixed").bind(table, groups=groups)


def test_a_kind_of_ones_own_with_scores_knows_groups(monkeypatch):
    """Each row as one binomial variable or as single trials, which are a group."""
    own = importlib.import_module("my_kinds")

    def scores(self, added):
        columns = np.vstack([np.ones(len(self.y)), self.predictors, added])
        return self.residuals() * columns, (columns * self.trials * self.mean * (1 - self.mean)) @ columns.T

    monkeypatch.setattr(own.Binomial, "scores", scores, raising=False)
    monkeypatch.setattr(own.Successes, "card", replace(own.Successes.card, design_based=True))
    X, successes, trials = sown(100)
    rows = np.repeat(np.arange(100), trials)
    single = np.concatenate([np.arange(t) < s for s, t in zip(successes, trials, strict=True)]).astype(float)
    found = [
        bf.get_ci_test("lr-mixed").bind(as_table(X.iloc[at]).with_column(target), groups=at).test("a", "y", ["b"])
        for target, at in (
            (plugins.TargetColumn("y", "integer", successes, (), KIND, {"trials": trials}), np.arange(100)),
            (plugins.TargetColumn("y", "integer", single, (), KIND, {"trials": np.ones(len(rows))}), rows),
        )
    ]
    # copies change the mean of a column, and so what is 1 standard deviation, but no test
    assert found[0].p_value == pytest.approx(found[1].p_value, rel=1e-6) and 1e-12 < found[0].p_value < 0.01


def test_what_is_no_kind_of_target_is_refused():
    X, successes, trials = sown(50)
    y = {"successes": successes, "trials": trials - 5}
    with pytest.raises(plugins.DataError, match="IAMB: column 'successes' must hold 0 to as many successes as there"):
        bf.IAMB(target_kind=KIND).fit(X, y)
    with pytest.raises(plugins.ConfigError, match=r"my_models:Discriminant is no kind of target. Derive it from"):
        bf.IAMB(target_kind="my_models:Discriminant").fit(X, successes)
    with pytest.raises(plugins.ConfigError, match="'my_kinds:Succeses' cannot be imported"):
        bf.IAMB(target_kind="my_kinds:Succeses").fit(X, y)
    with pytest.raises(plugins.UnsupportedError, match=f"g2 does not test {KIND} targets: set ci_test to auto"):
        bf.IAMB(ci_test="g2", target_kind=KIND).fit(X, {"successes": successes, "trials": trials})
    with pytest.raises(plugins.ParameterError, match=r"target_kind is 'surviva', but must be one of .*Did you mean"):
        bf.IAMB(target_kind="surviva").fit(X, successes)


def test_a_result_table_of_ones_own():
    scores = {"selected_on": ["training rows", "training rows", "all rows"], "value": [0.7, 0.8, 0.9]}
    run = plugins.RunResults(pd.DataFrame({"dataset": "a", "metric": "accuracy", **scores}), {}, 5)
    best = further_table("best", {"type": "my_tables:Best"})
    assert best.make(run).values.tolist() == [["a", "accuracy", 0.8]]
    assert best.files() == []
    with pytest.raises(plugins.ConfigError, match=r"^config: tables\.best: .*takes no arguments\. Mend its options\.$"):
        further_table("best", {"type": "my_tables:Best", "of": 1})


def test_all_three_in_one_comparison():
    X, y = table(120)
    (snippet,) = (yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
    compared = bf.compare(X, y, snippet.pop("selectors"), **snippet, evaluation=2, folds=0)
    assert "screen" in compared.summary().reset_index().to_string()
