"""Tests that exchange whole clusters, or rows within them, beside all exchanges that there are."""

import itertools
import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

import blanketflow as bf
from blanketflow.ci import get_ci_test
from blanketflow.ci.clusters import Exchange
from blanketflow.ci.predictive.cpi import exchanged, regression
from blanketflow.ci.predictive.risk_differences import draw_repeats
from blanketflow.ci.unbound import CLUSTERS, ROWS, WITHIN_CLUSTERS
from blanketflow.core.convert import as_table
from blanketflow.core.errors import DataError, DependentRowsWarning, ParameterError, UnreliableWarning, UnsupportedError
from blanketflow.core.table import Column, Design
from blanketflow.workflow.plan import make_plan
from literal import g2_by_hand

#: Five clusters of two rows, not side by side.
OF = np.array([3, 1, 0, 2, 4, 0, 1, 2, 3, 4])


def table_of(cells, clusters=OF):
    return as_table(np.column_stack(cells)).with_design(Design(clusters=clusters))


def all_exchanges(permute, clusters, strata):
    """Return from which row each row may have its value, of every exchange: literally, one by one."""
    if permute == WITHIN_CLUSTERS:
        units = [np.flatnonzero((clusters == c) & (strata == s)) for c in set(clusters) for s in set(strata)]
        orders = itertools.product(*(itertools.permutations(rows) for rows in units if len(rows)))
        places = np.concatenate([rows for rows in units if len(rows)])
        found = [dict(zip(places, itertools.chain(*order), strict=True)) for order in orders]
    else:
        rows_of = [
            [row for s in sorted(set(strata)) for row in np.flatnonzero((clusters == c) & (strata == s))]
            for c in sorted(set(clusters))
        ]
        found = []
        for order in itertools.permutations(rows_of):
            pairs = [pair for at, source in zip(rows_of, order, strict=True) for pair in zip(at, source, strict=True)]
            if all(strata[at] == strata[source] for at, source in pairs):
                found.append(dict(pairs))
    return {tuple(one[row] for row in range(len(clusters))) for one in found}


STRATA = {"none": np.zeros(10, dtype=int), "two": np.array([0, 1, 1, 0, 0, 0, 0, 1, 0, 0])}


@pytest.mark.parametrize("strata", STRATA)
@pytest.mark.parametrize("permute", [CLUSTERS, WITHIN_CLUSTERS])
def test_each_exchange_is_drawn_and_no_other(permute, strata):
    exchange, rng = Exchange.of(permute, 10, OF, STRATA[strata]), np.random.default_rng(0)
    drawn = [tuple(exchange.permutation(rng).tolist()) for _ in range(1500)]
    wanted = all_exchanges(permute, OF, STRATA[strata])
    assert set(drawn) == wanted and len(wanted) > 1
    most = max(drawn.count(one) for one in wanted)
    assert most < 1500 / len(wanted) + 6 * math.sqrt(1500 / len(wanted))


@pytest.mark.parametrize("strata", STRATA)
@pytest.mark.parametrize("permute", [CLUSTERS, WITHIN_CLUSTERS])
def test_mi_permutation_is_the_share_of_all_exchanges(permute, strata):
    rng, z = np.random.default_rng(5), STRATA[strata]
    x, y = rng.integers(0, 3, 10), rng.integers(0, 2, 10)
    observed = g2_by_hand(x, y, [z])
    found = [g2_by_hand(x, y[list(one)], [z]) >= observed - 1e-9 for one in all_exchanges(permute, OF, z)]
    draws, wanted = 20_000, np.mean(found)
    test = get_ci_test("mi-permutation", n_permutations=draws, enough_exceedances=10**9, permute=permute)
    result = test.bind(table_of([x, y, z])).test(0, 1, [2] if z.any() else [])
    assert result.p_value == pytest.approx(wanted, abs=5 * math.sqrt(wanted * (1 - wanted) / draws) + 2 / draws)
    assert 0.02 < wanted < 1


def test_hsic_is_the_share_of_all_exchanges():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 10))
    plain = get_ci_test("hsic")
    statistics = [
        plain.bind(np.column_stack([x, y[list(one)]])).test(0, 1).statistic
        for one in all_exchanges(CLUSTERS, OF, STRATA["none"])
    ]
    wanted = np.mean(np.array(statistics) >= plain.bind(np.column_stack([x, y])).test(0, 1).statistic * (1 - 1e-9))
    test = get_ci_test("hsic", null="permutation", n_permutations=4000, permute=CLUSTERS)
    found = test.bind(table_of([x, y])).test(0, 1).p_value
    assert found == pytest.approx(wanted, abs=5 * math.sqrt(wanted * (1 - wanted) / 4000) + 1e-3)


