"""The linear regressions of lr-mixed on cross products: the results on the rows."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.ci.linear.lr_mixed import LRMixed
from blanketflow.core.errors import DataError, RowsNeeded, UnsupportedError
from blanketflow.counts.agreement import Agreement, Coding
from blanketflow.counts.sufficient_statistics import (
    CrossProducts,
    SufficientStatistics,
    read_statistics_of,
    write_statistics,
)
from blanketflow.counts.summed_table import SummedTable

FIELDS = ("statistic", "p_value", "log_p", "dof", "n", "reliable")
LABELS = ["colour", "size", "coarse", "two", "truth", "one"]
NUMBERS = ["a", "b", "sum", "few", "of_size", "fixed", "lost", "t"]


def mixed(n=500, seed=0):
    """Return numbers and labels, of which some are functions of others, constant, or destroyed by rounding."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    colour, size = rng.integers(0, 5, n), rng.integers(0, 3, n)
    size[:2], colour[2] = 3, 5  # levels of two rows and of one
    numbers = {"a": a + colour % 2, "b": 1e3 * b + 1e5, "sum": a + b, "few": rng.integers(0, 4, n)}
    numbers |= {"of_size": np.array([0.5, 2.0, -1.0, 7.0])[size], "fixed": np.full(n, 0.1)}
    numbers |= {"lost": 1e15 + 3.0 * rng.normal(size=n), "t": a + 0.3 * (size == 1) + rng.normal(size=n)}
    labels = {"colour": np.array(list("rgbycm"))[colour], "size": np.array(["s", "m", "l", "x"])[size]}
    labels |= {"coarse": np.where(np.isin(colour, (0, 3)), "A", np.where(colour == 1, "B", "C"))}
    labels |= {"two": np.where(b + rng.normal(size=n) > 0, "yes", "no"), "truth": rng.random(n) < 0.2, "one": "same"}
    return pd.DataFrame(labels | numbers)


