"""Tests of a sample with a design: weights and clusters against literal renderings, oracles and hand-worked tables."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import blanketflow as bf
from blanketflow.ci.clusters import Clusters, judged, spread
from blanketflow.ci.feature_groups import bind_groups
from blanketflow.core.convert import as_table
from blanketflow.core.errors import DataError, ParameterError, UnsupportedError
from blanketflow.core.table import Design
from literal_design import (
    contingency,
    logistic_scores,
    own_weights,
    rao_scott_p,
    residual,
    t_test_of_totals,
    variance_of_sum,
    weighted_partial_correlation,
)

RNG = np.random.default_rng(0)
N = 120
CLUSTERS = RNG.permutation(np.repeat(np.arange(30), 4)) * 7
WEIGHTS = RNG.uniform(0.2, 5.0, N)
NUMBERS = RNG.normal(size=(30, 5))[CLUSTERS // 7] + RNG.normal(size=(N, 5)) @ RNG.normal(size=(5, 5))
DESIGNS = {
    "clusters": {"groups": CLUSTERS},
    "weights": {"sample_weight": WEIGHTS, "weights_are": "sampling"},
    "both": {"groups": CLUSTERS, "sample_weight": WEIGHTS, "weights_are": "sampling"},
}
each_design = pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)


def as_arrays(design):
    """Return the weights, of mean 1, and the clusters of a design."""
    weights = design.get("sample_weight", np.ones(N))
    return weights / weights.mean(), design.get("groups", np.arange(N))


def test_one_score_is_students_t_test_of_the_totals():
    totals = RNG.normal(0.3, size=25)
    p, log_p = judged(np.array([totals.sum() ** 2]), spread(totals[np.newaxis, np.newaxis]), 24.0)
    assert p[0] == pytest.approx(stats.ttest_1samp(totals, 0).pvalue, rel=1e-9)
    assert np.exp(log_p[0]) == pytest.approx(p[0])


@pytest.mark.parametrize("q", [2, 60])  # fewer and more than the clusters
def test_several_scores_are_rao_and_scott_of_the_second_order(q):
    scores = RNG.normal(size=(N, q)) @ RNG.normal(size=(q, q))
    covariance = variance_of_sum(scores, CLUSTERS, 2)
    statistic = np.sum(scores.sum(axis=0) ** 2)
    totals = Clusters(Design(clusters=CLUSTERS), N).totals(scores.T)
    p, _ = judged(np.array([statistic]), spread(totals[np.newaxis], 2), 27.0)
    assert p[0] == pytest.approx(rao_scott_p(statistic, covariance, 27.0), rel=1e-8)


def test_scores_without_variation_say_nothing():
    p, log_p = judged(np.zeros(2), spread(np.zeros((2, 1, 5))), 4.0)
    assert p.tolist() == [1, 1] and log_p.tolist() == [0, 0]


@each_design
@pytest.mark.parametrize("given", [[], [2], [2, 3]])
def test_fisher_z_is_a_t_test_of_products_of_residuals(design, given):
    bound = bf.get_ci_test("fisher-z").bind(NUMBERS, **design)
    weights, clusters = as_arrays(design)
    found = bound.test_many([0, 4], 1, given)
    for at, x in enumerate((0, 4)):
        columns = NUMBERS[:, x], NUMBERS[:, 1], [NUMBERS[:, z] for z in given]
        r = weighted_partial_correlation(*columns, weights)
        assert found.statistic[at] == pytest.approx(np.arctanh(r) * np.sqrt(N - len(given) - 3))
        own = own_weights(weights, [*columns[:2], *columns[2]])
        assert found.p_value[at] == pytest.approx(t_test_of_totals(*columns, own, clusters), rel=1e-7)
    assert found[0] == bound.test_config.bind(NUMBERS, **design).test(1, 0, given)  # symmetric, to the last bit


@each_design
def test_fisher_z_of_a_set_is_rao_and_scotts_f(design):
    weights, clusters = as_arrays(design)
    found = bf.get_ci_test("fisher-z").bind(NUMBERS, **design).test([0, 4], 1, given=[2])

    def scores_by(weights):
        X, y = ([residual(NUMBERS[:, j], [NUMBERS[:, 2]], weights) for j in columns] for columns in ([0, 4], [1]))
        X, y = np.array(X).T, y[0] / np.sqrt(np.sum(weights * y[0] ** 2))
        X = X @ np.linalg.inv(np.linalg.cholesky(X.T @ (weights[:, None] * X)).T)  # orthonormal
        return X * (weights * y)[:, None]

    r_squared = np.sum(scores_by(weights).sum(axis=0) ** 2)
    assert found.statistic == pytest.approx(r_squared / (1 - r_squared) * (N - 1 - 1 - 2) / 2)
    rest, scores = len(np.unique(clusters)) - 2, scores_by(own_weights(weights, NUMBERS[:, [0, 1, 2, 4]].T))
    r_squared = np.sum(scores.sum(axis=0) ** 2)
    assert found.p_value == pytest.approx(rao_scott_p(r_squared, variance_of_sum(scores, clusters, 1), rest), rel=1e-7)


def test_fisher_z_is_near_a_regression_with_clustered_errors():
    """Statsmodels' Wald test takes the residuals of the larger regression: near in large samples of weak effects."""
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(400), 5)
    X = rng.normal(size=(400, 3))[clusters] + rng.normal(size=(2000, 3))
    y = 0.1 * X[:, 0] + X[:, 1] + rng.normal(size=400)[clusters] + rng.normal(size=2000)
    table = np.column_stack([X, y])
    fitted = sm.OLS(y, sm.add_constant(X[:, :2])).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    ours = bf.get_ci_test("fisher-z").bind(table, groups=clusters).test(0, 3, given=[1])
    naive = bf.get_ci_test("fisher-z").bind(table).test(0, 3, given=[1])
    assert ours.log_p == pytest.approx(np.log(fitted.pvalues[1]), rel=0.06)
    assert ours.statistic == pytest.approx(naive.statistic) and naive.log_p < 1.3 * ours.log_p


