"""Counts of one place's rows, against counting row by row; and their sums over places."""

from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import blanketflow as bf
from blanketflow.core.errors import ConfigError, DataError
from blanketflow.counts.agreement import Agreement, Coding
from blanketflow.counts.counting import BLOCK_ROWS
from blanketflow.counts.sufficient_statistics import (
    read_agreement,
    read_statistics_of,
    write_agreement,
    write_statistics,
)


@pytest.fixture(scope="module")
def frame():
    """Labels, whole numbers, truth values and binned numbers, with more rows than a block."""
    rng = np.random.default_rng(0)
    n = BLOCK_ROWS + 1234
    a = rng.integers(0, 3, n)
    return pd.DataFrame(
        {
            "label": np.array(["low", "mid", "high"])[a],
            "whole": rng.integers(-1, 2, n).astype(np.int8),
            "truth": rng.random(n) < 0.3,
            "number": rng.normal(size=n) + a,
            "y": (a + rng.integers(0, 2, n)) % 3,
        }
    )


def literal_codes(frame, agreement):
    """Code cell by cell: the place of a level, or the number of borders below a value."""
    codes = {}
    for coding in agreement.codings:
        cells = frame[coding.name].tolist()
        if coding.name == agreement.target:
            cells = list(map(str, cells))
        if coding.levels:
            codes[coding.name] = [coding.levels.index(cell) for cell in cells]
        else:
            codes[coding.name] = [sum(border < cell for border in coding.borders) for cell in cells]
    return codes


def literal_table(codes, names, shape):
    table = np.zeros(shape, dtype=int)
    for cell, count in Counter(zip(*(codes[name] for name in names), strict=True)).items():
        table[cell] = count
    return table.tolist()


@pytest.mark.parametrize(
    ("tables", "sets"),
    [
        ("relevance", [(name, "y") for name in ["label", "whole", "truth", "number"]]),
        ("pairs", [*combinations(["label", "whole", "truth", "number", "y"], 2)]),
        ("triples", [(*two, "y") for two in combinations(["label", "whole", "truth", "number"], 2)]),
    ],
)
def test_every_cell_is_the_number_of_its_rows(frame, tables, sets):
    agreement = bf.agree(frame, "y", tables=tables, bins=4)
    codes = literal_codes(frame, agreement)
    counted = bf.count(frame, agreement)
    assert sorted(counted.counts) == sorted(sets)
    for names, table in counted.counts.items():
        assert table.tolist() == literal_table(codes, names, table.shape)
    asked = Agreement("y", agreement.codings, "asked", asked=(("number", "label", "truth", "whole"),))
    for names, table in bf.count(frame, asked).counts.items():
        assert names == ("label", "whole", "truth", "number")  # in the order of the agreement
        assert table.tolist() == literal_table(codes, names, table.shape)


def test_borders_and_levels_are_those_of_the_pooled_test(frame):
    agreement = bf.agree(frame, "y", bins=4)
    coded = {coding.name: coding for coding in agreement.codings}
    assert coded["label"].levels == ("high", "low", "mid") and coded["y"].levels == ("0", "1", "2")
    assert coded["number"].borders == tuple(np.unique(np.quantile(frame["number"], [0.25, 0.5, 0.75])))


@pytest.mark.parametrize("tables", ["triples", "cross-products"])
def test_a_parquet_file_is_counted_in_blocks_as_the_table_is_in_memory(frame, tmp_path, tables):
    shown = (
        frame.assign(label=frame["label"].astype("category")) if tables == "triples" else frame.drop(columns="label")
    )
    pq.write_table(pa.Table.from_pandas(shown), tmp_path / "rows.parquet", row_group_size=10_007)
    shown = shown.assign(label=shown["label"].astype(str)) if tables == "triples" else shown
    agreement = bf.agree(shown, "y", tables=tables)
    assert bf.agree(tmp_path / "rows.parquet", "y", tables=tables) == agreement
    of_file, in_memory = bf.count(tmp_path / "rows.parquet", agreement), bf.count(shown, agreement)
    for names, table in in_memory.counts.items():
        assert np.array_equal(of_file.counts[names], table)
    if tables == "cross-products":  # to the last bit, since blocks are of one size and merged along one tree
        assert np.array_equal(of_file.cross_products.products, in_memory.cross_products.products)
        assert np.array_equal(of_file.cross_products.means, in_memory.cross_products.means)


