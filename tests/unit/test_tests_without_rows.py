"""G2, X2 and Fisher's z on counts and cross products: the results on the rows."""

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.errors import RowsNeeded, UnsupportedError
from blanketflow.counts.agreement import Agreement
from blanketflow.counts.sufficient_statistics import CrossProducts, SufficientStatistics, TablesNotCounted
from blanketflow.counts.summed_table import SummedTable

FIELDS = ("statistic", "p_value", "log_p", "dof", "n", "reliable")


def discrete(n=700):
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, (2, n))
    numbers = {"a": a, "b": b, "c": (a + b) % 3, "d": rng.normal(size=n) + a, "e": np.zeros(n, int)}
    # A level that occurs with few others, so that strata and levels are empty.
    return pd.DataFrame(numbers | {"f": np.where(a == 2, 5, rng.integers(0, 4, n)), "t": (a * b) % 4})


def same(found, expected):
    return all(np.array_equal(getattr(found, name), getattr(expected, name)) for name in FIELDS)


@pytest.mark.parametrize("dof", ["adjusted", "nominal", "observed"])
@pytest.mark.parametrize("are_packed", [False, True])
@pytest.mark.parametrize("name", ["g2", "chi2"])
def test_counts_give_every_result_to_the_last_bit(name, dof, are_packed):
    frame = discrete()
    agreement = bf.agree(frame, "t")
    every = tuple(frame.columns[:6])
    counted = bf.count(frame, Agreement("t", agreement.codings, "asked", asked=(frame.columns,)))
    test = bf.get_ci_test(name, dof=dof, min_samples_per_cell=2)
    statistics = bf.pack(frame, agreement) if are_packed else counted
    on_counts, on_rows = test.bind(SummedTable(statistics)), test.bind(frame)
    rng = np.random.default_rng(0)
    queries = [(list(every), "t", []), (["a", "c"], "d", ["t"]), (["e", "a"], "f", ["c"])]
    queries += [(["f", "c"], "e", ["a"])]
    for _ in range(20):
        x, y, *given = rng.permutation(frame.columns)[: rng.integers(2, 5)].tolist()
        queries.append(([x], y, given))
    for x, y, given in queries:
        assert same(on_counts.test_many(x, y, given), on_rows.test_many(x, y, given)), (x, y, given)
        assert on_counts.samples_per_cell(x[0], y, given) == on_rows.samples_per_cell(x[0], y, given)
        assert on_counts.answerable(x, y, given) == on_rows.answerable(x, y, given)
    for pair in (["a", "b"], ["f", "d"]):
        assert on_counts.test(pair, "t", ["c"]) == on_rows.test(pair, "t", ["c"])
    positions = np.array([0, 1, 3, 5])
    if name == "g2":
        assert np.array_equal(on_counts.entropy(positions, ["t"]), on_rows.entropy(positions, ["t"]))
        for given in ([], ["c"]):
            found = on_counts.mutual_information(positions, "t", given)
            assert np.array_equal(found, on_rows.mutual_information(positions, "t", given))
    assert on_counts.n_tests == on_rows.n_tests


def test_many_features_give_the_same_results_too():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (300, 301)), columns=[f"x{i}" for i in range(301)])
    counted = bf.count(frame, bf.agree(frame, "x300", tables="relevance"))
    features = np.arange(300)
    test = bf.get_ci_test("g2")
    rows = as_table(frame)
    assert same(test.bind(SummedTable(counted)).test_many(features, 300), test.bind(rows).test_many(features, 300))


def test_refused_columns_among_many_say_nothing():
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (300, 301)), columns=[f"x{i}" for i in range(301)])
    frame.loc[:1, "x5"] = 7
    counted = bf.count(frame, bf.agree(frame, "x300", tables="relevance", min_cell=5))
    many = bf.get_ci_test("g2", unreliable="use").bind(SummedTable(counted)).test_many(np.arange(300), 300)
    assert counted.refused == (("x5",), ("x5", "x300")) and tuple(many[5]) == (0.0, 1.0, 0.0, 0.0, 300, False)


def test_a_table_is_read_from_one_that_holds_it_and_asked_for_if_none_does():
    frame = discrete()
    bound = bf.get_ci_test("g2").bind(SummedTable(bf.count(frame, bf.agree(frame, "t"))))
    assert bound.test("a", "b") == bf.get_ci_test("g2").bind(frame).test("a", "b")  # from (a, b, t)
    with pytest.raises(TablesNotCounted, match=r"2 tables were not counted.*merge --ask") as caught:
        bound.test_many(["c", "d"], "t", ["a", "b"])
    assert caught.value.column_sets == (("a", "b", "c", "t"), ("a", "b", "d", "t"))


def gaussian(n=400):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(n, 6)) @ (np.eye(6) + 0.5 * rng.random((6, 6)))
    frame = pd.DataFrame(x, columns=list("abcdef")).assign(g=lambda f: f.a + f.b, h=rng.random(n) < 0.4, k=0.1)
    return frame.assign(lost=1e15 + rng.normal(size=n), t=frame.a + rng.normal(size=n) + 1e4)


