"""The GCM test against the paper's formula, with regressions fitted row by row or part by part, and its level."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression

import blanketflow as bf
from blanketflow.ci.predictive.cpi import draw_parts
from blanketflow.ci.splines.gcm import least_of_weighted
from blanketflow.ci.splines.spline_given import GivenFunctions
from blanketflow.ci.splines.spline_screen import SplineScreen
from blanketflow.core.convert import as_table
from blanketflow.core.errors import UnsupportedError
from blanketflow.core.seeds import derive_rng
from blanketflow.workflow.plan import make_plan
from levels import Level

SCRIPTS = (Path(__file__).parents[2] / "scripts").joinpath


def bent(n=200, seed=0, effect=0.0):
    """Return z and w, x and y that bend with z, flags s, t and labels g (3), h (4) that depend on z."""
    rng = np.random.default_rng(seed)
    z, w = rng.normal(size=(2, n))
    x = z**2 + rng.normal(size=n)
    columns = {"x": x, "y": z**2 + effect * x + rng.normal(size=n), "z": z, "w": w}
    for name, borders in (("g", [-1, 1]), ("h", [-2, 0, 2])):
        codes = np.digitize(z + 2 * rng.normal(size=n), borders)
        columns[name] = pd.Series([f"level {code}" for code in codes])
    for name in "st":
        columns[name] = rng.random(n) < 1 / (1 + np.exp(3.5 - 1.5 * z))
    return pd.DataFrame(columns)


def bind(X, seed=0, **options):
    return bf.get_ci_test("gcm", **options).bind(X, seed=seed)


def papers(e, f):
    """Return T of the paper's section 3: sqrt(n) times the mean of R_i = e_i f_i over their standard deviation."""
    return papers_of((e - e.mean()) * (f - f.mean()))


def papers_of(products):
    return np.sqrt(len(products)) * products.mean() / products.std(ddof=1)


def hotelling(e, f):
    """Return T², its degrees of freedom and p of all products of residuals (n, a) and (n, b)."""
    e, f = e - e.mean(axis=0), f - f.mean(axis=0)
    products = np.column_stack([one * other for one in e.T for other in f.T])
    n, d = products.shape
    mean = products.mean(axis=0)
    squared = n * mean @ np.linalg.solve(np.atleast_2d(np.cov(products, rowvar=False)), mean)
    return squared, d, stats.f.sf(squared * (n - d) / d / (n - 1), d, n - d)


def without_one(y, Z):
    """Return what least squares on all other rows leaves of each row, fitted anew for each."""
    every = np.arange(len(y))
    return np.array([y[i] - LinearRegression().fit(Z[every != i], y[every != i]).predict(Z[[i]])[0] for i in every])


def in_parts(model, X, name, Z, seed, n_splits=5):
    """Return what a model fitted on the other parts leaves of a number, (n, 1), or of all levels but the first."""
    column = as_table(X[[name]])[0]
    y = column.numbers()
    parts = draw_parts(column, n_splits, derive_rng(seed, "parts", name))
    left = np.eye(len(column.levels))[y.astype(int)] if column.is_discrete else y[:, np.newaxis].copy()
    for part in range(n_splits):
        fitted, out = model().fit(Z[parts != part], y[parts != part]), parts == part
        left[out] -= fitted.predict_proba(Z[out]) if column.is_discrete else fitted.predict(Z[out])[:, np.newaxis]
    return left[:, 1:] if column.is_discrete else left


def test_given_nothing_it_is_the_papers_formula_on_centred_columns():
    X = bent()
    t = papers(X["x"].to_numpy(), X["y"].to_numpy())
    for options in ({}, {"model": "ridge"}):
        found = bind(X, **options).test("x", "y")
        assert found.statistic == pytest.approx(t**2) and found.dof == 1 and found.n == 200
        assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), 199))


