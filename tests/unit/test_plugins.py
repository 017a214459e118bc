"""A plug-in of each kind as docs/extending.md writes it, with nothing but `blanketflow.plugins`."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import blanketflow as bf
from blanketflow import plugins
from blanketflow.core.registry import further_table
from blanketflow.models import get_model

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
    assert list(MODULES) == ["my_methods", "my_tests", "my_models", "my_tables", "my_readers"]
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
