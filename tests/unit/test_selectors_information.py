"""The filters by mutual information against their formulas, worked examples, identities and recorded orders."""

import functools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

import blanketflow as bf
import literal_information as literal
from blanketflow.core.errors import UnsupportedError
from blanketflow.moves import greedy_ranking
from literal import golden

LOG2 = np.log(2)
CRITERIA = {
    "mim": ({}, literal.mim),
    "mifs": ({}, literal.mifs),
    "mifs, beta 0.3": ({"beta": 0.3}, functools.partial(literal.mifs, beta=0.3)),
    "mrmr": ({}, literal.mrmr),
    "cife": ({}, literal.cife),
    "jmi": ({}, literal.jmi),
    "disr": ({}, literal.disr),
    "cmim": ({}, literal.cmim),
    "if": ({}, literal.informative_fragments),
    "mri": ({}, literal.mri),
    "relax-mrmr": ({}, literal.relax_mrmr),
    "relax-mrmr, eq. 44": ({"variant": "eq44"}, literal.relax_mrmr_eq44),
    "mimr": ({}, literal.mimr),
    "mimr, balance 0.2": ({"balance": 0.2}, functools.partial(literal.mimr, balance=0.2)),
}
every_criterion = pytest.mark.parametrize("case", CRITERIA)


def rank(name, X, y, psi, information="plug-in", **options):
    options = {**options, "information": information}
    fitted = bf.get_selector(name, n_features=psi, **options).fit(X, y)
    statistic = fitted.trace_.query("stage == 'grow'")["statistic"].to_numpy(dtype=float)
    return [int(feature[1:]) for feature in fitted.selected_features_], statistic


