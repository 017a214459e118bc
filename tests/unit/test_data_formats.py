"""Every format, from files that the tests write: equal to the CSV file of the same table, and refused in words."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import anndata
import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse
import sqlalchemy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pyarrow import feather
from sklearn.datasets import dump_svmlight_file
from sklearn.externals import _arff

from blanketflow.core.column import SparseColumns
from blanketflow.core.errors import ConfigError, DataError
from blanketflow.core.table import SparseValues
from blanketflow.data.sources import read_source, source_files
from blanketflow.workflow.peek import peek
from test_data_sources import assert_agree

ROOT = Path(os.environ.get("BLANKETFLOW_DATA", "there is none"))
N = 60


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BLANKETFLOW_CACHE", str(tmp_path / "cache"))


def same(a, b):
    """Assert that two tables have equal features and targets."""
    assert a.features.names == b.features.names
    for x, y in zip((*a.features.columns, a.target), (*b.features.columns, b.target), strict=True):
        assert (x.kind, x.levels) == (y.kind, y.levels), (x.name, y.name)
        assert np.array_equal(x.numbers(), y.numbers(), equal_nan=True), x.name
    assert a.task.name == b.task.name


# --- one mixed table in every format that holds one ---------------------------------------------------------


@pytest.fixture(scope="module")
def study():
    rng = np.random.default_rng(3)
    site = rng.choice(["north", "far east", "zürich"], N).astype(object)
    frame = pd.DataFrame(
        {
            "dose": rng.normal(size=N).round(3),
            "age": pd.array(rng.integers(20, 90, N), dtype="Int64"),
            "visits": rng.integers(0, 5, N),
            "site": site,
            "outcome": rng.choice(["ill", "well"], N),
        }
    )
    frame.loc[3, "dose"], frame.loc[4, "age"], frame.loc[5, "site"] = np.nan, pd.NA, None
    return frame


def rows_of(frame, missing):
    cells = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    return [[missing if cell is None else cell for cell in row] for row in cells]


def write_arff(frame, folder):
    kinds = {"site": sorted({*frame["site"].dropna(), "never"}), "outcome": ["well", "ill"]}
    attributes = [(c, kinds.get(c, "REAL" if c == "dose" else "NUMERIC")) for c in frame]
    text = _arff.dumps({"relation": "study", "attributes": attributes, "data": rows_of(frame, None)})
    (folder / "t.arff").write_text(text, encoding="utf-8")
    return {"path": str(folder / "t.arff"), "target": "outcome"}


def write_orange(frame, folder):
    escaped = r"north far\ east zürich"
    lines = ["\t".join(frame), f"c\tcontinuous\tc\t{escaped}\td", "\t\t\t\tclass"]
    lines += ["\t".join(map(str, row)) for row in rows_of(frame, "?")]
    (folder / "t.tab").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {"path": str(folder / "t.tab")}


def write_c45(frame, folder):
    lines = ["well, ill.  | the classes", "", "dose: continuous.", "age : continuous", "visits: continuous."]
    lines += ["site: north, far east,", "  zürich."]
    (folder / "t.names").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [", ".join(map(str, row)) for row in rows_of(frame, "?")]
    (folder / "t.data").write_text(".\n".join(rows) + ".\n", encoding="utf-8")
    return {"path": str(folder / "t.data")}


def write_feather(frame, folder):
    feather.write_feather(frame, folder / "t.feather")
    return {"path": str(folder / "t.feather"), "target": "outcome"}


def write_stream(frame, folder):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with pa.ipc.new_stream(folder / "t.arrows", table.schema) as writer:
        writer.write_table(table)
    return {"path": str(folder / "t.arrows"), "target": "outcome"}


def write_duckdb(frame, folder):
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("held", pa.Table.from_pandas(frame, preserve_index=False))
        connection.execute("CREATE TABLE study AS SELECT * FROM held")
    return {"source": f"duckdb:{folder}/t.duckdb", "query": "SELECT * FROM study", "target": "outcome"}


def write_sqlite(frame, folder):
    engine = sqlalchemy.create_engine(f"sqlite:///{folder}/t.db")
    frame.to_sql("study", engine, index=False)
    engine.dispose()
    return {"source": f"sqlite:///{folder}/t.db", "query": "SELECT * FROM study", "target": "outcome"}


MIXED = [write_arff, write_orange, write_c45, write_feather, write_stream, write_duckdb, write_sqlite]


def as_csv(frame, folder):
    frame.to_csv(folder / "t.csv", index=False)
    return read_source("study", {"path": str(folder / "t.csv"), "target": frame.columns[-1]}, 0)


@pytest.mark.parametrize("write", MIXED, ids=lambda write: write.__name__.removeprefix("write_"))
def test_a_mixed_table_is_that_of_its_csv_file(study, tmp_path, write):
    spec = write(study, tmp_path)
    raw, facts = assert_agree("study", spec)
    same(raw, as_csv(study, tmp_path))
    assert raw.features["site"].levels == ("far east", "north", "zürich") and facts.n_missing == 3
    assert assert_agree("study", spec)[1] == facts  # from the cache


@pytest.mark.parametrize("write", [write_arff, write_orange])
def test_text_formats_are_read_compressed_and_under_any_name(study, tmp_path, write):
    path = Path(write(study, tmp_path)["path"])
    packed = tmp_path / "other.txt"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    same(read_source("study", {"path": str(packed), "target": "outcome"}, 0), as_csv(study, tmp_path))


def test_a_database_by_path_is_told_by_its_content(study, tmp_path):
    for write, file in ((write_duckdb, "t.duckdb"), (write_sqlite, "t.db")):
        spec = write(study, tmp_path)
        other = (tmp_path / file).rename(tmp_path / "other.bin")
        spec = {"path": str(other), "query": spec["query"], "target": "outcome"}
        same(read_source("study", spec, 0), as_csv(study, tmp_path))
        assert source_files("study", spec) == [str(other)]


# --- one matrix in every format that holds one --------------------------------------------------------------


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(4)
    X = rng.integers(-3, 9, (N, 7)) * (rng.random((N, 7)) < 0.4)
    X[0, 6] = 5
    return X.astype(float), rng.choice([-1, 1], N)


def write_svmlight(X, y, folder):
    dump_svmlight_file(X, y, str(folder / "m.txt"), zero_based=False, comment="a comment")
    return {"path": str(folder / "m.txt")}


def write_matlab(X, y, folder):
    scipy.io.savemat(folder / "m.mat", {"X": X, "Y": y[:, None], "note": "text"})
    return {"path": str(folder / "m.mat")}


def write_matlab_sparse(X, y, folder):
    scipy.io.savemat(folder / "m.mat", {"features": scipy.sparse.csc_matrix(X), "label": y[:, None]})
    return {"path": str(folder / "m.mat"), "target": "label"}


def write_matlab_target_inside(X, y, folder):
    scipy.io.savemat(folder / "m.mat", {"data": scipy.sparse.csc_matrix(np.column_stack([X, y]))})
    return {"path": str(folder / "m.mat"), "target": "x7"}


def write_nips(X, y, folder, form):
    row = {
        "sparse-integer": lambda cells: " ".join(f"{j + 1}:{cells[j]:g}" for j in np.flatnonzero(cells)),
        "sparse-binary": lambda cells: " ".join(str(j + 1) for j in np.flatnonzero(cells)),
        "non-sparse": lambda cells: " ".join(f"{cell:g}" for cell in cells),
    }[form]
    (folder / "m_train.data").write_text("".join(row(cells) + " \n" for cells in X))
    (folder / "m_train.labels").write_text("".join(f"{label}\n" for label in y))
    (folder / "m.param").write_text(f"Data type: {form}\nNumber of features: {X.shape[1]}\n")
    return {"path": str(folder / "m_train.data")}


def write_nips_pairs(X, y, folder):
    return write_nips(X, y, folder, "sparse-integer")


def write_nips_dense(X, y, folder):
    return write_nips(X, y, folder, "non-sparse")


def write_h5ad(X, y, folder, make=np.asarray):
    cells, genes = ([f"{kind}{i}" for i in range(n)] for kind, n in zip("cg", X.shape, strict=True))
    donors = pd.Categorical.from_codes(np.arange(len(y)) % 4, pd.Index(["d0", "d1", "d2", "d3"], dtype=object))
    obs = pd.DataFrame({"label": y, "donor": donors}, index=pd.Index(cells, dtype=object))
    table = anndata.AnnData(make(X), obs=obs, var=pd.DataFrame(index=pd.Index(genes, dtype=object)))
    table.write_h5ad(folder / "m.h5ad")
    return {"path": str(folder / "m.h5ad"), "target": "label"}


def write_h5ad_sparse(X, y, folder):
    return write_h5ad(X, y, folder, scipy.sparse.csr_matrix)


def write_arff_sparse(X, y, folder):
    attributes = [(f"a{j}", "REAL") for j in range(X.shape[1])] + [("class", ["-1", "1"])]
    rows = [{j: v for j, v in enumerate(row) if v} for row in X.tolist()]
    data = [row | ({X.shape[1]: "1"} if label == 1 else {}) for row, label in zip(rows, y, strict=True)]
    (folder / "m.arff").write_text(_arff.dumps({"relation": "m", "attributes": attributes, "data": data}))
    return {"path": str(folder / "m.arff"), "target": "class"}


MATRICES = {
    write_svmlight: True,
    write_matlab: False,
    write_matlab_sparse: True,
    write_matlab_target_inside: True,
    write_nips_pairs: True,
    write_nips_dense: False,
    write_h5ad: False,
    write_h5ad_sparse: True,
    write_arff_sparse: True,
}


@pytest.mark.parametrize("write", MATRICES, ids=lambda write: write.__name__.removeprefix("write_"))
def test_a_matrix_keeps_its_cells_and_stays_sparse(matrix, tmp_path, write):
    X, y = matrix
    raw, facts = assert_agree("m", write(X, y, tmp_path))
    assert np.array_equal(raw.features.matrix(), X) and facts.kinds == ("integer",)
    assert [raw.target.levels[code] for code in raw.target.values] == [str(label) for label in y]
    assert isinstance(raw.features.columns, SparseColumns) == MATRICES[write]
    assert facts.n_stored == (np.count_nonzero(X) if MATRICES[write] else None)


def test_fractions_make_a_matrix_numeric(matrix, tmp_path):
    X, y = matrix
    for write in MATRICES:
        raw, _ = assert_agree("m", write(X / 4, y, tmp_path))
        assert np.array_equal(raw.features.matrix(), X / 4) and {c.kind for c in raw.features.columns} == {"numeric"}


def test_names_follow_the_files_own_numbering(matrix, tmp_path):
    X, y = matrix
    assert read_source("m", write_svmlight(X, y, tmp_path), 0).features.names == [f"f{j}" for j in range(1, 8)]
    assert read_source("m", write_nips_pairs(X, y, tmp_path), 0).features.names == [f"f{j}" for j in range(1, 8)]
    assert read_source("m", write_matlab(X, y, tmp_path), 0).features.names == [f"x{j}" for j in range(7)]
    names = np.array([f"gene {j}" for j in range(7)], dtype=object)
    scipy.io.savemat(tmp_path / "m.mat", {"X": X, "Y": y, "feature_names": names})
    assert read_source("m", {"path": str(tmp_path / "m.mat")}, 0).features.names == names.tolist()


def test_lists_of_indices_are_ones(matrix, tmp_path):
    X, y = matrix
    raw, _ = assert_agree("m", write_nips(X, y, tmp_path, "sparse-binary"))
    assert np.array_equal(raw.features.matrix(), X != 0)
    folder = tmp_path
    assert source_files("m", {"path": str(folder / "m_train.data")}) == [
        str(folder / file) for file in ("m_train.data", "m_train.labels", "m.param")
    ]


def test_labels_of_a_mat_file_may_be_texts(matrix, tmp_path):
    X, _ = matrix
    for labels in (np.array(["u", "v"] * 30, dtype=object)[:, None], np.array(["u", "v"] * 30)):
        scipy.io.savemat(tmp_path / "m.mat", {"X": X, "Y": labels})
        raw, _ = assert_agree("m", {"path": str(tmp_path / "m.mat")})
        assert raw.target.levels == ("u", "v") and raw.target.values[:3].tolist() == [0, 1, 0]


def test_query_numbers_and_columns_of_obs_can_be_groups(matrix, tmp_path):
    X, y = matrix
    dump_svmlight_file(X, y, str(tmp_path / "q.txt"), zero_based=False, query_id=np.arange(N) // 10)
    raw, facts = assert_agree("m", {"path": str(tmp_path / "q.txt"), "groups": "qid"})
    assert raw.groups.tolist() == (np.arange(N) // 10).tolist() and facts.n_groups == 6
    assert "qid" not in read_source("m", {"path": str(tmp_path / "q.txt")}, 0).features.names
    raw, _ = assert_agree("m", write_h5ad(X, y, tmp_path) | {"groups": "donor"})
    assert raw.groups.tolist() == [i % 4 for i in range(N)] and len(raw.features) == 7


# --- written by the library, read by ours -------------------------------------------------------------------

CELLS = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=6),
    elements=st.sampled_from([0, 0, 0, 1, -2, 0.25, 1e9]),
)


@settings(deadline=None, max_examples=30)
@given(X=CELLS)
def test_any_matrix_comes_back(tmp_path_factory, X):
    folder = tmp_path_factory.mktemp("any")
    y = np.arange(len(X)) % 2
    X[0, -1] = 3  # svmlight does not say how many columns there are
    for write in (write_svmlight, write_matlab, write_matlab_sparse):
        found = read_source("m", write(X, y, folder), 0)
        assert np.array_equal(found.features.matrix(), X)


#: The library's writer leaves braces unquoted, and its reader is right to refuse them.
CHARACTERS = st.characters(codec="utf-8", exclude_categories=["C"], exclude_characters="{}")
LABEL = st.text(CHARACTERS, min_size=1, max_size=6).map(str.strip)
LABELS = st.lists(LABEL.filter(lambda text: text and text != "?"), min_size=2, max_size=4, unique=True)


@settings(deadline=None, max_examples=40)
@given(labels=LABELS, data=st.data())
def test_any_labels_of_an_arff_file_come_back(tmp_path_factory, labels, data):
    picked = data.draw(st.lists(st.sampled_from([*labels, None]), min_size=3, max_size=8))
    rows = [[label, i % 2] for i, label in enumerate(picked)]
    text = _arff.dumps({"relation": "r", "attributes": [("a b", labels), ("y", "NUMERIC")], "data": rows})
    path = tmp_path_factory.mktemp("any") / "t.arff"
    path.write_text(text, encoding="utf-8", newline="\n")
    column = read_source("t", {"path": str(path), "target": "y"}, 0).features["a b"]
    assert [column.levels[code] if code >= 0 else None for code in column.values] == picked


def test_what_a_sparse_arff_row_leaves_out_is_missing_where_the_first_label_is_empty(tmp_path):
    (tmp_path / "t.arff").write_text("@relation r\n@attribute y real\n@attribute k {,p}\n@data\n{0 5,1 p}\n{0 2}\n")
    column = read_source("t", {"path": str(tmp_path / "t.arff"), "target": "y"}, 0).features["k"]
    assert list(column.values) == [0, -1] and column.levels == ("p",)


# --- what files say of their columns ------------------------------------------------------------------------


def test_what_c45_ignores_is_no_feature_unless_named(tmp_path):
    (tmp_path / "t.names").write_text("yes,no\nid: ignore\nx: continuous\nk: discrete 3\nz: [ordered] low, high\n")
    (tmp_path / "t.data").write_text("a,1,u,low,yes\nb,2.5,v,high,no\n| a comment\nc,?,u,low,no\n")
    raw, _ = assert_agree("t", {"path": str(tmp_path / "t.data")})
    assert raw.features.names == ["x", "k", "z"] and raw.target.name == "class"
    assert [c.kind for c in raw.features.columns] == ["numeric", "categorical", "categorical"]
    raw, _ = assert_agree("t", {"path": str(tmp_path / "t.data"), "groups": "id"})
    assert raw.groups.tolist() == [0, 1, 2]
    assert_agree("t", {"path": str(tmp_path / "t.data"), "drop": ["id"]})
    (tmp_path / "t.names").write_text("z.\nid: ignore\nx: continuous\nk: discrete 3\nz: low, high\nw: yes, no\n")
    assert read_source("t", {"path": str(tmp_path / "t.data")}, 0).target.name == "z"  # C5.0


def test_what_orange_flags_as_meta_is_no_feature_unless_named(tmp_path):
    text = "who\tx\tw\ty\ns\tc\t\td\nmeta\t\ti\tclass\n"
    (tmp_path / "t.tab").write_text(text + "a\t1\t5\tu\nb\t.\t5\tv\nc\t3\t5\tu\n")
    raw, facts = assert_agree("t", {"path": str(tmp_path / "t.tab")})
    assert raw.features.names == ["x"] and raw.target.name == "y" and facts.n_missing == 1
    assert assert_agree("t", {"path": str(tmp_path / "t.tab"), "groups": "who"})[0].groups.tolist() == [0, 1, 2]
    (tmp_path / "letters.tsv").write_text("a\ty\ns\tc\nm\tc\ni\td\n")
    assert read_source("t", {"path": str(tmp_path / "letters.tsv"), "target": "y"}, 0).features["a"].levels == (*"ims",)
    (tmp_path / "plain.tab").write_text("a\tb\ty\n1\t2\tu\n3\t4\tv\n")
    assert read_source("t", {"path": str(tmp_path / "plain.tab"), "target": "y"}, 0).features.names == ["a", "b"]


@pytest.mark.parametrize(
    "text", ["1,a,2\n3,b,4\n5,a,6\n", "\n 1   a  2\n3 a   4 \n5  b 6\n", "1\ta\t2\n3\tb\t4\n5\tb\t6\n"]
)
def test_without_a_header_columns_are_numbered(tmp_path, text):
    (tmp_path / "t.data").write_text(text)
    spec = {"path": str(tmp_path / "t.data"), "header": "none", "target": "x2", "task": "regression"}
    raw, _ = assert_agree("t", spec)
    assert raw.features.names == ["x0", "x1"] and raw.target.values.tolist() == [2, 4, 6]
    assert raw.features["x0"].values.tolist() == [1, 3, 5] and raw.features["x1"].kind == "categorical"


def test_formats_can_be_forced(tmp_path):
    (tmp_path / "t.txt").write_text("1 1:2\n0 1:3\n")
    assert read_source("t", {"path": str(tmp_path / "t.txt"), "format": "svmlight"}, 0).features.names == ["f1"]
    with pytest.raises(DataError, match=r"t: .*is not a readable MATLAB file"):
        read_source("t", {"path": str(tmp_path / "t.txt"), "format": "matlab"}, 0)


# --- what is refused ----------------------------------------------------------------------------------------

ARFF = "@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n"
PARAM = "Data type: sparse-integer\nNumber of features: 3\n"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"t.arff": ARFF + "1,a\n2,c\n"},
            r"t\.arff, line 6: 'c' is not among the labels that are declared for 'y'\. Mend",
        ),
        ({"t.arff": ARFF + "1,a\nz,b\n"}, r"t\.arff, line 6: 'z' is not a number, but 'x' is declared numeric\. Mend"),
        ({"t.arff": ARFF + "1,a,3\n"}, "line 5: it has 3 cells, but 2 attributes are declared"),
        ({"t.arff": ARFF.replace("numeric", "numbers") + "1,a\n"}, "line 2.* Known types are numeric"),
        ({"t.arff": ARFF.replace("numeric", "relational") + "1,a\n"}, "line 2.* is relational, a table in each cell"),
        ({"t.arff": ARFF.replace("numeric", "date yyyy") + "1,a\n"}, "'1' is not a date of its form, but 'x'"),
        ({"t.arff": ARFF + "1,'a\n"}, 'line 5: "1,\'a" is not a row of cells between commas'),
        ({"t.arff": ARFF.replace("numeric", "integer") + "inf,a\n"}, "line 5: 'inf' is not a number"),
        ({"t.arff": ARFF + "{0 1,1 b}\n{0 1,0 2}\n"}, "line 6: .* each index once"),
        ({"t.arff": ARFF + "{2 1}\n"}, "line 5: index 2 is not below the 2 declared attributes"),
        ({"t.arff": ARFF.replace("@data", "@attribute x real\n@data")}, "line 4: attribute 'x' is declared twice"),
        ({"t.arff": ARFF.replace("@data", "@dta")}, "line 4: '@dta' is neither @relation"),
        ({"t.arff": ARFF}, "has no rows"),
        ({"t.arff": ARFF.replace("@data\n", "")}, "has no line @data below its attributes"),
        ({"t.svm": "1 1:2\n0 0:3\n"}, r"t\.svm, line 2: index 0\. Indices count from 1"),
        ({"t.svm": "1 1:2\n0 3:3 2:1\n"}, "line 2: index 2 comes after 3. Indices must ascend"),
        ({"t.svm": "1 1:2\n0,1 2:1\n"}, "line 2: the labels '0,1' are not one number"),
        ({"t.svm": "1 1:2\nu 2:1\n"}, "line 2: the label 'u' is not a number"),
        ({"t.svm": "1 1:2\n1 2:z\n"}, "line 2: '2:z' is not a pair index:value"),
        ({"t.data": "1:2 3:4\n2:1\n", "t.labels": "1\n", "t.param": PARAM}, "has 2 rows, but .*labels has 1 labels"),
        (
            {"t.data": "1:2 3:4\n4:1\n", "t.labels": "1\n0\n", "t.param": PARAM},
            "line 2: index 4, but .* states 3 features",
        ),
        ({"t.data": "1:2\n0:1\n", "t.labels": "1\n0\n", "t.param": PARAM}, "line 2: index 0"),
        ({"t.data": "1:2\n1:1 1:2\n", "t.labels": "1\n0\n", "t.param": PARAM}, "line 2: an index occurs twice"),
        (
            {"t.data": "1:2\n1:1 3\n", "t.labels": "1\n0\n", "t.param": PARAM},
            "line 2: '1:1 3' holds no pairs index:value",
        ),
        ({"t.data": "1:2\n1:1\n", "t.labels": "1\nu\n", "t.param": PARAM}, r"labels, line 2: 'u' is not a number"),
        ({"t.data": "1:2\n1:1\n"}, r"has no labels: there is no file .*t\.labels"),
        ({"t.data": "1 2\n1\n", "t.labels": "1\n0\n"}, r"does not tell its kind and there is no .*t\.param"),
        ({"t.data": "1 2\n1\n", "t.labels": "1\n0\n", "t.param": "?"}, "must state 'Data type"),
        (
            {"t.data": "1,u\n", "t.names": "u,v\nx: continuous\nz: continuous\n"},
            "line 1 has 2 cells, but t.names declares 3",
        ),
        (
            {"t.data": "1,u\nb,v\n", "t.names": "u,v\nx: continuous\n"},
            "line 2: 'b' is not a number, but column 'x' is declared",
        ),
        (
            {"t.data": "1,u\n2,w\n", "t.names": "u,v\nx: continuous\n"},
            "line 2: 'class' is 'w', but t.names declares u, v",
        ),
        (
            {"t.data": "1,u\n2,v\n", "t.names": "1. Title: Some data\n\nBy somebody.\n"},
            "not in C4.5's format .*header: none",
        ),
        ({"t.tab": "x\ty\nc\td\n\tclass\nu\ta\n"}, "line 4: 'u' is not a number, but column 'x' is declared"),
        ({"t.tab": "x\ty\nc\ta b\n\tclass\n1\ta\n2\tq\n"}, "line 5: 'y' is 'q', but the second line declares 'a b'"),
        ({"t.tab": "x\ty\nc\td\n\tclass\n1\n"}, "line 4 has 1 cells, but the header has 2"),
        ({"t.tab": "x\ty\nc\td\n\tclass\n"}, "no rows"),
        ({"t.xlsx": b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml"}, "office program. Save the table as .xlsx"),
        ({"t.feather": b"FEA1" + bytes(30)}, "Feather file of version 1. Write it again"),
        ({"t.tab": "x\ty\ntime\td\n\tclass\n1\ta\n"}, "column 'x' holds times"),
        ({"t.mat": b"MATLAB 5.0 MAT-file" + bytes(200)}, "is not a readable MATLAB file"),
        (
            {"t.mat": b"MATLAB 7.3 MAT-file" + bytes(105) + b"\x00\x02IM" + bytes(400)},
            "version 7.3.* save\\(file, '-v7'\\)",
        ),
        ({"t.feather": b"ARROW1\0\0" + bytes(30)}, "is not a readable Arrow file"),
        ({"t.h5ad": b"\x89HDF\r\n\x1a\n" + bytes(50)}, r"is not a readable \.h5ad file"),
        ({"t.db": b"SQLite format 3\0" + b"x" * 200}, "set query|Set query"),
    ],
)
def test_malformed_files_are_refused_in_words(tmp_path, files, message):
    for file, content in files.items():
        (tmp_path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    spec = {"path": str(tmp_path / next(iter(files))), "target": "y" if "arff" in str(files) else None}
    for look in (lambda: peek("t", spec), lambda: read_source("t", spec, 0)):
        with pytest.raises((DataError, ConfigError), match=f"(?s)^t: .*{message}"):
            look()


def test_a_mat_file_whose_variables_cannot_be_told_is_refused(tmp_path):
    path = tmp_path / "t.mat"
    spec = {"path": str(path)}
    scipy.io.savemat(path, {"A": np.eye(3), "B": np.eye(3), "Y": np.arange(3)})
    with pytest.raises(DataError, match=r"several matrices, .*; it holds A 3x3, B 3x3, Y 1x3\. .* member: A"):
        read_source("t", spec, 0)
    scipy.io.savemat(path, {"X": np.eye(3), "Y": np.arange(4)})
    with pytest.raises(DataError, match="has 3 rows in 'X' but 4 in 'Y'"):
        read_source("t", spec, 0)
    with pytest.raises(DataError, match="target names 'Yy', which is neither"):
        read_source("t", spec | {"target": "Yy"}, 0)
    scipy.io.savemat(path, {"X": np.eye(3)})
    with pytest.raises(ConfigError, match=r"set target .* The last column is 'x2'"):
        read_source("t", spec, 0)


def test_truncated_files_are_refused(study, matrix, tmp_path):
    for write, file in ((write_matlab, "m.mat"), (write_h5ad, "m.h5ad")):
        spec = write(*matrix, tmp_path)
        whole = (tmp_path / file).read_bytes()
        (tmp_path / file).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(DataError, match=r"t: .* is not a readable"):
            read_source("t", spec, 0)
    for write, file in ((write_feather, "t.feather"), (write_duckdb, "t.duckdb"), (write_sqlite, "t.db")):
        spec = write(study, tmp_path)
        whole = (tmp_path / file).read_bytes()
        (tmp_path / file).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(DataError, match=r"t: .*(is not a readable|failed)"):
            read_source("t", spec, 0)


# --- the facts that are kept --------------------------------------------------------------------------------


def test_a_changed_file_or_companion_is_looked_at_again(tmp_path):
    (tmp_path / "t.names").write_text("yes,no\nx: continuous\n")
    (tmp_path / "t.data").write_text("1,yes\n2,no\n3,no\n")
    spec = {"path": str(tmp_path / "t.data")}
    assert peek("t", spec).n_rows == 3
    (tmp_path / "t.data").write_text("1,yes\n2,no\n3,no\n4,yes\n")
    assert peek("t", spec).n_rows == 4
    (tmp_path / "t.names").write_text("yes,no\nheight: continuous\n")
    assert peek("t", spec).feature_names == ("height",)
    assert peek("t", spec | {"test_rows": 1}).class_counts == {"no": 2, "yes": 1}


def test_a_second_look_loads_no_package(matrix, tmp_path):
    specs = [write(*matrix, tmp_path) for write in (write_svmlight, write_h5ad, write_matlab)]
    for spec in specs:
        peek("m", spec)
    code = (
        "import sys; from blanketflow.workflow.peek import peek\n"
        f"for spec in {specs!r}: peek('m', spec)\n"
        "print([m for m in ('pandas', 'pyarrow', 'scipy', 'sklearn', 'anndata', 'urllib.request') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_cache_that_cannot_be_written_is_said(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BLANKETFLOW_CACHE", str(tmp_path / "file"))
    (tmp_path / "t.svm").write_text("1 1:2\n0 1:3\n")
    with pytest.raises(DataError, match=r"t: .* cannot be written .* Set BLANKETFLOW_CACHE"):
        peek("t", {"path": str(tmp_path / "t.svm")})


# --- real files ---------------------------------------------------------------------------------------------


def real(name):
    path = ROOT / name
    if not path.is_file():
        pytest.skip("no real data: set BLANKETFLOW_DATA to a folder of data sets")
    return str(path)


def test_real_matlab_files_equal_the_stored_arrays():
    raw, _ = assert_agree("colon", {"path": real("formats/colon.mat")})
    stored = read_source("colon", {"path": real("colon/colon.npz")}, 0)
    assert np.array_equal(raw.features.matrix(), stored.features.matrix()) and raw.target.levels == ("-1", "1")
    assert np.array_equal(raw.target.values, stored.target.values)
    dexter = {"path": real("formats/dexter_sparse.mat"), "target": "x19999"}
    raw, _ = assert_agree("dexter", dexter)
    stored = read_source("dexter", {"path": real("dexter/dexter.npz")}, 0)
    assert np.array_equal(raw.features.matrix(), stored.features.matrix(raw.features.names)[:300])
    assert np.array_equal(raw.target.values, stored.target.values[:300])


def test_real_nips_2003_files_equal_the_stored_arrays():
    raw, _ = assert_agree("dexter", {"path": real("formats/nips_dexter_valid.data")})
    stored = read_source("dexter", {"path": real("dexter/dexter.npz")}, 0)
    assert isinstance(raw.features.columns[0].values, SparseValues)
    assert np.array_equal(raw.features.matrix(), stored.features.matrix()[300:])
    assert np.array_equal(raw.target.values, stored.target.values[300:])


def test_a_real_arff_file_equals_the_stored_table():
    raw, _ = assert_agree("credit", {"path": real("formats/credit.a.arff"), "target": "class"})
    stored = read_source("credit", {"path": real("credit_approval/credit_approval.csv"), "target": "target"}, 0)
    for a, b in zip((*raw.features.columns, raw.target), (*stored.features.columns, stored.target), strict=True):
        assert a.levels == b.levels and np.array_equal(a.numbers(), b.numbers(), equal_nan=True)


def test_a_real_file_without_header_equals_the_stored_table():
    spec = {"path": real("formats/ionosphere.data"), "header": "none", "target": "x34"}
    raw, _ = assert_agree("ionosphere", spec)
    stored = read_source("ionosphere", {"path": real("ionosphere/ionosphere.csv"), "target": "target"}, 0)
    assert np.array_equal(raw.features.matrix(), stored.features.matrix())
    assert np.array_equal(raw.target.values, stored.target.values)
    with pytest.raises(DataError, match=r"ionosphere\.names is not in C4\.5's format .* set header: none"):
        read_source("ionosphere", {"path": spec["path"]}, 0)


def test_a_real_libsvm_file_has_the_classes_and_codes_of_the_stored_table():
    raw, _ = assert_agree("mushrooms", {"path": real("formats/mushrooms.libsvm.gz")})
    stored = read_source("mushroom", {"path": real("mushroom/mushroom.csv"), "target": "target"}, 0)
    assert raw.features.n_rows == stored.features.n_rows == 8124
    assert np.bincount(raw.target.values).tolist() in ([3916, 4208], [4208, 3916])
    assert (raw.features.matrix().sum(axis=1) <= 22).all() and set(np.unique(raw.features.matrix())) == {0, 1}
    with pytest.raises(DataError, match="line 2: the labels '1,0' are not one number"):
        read_source("t", {"path": real("formats/svmlight_multilabel.txt")}, 0)


def test_real_orange_files():
    raw, _ = assert_agree("heart", {"path": real("formats/heart_disease.tab")})
    assert (raw.features.n_rows, len(raw.features), raw.target.name) == (303, 13, "diameter narrowing")
    assert raw.features["rest ECG"].levels == ("ST-T abnormal", "left vent hypertrophy", "normal")
    raw, _ = assert_agree("imports", {"path": real("formats/imports-85.tab")})
    assert (
        raw.target.name == "price" and raw.task.name == "regression" and raw.features["symboling"].kind == "categorical"
    )
