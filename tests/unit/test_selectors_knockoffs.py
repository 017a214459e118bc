"""Knockoffs: their law by exact covariances, the filter by literal definitions, and what the method does with both."""

import numpy as np
import pandas as pd
import pytest
from sklearn.covariance import ledoit_wolf
from sklearn.linear_model import LinearRegression

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.errors import ParameterError, UnknownNameError, UnreliableWarning
from blanketflow.core.table import Column, Table
from blanketflow.selectors.base import Problem
from blanketflow.selectors.knockoff.columns_for_knockoffs import known_columns
from blanketflow.selectors.knockoff.gaussian_knockoffs import law_of, reconstructing_least, shrinkage, wide_law
from blanketflow.selectors.knockoff.knockoff_importances import excess
from blanketflow.selectors.knockoff.knockoff_pairs import Pair
from blanketflow.selectors.wrappers.knockoffs import e_values, passing, threshold

CHAIN = 0.6 ** np.abs(np.subtract.outer(np.arange(6), np.arange(6)))


def rows(n, m, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, m))
    X[:, 1] += X[:, 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("construction", ["mvr", "equicorrelated"])
def test_columns_and_knockoffs_may_be_exchanged(construction):
    """For Gaussian columns this is a statement about the joint covariance, which is computed here exactly."""
    law = law_of(np.zeros((10, 6)), construction, CHAIN)
    to_knockoffs = np.eye(6) - law.change
    across, own = CHAIN @ to_knockoffs, to_knockoffs.T @ CHAIN @ to_knockoffs + law.noise.T @ law.noise
    joint = np.block([[CHAIN, across], [across.T, own]])
    for subset in range(2**6):
        swapped = np.arange(12)
        for j in range(6):
            if subset >> j & 1:
                swapped[[j, j + 6]] = j + 6, j
        np.testing.assert_allclose(joint[np.ix_(swapped, swapped)], joint, atol=1e-8)
    assert (np.diag(across) < 0.95).all()


def test_the_distances_are_where_the_sum_of_reconstructabilities_is_flat():
    s = reconstructing_least(CHAIN)
    inverse = np.linalg.inv(2 * CHAIN - np.diag(s))
    np.testing.assert_allclose(1 / s**2, (inverse**2).sum(axis=0), rtol=0.05)

    def literal(s):
        return np.sum(1 / s) + np.trace(np.linalg.inv(2 * CHAIN - np.diag(s)))

    for j in range(6):
        for step in (-0.03, 0.03):
            assert literal(s + step * np.eye(6)[j]) > literal(s)


def test_steps_taken_together_equal_steps_one_by_one():
    correlations = np.corrcoef(rows(400, 90).T)
    s = np.full(90, 0.5 * min(1, 2 * np.linalg.eigvalsh(correlations)[0]))
    for _ in range(12):
        for j in range(90):
            inverse = np.linalg.inv(2 * correlations - np.diag(s))
            a, c = inverse[j, j], inverse[j] @ inverse[j]
            s[j] = (1 + a * s[j]) / (a + np.sqrt(c))
    np.testing.assert_allclose(reconstructing_least(correlations), s, rtol=0.02)


def test_the_law_of_a_wide_table_is_that_of_its_whole_matrix():
    X = rows(12, 30)
    share = shrinkage(X)
    dense = law_of(X, "equicorrelated", (1 - share) * X.T @ X / 12 + share * np.eye(30))
    wide = wide_law(X, share)
    # The mean is what no noise leaves, and the noise has the same covariance.
    along = X - (X @ wide.axes.T * wide.change) @ wide.axes
    np.testing.assert_allclose(along, X - X @ dense.change, atol=1e-7)
    root = (wide.axes.T * wide.noise) @ wide.axes + wide.outside * np.eye(30)
    np.testing.assert_allclose(root @ root, dense.noise.T @ dense.noise, atol=1e-7)


@pytest.mark.parametrize("shape", [(50, 8), (10, 30)])
def test_the_shrinkage_is_scikit_learns(shape):
    X = rows(*shape)
    assert shrinkage(X) == pytest.approx(ledoit_wolf(X, assume_centered=True)[1])


def test_the_filter_is_its_definition():
    rng = np.random.default_rng(3)
    for _ in range(200):
        W, q = np.round(rng.normal(0.7, 1, 15), 1), rng.choice([0.1, 0.2, 0.5])
        fits = [t for t in np.abs(W) if t > 0 and (1 + np.sum(-t >= W)) / max(np.sum(t <= W), 1) <= q + 1e-9]
        assert threshold(W, q) == min(fits, default=np.inf)
        # One draw: e-BH selects what the filter does.
        np.testing.assert_array_equal(passing(e_values(W, q), 15, q), threshold(W, q) <= W)


def test_several_draws_by_hand():
    # Of 4 features at q = 0.5: three e-values of 4 need 4 / (0.5 * 3) = 2.67; with a fourth of 1 they would need 2.
    assert passing(np.array([4.0, 4.0, 4.0, 1.0]), 4, 0.5).tolist() == [True, True, True, False]
    assert passing(np.array([4.0, 1.0, 1.0, 1.0]), 4, 0.5).tolist() == [False] * 4


def table(n=300, d=30, true=14):
    X = pd.DataFrame(np.random.default_rng(5).normal(size=(n, d))).add_prefix("f")
    return X, X.iloc[:, :true].sum(axis=1)


OPTIONS = [
    {},
    {"draws": 3, "q": 0.2},
    {"importance": "model", "model": LinearRegression()},
    {"importance": "correlation"},
    {"importance": "test", "importance_test": "fisher-z"},
    {"construction": "equicorrelated"},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_true_features_are_found(options):
    X, y = table()
    found = set(bf.Knockoffs(**options).fit(X, y).selected_features_)
    assert len(found & set(X.columns[:14])) >= 13 and len(found) < 20


def test_a_known_covariance_by_position_and_by_name():
    X, y = table()
    plain = bf.Knockoffs(covariance=np.eye(30)).fit(X, y).selected_features_
    frame = pd.DataFrame(np.eye(30), index=X.columns, columns=X.columns)
    assert bf.Knockoffs(covariance=frame).fit(X, y).selected_features_ == plain
    assert "f29" not in bf.Knockoffs(covariance=frame, exclude=["f29"]).fit(X, y).selected_features_


@pytest.mark.parametrize(
    ("covariance", "said"),
    [
        (np.eye(3), r"has the shape \(3, 3\), but 30 features are searched"),
        (np.ones((30, 30)), "must be positive definite"),
        (np.triu(np.ones((30, 30))), "must be finite and symmetric"),
        ({"f0": {"f0": 1.0}}, "does not name the feature 'f1'"),
    ],
)
def test_a_covariance_that_is_none_is_refused(covariance, said):
    with pytest.raises(ParameterError, match=said):
        bf.Knockoffs(covariance=covariance).fit(*table())


def test_levels_have_no_known_covariance_and_a_silent_model_is_refused():
    X, y = table(d=12, true=3)
    with pytest.raises(ParameterError, match="levels of 'site'"):
        bf.Knockoffs(covariance=np.eye(13)).fit(X.assign(site=list("abc") * 100), y)
    with pytest.raises(ParameterError, match="neither feature_importances_ nor coef_"):
        bf.Knockoffs(importance="model", model="knn").fit(X, y)


def test_too_few_features_for_q_say_so():
    X, y = table(d=5, true=3)
    with pytest.warns(UnreliableWarning, match="select at least 10 features or none, and there are 5: raise q"):
        assert bf.Knockoffs(q=0.1).fit(X, y).selected_features_ == []


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
@pytest.mark.parametrize("options", [{}, {"covariance": "banded"}, {"covariance": "factor"}, {"law": "markov-chain"}])
def test_nothing_is_found_where_nothing_varies(options):
    assert bf.Knockoffs(**options).fit(np.ones((30, 4)), np.arange(30.0)).selected_features_ == []


def test_copies_and_constants_are_no_discoveries():
    X, y = table()
    found = bf.Knockoffs().fit(X.assign(constant=1.0, copy=X["f29"]), y)
    assert not {"constant", "copy", "f29"} & set(found.selected_features_)


def test_groups_and_knockoffs_may_be_exchanged():
    """Columns of a group become uncorrelated ones, all of which are exchanged with theirs."""
    X, owners, R = known_columns(as_table(rows(50, 6)), CHAIN, "here", [2, 1, 3])
    assert owners.tolist() == [0, 0, 1, 2, 2, 2]
    law = law_of(X, "mvr", R)
    to_knockoffs = np.eye(6) - law.change
    across, own = R @ to_knockoffs, to_knockoffs.T @ R @ to_knockoffs + law.noise.T @ law.noise
    # In the columns as they were, by the change that made those uncorrelated.
    back = np.linalg.pinv(X) @ (rows(50, 6) - rows(50, 6).mean(axis=0))
    joint = np.block([[back.T @ R @ back, back.T @ across @ back], [back.T @ across.T @ back, back.T @ own @ back]])
    np.testing.assert_allclose(joint[:6, :6], CHAIN, atol=1e-8)
    for chosen in range(2**3):
        swapped = np.arange(12)
        for j in range(6):
            if chosen >> owners[j] & 1:
                swapped[[j, j + 6]] = j + 6, j
        np.testing.assert_allclose(joint[np.ix_(swapped, swapped)], joint, atol=1e-8)


def test_indicators_in_a_group_are_what_their_column_is():
    X, y = table()
    labels = np.array(["blue", "green", "red"])[np.digitize(X["f0"], [-0.5, 0.5])]
    plain = bf.Knockoffs().fit(X.assign(f0=labels), y).selected_features_
    levels = {f"f0_{level}": (labels == level).astype(float) for level in ("blue", "green", "red")}
    columns = pd.concat([pd.DataFrame(levels), X.drop(columns="f0")], axis=1)
    found = bf.Knockoffs(feature_groups={"f0": ["f0_*"]}).fit(columns, y).selected_features_
    assert "f0" in plain
    assert [f.replace("_blue", "") for f in found if f not in ("f0_green", "f0_red")] == plain


def with_four_copies(seed, n=500):
    """Numbers of which the first 15 matter, and the first five have three near-copies each."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 40)), columns=[f"f{i:02}" for i in range(40)])
    y = 0.3 * X.iloc[:, :15].sum(axis=1) + rng.normal(size=n)
    copies = {f"{name}_{c}": 2 * X[name] + 1e-3 * rng.normal(size=n) for name in X.columns[:5] for c in range(3)}
    return X.assign(**copies), y


@pytest.mark.parametrize("draws", [1, 3])
def test_of_near_copies_one_is_kept(draws):
    """A lasso shares a coefficient out among copies, so that none differs from its knockoff: it lost 30 of 50."""
    false, kept = [], []
    for seed in range(10):
        found = bf.Knockoffs(q=0.2, draws=draws).fit(*with_four_copies(seed)).selected_features_
        of = [name[:3] for name in found]
        assert len(set(of)) == len(of)
        kept += sorted(set(of) & {f"f{i:02}" for i in range(5)})
        false.append(np.mean([name > "f14" for name in of]) if of else 0.0)
    assert len(kept) >= 48
    assert np.mean(false) < 0.3


def test_the_near_copy_that_says_most_stands_for_all():
    X, y = table()
    blurred = X.assign(f00=X["f0"] + 0.2 * np.random.default_rng(1).normal(size=len(X)))
    found = bf.Knockoffs().fit(blurred[sorted(blurred)], y + 4 * X["f0"])
    assert "f0" in found.selected_features_ and "f00" not in found.selected_features_


@pytest.mark.parametrize("groups", [None, {"pair": ["f03", "f25"]}])
def test_a_matrix_without_names_is_in_table_order(groups):
    """Also where columns of a group, or near-copies, are far from each other in the table."""
    names, scale = [f"f{i:02}" for i in range(30)], np.arange(1.0, 31)
    law = np.eye(30)
    law[0, 20] = law[20, 0] = 0.99
    law[5, 9] = law[9, 5] = 0.5
    X = pd.DataFrame(np.random.default_rng(0).multivariate_normal(np.zeros(30), law, 400) * scale, columns=names)
    y = (X / scale).iloc[:, :15].sum(axis=1)
    matrix = law * np.outer(scale, scale)
    known = [matrix, pd.DataFrame(matrix, names, names)]
    found = [bf.Knockoffs(covariance=each, feature_groups=groups).fit(X, y).trace_ for each in known]
    pd.testing.assert_frame_equal(*found)


@pytest.mark.parametrize("law", ["markov-chain", "network"])
def test_true_discrete_features_are_found(law):
    rng = np.random.default_rng(2)
    moves = rng.random((400, 30)) < 0.7
    X = pd.DataFrame(np.cumsum(moves, axis=1) % 3).add_prefix("f")
    y = (X.iloc[:, :20:2] == 1).sum(axis=1) + 0.1 * rng.normal(size=400)
    arcs = list(zip(X.columns[:-1], X.columns[1:], strict=True)) if law == "network" else None
    found = bf.Knockoffs(law=law, arcs=arcs, importance="model", q=0.2, model=LinearRegression()).fit(X.astype(str), y)
    assert set(found.selected_features_) >= set(X.columns[:20:2]) and len(found.selected_features_) < 16


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"law": "markov-chain"}, "'f0' has 300 distinct numbers, but a law of discrete features takes at most 64"),
        ({"law": "network", "covariance": np.eye(30)}, "covariance is of law: gaussian, but law is network"),
        ({"arcs": []}, "network and arcs are of law: network, but law is gaussian"),
        ({"law": "network"}, "network must be a discrete network"),
        ({"importance_test": "hsic-x"}, "unknown CI test"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, said):
    with pytest.raises((ParameterError, UnknownNameError), match=said):
        bf.Knockoffs(**options).fit(*table())


class Coins:
    """Says which pairs begin with the knockoff."""

    def __init__(self, are_swapped):
        self.are_swapped = are_swapped

    def random(self, d):
        return np.where(self.are_swapped, 0.25, 0.75)


@pytest.mark.parametrize("how", ["lasso", "correlation", "model", "test"])
def test_a_feature_in_the_place_of_its_knockoff_has_the_other_sign(how):
    """The two orders of a pair are equally likely, so a swapped pair with the other order is as likely as the pair."""
    rng, d = np.random.default_rng(0), 6
    X, copies = rng.normal(size=(2, 80, d))
    target = Table([Column("y", "numeric", X[:, 0] - X[:, 1] + rng.normal(size=80))])
    problem = Problem([f"x{j}" for j in range(d)], "y", None, 0, lambda: target, None)
    swapped, first = rng.random((2, d)) < 0.5
    other, other_copies = np.where(swapped, copies, X), np.where(swapped, X, copies)
    found = [
        excess(problem, how, "tree", "fisher-z", Pair(*pair, np.arange(d)), Coins(coins))
        for pair, coins in (((X, copies), first), ((other, other_copies), first ^ swapped))
    ]
    assert np.count_nonzero(found[0]) >= 2
    np.testing.assert_array_equal(found[1], np.where(swapped, -found[0], found[0]))
