"""Permutation importance: exact and fitted p-values, the method written out, false positives, and its correction."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import blanketflow as bf
from blanketflow.config.reading import read_config
from blanketflow.core.errors import ConfigError, DataError, ParameterError, UnknownNameError, UnsupportedError
from blanketflow.core.limits import LimitReached
from blanketflow.core.rows import balanced_parts
from blanketflow.core.seeds import derive_rng, derive_seed, seed_32
from blanketflow.core.table import Column, Table
from blanketflow.models import build_estimator
from blanketflow.search.run_fold import fold_seed
from blanketflow.selectors.learning import Importances, own_weights
from blanketflow.selectors.wrappers.permutation_importance import p_values

LINEAR = "sklearn.linear_model:LinearRegression"
SMALL_FOREST = {"type": "forest", "n_estimators": 10}


def pimp(**options):
    return bf.get_selector("permutation-importance", **options)


def grown(fitted, column="p_value"):
    """Return a column of the trace of grow by feature, in table order."""
    rows = fitted.trace_.query("stage == 'grow'").set_index("feature")[column]
    return rows.loc[sorted(rows.index, key=lambda name: int(name[1:]))].to_numpy()


def data(seed=0, n=60, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 1] - 0.5 * X[:, 3] + 0.5 * rng.normal(size=n)


def test_by_default_it_is_cheap():
    X, y = data()
    named = pimp(model={"type": "forest", "n_estimators": 20}, n_permutations=20)
    fitted = pimp().fit(X, y)
    assert fitted.trace_.equals(named.fit(X, y).trace_)
    assert "x1" in fitted.selected_features_
    assert pimp().configured()[0].options() == named.configured()[0].options()


# --- p-values -------------------------------------------------------------------------------------------------------


def test_counting_by_hand():
    # Of three nulls 0, 1 and 2 none, one, two (a tie counts), three are as large; one is always counted with them.
    nulls = np.array([[2.0], [0.0], [1.0]])
    for observed, p in [(3.0, 1 / 4), (1.5, 2 / 4), (1.0, 3 / 4), (-1.0, 4 / 4)]:
        assert p_values(np.array([observed]), nulls).tolist() == [p]


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_rounding_is_no_difference_in_any_unit(unit):
    third = unit * (0.1 + 0.2)
    assert third != unit * 0.3
    assert p_values(np.array([third]), np.full((4, 1), unit * 0.3)).tolist() == [1.0]
    assert p_values(np.array([third * 1.001]), np.full((4, 1), unit * 0.3)).tolist() == [0.2]


def test_fitted_distributions():
    rng = np.random.default_rng(0)
    nulls, observed = rng.gamma(3.0, 2.0, size=(40, 6)), rng.gamma(3.0, 4.0, size=6)
    z = (observed - nulls.mean(axis=0)) / nulls.std(axis=0, ddof=1)
    np.testing.assert_allclose(p_values(observed, nulls, "normal"), stats.norm.sf(z))
    logs = np.log(nulls)
    z = (np.log(observed) - logs.mean(axis=0)) / logs.std(axis=0)
    np.testing.assert_allclose(p_values(observed, nulls, "lognormal"), stats.norm.sf(z))
    found = p_values(observed, nulls, "gamma")
    for j in range(6):
        # No gamma distribution near by makes these nulls likelier.
        shape, _, scale = stats.gamma.fit(nulls[:, j], floc=0)
        best = stats.gamma.logpdf(nulls[:, j], shape, scale=scale).sum()
        for a in (0.98, 1.02):
            assert stats.gamma.logpdf(nulls[:, j], shape * a, scale=scale).sum() < best
            assert stats.gamma.logpdf(nulls[:, j], shape, scale=scale * a).sum() < best
        assert found[j] == pytest.approx(stats.gamma.sf(observed[j], shape, scale=scale))


@pytest.mark.parametrize("null", ["normal", "lognormal", "gamma"])
def test_what_a_distribution_cannot_follow_is_counted(null):
    nulls = np.array([[1.0, -1.0, 0.0, 2.0], [1.0, 0.5, 1.0, 1.0], [1.0, 1.0, 2.0, 4.0]])
    observed = np.array([1.0, 3.0, 3.0, 3.0])
    found, counted = p_values(observed, nulls, null), p_values(observed, nulls)
    assert (found == counted).tolist() == [True, null != "normal", null != "normal", False]


# --- against exact and literal computations -------------------------------------------------------------------------


class Slopes(RegressorMixin, BaseEstimator):
    """A model whose coefficients are the products of each column with the centred target."""

    def fit(self, X, y):
        """Multiply."""
        self.coef_ = X.T @ (y - y.mean())
        return self

    def predict(self, X):
        """Predict nothing."""
        return np.zeros(len(X))


def test_p_values_are_those_of_all_permutations():
    # By hand, with 1 1 2 2 as target: the products with 1 2 3 4 are +-2, +-1, 0, 0, and 2 was observed: p = 2 / 6.
    X = np.array([[1.0, 0, 3], [2, 0, 1], [3, 4, 2], [4, 0, 0]])
    y = np.array([1.0, 1, 2, 2])
    every = np.array([np.abs(X.T @ (y[list(order)] - 1.5)) for order in permutations(range(4))])
    exact = np.mean(every >= np.abs(X.T @ (y - 1.5)) - 1e-9, axis=0)
    assert exact[0] == pytest.approx(1 / 3) and exact[1] == 1.0
    fitted = pimp(model=Slopes(), n_permutations=3000, task="regression").fit(X, y)
    assert grown(fitted, "importance").tolist() == [2.0, 2.0, 1.0]
    np.testing.assert_allclose(grown(fitted), exact, atol=4 * np.sqrt(0.25 / 3000))


@pytest.mark.parametrize("is_class", [True, False])
def test_the_method_written_out(is_class):
    X, y = data()
    colour = np.random.default_rng(1).integers(0, 3, 60)
    y = np.digitize(y, [-0.5, 0.5]) if is_class else y
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(5)]).assign(x5=np.array(["b", "g", "r"])[colour])
    fitted = pimp(model=SMALL_FOREST, n_permutations=19).fit(frame, y)

    # Seeds are the one thing that is shared with the library.
    seed = derive_seed(fold_seed(0, "0"), "permutation-importance")
    encoded = np.column_stack([X, *(colour == level for level in range(3))]).astype(float)
    family, most = (RandomForestClassifier, "sqrt") if is_class else (RandomForestRegressor, 1 / 3)

    def importances(target):
        forest = family(10, max_features=most, random_state=seed_32(seed, "model")).fit(encoded, target)
        return [*forest.feature_importances_[:5], forest.feature_importances_[5:].sum()]

    rng, observed = derive_rng(seed, "targets"), importances(y)
    nulls = [importances(y[rng.permutation(60)]) for _ in range(19)]
    p = [(1 + sum(null[j] >= observed[j] for null in nulls)) / 20 for j in range(6)]
    np.testing.assert_allclose(grown(fitted, "importance"), observed)
    np.testing.assert_allclose(grown(fitted), p)
    kept = sorted((j for j in range(6) if p[j] <= 0.05), key=lambda j: -observed[j])
    assert fitted.selected_features_ == [f"x{j}" for j in kept]
    assert fitted.candidates_ == [f"x{j}" for j in sorted(range(6), key=lambda j: -observed[j])]


def test_permuting_rows_held_out_written_out():
    X, y = data()
    fitted = pimp(model="knn", importance="permutation", n_splits=3, n_permutations=19).fit(X, y)
    seed = derive_seed(fold_seed(0, "0"), "permutation-importance")

    def importances(target):
        parts, lost = balanced_parts(target, 3, derive_rng(seed, "parts")), []
        for part in range(3):
            train, test = parts != part, parts == part
            model = make_pipeline(StandardScaler(), KNeighborsRegressor(5)).fit(X[train], target[train])
            order = derive_rng(seed, "permutation", part).permutation(sum(test))
            lost.append([])
            for j in range(5):
                permuted = X[test].copy()
                permuted[:, j] = permuted[order, j]
                lost[-1].append(model.score(X[test], target[test]) - model.score(permuted, target[test]))
        return np.mean(lost, axis=0)

    rng, observed = derive_rng(seed, "targets"), importances(y)
    nulls = np.array([importances(y[rng.permutation(60)]) for _ in range(19)])
    np.testing.assert_allclose(grown(fitted, "importance"), observed)
    np.testing.assert_allclose(grown(fitted), (1 + np.sum(nulls >= observed, axis=0)) / 20)


def test_the_columns_of_a_categorical_feature_are_permuted_together():
    # The colour is the class, so a permuted colour is right where it fell on its own kind only: in a third of the rows.
    # Permuted one by one, the indicators would leave rows of two colours, or of none.
    colour = np.arange(600) % 3
    table = Table([Column("colour", "categorical", colour, ("b", "g", "r")), Column("n", "numeric", np.zeros(600))])
    target = Column("y", "categorical", colour, ("0", "1", "2"))
    lost = Importances(table, "tree", "permutation", 2, seed=0).of(target)
    assert lost[0] == pytest.approx(2 / 3, abs=0.06)
    assert lost[1] == 0.0


@pytest.mark.parametrize("most_cells", [1, 100])
def test_asking_a_few_features_at_a_time_is_asking_all_at_once(most_cells, monkeypatch):
    X, y = data()
    kinds = [Column(f"x{j}", "numeric", X[:, j]) for j in range(5)]
    table = Table([*kinds, Column("c", "categorical", np.arange(60) % 3, ("a", "b", "c"))])
    importances = Importances(table, "tree", "permutation", 3, seed=0)
    at_once = importances.of(Column("y", "numeric", y))
    monkeypatch.setattr("blanketflow.selectors.learning.MOST_CELLS", most_cells)
    assert importances.of(Column("y", "numeric", y)).tolist() == at_once.tolist()


# --- calibration, power, and what it is for ------------------------------------------------------------------------


@pytest.mark.extended
@pytest.mark.parametrize(("importance", "n_samples"), [("model", 30), ("permutation", 12)])
def test_false_positives_where_nothing_depends_on_the_target(importance, n_samples):
    # Of 19 nulls and the observed importance each is the largest with the same probability.
    p = []
    for seed in range(n_samples):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 6)), rng.normal(size=30)
        p += [*grown(pimp(model=LINEAR, importance=importance, n_splits=2, n_permutations=19).fit(X, y))]
    for alpha in (0.05, 0.25, 0.5):
        low, high = stats.binom.ppf([0.0005, 0.9995], len(p), alpha)
        assert low <= np.sum(np.array(p) <= alpha) <= high


@pytest.mark.extended
def test_false_positives_of_a_forest_on_columns_of_all_kinds():
    n_found = n_all = 0
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"x": rng.normal(size=40), "many": rng.integers(0, 20, 40).astype(str)})
        X = X.assign(rare=rng.random(40) < 0.1, few=rng.integers(0, 2, 40), constant=1)
        fitted = pimp(model={"type": "forest", "n_estimators": 5}, n_permutations=19).fit(X, rng.integers(0, 2, 40))
        assert "constant" not in fitted.selected_features_
        n_found, n_all = n_found + len(fitted.selected_features_), n_all + 4
    assert n_found <= stats.binom.ppf(0.9995, n_all, 0.05)


@pytest.mark.extended
def test_it_corrects_the_forest_s_preference_for_columns_of_many_values():
    # The simulation of the paper in small: the column that tells something has two values, and the least importance.
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abcd")).assign(told=rng.integers(0, 2, 150))
    y = np.where(rng.random(150) < 0.75, X["told"], 1 - X["told"])
    fitted = pimp(model={"type": "forest", "n_estimators": 30}, n_permutations=39).fit(X, y)
    assert fitted.candidates_[-1] == "told"
    assert fitted.selected_features_ == ["told"]


@pytest.mark.parametrize("null", ["empirical", "normal", "lognormal", "gamma"])
def test_what_tells_something_is_found(null):
    X, _ = data(n=200)
    fitted = pimp(model=SMALL_FOREST, n_permutations=30, null=null, alpha=0.04).fit(X, X[:, 1] - X[:, 3])
    assert sorted(fitted.selected_features_) == ["x1", "x3"]
    assert (np.sort(grown(fitted))[:2] < 0.02).all() == (null != "empirical")


def test_a_strong_feature_hides_a_weaker_one_from_a_tree_s_own_importances_only():
    X, y = data(n=200)
    own, lost = (
        pimp(model=SMALL_FOREST, n_permutations=19, n_splits=2, importance=importance).fit(X, y)
        for importance in ("model", "permutation")
    )
    assert own.selected_features_ == ["x1"] and own.candidates_[1] == "x3"
    assert lost.selected_features_ == ["x1", "x3"]


# --- models ---------------------------------------------------------------------------------------------------------


def test_the_model_s_own_importances():
    X, y = data()
    classes = np.digitize(y, [-0.5, 0.5])
    linear = LinearRegression().fit(X, y)
    assert own_weights(linear).tolist() == np.abs(linear.coef_).tolist()
    many = LogisticRegression().fit(X, classes)
    np.testing.assert_allclose(own_weights(many), np.abs(many.coef_).sum(axis=0))
    nested = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), LogisticRegression())).fit(X, classes)
    np.testing.assert_allclose(own_weights(nested), np.abs(nested[-1][-1].coef_).sum(axis=0))
    for name in ("forest", "tree", "lightgbm", "logistic"):
        assert own_weights(build_estimator(name, "classification", 0).fit(X, classes)).shape == (5,)
    for name in ("knn", "svm", "naive-bayes"):
        assert own_weights(build_estimator(name, "classification", 0).fit(X, classes)) is None


def test_lightgbm_tells_what_its_splits_gained():
    # Counts of splits say nothing: a noise column is split at as often.
    X, y = data(n=300)
    gains = own_weights(build_estimator("lightgbm", "regression", 0).fit(X, y))
    assert set(np.argsort(-gains)[:2]) == {1, 3}
    assert gains[[0, 2, 4]].sum() < 0.3 * gains.sum()


@pytest.mark.parametrize(
    "model", ["tree", "lightgbm", "knn", {"type": "knn", "n_neighbors": 3}, LINEAR, LinearRegression()], ids=str
)
def test_any_model(model):
    X, y = data(n=100)
    fitted = pimp(model=model, n_permutations=19, n_splits=2).fit(X, y)
    assert "x1" in fitted.selected_features_


def test_auto_permutes_where_the_model_says_nothing():
    X, y = data()
    options = {"n_permutations": 19, "n_splits": 2}
    for model, same in (("knn", "permutation"), (LINEAR, "model")):
        auto, named = (pimp(model=model, importance=i, **options).fit(X, y) for i in ("auto", same))
        pd.testing.assert_frame_equal(auto.trace_, named.trace_)
    with pytest.raises(ParameterError, match="model 'knn' has neither feature_importances_ nor coef_"):
        pimp(model="knn", importance="model").fit(X, y)


def test_coefficients_of_other_columns_are_not_taken():
    from sklearn.decomposition import PCA

    X, y = data()
    rotated = make_pipeline(PCA(3), LinearRegression())
    with pytest.raises(ParameterError, match="neither"):
        pimp(model=rotated, importance="model").fit(X, y)
    assert pimp(model=rotated, n_permutations=19, n_splits=2).fit(X, y).candidates_


# --- at the edges ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["tree", "logistic", "knn"])
def test_a_class_of_one_row(model):
    X, _ = data(n=20)
    rare = pimp(model=model, n_permutations=19).fit(X, (np.arange(20) == 7).astype(int))
    assert rare.status_ == "ok"


def test_few_rows():
    X, y = data(n=3)
    assert pimp(model="tree", n_permutations=19, task="regression").fit(X, y).status_ == "ok"
    with pytest.raises(DataError, match="permuting rows held out needs at least 4 rows, but there are 3"):
        pimp(model="knn", n_permutations=19, task="regression").fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_permutations": 10}, "with 10 permutations no p-value is below 1/11, so that none reaches alpha 0.05. "
         "Set n_permutations to at least 19, or null: normal."),
        ({"n_permutations": 98, "alpha": 0.01}, "no p-value is below 1/99, .* at least 99,"),
        ({"n_permutations": 1}, "n_permutations is 1"),
        ({"alpha": 1.0}, "alpha is 1.0"),
        ({"null": "beta"}, "null is 'beta', but must be one of empirical, normal, lognormal, gamma"),
        ({"importance": "gini"}, "importance is 'gini', but must be one of auto, model, permutation"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(options, message):
    X, y = data()
    with pytest.raises(ParameterError, match=f"^PermutationImportance: .*{message}"):
        pimp(**options).fit(X, y)


@pytest.mark.parametrize("alpha", [0.5, 0.25, 0.2, 0.1, 0.05, 0.03, 0.01, 0.001, 1 / 3, 0.07])
def test_the_number_of_permutations_named_is_the_least_that_suffices(alpha):
    with pytest.raises(ParameterError, match="at least") as error:
        bf.get_selector("permutation-importance", n_permutations=2, alpha=min(alpha, 0.3)).fit(*data())
    least = int(str(error.value).split("at least ")[1].split(",")[0])
    method = type(pimp()).method_class
    method(n_permutations=least, alpha=min(alpha, 0.3)).check()
    if least > 2:
        with pytest.raises(ParameterError):
            method(n_permutations=least - 1, alpha=min(alpha, 0.3)).check()


def test_fitted_distributions_have_no_least_p_value():
    X, y = data()
    fitted = pimp(model=LINEAR, n_permutations=10, null="normal", alpha=0.001).fit(X, y)
    assert "x1" in fitted.selected_features_


@pytest.mark.parametrize(("model", "error"), [("forst", UnknownNameError), ("naive-bayes", UnsupportedError)])
def test_a_model_that_cannot_be_is_refused(model, error):
    X, y = data()
    with pytest.raises(error, match="forest" if model == "forst" else "does not do regression"):
        pimp(model=model).fit(X, y)


def test_what_cannot_be_is_refused_in_a_config():
    selectors = {"p": {"method": "permutation-importance", "alpha": 0.001}}
    with pytest.raises(ConfigError, match=r"^config: selector 'p': with 20 permutations .* at least 999"):
        read_config({"datasets": {"wine": {"source": "sklearn:wine"}}, "selectors": selectors})


def test_a_time_limit_stops_it():
    X, y = data()
    with pytest.raises(LimitReached, match="time_limit"):
        pimp(model=LINEAR, time_limit=1e-9).fit(X, y)
    assert pimp(model=LINEAR, n_permutations=19, time_limit=1e6, max_tests=1).fit(X, y).status_ == "ok"
