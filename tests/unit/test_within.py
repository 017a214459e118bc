"""CI tests within strata, such as sites: beside the same tests with the strata as a column that is always given."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import blanketflow as bf
from blanketflow.api.compare import compare_config
from blanketflow.api.select_command import select
from blanketflow.ci import get_ci_test
from blanketflow.ci.clusters import Exchange
from blanketflow.ci.predictive.cpi import exchanged
from blanketflow.ci.predictive.risk_differences import draw_repeats
from blanketflow.core.convert import as_table
from blanketflow.core.errors import BlanketflowError, DataError, UnsupportedError
from blanketflow.core.table import Column, Design
from blanketflow.data.sources import read_source

SITE = np.random.default_rng(9).integers(0, 4, 300)


def cells(rng=None):
    """Three numbers that a site shifts; `c` depends on `a` within sites, and `b` on neither."""
    rng = rng or np.random.default_rng(0)
    a, b = (np.array([-2.0, 0, 1, 3])[SITE] + rng.normal(size=len(SITE)) for _ in "ab")
    return pd.DataFrame({"a": a, "b": b, "c": a + rng.normal(size=len(SITE))})


def within(frame):
    return as_table(frame).with_design(Design(within=SITE))


def test_fisher_z_has_an_intercept_for_each_site():
    frame = cells()
    bound = get_ci_test("fisher-z").bind(within(frame))
    for given in ([], ["c"]):
        basis = np.column_stack([np.eye(4)[SITE], frame[given]])
        left = [frame[x] - basis @ np.linalg.lstsq(basis, frame[x], rcond=None)[0] for x in ("a", "b")]
        r = np.corrcoef(*left)[0, 1]
        p = 2 * norm.sf(abs(np.arctanh(r)) * np.sqrt(len(frame) - len(given) - 3 - 3))
        assert bound.test("a", "b", given).p_value == pytest.approx(p)
    assert bound.n_tests == 2 and bound.test("b", "a").p_value > 0.05 > bound.test("a", "c").p_value
    assert bound.n_tests == 3  # the second was known


@pytest.mark.parametrize("name", ["g2", "chi2", "lr-mixed"])
def test_other_tests_are_given_the_site(name):
    frame = (cells() > 0.5).astype(int) if name != "lr-mixed" else cells()
    longer = frame.assign(site=pd.Categorical(SITE))
    ours, theirs = get_ci_test(name).bind(within(frame)), get_ci_test(name).bind(longer)
    for given in ([], ["c"]):
        found, wanted = ours.test_many(["b"], "a", given)[0], theirs.test("b", "a", [*given, "site"])
        assert (found.statistic, found.dof, found.reliable) == pytest.approx(
            (wanted.statistic, wanted.dof, wanted.reliable)
        )
    assert ours.samples_per_cell("a", "b") == theirs.samples_per_cell("a", "b", ["site"])
    assert ours.answerable(["b"], "a", ["c"]) == theirs.answerable(["b"], "a", ["c", "site"])
    if name == "g2":
        information = ours.mutual_information(np.array([1]), "a")
        assert information == pytest.approx(theirs.mutual_information(np.array([1]), "a", ["site"]))
        with pytest.raises(UnsupportedError, match="entropies are not measured within strata"):
            ours.entropy(np.array([1]))


def test_mi_permutation_permutes_within_sites():
    bound = get_ci_test("mi-permutation").bind(within(cells()))
    assert bound.test("a", "b").p_value > 0.05 > bound.test("a", "c").p_value


def test_ppi_permutes_within_sites():
    repeats = draw_repeats(300, 20, 0.2, 3, strata=SITE)
    plain = draw_repeats(300, 20, 0.2, 3)
    assert np.array_equal(repeats.test_rows, plain.test_rows)
    assert np.array_equal(SITE[repeats.test_rows], SITE[repeats.permuted_rows])
    assert not np.array_equal(repeats.test_rows, repeats.permuted_rows)
    test = get_ci_test("ppi", n_repeats=10, significance="corrected-t").bind(within(cells()))
    assert test.test("a", "b").p_value > 0.05 > test.test("a", "c").p_value


def test_a_copy_keeps_its_relation_to_z_within_each_site():
    rng, frame = np.random.default_rng(1), cells()
    Z = frame[["a"]].to_numpy()
    [copy] = exchanged([Column("c", "numeric", frame["c"].to_numpy())], Z, Exchange.of("rows", 300, None, SITE), rng)
    basis = np.column_stack([np.eye(4)[SITE], Z])
    residual = frame["c"] - basis @ np.linalg.lstsq(basis, frame["c"], rcond=None)[0]
    moved = copy.numbers() - (frame["c"] - residual)
    for rows in (np.flatnonzero(site == SITE) for site in range(4)):
        assert sorted(moved[rows]) == pytest.approx(sorted(residual[rows]))


@pytest.mark.parametrize("name", ["cpi", "hsic"])
def test_rates_within_sites(name):
    options = {"model": "ridge"} if name == "cpi" else {}
    rng = np.random.default_rng(2)
    p = []
    for _ in range(20):
        test = get_ci_test(name, **options).bind(within(cells(rng)))
        p.append([test.test("a", "b").p_value, test.test("a", "b", ["c"]).p_value, test.test("a", "c").p_value])
    assert (np.array(p) <= 0.05).sum(axis=0)[:2].max() <= 4 and np.max(np.array(p)[:, 2]) < 0.01


def test_a_search_leaves_out_what_only_the_site_explains(tmp_path):
    frame = cells()
    X, y = frame[["b", "c"]], frame["a"]
    test = {"ci_test": "fisher-z"}
    assert set(bf.IAMB(**test).fit(X, y).selected_features_) == {"b", "c"}
    fitted = bf.IAMB(**test).fit(X, y, within=SITE)
    assert fitted.selected_features_ == ["c"]
    for groups in (SITE, np.array(list("dcab"))[SITE]):  # the same rows together, by other labels
        assert bf.IAMB(**test).fit(X, y, within=SITE, groups=groups).trace_.equals(fitted.trace_)
    shared = {"path": str(tmp_path / "study.csv"), "target": "a"}
    frame.assign(site=SITE).to_csv(tmp_path / "study.csv", index=False)
    config = {
        "datasets": {
            "within": {**shared, "within": "site"},
            "both": {**shared, "within": "site", "groups": "site"},
            "neither": {**shared, "drop": ["site"]},
        },
        "selectors": {"iamb": {"method": "iamb", **test}, "relief": {"method": "relief"}},
        "splits": {"evaluation": 0},
        "folds": 0,
    }
    found = compare_config(config)
    assert [found.blanket("iamb", name) for name in ("within", "both")] == [["c"], ["c"]]
    assert set(found.blanket("iamb", "neither")) == {"b", "c"}
    assert found.skipped.values.tolist() == [
        [name, "relief", "within is for CI tests, and relief uses none"] for name in ("within", "both")
    ]
    trace = fitted.trace_.query("stage == 'grow'")["p_value"].to_numpy()
    assert trace[0] == pytest.approx(get_ci_test("fisher-z").bind(within(frame)).test("c", "a").p_value)
    assert "CI tests are made within the 4 values of 'site'" in found.run.cards["within"]["notes"]
    for site, message in (("a", "column 'a' is within and cannot also be target"), ("sit", "Did you mean 'site'")):
        with pytest.raises(DataError, match=message):
            read_source("study", {**shared, "within": site}, 0)


@pytest.mark.parametrize(
    ("selector", "labels", "message"),
    [
        (bf.MIM(n_features=1), SITE[:5], "within have the shape"),
        (bf.Relief(n_features=1), SITE, "within is for CI tests, and relief uses none"),
        (bf.MRMR(n_features="auto"), SITE, "mrmr chooses n_features by models of rows, which knows no strata"),
        (bf.GS(confirm=0.5), SITE, "confirm does not test within strata"),
        (bf.GS(ci_test=bf.get_ci_test("oracle", arcs=[("a", "b"), ("b", "c")])), SITE, "asks a known network"),
        (bf.GS(ci_test="fisher-z"), np.arange(300), "each row has a value of within of its own"),
    ],
)
def test_what_does_not_go_with_it(selector, labels, message):
    frame = cells()
    with pytest.raises(BlanketflowError, match=message):
        selector.fit(frame[["b", "c"]], frame["a"], within=labels)


def test_the_command_that_writes_no_run_tests_within_too(tmp_path):
    frame = cells()
    frame.assign(site=SITE).to_csv(tmp_path / "study.csv", index=False)
    study = {"path": str(tmp_path / "study.csv"), "target": "a", "within": "site"}
    by_fisher_z = {"type": "fisher-z"}
    assert [row["feature"] for row in select(study, {"method": "iamb"}, by_fisher_z, 0).blanket] == ["c"]
    for method in ("relief", "srs"):
        with pytest.raises(BlanketflowError, match=rf"{method} .*Remove within, or choose another method"):
            select(study, {"method": method}, {}, 0)
    with pytest.raises(BlanketflowError, match="Name one column here"):
        select({"path": study["path"], "target": ["a", "b"]}, {"method": "iamb"}, by_fisher_z, 0)


def test_one_site_changes_nothing():
    frame = cells()
    plain, one = (as_table(frame).with_design(d) for d in (None, Design(within=np.zeros(300, dtype=int))))
    results = [get_ci_test("fisher-z").bind(table).test("a", "b", ["c"]) for table in (plain, one)]
    assert results[0] == results[1]
