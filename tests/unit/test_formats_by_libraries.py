"""Tables in formats of other programs: each cell as it was written, and what is refused with a way out."""

import bz2
import datetime
import gzip
import hashlib
import io
import json
import lzma
import re
import sys
import zipfile

import anndata
import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
from pyarrow import orc

from blanketflow.cli import main
from blanketflow.core.errors import ConfigError, DataError
from blanketflow.core.formats import FORMATS
from blanketflow.data.columns import names_of
from blanketflow.data.formats import records
from blanketflow.data.sources import locate, read_columns, read_source, source_files
from blanketflow.workflow.peek import peek

N = 24
A, B, Y = list(range(N)), [i / 4 for i in range(N)], ["pq"[i % 3 == 0] for i in range(N)]
LABELS = [None if i == 5 else f"größe {i % 4}" for i in range(N)]
CSV = ("a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in zip(A, B, Y, strict=True))).encode()
DAY = datetime.date(2024, 5, 31)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BLANKETFLOW_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def cells(path, **keys):
    """Return the cells of each column, and what the reader says."""
    found = read_columns("t", {"path": str(path), **keys})
    return {column.name: list_of(column) for column in found.columns}, found


def list_of(column):
    numbers = column.numbers().tolist()
    if column.levels:
        return [(*column.levels, None)[code] for code in column.values]
    return [None if number != number else number for number in numbers]


def record(i):
    return {"a": A[i], "b": None if i == 3 else B[i], "s": LABELS[i], "f": i % 2 == 0, "y": Y[i]}


RECORDS = [record(i) for i in range(N)]
COLUMNS = {key: [row[key] for row in RECORDS] for key in RECORDS[0]}


def write_orc(path):
    orc.write_table(pa.table(COLUMNS), path)


def write_json_lines(path):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in RECORDS), encoding="utf-8")


def write_json_list(path):
    path.write_text(json.dumps(RECORDS, indent=1), encoding="utf-8")


def write_avro(path, codec="deflate"):
    fastavro = pytest.importorskip("fastavro")
    fields = {"a": "long", "b": ["null", "double"], "s": ["null", "string"], "f": "boolean"}
    fields["y"] = {"type": "enum", "name": "classes", "symbols": ["p", "q"]}
    schema = {"type": "record", "name": "row", "fields": [{"name": key, "type": of} for key, of in fields.items()]}
    with open(path, "wb") as file:
        fastavro.writer(file, schema, RECORDS, codec=codec, sync_interval=200)


def write_rds(path, compression="gzip"):
    rdata = pytest.importorskip("rdata")
    rdata.write_rds(path, r_frame(), compression=compression)


def r_frame():
    return pd.DataFrame(
        {
            "a": np.array(A, dtype=np.int32),
            "b": [np.nan if row["b"] is None else row["b"] for row in RECORDS],
            "s": pd.array(LABELS, dtype=pd.StringDtype("python")),
            "f": COLUMNS["f"],
            "y": pd.Categorical(pd.array(Y, dtype=object)),
        }
    )


def write_folder(path):
    for part, (start, stop) in enumerate(((0, 10), (10, N))):
        (path / f"part={part}").mkdir(parents=True)
        pq.write_table(pa.table(COLUMNS).slice(start, stop - start), path / f"part={part}/rows.parquet")


def write_xls(path):
    xlwt = pytest.importorskip("xlwt")
    book = xlwt.Workbook()
    book.add_sheet("nothing")
    sheet = book.add_sheet("Data")
    for i, row in enumerate([list(COLUMNS), *([*row.values()] for row in RECORDS)]):
        for j, cell in enumerate(row):
            if cell is not None:
                sheet.write(i + 2, j + 1, cell)  # a table may begin anywhere
    book.save(str(path))


def ods_cell(cell):
    if cell is None:
        return "<table:table-cell/>"
    if isinstance(cell, bool):
        stated = f'"boolean" office:boolean-value="{str(cell).lower()}"'
    elif isinstance(cell, int | float):
        stated = f'"float" office:value="{cell}"'
    elif isinstance(cell, datetime.date):
        stated = f'"date" office:date-value="{cell.isoformat()}"'
    else:
        stated = '"string"'
    return f"<table:table-cell office:value-type={stated}><text:p>{cell}</text:p></table:table-cell>"