def summed(frame, **options):
    """Return the sums of three places, of which the first has only some levels; one level occurs nowhere."""
    agreement = bf.agree(frame, "t", tables="cross-products", **options)
    codings = {coding.name: coding for coding in agreement.codings}
    codings["size"] = replace(codings["size"], levels=("!unused", *codings["size"].levels))
    agreement, ends = replace(agreement, codings=tuple(codings.values())), [0, 3, len(frame) // 2, len(frame)]
    return bf.merge([bf.count(frame[i:j], agreement) for i, j in pairwise(ends)])


def close(found, expected):
    return all(np.allclose(getattr(found, one), getattr(expected, one), rtol=1e-9, atol=1e-9) for one in FIELDS)


def queries(rng, n_queries):
    """Yield candidates, target and given columns, so that one of each pair is a number."""
    for _ in range(n_queries):
        others = rng.permutation([*LABELS, *NUMBERS]).tolist()
        y, given, left = others[0], others[1 : 1 + rng.integers(0, 7)], others[8:]
        xs = left if y in NUMBERS else [one for one in left if one in NUMBERS]
        if xs:
            yield xs, y, given


@pytest.mark.parametrize(
    "options",
    [{}, {"linear": "chi2"}, {"linear": "chi2", "unreliable": "use"}, {"min_samples_per_parameter": 100.0}],
    ids=str,
)
def test_every_linear_regression_is_that_of_the_rows(options):
    frame, rng, n_compared = mixed(), np.random.default_rng(1), 0
    test = LRMixed(directions="linear", **options)
    on_sums, on_rows = test.bind(SummedTable(summed(frame))), test.bind(frame)
    for xs, y, given in queries(rng, 150):
        found, expected = on_sums.test_many(xs, y, given), on_rows.test_many(xs, y, given)
        assert close(found, expected), (xs, y, given)
        n_compared += int((expected.dof > 0).sum())
    assert n_compared > 300 or options.get("min_samples_per_parameter")
    assert on_sums.n_tests == on_rows.n_tests


@pytest.mark.parametrize("n", [8, 12, 25, 60])
def test_few_rows_are_as_reliable_as_the_rows_say(n):
    frame, test = mixed(n), LRMixed(directions="linear")
    on_sums, on_rows = test.bind(SummedTable(summed(frame))), test.bind(frame)
    for xs, y, given in queries(np.random.default_rng(2), 60):
        assert close(on_sums.test_many(xs, y, given), on_rows.test_many(xs, y, given)), (xs, y, given)
        of = frame.columns.get_loc
        asked = of(xs[0]), of(y), tuple(map(of, given))
        assert on_sums.rows_needed(*asked) == on_rows.rows_needed(*asked)


def test_sets_and_the_target_alone_give_the_results_of_the_rows():
    frame, rng = mixed(), np.random.default_rng(3)
    test = LRMixed(directions="target")
    on_sums, on_rows = test.bind(SummedTable(summed(frame))), test.bind(frame)
    for _ in range(60):
        y, *others = rng.permutation([*LABELS, *NUMBERS]).tolist()
        x, given = others[: rng.integers(2, 5)], others[5 : 5 + rng.integers(0, 5)]
        if y in NUMBERS:
            assert close(on_sums.test_many([x, x[0]], y, given), on_rows.test_many([x, x[0]], y, given)), (x, y, given)
    with pytest.raises(RowsNeeded, match="regresses the label 'two'"):
        on_sums.test("a", "two")


def test_the_f_test_of_levels_is_the_analysis_of_variance():
    """Three groups by hand: between them 2 * 2^2 * 2 = 16, within them 6 * 1 = 6, so F = (16 / 2) / (6 / 3) = 4."""
    frame = pd.DataFrame({"group": list("aabbcc"), "x": range(6), "t": [-3.0, -1.0, -1.0, 1.0, 1.0, 3.0]})
    bound = LRMixed(directions="linear", min_samples_per_parameter=0).bind(
        SummedTable(bf.count(frame, bf.agree(frame, "t", tables="cross-products")))
    )
    found = bound.test("group", "t")
    assert found.statistic == pytest.approx(6 * np.log(22 / 6)) and found.dof == 2
    assert found.p_value == pytest.approx((1 + 2 * 4 / 3) ** -1.5)  # the tail of F with 2 and 3 degrees of freedom


def test_numbers_alone_need_no_direction_and_labels_that_are_explained_no_rows():
    frame = mixed()
    numbers, test = frame[NUMBERS], bf.get_ci_test("lr-mixed")
    assert test.directions == "both"
    agreement = bf.agree(numbers, "t", tables="cross-products")
    on_sums, on_rows = test.bind(SummedTable(bf.count(numbers, agreement))), test.bind(numbers)
    assert close(on_sums.test_many(["a", "few"], "t", ["b"]), on_rows.test_many(["a", "few"], "t", ["b"]))
    linear = LRMixed(directions="linear")
    on_sums, on_rows = linear.bind(SummedTable(summed(frame))), linear.bind(frame)
    asked = ["one", "coarse"], "two", ["colour"]  # coarse is a function of colour
    found = on_sums.test_many(*asked)
    assert close(found, on_rows.test_many(*asked)) and found.reliable.all() and (found.dof == 0).all()
    with pytest.raises(RowsNeeded, match=r"regresses the label '(two|colour)' on another label.*iamb"):
        on_sums.test("colour", "two")


def test_what_takes_logistic_regressions_is_refused_before_anything_is_tested():
    frame = mixed()
    with pytest.raises(RowsNeeded, match=r"'colour' is a label.*Set directions: linear"):
        bf.get_ci_test("lr-mixed").bind(SummedTable(summed(frame)))
    for target in ("two", "colour"):
        counted = bf.count(frame, bf.agree(frame, target, tables="cross-products"))
        with pytest.raises(RowsNeeded, match=f"the target '{target}' is a label"):
            LRMixed(directions="linear").bind(SummedTable(counted))
    tables = bf.count(frame, bf.agree(frame, "t", tables="relevance"))
    with pytest.raises(UnsupportedError, match="lr-mixed needs cross products, and tables were counted"):
        LRMixed(directions="linear").bind(SummedTable(tables))


def test_columns_may_be_left_out_and_a_file_keeps_every_indicator(tmp_path):
    frame, test = mixed(), LRMixed(directions="linear")
    before = summed(frame, min_cell=3)
    write_statistics(tmp_path / "sums.parquet", before)
    after = read_statistics_of(tmp_path / "sums.parquet")
    assert np.array_equal(after.cross_products.products, before.cross_products.products, equal_nan=True)
    assert np.array_equal(after.cross_products.means, before.cross_products.means, equal_nan=True)
    names = ["t", "two", "coarse", "a"]
    found = test.bind(SummedTable(summed(frame), names)).test_many(["a", "coarse"], "t", ["two"])
    assert close(found, test.bind(frame[names]).test_many(["a", "coarse"], "t", ["two"]))


def test_a_file_in_which_labels_are_summed_as_codes_is_refused(tmp_path, monkeypatch):
    """As such files were written before labels had indicators."""
    agreement = bf.agree(mixed(), "t", tables="cross-products")
    sums = CrossProducts.of(np.random.default_rng(0).normal(size=(9, len(agreement.names))))
    with monkeypatch.context() as earlier:
        earlier.setattr(Coding, "n_parts", 1)
        write_statistics(tmp_path / "codes.parquet", SufficientStatistics(agreement, 9, cross_products=sums))
        assert read_statistics_of(tmp_path / "codes.parquet").n_rows == 9
    with pytest.raises(DataError, match=r"do not fit its agreement.*Count again"):
        read_statistics_of(tmp_path / "codes.parquet")


def test_a_small_cell_of_two_labels_refuses_their_products_and_the_tests_of_them():
    """By hand: label u has 20 rows a level; of v one level has 2 rows; w meets a level of u in 3 rows."""
    u = np.repeat(["p", "q", "r"], 20)
    v = np.array(["x", "y"] * 29 + ["z"] * 2)
    w = np.array(["g", "h"] * 30)
    w[:20] = ["g"] * 3 + ["h"] * 17
    t = np.random.default_rng(0).normal(size=60)
    frame = pd.DataFrame({"u": u, "v": v, "w": w, "number": t + 1.0 * (w == "g"), "t": t})
    counted = bf.count(frame, bf.agree(frame, "t", tables="cross-products", min_cell=4))
    assert counted.refused == (("u", "v"), ("u", "w"), ("v",), ("v", "w"))
    places = counted.agreement.places()
    sums = counted.cross_products
    assert [places[one] for one in "uvw"] == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert np.isnan(sums.means).tolist() == [False, False, True, True, False, False, False]  # v told its two rows
    assert np.isnan(sums.products[:5, :5]).tolist() == [
        [False, False, True, True, True],
        [False, False, True, True, True],
        [True] * 5,
        [True] * 5,
        [True] * 4 + [False],
    ]
    assert np.isnan(sums.products[5:]).tolist() == [[False, False, True, True, False, False, False]] * 2
    test = LRMixed(directions="linear", min_samples_per_parameter=1)
    on_sums, on_rows = test.bind(SummedTable(counted)), test.bind(frame)
    found = on_sums.test_many(["v", "w", "number"], "t", ["u"])
    assert found.reliable.tolist() == [False, False, True] and found.p_value[:2].tolist() == [1.0, 1.0]
    assert found.p_value[2] == pytest.approx(on_rows.test("number", "t", ["u"]).p_value, rel=1e-9)
    assert on_sums.engine.refused == {("v", "t", "u"), ("w", "t", "u")}
    many = bf.count(pd.concat([frame] * 4), counted.agreement)
    assert many.refused == ()
    on_sum = test.bind(SummedTable(counted.merged(many)))  # what one place refuses is refused in the sum
    again = on_sum.test_many(["v", "w", "number"], "t", ["u"])
    assert again.reliable.tolist() == [False, False, True] and on_sum.engine.refused == on_sums.engine.refused


def test_a_label_of_too_many_levels_is_an_error_that_names_it():
    many = Coding("street", "categorical", tuple(map(str, range(20_000))))
    frame = pd.DataFrame({"street": ["1", "2"], "t": [0.5, 1.5]})
    with pytest.raises(DataError, match=r"'street' has 20,000 levels. Drop such columns"):
        bf.count(frame, Agreement("t", (many, Coding("t", "numeric")), "cross-products"))


def test_the_test_is_chosen_by_the_labels():
    frame = mixed()[["a", "b", "colour", "two", "t"]]
    fitted = bf.fit_statistics(bf.IAMB(), bf.count(frame, bf.agree(frame, "t", tables="cross-products")))
    assert fitted.ci_test_ == LRMixed(directions="linear") and "a" in fitted.selected_features_
    of_two = frame.drop(columns="colour")
    fitted = bf.fit_statistics(bf.IAMB(), bf.count(of_two, bf.agree(of_two, "t", tables="cross-products")))
    assert fitted.ci_test_ == bf.get_ci_test("fisher-z")