def discrete_table(seed, n=40, d=6):
    """Few rows and few levels, so that ties are common; a copy and a relabelled copy among the columns."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, rng.integers(1, 4, d), (n, d))
    X[:, 2] = X[:, 0] if seed % 2 else X[:, 1].max() - X[:, 1]
    y = (X[:, 0] + X[:, d - 1] * X[:, 1] + (rng.random(n) < 0.2)) % 3
    return X, y


@pytest.mark.parametrize("psi", [1, 3, 4, 6])
@pytest.mark.parametrize("seed", range(6))
def test_mim_sorts_the_others_after_included_features_and_ties_go_by_name(seed, psi):
    X, y = discrete_table(seed)
    X[:, 4], X[:, 5] = X[:, 0], y  # ties, and no constant column: which is not ranked
    X[:, 1], X[:, 2], X[:, 3] = np.roll(y, 1), X[:, 0], np.roll(y, 1)
    fitted = bf.get_selector("mim", n_features=psi, information="plug-in", include=["x4", "x1"]).fit(X, y)
    relevance = [round(mutual_info_score(X[:, j], y), 12) for j in range(6)]
    others = sorted((0, 2, 3, 5), key=lambda j: (-relevance[j], j))
    assert fitted.trace_.query("stage == 'grow'")["feature"].tolist() == [f"x{j}" for j in (1, 4, *others)[:psi]]


@every_criterion
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_equals_the_formula_evaluated_from_scratch(case, seed):
    options, criterion = CRITERIA[case]
    X, y = discrete_table(seed)
    wanted, scores = literal.ranking(X, y, 5, criterion)
    found, statistic = rank(case.split(",")[0], X, y, 5, **options)
    np.testing.assert_allclose(statistic, scores, atol=1e-10)
    assert found == wanted


@every_criterion
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_adjusted_for_chance_equals_the_formula_evaluated_from_scratch(case, seed):
    X, y = discrete_table(seed)
    X[:, 4] = np.random.default_rng(seed).permutation(len(X)) // 2
    wanted, scores = literal.ranking(X, y, 5, literal.ADJUSTED[case.replace(", beta 0.3", "")])
    options = {} if "beta" in case else CRITERIA[case][0]
    found, statistic = rank(case.split(",")[0], X, y, 5, "adjusted", ci_test=bf.get_ci_test("g2", bins=30), **options)
    np.testing.assert_allclose(statistic, scores, atol=1e-10)
    assert found == wanted


@every_criterion
def test_a_shorter_ranking_begins_a_longer_one(case):
    X, y = discrete_table(7, n=80, d=9)
    name, options = case.split(",")[0], CRITERIA[case][0]
    longest = rank(name, X, y, 9, **options)[0]
    for psi in range(1, 9):
        assert rank(name, X, y, psi, **options)[0] == longest[:psi]


def test_hand_worked_rankings():
    """Two independent bits b1, b2 and y = (b1, b2), eight rows of each combination; log 2 is 1 bit, all else is 0.

    x0 = b1, x1 = b1 again, x2 = b2, x3 constant, which is not ranked. I(x;y) = 1 bit for x0, x1, x2. Given x0 the copy
    x1 tells nothing, x2 1 bit; I(x1;x0) = 1 bit, also given y: 0, because y knows b1; I(x2;x0) = 0.
    """
    b1, b2 = np.repeat([0, 0, 1, 1], 8), np.repeat([0, 1, 0, 1], 8)
    X, y = np.column_stack([b1, b1, b2, 0 * b1]), 2 * b1 + b2
    bit = LOG2
    worked = {
        "mim": ([0, 1, 2], [bit, bit, bit]),
        "mifs": ([0, 2, 1], [bit, bit, 0]),
        "mrmr": ([0, 2, 1], [bit, bit, bit / 2]),
        "cife": ([0, 2, 1], [bit, bit, 0]),
        "cmim": ([0, 2, 1], [bit, bit, 0]),
        "if": ([0, 2, 1], [bit, bit, 0]),
    }
    # jmi, third: x1 has mean of I(x1;y|x0) = 0 and I(x1;y|x2) = 1 bit.
    worked["jmi"] = ([0, 2, 1], [bit, bit, bit / 2])
    # relax-mrmr, third: jmi's bit / 2, minus the mean of I(x1;x0|x2) = 1 bit and I(x1;x2|x0) = 0.
    worked["relax-mrmr"] = ([0, 2, 1], [bit, bit, 0])
    # mimr: half of jmi's.
    worked["mimr"] = ([0, 2, 1], [bit / 2, bit / 2, bit / 4])
    # mri, second: x1: 1 + 0 + 0; x2: 1 + 1 + 1. Third: x1: 1 + (0 + 0) + (1 + 1).
    worked["mri"] = ([0, 2, 1], [bit, 3 * bit, 3 * bit])
    # disr, second: I(x1,x0;y) = 1 bit of H(x1,x0,y) = 2 bits; x2: 2 of 2. Third: x1: 1/2 + 2/2.
    worked["disr"] = ([0, 2, 1], [bit, 1.0, 1.5])
    for name, (order, scores) in worked.items():
        found, statistic = rank(name, X, y, 4)
        assert found == order, name
        np.testing.assert_allclose(statistic, scores, atol=1e-12, err_msg=name)


def test_if_takes_what_cmim_cannot_see():
    """y is the parity of x0 and x2, and x1 is noise: each tells nothing by itself, x2 all of y once x0 is known."""
    x0, x2 = np.repeat([0, 0, 1, 1], 10), np.repeat([0, 1, 0, 1], 10)
    X, y = np.column_stack([x0, np.tile([0, 1], 20), x2]), x0 ^ x2
    order, scores = rank("if", X, y, 3)
    assert order == [0, 2, 1]
    np.testing.assert_allclose(scores, [0, LOG2, 0], atol=1e-12)
    order, scores = rank("cmim", X, y, 3)
    assert order == [0, 1, 2]
    np.testing.assert_allclose(scores, 0, atol=1e-12)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
@example(4073)
def test_identities(seed):
    X, y = discrete_table(seed, n=60, d=8)
    jmi, jmi_scores = rank("jmi", X, y, 8)
    mimr, mimr_scores = rank("mimr", X, y, 8, balance=0.5, start="single")
    np.testing.assert_allclose(mimr_scores, jmi_scores / 2, atol=1e-10)
    assert mimr == jmi
    assert rank("mifs", X, y, 8, beta=0)[0] == rank("mimr", X, y, 8, balance=0)[0] == rank("mim", X, y, 8)[0]
    # cmim is the minimum of `if` and the relevance, as long as both rank alike.
    fragments, scores = rank("if", X, y, 2)
    if rank("cmim", X, y, 2)[0] == fragments and len(fragments) == 2:  # all other columns may be constant
        relevance = literal.information(X[:, fragments[1]], y)
        assert rank("cmim", X, y, 2)[1][1] == pytest.approx(min(scores[1], relevance), abs=1e-10)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), balance=st.sampled_from([0.1, 0.5, 0.9]))
def test_mimr_from_the_best_pair(seed, balance):
    X, y = discrete_table(seed)
    pair = literal.best_pair(X, y, balance)
    wanted = literal.ranking(X, y, 5, functools.partial(literal.mimr, balance=balance), first=pair)[0]
    assert rank("mimr", X, y, 5, balance=balance, start="pair")[0] == wanted


@pytest.mark.parametrize("name", ["mim", "mrmr", "jmi", "cmim", "disr"])
@pytest.mark.parametrize("table", ["wide_1000", "wide_100000"])
def test_the_recorded_order_of_feast_and_praznik(name, table):
    recorded = json.loads(golden("filters.json").read_text())[table]
    if name not in recorded:
        pytest.skip(f"{name} was not recorded on {table}")
    arrays = np.load(golden(f"{table}.npz"))
    assert rank(name, arrays["X"], arrays["y"], 20)[0] == recorded[name]


def test_mim_ranks_by_scikit_learns_mutual_information():
    from sklearn.feature_selection import mutual_info_classif

    X, y = discrete_table(5, n=200, d=12)
    wanted = mutual_info_classif(X, y, discrete_features=True)
    order, statistic = rank("mim", X, y, 12)
    np.testing.assert_allclose(statistic, wanted[order], atol=1e-12)
    assert (np.diff(wanted[order]) <= 1e-12).all()


@pytest.mark.parametrize("name", ["cmim", "if"])
@pytest.mark.parametrize("n_followed", [1, 2, 5, 1000])
def test_lazy_evaluation_changes_nothing(name, n_followed, monkeypatch):
    X, y = discrete_table(3, n=50, d=40)
    monkeypatch.setattr(greedy_ranking, "FOLLOWED", n_followed)
    found = rank(name, X, y, 40)
    wanted = literal.ranking(X, y, 40, CRITERIA[name][1])
    assert found[0] == wanted[0]
    np.testing.assert_allclose(found[1], wanted[1], atol=1e-10)


@pytest.mark.parametrize("n_levels", [2, 10])
def test_cmim_is_lazy(n_levels):
    rng = np.random.default_rng(0)
    X = rng.integers(0, n_levels, (300, 2000), dtype=np.int8)
    y = (X[:, 5] == 1) | (X[:, 6] == 1) | (X[:, 7] == 1)
    psi = 10
    options = {"n_features": psi, "information": "plug-in"}
    lazy, full = (bf.get_selector(name, **options).fit(X, y) for name in ("cmim", "jmi"))
    assert lazy.n_tests_ - 2000 < 0.1 * (full.n_tests_ - 2000)
    assert full.n_tests_ == sum(2000 - k for k in range(psi))  # the marginal ones, then one for each feature left


def test_cmim_updates_all_where_the_first_feature_says_what_the_others_say():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = np.where(rng.random((300, 1000)) < 0.1, 1 - y[:, np.newaxis], y[:, np.newaxis])
    X[:, :900] = X[:, :1]  # copies say nothing more
    found = rank("cmim", X, y, 8)
    wanted = literal.ranking(X[:, [0, *range(900, 1000)]], y, 8, literal.cmim)
    assert found[0] == [at + 899 if at else 0 for at in wanted[0]]


def test_numbers_of_mutual_informations():
    X, y = np.random.default_rng(0).integers(0, 3, (50, 12)), np.arange(50) % 2
    left = [12 - k for k in range(1, 4)]  # of four steps the last looks no further
    wanted = {"mim": 0, "mrmr": 1, "mifs": 1, "jmi": 1, "mri": 1, "cife": 2, "mimr": 2}
    for name, each in wanted.items():
        assert bf.get_selector(name, n_features=4).fit(X, y).n_tests_ == 12 + each * sum(left)
    second_order = 2 * left[1] * 1 + 2 * left[2] * 2
    assert bf.get_selector("relax-mrmr", n_features=4).fit(X, y).n_tests_ == 12 + 2 * sum(left) + second_order


def test_regression_targets_are_binned_on_the_rows_at_hand():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = np.abs(X[:, 3]) + 0.1 * rng.normal(size=400)
    codes = [np.searchsorted(np.quantile(v, np.arange(1, 5) / 5), v) for v in (*X.T, y)]
    wanted = literal.ranking(np.column_stack(codes[:-1]), codes[-1], 6, literal.jmi)[0]
    assert rank("jmi", X, y, 6)[0] == wanted
    assert wanted[0] == 3


@pytest.mark.parametrize("name", ["disr", "fcbf"])
def test_a_test_without_entropies_is_refused(name):
    with pytest.raises(UnsupportedError, match=f"{name} needs a test that measures entropy, which fisher-z"):
        bf.get_selector(name, ci_test="fisher-z").fit(np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) / 7)


def test_keeps_all_features_when_there_are_fewer():
    X = np.random.default_rng(0).integers(0, 2, size=(30, 3))
    assert sorted(rank("mrmr", X, X[:, 0], 10)[0]) == [0, 1, 2]


def test_a_test_without_mutual_information_is_refused():
    with pytest.raises(UnsupportedError, match="mrmr needs a test that measures mutual-information, which ppi"):
        bf.MRMR(ci_test="ppi").fit(np.eye(10), np.arange(10) % 2)


def test_gaussian_columns_are_ranked_by_their_correlations():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 300))
    X = np.column_stack([a, a + 0.2 * rng.normal(size=300), b, c])
    y = 2 * a + b + 0.5 * rng.normal(size=300)

    def information(u, v):
        return -np.log(1 - np.corrcoef(u, v)[0, 1] ** 2) / 2

    first = max(range(4), key=lambda j: information(X[:, j], y))
    second = max(set(range(4)) - {first}, key=lambda j: information(X[:, j], y) - information(X[:, j], X[:, first]))
    assert rank("mrmr", X, y, 2, ci_test="fisher-z")[0] == [first, second]


# --- fcbf -------------------------------------------------------------------------------------------------------------


def test_fcbf_by_hand():
    """y has two bits b1, b2. a = (b1, b2) is y, b = b1, c = b1 again, d is nothing: SU(a,y) = 1, SU(b,y) = 2/3.

    a stands first and removes b and c: SU(a,b) = 2/3 >= SU(b,y). Without a, b removes its copy: SU(b,c) = 1.
    """
    b1, b2 = np.repeat([0, 0, 1, 1], 5), np.repeat([0, 1, 0, 1], 5)
    X = pd.DataFrame({"b": b1, "a": 2 * b1 + b2, "c": b1, "d": np.tile(np.arange(5), 4)})
    y = 2 * b1 + b2
    literally = {"information": "plug-in", "alpha": None}
    fitted = bf.FCBF(**literally).fit(X, y)
    assert fitted.candidates_ == ["a", "b", "c"]
    assert fitted.selected_features_ == ["a"]
    removed = fitted.trace_.query("stage == 'shrink' and not kept")
    assert dict(zip(removed["feature"], removed["given"], strict=True)) == {"b": ["a"], "c": ["a"]}
    np.testing.assert_allclose(removed["statistic"], 2 / 3)
    assert bf.FCBF(**literally).fit(X.drop(columns="a"), y).selected_features_ == ["b"]
    assert bf.FCBF(**literally, threshold=0.7).fit(X, y).candidates_ == ["a"]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), threshold=st.sampled_from([0.0, 0.05]))
def test_fcbf_equals_its_two_steps_from_scratch(seed, threshold):
    X, y = discrete_table(seed, d=9)
    found = bf.FCBF(threshold=threshold, alpha=None, information="plug-in").fit(X, y).selected_features_
    assert [int(feature[1:]) for feature in found] == literal.fcbf(X, y, threshold)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), alpha=st.sampled_from([0.01, 0.05, 0.5, None]))
def test_fcbf_adjusted_for_chance_equals_its_two_steps_from_scratch(seed, alpha):
    X, y = discrete_table(seed, d=9)
    X[:, 5] = np.random.default_rng(seed).permutation(len(X)) // 2
    found = bf.FCBF(ci_test=bf.get_ci_test("g2", bins=30), alpha=alpha).fit(X, y).selected_features_
    assert [int(feature[1:]) for feature in found] == literal.fcbf(X, y, 0.0, alpha, literal.loss)


def test_fcbf_keeps_of_noise_what_its_level_says():
    rng, kept = np.random.default_rng(0), []
    for _ in range(60):
        X, y = rng.normal(size=(150, 30)), rng.integers(0, 3, 150)
        kept.append(len(bf.FCBF().fit(X, y).selected_features_))
    assert 0 < np.mean(kept) < 0.05 * 30 + 4 * np.sqrt(0.05 * 0.95 * 30 / 60)


# --- labels of many levels --------------------------------------------------------------------------------------------

RANKINGS = sorted({case.split(",")[0] for case in CRITERIA} | {"fcbf", "koller-sahami"})


@pytest.mark.parametrize("name", RANKINGS)
def test_labels_of_many_levels_come_after_what_tells_the_target(name):
    """200 rows: names of one row each, of 2 and of 3 rows, and two columns that the target depends on.

    Backward elimination judges all given each other, where few rows are left, and errs more often.
    """
    options = {"fcbf": {}, "koller-sahami": {"n_features": 2}}.get(name, {"n_features": 2})
    first = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        a, b = rng.normal(size=(2, 200))
        X = pd.DataFrame({"each": np.arange(200), "pairs": rng.integers(0, 100, 200), "more": rng.integers(0, 60, 200)})
        X = ("i" + X.astype(str)).assign(a=a, b=b)
        y = np.where(a + b + 1.2 * rng.normal(size=200) > 0, "p", "q")
        first += {*bf.get_selector(name, **options).fit(X, y).selected_features_[:2]} == {"a", "b"}
        literally = {**options, "information": "plug-in", **({"alpha": None} if name == "fcbf" else {})}
        found = bf.get_selector(name, **literally).fit(X, y).selected_features_
        assert found[0] in ("each", "pairs", "more")
    assert first == 8 if name != "koller-sahami" else first >= 5