def write_ods(path, rows=None, more=""):
    rows = rows or [list(COLUMNS), *([*row.values()] for row in RECORDS)]
    body = "".join(f"<table:table-row>{''.join(map(ods_cell, row))}</table:table-row>" for row in rows)
    of = "urn:oasis:names:tc:opendocument:xmlns"
    names = "".join(f' xmlns:{one}="{of}:{one}:1.0"' for one in ("office", "table", "text"))
    content = (
        f'<?xml version="1.0"?><office:document-content{names} office:version="1.2"><office:body><office:spreadsheet>'
        f'<table:table table:name="Data">{body}{more}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        f'<?xml version="1.0"?><manifest:manifest xmlns:manifest="{of}:manifest:1.0"><manifest:file-entry '
        f'manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("META-INF/manifest.xml", manifest)
        archive.writestr("content.xml", content, compress_type=zipfile.ZIP_DEFLATED)


WRITERS = {
    "t.orc": (write_orc, None),
    "t.jsonl": (write_json_lines, None),
    "t.json": (write_json_list, None),
    "t.avro": (write_avro, "fastavro"),
    "t.rds": (write_rds, "rdata"),
    "parts": (write_folder, None),
    "t.xls": (write_xls, "python_calamine"),
    "t.ods": (write_ods, "python_calamine"),
}


def written(name, folder):
    write, library = WRITERS[name]
    if library:
        pytest.importorskip(library)
    write(folder / name)
    return folder / name


@pytest.mark.parametrize("name", WRITERS)
def test_every_cell_is_as_it_was_written(name, tmp_path):
    found, loaded = cells(written(name, tmp_path))
    assert {key: found[key] for key in COLUMNS} == COLUMNS
    kinds = {column.name: column.kind for column in loaded.columns}
    assert kinds == {"a": "integer", "b": "numeric", "s": "categorical", "f": "boolean", "y": "categorical"} | (
        {"part": "integer"} if name == "parts" else {}
    )


@pytest.mark.parametrize("name", WRITERS)
def test_select_and_the_plan_read_it(name, tmp_path, capsys):
    path = written(name, tmp_path)
    spec = {"path": str(path), "target": "y"}
    assert peek("t", spec).class_counts == {"p": 16, "q": 8}
    raw = read_source("t", spec, 0)
    assert raw.features.n_rows == N and raw.missing and raw.target.levels == ("p", "q")
    assert main(["select", str(path), "--target", "y", "--method", "iamb", "--set", "alpha=0.5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_features"] == len(raw.features)


@pytest.mark.parametrize("library", ["fastavro", "rdata", "python_calamine", "biom"])
def test_a_missing_library_is_named_with_what_installs_it(library, tmp_path, monkeypatch):
    beginnings = {
        "fastavro": b"Obj\x01",
        "rdata": b"X\n\0\0\0\x03",
        "python_calamine": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "biom": b'{"format": "Biological Observation Matrix 1.0.0"}',
    }
    (tmp_path / "t").write_bytes(beginnings[library])
    monkeypatch.setitem(sys.modules, library, None)
    said = rf'^t: .* is read by {library}, which is not installed\. pip install "blanketflow\[formats\]"$'
    with pytest.raises(ConfigError, match=said):
        cells(tmp_path / "t")


# --- packed files -----------------------------------------------------------------------------------------------------


def zstd(content):
    with pa.BufferOutputStream() as sink:
        with pa.CompressedOutputStream(sink, "zstd") as file:
            file.write(content)
        return sink.getvalue().to_pybytes()


PACK = {"bz2": bz2.compress, "xz": lzma.compress, "zst": zstd, "gz": gzip.compress}


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


@pytest.mark.parametrize("end", PACK)
def test_packed_text_is_read(end, tmp_path):
    path = tmp_path / f"t.csv.{end}"
    path.write_bytes(PACK[end](CSV))
    assert cells(path)[0] == {"a": A, "b": B, "y": Y}
    assert source_files("t", {"path": str(path)}) == [str(path)]
    assert peek("t", {"path": str(path), "target": "y"}).n_rows == N


@pytest.mark.parametrize("end", PACK)
def test_a_packed_binary_file_is_read(end, tmp_path):
    written("t.orc", tmp_path)
    (tmp_path / f"t.orc.{end}").write_bytes(PACK[end]((tmp_path / "t.orc").read_bytes()))
    assert cells(tmp_path / f"t.orc.{end}")[0] == COLUMNS


@pytest.mark.parametrize("end", PACK)
def test_a_packed_file_that_is_cut_off_is_damaged(end, tmp_path):
    (tmp_path / f"t.csv.{end}").write_bytes(PACK[end](CSV * 3)[:-12])
    with pytest.raises(DataError, match=r"^t: .* is a damaged (bzip2|xz|zstd|gzip) file \(.*\)\. Fetch or"):
        cells(tmp_path / f"t.csv.{end}")


@pytest.mark.parametrize("end", [*PACK, "zip"])
def test_a_small_file_that_unpacks_to_too_much_is_refused(end, tmp_path, monkeypatch, cache):
    monkeypatch.setenv("BLANKETFLOW_MAX_GB", "0.001")
    content = b"a,y\n" + b"1,p\n" * 500_000
    path = tmp_path / f"t.{end}"
    path.write_bytes(PACK[end](content)) if end in PACK else archive(path, {"t.csv": content})
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match=r"^t: .* unpacks to more than 0\.001 GB\. .* BLANKETFLOW_MAX_GB"):
        cells(path)
    assert not [one for one in cache.rglob("*") if one.is_file()]


def test_the_copy_follows_the_file(tmp_path):
    path = tmp_path / "t.csv.bz2"
    path.write_bytes(bz2.compress(CSV))
    cells(path)
    path.write_bytes(bz2.compress(CSV.replace(b"a,b,y", b"c,b,y") + b"1,2,p\n"))
    assert len(cells(path)[0]["c"]) == N + 1


def test_the_digest_is_of_the_file_and_not_of_its_copy(tmp_path):
    path = tmp_path / "t.csv.xz"
    path.write_bytes(lzma.compress(CSV))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert read_source("t", {"path": str(path), "target": "y", "sha256": digest}, 0).features.n_rows == N
    with pytest.raises(DataError, match=re.escape(f"t: {path} has the SHA-256 {digest}")):
        read_source("t", {"path": str(path), "target": "y", "sha256": "0" * 64}, 0)


def test_a_zip_archive_holds_one_table_or_member_names_it(tmp_path):
    one = archive(tmp_path / "one.zip", {"d/t.csv": CSV, "__MACOSX/d/._t.csv": b"x", "d/.DS_Store": b"x"})
    assert cells(one)[0] == {"a": A, "b": B, "y": Y}
    two = archive(tmp_path / "two.zip", {"d/t.csv": CSV, "d/u.csv": CSV.replace(b"a,", b"c,", 1)})
    with pytest.raises(ConfigError, match=r"holds 2 files: 'd/t.csv', 'd/u.csv'\. .* such as (member: \"d/t.csv\")\."):
        cells(two)
    assert cells(two, member="d/t.csv")[0] == {"a": A, "b": B, "y": Y}
    assert cells(two, member="d/u.csv")[0] == {"c": A, "b": B, "y": Y}
    with pytest.raises(ConfigError, match=r"two\.zip holds no file 'd/v\.csv'\. Did you mean 'd/u.csv' or 'd/t.csv'"):
        cells(two, member="d/v.csv")


def test_a_member_goes_nowhere_but_to_the_cache(tmp_path, cache):
    path = archive(tmp_path / "t.zip", {"../../../escaped.csv": CSV})
    assert cells(path)[0] == {"a": A, "b": B, "y": Y}
    assert locate("t", {"path": str(path)}).path.is_relative_to(cache)


def test_member_is_refused_where_there_is_one_table(tmp_path):
    (tmp_path / "t.csv").write_bytes(CSV)
    with pytest.raises(ConfigError, match=r"^t: member names one table of a file with several, and .* remove it"):
        cells(tmp_path / "t.csv", member="x")


# --- lines of JSON, by Arrow where it reads the same ------------------------------------------------------------------

#: Lines, and whether Arrow reads them.
LINES = {
    "plain": (['{"a": 1, "s": "x"}', "", '{"s": "[y]", "b": true}', '{"a": null}'], True),
    "times": (['{"a": "2024-01-02", "b": 1}', '{"b": 2.5, "a": "2024-01-02 03:04:05"}'] * 3, True),
    "times and texts": (['{"b": 1, "a": "2024-01-02"}'] * 9 + ['{"a": "soon", "c": "2024-02-30"}'], True),
    "times late": (['{"b": 1, "c": null}'] * 9 + ['{"c": "2024-01-02", "a": "2024-01-02"}'], True),
    "whole numbers": (['{"a": 9007199254740993}', '{"a": -9223372036854775808}'], True),
    "whole numbers beyond": (['{"a": 9223372036854775808}', '{"a": 1}'], True),
    "numbers": (['{"a": 9007199254740993, "b": NaN}', '{"a": 1e-320, "b": 0.1}'], True),
    "infinite": (['{"a": 1}', '{"a": -Infinity}'], False),
    "a number of 400 digits": (['{"a": 1}', f'{{"a": {"9" * 400}}}'], False),
    "a key twice": (['{"a": 1, "a": 2}'], False),
    "two objects in a line": (['{"a": 1}{"a": 2}'], False),
    "an object in two lines": (['{"a": 1}', '{"a":', "2}"], False),
    "nothing in a line": (['{"a": 1}', "null"], False),
    "several types": (['{"a": 1}', '{"a": "1"}'], False),
    "a list": (['{"a": 1}', '{"a": [2]}'], False),
    "braces in a text": (['{"a": "{x}"}', '{"a": "y"}'], False),
    "deep": (['{"a": 1}', '{"a": ' + "[" * 200_000 + "]" * 200_000 + "}"], False),
    "deeper line by line": (['{"a": [{"a": 1}'] * 100_000, False),
}


@pytest.mark.parametrize(("lines", "is_by_arrow"), LINES.values(), ids=LINES)
@pytest.mark.parametrize("head", [2**18, 30])
def test_lines_of_json_are_read_by_arrow_as_by_json(lines, is_by_arrow, head, tmp_path, monkeypatch):
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    by_arrow, were_by_arrow = records._flat_lines, []

    def watched(file):
        table = by_arrow(file)
        were_by_arrow.append(table is not None)
        return table

    def read():
        try:
            found = read_columns("t", {"path": str(path), "format": "json"}).columns
        except DataError as error:
            return str(error)
        return [(c.name, c.kind, c.levels, c.values.dtype, c.values.tobytes()) for c in found]

    monkeypatch.setattr(records, "_HEAD", head)
    monkeypatch.setattr(records, "_flat_lines", watched)
    found = read()
    monkeypatch.setattr(records, "_flat_lines", lambda file: None)
    assert found == read() and were_by_arrow == [is_by_arrow]


# --- what messages call a packed file, and what lies beside it --------------------------------------------------------


PAGE = b"<html><body>Not found</body></html>"


@pytest.mark.parametrize("end", ["bz2", "xz", "zip", "zip.xz"])
@pytest.mark.parametrize("read", [cells, lambda path: peek("t", {"path": str(path), "target": "y"})])
def test_messages_name_the_users_file_and_no_copy(end, read, tmp_path, cache):
    path = tmp_path / f"t.csv.{end}"
    inside = archive(tmp_path / "in.zip", {"d/t.csv": PAGE}).read_bytes()
    path.write_bytes({"zip": inside, "zip.xz": lzma.compress(inside)}.get(end) or PACK[end](PAGE))
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(cache) not in str(caught.value)
    assert f"{path} (d/t.csv)" in str(caught.value) if "zip" in end else str(path) in str(caught.value)


def test_a_damaged_archive_in_a_packed_file_is_named_by_the_users_file(tmp_path, cache):
    inside = archive(tmp_path / "in.zip", {"t.csv": CSV, "u.csv": CSV}).read_bytes()
    path = tmp_path / "t.zip.gz"
    path.write_bytes(gzip.compress(inside))
    with pytest.raises(ConfigError, match=re.escape(f"t: {path} holds 2 files: 't.csv', 'u.csv'.")):
        cells(path)


def test_of_several_matrices_in_an_archive_is_said_that_member_names_one_thing(tmp_path):
    scipy.io.savemat(tmp_path / "t.mat", {"A": np.ones((9, 2)), "B": np.ones((9, 3))})
    path = archive(tmp_path / "t.zip", {"t.mat": (tmp_path / "t.mat").read_bytes(), "readme": b""})
    with pytest.raises(ConfigError, match=r"'t\.mat' in .*t\.zip holds several tables.* Unpack the archive"):
        cells(path, member="t.mat")


@pytest.mark.parametrize("read", [cells, lambda path: peek("t", {"path": str(path), "target": "y"})])
def test_messages_of_readers_name_the_users_file_and_no_copy(read, tmp_path, cache):
    path = tmp_path / "t.parquet.xz"
    pq.write_table(pa.table({"a": A, "y": Y}), tmp_path / "t.parquet")
    content = bytearray((tmp_path / "t.parquet").read_bytes())
    content[4:300] = bytes(296)
    path.write_bytes(lzma.compress(content))
    with pytest.raises(DataError, match=re.escape(str(path))) as caught:
        read(path)
    assert str(cache) not in str(caught.value)


C45 = {"my.data": b"1,u\n2,v\n3,u\n", "my.names": b"u,v\nx: continuous\n"}


def test_a_folder_may_be_the_current_one(tmp_path, monkeypatch):
    pq.write_table(pa.table({"a": A, "y": Y}), tmp_path / "t.parquet")
    monkeypatch.chdir(tmp_path)
    assert cells(".")[0] == {"a": A, "y": Y}


@pytest.mark.parametrize("end", PACK)
def test_packed_cells_of_c45_are_read_with_the_names_beside_them(end, tmp_path):
    (tmp_path / f"my.data.{end}").write_bytes(PACK[end](C45["my.data"]))
    (tmp_path / "my.names").write_bytes(C45["my.names"])
    found, loaded = cells(tmp_path / f"my.data.{end}")
    assert found == {"x": [1, 2, 3], "class": ["u", "v", "u"]} and loaded.target == "class"
    files = source_files("t", {"path": str(tmp_path / f"my.data.{end}")})
    assert files == [str(tmp_path / f"my.data.{end}"), str(tmp_path / "my.names")]
    (tmp_path / "my.names").write_bytes(b"u,v\nx: continuous\nz: continuous\n")
    with pytest.raises(DataError, match=rf"my\.data\.{end}, line 1 has 2 cells, but my\.names declares 3"):
        cells(tmp_path / f"my.data.{end}")


def test_the_target_file_of_packed_arrays_lies_beside_them(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.arange(6.0).reshape(3, 2))
    path = tmp_path / "t.npz.xz"
    path.write_bytes(lzma.compress((tmp_path / "t.npz").read_bytes()))
    spec = {"path": str(path), "target": "y"}
    with pytest.raises(DataError, match=re.escape(f"there is no target file {tmp_path / 't.y.csv'}. Set target_path")):
        read_source("t", spec, 0)
    (tmp_path / "t.y.csv").write_text("y\nu\nv\nu\n")
    assert read_source("t", spec, 0).target.levels == ("u", "v") and peek("t", spec).n_rows == 3
    assert source_files("t", spec) == [str(path), str(tmp_path / "t.y.csv")]


@pytest.mark.parametrize("folder", ["", "d/"])
def test_names_of_c45_in_the_archive_belong_to_their_cells(folder, tmp_path, cache):
    path = archive(tmp_path / "t.zip", {folder + one: content for one, content in C45.items()})
    found, loaded = cells(path, member=f"{folder}my.data")
    assert found == {"x": [1, 2, 3], "class": ["u", "v", "u"]} and loaded.target == "class"
    assert source_files("t", {"path": str(path), "member": f"{folder}my.data"}) == [str(path)]
    path = archive(tmp_path / "u.zip", {folder + "my.data": C45["my.data"], folder + "my.names": b"Prose of somebody."})
    with pytest.raises(DataError, match=re.escape(f"{path} ({folder}my.names) is not in C4.5's format")):
        cells(path, member=f"{folder}my.data")
    assert cells(path, member=f"{folder}my.data", header="none")[0] == {"x0": [1, 2, 3], "x1": ["u", "v", "u"]}


# --- objects of R -----------------------------------------------------------------------------------------------------


def test_an_object_of_several_is_named(tmp_path):
    rdata = pytest.importorskip("rdata")
    path = tmp_path / "t.RData"
    other = r_frame().rename(columns={"a": "c"})
    rdata.write_rda(path, {"first": r_frame(), "second": other, "n": np.arange(3.0)})
    with pytest.raises(ConfigError, match=r"holds 2 tables: 'first', 'second'\. .* such as member: \"first\"\."):
        cells(path)
    assert cells(path, member="first")[0] == COLUMNS
    assert cells(path, member="second")[0]["c"] == A
    with pytest.raises(ConfigError, match=r"holds no object 'secnd'\. Did you mean 'second'\?"):
        cells(path, member="secnd")
    with pytest.raises(DataError, match=r"holds no data frame and no matrix, but n \(real\)\. Save the table in R"):
        cells(path, member="n")
    packed = archive(tmp_path / "t.zip", {"t.RData": path.read_bytes(), "readme": b""})
    with pytest.raises(ConfigError, match=r"'t\.RData' in .*t\.zip holds several tables.* Unpack the archive"):
        cells(packed, member="t.RData")
    rdata.write_rda(path, {"only": r_frame(), "n": np.arange(3.0)})
    assert cells(path)[0] == COLUMNS


def r_file(name):
    rdata = pytest.importorskip("rdata")
    path = rdata.TESTDATA_PATH / "generated" / name
    return path if path.is_file() else pytest.skip("rdata brings such files since 1.1")


@pytest.mark.parametrize(
    ("form", "end"), [("ascii", "rds"), ("ascii", "rda"), ("xdr", "rda"), ("xdr", "rds"), ("binary", "rds")]
)
def test_files_that_r_wrote_are_read(form, end):
    found, _ = cells(r_file(f"test_dataframe__{form}__version_3.{end}"))
    assert found == {"class": ["a", "b", "b"], "value": [1, 2, 3]}
    found, loaded = cells(r_file(f"test_full_named_matrix__{form}__version_3.{end}"))
    assert found == {"dim1_0": [1, 4], "dim1_1": [2, 5], "dim1_2": [3, 6]}
    assert "names of rows, which are left out" in [one.what for one in loaded.found]


@pytest.mark.parametrize("kind", ["function", "environment_global_default", "s4", "expression"])
def test_code_of_r_is_no_table(kind):
    with pytest.raises(DataError, match=r"holds no data frame and no matrix, but an object of type .* Save the table"):
        cells(r_file(f"test_{kind}__xdr__version_3.rds"))


def test_a_column_of_something_else_can_be_dropped():
    path = r_file("test_dataframe_dtypes__xdr__version_3.rds")
    with pytest.raises(DataError, match=r"column 'complex' holds cplx of R.* by drop: \[\"complex\"\]\."):
        cells(path)
    assert all(value is None for value in cells(path, drop=["complex"])[0]["complex"])


def vector(kind, *cells):
    return kind.to_bytes(4, "big") + len(cells).to_bytes(4, "big") + b"".join(cells)


def r_text(text):
    return (9 | 64 << 12).to_bytes(4, "big") + len(text).to_bytes(4, "big") + text.encode()


def r_pairs(**values):
    """Return attributes as R writes them: tags, which are symbols, and values; then the end."""
    tagged = (2 | 1 << 10).to_bytes(4, "big")
    symbols = {key: (1).to_bytes(4, "big") + r_text(key.replace("_", ".")) for key in values}
    return b"".join(tagged + symbols[key] + value for key, value in values.items()) + (254).to_bytes(4, "big")


def r_numbers(*values, **attributes):
    flags = 14 | (1 << 9 if attributes else 0) | (1 << 8 if attributes else 0)
    cells = np.array(values, dtype=">f8").tobytes()
    return (
        flags.to_bytes(4, "big")
        + len(values).to_bytes(4, "big")
        + cells
        + (r_pairs(**attributes) if attributes else b"")
    )


def texts(*values):
    return vector(16, *map(r_text, values))


def r_stream(columns):
    row_names = (13).to_bytes(4, "big") + (2).to_bytes(4, "big") + np.array([-(2**31), -3], dtype=">i4").tobytes()
    attributes = r_pairs(names=texts(*columns), row_names=row_names, **{"class": texts("data.frame")})
    frame = (19 | 1 << 8 | 1 << 9).to_bytes(4, "big") + len(columns).to_bytes(4, "big") + b"".join(columns.values())
    return b"X\n" + np.array([2, 0x30602, 0x20300], dtype=">i4").tobytes() + frame + attributes


def test_dates_long_whole_numbers_and_labels_of_r(tmp_path):
    pytest.importorskip("rdata")
    nan = float("nan")
    long = np.array([2**40 + 1, -(2**63), 7]).view(np.float64)
    columns = {
        "day": r_numbers(19000, nan, 19002.7, **{"class": texts("Date")}),
        "time": r_numbers(86400 * 2 + 0.5, 0, nan, **{"class": texts("POSIXct", "POSIXt")}),
        "long": r_numbers(*long, **{"class": texts("integer64")}),
        "sex": r_numbers(1, 2, 1, labels=r_numbers(1, 2, names=texts("f", "m"))),
        "whole": r_numbers(0, 1, nan),
    }
    (tmp_path / "t.rds").write_bytes(r_stream(columns))
    found, _ = cells(tmp_path / "t.rds", dates="ordinal")
    assert found["day"] == [19000, None, 19002] and found["time"] == [pytest.approx(2 + 0.5 / 86400), 0, None]
    assert found["long"] == [2**40 + 1, None, 7] and found["sex"] == ["f", "m", "f"] and found["whole"] == [0, 1, None]
    with pytest.raises(DataError, match=r"column 'day' has the type date32.*\. Set dates to ordinal, parts or drop"):
        cells(tmp_path / "t.rds")


def test_a_sequence_of_r_does_not_fill_the_memory(tmp_path, monkeypatch):
    path = r_file("test_altrep_compact_intseq__xdr__version_3.rds")
    content = bytearray(
        gzip.decompress(path.read_bytes()) if path.read_bytes()[:2] == b"\x1f\x8b" else path.read_bytes()
    )
    stated = np.array([1000.0], dtype=">f8").tobytes()
    assert content.count(stated) == 1
    (tmp_path / "t.rds").write_bytes(content.replace(stated, np.array([1e12], dtype=">f8").tobytes()))
    with pytest.raises(DataError, match="unpacks to more than 4 GB"):
        cells(tmp_path / "t.rds")


# --- workbooks, records, folders --------------------------------------------------------------------------------------


def test_sheets_dates_and_cells_far_off(tmp_path):
    pytest.importorskip("python_calamine")
    rows = [["a", "day", "y"], *([i, DAY, Y[i]] for i in range(6))]
    write_ods(tmp_path / "t.ods", rows)
    assert cells(tmp_path / "t.ods")[0]["day"] == ["2024-05-31"] * 6
    assert cells(tmp_path / "t.ods", dates="ordinal")[0]["day"] == [19874] * 6
    with pytest.raises(ConfigError, match=r"has no sheet 'Date'\. Did you mean 'Data'\?"):
        cells(tmp_path / "t.ods", sheet="Date")
    empty = '<table:table-row table:number-rows-repeated="1000000"><table:table-cell/></table:table-row>'
    write_ods(tmp_path / "t.ods", rows, empty)
    assert cells(tmp_path / "t.ods")[0]["a"] == [0, 1, 2, 3, 4, 5]
    far = '<table:table-cell table:number-columns-repeated="16000"/>'
    write_ods(tmp_path / "t.ods", rows, f"{empty}<table:table-row>{far}{ods_cell(1)}</table:table-row>")
    with pytest.raises(DataError, match="unpacks to more than 4 GB"):
        cells(tmp_path / "t.ods")


@pytest.mark.parametrize("name", ["t.xls", "t.ods", "t.rds", "t.avro", "t.orc"])
def test_damaged_files_end_in_an_error_of_this_package_or_are_read(name, tmp_path):
    content = written(name, tmp_path).read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(30):
        damaged = bytearray(content)
        damaged[rng.integers(len(damaged))] = rng.integers(256)
        (tmp_path / name).write_bytes(damaged if rng.random() < 0.8 else damaged[: rng.integers(9, len(damaged))])
        try:
            cells(tmp_path / name)
        except (ConfigError, DataError) as error:
            assert str(error).startswith("t: ")


@pytest.mark.parametrize("codec", ["null", "bzip2", "xz"])
def test_avro_is_read_however_it_is_packed(codec, tmp_path):
    write_avro(tmp_path / "t.avro", codec)
    assert cells(tmp_path / "t.avro")[0] == COLUMNS


def test_avro_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    fastavro = pytest.importorskip("fastavro")
    schema = {"type": "record", "name": "row", "fields": [{"name": "s", "type": "string"}]}
    with open(tmp_path / "t.avro", "wb") as file:
        fastavro.writer(file, schema, [{"s": "x" * 3_000_000}], codec="deflate")
    monkeypatch.setenv("BLANKETFLOW_MAX_GB", "0.001")
    with pytest.raises(DataError, match=r"unpacks to more than 0\.001 GB"):
        cells(tmp_path / "t.avro")
    nulls = {"type": "record", "name": "row", "fields": [{"name": "s", "type": "null"}]}
    held = io.BytesIO()
    fastavro.writer(held, nulls, [{"s": None}], codec="null")
    content = held.getvalue()
    sync = content[-16:]
    (tmp_path / "t.avro").write_bytes(content[:-18] + b"\xfe\xff\xff\xff\x0f\x00" + sync)  # so many rows of no bytes
    with pytest.raises(DataError, match=r"unpacks to more than|is not a readable Avro file"):
        cells(tmp_path / "t.avro")


def test_records_within_records_are_refused_with_a_way_out(tmp_path):
    lines = [{"a": {"b": 1}, "c": 1, "d": 1, "e": [1], "y": "p"}, {"a": None, "c": "x", "d": 2.5, "y": "q"}]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    drop = []
    for column, why in {"a": "objects", "c": 'values of several types, such as "x" and 1', "e": "lists"}.items():
        with pytest.raises(DataError, match=re.escape(f"t: column '{column}' holds {why}.")) as refused:
            cells(tmp_path / "t.jsonl", drop=drop)
        drop += json.loads(re.search(r"by drop: (\[.*\])\.$", str(refused.value))[1])
    found, _ = cells(tmp_path / "t.jsonl", drop=drop)
    assert found["d"] == [1, 2.5] and found["y"] == ["p", "q"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1}\n{"a": 2\n', r"t\.jsonl, line 2 is not JSON \(.*\)\. Mend that line"),
        ('{"a": 1}\n[2]\n', r't\.jsonl, line 2 is no object such as \{"age": 3\}'),
        ('{"a": 1}\n' + "[" * 100_000 + "\n", r"t\.jsonl, line 2 is not JSON"),
        ('{"a": "\\ud800", "y": 1}\n', r"column 'a' cannot be read"),
    ],
)
def test_lines_that_are_no_objects_are_named(text, said, tmp_path):
    (tmp_path / "t.jsonl").write_text(text)
    with pytest.raises(DataError, match=said):
        cells(tmp_path / "t.jsonl")