def test_copies_of_a_row_add_nothing_if_they_are_one_cluster():
    """Each row three times as one cluster is the row once with its own: the p-value does not fall, as it would."""
    copies = np.repeat(np.arange(N), 3)
    once = bf.get_ci_test("fisher-z").bind(NUMBERS, groups=np.arange(N)).test(0, 1, [2])
    thrice = bf.get_ci_test("fisher-z").bind(NUMBERS[copies], groups=copies).test(0, 1, [2])
    assert thrice.p_value == pytest.approx(once.p_value, rel=1e-9)


@pytest.mark.parametrize("name", ["fisher-z", "lr-mixed"])
def test_weights_that_the_columns_explain_are_equal_weights(name):
    table = NUMBERS[:, :3] if name == "fisher-z" else MIXED[["dose", "age", "outcome"]].assign(age=NUMBERS[:, 1])
    weights = np.exp(NUMBERS[:, 0] - 0.5 * NUMBERS[:, 1])
    by_weights, plain = (
        bf.get_ci_test(name).bind(table, **design).test(0, 2, [1])
        for design in ({"sample_weight": weights, "weights_are": "sampling"}, {"groups": np.arange(N)})
    )
    assert by_weights.p_value == pytest.approx(plain.p_value, rel=1e-6)
    assert by_weights.statistic != pytest.approx(plain.statistic, rel=1e-3)


def test_the_unit_of_weights_does_not_matter():
    once, million = (
        bf.get_ci_test("fisher-z").bind(NUMBERS, sample_weight=k * WEIGHTS, weights_are="sampling").test(0, 1)
        for k in (1, 1e6)
    )
    assert once.p_value == pytest.approx(million.p_value, rel=1e-9)


def test_too_few_clusters_for_the_given_columns_are_not_reliable():
    found = bf.get_ci_test("fisher-z").bind(NUMBERS, groups=np.arange(N) % 3).test_many([0, 1], 2, given=[3, 4])
    assert found.p_value.tolist() == [1, 1] and not found.reliable.any()