def test_splines_are_regressions_on_all_rows_but_one():
    X = bent(n=80, effect=0.3)
    screen = SplineScreen(as_table(X), 1.0)
    given = GivenFunctions(screen, (2,))
    assert len(given.basis) == 4  # as many as 80 rows have

    def design(name):
        functions = screen.side(X.columns.get_loc(name))[: 2 if name == "g" else 1]
        left = given.left(functions)
        more = given.more(given.first(left), left[:0], given.powers(functions))
        return np.vstack([given.basis, more.added]).T

    e, f = (without_one(X[name].to_numpy(), design(name)) for name in "xy")
    found = bind(X).test("x", "y", ["z"])
    assert found.statistic == pytest.approx(papers(e, f) ** 2, rel=1e-6)
    Z = design("g")
    levels = np.column_stack([without_one((X["g"] == f"level {k}").to_numpy(float), Z) for k in (1, 2)])
    squared, d, p = hotelling(levels, f[:, np.newaxis])
    found = bind(X).test("g", "y", ["z"])
    assert (found.statistic, found.dof) == (pytest.approx(squared, rel=1e-6), d)
    assert found.p_value == pytest.approx(p, rel=1e-6)


@pytest.mark.parametrize("weights", [0, 2])
@pytest.mark.parametrize("given", [[], [0], [0, 1, 2], [0, 3, 4]])
def test_many_columns_at_once_are_regressed_as_each_alone(given, weights):
    rng = np.random.default_rng(1)
    z = rng.normal(size=(300, 3))
    labels = np.digitize(z[:, 0] + rng.normal(size=300), [-1, 0, 1])
    bends = [np.negative, np.square, np.sin, np.exp, lambda v: v > 0, lambda v: v * z[:, 0], lambda v: 0 * v]
    x = [bend(z[:, at % 3]) + rng.normal(size=300) * [1, 0.1][at % 2] for at, bend in enumerate(6 * bends)]
    X = pd.DataFrame(np.column_stack([z, rng.random(300) < 0.3, *x, z[:, 0] ** 3, np.round(x[0]), np.ones(300)]))
    X.insert(3, "label", pd.Series(labels.astype(str)))
    bound = bind(X, weights=weights)
    by, columns = bound.engine.regression(tuple(given)), list(range(6, X.shape[1]))
    found, y = bound.test_many(columns, 5, given), by.left(5)
    for at, column in enumerate(columns):
        alone = least_of_weighted(by.left(column), y, bound.engine.weights(tuple(given)))
        np.testing.assert_allclose(found[at][:4], [alone.squared, alone.p_value, alone.log_p, alone.dof], rtol=1e-8)
    if given == [0, 1, 2]:  # many need cuts only, and all kinds of functions are added
        is_right = by.left_at_once(columns[:-1])[0]
        assert 0.3 < is_right.mean() < 0.95


def test_any_model_is_fitted_on_the_other_parts():
    X, seed = bent(effect=0.3), 3
    Z = X[["w", "z"]].to_numpy()  # in the order of their names
    e, f = (in_parts(LinearRegression, X, name, Z, seed) for name in "xy")
    bound = bind(X, seed, model=LinearRegression())
    assert bound.test("x", "y", ["z", "w"]).statistic == pytest.approx(papers(e[:, 0], f[:, 0]) ** 2)
    e, f = (in_parts(LogisticRegression, X, name, Z, seed, n_splits=3) for name in "gh")
    squared, d, p = hotelling(e, f)
    found = bind(X, seed, model=LogisticRegression(), n_splits=3).test("g", "h", ["z", "w"])
    assert (found.statistic, found.dof) == (pytest.approx(squared), d) == (pytest.approx(squared), 6)
    assert found.p_value == pytest.approx(p)


def test_a_set_is_tested_by_all_its_residuals():
    X = bent(effect=0.3)
    Z = X[["z"]].to_numpy()
    left = {name: in_parts(LinearRegression, X, name, Z, 0) for name in "xyw"}
    squared, d, p = hotelling(np.column_stack([left["x"], left["w"]]), left["y"])
    bound = bind(X, model=LinearRegression())
    found = bound.test(["w", "x"], "y", ["z"])
    assert (found.statistic, found.dof, found.p_value) == (pytest.approx(squared), d, pytest.approx(p))
    many = bound.test_many([["w", "x"], ["x"]], "y", ["z"])
    assert many[0] == found