@pytest.mark.parametrize("permute", [CLUSTERS, WITHIN_CLUSTERS])
def test_ppi_holds_out_whole_clusters_and_exchanges_by_them(permute):
    repeats = draw_repeats(10, 30, 0.3, 7, permute, OF)
    for b in range(30):
        test, moved = repeats.test_rows[b], repeats.permuted_rows[b]
        assert not set(OF[test]) & set(OF[repeats.is_train[b]]) and sorted(moved) == test.tolist() and len(test) == 4
        pairs = set(zip(OF[test], OF[moved], strict=True))
        assert len(pairs) == 2 and (permute == CLUSTERS or all(a == b for a, b in pairs))
    first = draw_repeats(10, 3, 0.3, 7, permute, OF)
    assert np.array_equal(repeats.permuted_rows[:3], first.permuted_rows)


def test_the_last_of_unequal_clusters_is_cut_where_rows_change_places_within_them():
    clusters = np.repeat(np.arange(6), [1, 2, 3, 4, 5, 5])
    repeats = draw_repeats(20, 20, 0.4, 1, WITHIN_CLUSTERS, clusters)
    assert repeats.test_rows.shape == (20, 8)
    for test, moved, train in zip(repeats.test_rows, repeats.permuted_rows, repeats.is_train, strict=True):
        assert len(set(clusters[test]) & set(clusters[train])) <= 1 and (clusters[test] == clusters[moved]).all()


def test_cpi_compares_the_means_of_clusters():
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(12), 4)
    z = rng.normal(size=48)
    table = table_of([z + rng.normal(size=48), z + rng.normal(size=48), z], clusters)
    bound = get_ci_test("cpi", model="ridge", permute=CLUSTERS).bind(table)
    given, asked = {}, bound.engine.differences

    def noted(*args):
        given["parts"], given["differences"] = args[-1], asked(*args)
        return given["differences"]

    bound.engine.differences = noted
    result = bound.test(0, 1, [2])
    means = [given["differences"][clusters == c].mean() for c in range(12)]
    assert result.p_value == pytest.approx(ttest_1samp(means, 0, alternative="greater").pvalue) and result.dof == 11
    assert all(len(set(given["parts"][clusters == c])) == 1 for c in range(12)) and len(set(given["parts"])) == 5


def test_a_copy_keeps_its_relation_to_z_and_exchanges_the_rest():
    rng, clusters = np.random.default_rng(4), np.repeat(np.arange(200), 5)
    Z, shared = rng.normal(size=(1000, 1)), rng.normal(size=200)[clusters]
    x = 2 * Z[:, 0] + shared + 0.5 * rng.normal(size=1000)
    exchange = Exchange.of(CLUSTERS, 1000, clusters)
    copy = exchanged([Column("x", "numeric", x)], Z, exchange, rng)[0].numbers()
    expected = regression(x, Z)[0]
    blocks = {tuple(np.round(block, 9)) for block in (x - expected).reshape(200, 5)}
    assert {tuple(np.round(block, 9)) for block in (copy - expected).reshape(200, 5)} == blocks
    labels = Column("x", "categorical", np.digitize(x, [-1.5, 1.5]), ("a", "b", "c"))
    other = exchanged([labels], Z, exchange, rng)[0].numbers()

    def within(values):
        """The covariance of two rows of a cluster that Z does not explain."""
        left = (values - regression(values, Z)[0]).reshape(200, 5)
        return np.mean([np.mean(left[:, a] * left[:, b]) for a, b in itertools.combinations(range(5), 2)])

    codes = labels.numbers()
    assert np.bincount(other.astype(int)) == pytest.approx(np.bincount(codes.astype(int)), abs=60)
    assert np.cov(other, Z[:, 0])[0, 1] == pytest.approx(np.cov(codes, Z[:, 0])[0, 1], rel=0.3)
    assert within(other) > 0.7 * within(codes) > 0.05
    assert abs(np.corrcoef(other - regression(other, Z)[0], codes - regression(codes, Z)[0])[0, 1]) < 0.15


def test_bind_takes_groups_where_a_test_permutes_by_them():
    cells = np.random.default_rng(0).normal(size=(3, 10))
    test = get_ci_test("mi-permutation", permute=CLUSTERS)
    assert test.bind(cells.T, groups=OF).test(0, 1, [2]) == test.bind(table_of(cells)).test(0, 1, [2])
    with pytest.raises(UnsupportedError, match="takes rows as independent and equal"):
        test.bind(cells.T, groups=OF, sample_weight=np.arange(1, 11), weights_are="sampling")


def test_rows_of_one_group_change_places_within_it_as_all_rows_do():
    cells = np.random.default_rng(0).normal(size=(2, 10))
    rows, within = (get_ci_test("mi-permutation", permute=permute) for permute in ("rows", WITHIN_CLUSTERS))
    assert within.bind(cells.T, groups=np.zeros(10)).test(0, 1) == rows.bind(cells.T).test(0, 1)
    with pytest.raises(DataError, match="permute: clusters needs at least 2 groups, but all rows are of one"):
        get_ci_test("mi-permutation", permute=CLUSTERS).bind(cells.T, groups=np.zeros(10))


