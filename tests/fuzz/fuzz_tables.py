"""Target: the readers of tables. The first byte of an input says which, the second what is asked of the columns."""

import gzip
import io
import os
import tempfile
from pathlib import Path

import numpy as np
from oracle import bounded, refused_or

from blanketflow.core.errors import BlanketflowError
from blanketflow.data import column_roles, sources, text, text_by_arrow
from blanketflow.data.columns import names_of
from blanketflow.data.formats.loaded import Loaded
from blanketflow.data.simulate import simulate
from blanketflow.workflow import peek

#: How a file is read. "told": by its content. HDF5, DuckDB and SQLite files are read whole by C code of others.
#: `found/` holds inputs of this order: a new one stands last.
READERS = ("csv", "bare", "told", "arff", "svmlight", "c45", "orange", "nips2003", "matlab", "npz", "parquet", "arrow")
#: What stands between a file and its companions: c45's names; the labels and parameters of nips2003.
BETWEEN = b"\n=====\n"
#: A wide table with a categorical feature is held column by column: some 10 microseconds each, of millions of them.
MOST_HELD_SINGLY = 100_000
#: Formats of which the plan looks at the head; others are read whole.
PEEKED = {"csv", "npz", "parquet"}
#: The first byte of a seed is readable.
_AT = 48


def one_input(data: bytes) -> None:
    """Read a table; what is read must be consistent, and what the plan saw of it equal."""
    if len(data) < 2:
        return
    reader, asked = READERS[data[0] % len(READERS)], data[1]
    with tempfile.TemporaryDirectory(dir=_memory()) as folder, bounded():
        os.environ["BLANKETFLOW_CACHE"] = str(Path(folder, "cache"))
        path = _write(Path(folder), reader, data[2:])
        spec = {"path": str(path)}
        if reader == "bare":
            spec |= {"format": "csv", "header": "none"}
        elif reader != "told":
            spec |= {"format": reader}
        source = refused_or(lambda: sources.locate("demo", spec), "demo")
        if source is None or source.kind in ("h5ad", "duckdb", "sqlite"):
            return
        loaded = refused_or(lambda: sources.load("demo", source, spec), "demo")
        if source.kind == "csv":
            _read_by_arrow(source, spec, loaded)
        if loaded is not None:
            _look_at(spec, source.kind, loaded, asked)


def seeds() -> dict[str, bytes]:
    """Return small good files, made here."""
    from pyarrow import feather, parquet
    from scipy.io import savemat
    from sklearn.datasets import dump_svmlight_file

    from blanketflow.data.arrow import column_to_arrow

    table, target, _ = simulate("clinic", 12, 1)
    names = table.names[:5] + ([target] if target not in table.names[:5] else [])
    columns = [table[name] for name in names]
    cells = [[c.levels[v] if c.levels else str(round(float(v), 2)) for v in c.values.tolist()] for c in columns]
    rows = list(zip(*cells, strict=True))
    text = "\n".join(map(",".join, [names, *rows])) + "\n"
    odd = 'a;"b ""x""";c\n1;"x\ny";true\n-2.5e-3;?;False\n;\u00e9;NA\n3,5;z;true\n'
    numbers = np.array([[0.0, 1.5, 2.0], [3.0, 0.0, 0.0], [0.0, -1.0, 7.0]])
    found = {f"csv-{i}": content.encode() for i, content in enumerate([text, odd, text.replace(",", "\t")])}
    found["csv-gz"] = gzip.compress(text.encode())
    found["bare-0"] = "\n".join(map(",".join, rows)).encode()
    found["bare-blanks"] = b"  1 2.5 x\n 3   4 y\n\n5 6 x\n"
    found["arff-dense"] = (
        b"% c\n@relation r\n@attribute 'a b' numeric\n@attribute c {x,'y z',w}\n@attribute s string\n"
        b"@attribute i integer\n@data\n1.5,x,'t',3\n?,'y z',u,4\n-1e3,x,?,0\n"
    )
    found["arff-sparse"] = (
        b"@RELATION r\n@ATTRIBUTE a REAL\n@ATTRIBUTE b NUMERIC\n@ATTRIBUTE k {p,q}\n@DATA\n{0 1.5,2 q}\n{1 2}\n{}\n"
    )
    written = io.BytesIO()
    dump_svmlight_file(numbers, [1, -1, 1], written, zero_based=False, query_id=[1, 1, 2])
    found["svmlight-0"] = written.getvalue()
    found["svmlight-1"] = b"+1 1:0.5 3:1e-3 # c\n-1 2:1\n"
    found["c45-0"] = b"1.5,a,x,no\n?,b,y,yes.\n2,a,x,no\n" + BETWEEN + (
        b"| c\nno, yes.\nage: continuous.\nk: a, b.\nw: discrete 3.\n"
    )  # fmt: skip
    found["c45-target"] = b"1,a,2\n3,b,4\n" + BETWEEN + b"k.\nu: continuous.\nk: a,b.\nv: ignore.\n"
    found["orange-0"] = b"a\tb\tc\td\nc\td\ts\tx y\n\tclass\tmeta\t\n1.5\tu\tt\tx\n?\tv\tt2\ty\n"
    labels = b"1\n-1\n1\n"
    for kind, body in (
        ("sparse-integer", b"1:3 3:2\n2:1\n\n"),
        ("sparse-binary", b"1 3\n2\n3\n"),
        ("non-sparse", b"1 2 3\n4 5 6\n7 8 9\n"),
    ):
        param = f"Data type: {kind}\nNumber of features: 3\n".encode()
        found[f"nips2003-{kind}"] = BETWEEN.join([body, labels, param])
    written = io.BytesIO()
    savemat(written, {"X": numbers, "Y": np.array([[1], [2], [1]])})
    found["matlab-0"] = written.getvalue()
    written = io.BytesIO()
    np.savez_compressed(written, X=numbers, y=np.array([0, 1, 0]))
    found["npz-0"] = written.getvalue()
    import pyarrow as pa

    held = pa.table([column_to_arrow(c) for c in columns[-3:]], names=names[-3:])[:4]
    written = io.BytesIO()
    parquet.write_table(held, written)
    found["parquet-0"] = written.getvalue()
    for compression in ("uncompressed", "lz4"):
        written = io.BytesIO()
        feather.write_feather(held, written, compression=compression)
        found[f"arrow-{compression}"] = written.getvalue()
    inputs = {}
    for name, content in found.items():
        reader = name.partition("-")[0]
        inputs[f"{name}-{reader}"] = bytes([_AT + READERS.index(reader), 64]) + content
        if reader not in ("bare", "c45", "nips2003"):
            inputs[f"{name}-told"] = bytes([_AT + READERS.index("told"), 65]) + content
    return inputs


