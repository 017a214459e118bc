import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from blanketflow.core.errors import DataError
from blanketflow.data.in_memory import columns_in_memory
from blanketflow.data.text import read_text


def same(one, other):
    return (one.name, one.kind, one.levels) == (other.name, other.kind, other.levels) and np.array_equal(
        one.values, other.values, equal_nan=one.kind != "categorical"
    )


def test_columns_are_those_of_a_file_of_the_same_content(tmp_path):
    frame = pd.DataFrame(
        {
            "whole": [1, 2, 3, 4],
            "whole gaps": [1, None, 3, 4],
            "number": [0.5, 1.0, 2.0, 3.0],
            "number gaps": [0.5, None, 2.0, 3.0],
            "truth": [True, False, True, True],
            "truth gaps": [True, None, False, True],
            "text": ["b", "a", "10", "9"],
            "text gaps": ["b", None, "a", "a"],
            "y": [0, 1, 0, 1],
        }
    )
    written = frame.astype({"whole gaps": "Int64"})  # pandas has them as floats, and would write 1.0
    written.to_csv(tmp_path / "table.csv", index=False)
    expected = read_text("table", tmp_path / "table.csv")
    for given in (frame, pd.read_csv(tmp_path / "table.csv"), frame.convert_dtypes()):
        columns, target, others = columns_in_memory("table", given.drop(columns="y"), given["y"])
        assert (target, others) == ("y", {})
        for found, wanted in zip(columns, expected, strict=True):
            assert same(found, wanted), (found, wanted)


def test_target_and_groups_are_columns_or_stand_beside():
    frame = pd.DataFrame({"a": [1.0, 2.0], "y": ["u", "v"], "who": [1, 1], "n": [2, 3], "site": ["p", "q"]})
    inside = columns_in_memory("d", frame, "y", "who", "n", "site")
    beside = columns_in_memory("d", frame[["a"]], frame["y"], frame["who"], frame["n"], frame["site"])
    assert inside[1:] == beside[1:] == ("y", {"groups": "who", "weights": "n", "within": "site"})
    assert all(map(same, inside[0], beside[0]))
    columns, target, others = columns_in_memory("d", frame[["a"]].to_numpy(), ["u", "v"], [1, 1])
    assert [column.name for column in columns] == ["x0", "target", "groups"] == ["x0", target, others["groups"]]


def test_a_list_of_columns_is_several_targets_and_labels_of_rows_are_one():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": ["u", "v", "v"], "z": [1, 1, 2]})
    assert columns_in_memory("d", frame, ["y", "z"])[1] == ["y", "z"]
    assert columns_in_memory("d", frame[["a"]], ["a", "z", "a"])[1] == "target"


def test_a_sparse_matrix_stays_sparse():
    columns, target, *_ = columns_in_memory("d", csr_matrix(np.eye(3)), [1, 0, 1])
    assert type(columns).__name__ == "SparseColumns" and target == "target"


@pytest.mark.parametrize(
    ("y", "groups", "said"),
    [
        ([1, 2, 3], None, "2 rows, but the target has 3"),
        ([1, 2], [1], "2 rows, but the groups has 1"),
        ("z", None, "no column 'z' for the target"),
        (None, None, "there is no target"),
        (np.ones((2, 2)), None, "has 2 columns, but must be one"),
        (pd.Series([1, 2], name="a"), None, "X has a column 'a', and so is the target called"),
    ],
)
def test_what_cannot_be_joined_is_named(y, groups, said):
    with pytest.raises(DataError, match=said):
        columns_in_memory("d", pd.DataFrame({"a": [1.0, 2.0]}), y, groups)