@pytest.mark.parametrize("n_given", [2, 3, 4])  # which leave 1 degree of freedom, 0, and none of its clusters either
def test_too_few_rows_for_the_given_columns_say_nothing(n_given):
    few, weights = np.random.default_rng(0).normal(size=(6, 6)), np.arange(1.0, 7.0)
    found = (
        bf.get_ci_test("fisher-z")
        .bind(few, sample_weight=weights, weights_are="sampling")
        .test(0, 1, list(range(2, 2 + n_given)))
    )
    assert (found.reliable, found.p_value < 1) == ((True, True) if n_given == 2 else (False, False))


@pytest.mark.parametrize("test", ["fisher-z", "g2", "lr-mixed"])
def test_rows_of_a_single_cluster_are_independent_given_what_they_have_in_common(test):
    together = bf.get_ci_test(test).bind(NUMBERS, groups=np.zeros(N))
    assert together.test(0, 2, given=[3]) == bf.get_ci_test(test).bind(NUMBERS).test(0, 2, given=[3])


def test_a_test_that_knows_no_design_refuses_it():
    with pytest.raises(UnsupportedError, match=r"hsic takes rows as independent and equal\. See design_based"):
        bf.get_ci_test("hsic").bind(NUMBERS, groups=CLUSTERS)


@pytest.mark.parametrize(
    ("design", "said"),
    [
        ({"sample_weight": np.where(np.arange(N) == 4, -1, 1)}, "row 5 has -1"),
        ({"sample_weight": np.ones(3)}, r"have the shape \(3,\)"),
        ({"groups": [None] * N}, "groups are missing in 120 rows"),
    ],
)
def test_designs_that_do_not_fit_are_refused(design, said):
    with pytest.raises(DataError, match=f"fisher-z.*{said}"):
        bf.get_ci_test("fisher-z").bind(NUMBERS, **design)


LEVELS = np.column_stack([np.digitize(NUMBERS[:, 0], [-1, 1]), NUMBERS[:, 1] > 0, NUMBERS[:, 2] > 0.5]).astype(int)
LEVELS[0, 0] = 3  # a level that occurs once, in one stratum only


@each_design
@pytest.mark.parametrize("given", [[], [2]])
def test_contingency_tables_are_rao_and_scotts_of_the_second_order(design, given):
    weights, clusters = as_arrays(design)
    strata = LEVELS[:, 2] if given else np.zeros(N)
    x2, g2, p_x2, p_g2, dof = contingency(LEVELS[:, 0], LEVELS[:, 1], strata, weights, clusters)
    for name, statistic, p in (("chi2", x2, p_x2), ("g2", g2, p_g2)):
        found = bf.get_ci_test(name, min_samples_per_cell=0).bind(LEVELS, **design).test(0, 1, given)
        assert found[0] == pytest.approx(statistic) and found.dof == dof and found.n == N
        assert found.p_value == pytest.approx(p, rel=1e-7)
    back = bf.get_ci_test("g2", min_samples_per_cell=0).bind(LEVELS, **design).test(1, 0, given)
    np.testing.assert_allclose(back[:4], found[:4], rtol=1e-9)


@each_design
def test_a_set_of_columns_is_one_variable_of_their_combinations(design):
    joint = np.column_stack([LEVELS, np.unique(LEVELS[:, [0, 2]], axis=0, return_inverse=True)[1]])
    bound = bf.get_ci_test("g2", min_samples_per_cell=0).bind(joint, **design)
    np.testing.assert_allclose(bound.test([0, 2], 1)[:4], bound.test(3, 1)[:4], rtol=1e-9)


def test_without_a_design_of_its_own_the_correction_is_small():
    """Rows that are drawn by themselves, with equal weights: mean eigenvalue 1, so that F is close to chi-square."""
    X = np.random.default_rng(2).integers(0, 3, size=(5000, 3))
    plain, designed = (bf.get_ci_test("chi2").bind(X, **one) for one in ({}, {"groups": np.arange(5000)}))
    assert designed.test(0, 1, [2]).p_value == pytest.approx(plain.test(0, 1, [2]).p_value, abs=0.01)