def test_two_rare_flags_are_tested_exactly():
    flags = np.zeros((2, 400), dtype=bool)
    flags[0, :8] = flags[1, 200:208] = True
    X = pd.DataFrame({"a": flags[0], "b": flags[1], "z": np.arange(400.0)})
    table = [[384, 8], [8, 0]]
    assert bind(X).test("a", "b").p_value == pytest.approx(stats.fisher_exact(table)[1])
    assert bind(X).test(["a"], "b").p_value == bind(X).test("b", "a").p_value


def test_equal_flags_with_as_many_ones_as_zeros_depend_on_each_other():
    """All products of their residuals are 1, without any variance."""
    flag = np.arange(200) % 2 == 0
    X = pd.DataFrame({"a": flag, "b": flag, "c": ~flag, "z": np.arange(200) // 4 % 2 == 0})
    for given in ([], ["z"]):
        assert (bind(X).test_many(["b", "c"], "a", given).p_value < 1e-10).all()


def test_weights_multiply_the_products_by_signs_and_levels_of_given_columns():
    X = bent(effect=0.3)
    Z = X[["g", "z"]].assign(g=X["g"].astype(str))
    Z = np.column_stack([Z["g"] == "level 1", Z["g"] == "level 2", Z["z"]]).astype(float)
    e, f = (in_parts(LinearRegression, X, name, Z, 0)[:, 0] for name in "xy")
    signs = [np.where(X["z"] > cut, 1.0, -1.0) for cut in np.quantile(X["z"], [0.25, 0.5, 0.75])]
    weights = [np.ones(200), *Z.T[:2], *signs]
    t = max(abs(papers_of((e - e.mean()) * weight * (f - f.mean()))) for weight in weights)
    found = bind(X, model=LinearRegression(), weights=3).test("x", "y", ["g", "z"])
    assert found.statistic == pytest.approx(t**2)
    assert found.p_value == pytest.approx(1 - (1 - 2 * stats.t.sf(t, 199)) ** 6)
    assert bind(X, weights=3).test("x", "y") == bind(X).test("x", "y")
    assert bind(X, weights=3).test("g", "h", ["z"]) == bind(X).test("g", "h", ["z"])  # labels have no weights


def test_weights_find_effects_whose_sign_depends_on_z():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 300))
    X = pd.DataFrame({"x": x, "y": np.sign(z) * x + rng.normal(size=300), "z": z})
    assert bind(X).test("x", "y", ["z"]).p_value > 0.01
    assert bind(X, weights=3).test("x", "y", ["z"]).p_value < 1e-6


def test_seeds_decide_the_parts_of_models_and_nothing_else():
    X = bent(effect=0.3)
    asked = ("x", "y", ["z"])
    assert bind(X, 0).test(*asked) == bind(X, 1).test(*asked)
    by_tree = [bind(X, seed, model="tree").test(*asked) for seed in (0, 0, 1)]
    assert by_tree[0] == by_tree[1] != by_tree[2]
    alone = bind(X, model="tree").test_many(["w", "x"], "y", ["z"])[1]
    assert alone == by_tree[0]


@pytest.mark.parametrize("options", [{}, {"model": "lightgbm"}], ids=str)
def test_residuals_of_nothing_are_nothing(options):
    z = np.random.default_rng(0).normal(size=(500, 2))
    X = pd.DataFrame({"y": np.exp(z[:, 0]), "x": z[:, 0] ** 2, "z": z[:, 0], "flag": z[:, 0] > 0, "free": z[:, 1]})
    bound = bind(X, **options)
    for x in ("x", "free", "flag"):
        found = bound.test(x, "y", ["z"])
        assert found.reliable and found.p_value > 0.2  # all of what rounding or splines leave of y is in a few rows
        assert found.p_value == 1.0 or not options
    assert bound.test("x", "y").p_value < 0.05
    copies = pd.DataFrame({"a": X["flag"], "b": X["flag"].map({True: "u", False: "v"}), "c": z[:, 1]})
    assert bind(copies).test("b", "c", ["a"]).p_value == 1.0