def words() -> set[str]:
    """Return what a mutation may insert."""
    return {
        ",", ";", "\t", '"', "\r\n", "NA", "1e308", "-0.0", "inf", "nan", "9007199254740993", "true", "False",
        "@relation", "@attribute", "@data", "numeric", "string", "{a,b}", "continuous", "discrete 3", "ignore", "label",
        "qid:", "1:", "Data type: ", "Number of features: ", "sparse-integer", "99999999999", "class", "meta", "\ufeff",
    }  # fmt: skip


def _read_by_arrow(source: sources.Source, spec: dict, loaded: Loaded | None) -> None:
    """Check that pyarrow reads what the csv module read, which small files are not left to."""
    least = text.ARROW_BYTES, text_by_arrow.COLUMN_BYTES
    text.ARROW_BYTES = text_by_arrow.COLUMN_BYTES = 0
    try:
        again = refused_or(lambda: sources.load("demo", source, spec), "demo")
    finally:
        text.ARROW_BYTES, text_by_arrow.COLUMN_BYTES = least
    assert (again is None) == (loaded is None), "only one of both refuses a table"
    if again is not None and loaded is not None:
        without = {"columns": (), "row_names": None}
        assert again._replace(**without) == loaded._replace(**without), "something else was found out"
        both = [[*of.columns, *([of.row_names] if of.row_names is not None else [])] for of in (again, loaded)]
        for one, other in zip(*both, strict=True):
            assert (one.name, one.kind, one.levels) == (other.name, other.kind, other.levels)
            assert one.values.tobytes() == other.values.tobytes() and one.values.dtype == other.values.dtype


def _memory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _write(folder: Path, reader: str, content: bytes) -> Path:
    path = folder / "t.data"
    beside = {"c45": [".names"], "nips2003": [".labels", ".param"]}.get(reader, [])
    parts = content.split(BETWEEN, len(beside)) if beside else [content]
    for suffix, part in zip([".data", *beside], parts, strict=False):
        path.with_suffix(suffix).write_bytes(part)
    return path


def _look_at(spec: dict, kind: str, loaded: Loaded, asked: int) -> None:
    names = names_of(loaded.columns)
    if not names:
        return
    spec = dict(spec)
    if not loaded.target:
        spec["target"] = names[-1]
    if asked & 1 and len(names) <= MOST_HELD_SINGLY:
        spec["categorical"] = [names[0]]
    if asked & 2:
        spec["missing"] = "drop"
    if asked & 4 and len(names) > 1:
        spec["groups"] = names[0]
    if asked & 8:
        spec["task"] = "classification"
    whole = refused_or(lambda: sources.read_source("demo", spec, 0), "demo")
    if whole is not None:
        _check(whole)
    if kind in PEEKED:
        facts = _or_error(lambda: peek.peek("demo", spec))
        _agree(whole, facts, kind)


def _or_error(read):
    try:
        return read()
    except BlanketflowError as error:
        return error


def _check(read: column_roles.RawTable) -> None:
    """Check that a table can be worked on: lengths, codes, levels, no infinite cell."""
    n = read.features.n_rows
    assert n > 0 and len(read.features) > 0
    assert len(set(read.features.names)) == len(read.features.names) and all(read.features.names)
    assert read.target.name not in read.features.names
    for column in (*(read.features.columns[j] for j in range(min(len(read.features), 50))), read.target):
        assert column.n_rows == n, "columns of unequal length"
        if column.kind == "categorical":
            assert set(np.unique(column.values)) - {-1} == set(range(len(column.levels))), "codes are not those in use"
            assert len(set(column.levels)) == len(column.levels) and all(isinstance(v, str) for v in column.levels)
        else:
            assert not column.levels and not np.isinf(column.numbers()).any()
    assert not read.target.missing().any()
    assert read.groups is None or (len(read.groups) == n and read.groups.min() >= 0)
    assert (read.task.name == "classification") == (read.target.kind == "categorical")
    if read.target.kind == "categorical":
        assert len(read.target.levels) >= 2


def _agree(whole: column_roles.RawTable | None, facts: object, kind: str) -> None:
    """Check that the plan's look says what reading says, and refuses what reading refuses."""
    if whole is None:
        # The cells of a matrix are not looked at: infinite and missing ones are found when it is read.
        assert isinstance(facts, BlanketflowError) or kind == "npz", "a table that cannot be read passed the plan"
        return
    assert not isinstance(facts, BlanketflowError), f"the plan refused a table that can be read: {facts}"
    if not facts.exact or kind == "npz":
        return
    found = peek.facts_of(whole)
    assert facts == found, f"the plan saw {facts}, reading {found}"
