"""Finding models by id, mapping, class name or object; what importing them costs."""

import subprocess
import sys

import numpy as np
import pytest

from blanketflow.core.errors import ConfigError, ParameterError, UnknownNameError, UnsupportedError
from blanketflow.models import build_estimator, get_model


def test_reading_the_cards_imports_neither_sklearn_nor_pandas():
    code = (
        "import sys; from blanketflow.core.registry import discover; discover('blanketflow.models');"
        "print([m for m in ('sklearn', 'pandas', 'lightgbm', 'scipy') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_options():
    assert get_model({"type": "knn", "n_neighbors": 3}).n_neighbors == 3
    model = get_model("svm")
    assert get_model(model) is model


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("tre", UnknownNameError, "Did you mean 'tree'"),
        ({"type": "knn", "k": 3}, ParameterError, "no option 'k'"),
        ({"type": "knn", "n_neighbors": 0}, ParameterError, "at least 1"),
        ({"C": 3}, ConfigError, "has no type"),
        ("no_such_package:Thing", ConfigError, "cannot be imported"),
        ("collections:OrderedDict", ConfigError, "is not a scikit-learn estimator"),
        ({"type": "sklearn.linear_model:Ridge", "beta": 1}, ParameterError, "beta"),
    ],
)
def test_errors_name_the_way_out(spec, error, message):
    with pytest.raises(error, match=message):
        get_model(spec)


def test_a_task_outside_the_card_is_refused():
    with pytest.raises(UnsupportedError, match="'naive-bayes' does not do regression"):
        build_estimator("naive-bayes", "regression", 0)


def test_any_scikit_learn_class_is_a_model():
    model = get_model({"type": "sklearn.ensemble:RandomForestClassifier", "n_estimators": 7})
    assert model.card.tasks == ("classification", "ordered")
    forest = model.build("classification", 5, n_jobs=2)
    assert (forest.n_estimators, forest.random_state, forest.n_jobs) == (7, 5, 2)
    assert get_model("sklearn.linear_model:Ridge").card.tasks == ("regression", "count", "share", "positive")


def test_an_estimator_object_is_copied_and_seeded_where_it_is_nested():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    given = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    built = build_estimator(given, "classification", 3)
    assert built is not given
    assert built[-1].random_state == 3
    assert given[-1].random_state is None
    assert build_estimator(DecisionTreeClassifier(random_state=9), "classification", 3).random_state == 9


@pytest.mark.parametrize("name", ["svm", "knn"])
def test_deferred_estimators_serve_scikit_learns_tools(name):
    from sklearn.base import clone, is_classifier, is_regressor
    from sklearn.model_selection import cross_val_score

    x = np.linspace(-1, 1, 40)[:, None]
    estimator = build_estimator(name, "classification", 0)
    assert is_classifier(clone(estimator))
    assert cross_val_score(estimator, x, (x[:, 0] > 0).astype(int)).mean() > 0.8
    assert cross_val_score(estimator, x, (x[:, 0] > 0).astype(int), scoring="neg_log_loss").mean() > -0.69
    regression = build_estimator("knn", "regression", 0)
    assert is_regressor(regression)
    assert regression.fit(x, x[:, 0]).score(x, x[:, 0]) > 0.9


def test_a_lightgbm_without_openmp_says_what_to_install(monkeypatch):
    class Loader:
        def find_spec(self, name, *_):
            if name == "lightgbm":  # what its library says where the system has no libgomp
                raise OSError("libgomp.so.1: cannot open shared object file: No such file or directory")

    for name in [name for name in sys.modules if name.partition(".")[0] == "lightgbm"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Loader(), *sys.meta_path])
    with pytest.raises(UnsupportedError, match=r"libgomp\.so\.1.*Debian: libgomp1.*leave lightgbm out"):
        get_model("lightgbm").build("classification", 0)