def test_cross_products_give_fishers_z_to_ten_digits():
    frame = gaussian()
    agreement = bf.agree(frame, "t", tables="cross-products")
    merged = bf.merge([bf.count(frame[:5], agreement), bf.count(frame[5:], agreement)])
    test = bf.get_ci_test("fisher-z")
    on_sums, on_rows = test.bind(SummedTable(merged)), test.bind(frame)
    queries = [([*"abcdefghk", "lost"], "t", []), ([*"bcdef"], "t", ["a"]), (["a", "c", "d"], "t", ["b", "g", "h"])]
    queries += [(["c", "g"], "t", ["a", "b"]), (["c"], "d", ["k", "t"]), (["a"], "lost", ["b"])]
    for x, y, given in queries:
        found, expected = on_sums.test_many(x, y, given), on_rows.test_many(x, y, given)
        for name in FIELDS:
            assert np.allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-9), (x, y, given, name)
    for one, given in ((["b", "c"], []), (["b", "c", "d"], ["a"]), (["b", "c", "g"], ["a"])):
        found, expected = on_sums.test(one, "t", given), on_rows.test(one, "t", given)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("method", [bf.JMI, bf.HITONMB])
def test_refused_tests_are_named_also_where_the_search_has_a_process_of_its_own(method):
    frame = discrete(60)
    counted = bf.count(frame, bf.agree(frame, "t", min_cell=8))
    options = {"n_features": 2} if method is bf.JMI else {"ci_test": "g2", "alpha": 0.3}
    with pytest.warns(bf.core.errors.UnreliableWarning):
        here = bf.fit_statistics(method(**options), counted)
        apart = bf.fit_statistics(method(**options, time_limit=60), counted)
    assert "tests were refused" in here.reason_
    assert (apart.status_, apart.reason_) == (here.status_, here.reason_)


def test_a_refused_table_or_product_makes_a_test_unreliable_and_is_named():
    frame = discrete(60)
    counted = bf.count(frame, bf.agree(frame, "t", min_cell=8))
    assert ("a", "b", "t") in counted.refused
    with pytest.warns(bf.core.errors.UnreliableWarning, match=r"tests were refused.*a, b, t"):
        fitted = bf.fit_statistics(bf.JMI(n_features=2), counted)
    assert fitted.status_ == "unreliable" and len(fitted.selected_features_) == 2
    numbers = gaussian()
    products = bf.count(numbers, bf.agree(numbers, "t", tables="cross-products", min_cell=300))
    assert products.refused == (("h",), ("h", "k"))  # k is constant, so that its pairs with h tell the cells of h
    bound = bf.get_ci_test("fisher-z").bind(SummedTable(products))
    results = bound.test_many(["a", "h"], "t")
    assert results.reliable.tolist() == [True, False] and results.p_value[1] == 1.0
    assert bound.engine.refused == {("h", "t")}
    assert not bound.test(["b", "h"], "t").reliable


def test_what_needs_rows_says_so():
    frame = discrete()
    counted = bf.count(frame, bf.agree(frame, "t"))
    for selector in (bf.Relief(), bf.IAMB(ci_test="hsic"), bf.JMI(ci_test="fisher-z")):
        with pytest.raises(UnsupportedError, match=r"needs? (rows|cross products)|takes numeric"):
            bf.fit_statistics(selector, counted)
    of_rows = {"n_folds": 3, "confirm": 0.5, "max_rows": 9, "missing": "pairwise", "weights_are": "sampling"}
    for option, value in of_rows.items():
        with pytest.raises(bf.core.errors.ConfigError, match=f"{option} needs rows"):
            bf.fit_statistics(bf.JMI(**{option: value}), counted)
    with pytest.raises(bf.core.errors.ConfigError, match="task is regression, but what was counted is for class"):
        bf.fit_statistics(bf.JMI(task="regression"), counted)
    assert bf.fit_statistics(bf.MIM(n_features=1), counted).confirmed_.empty
    with pytest.raises(UnsupportedError, match="needs tables of counts"):
        products = SufficientStatistics(counted.agreement, 9, cross_products=CrossProducts.of(np.eye(7)))
        bf.fit_statistics(bf.JMI(), products)


def test_a_test_of_your_own_may_bring_its_engine():
    frame = pd.DataFrame({"a": [0, 0, 1, 1] * 10, "t": [0, 1] * 20})
    table, test = SummedTable(bf.count(frame, bf.agree(frame, "t"))), bf.get_ci_test("mi-permutation")
    with pytest.raises(RowsNeeded, match="mi-permutation needs rows"):
        test.bind(table)
    test.prepare_summed = lambda asked: bf.get_ci_test("g2").bind(asked).engine
    assert test.bind(table).test("a", "t") == bf.get_ci_test("g2").bind(table).test("a", "t")