def test_places_add_up_to_the_pooled_rows(frame, tmp_path):
    agreement = bf.agree(frame, "y")
    whole = bf.count(frame, agreement)
    files = []
    for at, (start, stop) in enumerate([(0, 7), (7, 30_000), (30_000, len(frame))]):
        files.append(tmp_path / f"{at}.parquet")
        write_statistics(files[-1], bf.count(frame[start:stop], agreement))
    merged = bf.merge(files)
    assert merged.n_rows == whole.n_rows and merged.refused == ()
    assert sorted(merged.counts) == sorted(whole.counts)
    assert all(np.array_equal(merged.counts[names], table) for names, table in whole.counts.items())


def test_a_place_may_have_rows_of_one_class(tmp_path):
    agreement, whole = bf.agree(by_hand(), "t"), bf.count(by_hand(), bf.agree(by_hand(), "t"))
    parts = [rows for _, rows in by_hand().groupby("t")]
    parts[0].to_csv(tmp_path / "one.csv", index=False)
    merged = bf.merge([bf.count(tmp_path / "one.csv", agreement), bf.count(parts[1], agreement)])
    assert {names: table.tolist() for names, table in merged.counts.items()} == {
        names: table.tolist() for names, table in whole.counts.items()
    }


def test_cross_products_add_up_to_those_of_the_pooled_rows(frame):
    numbers = frame[["number", "whole", "truth"]].assign(y=1e6 + frame["number"] ** 2)
    agreement = bf.agree(numbers, "y", tables="cross-products")
    merged = bf.merge([bf.count(numbers[:999], agreement), bf.count(numbers[999:], agreement)]).cross_products
    expected = np.cov(numbers.to_numpy(dtype=float), rowvar=False, ddof=0) * len(numbers)
    assert np.allclose(merged.products, expected, rtol=1e-10, atol=1e-10 * len(numbers))
    assert np.allclose(merged.means, numbers.to_numpy(dtype=float).mean(axis=0), rtol=1e-12)


#: Two features and a target, eight cells by hand: (a, b, t) with 1 row in one cell, none in two.
CELLS = {(0, 0, 0): 20, (0, 1, 0): 1, (1, 0, 0): 9, (1, 1, 1): 30, (0, 1, 1): 12, (0, 0, 1): 8}


def by_hand():
    rows = [cell for cell, n in CELLS.items() for _ in range(n)]
    return pd.DataFrame(rows, columns=["a", "b", "t"])


def test_a_table_with_a_small_cell_is_refused_and_smaller_ones_are_told():
    counted = bf.count(by_hand(), bf.agree(by_hand(), "t", min_cell=5))
    # (a, b, t) has the cell of 1; (b, t) has it, too: 1 row of b = 1, t = 0. Zeros are told.
    assert counted.refused == (("a", "b", "t"), ("b", "t"))
    assert {names: table.tolist() for names, table in counted.counts.items()} == {
        ("a", "b"): [[28, 13], [9, 30]],
        ("a", "t"): [[21, 20], [9, 30]],
        ("b",): [37, 43],
        ("t",): [30, 50],
    }
    assert bf.count(by_hand(), bf.agree(by_hand(), "t", min_cell=1)).refused == ()


def test_what_one_place_refuses_is_refused_in_the_sum():
    agreement = bf.agree(by_hand(), "t", min_cell=5)
    many = bf.count(pd.concat([by_hand()] * 10), agreement)
    assert many.refused == ()
    merged = bf.merge([many, bf.count(by_hand(), agreement)])
    assert merged.refused == (("a", "b", "t"), ("b", "t"))
    assert merged.counts["a", "t"].tolist() == [[231, 220], [99, 330]]