def test_whole_numbers_beyond_64_bits_become_numbers(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1, "y": 1}\n{"a": 100000000000000000000, "y": 2}\n')
    assert cells(tmp_path / "t.jsonl")[0]["a"] == [1, 1e20]


def test_files_of_a_folder_have_the_same_columns(tmp_path):
    write_folder(tmp_path / "parts")
    found, loaded = cells(tmp_path / "parts")
    assert found["part"] == [0] * 10 + [1] * (N - 10)
    assert [one.what for one in loaded.found] == ["2 Parquet files of one folder"]
    files = source_files("t", {"path": str(tmp_path / "parts")})
    assert files == [str(tmp_path / f"parts/part={part}/rows.parquet") for part in (0, 1)]
    pq.write_table(pa.table({"a": [1], "z": [2]}), tmp_path / "parts/part=1/more.parquet")
    with pytest.raises(DataError, match=r"rows\.parquet has a column 'b', and .*more\.parquet has none\. Give all"):
        cells(tmp_path / "parts")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(DataError, match=r"nothing is a folder\. Name a file in it under the key path"):
        cells(tmp_path / "nothing")


def test_a_folder_with_a_damaged_file_is_refused(tmp_path):
    write_folder(tmp_path / "parts")
    (tmp_path / "parts/part=1/rows.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    with pytest.raises(DataError, match=r"is not a readable folder of Parquet files \(.*\)\. Fetch or write it again"):
        cells(tmp_path / "parts")


# --- tables of the sciences -------------------------------------------------------------------------------------------

GCT = "#1.2\n2\t3\nName\tDescription\ts1\ts2\ts3\ng1\tx\t1\t2.5\tNA\ng2\ty\t4\t5\t6\n"


def test_gct_is_turned_and_takes_classes_from_the_file_beside_it(tmp_path):
    path = tmp_path / "t.gct"
    path.write_text(GCT)
    found, loaded = cells(path)
    assert found == {"g1": [1, 2.5, None], "g2": [4, 5, 6], "sample": ["s1", "s2", "s3"]}
    assert loaded.aside == {"sample"} and "features in rows, which were turned" in loaded.found[0].what
    (tmp_path / "t.cls").write_text("3 2 1\n# tumour normal\n0 1 0\n")
    found, loaded = cells(path)
    assert loaded.target == "class" and found["class"] == ["tumour", "normal", "tumour"]
    assert source_files("t", {"path": str(path)}) == [str(path), str(tmp_path / "t.cls")]
    (tmp_path / "t.gct.gz").write_bytes(gzip.compress(GCT.encode()))
    assert cells(tmp_path / "t.gct.gz")[0] == found


def test_gct_with_annotations(tmp_path):
    head = "#1.3\r\n2\t3\t1\t2\r\nid\tgene\ts1\ts2\ts3\r\ndose\tna\t1\t2\tNA\r\narm\tna\tu\tv\tu\r\n"
    (tmp_path / "t.gct").write_bytes((head + "g1\tx\t1\t2\t3\r\ng2\ty\t4\t5\t6\r\n").encode())
    found, loaded = cells(tmp_path / "t.gct")
    assert found["dose"] == [1, 2, None] and found["arm"] == ["u", "v", "u"] and found["g2"] == [4, 5, 6]
    assert loaded.aside == {"sample", "dose", "arm"}
    raw = read_source("t", {"path": str(tmp_path / "t.gct"), "target": "arm", "folds": 2, "task": "auto"}, 0)
    assert names_of(raw.features.columns) == ["g1", "g2"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("2\t3\n", "2\tx\n", "line 2 must be 2 numbers"),
        ("2\t3\n", "9\t3\n", "states 9 rows, but has 2"),
        ("2\t3\n", "999999999\t999\n", "unpacks to more than 4 GB"),
        ("\t5\t6", "\t5", "line 5 has 4 cells, but line 2 states 5"),
        ("2.5", "high", "line 4: could not convert string to float: 'high'. Mend that line"),
    ],
)
def test_what_is_wrong_in_gct_is_said(old, new, said, tmp_path):
    (tmp_path / "t.gct").write_text(GCT.replace(old, new))
    with pytest.raises(DataError, match=re.escape(said)):
        cells(tmp_path / "t.gct")


