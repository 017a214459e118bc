"""The spline test against literal regressions on rows, where relations bend, and what must not change it."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import blanketflow as bf
from blanketflow.ci.spline_functions import functions_of
from blanketflow.core.convert import as_table
from levels import Level

LABELS = ("g", "h")


def mixed(n=300, seed=0):
    """Return numbers a, b, c, a whole number i, a flag t, and labels g (3), h (4) that all depend on each other."""
    rng = np.random.default_rng(seed)
    s = rng.normal(size=n)
    cut = {
        name: np.digitize(s + 2 * rng.normal(size=n), borders) for name, borders in (("g", [-1, 1]), ("h", [-2, 0, 2]))
    }
    return pd.DataFrame(
        {
            "a": s + rng.normal(size=n),
            "b": s**2 + rng.normal(size=n),
            "c": np.exp(0.5 * s) * rng.normal(size=n),
            "i": np.round(2 * s + rng.normal(size=n)).astype(int),
            "t": s + rng.normal(size=n) > 0.5,
            **{name: pd.Series([f"level {code}" for code in codes]) for name, codes in cut.items()},
        }
    )


def bind(X, **options):
    return bf.get_ci_test("spline", **options).bind(X)


def functions(X, name, most):
    """Return functions of a column, (n, q): all of a label."""
    found = functions_of(as_table(X[[name]])[0]).T
    return found if name in LABELS else found[:, :most]


def left(y, X):
    """Return the residuals of least squares on a constant and X."""
    design = np.column_stack([np.ones(len(y)), X])
    return y - design @ np.linalg.lstsq(design, y, rcond=None)[0]


def rao(small, large, n, n_small, n_added):
    """Return -n log lambda, degrees of freedom and p of residuals y (n, q) without and with n_added predictors."""
    q = small.shape[1]
    log_lambda = np.linalg.slogdet(large.T @ large)[1] - np.linalg.slogdet(small.T @ small)[1]
    squares = q * q + n_added * n_added - 5
    root = np.sqrt((q * q * n_added * n_added - 4) / squares) if squares > 0 else 1.0
    dof = q * n_added
    rest = (n - 1 - n_small - (q + n_added + 1) / 2) * root - dof / 2 + 1
    return -n * log_lambda, dof, stats.f.sf(np.expm1(-log_lambda / root) * rest / dof, dof, rest)


def parts_by_hand(X, x, y, given):
    """Return the three parts of the screen by least squares on rows: statistic, degrees of freedom, p, share."""
    n = len(X)
    most = min(max(n // len(given) // 40, min(n // len(given) // 8, 4), 1), 8) if given else 0
    z = np.column_stack([np.empty((n, 0)), *(functions(X, name, most) for name in given)])
    of = {name: functions(X, name, 4) for name in (x, y)}
    straight = {name: f if name in LABELS else f[:, :1] for name, f in of.items()}
    k = z.shape[1]

    def nested(response, before, added):
        small = np.column_stack([z, before])
        large = np.column_stack([small, added])
        return rao(left(response, small), left(response, large), n, small.shape[1], added.shape[1])

    found = [nested(straight[y], np.empty((n, 0)), straight[x])]
    for one, other in ((x, y), (y, x)):
        bends = of[one][:, straight[one].shape[1] :]
        found.append(nested(straight[other], straight[one], bends) if bends.shape[1] else (0.0, 0, 1.0))
    n_bent = sum(part[1] > 0 for part in found[1:])
    shares = [0.85 if n_bent else 1.0, *(0.15 / n_bent if part[1] else 0.0 for part in found[1:])]
    assert k == np.linalg.matrix_rank(z)
    return [(*part, share) for part, share in zip(found, shares, strict=True)]


def combined(parts):
    least = min((part for part in parts if part[3]), key=lambda part: part[2] / part[3])
    t = least[2] / least[3]
    return least[0], -np.expm1(sum(np.log1p(-min(share * t, 1 - 1e-15)) for *_, share in parts)), least[1]


QUERIES = [
    *(("a", "b", given) for given in ([], ["c"], ["c", "g"], ["i", "t", "h"])),
    *(("t", "a", given) for given in ([], ["c"], ["b", "g"])),
    *(("i", "t", given) for given in ([], ["a", "b"])),
    *(("g", "a", given) for given in ([], ["b"], ["h", "t"])),
    *(("g", "h", given) for given in ([], ["a"], ["a", "t"])),
    ("t", "h", ["c"]),
]


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_the_screen_equals_least_squares_on_rows(query):
    X = mixed()
    result = bind(X, confirm_below=0).test(*query)
    statistic, p, dof = combined(parts_by_hand(X, *query))
    assert result.reliable and result.dof == dof
    assert result.statistic == pytest.approx(statistic, rel=1e-7)
    assert result.p_value == pytest.approx(p, rel=1e-7)


def test_given_nothing_rows_confirm_by_robust_scores():
    X = mixed()
    x, y = (functions(X, name, 1)[:, 0] for name in ("a", "b"))
    r, free = x @ y, 1 - 1 / len(X)
    variance = np.sum((x * y) ** 2 + (x * y - r * (x * x + y * y) / 2) ** 2) / free / 2
    one = stats.f.sf(r * r / variance, 1, len(X) - 2)
    bends = []
    for first, second in (("a", "b"), ("b", "a")):
        u, v = functions(X, first, 4), functions(X, second, 1)
        more, rest = left(u[:, 1:], u[:, :1]), left(v, u[:, :1])
        products = more * rest
        scale = 1 / (free - u[:, :1] ** 2)
        squared = products.sum(axis=0) @ np.linalg.solve((products * scale).T @ products, products.sum(axis=0))
        bends.append((3, stats.f.sf(squared * (len(X) - 5) / (3 * (len(X) - squared)), 3, len(X) - 5)))
    _, p, _ = combined([(0, 1, one, 0.85), *((0, dof, p, 0.075) for dof, p in bends)])
    assert bind(X, confirm_below=1).test("a", "b").p_value == pytest.approx(p, rel=1e-6)


def test_a_flag_is_one_thing_whatever_its_type():
    X = mixed()
    answers = []
    for values in (X["t"], X["t"].astype(int), X["t"].astype(float) * 7 - 3, X["t"].map({True: "yes", False: "no"})):
        bound = bind(X.assign(t=values))
        asked = [("t", "a", []), ("a", "t", ["b"]), ("t", "g", ["a"]), ("a", "b", ["t", "c"]), ("g", "h", ["t"])]
        answers.append([bound.test(*query)[:4] for query in asked])
    for other in answers[1:]:
        np.testing.assert_allclose(other, answers[0], rtol=1e-8)


@pytest.mark.parametrize("selector", [bf.HITONMB, bf.IAMB, bf.MMPC])
def test_searches_keep_a_bent_cause_and_not_what_else_it_bends(selector):
    rng = np.random.default_rng(1)
    z = rng.normal(size=1000)
    X = pd.DataFrame({"x": z**2 + rng.normal(size=1000), "z": z, "noise": rng.normal(size=1000)})
    assert selector(ci_test="spline").fit(X, z**2 + rng.normal(size=1000)).selected_features_ == ["z"]


def test_what_the_given_columns_determine_is_independent():
    z = np.random.default_rng(0).normal(size=(1000, 2))
    noise = np.random.default_rng(1).normal(size=1000)
    X = pd.DataFrame({"x": np.sin(3 * z[:, 0]), "y": z[:, 0] ** 2, "noisy": np.exp(z[:, 0]) + noise, "z": z[:, 0]})
    bound = bind(X.assign(other=z[:, 1]))
    for query in (("x", "y", ["z"]), ("x", "y", ["z", "other"]), ("x", "noisy", ["z"]), ("y", "noisy", ["z"])):
        assert bound.test(*query).p_value > 0.05, query


def null(kind, rng, n, k):
    """Return x, y and z, (n, k), with x independent of y given z."""
    z = rng.normal(size=(n, k))
    total = z.sum(axis=1) / np.sqrt(k)
    mean = {
        "sine": np.sin(3 * z).sum(axis=1),
        "exponential": np.exp(z).sum(axis=1) / np.sqrt(k),
        "steps": np.sign(z - 0.3).sum(axis=1),
        "interaction": z[:, 0] * z[:, -1],
    }.get(kind, total)
    spread = np.exp(0.7 * total) if kind == "spread" else 1.0
    x, y = (mean + spread * rng.normal(size=n) for _ in range(2))
    if kind == "flag and class":
        odds = np.exp(1.5 * total)
        x, y = rng.random(n) < 0.06 * odds / (1 + 0.06 * odds), rng.random(n) < odds / (1 + odds)
    elif kind == "function":
        x = (z**2).sum(axis=1)
        y = x + y - mean
    return pd.DataFrame({"x": x, "y": y, **{f"z{j}": z[:, j] for j in range(k)}})


@pytest.mark.parametrize(
    ("n", "k", "n_samples"),
    [(500, 1, 100), *(pytest.param(n, k, 200, marks=pytest.mark.extended) for n in (200, 1000) for k in (1, 3))],
)
@pytest.mark.parametrize(
    "kind", ["linear", "sine", "exponential", "steps", "interaction", "spread", "function", "flag and class"]
)
def test_true_nulls_that_bend_are_not_rejected_too_often(kind, n, k, n_samples):
    drawn = (null(kind, np.random.default_rng([seed, n, k]), n, k) for seed in range(n_samples))
    rejected = (bind(X).test("x", "y", list(X.columns[2:])).p_value <= 0.05 for X in drawn)
    assert not Level(n_samples, 1e-3).is_exceeded(rejected)


def test_the_screen_alone_rejects_where_variances_move():
    found = [null("spread", np.random.default_rng(seed), 500, 1) for seed in range(40)]
    assert sum(bind(X, confirm_below=0).test("x", "y", ["z0"]).p_value <= 0.05 for X in found) > 15


def test_little_power_is_lost_where_relations_are_straight():
    found = {"fisher-z": 0, "spline": 0}
    for seed in range(100):
        rng = np.random.default_rng(seed)
        z, e = rng.normal(size=(500, 3)), rng.normal(size=500)
        x, y = z.sum(axis=1) + e, z.sum(axis=1) + 0.16 * e + rng.normal(size=500)
        for name in found:
            found[name] += bf.get_ci_test(name).bind(np.column_stack([x, y, z])).test(0, 1, [2, 3, 4]).p_value <= 0.05
    assert found["spline"] >= found["fisher-z"] - 7