def test_too_few_rows_and_rounding_are_not_reliable():
    X = bent()
    assert not bind(X[:9]).test("x", "y").reliable and bind(X[:10]).test("x", "y").reliable
    assert not bind(X[:60]).test("g", "h").reliable and bind(X[:62]).test("g", "h").reliable
    X["rounded"] = 1e15 + X["x"].round(0)
    bound = bind(X)
    for query in (("rounded", "y", []), ("x", "y", ["rounded"]), ("x", "rounded", ["z"])):
        found = bound.test(*query)
        assert (found.p_value, found.reliable) == (1.0, False)


def test_copies_of_rows_are_refused_where_rows_are_held_out_in_parts():
    X, weights = bent()[list("xyz")], np.tile([1, 2], 100)
    twice = bf.get_ci_test("gcm").bind(X, sample_weight=weights).test("x", "y", ["z"])
    again = bind(X.loc[X.index.repeat(weights)].reset_index(drop=True)).test("x", "y", ["z"])
    assert twice == again
    with pytest.raises(UnsupportedError, match="gcm draws, permutes or compares single rows"):
        bf.get_ci_test("gcm", model="ridge").bind(X, sample_weight=weights)
    with pytest.raises(UnsupportedError, match="gcm takes rows as independent and equal"):
        bf.get_ci_test("gcm").bind(X, groups=np.arange(200) // 2)


@pytest.mark.parametrize("selector", [bf.HITONMB, bf.IAMB, bf.MMPC])
def test_searches_keep_a_cause_and_not_what_else_it_bends(selector):
    rng = np.random.default_rng(1)
    z = rng.normal(size=1000)
    X = pd.DataFrame({"x": np.exp(z) + rng.normal(size=1000), "z": z, "noise": rng.normal(size=1000)})
    assert selector(ci_test="gcm").fit(X, np.exp(z) + rng.normal(size=1000)).selected_features_ == ["z"]


def test_plans_say_that_models_may_mislead_and_nothing_of_splines(tmp_path):
    bent().to_csv(tmp_path / "study.csv", index=False)
    raw = {
        "output": str(tmp_path / "out"),
        "datasets": {"study": {"path": str(tmp_path / "study.csv"), "target": "y"}},
        "ci_tests": {"boosted": {"type": "gcm", "model": "lightgbm"}},
    }
    said = {}
    for test in ("gcm", "boosted"):
        plan = make_plan({**raw, "selectors": {"mine": {"method": "gs", "ci_test": test}}}, SCRIPTS)
        said[test] = plan.doubted_p_values
    assert "gcm: with" in said["boosted"]["study"][0]
    assert said["gcm"]["study"][0].startswith("gcm: it rejects")  # with so few rows, from the measured rates


NULLS = {
    "quadratic": lambda z, rng: z**2 + rng.normal(size=len(z)),
    "exponential": lambda z, rng: np.exp(z) + rng.normal(size=len(z)),
    "moving": lambda z, rng: z + np.exp(0.7 * z) * rng.normal(size=len(z)),
    "flag": lambda z, rng: rng.random(len(z)) < 1 / (1 + np.exp(4.2 - 1.5 * z)),
    "function": lambda z, rng: z**2,
}


@pytest.mark.parametrize("null", [pytest.param(name, marks=pytest.mark.extended) for name in NULLS])
@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("weights", [0, 3])
def test_level(null, n, weights):
    def is_rejected(seed):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=n)
        X = pd.DataFrame({"x": NULLS[null](z, rng), "y": NULLS[null](z, rng), "z": z})
        return bind(X, weights=weights).test("x", "y", ["z"]).p_value <= 0.05

    assert not Level(300, 1e-4).is_exceeded(map(is_rejected, range(300)))


@pytest.mark.extended
def test_it_finds_straight_relations_as_fisher_z_does_and_no_even_ones():
    found = {"fisher-z": 0, "gcm": 0, "even": 0}
    for seed in range(100):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=500)
        X = pd.DataFrame({"x": x, "y": 0.13 * x + rng.normal(size=500), "even": x**2 + rng.normal(size=500)})
        for name in ("fisher-z", "gcm"):
            found[name] += bf.get_ci_test(name).bind(X).test("x", "y").p_value <= 0.05
        found["even"] += bind(X).test("x", "even").p_value <= 0.05
    assert found["gcm"] >= found["fisher-z"] - 5
    assert found["even"] < 25