def test_twins_halve_the_statistic():
    """By hand: each row twice as one cluster doubles X2 and every eigenvalue, so that p is that of the rows once."""
    rows = np.random.default_rng(3).integers(0, 2, size=(200, 2))
    once = bf.get_ci_test("chi2").bind(rows, groups=np.arange(200)).test(0, 1)
    twice = bf.get_ci_test("chi2").bind(np.repeat(rows, 2, axis=0), groups=np.arange(400) // 2).test(0, 1)
    assert twice.statistic == pytest.approx(2 * once.statistic) and twice.p_value == pytest.approx(once.p_value)


def test_weighted_information_is_that_of_the_repeated_rows():
    counts = np.random.default_rng(4).integers(1, 4, N)
    weighted = bf.get_ci_test("g2").bind(LEVELS, sample_weight=counts, weights_are="sampling")
    repeated = bf.get_ci_test("g2").bind(np.repeat(LEVELS, counts, axis=0))
    for given in ([], [2]):
        found, expected = (one.mutual_information(np.array([0]), 1, given) for one in (weighted, repeated))
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        np.testing.assert_allclose(*(one.entropy(np.array([0]), given) for one in (weighted, repeated)), rtol=1e-12)
    as_results = weighted.test_config.mutual_information(weighted.test_many(np.array([0]), 1))
    np.testing.assert_allclose(as_results, weighted.mutual_information(np.array([0]), 1))


def test_labels_that_are_almost_all_different_take_no_more_memory_than_rows():
    """Three such columns have far more cells than could be counted one by one: 2e13."""
    n = 30_000
    table = np.random.default_rng(0).permuted(np.tile(np.arange(n), (3, 1)), axis=1).T.astype(str)
    weights = np.arange(1.0, n + 1)
    bound = bf.get_ci_test("g2").bind(table, sample_weight=weights, weights_are="sampling")
    found = bound.test(0, 1, [2])
    assert found.p_value == 1 and not found.reliable
    shares = weights / weights.sum()
    assert bound.mutual_information(np.array([0]), 1) == pytest.approx(-np.sum(shares * np.log(shares)))


def test_tables_beyond_the_limit_are_not_reliable(monkeypatch):
    monkeypatch.setattr("blanketflow.ci.contingency.contingency.MOST_NUMBERS", 30)
    found = bf.get_ci_test("g2").bind(LEVELS, groups=CLUSTERS).test(1, 2)
    assert found.p_value == 1 and not found.reliable


MIXED = pd.DataFrame(
    {
        "dose": NUMBERS[:, 0],
        "age": NUMBERS[:, 1],
        "site": np.array(["a", "b", "c"])[np.digitize(NUMBERS[:, 2], [-1, 1])],
        "outcome": np.where(NUMBERS[:, 3] + RNG.logistic(size=N) > 0, "yes", "no"),
    }
)


@each_design
def test_lr_mixed_of_numbers_is_fisher_z(design):
    ours, theirs = (bf.get_ci_test(name).bind(NUMBERS, **design) for name in ("lr-mixed", "fisher-z"))
    found, expected = (one.test(0, 1, [2, 3]) for one in (ours, theirs))
    assert found.p_value == pytest.approx(expected.p_value, rel=1e-8)
    assert found.statistic == pytest.approx(-N * np.log(1 - np.tanh(expected.statistic / np.sqrt(N - 5)) ** 2))


@each_design
@pytest.mark.parametrize("response", ["site", "outcome"])
def test_logistic_regressions_are_score_tests_by_clusters(design, response):
    weights, clusters = as_arrays(design)
    y, given = MIXED[response].to_numpy(), [MIXED["age"].to_numpy()]
    dose, levels = MIXED["dose"].to_numpy(), [(y == level).astype(float) for level in np.unique(y)[1:]]

    def whitened_by(weights):
        scores, information = logistic_scores(y, dose, given, weights)
        return scores @ np.linalg.inv(np.linalg.cholesky(information)).T

    whitened = whitened_by(own_weights(weights, [dose, *levels, *given]))
    squared = np.sum(whitened.sum(axis=0) ** 2)
    rest = len(np.unique(clusters)) - 2
    expected = rao_scott_p(squared, variance_of_sum(whitened, clusters, 1), rest)
    found = bf.get_ci_test("lr-mixed", directions="target").bind(MIXED, **design).test("dose", response, ["age"])
    assert found.p_value == pytest.approx(expected, rel=1e-5)
    score_test = np.sum(whitened_by(weights).sum(axis=0) ** 2)
    assert found.statistic == pytest.approx(score_test, rel=0.5)  # the likelihood ratio is near its score test


@each_design
@pytest.mark.parametrize(("x", "y", "given"), [("dose", "site", []), ("site", "outcome", ["age"]), ("dose", "age", [])])
def test_lr_mixed_is_symmetric(design, x, y, given):
    there, back = (bf.get_ci_test("lr-mixed", unreliable="use").bind(MIXED, **design) for _ in range(2))
    np.testing.assert_allclose(there.test(x, y, given)[:4], back.test(y, x, given)[:4], rtol=1e-8)


@each_design
def test_what_separates_the_classes_leaves_nothing_to_explain(design):
    table = pd.DataFrame({"x": NUMBERS[:, 0], "other": NUMBERS[:, 1], "y": np.where(NUMBERS[:, 0] > 0, "p", "q")})
    found = bf.get_ci_test("lr-mixed", directions="target").bind(table, **design).test("other", "y", ["x"])
    assert found.p_value == 1 and found.statistic == pytest.approx(0, abs=1e-9)


def test_lr_mixed_with_too_few_clusters_is_not_reliable():
    found = bf.get_ci_test("lr-mixed").bind(NUMBERS, groups=np.arange(N) % 3).test(0, 1, [2, 3])
    assert found.p_value == 1 and not found.reliable


@each_design
def test_two_sets_are_rao_and_scotts_of_all_products(design):
    """As groups of features are tested with each other: of one column each, a pair is that of the columns."""
    weights, clusters = as_arrays(design)
    engine = bf.get_ci_test("fisher-z").bind(NUMBERS, **design).engine
    found, of_columns = engine.evaluate_pair((0, 4), (1, 3), (2,))[0], engine.evaluate_pair((0,), (1,), (2,))[0]
    assert of_columns.p_value == pytest.approx(engine.evaluate([0], 1, (2,)).p_value[0], rel=1e-9)
    sides, own = [], own_weights(weights, NUMBERS.T)
    for columns in ((0, 4), (1, 3)):
        side = np.array([residual(NUMBERS[:, j], [NUMBERS[:, 2]], own) for j in columns]).T
        sides.append(side @ np.linalg.inv(np.linalg.cholesky(side.T @ (own[:, None] * side)).T))
    scores = np.array([own * a * b for a in sides[0].T for b in sides[1].T]).T
    squared, rest = np.sum(scores.sum(axis=0) ** 2), len(np.unique(clusters)) - 2
    assert found.p_value == pytest.approx(rao_scott_p(squared, variance_of_sum(scores, clusters, 1), rest), rel=1e-7)


def test_groups_of_features_are_tested_by_clusters():
    """A pair by regressions is Bonferroni's of its links, and a group of levels one column of the combinations."""
    table = as_table(NUMBERS).with_design(Design(clusters=CLUSTERS))
    engine = bf.get_ci_test("lr-mixed").bind(table).engine
    links = [engine.evaluate_sets([(0, 4)], y, given)[0].p_value for y, given in ((1, (2,)), (3, (1, 2)))]
    assert engine.evaluate_pair((0, 4), (1, 3), (2,))[0].p_value == pytest.approx(min(1, 2 * min(links)))
    levels = as_table(LEVELS).with_design(Design(clusters=CLUSTERS))
    grouped = bind_groups(bf.get_ci_test("g2", min_samples_per_cell=0), levels, {"both": ["x0", "x2"]})
    plain = bf.get_ci_test("g2", min_samples_per_cell=0).bind(levels)
    assert grouped.test("both", "x1").p_value == pytest.approx(plain.test(["x0", "x2"], "x1").p_value)


def test_strata_inside_clusters_cost_no_degrees_of_freedom():
    """Tested within its clusters a table has as many degrees of freedom as clusters, less one and the given columns."""
    site = np.arange(N) % 12
    bound = bf.get_ci_test("fisher-z").bind(as_table(NUMBERS).with_design(Design(clusters=site, within=site)))
    centred = NUMBERS - np.array([NUMBERS[site == one].mean(axis=0) for one in range(12)])[site]
    expected = t_test_of_totals(centred[:, 0], centred[:, 1], [centred[:, 2]], np.ones(N), site)
    assert bound.test(0, 1, [2]).p_value == pytest.approx(expected, rel=1e-7)


#: What a search and a bound test can be told of rows, by what the weights are.
TOLD = [
    (weights_are, design)
    for weights_are in ("counts", "sampling")
    for design in ({}, {"groups": CLUSTERS}, {"groups": LEVELS[:, 2], "within": LEVELS[:, 2]}, {"within": LEVELS[:, 2]})
]


@pytest.mark.parametrize(("weights_are", "design"), TOLD)
@pytest.mark.parametrize("name", ["fisher-z", "g2", "chi2", "lr-mixed"])
def test_weights_mean_the_same_for_a_bound_test_and_a_search(name, weights_are, design):
    """The marginal tests of a search are those of the test that is bound to features and target with the same rows."""
    rng = np.random.default_rng(7)
    weights = rng.integers(0, 4, N)
    X = pd.DataFrame(LEVELS if name in ("g2", "chi2") else NUMBERS[:, :3], columns=["a", "b", "c"])
    X["site"] = np.where(weights == 0, "nowhere", np.array(["here", "there"])[rng.integers(0, 2, N)])
    X = X if name in ("g2", "lr-mixed") else X.drop(columns="site")
    y = pd.Series(LEVELS[:, 1] if name in ("g2", "chi2") else NUMBERS[:, 1] + rng.normal(size=N), name="y")
    test = bf.get_ci_test(name)
    bound = test.bind(X.assign(y=y), sample_weight=weights, weights_are=weights_are, **design)
    fitted = bf.GS(ci_test=test, alpha=0.999, weights_are=weights_are).fit(X, y, sample_weight=weights, **design)
    first = fitted.trace_.iloc[0]
    found = bound.test(first["feature"], "y")
    assert (first["statistic"], first["p_value"]) == pytest.approx((found.statistic, found.p_value), rel=1e-9)


def test_rows_of_weight_zero_leave_before_anything_is_made_of_them():
    rng = np.random.default_rng(8)
    weights = np.where(np.arange(N) % 3 == 0, 0, rng.integers(1, 4, N))
    kept = weights > 0
    wild = np.where(kept[:, np.newaxis], NUMBERS, 1e9)  # which would move every border of a bin
    for weights_are in ("counts", "sampling"):
        for name in ("g2", "fisher-z"):
            test = bf.get_ci_test(name)
            found = test.bind(wild, sample_weight=weights, weights_are=weights_are, groups=CLUSTERS)
            rest = test.bind(NUMBERS[kept], sample_weight=weights[kept], weights_are=weights_are, groups=CLUSTERS[kept])
            assert found.test(0, 1, [2]) == rest.test(0, 1, [2])
    repeated = bf.get_ci_test("g2").bind(np.repeat(NUMBERS, weights, axis=0)).test(0, 1, [2])
    assert bf.get_ci_test("g2").bind(NUMBERS, sample_weight=weights).test(0, 1, [2]) == repeated


def test_weights_that_count_are_refused_where_single_rows_are_drawn():
    with pytest.raises(UnsupportedError, match="mi-permutation draws, permutes or compares single rows"):
        bf.get_ci_test("mi-permutation").bind(NUMBERS, sample_weight=np.arange(N))
    once = bf.get_ci_test("mi-permutation").bind(NUMBERS, sample_weight=np.ones(N)).test(0, 1)
    assert once == bf.get_ci_test("mi-permutation").bind(NUMBERS).test(0, 1)
    with pytest.raises(ParameterError, match="weights_are"):
        bf.get_ci_test("g2").bind(NUMBERS, sample_weight=np.ones(N), weights_are="shares")