@pytest.mark.parametrize("form", ["json", "hdf5"])
def test_biom_is_turned(form, tmp_path):
    biom = pytest.importorskip("biom")
    about = [{"site": "gut", "age": "3"}, {"site": "skin", "age": "4"}, {"site": "gut", "age": "5"}]
    table = biom.Table(np.array([[0, 1, 2], [3, 0, 0.5]]), ["o1", "o2"], ["s1", "s2", "s3"], sample_metadata=about)
    path = tmp_path / "t.biom"
    if form == "json":
        path.write_text(table.to_json("a test"))
    else:
        with h5py.File(path, "w") as file:
            table.to_hdf5(file, "a test")
    found, loaded = cells(path)
    assert found["o1"] == [0, 1, 2] and found["o2"] == [3, 0, 0.5] and found["sample"] == ["s1", "s2", "s3"]
    assert found["site"] == ["gut", "skin", "gut"] and found["age"] == [3, 4, 5]
    assert loaded.aside == {"sample", "site", "age"}


def test_a_layer_of_anndata_is_named(tmp_path):
    obs = pd.DataFrame(index=pd.Index(["c0", "c1", "c2"], dtype=object))
    obs["label"] = [1, 2, 1]
    held = anndata.AnnData(np.arange(6.0).reshape(3, 2), obs, pd.DataFrame(index=pd.Index(["g0", "g1"], dtype=object)))
    held.layers["counts"] = held.X * 10
    held.write_h5ad(tmp_path / "t.h5ad")
    found, loaded = cells(tmp_path / "t.h5ad", target="label")
    assert found["g0"] == [0, 2, 4]
    assert [tuple(one)[:2] for one in loaded.found] == [("the matrix X, and none of its layers (counts)", "member")]
    found, loaded = cells(tmp_path / "t.h5ad", target="label", member="counts")
    assert found["g0"] == [0, 20, 40] and not loaded.found
    with pytest.raises(ConfigError, match=r"has no layer 'count'\. Did you mean 'counts'\?"):
        cells(tmp_path / "t.h5ad", target="label", member="count")


def test_the_variables_of_a_mat_file_are_listed(tmp_path):
    path = tmp_path / "t.mat"
    scipy.io.savemat(path, {"data": np.eye(3), "more": np.ones((3, 2)), "label": np.array([[1, 2, 1]])})
    held = "it holds data 3x3, more 3x2, label 1x3"
    with pytest.raises(DataError, match=f"several matrices, none of them X; {held}.* such as member: data"):
        cells(path, target="label")
    assert cells(path, target="label", member="more")[0] == {"x0": [1] * 3, "x1": [1] * 3, "label": [1, 2, 1]}
    with pytest.raises(ConfigError, match=f"member names 'dat', which is not there. .* {held[3:]}"):
        cells(path, target="label", member="dat")
    with pytest.raises(DataError, match=f"target names 'labels', .*; {held}. Did you mean 'label'"):
        cells(path, target="labels", member="data")


def test_every_library_has_an_extra_that_installs_it():
    extras = {form.install for form in FORMATS.values() if form.library}
    assert extras == {"blanketflow[formats]", "blanketflow[h5ad]", "blanketflow[statistics]"}