@pytest.mark.parametrize("name", ["mi-permutation", "ppi", "cpi", "hsic"])
def test_what_cannot_be_exchanged_is_refused(name):
    options = {"null": "permutation"} if name == "hsic" else {}
    cells = np.random.default_rng(0).normal(size=(10, 2))
    test = get_ci_test(name, permute=CLUSTERS, **options)
    with pytest.raises(UnsupportedError, match=f"{name}: permute: clusters needs groups. Give groups, or set"):
        test.bind(cells)
    with pytest.raises(DataError, match=f"{name}.*must be of equal size, but they have 1 to 9 rows. Take as many"):
        test.bind(table_of(cells.T, np.arange(10) // 9))


@pytest.mark.parametrize("name", ["mi-permutation", "ppi", "cpi", "hsic"])
def test_a_test_is_not_reliable_where_next_to_nothing_changes_places(name):
    options = {"null": "permutation"} if name == "hsic" else {}
    cells = np.random.default_rng(0).normal(size=(40, 2))
    test = get_ci_test(name, permute=WITHIN_CLUSTERS, **options)
    alone, together = (test.bind(cells, groups=groups).test(0, 1) for groups in (np.arange(40), np.arange(40) // 4))
    assert (alone.p_value, alone.reliable, together.reliable) == (1.0, False, True)


def test_options_that_do_not_go_together():
    with pytest.raises(ParameterError, match="asymptotic_from takes rows as independent, and permute is clusters"):
        get_ci_test("mi-permutation", permute=CLUSTERS, asymptotic_from=5)
    with pytest.raises(ParameterError, match="permute is clusters, but null: gamma permutes nothing"):
        get_ci_test("hsic", permute=CLUSTERS)
    bound = get_ci_test("hsic", null="permutation", permute=WITHIN_CLUSTERS).bind(
        table_of(np.random.default_rng(0).normal(size=(3, 10)))
    )
    with pytest.raises(UnsupportedError, match="within-clusters is for tests given nothing"):
        bound.test(0, 1, [2])


def study(n_patients=40):
    """Four rows a patient; `dose` tells the outcome, `marker` only who it is."""
    rng = np.random.default_rng(0)
    patient, ill = np.repeat(np.arange(n_patients), 4), rng.integers(0, 2, n_patients)
    X = pd.DataFrame({"dose": ill[patient] + rng.normal(size=len(patient))})
    return X.assign(marker=rng.normal(size=n_patients)[patient]), ill[patient], patient


def test_fit_knows_groups_and_says_where_a_test_does_not():
    X, y, patient = study()
    rows, clusters = (bf.get_ci_test("mi-permutation", permute=permute) for permute in ("rows", CLUSTERS))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DependentRowsWarning)
        warnings.simplefilter("ignore", UnreliableWarning)  # few patients have the same doses to be tested given them
        found = bf.GS(ci_test=clusters).fit(X, y, groups=patient)
        with pytest.raises(DependentRowsWarning, match="take all rows as independent"):
            bf.GS(ci_test=rows).fit(X, y, groups=patient)
    assert found.selected_features_ == ["dose"] and found.reason_.endswith("there are too few rows")
    with pytest.raises(UnsupportedError, match="permute of mi-permutation needs groups"):
        bf.GS(ci_test=clusters).fit(X, y)


def test_a_run_knows_groups_and_its_specs_say_what_is_permuted(tmp_path):
    X, y, patient = study()
    asked = {"folds": 0, "evaluation": 0, "ci_tests": {"exchanged": {"type": "mi-permutation", "permute": CLUSTERS}}}
    found = bf.compare(X, y, {"gs": {"method": "gs", "ci_test": "exchanged"}}, groups=patient, **asked)
    assert found.blanket("gs") == ["dose"]
    X.assign(y=y, patient=patient).to_csv(tmp_path / "study.csv", index=False)
    dataset = {"path": str(tmp_path / "study.csv"), "target": "y", "task": "classification"}
    config = {
        "datasets": {"with": {**dataset, "groups": "patient"}, "without": {**dataset, "drop": ["patient"]}},
        "ci_tests": {"plain": {"type": "mi-permutation"}, **asked["ci_tests"]},
        "selectors": {name: {"method": "gs", "ci_test": name} for name in ("plain", "exchanged")},
    }
    plan = make_plan(config, lambda name: name)
    assert json.loads(plan.test_spec("with", "plain"))["options"]["permute"] == ROWS
    assert json.loads(plan.test_spec("with", "exchanged"))["options"]["permute"] == CLUSTERS
    assert [(skip.dataset, skip.selector) for skip in plan.skipped] == [("without", "exchanged")]
    assert plan.skipped[0].reason == "permute of mi-permutation needs groups, and the data set has none"
