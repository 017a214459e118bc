"""Tables counted from packed codes are those counted row by row, at every width of a cell."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import blanketflow as bf
from blanketflow.ci.contingency.packed_codes import MOST_CELLS, PackedCodes
from blanketflow.core.errors import DataError, UnsupportedError
from blanketflow.counts.summed_table import SummedTable
from blanketflow.kernels.packed_codes import BLOCK
from blanketflow.search.run_fold import why_refused

LEVELS = [1, 2, 3, 5, 17, 300]  # 1, 1, 2, 4, 8 and 16 bits


def literally(columns, names, levels):
    """Count row by row."""
    table = np.zeros([levels[name] for name in names], dtype=np.int64)
    for row in zip(*(columns[name].tolist() for name in names), strict=True):
        table[row] += 1
    return table


@pytest.mark.parametrize("in_file", [False, True])
@pytest.mark.parametrize("n_rows", [1, BLOCK, 2 * BLOCK + 77])
def test_tables_of_packed_codes_are_those_of_the_rows(n_rows, in_file):
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, levels, n_rows) for levels in LEVELS]
    held = PackedCodes(n_rows, len(LEVELS), in_file)
    held.add(*enumerate(LEVELS))
    for position, codes in enumerate(columns):
        for start in range(0, n_rows, BLOCK):
            held.put(position, start, codes[start : start + BLOCK])
    for sets, others in [([(5,), (0,), (4, 2)], (1, 3)), ([(3,), (5, 4)], ()), ([(2,)], (1,))]:
        for members, table in zip(sets, held.count(sets, others), strict=True):
            assert np.array_equal(table, literally(columns, (*members, *others), LEVELS))


def test_a_table_of_too_many_cells_is_not_counted_and_the_others_are():
    held = PackedCodes(3, 4)
    held.add((0, 2), (1, 2**13), (2, 2**13), (3, 2**13))
    for position, codes in enumerate([[0, 1, 1], [5, 5, 0], [8191, 0, 0], [0, 1, 2]]):
        held.put(position, 0, np.array(codes))
    assert MOST_CELLS < 2**26
    few, many = held.count([(0,), (2,)], (1,))
    assert many is None and few[[0, 1, 1], [5, 5, 0]].tolist() == [1, 1, 1] and few.sum() == 3
    with pytest.raises(UnsupportedError, match="65,536"):
        PackedCodes(3, 1).add((0, 70_000))


def test_a_test_with_too_many_cells_finds_nothing_and_says_so():
    wide = np.arange(6000)
    frame = pd.DataFrame({"a": wide % 5900, "b": wide % 5800, "t": wide % 2}).astype({"a": str, "b": str})
    bound = bf.get_ci_test("g2", unreliable="use", min_samples_per_cell=0).bind(
        SummedTable(bf.pack(frame, bf.agree(frame, "t")))
    )
    assert bound.test("a", "t").reliable and not bound.test("a", "t", ["b"]).reliable
    assert bound.test("a", "t", ["b"]).p_value == 1.0
    assert why_refused(bound.engine.refused).endswith("or it has too many cells: a, b, t")


def test_parquet_and_a_frame_are_packed_alike_and_a_level_that_was_not_agreed_on_is_an_error(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 3, 70_000).astype(np.int8), "b": rng.normal(size=70_000)})
    frame["t"] = np.where(frame["a"] == 1, "yes", "no")
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "table.parquet", row_group_size=9_999)
    agreement = bf.agree(frame, "t")
    expected = bf.count(frame, agreement.asking([("a", "b", "t")])).counts["a", "b", "t"]
    for source in (frame, tmp_path / "table.parquet"):
        assert np.array_equal(bf.pack(source, agreement).counted_each([("a", "b", "t")])[0], expected)
    with pytest.raises(DataError, match="'a' holds 7, which is not among the 3 agreed levels"):
        bf.pack(frame.assign(a=np.int8(7)), agreement)