def test_a_product_of_two_discrete_columns_is_refused_where_their_table_is():
    counted = bf.count(by_hand(), bf.agree(by_hand(), "t", tables="cross-products", min_cell=5))
    assert counted.refused == (("b", "t"),)
    a, b, t = range(3)
    assert np.isnan(counted.cross_products.products).nonzero() == pytest.approx(np.array([[b, t], [t, b]]))
    assert counted.cross_products.products[a, t] == pytest.approx(30 - 39 * 50 / 80)


def test_levels_that_were_not_agreed_on_are_an_error_until_the_agreement_has_them(tmp_path):
    here, there = by_hand(), by_hand().assign(b="x")
    agreement = bf.agree(here.assign(b=here["b"].astype(str)), "t")
    with pytest.raises(DataError, match=r"column 'b' holds 'x', which is not among the 2 agreed levels.*--agree"):
        bf.count(there, agreement)
    extended = bf.agree(there, "t", earlier=agreement)
    assert extended.codings[1] == Coding("b", "categorical", ("0", "1", "x"))
    assert bf.count(there, extended).counts["a", "b", "t"].sum() == 80
    with pytest.raises(DataError, match="counted by different agreements"):
        bf.merge([bf.count(there, extended), bf.count(here.assign(b=here["b"].astype(str)), agreement)])
    write_agreement(tmp_path / "agreement.json", extended)
    assert read_agreement(tmp_path / "agreement.json") == extended


def test_a_table_that_does_not_fit_is_an_error():
    agreement = bf.agree(by_hand(), "t")
    with pytest.raises(DataError, match=r"lacks columns that were agreed on: \['b'\]"):
        bf.count(by_hand().drop(columns="b"), agreement)
    with pytest.raises(DataError, match="column 'b' is categorical, but integer was agreed on"):
        bf.count(by_hand().assign(b="x"), agreement)
    with pytest.raises(DataError, match="column 'b' has 80 missing"):
        bf.count(by_hand().assign(b=np.nan), agreement)
    with pytest.raises(ConfigError, match="Did you mean 'triples'"):
        bf.agree(by_hand(), "t", tables="triple")
    with pytest.raises(ConfigError, match="not an agreement"):
        Agreement.from_dict({"target": "t"})


CANNOT_OBEY = [{"groups": "a"}, {"within": "a"}, {"max_rows": 50}, {"include": ["a"]}, {"shards": 2}]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        *((key, f"counts of rows cannot obey {next(iter(key))}") for key in CANNOT_OBEY),
        ({"weights": "a", "weights_are": "sampling"}, "counts of rows cannot obey weights_are: sampling"),
        ({"target": ["t", "b"]}, "Name one column here"),
        ({"target": "b"}, "target is 'b' in its keys, but 't' is asked for"),
    ],
)
def test_keys_that_counts_know_nothing_of_are_refused(tmp_path, keys, said):
    pd.DataFrame({"a": [1, 2] * 20, "b": [0, 0, 1, 1] * 10, "t": [0, 1] * 20}).to_csv(tmp_path / "t.csv", index=False)
    table = {"path": str(tmp_path / "t.csv"), "target": "t"}
    for counted in (lambda spec: bf.agree(spec, "t"), lambda spec: bf.count(spec, bf.agree(table, "t"))):
        with pytest.raises(ConfigError, match=said):
            counted({**table, **keys})


def test_statistics_survive_their_file(frame, tmp_path):
    for tables, min_cell in (("pairs", 0), ("triples", 3000), ("cross-products", 20_000)):
        shown = frame.drop(columns="label")
        before = bf.count(shown, bf.agree(shown, "y", tables=tables, min_cell=min_cell))
        write_statistics(tmp_path / "counts.parquet", before)
        after = read_statistics_of(tmp_path / "counts.parquet")
        assert (after.agreement, after.n_rows, after.refused) == (before.agreement, before.n_rows, before.refused)
        assert after.refused or not min_cell
        assert {k: v.tolist() for k, v in after.counts.items()} == {k: v.tolist() for k, v in before.counts.items()}
        if before.cross_products is not None:
            assert np.array_equal(after.cross_products.products, before.cross_products.products, equal_nan=True)
