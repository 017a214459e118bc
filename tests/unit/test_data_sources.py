"""From spec to table: targets, kinds, missing cells, groups, notes; and that a peek agrees with reading."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from blanketflow.core.errors import ConfigError, DataError
from blanketflow.core.table import SparseValues
from blanketflow.data.bundled import BUNDLED
from blanketflow.data.card import make_card
from blanketflow.data.findings import findings
from blanketflow.data.sources import read_source, read_source_network
from blanketflow.workflow import peek as peek_module
from blanketflow.workflow.peek import peek

CSV = """id,age,site,score,copy,flat,y
a1,30,1,0.5,0.5,7,no
a2,,2,1.5,1.5,7,yes
a3,50,1,NA,NA,7,no
a4,60,2,2.5,2.5,7,
a5,70,2,3.5,3.5,7,yes
"""


def csv_file(tmp_path, content=CSV):
    path = tmp_path / "study.csv"
    path.write_text(content)
    return str(path)


def assert_agree(name, spec, seed=0):
    """Check that a peek finds what reading finds."""
    raw, facts = read_source(name, spec, seed), peek(name, spec, seed)
    assert facts.exact
    assert facts.n_rows == raw.features.n_rows
    assert tuple(facts.feature_names) == tuple(raw.features.names)
    assert facts.n_features == len(raw.features)
    assert facts.kinds == tuple(sorted({c.kind for c in raw.features.columns}))
    assert (facts.task, facts.task_reason) == raw.task
    if raw.task.name == "classification":
        counts = np.bincount(raw.target.values, minlength=len(raw.target.levels)).tolist()
        assert facts.class_counts == dict(zip(raw.target.levels, counts, strict=True))
        assert facts.n_classes == len(counts)
    else:
        assert facts.class_counts is None and facts.n_classes is None
    assert facts.n_missing in (None, sum(c.n_missing() for c in raw.features.columns))
    assert facts.truth == raw.truth
    return raw, facts


def test_a_small_study_worked_by_hand(tmp_path):
    spec = {"path": csv_file(tmp_path), "target": "y", "drop": ["id"], "categorical": ["site"]}
    raw, facts = assert_agree("study", spec)
    assert raw.features.names == ["age", "site", "score", "copy", "flat"]
    assert raw.features.n_rows == 4 and raw.target.levels == ("no", "yes")
    assert raw.target.values.tolist() == [0, 1, 0, 1]
    assert raw.features["site"].levels == ("1", "2") and raw.features["site"].kind == "categorical"
    assert raw.features["age"].kind == "integer" and raw.features["age"].n_missing() == 1
    assert raw.constant == ("flat",) and raw.duplicates == (("score", "copy"),)
    assert facts.n_missing == 3
    notes = " | ".join(raw.notes)
    for part in ("1 rows have no target 'y'", "3 missing cells in 'age', 'score', 'copy'"):
        assert part in notes


def test_missing_policies(tmp_path):
    spec = {"path": csv_file(tmp_path), "target": "y", "drop": ["id"]}
    raw, facts = assert_agree("study", spec | {"missing": "drop"})
    assert raw.features["age"].values.tolist() == [30, 70] and facts.n_missing == 0
    for look in (peek, lambda *a: read_source(*a, 0)):
        with pytest.raises(DataError, match=r"study: 3 missing cells in 'age', 'score', 'copy'.*missing: impute"):
            look("study", spec | {"missing": "error"})


def test_groups_are_numbered_and_leave_the_features(tmp_path):
    spec = {"path": csv_file(tmp_path), "target": "y", "drop": ["id"], "groups": "site"}
    raw, facts = assert_agree("study", spec)
    assert raw.groups.tolist() == [0, 1, 0, 1] and "site" not in raw.features.names and facts.n_groups == 2
    with pytest.raises(DataError, match="groups column 'age' is missing in 1 rows"):
        read_source("study", spec | {"groups": "age"}, 0)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"target": None}, ConfigError, "set target .* The last column is 'y'"),
        ({"target": "Y"}, DataError, "target names the column 'Y', which is not there"),
        ({"target": "scroe"}, DataError, "Did you mean 'score'"),
        ({"drop": ["agee"]}, DataError, "drop names the column 'agee'.*Did you mean 'age'"),
        ({"categorical": ["sites"]}, DataError, "categorical names .*Did you mean 'site'"),
        ({"groups": "sit"}, DataError, "groups names .*Did you mean 'site'"),
        ({"drop": ["y"]}, DataError, "'y' is the target and cannot"),
        ({"drop": ["id", "age", "site", "score", "copy", "flat"]}, DataError, "no features are left"),
        ({"target": "flat"}, DataError, "one class only, '7'"),
        ({"task": "regression"}, DataError, "study: target 'y' holds text"),
        ({"task": "regresion"}, ConfigError, "Did you mean 'regression'"),
        ({"missing": "imput"}, ConfigError, "Did you mean 'impute'"),
        ({"path": None}, ConfigError, "either source"),
        ({"source": "sklearn:wine"}, ConfigError, "either source"),
        ({"path": None, "source": "sklearn:wines"}, ConfigError, "Did you mean 'wine'"),
        ({"path": None, "source": "openmel:3"}, ConfigError, "source 'openmel:3' is unknown"),
        ({"path": None, "source": "openml:iris"}, ConfigError, "needs the number of a data set"),
        ({"format": "excel"}, ConfigError, "format is 'excel'"),
        ({"query": "SELECT 1"}, ConfigError, "is not a database: remove query"),
        ({"path": None, "source": "simulate:clinc"}, ConfigError, "Did you mean 'clinic'"),
        ({"path": None, "source": "simulate:clinic", "target": "fevr"}, ConfigError, "Did you mean 'fever'"),
        ({"path": None, "source": "simulate:clinic", "target": None, "rows": 0}, ConfigError, "rows is 0"),
    ],
)
def test_peek_and_read_raise_the_same_error(tmp_path, change, error, message):
    spec = {"path": csv_file(tmp_path), "target": "y", "drop": ["id"]} | change
    texts = []
    for look in (lambda: peek("study", spec), lambda: read_source("study", spec, 0)):
        with pytest.raises(error, match=message) as caught:
            look()
        texts.append(str(caught.value))
    assert texts[0] == texts[1] and texts[0].startswith("study: ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,y\ninf,1\n2,0\n", "column 'a' holds infinite values"),
        ("a,y\n1,\n2,NA\n", "the target 'y' is missing in every"),
    ],
)
def test_unusable_files(tmp_path, content, message):
    spec = {"path": csv_file(tmp_path, content), "target": "y"}
    for look in (lambda: peek("study", spec), lambda: read_source("study", spec, 0)):
        with pytest.raises(DataError, match=f"^study: .*{message}"):
            look()


def test_a_mistyped_path_is_offered_its_neighbour(tmp_path):
    spec = {"path": csv_file(tmp_path).replace("study", "stduy"), "target": "y"}
    with pytest.raises(DataError, match=r"no file .*Did you mean 'study.csv'"):
        peek("study", spec)


def test_identifiers_are_noticed(tmp_path):
    rows = "".join(f"patient-{i},{i % 7},{i % 2}\n" for i in range(60))
    raw = read_source("study", {"path": csv_file(tmp_path, "who,x,y\n" + rows), "target": "y"}, 0)
    assert [finding.columns for finding in findings(raw) if finding.kind == "identifier"] == [("who",)]


@pytest.mark.parametrize("identifier", sorted(BUNDLED))
def test_stored_facts_equal_scikit_learn(identifier):
    raw, _ = assert_agree(identifier, {"source": f"sklearn:{identifier}"})
    assert_agree(identifier, {"source": f"sklearn:{identifier}", "drop": raw.features.names[:2]})
    assert_agree(identifier, {"source": f"sklearn:{identifier}", "categorical": raw.features.names[:1]})


def test_bundled_with_unforeseen_keys():
    raw, facts = assert_agree("wine", {"source": "sklearn:wine", "target": "alcohol"})
    assert facts.task == "regression" and "target" in raw.features.names
    assert_agree("diabetes", {"source": "sklearn:diabetes", "task": "classification"})


def test_simulated_sources():
    raw, facts = assert_agree("sim", {"source": "simulate:clinic", "rows": 300}, seed=5)
    assert facts.n_rows == 300 and "infection" in facts.truth["parents"]
    again = read_source("sim", {"source": "simulate:clinic", "rows": 300}, 5)
    assert all(
        np.array_equal(a.values, b.values) for a, b in zip(raw.features.columns, again.features.columns, strict=True)
    )
    raw, _ = assert_agree("sim", {"source": "simulate:greenhouse", "target": "height", "drop": ["wind"]})
    assert raw.truth is None and "blanket is not known" in raw.notes[0]


def test_large_simulations_are_looked_at_through_a_sample(monkeypatch):
    monkeypatch.setattr(peek_module, "HEAD_ROWS", 100)
    facts = peek("sim", {"source": "simulate:greenhouse", "rows": 100_000})
    assert (facts.n_rows, facts.exact, facts.n_missing) == (100_000, False, None)


def test_dense_npz(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    path = tmp_path / "wide.npz"
    np.savez_compressed(path, X=X, feature_names=np.array(["a", "b", "c"]))
    with pytest.raises(DataError, match=r"no array 'y' and there is no target file .*wide.y.csv"):
        peek("wide", {"path": str(path)})
    (tmp_path / "wide.y.csv").write_text("target\n-1\n1\n?\n1\n")
    raw, _ = assert_agree("wide", {"path": str(path), "categorical": ["b"], "drop": ["c"]})
    assert raw.features["a"].values.tolist() == [0, 3, 9] and raw.target.levels == ("-1", "1")
    assert raw.features["b"].levels == ("1", "4", "10")
    with pytest.raises(DataError, match=r"target names the column 'targt'.*Did you mean 'target'"):
        peek("wide", {"path": str(path), "target": "targt"})
    (tmp_path / "short.csv").write_text("target\n1\n0\n")
    with pytest.raises(DataError, match="has 4 rows, but its target 'target' has 2"):
        peek("wide", {"path": str(path), "target_path": str(tmp_path / "short.csv")})


def test_npz_with_its_target_inside_and_pickles_refused(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=np.eye(4, dtype=np.int8), y=np.array(["u", "v", "u", "v"]))
    raw, facts = assert_agree("t", {"path": str(path), "target": "outcome"})
    assert raw.target.name == "outcome" and facts.kinds == ("integer",) and facts.feature_names[0] == "x0"
    np.savez(path, X=np.array([[1, "a"]], dtype=object), y=np.array([1]))
    with pytest.raises(DataError, match="must hold numbers"):
        peek("t", {"path": str(path)})
    np.savez(path, Z=np.eye(2))
    with pytest.raises(DataError, match="no array 'X'"):
        peek("t", {"path": str(path)})
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(DataError, match=r"not a readable \.npz"):
        peek("t", {"path": str(path)})


def test_sparse_npz_stays_sparse(tmp_path):
    X = scipy.sparse.csr_matrix(np.array([[0, 5], [1, 0], [0, 0], [1, 2]], dtype=np.int16))
    scipy.sparse.save_npz(tmp_path / "s.npz", X)
    (tmp_path / "s.y.csv").write_text("target\n1\n0\n1\n0\n")
    raw, _ = assert_agree("s", {"path": str(tmp_path / "s.npz")})
    assert isinstance(raw.features["x1"].values, SparseValues)
    assert raw.features["x1"].numbers().tolist() == [5, 0, 0, 2]


def test_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table(
        {
            "i": pa.array([1, None, 3, 4], pa.int32()),
            "f": [0.5, float("nan"), 1.5, 2.5],
            "b": [True, False, None, True],
            "t": pa.array(["10", "9", None, "9"]).dictionary_encode(),
            "y": ["u", "v", "u", None],
        }
    )
    pq.write_table(table, path)
    raw, facts = assert_agree("t", {"path": str(path), "target": "y"})
    assert [c.kind for c in raw.features.columns] == ["integer", "numeric", "boolean", "categorical"]
    assert raw.features["t"].levels == ("9", "10") and facts.n_missing == 4
    pq.write_table(table.append_column("when", pa.array([0, 1, 2, 3], pa.timestamp("s"))), path)
    with pytest.raises(DataError, match="t: column 'when' has the type timestamp"):
        read_source("t", {"path": str(path), "target": "y"}, 0)


def test_large_parquet_is_looked_at_through_its_head(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": np.arange(300_000), "y": np.arange(300_000) % 2}), path)
    facts = peek("t", {"path": str(path), "target": "y"})
    assert (facts.n_rows, facts.exact, facts.n_classes, facts.class_counts) == (300_000, False, 2, None)


def test_a_head_with_one_class_is_no_error(tmp_path):
    content = "x,y\n" + "".join(f"{i}.25,{'a' if i < 100_000 else 'b'}\n" for i in range(110_000))
    facts = peek("t", {"path": csv_file(tmp_path, content), "target": "y"})
    assert not facts.exact and facts.class_counts is None and facts.n_rows == pytest.approx(110_000, rel=0.05)


def test_the_card_is_json_and_its_hash_is_of_the_content(tmp_path):
    spec = {"path": csv_file(tmp_path), "target": "y", "drop": ["id"]}
    raw = read_source("study", spec, 0)
    card = make_card("study", raw, spec)
    assert json.loads(json.dumps(card)) == card
    assert card["target"] == {"name": "y", "classes": {"no": 2, "yes": 2}}
    assert card["missing"]["by_column"] == {"age": 1, "score": 1, "copy": 1}
    assert card["duplicates"] == [{"kept": "score", "duplicate": "copy"}] and card["constant"] == ["flat"]
    changed = read_source("study", spec | {"path": csv_file(tmp_path, CSV.replace("70", "71"))}, 0)
    assert make_card("study", changed, spec)["content_hash"] != card["content_hash"]
    same = read_source("study", spec | {"path": csv_file(tmp_path, CSV)}, 0)
    assert make_card("study", same, spec)["content_hash"] == card["content_hash"]


def test_the_card_of_a_regression():
    spec = {"source": "sklearn:diabetes"}
    target = make_card("d", read_source("d", spec, 0), spec)["target"]
    assert target["min"] == 25 and target["max"] == 346 and target["mean"] == pytest.approx(152.13, abs=0.01)


def test_a_peek_imports_nothing_heavy(tmp_path):
    code = (
        "import sys; from blanketflow.workflow.peek import peek\n"
        f"peek('a', {{'path': {csv_file(tmp_path)!r}, 'target': 'y'}}); peek('b', {{'source': 'sklearn:wine'}})\n"
        "peek('c', {'source': 'simulate:clinic'})\n"
        "print([m for m in ('pandas', 'pyarrow', 'scipy', 'sklearn', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_network_behind_a_source():
    assert "pneumonia" in read_source_network("t", "simulate:clinic").nodes
    known = {"sklearn:wine": "is not a network", "simulate:clinik": "clinic", "other:x": "unknown"}
    for source, message in known.items():
        with pytest.raises(ConfigError, match=message):
            read_source_network("t", source)
